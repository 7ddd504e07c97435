//! The content guard of presses, drags and lists: guarded elements must have the content that they
//! had at the last check.

use crate::support::Page;
use std::time::Duration;
use stickpin_device::{Action, AimOptions, Button, Delivery, Device, HitResult, Modifiers};
use stickpin_tree::Handle;

/// Four rows with a name and a button each. The page logs which record each event acts on;
/// `show(n)` puts other records into the same nodes.
pub(crate) const ROWS: &str = "<!doctype html><meta charset=utf-8><h1>Mail</h1><ul id=l></ul><script>log=[];
    const names=['Anna','Bob','Cara','Dan','Eva','Finn','Gus','Hal'];
    for(let i=0;i<4;i++)l.insertAdjacentHTML('beforeend','<li style=\"height:40px\"><span></span> <button>Delete</button></li>');
    show=f=>document.querySelectorAll('li').forEach((r,i)=>{r.children[0].textContent='Mail of '+names[f+i];r.children[1].dataset.rec=names[f+i]});show(0);
    for(const t of ['pointerdown','mousedown','pointerup','mouseup','click','dblclick','contextmenu','auxclick'])addEventListener(t,e=>log.push(t+' '+(e.target.dataset?.rec||e.target.id||e.target.nodeName)),true);
    late=(how,f)=>how==='sync'?f():how==='micro'?queueMicrotask(f):setTimeout(f,how);
    once=(on,how,f)=>addEventListener(on,()=>late(how,f),{once:true,capture:true})</script>";

impl Page {
    /// Returns the elements that match a selector.
    pub(crate) async fn css(&mut self, selector: &str) -> Vec<Handle> {
        self.device.script().unwrap().css(selector).await.unwrap()
    }

    /// Aims at the first match of a selector, as a press does, and guards all matches of another
    /// selector.
    pub(crate) async fn aim_guarding(&mut self, target: &str, guarded: &str) -> (Handle, (f64, f64)) {
        let target = self.css(target).await[0];
        let guarded = self.css(guarded).await;
        let options = AimOptions::PLAIN_PRESS.guarded(&guarded);
        let aim = self.device.aim(target, options).await.unwrap();
        assert_eq!(aim.hit, HitResult::Target);
        (target, aim.point)
    }

    async fn press_guarding(&mut self, target: &str, guarded: &str) -> Delivery {
        let (target, point) = self.aim_guarding(target, guarded).await;
        self.perform(&Action::press(point, Some(target))).await.delivery
    }

    /// Runs a script in the page.
    pub(crate) async fn run(&self, script: &str) {
        self.truth::<bool>(&format!("({script},true)")).await;
    }

    async fn fresh(&self) {
        self.run("show(0),log.length=0").await;
    }
}

const ROW: &str = "li:nth-of-type(2) span";
const DELETE: &str = "li:nth-of-type(2) button";

/// Returns the events of the log that name a record other than Bob's.
fn strangers(log: &[String]) -> Vec<&String> {
    log.iter().filter(|e| !e.ends_with(" Bob") && !e.ends_with(" HTML")).collect()
}

#[tokio::test]
async fn press_on_replaced_record_is_stopped_unseen() {
    let Some(mut page) = Page::show(ROWS).await else { return };
    assert_eq!(page.press_guarding(DELETE, ROW).await, Delivery::Confirmed);
    assert_eq!(page.log().await.last().unwrap(), "click Bob");
    for change in [
        "show(4)",
        "document.querySelector('li:nth-of-type(2) button').textContent='Delete for ever'",
        "document.querySelector('li:nth-of-type(2) button').setAttribute('aria-label','Buy')",
        "(s=>s.replaceWith(s.cloneNode(true)))(document.querySelector('li:nth-of-type(2) span'))",
        "history.pushState(0,'','/?other')",
    ] {
        page.go(&page.site.url("/")).await;
        let (target, point) = page.aim_guarding(DELETE, ROW).await;
        page.run(change).await;
        let landed = page.perform(&Action::press(point, Some(target))).await.delivery;
        assert_eq!(landed, Delivery::Changed { stopped: true }, "{change}");
        assert!(page.log().await.is_empty(), "{change}: {:?}", page.log().await);
    }
    page.close().await;
}

#[tokio::test]
async fn record_replaced_after_pointer_arrival_is_never_hit() {
    let Some(mut page) = Page::show(ROWS).await else { return };
    for delay in [0, 1, 2, 3, 4, 6, 8, 12, 20] {
        page.device.geometry().unwrap().move_pointer(900.0, 600.0).await.unwrap();
        page.fresh().await;
        page.run(&format!("once('pointermove',{delay},()=>show(4))")).await;
        let (target, point) = page.aim_guarding(DELETE, ROW).await;
        // This check decides: it finds Bob's row or the row that has already replaced it.
        let look = page.device.locate(target, &[]).await.unwrap().unwrap();
        let judged =
            if look.tree.nodes().any(|n| n.name() == "Mail of Bob") { "click Bob" } else { "click Finn" };
        let landed = page.perform(&Action::press(point, Some(target))).await.delivery;
        let log = page.log().await;
        let clicks: Vec<_> = log.iter().filter(|e| e.starts_with("click")).collect();
        match landed {
            Delivery::Confirmed => {
                assert_eq!(clicks, [judged], "{delay}: {log:?}");
            }
            Delivery::Changed { .. } => {
                assert!(clicks.is_empty(), "{delay}: {log:?}");
            }
            landed => panic!("{landed:?}"),
        }
    }
    page.close().await;
}

