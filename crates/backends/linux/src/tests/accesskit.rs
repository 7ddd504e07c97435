//! An app that behaves like the Unix adapter of AccessKit: it reports the name of its own toolkit,
//! has object paths of two numbers, no cache and one action for each control, and reports READ_ONLY
//! on fields but never EDITABLE.

use super::heap::{Heap, Thing};
use super::speaker::{Answers, Speaker, object, unknown};
use crate::bus::{Link, names};
use crate::model::roles::number as n;
use crate::model::states as s;
use crate::toolkit::profile::Toolkit;
use std::time::Duration;
use stickpin_device::{Action, CancellationToken, CaptureRequest, CaptureResult, Device};
use stickpin_tree::{Role, States};
use tokio::time::Instant;
use zbus::{Message, Variant};

const WINDOW: &str = "/org/a11y/atspi/accessible/0/0";
const SAVE: &str = "/org/a11y/atspi/accessible/0/2";
const CONTROL: u64 = s::VISIBLE | s::SHOWING | s::FOCUSABLE;
const USABLE: u64 = s::ENABLED | s::SENSITIVE;

/// The app and the actions that it received: for each, the object and the action.
struct Form {
    things: Heap,
    done: Vec<(String, i32)>,
}

impl Form {
    fn new() -> Self {
        let thing = |path, name, role, states| Thing { states, ..Thing::new(path, name, role, WINDOW) };
        let window = Thing::new(WINDOW, "Order", n::FRAME, names::ROOT);
        let things = Heap(vec![
            Thing { states: window.states | s::ACTIVE, ..window },
            thing("/org/a11y/atspi/accessible/0/1", "Your name", n::STATIC, s::VISIBLE | s::SHOWING | USABLE),
            thing(SAVE, "Save", n::PUSH_BUTTON, CONTROL | USABLE),
            thing("/org/a11y/atspi/accessible/0/3", "Name", n::ENTRY, CONTROL | USABLE),
            thing("/org/a11y/atspi/accessible/0/4", "Number", n::ENTRY, CONTROL | s::READ_ONLY),
        ]);
        Self { things, done: Vec::new() }
    }
}

impl Answers for Form {
    fn answer(&mut self, call: &Message, path: &str, what: &str, number: i32) -> Message {
        let header = call.header();
        let say = Message::method_return(&header);
        let (is_root, is_button) = (path == names::ROOT, path == SAVE);
        let built = match what {
            "ToolkitName" if is_root => say.build(&Variant::from("egui")),
            "Version" if is_root => say.build(&Variant::from("0.33.0")),
            "GetChildAtIndex" if is_root && number == 0 => say.build(&object(WINDOW)),
            "GetInterfaces" if is_button => {
                let all = ["Accessible", "Action", "Component"].map(|name| format!("org.a11y.atspi.{name}"));
                say.build(&all.to_vec())
            }
            "GetActions" if is_button => say.build(&vec![("click", "", "")]),
            "GetActions" => return unknown(call, "no such interface"),
            "DoAction" if is_button => {
                self.done.push((path.to_owned(), number));
                say.build(&true)
            }
            _ => return self.things.answer(call, path, what, number),
        };
        built.unwrap()
    }
}

#[tokio::test]
async fn an_app_of_access_kit_is_read_and_pressed_by_its_own_action() {
    let app = Speaker::with(Form::new());
    let mut device = app.device().await.0;
    let until = Instant::now() + Duration::from_secs(20);
    device.app.link = Link::to(&device.app.desktop, ":1.2", until).await.unwrap();
    assert_eq!(device.app.link.toolkit, Toolkit::AccessKit);

    let CaptureResult::Tree(tree) = device.capture(CaptureRequest::default()).await.unwrap() else {
        panic!("nothing was stored");
    };
    let named =
        |name: &str| tree.nodes().find(|node| node.name() == name).unwrap_or_else(|| panic!("{name}"));
    assert!(tree.nodes().any(|node| node.role() == Role::Window && node.name() == "Order"));
    let (open, shut) = (named("Name"), named("Number"));
    assert!(open.role() == Role::TextBox && shut.role() == Role::TextBox);
    assert!(open.is(States::EDITABLE) && !open.is(States::READONLY), "{:?}", open.states());
    assert!(shut.is(States::READONLY), "{:?}", shut.states());

    let save = named("Save");
    assert_eq!(save.role(), Role::Button);
    let press = Action::press((0.0, 0.0), save.handle());
    let performed = device.perform(&press, &CancellationToken::new()).await.unwrap();
    assert!(performed.handled);
    assert_eq!(app.becomes(|form| std::mem::take(&mut form.done)), [(SAVE.to_owned(), 0)]);
}
