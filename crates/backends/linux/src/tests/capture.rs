//! Trees from recorded answers of real apps (`test_data/pictures`), and from a real app that is
//! running.

use super::{REQUIRE, desktop, skip};
use crate::bus::{AccessibilityBus, Addresses, Link};
use crate::capture::read::read;
use crate::capture::tables::Cells;
use crate::capture::tree::build;
use crate::model::ObjectTree;
use crate::model::ids::PathNumbers;
use crate::toolkit::profile::Toolkit;
use std::fmt::Write as _;
use std::time::Duration;
use stickpin_tree::{Handle, States, Tree};
use stickpin_x11desk::PrivateDisplay;

/// Formats a tree with one line for each node.
fn lines(tree: &Tree) -> String {
    let mut out = String::new();
    for node in tree.nodes() {
        let depth = node.ancestors().count();
        let _ = write!(out, "{:1$}{2}", "", 2 * depth, node.role());
        for (mark, text) in [(" ", node.name()), (" = ", node.value())] {
            if !text.is_empty() {
                let _ = write!(out, "{mark}{text:?}");
            }
        }
        let states: Vec<String> =
            node.states().iter_names().map(|(name, _)| name.to_ascii_lowercase()).collect();
        if !states.is_empty() {
            let _ = write!(out, " [{}]", states.join(" "));
        }
        for (attr, text) in node.attrs() {
            let _ = write!(out, " {attr:?}={text:?}");
        }
        out.push('\n');
    }
    out
}

fn tree_of(picture: &ObjectTree, ids: &PathNumbers, watch: &[Handle]) -> Tree {
    build(picture, ids, "linux:app", watch).unwrap()
}

#[test]
fn what_apps_answered_makes_these_trees() {
    crate::golden::check(env!("CARGO_MANIFEST_DIR"), "pictures", 5, &|input, question| {
        assert_eq!(question, "tree");
        let picture: ObjectTree = serde_json::from_str(input).unwrap_or_else(|e| panic!("{e}"));
        lines(&tree_of(&picture, &PathNumbers::default(), &[]))
    });
}

/// Invisible elements are not part of the tree. If a client locates one, it is reported as hidden,
/// not as gone.
#[test]
fn what_is_folded_away_is_hidden_and_what_left_is_not() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/test_data/pictures/zenity-form.txt"));
    let text = text.unwrap();
    let mut picture: ObjectTree = serde_json::from_str(text.split("\n====").next().unwrap()).unwrap();
    let ids = PathNumbers::default();
    let whole = tree_of(&picture, &ids, &[]);
    let ok = whole.nodes().find(|n| n.name() == "OK").and_then(|n| n.handle()).unwrap();
    let never = Handle { scope: ok.scope, id: 999 };
    let at = picture.objects.iter().position(|o| o.name == "OK").unwrap();
    picture.objects[at].shown = false;
    let without = tree_of(&picture, &ids, &[ok, never]);
    assert!(without.find_handle(ok).is_none());
    assert_eq!(without.hidden(), [ok]);
    picture.objects[at].states |= crate::model::states::DEFUNCT;
    assert!(tree_of(&picture, &ids, &[ok]).hidden().is_empty());
}

/// An open zenity form.
struct Form {
    private: PrivateDisplay,
    app: tokio::process::Child,
    link: Link,
    _desktop: AccessibilityBus,
    _dir: tempfile::TempDir,
}

impl Form {
    /// Starts the form. Returns `None` and prints the reason if the programs are not installed.
    async fn open() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let (private, _) = desktop(dir.path()).await?;
        let Some(zenity) = stickpin_process::find_on_path(&["zenity"], std::env::var_os("PATH").as_deref())
        else {
            skip::skipped(REQUIRE, "zenity is not installed");
            return None;
        };
        let mut command = private.command(&zenity);
        command.args([
            "--forms",
            "--title=Form",
            "--text=Fill in",
            "--add-entry=Name",
            "--add-password=Secret",
        ]);
        let app = command.spawn().unwrap();
        let addresses = Addresses { session: Some(private.bus.clone()), ..Addresses::default() };
        let until = super::soon();
        let desktop = AccessibilityBus::connect(&addresses, Box::new(|_| {}), until).await.unwrap();
        let link = tokio::time::timeout(Duration::from_secs(20), async {
            loop {
                let running = desktop.running(until).await.unwrap();
                if let Some(app) = running.iter().find(|app| app.windows == Some(1)) {
                    break Link::to(&desktop, &app.bus, until).await.unwrap();
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        let link = link.await.expect("zenity registers");
        Some(Self { private, app, link, _desktop: desktop, _dir: dir })
    }

    async fn end(mut self) {
        self.app.start_kill().unwrap();
        self.app.wait().await.unwrap();
        let read = read(&self.link, &nothing(), &mut Cells::default(), &[]).await;
        assert!(read.is_err(), "an app that is gone is not an empty one");
        self.private.end().await.unwrap();
    }
}

/// The capture before the first one.
fn nothing() -> ObjectTree {
    ObjectTree { toolkit: Toolkit::Other, objects: Vec::new(), truncated: false }
}

/// A zenity form is read through the accessibility interfaces alone.
#[tokio::test]
async fn a_form_is_read_as_it_stands() {
    let Some(form) = Form::open().await else { return };
    let link = &form.link;
    let ids = PathNumbers::default();
    let tree = tree_of(&read(link, &nothing(), &mut Cells::default(), &[]).await.unwrap(), &ids, &[]);
    let fields: Vec<(&str, bool)> = tree
        .nodes()
        .filter(|n| n.role() == stickpin_tree::Role::TextBox)
        .map(|n| (n.name(), n.is(States::PROTECTED)))
        .collect();
    assert!(fields.contains(&("Name", false)) && fields.contains(&("Secret", true)), "{}", lines(&tree));
    assert!(tree.nodes().any(|n| n.name() == "OK" && n.is(States::ACTIONABLE)), "{}", lines(&tree));
    // After the window manager has given the app the focus, a capture returns an equal tree with
    // equal handles.
    let focused = tokio::time::timeout(Duration::from_secs(20), async {
        let mut cells = Cells::default();
        loop {
            let tree = tree_of(&read(link, &nothing(), &mut cells, &[]).await.unwrap(), &ids, &[]);
            if tree.nodes().any(|n| n.is(States::FOCUSED)) {
                break tree;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let tree = focused.await.expect("the first field gets the focus");
    assert_eq!(tree, tree_of(&read(link, &nothing(), &mut Cells::default(), &[]).await.unwrap(), &ids, &[]));
    form.end().await;
}
