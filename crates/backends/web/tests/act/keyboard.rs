//! Keys, chords and typed text.

use crate::support::Page;
use stickpin_kernel::device::{Action, Modifiers};
use stickpin_tree::Role;

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
