//! A tree with columns as Qt reports it: its children are the headers and then the cells, line by
//! line, but it lists none of them.

use super::heap::{self, Heap, Thing};
use super::speaker::{Answers, Speaker, object, unknown};
use crate::bus::names;
use crate::model::roles::number as n;
use crate::model::states as s;
use crate::toolkit::profile::Toolkit;
use std::collections::HashSet;
use stickpin_device::{CaptureRequest, Device};
use zbus::{Message, Variant};

const WINDOW: &str = "/window";
const TREE: &str = "/tree";
/// The children of the tree: two headers, and two lines of two cells.
const CHILDREN: [&str; 6] = ["/name", "/size", "/readme", "/1k", "/license", "/2k"];

struct Tree {
    things: Heap,
    /// Whether the app no longer answers which child a cell is.
    silent: bool,
    /// How many cells the app was asked for by their position.
    asked: usize,
}

impl Tree {
    fn new() -> Self {
        let tree = Thing::new(TREE, "Files", n::TREE, WINDOW);
        let mut things = vec![
            Thing::new(WINDOW, "Folder", n::FRAME, names::ROOT),
            Thing { states: tree.states | s::MANAGES_DESCENDANTS, ..tree },
        ];
        things.extend(CHILDREN.iter().enumerate().map(|(i, path)| {
            let role = if i < 2 { n::TABLE_COLUMN_HEADER } else { n::TABLE_CELL };
            Thing { listed: false, ..Thing::new(path, &path[1..], role, TREE) }
        }));
        Self { things: Heap(things), silent: false, asked: 0 }
    }
}

impl Answers for Tree {
    fn answer(&mut self, call: &Message, path: &str, what: &str, number: i32) -> Message {
        let header = call.header();
        let say = Message::method_return(&header);
        let child = |at: usize| CHILDREN.get(at).map(|path| object(path));
        let built = match what {
            "GetIndexInParent" if self.silent => {
                Message::error(&header, "org.freedesktop.DBus.Error.NoReply").build(&"no reply")
            }
            "GetIndexInParent" => match CHILDREN.iter().position(|child| *child == path) {
                Some(at) => say.build(&i32::try_from(at).unwrap()),
                None => return unknown(call, "no child of the tree"),
            },
            "GetInterfaces" if path == TREE => {
                let all = ["Accessible", "Component", "Table"].map(|name| format!("org.a11y.atspi.{name}"));
                say.build(&all.to_vec())
            }
            "ChildCount" if path == TREE => say.build(&Variant::from(6_i32)),
            "NRows" | "NColumns" => say.build(&Variant::from(2_i32)),
            "GetAccessibleAt" => {
                let (row, column) = call.body().deserialize::<(i32, i32)>().unwrap();
                self.asked += 1;
                say.build(&child(usize::try_from(2 + row * 2 + column).unwrap()).unwrap())
            }
            "GetChildAtIndex" if path == TREE => say.build(&child(usize::try_from(number).unwrap()).unwrap()),
            _ => return self.things.answer(call, path, what, number),
        };
        built.unwrap()
    }
}

async fn read() -> (Speaker<Tree>, crate::app::LinuxDevice) {
    let app = Speaker::with(Tree::new());
    let mut device = app.device().await.0;
    device.app.link.toolkit = Toolkit::Qt;
    device.capture(CaptureRequest::default()).await.unwrap();
    (app, device)
}

#[tokio::test]
async fn each_header_of_a_table_is_in_the_capture_once() {
    let (_app, device) = read().await;
    let mut seen = HashSet::new();
    let again = device.last.picture.objects.iter().find(|object| !seen.insert(&object.path));
    assert_eq!(again.map(|object| &object.path), None);
    // A check of the header finds the object that the table shows.
    let header = device.last.at(CHILDREN[0]).unwrap();
    assert!(device.last[header].shown, "{:?}", device.last[header]);
    assert_eq!(device.last.top(header), heap::at(&device, WINDOW));
}

#[tokio::test]
async fn cells_of_a_tree_are_kept_if_a_capture_fails() {
    let (app, mut device) = read().await;
    let known = device.cells.clone();
    assert_eq!(app.becomes(|tree| std::mem::take(&mut tree.asked)), 4);
    app.becomes(|tree| tree.silent = true);
    device.capture(CaptureRequest::default()).await.unwrap_err();
    assert_eq!(device.cells, known);
    app.becomes(|tree| tree.silent = false);
    device.capture(CaptureRequest::default()).await.unwrap();
    assert_eq!(app.becomes(|tree| tree.asked), 0, "Qt may create an object for each query");
}