#[tokio::test]
async fn record_replaced_at_pointerdown_is_not_clicked() {
    let Some(mut page) = Page::show(ROWS).await else { return };
    for (on, how, seen) in [
        ("pointerdown", "'sync'", vec!["pointerdown Bob"]),
        ("pointerdown", "'micro'", vec!["pointerdown Bob"]),
        ("mousedown", "'sync'", vec!["pointerdown Bob", "mousedown Bob"]),
        ("pointerup", "'sync'", vec!["pointerdown Bob", "mousedown Bob", "pointerup Bob"]),
    ] {
        page.fresh().await;
        page.run(&format!("once('{on}',{how},()=>show(4))")).await;
        assert_eq!(
            page.press_guarding(DELETE, ROW).await,
            Delivery::Changed { stopped: false },
            "{on} {how}"
        );
        assert_eq!(
            page.log().await.iter().map(|e| e.replace("Finn", "Bob")).collect::<Vec<_>>(),
            seen,
            "{on} {how}"
        );
    }
    for _ in 0..4 {
        page.fresh().await;
        page.run("once('pointerdown',0,()=>show(4))").await;
        let landed = page.press_guarding(DELETE, ROW).await;
        let log = page.log().await;
        assert!(strangers(&log).is_empty(), "{landed:?} {log:?}");
        assert_eq!(
            landed == Delivery::Confirmed,
            log.contains(&"click Bob".to_owned()),
            "{landed:?} {log:?}"
        );
        page.until("document.querySelectorAll('button')[1].dataset.rec==='Finn'").await;
    }
    page.close().await;
}

