//! Fields and lists take what is filled in, and the page hears of it.

use crate::support::Page;
use stickpin_kernel::ErrorCode;
use stickpin_kernel::device::{Action, CancellationToken, Device};
use stickpin_tree::Role;

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
