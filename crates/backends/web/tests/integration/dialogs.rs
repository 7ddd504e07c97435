//! Dialogs are known from events; no request is ever sent to a page while one is open.

use crate::support::Page;
use std::time::{Duration, Instant};
use stickpin_device::{
    Action, CancellationToken, CaptureRequest, Delivery, Device, DialogAnswer, ErrorCode, LeavePolicy,
    Modifiers, Navigation, Notice, PendingActivity, SettleRequest,
};
use stickpin_tree::Role;

fn button(script: &str) -> String {
    format!(
        "<!doctype html><script>log=[]</script><button onclick=\"{script}\">Ask</button><label>Name <input></label>"
    )
}

#[tokio::test]
async fn an_alert_is_answered_and_reported() {
    let Some(mut page) = Page::show(&button("alert('Saved!');log.push('after')")).await else { return };
    let ask = page.find(Role::Button, "Ask").await;
    page.device.notices().await.unwrap();
    let done = page.press(ask).await;
    assert_eq!(done.delivery, Delivery::Confirmed);
    assert_eq!(page.log().await, ["after"]);
    assert_eq!(page.device.dialogs().unwrap().dialog(), None);
    let notices = page.device.notices().await.unwrap();
    assert!(notices.contains(&Notice::DialogShown { text: "Saved!".into() }), "{notices:?}");
    page.close().await;
}

#[tokio::test]
async fn a_confirm_ends_the_press_and_waits_for_its_answer() {
    let Some(mut page) = Page::show(&button("log.push(confirm('Sure?'))")).await else { return };
    let ask = page.find(Role::Button, "Ask").await;
    for (answer, said) in [(DialogAnswer::Accept(None), "true"), (DialogAnswer::Dismiss, "false")] {
        page.press(ask).await;
        let dialog = page.device.dialogs().unwrap().dialog().unwrap();
        assert_eq!((dialog.kind.as_str(), dialog.message.as_str()), ("confirm", "Sure?"));
        page.device.dialogs().unwrap().answer_dialog(answer).await.unwrap();
        assert_eq!(page.device.dialogs().unwrap().dialog(), None);
        assert_eq!(page.truth::<Vec<bool>>("log").await.last().unwrap().to_string(), said);
    }
    let error = page.device.dialogs().unwrap().answer_dialog(DialogAnswer::Dismiss).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ElementNotFound);
    page.close().await;
}

#[tokio::test]
async fn a_prompt_takes_a_text() {
    let Some(mut page) = Page::show(&button("log.push(prompt('Name?','Bob'))")).await else { return };
    let ask = page.find(Role::Button, "Ask").await;
    page.press(ask).await;
    let dialog = page.device.dialogs().unwrap().dialog().unwrap();
    assert_eq!((dialog.kind.as_str(), dialog.default.as_str()), ("prompt", "Bob"));
    page.device.dialogs().unwrap().answer_dialog(DialogAnswer::Accept(Some("Ada".into()))).await.unwrap();
    assert_eq!(page.log().await, ["Ada"]);
    page.close().await;
}

#[tokio::test]
async fn open_dialog_fails_every_call_at_once() {
    let Some(mut page) = Page::show(&button("confirm('Sure?')")).await else { return };
    let (ask, name) = (page.find(Role::Button, "Ask").await, page.find(Role::TextBox, "Name").await);
    page.press(ask).await;
    let before = Instant::now();
    let none = CancellationToken::new();
    let mut codes = vec![page.device.capture(CaptureRequest::default()).await.unwrap_err().code];
    codes.push(page.device.locate(name, &[]).await.unwrap_err().code);
    let fill = Action::Fill { target: name, text: "late".into() };
    codes.push(page.device.perform(&fill, &none).await.unwrap_err().code);
    let key = Action::Key { modifiers: Modifiers::default(), key: "x".into() };
    codes.push(page.device.perform(&key, &none).await.unwrap_err().code);
    codes.push(page.device.screenshots().unwrap().screenshot(Default::default()).await.unwrap_err().code);
    codes.push(
        page.device
            .navigator()
            .unwrap()
            .navigate(&Navigation::Reload, LeavePolicy::Ask, Duration::from_secs(5), &none)
            .await
            .unwrap_err()
            .code,
    );
    assert!(codes.iter().all(|c| *c == ErrorCode::DialogOpen), "{codes:?}");
    let settle = SettleRequest::new(Duration::from_millis(150), Duration::from_secs(10));
    let settled = page.device.settle(settle, &none).await.unwrap();
    assert_eq!(
        (settled.is_quiet, settled.pending),
        (false, vec![PendingActivity::Other("a confirm dialog".to_owned())])
    );
    page.device.notices().await.unwrap();
    assert!(before.elapsed() < Duration::from_secs(2), "{:?}", before.elapsed());
    page.device.dialogs().unwrap().answer_dialog(DialogAnswer::Dismiss).await.unwrap();
    page.capture().await;
    assert_eq!(page.truth::<String>("document.querySelector('input').value").await, "");
    page.close().await;
}

