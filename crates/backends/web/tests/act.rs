//! Input reaches what it was meant for, and the page says so.

mod support;

use std::time::Duration;
use stickpin_kernel::ErrorCode;
use stickpin_kernel::device::{
    Action, AimOptions, Button, CancellationToken, Device, Hit, Landed, Modifiers, Query, ShotRequest,
};
use stickpin_tree::{Attr, Role};
use support::{Page, press};

const LOG: &str = "<!doctype html><meta charset=utf-8><script>log=[];
    addEventListener('click',e=>log.push('click '+(e.target.id||e.target.tagName)+' '+e.isTrusted),true)</script>";

#[tokio::test]
async fn a_press_reaches_its_button_by_trusted_events() {
    let html = format!("{LOG}<button id=a>One</button><button id=b>Two</button>");
    let Some(mut page) = Page::show(&html).await else { return };
    let two = page.find(Role::Button, "Two").await;
    let done = page.press(two).await;
    assert!(done.handled);
    assert_eq!(done.landed, Landed::Confirmed);
    assert_eq!(page.log().await, ["click b true"]);
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
    let Hit::Covered { by, what } = aim.hit else { panic!("{aim:?}") };
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
    assert_eq!(page.aim(away).await.hit, Hit::OffScreen);
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
    assert_eq!(aim.hit, Hit::Target);
    page.truth::<String>("document.getElementById('evil').style.display='block'").await;
    let done = page.perform(&press(aim.point, Some(pay))).await;
    let Landed::Elsewhere { what, stopped } = done.landed else { panic!("{done:?}") };
    assert_eq!((what.as_str(), stopped), ("button \"Evil\"", true));
    // Not even its capturing listener on the window saw it.
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
    assert_ne!(page.aim(save).await.hit, Hit::Target);
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
    assert_eq!(done.landed, Landed::Confirmed);
    assert_eq!(page.log().await, ["inner x"]);
    let field = page.find(Role::TextBox, "Name").await;
    assert_eq!(page.fill(field, "Ada").await.value.as_deref(), Some("Ada"));
    let aim = page.aim(button).await;
    assert_eq!(page.device.element_at(aim.point.0, aim.point.1).await.unwrap(), Some(button));
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
    assert!(matches!(&hit, Hit::Covered { what, .. } if what == "div#veil"), "{hit:?}");
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
    assert_eq!(done.landed, Landed::Confirmed);
    page.find(Role::Button, "Pressed").await;
    page.close().await;
}

#[tokio::test]
async fn fill_replaces_clears_and_fires_what_a_browser_fires() {
    let html = "<!doctype html><label>Name <input value=old></label><label>Note <textarea>x</textarea></label>
        <label>Day <input type=date></label><div contenteditable aria-label=Rich role=textbox>r</div><label>Fixed <input readonly value=1></label>
        <script>log=[];for(const t of ['beforeinput','input','change','focusin','keydown'])
        addEventListener(t,e=>log.push(t+' '+(e.inputType||'')+' '+e.isTrusted))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let name = page.find(Role::TextBox, "Name").await;
    assert_eq!(page.fill(name, "Grace Höpper").await.value.as_deref(), Some("Grace Höpper"));
    assert_eq!(page.log().await, ["focusin  true", "beforeinput insertText true", "input insertText true"]);
    assert_eq!(page.fill(name, "").await.value.as_deref(), Some(""));
    assert_eq!(page.truth::<String>("document.querySelector('input').value").await, "");
    let note = page.find(Role::TextBox, "Note").await;
    assert_eq!(page.fill(note, "two\nlines").await.value.as_deref(), Some("two\nlines"));
    let rich = page.find(Role::TextBox, "Rich").await;
    assert_eq!(page.fill(rich, "bold").await.value.as_deref(), Some("bold"));
    let day = page.find(Role::TextBox, "Day").await;
    assert_eq!(page.fill(day, "2026-11-21").await.value.as_deref(), Some("2026-11-21"));
    let fixed = page.find(Role::TextBox, "Fixed").await;
    let action = Action::Fill { target: fixed, text: "2".into() };
    let error = page.device.perform(&action, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Unsupported);
    page.close().await;
}