#[tokio::test]
async fn release_that_lands_elsewhere_is_stopped() {
    let html = format!("{ROWS}<div id=veil hidden style='position:fixed;inset:0'></div><script>
        fresh=()=>{{show(0);veil.hidden=true;document.querySelectorAll('.new').forEach(e=>e.remove())}};
        insert=()=>l.insertAdjacentHTML('afterbegin','<li class=new style=\"height:40px\"><span>New</span> <button data-rec=new>Delete</button></li>')</script>");
    let Some(mut page) = Page::show(&html).await else { return };
    for (on, how, change) in [
        ("pointerdown", "'sync'", "veil.hidden=false"),
        ("mousedown", "'micro'", "veil.hidden=false"),
        ("pointerdown", "'sync'", "insert()"),
        ("pointerdown", "'micro'", "insert()"),
    ] {
        page.run("fresh()").await;
        page.fresh().await;
        page.run(&format!("once('{on}',{how},()=>{change})")).await;
        let landed = page.press_guarding(DELETE, ROW).await;
        assert!(matches!(landed, Delivery::Elsewhere { stopped: false, .. }), "{change}: {landed:?}");
        assert_eq!(page.log().await, ["pointerdown Bob", "mousedown Bob"], "{change} {how}");
    }
    page.close().await;
}

#[tokio::test]
async fn double_click_stops_at_another_record() {
    let Some(mut page) = Page::show(ROWS).await else { return };
    let double = |target, point| Action::Press {
        point,
        target: Some(target),
        button: Button::Left,
        count: 2,
        modifiers: Modifiers::default(),
        hold: Duration::ZERO,
    };
    let (target, point) = page.aim_guarding(DELETE, ROW).await;
    assert_eq!(page.perform(&double(target, point)).await.delivery, Delivery::Confirmed);
    assert_eq!(page.log().await.last().unwrap(), "dblclick Bob");
    page.fresh().await;
    page.run("once('click','sync',()=>show(4))").await;
    let (target, point) = page.aim_guarding(DELETE, ROW).await;
    assert_eq!(page.perform(&double(target, point)).await.delivery, Delivery::Changed { stopped: false });
    assert_eq!(page.log().await.iter().filter(|e| e.starts_with("pointerdown")).count(), 1);
    // A counter that increments does not change the record if this happens between the presses of
    // one action, but it does if this happens before the first press is complete.
    let counter = "(r=>r.insertAdjacentHTML('beforeend','<b>1 of 7</b><input value=1>'))(document.querySelector('li:nth-of-type(2)')),
        count=()=>{document.querySelector('li b').textContent='2 of 7';document.querySelector('li input').value=2}";
    for (on, landed) in [
        ("click", Delivery::Confirmed),
        ("pointerup", Delivery::Changed { stopped: false }),
        ("pointerdown", Delivery::Changed { stopped: false }),
    ] {
        page.go(&page.site.url("/")).await;
        page.run(&format!("{counter},once('{on}','sync',count)")).await;
        let (target, point) = page.aim_guarding(DELETE, "li:nth-of-type(2) :is(span,b,input)").await;
        assert_eq!(page.perform(&double(target, point)).await.delivery, landed, "{on}");
    }
    page.close().await;
}

#[tokio::test]
async fn what_a_press_does_by_itself_does_not_stop_it() {
    let html = "<!doctype html><p id=t>Total 5</p><label id=wrap><input type=checkbox id=c> <b>Terms</b></label>
        <label><input type=radio name=r id=a checked>A</label><label><input type=radio name=r id=b>B</label>
        <label>Note <input id=n></label><a id=k href='#there'>Jump</a><output id=o></output>
        <button id=menu aria-haspopup=menu aria-expanded=false>Menu</button><div role=tablist><button role=tab id=t1 aria-selected=true>One</button><button role=tab id=t2 aria-selected=false>Two</button></div><p id=panel>First</p>
        <ul role=listbox><li role=option id=pick>Berlin</li></ul><div id=veil hidden style='position:fixed;inset:0'></div><script>log=[];
        addEventListener('click',e=>log.push('click '+e.target.id));
        menu.onpointerdown=()=>{menu.ariaExpanded='true';veil.hidden=false;log.push('open')};
        t2.onmousedown=()=>{t2.ariaSelected='true';t1.ariaSelected='false';panel.textContent='Second';log.push('tab')};
        pick.onmousedown=()=>{pick.parentNode.remove();log.push('picked')};
        n.onblur=()=>{n.value=n.value.toUpperCase();o.textContent='saved'}</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let all = "p, b, input, a, output, [role=tab], [role=option], button";
    for (target, truth) in [
        ("#c", "c.checked"),
        ("#wrap", "!c.checked"),
        ("#b", "b.checked&&!a.checked"),
        ("#n", "document.activeElement===n"),
        // The focus leaves the field, which changes the field's value and sends an event.
        ("#k", "location.hash==='#there'&&o.textContent==='saved'"),
        ("#t2", "panel.textContent==='Second'"),
        ("#pick", "log.includes('picked')"),
        ("#menu", "log.includes('open')"),
    ] {
        if target == "#k" {
            page.run("n.value='draft'").await;
        }
        assert_eq!(page.press_guarding(target, all).await, Delivery::Confirmed, "{target}");
        assert!(page.truth::<bool>(truth).await, "{target}: {:?}", page.log().await);
    }
    page.close().await;
}

#[tokio::test]
async fn guarded_record_around_a_frame_is_compared_in_its_event() {
    let inner = "<!doctype html><body style='margin:0'><p>Order 7</p><button id=x>Ship</button><script>
        for(const t of ['pointerdown','click'])addEventListener(t,e=>top.log.push(t),true);
        addEventListener('pointerdown',()=>top.swap?.())</script>";
    let outer = "<!doctype html><script>log=[]</script><h2>Ada Berg</h2><iframe src=/inner></iframe><iframe src='http://localhost:PORT/far'></iframe>";
    let far = "<!doctype html><p>Far</p><script>onmessage=()=>{document.querySelector('p').textContent='Near';parent.postMessage(1,'*')}</script>";
    let Some(mut page) = Page::site(&[("/", outer), ("/inner", inner), ("/far", far)]).await else { return };
    let swap = "document.querySelector('h2').textContent='Nils Falk'";
    for (before, during, landed, log) in [
        ("0", "0", Delivery::Confirmed, vec!["pointerdown", "click"]),
        (swap, "0", Delivery::Changed { stopped: true }, vec![]),
        ("0", swap, Delivery::Changed { stopped: false }, vec!["pointerdown"]),
        (
            "frames[0].document.querySelector('p').textContent='Order 8'",
            "0",
            Delivery::Changed { stopped: true },
            vec![],
        ),
        // Our script cannot access this frame, so the frame is checked before the input.
        (
            "new Promise(done=>{onmessage=done;frames[1].postMessage(1,'*')})",
            "0",
            Delivery::Changed { stopped: true },
            vec![],
        ),
    ] {
        page.go(&page.site.url("/")).await;
        page.run(&format!("swap=()=>{during}")).await;
        let button = page.find(stickpin_tree::Role::Button, "Ship").await;
        let guarded: Vec<_> = page.css("h2, p").await;
        let tree = page.capture().await;
        let texts = tree.nodes().filter(|n| n.role() == stickpin_tree::Role::Paragraph);
        let guarded = [guarded, texts.filter_map(stickpin_tree::NodeRef::handle).collect()].concat();
        assert!(guarded.len() >= 3, "{guarded:?}");
        let options = AimOptions::PLAIN_PRESS.guarded(&guarded);
        let aim = page.device.aim(button, options).await.unwrap();
        assert_eq!(aim.hit, HitResult::Target);
        page.truth::<serde::de::IgnoredAny>(&format!("Promise.resolve({before}).then(()=>1)")).await;
        assert_eq!(
            page.perform(&Action::press(aim.point, Some(button))).await.delivery,
            landed,
            "{before} {during}"
        );
        assert_eq!(page.log().await, log, "{before} {during}");
    }
    page.close().await;
}
