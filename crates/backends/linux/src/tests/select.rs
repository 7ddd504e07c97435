//! Choosing options from a list whose options change meanwhile, in a test app that reports what was
//! chosen.

use super::speaker::{Answers, Speaker, object, unknown};
use crate::app::LinuxDevice;
use crate::bus::names;
use crate::model::{Object, states as s};
use std::sync::Arc;
use stickpin_device::{
    Action, CancellationToken, CaptureRequest, CaptureResult, Device, Dispatched, Error, ErrorCode,
    InputOutcome,
};
use stickpin_tree::{Handle, Role, Tree};
use zbus::{Message, Variant};

const WINDOW: &str = "/window";
const LIST: &str = "/list";
const GROUP: &str = "/group";

/// How the options change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Another option is inserted before the others.
    Inserted,
    /// The option with this path is removed.
    Removed(&'static str),
    /// The option with this path is renamed.
    Renamed(&'static str, &'static str),
}

/// An app with a list.
#[derive(Debug)]
struct Shelf {
    /// The paths and names of the options.
    options: Vec<(&'static str, &'static str)>,
    chosen: Vec<&'static str>,
    /// Whether the list is multi-selectable, and reports so.
    several: bool,
    /// Whether all options but the first are in a group, and the list counts options, not children.
    grouped: bool,
    /// Whether the app ignores choices without reporting an error.
    keeps: bool,
    /// The changes, each with the request before whose answer it happens.
    changes: Vec<(&'static str, Change)>,
    /// Every option that was ever selected, by name.
    log: Vec<&'static str>,
}

impl Default for Shelf {
    fn default() -> Self {
        let options = vec![("/a", "Apple"), ("/p", "Pear"), ("/b", "Banana")];
        let (chosen, changes, log) = (vec!["/a"], Vec::new(), Vec::new());
        Self { options, chosen, several: false, grouped: false, keeps: false, changes, log }
    }
}

impl Shelf {
    fn change(&mut self, change: Change) {
        match change {
            Change::Inserted => self.options.insert(0, ("/n", "New")),
            Change::Removed(path) => self.options.retain(|(other, _)| *other != path),
            Change::Renamed(path, name) => {
                self.options.iter_mut().filter(|(other, _)| *other == path).for_each(|o| o.1 = name);
            }
        }
    }

    fn names(&self) -> Vec<&'static str> {
        let name = |path| self.options.iter().find(|(other, _)| other == path).map(|(_, name)| *name);
        self.chosen.iter().filter_map(name).collect()
    }
}

impl Answers for Shelf {
    fn answer(&mut self, call: &Message, path: &str, what: &str, number: i32) -> Message {
        if self.changes.first().is_some_and(|(before, _)| *before == what) {
            let (_, change) = self.changes.remove(0);
            self.change(change);
        }
        let header = call.header();
        let say = Message::method_return(&header);
        let option = self.options.iter().find(|(other, _)| *other == path);
        let at = usize::try_from(number).ok();
        let meant = at.and_then(|at| self.options.get(at)).copied();
        let children: Vec<&str> = match path {
            names::ROOT => vec![WINDOW],
            WINDOW => vec![LIST],
            LIST if self.grouped => vec![self.options[0].0, GROUP],
            LIST => self.options.iter().map(|(path, _)| *path).collect(),
            GROUP => self.options[1..].iter().map(|(path, _)| *path).collect(),
            _ => Vec::new(),
        };
        let built = match what {
            "Name" => say.build(&Variant::from(match (path, option) {
                (LIST, _) => "Fruit",
                (GROUP, _) => "Banana",
                (_, Some((_, name))) => name,
                _ => "Window",
            })),
            "Description" => say.build(&Variant::from("")),
            "ChildCount" => say.build(&Variant::from(children.len() as i32)),
            "GetChildren" => say.build(&children.into_iter().map(object).collect::<Vec<_>>()),
            // List box, panel and list item (`AtspiRole`).
            "GetRole" => say.build(
                &(match (path, option) {
                    (LIST, _) => 98_u32,
                    (GROUP, _) => 39,
                    (_, Some(_)) => 32,
                    _ => 23,
                }),
            ),
            "GetState" => {
                let list = if path == LIST && self.several { s::MULTISELECTABLE } else { 0 };
                let own = option.map_or(0, |_| s::SELECTABLE);
                let all = s::VISIBLE | s::SHOWING | s::ENABLED | s::SENSITIVE | list | own;
                say.build(&vec![(all & 0xffff_ffff) as u32, (all >> 32) as u32])
            }
            "GetInterfaces" => {
                let all =
                    ["org.a11y.atspi.Accessible", "org.a11y.atspi.Component", "org.a11y.atspi.Selection"];
                say.build(&all[..if path == LIST { 3 } else { 2 }].to_vec())
            }
            "GetExtents" => say.build(&((10_i32, 10_i32, 80_i32, 30_i32),)),
            "NSelectedChildren" => say.build(&Variant::from(self.chosen.len() as i32)),
            "GetSelectedChild" => match at.and_then(|at| self.chosen.get(at)) {
                Some(path) => say.build(&object(path)),
                None => return unknown(call, "none"),
            },
            "IsChildSelected" => say.build(&meant.is_some_and(|(path, _)| self.chosen.contains(&path))),
            "ClearSelection" => {
                self.chosen.clear();
                say.build(&true)
            }
            "SelectChild" => {
                if let Some((path, name)) = meant.filter(|_| !self.keeps) {
                    if !self.several {
                        self.chosen.clear();
                    }
                    self.chosen.push(path);
                    self.log.push(name);
                }
                say.build(&meant.is_some())
            }
            _ => return unknown(call, "no"),
        };
        built.unwrap()
    }
}