#[tokio::test]
async fn a_focus_that_moves_on_does_not_take_the_text_along() {
    let html = "<!doctype html><label>Name <input id=a onfocus='setTimeout(()=>b.focus())'></label><label>Other <input id=b></label>";
    let Some(mut page) = Page::show(html).await else { return };
    let name = page.find(Role::TextBox, "Name").await;
    page.fill(name, "mine").await;
    assert_eq!(page.truth::<String>("b.value").await, "");
    // What is typed afterwards goes where the focus is.
    page.perform(&Action::Type { target: None, text: "x".into() }).await;
    assert_eq!(page.truth::<String>("b.value").await, "x");
    page.close().await;
}

#[tokio::test]
async fn ten_megabytes_are_filled() {
    let Some(mut page) = Page::show("<!doctype html><label>Note <textarea></textarea></label>").await else {
        return;
    };
    let note = page.find(Role::TextBox, "Note").await;
    let text = "0123456789abcdef".repeat(10 * 65536);
    assert_eq!(page.fill(note, &text).await.value.as_deref().map(str::len), Some(text.len()));
    page.close().await;
}

#[tokio::test]
async fn keys_type_command_and_move() {
    let html = "<!doctype html><label>Name <input></label><script>log=[];
        addEventListener('keydown',e=>log.push([e.key,e.code,e.ctrlKey,e.shiftKey].join(' ')))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let name = page.find(Role::TextBox, "Name").await;
    page.perform(&Action::Type { target: Some(name), text: "aB?é1".into() }).await;
    assert_eq!(page.truth::<String>("document.querySelector('input').value").await, "aB?é1");
    assert_eq!(
        page.log().await,
        ["a KeyA false false", "B KeyB false true", "? Slash false true", "1 Digit1 false false"]
    );
    let control = Modifiers { control: true, ..Modifiers::default() };
    page.key(control, "a").await;
    page.key(Modifiers::default(), "Backspace").await;
    assert_eq!(page.truth::<String>("document.querySelector('input').value").await, "");
    let shift = Modifiers { shift: true, ..Modifiers::default() };
    page.key(shift, "Tab").await;
    let log = page.log().await;
    assert_eq!(
        &log[4..],
        [
            "Control ControlLeft true false",
            "a KeyA true false",
            "Backspace Backspace false false",
            "Shift ShiftLeft false true",
            "Tab Tab false true"
        ]
    );
    page.close().await;
}

#[tokio::test]
async fn enter_submits() {
    let pages = [
        ("/", "<!doctype html><form action=/done><label>Q <input name=q></label></form>"),
        ("/done", "<title>Done</title>ok"),
    ];
    let Some(mut page) = Page::site(&pages).await else { return };
    let q = page.find(Role::TextBox, "Q").await;
    page.fill(q, "x").await;
    page.key(Modifiers::default(), "Enter").await;
    page.until("location.pathname=='/done'").await;
    page.close().await;
}

#[tokio::test]
async fn options_of_native_lists_are_chosen() {
    let html = "<!doctype html><label>Size <select><option value=s>Small<option value=m>Medium</select></label><button>No</button>
        <script>log=[];addEventListener('change',e=>log.push(e.target.value))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let size = page.find(Role::Combobox, "Size").await;
    let select = |target, option: &str| Action::Select { target, options: vec![option.to_owned()] };
    let done = page.perform(&select(size, "Medium")).await;
    assert!(done.handled);
    assert_eq!(done.value.as_deref(), Some("Medium"));
    assert_eq!(page.log().await, ["m"]);
    let error = page.device.perform(&select(size, "Huge"), &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ElementNotFound);
    assert!(error.hint.contains("Small"), "{}", error.hint);
    let button = page.find(Role::Button, "No").await;
    assert!(!page.perform(&select(button, "x")).await.handled);
    page.close().await;
}