#[tokio::test]
async fn dialog_opened_by_the_page_is_known_from_events() {
    let Some(mut page) = Page::show("<!doctype html><script>log=[]</script>x").await else { return };
    // Start the timer only after the page has loaded: otherwise, it could fire before the page is
    // quiet.
    page.truth::<()>("void setTimeout(() => log.push(confirm('Still there?')), 0)").await;
    for _ in 0..250 {
        if page.device.dialogs().unwrap().dialog().is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    page.device.dialogs().unwrap().answer_dialog(DialogAnswer::Accept(None)).await.unwrap();
    page.until("log.length==1").await;
    page.close().await;
}

#[tokio::test]
async fn a_dialog_while_the_document_is_parsed_can_be_answered() {
    let pages = [
        ("/", "<!doctype html>x"),
        ("/early", "<!doctype html><script>log=[confirm('Early?')]</script><p>Done"),
    ];
    let Some(mut page) = Page::site(&pages).await else { return };
    let url = page.site.url("/early");
    let arrived = page.go(&url).await;
    assert!(!arrived.quiet.is_quiet);
    assert_eq!(page.device.dialogs().unwrap().dialog().unwrap().message, "Early?");
    page.device.dialogs().unwrap().answer_dialog(DialogAnswer::Accept(None)).await.unwrap();
    page.until("document.readyState=='complete'").await;
    assert_eq!(page.truth::<Vec<bool>>("log").await, [true]);
    page.close().await;
}

#[tokio::test]
async fn a_button_held_into_a_dialog_does_not_stay_down() {
    let html = "<!doctype html><script>log=[];addEventListener('mousemove',e=>log.push(e.buttons))</script>
        <button onmousedown=\"confirm('Down?')\" style='width:200px'>Ask</button><button style='width:200px'>Other</button>";
    let Some(mut page) = Page::show(html).await else { return };
    let (ask, other) = (page.find(Role::Button, "Ask").await, page.find(Role::Button, "Other").await);
    page.press(ask).await;
    assert!(page.device.dialogs().unwrap().dialog().is_some());
    page.device.dialogs().unwrap().answer_dialog(DialogAnswer::Accept(None)).await.unwrap();
    page.truth::<u32>("log.length=0").await;
    page.aim(other).await;
    assert_eq!(page.truth::<Vec<u32>>("log").await.last(), Some(&0));
    assert_eq!(page.press(other).await.delivery, Delivery::Confirmed);
    page.close().await;
}

#[tokio::test]
async fn leaving_a_draft_is_asked_for_history_and_accepted_for_open() {
    let draft = "<!doctype html><title>Draft</title><label>Name <input></label><script>addEventListener('beforeunload',e=>{e.preventDefault();e.returnValue='x'})</script>";
    let pages = [
        ("/", "<!doctype html><title>First</title>f"),
        ("/draft", draft),
        ("/next", "<!doctype html><title>Next</title>n"),
    ];
    let Some(mut page) = Page::site(&pages).await else { return };
    let none = CancellationToken::new();
    let url = page.site.url("/draft");
    page.go(&url).await;
    let name = page.find(Role::TextBox, "Name").await;
    page.press(name).await;
    page.fill(name, "half written").await;
    let error = page
        .device
        .navigator()
        .unwrap()
        .navigate(&Navigation::Back, LeavePolicy::Ask, Duration::from_secs(10), &none)
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::DialogOpen);
    assert_eq!(page.device.dialogs().unwrap().dialog().unwrap().kind, "beforeunload");
    page.device.dialogs().unwrap().answer_dialog(DialogAnswer::Dismiss).await.unwrap();
    assert_eq!(page.truth::<String>("document.title").await, "Draft");
    let url = page.site.url("/next");
    let arrived = page.go(&url).await;
    assert_eq!((arrived.title.as_str(), arrived.quiet.is_quiet), ("Next", true));
    page.close().await;
}

/// Only some time after the dialog is closed does the page tell the browser that it stays.
#[tokio::test]
async fn who_decides_to_stay_can_be_asked_again_at_once() {
    let draft = "<!doctype html><title>Draft</title><label>Name <input></label>\
        <script>addEventListener('beforeunload',e=>{e.preventDefault()})</script>";
    let Some(mut page) = Page::site(&[("/", draft)]).await else { return };
    let none = CancellationToken::new();
    page.go(&page.site.url("/")).await;
    let name = page.find(Role::TextBox, "Name").await;
    page.press(name).await;
    page.fill(name, "half written").await;
    for _ in 0..40 {
        let reload = page.device.navigator().unwrap().navigate(
            &Navigation::Reload,
            LeavePolicy::Ask,
            Duration::from_secs(10),
            &none,
        );
        assert_eq!(reload.await.unwrap_err().code, ErrorCode::DialogOpen);
        page.device.dialogs().unwrap().answer_dialog(DialogAnswer::Dismiss).await.unwrap();
    }
    assert_eq!(page.truth::<String>("document.querySelector('input').value").await, "half written");
    page.close().await;
}
