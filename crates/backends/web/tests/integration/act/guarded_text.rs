//! The content guard of text, lists and drags.

use crate::support::Page;
use stickpin_device::{Action, AimOptions, Delivery, Device, HitResult, InputOutcome};

/// A table with a note per person. The page logs each key and each text with the record that it
/// goes to.
const NOTES: &str = "<!doctype html><meta charset=utf-8><table><tbody id=l></table><script>log=[];
    const names=['Anna','Bob','Cara','Dan','Eva','Finn'];
    for(let i=0;i<3;i++)l.insertAdjacentHTML('beforeend','<tr><td></td><td><input aria-label=Note></td><td class=count>0</td></tr>');
    fields=[...document.querySelectorAll('input')];
    show=f=>document.querySelectorAll('tr').forEach((r,i)=>{r.cells[0].textContent=names[f+i];fields[i].dataset.rec=names[f+i]});show(0);
    for(const t of ['keydown','beforeinput','input'])addEventListener(t,e=>log.push(t+' '+(e.target.dataset?.rec||e.target.nodeName)),true)</script>";
const NOTE: &str = "tr:nth-of-type(2) input";
const ROW: &str = "tr:nth-of-type(2) td";

impl Page {
    /// Aims as fill, type and select do, runs a script in the page, and performs the action.
    async fn act_guarding(
        &mut self,
        target: &str,
        guarded: &str,
        between: &str,
        action: impl Fn(stickpin_tree::Handle) -> Action,
    ) -> InputOutcome {
        let target = self.css(target).await[0];
        let guarded = self.css(guarded).await;
        let aim = self.device.aim(target, AimOptions::default().guarded(&guarded)).await.unwrap();
        assert_eq!(aim.hit, HitResult::Target);
        self.run(between).await;
        self.perform(&action(target)).await
    }
}

fn fill(target: stickpin_tree::Handle) -> Action {
    Action::Fill { target, text: "hello".into() }
}

#[tokio::test]
async fn fill_of_replaced_record_is_stopped() {
    let Some(mut page) = Page::show("").await else { return };
    for (when, swap) in [
        ("before", "show(3)"),
        ("at focus", "fields[1].onfocus=()=>show(3)"),
        ("a microtask later", "fields[1].onfocus=()=>queueMicrotask(()=>show(3))"),
    ] {
        page.replace(NOTES).await;
        let done = page.act_guarding(NOTE, ROW, swap, fill).await;
        assert_eq!(done.delivery, Delivery::Changed { stopped: true }, "{when}");
        assert!(page.log().await.is_empty(), "{when}: {:?}", page.log().await);
    }
    page.replace(NOTES).await;
    for delay in [0, 1, 2, 4, 8] {
        page.run("show(0),log.length=0,fields[1].blur(),fields[1].value=''").await;
        let done = page
            .act_guarding(NOTE, ROW, &format!("fields[1].onfocus=()=>setTimeout(show,{delay},3)"), fill)
            .await;
        let log = page.log().await;
        assert!(log.iter().all(|e| e.ends_with("Bob")), "{delay}: {log:?}");
        assert_eq!(
            done.delivery == Delivery::Changed { stopped: true },
            log.is_empty(),
            "{delay}: {done:?} {log:?}"
        );
        page.until("fields[1].dataset.rec==='Eva'").await;
    }
    page.close().await;
}

#[tokio::test]
async fn fill_by_picker_of_replaced_record_is_stopped() {
    let html = NOTES.replace("<input aria-label=Note>", "<input type=date aria-label=Note>");
    let Some(mut page) = Page::show(&html).await else { return };
    let day = |target| Action::Fill { target, text: "2026-11-22".into() };
    assert_eq!(page.act_guarding(NOTE, ROW, "0", day).await.value.as_deref(), Some("2026-11-22"));
    page.run("log.length=0,fields[1].blur()").await;
    let done = page
        .act_guarding("tr:nth-of-type(2) input", ROW, "fields[1].onfocus=()=>show(3)", |target| {
            Action::Fill { target, text: "2026-12-24".into() }
        })
        .await;
    assert_eq!(done.delivery, Delivery::Changed { stopped: true });
    assert!(page.log().await.is_empty(), "{:?}", page.log().await);
    page.close().await;
}

