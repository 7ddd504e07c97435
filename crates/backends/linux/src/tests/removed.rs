//! Objects that the app removes during an action: an error after the first input says that input
//! was sent. Fields that do not report their content afterwards: the fill says so.

use super::heap::{Heap, Thing};
use super::shown_window;
use super::speaker::{Answers, Speaker, unknown};
use crate::app::LinuxDevice;
use crate::bus::names;
use crate::model::roles::number as n;
use crate::model::states as s;
use crate::toolkit::profile::Toolkit;
use std::path::Path;
use stickpin_device::{
    Action, CancellationToken, CaptureRequest, Device, Dispatched, ErrorCode, InputOutcome, Result,
};
use zbus::{Message, Variant};

const WINDOW: &str = "/window";
const BOX: &str = "/box";
const INNER: &str = "/box/inner";
const FIELD: &str = "/field";

/// The interfaces of a field that accepts text over the bus.
const EDITABLE: &[&str] = &["Accessible", "Component", "Text", "EditableText"];

/// An app with a checkable group box and a focused field, neither of which accepts actions over the
/// bus.
struct Form {
    things: Heap,
    /// The interfaces of the field.
    interfaces: &'static [&'static str],
    /// The number of characters that the field reports, if it reports one.
    length: Option<i32>,
    /// The object that the app removes, the request before whose answer it does so, and the number
    /// of such requests that it answers before.
    removed: (&'static str, &'static str, usize),
}

impl Form {
    fn new() -> Self {
        let field = Thing::new(FIELD, "Name", n::ENTRY, WINDOW);
        let states = field.states | s::FOCUSABLE | s::FOCUSED;
        let things = Heap(vec![
            Thing { place: (0, 0, 600, 500), ..Thing::new(WINDOW, "Window", n::FRAME, names::ROOT) },
            Thing::new(BOX, "Options", n::CHECK_BOX, WINDOW),
            Thing::new(INNER, "Inner", n::PUSH_BUTTON, BOX),
            Thing { states, place: (10, 60, 80, 30), ..field },
        ]);
        Self { things, interfaces: &EDITABLE[..3], length: None, removed: ("", "", 0) }
    }
}

impl Answers for Form {
    fn answer(&mut self, call: &Message, path: &str, what: &str, number: i32) -> Message {
        if (path, what) == (self.removed.0, self.removed.1) {
            match self.removed.2.checked_sub(1) {
                Some(left) => self.removed.2 = left,
                None => self.things.0.retain(|thing| thing.path != path),
            }
        }
        let header = call.header();
        if path != names::ROOT && self.things.0.iter().all(|thing| thing.path != path) {
            return Message::error(&header, "org.freedesktop.DBus.Error.UnknownObject").build(&path).unwrap();
        }
        match (path, what) {
            (FIELD, "GetInterfaces") => {
                let names = self.interfaces.iter().map(|name| format!("org.a11y.atspi.{name}"));
                let names: Vec<String> = names.collect();
                Message::method_return(&header).build(&names).unwrap()
            }
            (FIELD, "CharacterCount") if let Some(length) = self.length => {
                Message::method_return(&header).build(&Variant::from(length)).unwrap()
            }
            (FIELD, "Set") => Message::method_return(&header).build(&()).unwrap(),
            (FIELD, "SetTextContents") => Message::method_return(&header).build(&true).unwrap(),
            (BOX, "GetActions") => Message::method_return(&header).build(&vec![("Toggle", "", "")]).unwrap(),
            (_, "GetActions") => unknown(call, "no such interface"),
            _ => self.things.answer(call, path, what, number),
        }
    }
}

/// Performs an action on an object of an app whose window is on a private display, where the app
/// removes another object or that one. Returns the result, and what the window received.
async fn perform(
    dir: &Path,
    toolkit: Toolkit,
    on: &'static str,
    removed: (&'static str, &'static str, usize),
    action: impl FnOnce(stickpin_tree::Handle) -> Action,
) -> Option<(Result<InputOutcome>, Vec<String>)> {
    let (window, screen) = shown_window(dir).await?;
    let app = Speaker::with(Form::new());
    let (mut device, _): (LinuxDevice, _) = app.device().await;
    (device.app.screen, device.app.link.toolkit) = (screen, toolkit);
    device.app.info.pid = Some(std::process::id());
    device.capture(CaptureRequest::default()).await.unwrap();
    app.becomes(|form| form.removed = removed);
    let action = action(device.app.ids.handle(on));
    let performed = device.perform(&action, &CancellationToken::new()).await;
    let received = window.received();
    drop(window);
    device.app.screen.end().await.unwrap();
    Some((performed, received))
}