async fn read(device: &mut LinuxDevice) -> Arc<Tree> {
    match device.capture(CaptureRequest::default()).await.unwrap() {
        CaptureResult::Tree(tree) => tree,
        other => panic!("{other:?}"),
    }
}

/// Returns the action that chooses these options.
fn choice(tree: &Tree, options: &[&str]) -> Action {
    let list: Handle = tree.nodes().find(|n| n.name() == "Fruit").and_then(|n| n.handle()).unwrap();
    Action::Select { target: list, options: options.iter().map(|option| (*option).to_owned()).collect() }
}

/// Chooses options in an app that has been read, and returns the result.
async fn choose(shelf: Shelf, options: &[&str]) -> (Result<InputOutcome, Error>, Speaker<Shelf>) {
    let changes = shelf.changes.clone();
    let app = Speaker::with(Shelf { changes: Vec::new(), ..shelf });
    let (mut device, _) = app.device().await;
    let tree = read(&mut device).await;
    app.becomes(|now| now.changes = changes);
    let chosen = device.perform(&choice(&tree, options), &CancellationToken::new()).await;
    assert!(app.becomes(|now| now.changes.is_empty()), "all that was to change has changed");
    (chosen, app)
}

/// Returns what is selected and everything that was ever selected.
fn state(app: &Speaker<Shelf>) -> (Vec<&'static str>, Vec<&'static str>) {
    app.becomes(|now| (now.names(), now.log.clone()))
}

#[tokio::test]
async fn an_option_is_chosen_where_it_stands_by_then() {
    // The options change after the app is read and the options are requested, each time before the
    // position is requested.
    for before in ["GetChildren", "NSelectedChildren", "GetSelectedChild"] {
        let changes = vec![(before, Change::Inserted)];
        let (chosen, app) = choose(Shelf { changes, ..Shelf::default() }, &["Banana"]).await;
        assert!(chosen.unwrap().handled);
        assert_eq!(state(&app), (vec!["Banana"], vec!["Banana"]), "{before}");
    }
}

#[tokio::test]
async fn another_one_that_was_chosen_instead_is_told_and_let_go() {
    let changes = vec![("SelectChild", Change::Inserted)];
    let (chosen, app) = choose(Shelf { changes, ..Shelf::default() }, &["Banana"]).await;
    let error = chosen.unwrap_err();
    assert_eq!((error.code, error.dispatched), (ErrorCode::FillMismatch, Dispatched::Unknown), "{error}");
    let says = "chose \"Pear\" instead of \"Banana\", because its options changed at that moment; the previous choice is selected again";
    assert!(error.message.contains(says), "{error}");
    assert_eq!(state(&app), (vec!["Apple"], vec!["Pear", "Apple"]));
    // Nothing was selected before.
    let changes = vec![("SelectChild", Change::Inserted)];
    let (chosen, app) = choose(Shelf { changes, chosen: Vec::new(), ..Shelf::default() }, &["Banana"]).await;
    assert!(chosen.unwrap_err().message.contains("is selected again"));
    assert_eq!(state(&app), (vec![], vec!["Pear"]));
}

