//! Presses and the pointer: they reach their target or nothing.

use super::LOG;
use crate::support::{Page, press};
use std::time::Duration;
use stickpin_device::{
    Action, Button, CancellationToken, Delivery, Device, HitResult, Modifiers, PreparedInput,
};
use stickpin_devtools::protocol::MouseEvent;
use stickpin_tree::{Role, States};

#[tokio::test]
async fn a_press_reaches_its_button_by_trusted_events() {
    let html = format!("{LOG}<button id=a>One</button><button id=b>Two</button>");
    let Some(mut page) = Page::show(&html).await else { return };
    let two = page.find(Role::Button, "Two").await;
    let done = page.press(two).await;
    assert!(done.handled);
    assert_eq!(done.delivery, Delivery::Confirmed);
    assert_eq!(page.log().await, ["click b true"]);
    page.close().await;
}

#[tokio::test]
async fn a_press_that_was_announced_and_not_made_stops_nobody() {
    let html = format!("{LOG}<button id=a>One</button><button id=b>Two</button>");
    let Some(mut page) = Page::show(&html).await else { return };
    let one = page.find(Role::Button, "One").await;
    let two = page.find(Role::Button, "Two").await;
    let at_two = page.aim(two).await.point;
    drop(page.prepare(one).await);
    // Instead of pressing, an agent captures the page, and a person presses the other button.
    page.capture().await;
    for kind in ["mousePressed", "mouseReleased"] {
        let (x, y) = at_two;
        let event = MouseEvent {
            r#type: kind,
            x,
            y,
            button: Some("left"),
            buttons: Some(u32::from(kind == "mousePressed")),
            click_count: Some(1),
            ..MouseEvent::default()
        };
        let (client, session) = page.device.devtools();
        client.call(Some(session), &event).await.unwrap();
    }
    assert_eq!(page.log().await, ["click b true"]);
    // The next press may be a different one.
    let ticket = page.prepare(one).await.ticket;
    assert_eq!(page.commit(&press(at_two, Some(two)), ticket).await.delivery, Delivery::Confirmed);
    assert_eq!(page.log().await, ["click b true", "click b true"]);
    // The announced press may reach something else by then.
    let PreparedInput { aim, ticket, .. } = page.prepare(one).await;
    page.truth::<bool>("(document.body.prepend(b), true)").await;
    let landed = page.commit(&press(aim.point, Some(one)), ticket).await.delivery;
    assert!(matches!(landed, Delivery::Elsewhere { stopped: true, .. }), "{landed:?}");
    assert_eq!(page.log().await.len(), 2);
    page.close().await;
}

#[tokio::test]
async fn what_came_along_with_an_act_is_of_its_moment() {
    let html = "<!doctype html><label><input type=checkbox>Terms</label><script>box=document.querySelector('input')</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let terms = page.find(Role::Checkbox, "Terms").await;
    let mut on = Vec::new();
    let performed = page.press(terms).await;
    let seen = page.device.outcome(terms, performed.ticket).await.unwrap().unwrap();
    on.push(seen.tree.node(seen.node).is(States::CHECKED));
    // No mutation record reports this, but the page is still captured again.
    page.truth::<bool>("(box.checked=false, true)").await;
    for _ in 0..2 {
        let seen = page.device.locate(terms, &[]).await.unwrap().unwrap();
        on.push(seen.tree.node(seen.node).is(States::CHECKED));
    }
    page.press(terms).await;
    let seen = page.device.locate(terms, &[]).await.unwrap().unwrap();
    on.push(seen.tree.node(seen.node).is(States::CHECKED));
    assert_eq!(on, [true, false, false, true]);
    page.close().await;
}

#[tokio::test]
async fn what_is_far_below_is_scrolled_into_view() {
    let html = format!(
        "{LOG}<div style='height:5000px'></div><div style='height:200px;overflow:auto'>
        <div style='height:3000px'></div><button id=deep>Deep</button></div>"
    );
    let Some(mut page) = Page::show(&html).await else { return };
    let deep = page.find(Role::Button, "Deep").await;
    page.press(deep).await;
    assert_eq!(page.log().await, ["click deep true"]);
    page.close().await;
}