/// How many times typing races against a timer of the page. A busy browser may process all keys
/// before the timer.
const PLAYS: usize = 20;

#[tokio::test]
async fn keys_stop_when_the_record_is_replaced() {
    let Some(mut page) = Page::show(NOTES).await else { return };
    let text = "abcdefghij".repeat(20);
    let typed = |target| Action::Type { target: Some(target), text: text.clone() };
    page.run("fields[1].addEventListener('input',e=>{if(e.target.value.length===3)setTimeout(()=>{show(3);log.push('swap')})})")
        .await;
    let mut stopped = false;
    for _ in 0..PLAYS {
        page.run("show(0),log.length=0,fields[1].value=''").await;
        let done = page.act_guarding(NOTE, ROW, "0", typed).await;
        page.until("log.includes('swap')").await;
        let log = page.log().await;
        assert!(log.len() > 3 && log.last().unwrap() == "swap", "keys after the swap: {log:?}");
        let arrived = page.truth::<usize>("fields[1].value.length").await;
        let landed = if arrived < 200 { Delivery::Changed { stopped: false } } else { Delivery::Unknown };
        assert_eq!(done.delivery, landed, "{log:?}");
        stopped = arrived < 200;
        if stopped {
            break;
        }
    }
    assert!(stopped, "the timer never ran between the keys");
    // The next keys go to the focused element.
    page.run("log.length=0").await;
    page.perform(&Action::Type { target: None, text: "x".into() }).await;
    assert!(!page.log().await.is_empty());
    page.close().await;
}

#[tokio::test]
async fn keys_stop_when_the_focus_is_taken() {
    let Some(mut page) = Page::show(NOTES).await else { return };
    let typed = |target| Action::Type { target: Some(target), text: "abcdefghij".repeat(20) };
    page.run("fields[1].addEventListener('input',e=>{if(e.target.value.length===3)setTimeout(()=>{fields[2].focus();log.push('stolen')})})")
        .await;
    let mut stopped = false;
    for _ in 0..PLAYS {
        page.run("fields[1].value='',fields[2].blur(),log.length=0").await;
        let done = page.act_guarding(NOTE, ROW, "0", typed).await;
        page.until("log.includes('stolen')").await;
        let log = page.log().await;
        assert_eq!(log.last().unwrap(), "stolen", "keys after the focus was taken: {log:?}");
        assert_eq!(page.truth::<String>("fields[2].value").await, "");
        stopped = page.truth::<usize>("fields[1].value.length").await < 200;
        if stopped {
            assert!(matches!(done.delivery, Delivery::Elsewhere { stopped: false, .. }), "{done:?}");
            break;
        }
    }
    assert!(stopped, "the timer never ran between the keys");
    page.close().await;
}

#[tokio::test]
async fn what_the_page_answers_to_keys_does_not_stop_them() {
    let count = "const c=document.querySelectorAll('.count')[1]";
    let Some(mut page) = Page::show("").await else { return };
    for answer in [
        "f.addEventListener('input',()=>c.textContent=f.value.length)",
        "f.addEventListener('input',e=>{e.stopPropagation();c.textContent=f.value.length})",
        "f.addEventListener('keydown',()=>queueMicrotask(()=>c.textContent=f.value.length+1))",
        "addEventListener('keyup',()=>c.textContent=f.value.length)",
        "f.addEventListener('input',()=>{c.textContent=f.value.length;f.setAttribute('aria-label','Note '+f.value.length)})",
    ] {
        page.replace(NOTES).await;
        let between = format!("(()=>{{{count},f=fields[1];{answer}}})()");
        let done = page
            .act_guarding(NOTE, ROW, &between, |target| Action::Type {
                target: Some(target),
                text: "some words".into(),
            })
            .await;
        assert_eq!(done.delivery, Delivery::Unknown, "{answer}");
        assert_eq!(page.truth::<String>("fields[1].value").await, "some words", "{answer}");
        assert_eq!(
            page.truth::<String>("document.querySelectorAll('.count')[1].textContent").await,
            "10",
            "{answer}"
        );
    }
    page.close().await;
}