#[tokio::test]
async fn wheels_scroll_pages_and_containers_and_say_whether_anything_moved() {
    let html = "<!doctype html><div id=box role=region aria-label=Box style='height:100px;overflow:auto' tabindex=0><div style='height:1000px'>b</div></div>
        <div style='height:3000px'>p</div><script>log=[];addEventListener('wheel',e=>log.push('wheel '+e.isTrusted))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let scroll = |target, dy| Action::Scroll { target, dx: 0.0, dy };
    assert!(page.perform(&scroll(None, 500.0)).await.moved);
    assert_eq!(page.truth::<f64>("scrollY").await, 500.0);
    assert_eq!(page.log().await, ["wheel true"]);
    page.truth::<serde::de::IgnoredAny>("scrollTo(0,0)").await;
    let container = page.find(Role::Region, "Box").await;
    assert!(page.perform(&scroll(Some(container), 200.0)).await.moved);
    assert_eq!(page.truth::<(f64, f64)>("[box.scrollTop,scrollY]").await, (200.0, 0.0));
    assert!(!page.perform(&scroll(None, -100.0)).await.moved);
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
async fn things_are_dragged_by_mouse_and_by_the_browsers_own_drag() {
    let html = "<!doctype html><style>div{width:80px;height:40px;position:absolute;top:20px}</style>
        <div role=button aria-label=Knob id=k style='left:10px;background:#ccc'>k</div>
        <div role=button aria-label=Card id=c draggable=true style='left:200px;background:#cff'>c</div>
        <div role=region aria-label=Bin id=b style='left:500px;top:300px;background:#fcc'>b</div>
        <script>log=[];let held;k.onmousedown=()=>held=1;addEventListener('mousemove',e=>{if(held)k.style.left=e.clientX-40+'px'});
        addEventListener('mouseup',()=>{if(held)log.push('released');held=0});
        c.ondragstart=e=>{e.dataTransfer.setData('text/plain','card');log.push('start')};
        b.ondragover=e=>e.preventDefault();b.ondrop=e=>log.push('drop '+e.dataTransfer.getData('text/plain'));c.ondragend=()=>log.push('end')</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let knob = page.find(Role::Button, "Knob").await;
    let from = page.aim(knob).await.point;
    let done =
        page.perform(&Action::Drag { from, source: Some(knob), to: (400.0, 40.0), target: None }).await;
    assert_eq!(done.landed, Landed::Confirmed);
    assert_eq!(page.truth::<String>("k.style.left").await, "360px");
    assert_eq!(page.log().await, ["released"]);
    let (card, bin) = (page.find(Role::Button, "Card").await, page.find(Role::Region, "Bin").await);
    let to = page.device.aim(bin, AimOptions { pointer: false }).await.unwrap().point;
    let from = page.aim(card).await.point;
    page.perform(&Action::Drag { from, source: Some(card), to, target: Some(bin) }).await;
    page.until("log.length>=3").await;
    let log = page.log().await;
    assert_eq!(&log[1..3], ["start", "drop card"], "{log:?}");
    // The next press is an ordinary one.
    page.truth::<u32>("log.length=0").await;
    assert_eq!(page.press(card).await.landed, Landed::Confirmed);
    page.close().await;
}

#[tokio::test]
async fn elements_answer_questions_and_gone_ones_do_not() {
    let html = "<!doctype html><a href=/x id=l data-kind=z>Link <b>text</b></a>";
    let Some(mut page) = Page::show(html).await else { return };
    let link = page.find(Role::Link, "Link text").await;
    assert_eq!(page.device.query(link, Query::Text).await.unwrap(), "Link text");
    assert_eq!(page.device.query(link, Query::Attrs).await.unwrap()["data-kind"], "z");
    assert!(page.device.query(link, Query::Html).await.unwrap().as_str().unwrap().starts_with("<a href"));
    let located = page.device.locate(link, &[]).await.unwrap().unwrap();
    assert_eq!(located.tree.node(located.node).attr(Attr::Id), Some("l"));
    page.truth::<serde::de::IgnoredAny>("l.remove()").await;
    assert!(page.device.locate(link, &[]).await.unwrap().is_none());
    let error = page.device.query(link, Query::Text).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ElementNotFound);
    page.close().await;
}

#[tokio::test]
async fn pictures_have_the_size_that_they_say() {
    let html = "<!doctype html><body style='margin:0'><button style='width:120px;height:50px;display:block'>B</button><div style='height:2000px'></div>";
    let Some(mut page) = Page::show(html).await else { return };
    let size = |png: &[u8]| {
        (
            u32::from_be_bytes(png[16..20].try_into().unwrap()),
            u32::from_be_bytes(png[20..24].try_into().unwrap()),
        )
    };
    let view = page.device.screenshot(ShotRequest::default()).await.unwrap();
    assert_eq!((size(&view.png), view.scale), ((1000, 700), 1.0));
    let full = page.device.screenshot(ShotRequest { of: None, full: true }).await.unwrap();
    assert_eq!(size(&full.png).1, 2050);
    let button = page.find(Role::Button, "B").await;
    let part = page.device.screenshot(ShotRequest { of: Some(button), full: false }).await.unwrap();
    assert_eq!((size(&part.png), part.area.width), ((120, 50), 120.0));
    page.close().await;
}