#[tokio::test]
async fn buttons_counts_and_modifiers_arrive() {
    let html = "<!doctype html><button style='width:200px'>Go</button><script>log=[];
        for (const t of ['mousedown','mouseup','click','dblclick','contextmenu','auxclick'])
          addEventListener(t,e=>{log.push([t,e.button,e.detail,e.ctrlKey,e.shiftKey].join(' '));e.preventDefault()})</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let go = page.find(Role::Button, "Go").await;
    let aim = page.aim(go).await;
    let action = |button, count, modifiers| Action::Press {
        point: aim.point,
        target: Some(go),
        button,
        count,
        modifiers,
        hold: Duration::ZERO,
    };
    page.perform(&action(Button::Left, 2, Modifiers::default())).await;
    let clicks = page.log().await;
    assert_eq!(clicks.last().unwrap(), "dblclick 0 2 false false", "{clicks:?}");
    page.truth::<u32>("log.length=0").await;
    page.perform(&action(Button::Right, 1, Modifiers { control: true, shift: true, ..Modifiers::default() }))
        .await;
    let right = page.log().await;
    assert!(
        right.contains(&"contextmenu 2 1 true true".to_owned())
            || right.contains(&"contextmenu 2 0 true true".to_owned()),
        "{right:?}"
    );
    page.close().await;
}

#[tokio::test]
async fn a_held_button_is_released_also_when_it_is_cancelled() {
    let html = "<!doctype html><button style='width:200px'>Hold</button><script>log=[];let down;
        addEventListener('mousedown',()=>{down=performance.now();log.push('down')});
        addEventListener('mouseup',()=>log.push('up '+(performance.now()-down>=290)))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let hold = page.find(Role::Button, "Hold").await;
    let aim = page.aim(hold).await;
    let action = |hold_for| Action::Press {
        point: aim.point,
        target: Some(hold),
        button: Button::Left,
        count: 1,
        modifiers: Modifiers::default(),
        hold: hold_for,
    };
    page.perform(&action(Duration::from_millis(300))).await;
    assert_eq!(page.log().await, ["down", "up true"]);
    page.truth::<u32>("log.length=0").await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    page.device.perform(&action(Duration::from_secs(60)), &cancel).await.unwrap();
    assert_eq!(page.log().await, ["down", "up false"]);
    page.close().await;
}

#[tokio::test]
async fn a_covered_element_is_named_by_what_covers_it() {
    let html = format!(
        "{LOG}<button id=a>Under</button>
        <div role=dialog aria-label=Cookies style='position:fixed;inset:0'>x</div>"
    );
    let Some(mut page) = Page::show(&html).await else { return };
    let under = page.find(Role::Button, "Under").await;
    let aim = page.aim(under).await;
    let HitResult::Covered { by, what } = aim.hit else { panic!("{aim:?}") };
    assert_eq!(what, "dialog \"Cookies\"");
    assert_eq!(by, Some(page.find(Role::Dialog, "Cookies").await));
    assert_eq!(page.log().await, Vec::<String>::new());
    page.close().await;
}

#[tokio::test]
async fn without_a_box_there_is_nothing_to_aim_at() {
    let html = "<!doctype html><button style='position:fixed;left:-500px;top:0'>Away</button>";
    let Some(mut page) = Page::show(html).await else { return };
    let away = page.find(Role::Button, "Away").await;
    assert_eq!(page.aim(away).await.hit, HitResult::OffScreen);
    page.close().await;
}

#[tokio::test]
async fn what_gets_in_the_way_after_the_aim_is_kept_from_the_press() {
    let html = format!(
        "{LOG}<button id=a>Pay</button><button id=evil style='display:none;position:fixed;inset:0'>Evil</button>"
    );
    let Some(mut page) = Page::show(&html).await else { return };
    let pay = page.find(Role::Button, "Pay").await;
    let aim = page.aim(pay).await;
    assert_eq!(aim.hit, HitResult::Target);
    page.truth::<String>("document.getElementById('evil').style.display='block'").await;
    let done = page.perform(&press(aim.point, Some(pay))).await;
    let Delivery::Elsewhere { what, stopped } = done.delivery else { panic!("{done:?}") };
    assert_eq!((what.as_str(), stopped), ("button \"Evil\"", true));
    // Not even the page's capturing listener on the window received the event.
    let log = page.log().await;
    assert!(log.is_empty(), "{log:?}");
    page.close().await;
}