#[tokio::test]
async fn of_several_none_is_another_one() {
    let both = ["Apple", "Banana"];
    let shelf = || Shelf { several: true, chosen: vec!["/p"], ..Shelf::default() };
    let (chosen, app) = choose(shelf(), &both).await;
    assert!(chosen.unwrap().handled);
    assert_eq!(state(&app), (vec!["Apple", "Banana"], vec!["Apple", "Banana"]));
    let changes = vec![("SelectChild", Change::Inserted)];
    let (chosen, app) = choose(Shelf { changes, ..shelf() }, &both).await;
    let error = chosen.unwrap_err();
    assert!(error.message.contains("chose \"New\" instead of \"Apple\", \"Banana\""), "{error}");
    assert_eq!(state(&app).0, ["Pear"], "as before");
}

#[tokio::test]
async fn one_that_moves_after_it_was_chosen_is_chosen() {
    let changes = vec![("IsChildSelected", Change::Inserted)];
    let (chosen, app) = choose(Shelf { changes, ..Shelf::default() }, &["Banana"]).await;
    assert!(chosen.unwrap().handled);
    assert_eq!(state(&app), (vec!["Banana"], vec!["Banana"]));
}

#[tokio::test]
async fn one_that_leaves_or_becomes_another_one_is_not_chosen() {
    for change in [Change::Removed("/b"), Change::Renamed("/b", "Cherry")] {
        let changes = vec![("GetSelectedChild", change)];
        let (chosen, app) = choose(Shelf { changes, ..Shelf::default() }, &["Banana"]).await;
        let error = chosen.unwrap_err();
        assert_eq!(error.code, ErrorCode::ElementNotFound, "{change:?}: {error}");
        assert_eq!(state(&app), (vec!["Apple"], vec![]), "{change:?}");
    }
}

#[tokio::test]
async fn a_list_that_does_not_take_the_choice_is_opened_and_pressed() {
    let (chosen, app) = choose(Shelf { keeps: true, ..Shelf::default() }, &["Banana"]).await;
    assert!(!chosen.unwrap().handled);
    assert_eq!(state(&app), (vec!["Apple"], vec![]));
}

#[tokio::test]
async fn what_is_hidden_in_an_option_may_stand_in_itself() {
    let app = Speaker::with(Shelf::default());
    let (mut device, _) = app.device().await;
    let tree = read(&mut device).await;
    let objects = &mut device.last.picture.objects;
    let hidden = objects.len();
    objects.push(Object { children: vec![hidden], ..Object::default() });
    objects.iter_mut().find(|object| object.path == "/b").unwrap().children.push(hidden);
    let chosen = device.perform(&choice(&tree, &["Banana"]), &CancellationToken::new()).await;
    assert!(chosen.unwrap().handled);
    assert_eq!(state(&app), (vec!["Banana"], vec!["Banana"]));
}

#[tokio::test]
async fn by_the_place_of_a_group_nothing_is_chosen() {
    // The group has the same name as the intended option in it. The group's index is that of
    // another option.
    let (chosen, app) = choose(Shelf { grouped: true, ..Shelf::default() }, &["Banana"]).await;
    assert!(!chosen.unwrap().handled, "it is to be pressed");
    assert_eq!(state(&app), (vec!["Apple"], vec![]));
}

#[tokio::test]
async fn what_is_in_a_group_of_a_list_is_an_option_of_it() {
    let (mut device, _) = Speaker::with(Shelf { grouped: true, ..Shelf::default() }).device().await;
    let tree = read(&mut device).await;
    let role = |name: &str| tree.nodes().find(|n| n.name() == name).map(|n| n.role());
    assert_eq!([role("Apple"), role("Pear")], [Some(Role::Option); 2]);
}