#[tokio::test]
async fn keys_follow_the_boxes_of_a_code() {
    let Some(mut page) = Page::show("").await else { return };
    for (length, next) in
        [("maxlength=1", "n.focus()"), ("maxlength=1", "setTimeout(()=>n.focus())"), ("", "n.focus()")]
    {
        let html = format!("<!doctype html><p id=p>Code for Ada</p><div><input {length}><input {length}><input {length}></div><script>
            document.querySelectorAll('input').forEach((f,i,all)=>{{f.oninput=()=>{{const n=all[i+1];if(n){{{next}}}}}}})</script>");
        page.replace(&html).await;
        let code = |target| Action::Type { target: Some(target), text: "123".into() };
        let done = page.act_guarding("input", "p", "0", code).await;
        assert_eq!(done.delivery, Delivery::Unknown, "{length} {next}");
        let values = "[...document.querySelectorAll('input')].map(f=>f.value).join()";
        // A page that moves the focus late receives what it would receive from a fast typist.
        let truth: String = page.truth(values).await;
        assert_eq!(
            truth.replace(',', ""),
            if next.starts_with("set") { truth.replace(',', "") } else { "123".into() },
            "{length} {next}"
        );
    }
    page.close().await;
}

#[tokio::test]
async fn options_whose_meaning_is_swapped_are_not_chosen() {
    let html = "<!doctype html><p id=p>Order 7</p><select id=s aria-label=State><option value=a>Open<option value=b>Closed</select><script>log=[];s.onchange=()=>log.push(s.value)</script>";
    let choose = |target| Action::Select { target, options: vec!["Closed".into()] };
    let Some(mut page) = Page::show("").await else { return };
    for (swap, landed) in [
        ("0", Delivery::Unknown),
        ("s.onfocus=()=>{s.options[1].value='deleted'}", Delivery::Changed { stopped: true }),
        (
            "s.onfocus=()=>{s.options[0].value='b';s.options[1].value='a'}",
            Delivery::Changed { stopped: true },
        ),
        ("p.textContent='Order 8'", Delivery::Changed { stopped: true }),
    ] {
        page.replace(html).await;
        let done = page.act_guarding("#s", "p", swap, choose).await;
        assert_eq!(done.delivery, landed, "{swap}");
        assert_eq!(page.log().await.is_empty(), landed != Delivery::Unknown, "{swap}");
    }
    page.close().await;
}

/// A card, and two bins whose names the page may swap. The first card is dragged by mouse, the
/// second one by the browser.
const BINS: &str = "<!doctype html><style>div{user-select:none;width:90px;height:40px;position:absolute;top:20px}</style>
    <div id=k style='left:10px;background:#ccc'>Knob</div><div id=c draggable=true style='left:150px;background:#cff'>Card</div>
    <div id=b style='left:400px;top:200px;background:#fcc'><b>Keep</b></div><script>log=[];let held=false;
    k.onmousedown=()=>{held=true;swap?.()};c.onmousedown=()=>swap?.();swap=null;
    addEventListener('mouseup',e=>{if(held)log.push(b.contains(document.elementFromPoint(e.clientX,e.clientY))?'drop '+b.textContent:'back');held=false});
    b.ondragover=e=>e.preventDefault();b.ondrop=e=>log.push('drop '+b.textContent)</script>";

#[tokio::test]
async fn drag_onto_replaced_record_is_not_dropped() {
    let Some(mut page) = Page::show(BINS).await else { return };
    for (source, swap, landed, log) in [
        ("#k", "0", Delivery::Confirmed, "drop Keep"),
        ("#c", "0", Delivery::Confirmed, "drop Keep"),
        ("#k", "swap=()=>b.firstChild.textContent='Burn'", Delivery::Changed { stopped: false }, "back"),
        ("#c", "swap=()=>b.firstChild.textContent='Burn'", Delivery::Changed { stopped: false }, ""),
    ] {
        page.run("swap=null,b.firstChild.textContent='Keep',log.length=0").await;
        let (bin, inside) = (page.css("#b").await[0], page.css("#b b").await);
        let to = page.device.aim(bin, AimOptions::default().guarded(&inside)).await.unwrap().point;
        let (card, from) = page.aim_guarding(source, "#none").await;
        page.run(swap).await;
        let drag = Action::Drag { from, source: Some(card), to, target: Some(bin) };
        assert_eq!(page.perform(&drag).await.delivery, landed, "{source} {swap}");
        assert_eq!(page.log().await.join(","), log, "{source} {swap}");
    }
    page.close().await;
}