#[tokio::test]
async fn a_layout_that_shifts_under_the_pointer_is_followed() {
    let html = format!(
        "{LOG}<div id=top></div><button id=a>Save</button><button id=b>Delete</button><script>
        let once=true;document.addEventListener('mouseover',e=>{{if(once&&e.target.id=='a'){{once=false;
        document.getElementById('top').style.height='80px'}}}})</script>"
    );
    let Some(mut page) = Page::show(&html).await else { return };
    let save = page.find(Role::Button, "Save").await;
    page.press(save).await;
    assert_eq!(page.log().await, ["click a true"]);
    page.close().await;
}

#[tokio::test]
async fn what_flees_from_the_pointer_is_not_pressed() {
    let html = format!("{LOG}<div id=top></div><button id=a>Save</button><script>
        document.addEventListener('mousemove',e=>{{const t=document.getElementById('top');
        if(document.elementFromPoint(e.clientX,e.clientY)?.id=='a')t.style.height=(t.offsetHeight+60)%600+'px'}})</script>");
    let Some(mut page) = Page::show(&html).await else { return };
    let save = page.find(Role::Button, "Save").await;
    assert_ne!(page.aim(save).await.hit, HitResult::Target);
    assert_eq!(page.log().await, Vec::<String>::new());
    page.close().await;
}

#[tokio::test]
async fn elements_in_nested_frames_are_pressed_and_filled() {
    let inner = format!("{LOG}<body style='margin:0'><div style='height:900px'></div><button id=x>Inner</button><label>Name <input id=n></label>
        <script>addEventListener('click',e=>top.log.push('inner '+e.target.id))</script>");
    let middle = "<!doctype html><p>m</p><iframe src=/inner style='border:7px solid;padding:3px;height:150px'></iframe>";
    let outer = format!(
        "{LOG}<div style='height:1500px'></div><iframe src=/middle style='height:300px;width:500px;margin-left:40px'></iframe>"
    );
    let Some(mut page) = Page::site(&[("/", &outer), ("/middle", middle), ("/inner", &inner)]).await else {
        return;
    };
    let button = page.find(Role::Button, "Inner").await;
    let done = page.press(button).await;
    assert_eq!(done.delivery, Delivery::Confirmed);
    assert_eq!(page.log().await, ["inner x"]);
    let field = page.find(Role::TextBox, "Name").await;
    assert_eq!(page.fill(field, "Ada").await.value.as_deref(), Some("Ada"));
    let aim = page.aim(button).await;
    assert_eq!(
        page.device.geometry().unwrap().element_at(aim.point.0, aim.point.1).await.unwrap(),
        Some(button)
    );
    let rects = page.device.rects(&[button]).await.unwrap();
    assert!(rects[0].unwrap().contains(aim.point.0, aim.point.1));
    page.close().await;
}

#[tokio::test]
async fn something_over_a_frame_covers_what_is_in_it() {
    let outer = format!(
        "{LOG}<iframe src=/inner style='height:150px'></iframe>
        <div id=veil style='position:absolute;inset:0'>veil</div>"
    );
    let Some(mut page) =
        Page::site(&[("/", &outer), ("/inner", "<!doctype html><button>Inner</button>")]).await
    else {
        return;
    };
    let button = page.find(Role::Button, "Inner").await;
    let hit = page.aim(button).await.hit;
    assert!(matches!(&hit, HitResult::Covered { what, .. } if what == "div#veil"), "{hit:?}");
    page.close().await;
}

#[tokio::test]
async fn a_frame_of_another_site_is_captured_and_pressed() {
    let inner = "<!doctype html><button onclick=\"this.textContent='Pressed'\">Far</button>";
    let outer =
        format!("{LOG}<div style='height:50px'></div><iframe src='http://localhost:PORT/inner'></iframe>");
    let Some(mut page) = Page::site(&[("/", &outer), ("/inner", inner)]).await else { return };
    let far = page.find(Role::Button, "Far").await;
    let done = page.press(far).await;
    assert_eq!(done.delivery, Delivery::Confirmed);
    page.find(Role::Button, "Pressed").await;
    page.close().await;
}

#[tokio::test]
async fn hovering_opens_what_opens_on_hover() {
    let html = "<!doctype html><style>#m{display:none}#o:hover #m{display:block}</style><div id=o><button>Menu</button><div id=m><button>Item</button></div></div>";
    let Some(mut page) = Page::show(html).await else { return };
    let menu = page.find(Role::Button, "Menu").await;
    page.aim(menu).await;
    page.find(Role::Button, "Item").await;
    page.close().await;
}

#[tokio::test]
async fn the_second_press_of_a_double_click_is_judged_too() {
    let html = format!("{LOG}<div id=list></div><script>
        for (const n of ['a','b']) {{ const e=document.createElement('button'); e.id=n; e.textContent='Delete '+n; e.style.display='block';
          e.onclick=()=>e.remove(); list.append(e) }}</script>");
    let Some(mut page) = Page::show(&html).await else { return };
    let first = page.find(Role::Button, "Delete a").await;
    let point = page.aim(first).await.point;
    let action = Action::Press {
        point,
        target: Some(first),
        button: Button::Left,
        count: 2,
        modifiers: Modifiers::default(),
        hold: Duration::ZERO,
    };
    let done = page.perform(&action).await;
    // The app received the first press: neither press may be sent again.
    assert_eq!(done.delivery, Delivery::Elsewhere { what: "button \"Delete b\"".into(), stopped: false });
    assert_eq!(page.log().await, ["click a true"]);
    page.close().await;
}

#[tokio::test]
async fn a_right_press_that_lands_elsewhere_is_stopped() {
    let html = "<!doctype html><button id=a>Pay</button><button id=evil style='display:none;position:fixed;inset:0'>Evil</button><script>log=[];
        for(const t of ['pointerdown','mousedown','contextmenu','auxclick'])addEventListener(t,e=>log.push(t+' '+e.target.id),true)</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let pay = page.find(Role::Button, "Pay").await;
    let aim = page.aim(pay).await;
    page.truth::<String>("evil.style.display='block'").await;
    let Action::Press { point, target, count, modifiers, hold, .. } = press(aim.point, Some(pay)) else {
        unreachable!()
    };
    let right = Action::Press { point, target, button: Button::Right, count, modifiers, hold };
    let done = page.perform(&right).await;
    assert!(matches!(done.delivery, Delivery::Elsewhere { stopped: true, .. }), "{done:?}");
    assert!(page.log().await.is_empty(), "{:?}", page.log().await);
    page.close().await;
}

#[tokio::test]
async fn the_pointer_comes_to_stand_on_a_point() {
    let html = "<!doctype html><body style='margin:0'><div id=box style='width:200px;height:100px'>x</div><script>log=[];
        box.onmouseenter=e=>log.push('enter '+e.clientX+' '+e.isTrusted)</script>";
    let Some(mut page) = Page::show(html).await else { return };
    page.device.geometry().unwrap().move_pointer(50.0, 50.0).await.unwrap();
    assert_eq!(page.log().await, ["enter 50 true"]);
    page.truth::<serde::de::IgnoredAny>("document.body.style.height='3000px',scrollTo(0,300)").await;
    assert_eq!(page.device.geometry().unwrap().scroll_offset().await.unwrap(), (0.0, 300.0));
    page.close().await;
}

#[tokio::test]
async fn wheel_reaches_a_cross_site_frame_after_scrolling() {
    let inner = "<!doctype html><body style='margin:0;height:4000px'><button>Far</button>";
    let outer = format!(
        "{LOG}<div id=other style='height:300px;overflow:auto'><div style='height:4000px'></div></div>
        <div style='height:2600px'></div><iframe src='http://localhost:PORT/inner' style='height:300px'></iframe>
        <div style='height:2600px'></div>"
    );
    let Some(mut page) = Page::site(&[("/", &outer), ("/inner", inner)]).await else { return };
    let far = page.find(Role::Button, "Far").await;
    for _ in 0..5 {
        // Wherever the frame was a moment ago, the wheel event goes to where the frame is now.
        page.truth::<bool>("scrollTo(0,0),true").await;
        page.aim(far).await;
        let scroll = |dy| Action::Scroll { target: Some(far), dx: 0.0, dy };
        assert!(page.perform(&scroll(200.0)).await.moved);
        assert!(page.perform(&scroll(-200.0)).await.moved);
        assert_eq!(
            page.truth::<f64>("other.scrollTop").await,
            0.0,
            "another element received the wheel event"
        );
    }
    page.close().await;
}

#[tokio::test]
async fn an_element_of_a_frame_that_is_being_left_is_gone() {
    let inner = "<!doctype html><button>Save</button>";
    let outer = "<!doctype html><iframe src='http://localhost:PORT/inner'></iframe><iframe src=/inner></iframe><button>Stay</button>";
    let next = "<!doctype html><button>Next</button>";
    let Some(mut page) = Page::site(&[("/", outer), ("/inner", inner), ("/next", next)]).await else {
        return;
    };
    let tree = page.capture().await;
    let saves: Vec<_> = tree.nodes().filter(|n| n.name() == "Save" && n.role() == Role::Button).collect();
    let saves: Vec<_> = saves.into_iter().filter_map(stickpin_tree::NodeRef::handle).collect();
    assert_eq!(saves.len(), 2, "{:?}", crate::support::names(&tree));
    let stay = page.find(Role::Button, "Stay").await;
    for (n, save) in saves.into_iter().enumerate() {
        assert!(page.device.locate(save, &[]).await.unwrap().is_some());
        page.truth::<bool>(&format!("document.querySelectorAll('iframe')[{n}].src='/next?{n}',true")).await;
        assert!(
            page.device.locate(save, &[]).await.unwrap().is_none(),
            "frame {n} was acted in while it was left"
        );
        assert!(page.device.locate(stay, &[]).await.unwrap().is_some());
    }
    page.close().await;
}

#[tokio::test]
async fn press_inside_a_tab_hits_it_and_inside_a_row_does_not() {
    let html = "<!doctype html><div role=tablist><div role=tab tabindex=0 aria-label=Second style='padding:0'><a href='#x' id=inside style='display:block'>Second</a></div></div>
        <div role=group aria-label=Row tabindex=0 style='padding:0'><a href='#y' style='display:block'>Open</a></div>
        <script>log=[];addEventListener('click',e=>log.push('click '+(e.target.id||e.target.tagName)))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let tab = page.find(Role::Tab, "Second").await;
    let done = page.press(tab).await;
    assert_eq!(done.delivery, Delivery::Confirmed);
    assert_eq!(page.log().await, ["click inside"]);
    let row = page.find(Role::Group, "Row").await;
    let hit = page.aim(row).await.hit;
    assert!(matches!(&hit, HitResult::Covered { what, .. } if what == "link \"Open\""), "{hit:?}");
    page.close().await;
}

/// Buttons whose handler first changes something else on the page and then, each in a different
/// way, the button itself.
const LATE: &str = "<!doctype html><meta charset=utf-8><p id=seen></p><script>
    const ways={now:f=>f(), promise:f=>Promise.resolve().then(f),
      task:f=>setTimeout(()=>setTimeout(f)),
      timer:f=>setTimeout(f), frame:f=>requestAnimationFrame(f),
      both:f=>setTimeout(()=>requestAnimationFrame(f))};
    const turn=b=>b.setAttribute('aria-pressed',b.getAttribute('aria-pressed')!=='true');
    for (const on of ['mousedown','click']) for (const way in ways) {
      const b=document.createElement('button');
      b.textContent=on+' '+way; b.setAttribute('aria-pressed',false);
      b.addEventListener(on,()=>{seen.textContent=b.textContent+Math.random();ways[way](()=>turn(b))});
      document.body.append(b);
    }</script>";

#[tokio::test]
async fn what_a_press_puts_off_until_its_handlers_are_done_is_seen() {
    // Captured in one walk; requested later; in a document within other documents.
    let large = format!("{LATE}{}", "<p>Text</p>".repeat(600));
    let framed = "<!doctype html><iframe src=/small title=In style='width:900px;height:300px'></iframe>";
    let Some(mut page) = Page::site(&[("/large", &large), ("/small", LATE), ("/framed", framed)]).await
    else {
        return;
    };
    for path in ["/large", "/small", "/framed"] {
        page.go(&page.site.url(path)).await;
        page.until("document.readyState==='complete'").await;
        let document = if path == "/framed" { "frames[0].document" } else { "document" };
        let tree = page.capture().await;
        let buttons: Vec<_> = tree.nodes().filter(|n| n.role() == Role::Button).collect();
        assert_eq!(buttons.len(), 12);
        for round in [true, false] {
            for button in &buttons {
                let (handle, name) = (button.handle().unwrap(), button.name());
                let performed = page.press(handle).await;
                assert_eq!(performed.delivery, Delivery::Confirmed);
                let seen = page.device.outcome(handle, performed.ticket).await.unwrap().unwrap();
                assert_eq!(seen.tree.node(seen.node).is(States::PRESSED), round, "{path} {name}");
                let it =
                    format!("[...{document}.querySelectorAll('button')].find(b=>b.textContent==='{name}')");
                assert_eq!(
                    page.truth::<String>(&format!("{it}.getAttribute('aria-pressed')")).await,
                    round.to_string()
                );
            }
        }
    }
    page.close().await;
}
