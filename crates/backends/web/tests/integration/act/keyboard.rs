//! Keys, chords and typed text.

use crate::support::Page;
use stickpin_device::{Action, Modifiers};
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

#[tokio::test]
async fn every_named_key_arrives_under_its_name() {
    let html = "<!doctype html><input autofocus><script>log=[];addEventListener('keydown',e=>{log.push([e.key,e.code,e.keyCode].join(' '));e.preventDefault()})</script>";
    let Some(mut page) = Page::show(html).await else { return };
    for (key, told) in [
        ("Enter", "Enter Enter 13"),
        ("Escape", "Escape Escape 27"),
        ("Delete", "Delete Delete 46"),
        ("Insert", "Insert Insert 45"),
        ("Home", "Home Home 36"),
        ("PageDown", "PageDown PageDown 34"),
        ("ArrowLeft", "ArrowLeft ArrowLeft 37"),
        (" ", "  Space 32"),
        ("ContextMenu", "ContextMenu ContextMenu 93"),
        ("F12", "F12 F12 123"),
        ("CapsLock", "CapsLock CapsLock 20"),
        ("NumLock", "NumLock NumLock 144"),
        ("ScrollLock", "ScrollLock ScrollLock 145"),
        ("Pause", "Pause Pause 19"),
        ("PrintScreen", "PrintScreen PrintScreen 44"),
        ("F24", "F24 F24 135"),
        ("AltGraph", "AltGraph AltRight 225"),
        ("é", "é  0"),
    ] {
        page.key(Modifiers::default(), key).await;
        assert_eq!(page.log().await.last().unwrap(), told, "{key}");
    }
    page.close().await;
}

#[tokio::test]
async fn chords_hold_all_their_modifiers_and_type_nothing() {
    let html = "<!doctype html><input id=i autofocus><script>log=[];addEventListener('keydown',e=>log.push('down '+[e.key,e.ctrlKey,e.shiftKey,e.altKey,e.metaKey].join(' ')));
        addEventListener('keyup',e=>log.push('up '+e.key))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    page.key(Modifiers { control: true, shift: true, ..Modifiers::default() }, "k").await;
    assert_eq!(
        page.log().await,
        [
            "down Control true false false false",
            "down Shift true true false false",
            "down K true true false false",
            "up K",
            "up Shift",
            "up Control"
        ]
    );
    assert_eq!(page.truth::<String>("i.value").await, "");
    page.close().await;
}