#[tokio::test]
async fn error_after_the_field_was_emptied_says_that_keys_were_sent() {
    let dir = tempfile::tempdir().unwrap();
    // The app is asked whether the field has the focus before the fill, before the field is emptied
    // and before the text.
    let removed = (FIELD, "GetState", 2);
    let fill = |target| Action::Fill { target, text: "Ann".to_owned() };
    let Some((performed, received)) = perform(dir.path(), Toolkit::default(), FIELD, removed, fill).await
    else {
        return;
    };
    assert!(received.iter().any(|line| line.starts_with("key ffff")), "Delete: {received:?}");
    assert!(!received.iter().any(|line| line.starts_with("key 41")), "no text: {received:?}");
    let error = performed.unwrap_err();
    assert_eq!((error.code, error.dispatched), (ErrorCode::ElementNotFound, Dispatched::Unknown), "{error}");
}

#[tokio::test]
async fn error_after_the_text_was_set_says_that_it_was_sent() {
    let app = Speaker::with(Form { interfaces: EDITABLE, ..Form::new() });
    let (mut device, _): (LinuxDevice, _) = app.device().await;
    device.capture(CaptureRequest::default()).await.unwrap();
    app.becomes(|form| form.removed = (FIELD, "CharacterCount", 0));
    let action = Action::Fill { target: device.app.ids.handle(FIELD), text: "Ann".to_owned() };
    let error = device.perform(&action, &CancellationToken::new()).await.unwrap_err();
    assert_eq!((error.code, error.dispatched), (ErrorCode::ElementNotFound, Dispatched::Unknown), "{error}");
}

/// Fills the field of a form over the bus.
async fn fill(form: Form, text: &str) -> InputOutcome {
    let app = Speaker::with(form);
    let (mut device, _): (LinuxDevice, _) = app.device().await;
    device.capture(CaptureRequest::default()).await.unwrap();
    let fill = Action::Fill { target: device.app.ids.handle(FIELD), text: text.to_owned() };
    device.perform(&fill, &CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn fill_of_a_field_of_unknown_length_is_reported_as_unread() {
    for (text, length) in [("", None), ("", Some(-1)), ("Ann", None), ("Ann", Some(-1))] {
        let filled = fill(Form { interfaces: EDITABLE, length, ..Form::new() }, text).await;
        assert!(filled.handled && filled.unread, "{text:?}, {length:?}: {filled:?}");
    }
    let filled = fill(Form { interfaces: EDITABLE, length: Some(0), ..Form::new() }, "").await;
    assert!(!filled.unread && filled.value.as_deref() == Some(""), "{filled:?}");
    let value = &["Accessible", "Component", "Value"];
    let filled = fill(Form { interfaces: value, ..Form::new() }, "7").await;
    assert!(filled.handled && filled.unread, "the value is not reported: {filled:?}");
}

#[tokio::test]
async fn error_after_a_group_box_was_pressed_says_that_a_press_was_sent() {
    let dir = tempfile::tempdir().unwrap();
    let press = |target| Action::press((50.0, 20.0), Some(target));
    let removed = (BOX, "DoAction", 0);
    let Some((performed, received)) = perform(dir.path(), Toolkit::Qt, BOX, removed, press).await else {
        return;
    };
    assert!(received.iter().any(|line| line.starts_with("down 1")), "{received:?}");
    let error = performed.unwrap_err();
    assert_eq!((error.code, error.dispatched), (ErrorCode::ElementNotFound, Dispatched::Unknown), "{error}");
}

#[tokio::test]
async fn text_for_a_removed_field_is_not_typed() {
    let dir = tempfile::tempdir().unwrap();
    // The app removes the field after it has confirmed that the field has the focus.
    let removed = (FIELD, "GetState", 1);
    let text = |target| Action::Type { target: Some(target), text: "Ann".to_owned() };
    let Some((performed, received)) = perform(dir.path(), Toolkit::default(), FIELD, removed, text).await
    else {
        return;
    };
    assert!(!received.iter().any(|line| line.starts_with("key")), "{received:?}");
    let error = performed.unwrap_err();
    assert_eq!((error.code, error.dispatched), (ErrorCode::ElementNotFound, Dispatched::No), "{error}");
}
