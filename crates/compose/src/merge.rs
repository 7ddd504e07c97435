//! Merging of trees: each member becomes a separate document below a node that names it. Pure.
//!
//! The identity of a member's element never depends on another member. Records, rows and similarity
//! do not cross documents. Members are never renumbered, so an element is never matched with one of
//! another member or of another run of the same member. Only the opener of a dialog may be in
//! another member, which can cause an action to be refused, but never to be allowed.

use crate::handles::{COMPOSITE_SCOPE, ROOT, to_composite};
use std::sync::Arc;
use stickpin_tree::{
    Attr, Document, Handle, IdentityGrade, NodeId, NodeSpec, Role, States, SurfaceId, Tree, TreeBuilder,
    TreeError,
};

/// A member's tree that is to be merged.
#[derive(Debug, Clone)]
pub(crate) struct MemberTree {
    /// The number of the member's run, from 1. Never reused.
    pub(crate) number: u64,
    /// The name, unique among the members.
    pub(crate) name: String,
    /// The tree; `None` while the member does not answer.
    pub(crate) tree: Option<Arc<Tree>>,
}

/// The active window and the keyboard; the composite device has only one of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InputFocus {
    /// The active window: the number of its member and the member's own handle.
    pub(crate) window: Option<(u64, Handle)>,
    /// The member that receives keys without a target. If `None`, the member is unknown, and the
    /// focus that each member reports is used.
    pub(crate) keys: Option<u64>,
}

/// The merged tree of the members.
#[derive(Debug)]
pub(crate) struct MergedTree {
    pub(crate) tree: Arc<Tree>,
    parts: Vec<MemberTree>,
    pub(crate) focus: InputFocus,
}

impl MergedTree {
    /// Merges the members. `grade` is the identity grade of the handles, and `empty` is the text of
    /// a tree without members. `hidden` contains the handles of elements that exist but are not
    /// shown.
    ///
    /// # Errors
    /// Returns an error if the merged tree would be too large.
    pub(crate) fn merge(
        (grade, url, empty): (IdentityGrade, &str, &str),
        parts: Vec<MemberTree>,
        focus: InputFocus,
        hidden: Vec<Handle>,
    ) -> Result<Self, TreeError> {
        let mut builder = TreeBuilder::new(grade);
        let truncated = parts.iter().filter_map(|part| part.tree.as_ref()).any(|tree| tree.is_truncated());
        builder.set_surface(SurfaceId(1)).set_truncated(truncated);
        let active = focus.window.and_then(|(number, window)| {
            let part = parts.iter().find(|part| part.number == number)?;
            part.tree.as_ref()?.find_handle(window)
        });
        let title = active.map_or("", |window| window.name()).to_owned();
        let document = Document { scope: COMPOSITE_SCOPE, frame: String::new(), url: url.to_owned(), title };
        builder.document(0, document, ROOT)?;
        let status = |name| NodeSpec { role: Some(Role::Status), name, ..NodeSpec::default() };
        if parts.is_empty() {
            builder.node(1, status(empty))?;
        }
        for part in &parts {
            let (role, name, id) = (Some(Role::Application), part.name.as_str(), ROOT + part.number);
            let states = if part.tree.is_some() { States::empty() } else { States::BUSY };
            builder.node(1, NodeSpec { role, name, id, states, ..NodeSpec::default() })?;
            if let Some(tree) = &part.tree {
                add(&mut builder, part.number, tree, focus)?;
            } else {
                builder.node(2, status("did not respond in time: its content is omitted"))?;
            }
        }
        builder.add_hidden(hidden);
        Ok(Self { tree: Arc::new(builder.finish()?), parts, focus })
    }

    /// Returns whether merging these members would produce an equal tree.
    pub(crate) fn is_merge_of(&self, parts: &[MemberTree], focus: InputFocus, hidden: &[Handle]) -> bool {
        let reading = |of: &MemberTree| (of.number, of.tree.as_ref().map(Arc::as_ptr));
        let same = |(a, b): (&MemberTree, &MemberTree)| reading(a) == reading(b) && a.name == b.name;
        self.focus == focus
            && self.tree.hidden() == hidden
            && self.parts.len() == parts.len()
            && self.parts.iter().zip(parts).all(same)
    }

    /// Returns the position of a member's node in the merged tree; `None` unless `tree` is the
    /// member's capture that was merged.
    pub(crate) fn node_in_merged(&self, number: u64, tree: &Arc<Tree>, node: NodeId) -> Option<NodeId> {
        let (part, app) =
            self.parts.iter().zip(self.tree.root().children()).find(|(part, _)| part.number == number)?;
        part.tree.as_ref().filter(|read| Arc::ptr_eq(read, tree))?;
        // The member's nodes stand below the node that names it, in their order.
        Some(NodeId(app.id().0 + 1 + node.0))
    }
}

/// Copies a member's tree below the member's node.
fn add(builder: &mut TreeBuilder, number: u64, tree: &Tree, focus: InputFocus) -> Result<(), TreeError> {
    let active = focus.window.filter(|(app, _)| *app == number).map(|(_, window)| window);
    let focused = focus.keys.is_none_or(|keys| keys == number);
    let mut depths: Vec<usize> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        let depth = node.parent().map_or(2, |parent| depths[parent.id().index()] + 1);
        depths.push(depth);
        let id = node.address().map_or(0, |address| address.id);
        if node.role() == Role::Document {
            let own = node.document();
            let frame = format!("app{number}{}{}", if own.frame.is_empty() { "" } else { "/" }, own.frame);
            let scope = to_composite(number, Handle { scope: own.scope, id }).scope;
            builder.document(depth, Document { scope, frame, ..own.clone() }, id)?;
            continue;
        }
        // A member knows only which of its own windows is in front.
        let is_current = active.is_some() && node.handle() == active;
        let current = is_current.then_some((Attr::Current, "true"));
        let attrs: Vec<(Attr, &str)> =
            node.attrs().filter(|(attr, _)| *attr != Attr::Current).chain(current).collect();
        let mut states = node.states();
        // Windows may remember their focused element, but there is only one keyboard.
        states.set(States::FOCUSED, focused && states.contains(States::FOCUSED));
        let spec = NodeSpec {
            role: Some(node.role()),
            name: node.name(),
            value: node.value(),
            tag: node.tag(),
            states,
            level: node.level(),
            id,
            attrs: &attrs,
        };
        builder.node(depth, spec)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handles::to_member;
    use stickpin_tree::{Openers, Records, content_match};

    const NOBODY: &str = "no app shows a window here";
    const APP: u64 = 1;

    /// Returns a form with a button and an embedded page that has another button.
    fn form(title: &str) -> Arc<Tree> {
        let mut builder = TreeBuilder::new(IdentityGrade::WhileAlive);
        builder.set_surface(SurfaceId(1));
        let document =
            Document { scope: APP, frame: String::new(), url: "fake:1".into(), title: title.into() };
        builder.document(0, document, 1).unwrap();
        let node = |role, name, id| NodeSpec { role: Some(role), name, id, ..NodeSpec::default() };
        builder.node(1, node(Role::Window, title, 2)).unwrap();
        let focused = NodeSpec { states: States::FOCUSED, ..node(Role::Button, "OK", 3) };
        builder.node(2, focused).unwrap();
        builder.node(2, node(Role::Generic, "", 4)).unwrap();
        let page = Document { scope: APP + 5, frame: "web1".into(), url: "/x".into(), title: "X".into() };
        builder.document(3, page, 5).unwrap();
        builder.node(4, node(Role::Button, "Go", 6)).unwrap();
        Arc::new(builder.finish().unwrap())
    }

    fn part(number: u64, tree: Option<&Arc<Tree>>) -> MemberTree {
        MemberTree { number, name: format!("form {number}"), tree: tree.cloned() }
    }

    fn merged(parts: &[MemberTree], focus: InputFocus) -> MergedTree {
        let whole = (IdentityGrade::WhileAlive, "fake:whole", NOBODY);
        MergedTree::merge(whole, parts.to_vec(), focus, Vec::new()).unwrap()
    }

    #[test]
    fn every_member_stands_below_its_name_with_handles_of_its_own() {
        let (a, b) = (form("A"), form("B"));
        let parts = [part(1, Some(&a)), part(2, Some(&b)), part(3, None)];
        let merged = merged(&parts, InputFocus::default());
        let tree = &merged.tree;
        let names: Vec<&str> = tree.root().children().map(|n| n.name()).collect();
        assert_eq!(names, ["form 1", "form 2", "form 3"]);
        let frames: Vec<&str> = tree.documents().iter().map(|d| d.frame.as_str()).collect();
        assert_eq!(frames, ["", "app1", "app1/web1", "app2", "app2/web1"]);
        assert_eq!(tree.handle_index().len(), 1 + 3 + 2 * a.len(), "no two elements have one handle");
        for (number, own) in [(1, &a), (2, &b)] {
            for node in own.nodes() {
                let there = tree.node(merged.node_in_merged(number, own, node.id()).unwrap());
                assert_eq!(there.handle(), node.handle().map(|h| to_composite(number, h)));
                assert_eq!((there.role(), there.name()), (node.role(), node.name()));
            }
        }
        assert_eq!(merged.node_in_merged(1, &b, NodeId(0)), None, "another reading");
        let silent = tree.root().children().last().unwrap();
        assert!(
            silent.is(States::BUSY) && silent.children().next().unwrap().name().contains("did not respond")
        );
    }

    #[test]
    fn a_whole_without_members_says_so() {
        let names = |parts: &[MemberTree]| {
            let merged = merged(parts, InputFocus::default());
            merged.tree.root().children().map(|n| n.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), [NOBODY]);
        assert_eq!(names(&[part(1, None)]), ["form 1"]);
    }

    #[test]
    fn one_window_is_active_and_one_member_has_the_keyboard() {
        let (a, b) = (form("A"), form("B"));
        let parts = [part(1, Some(&a)), part(2, Some(&b))];
        let window = Handle { scope: APP, id: 2 };
        let focus = InputFocus { window: Some((2, window)), keys: Some(1) };
        let both = merged(&parts, focus);
        let current: Vec<&str> =
            both.tree.nodes().filter(|n| n.attr(Attr::Current).is_some()).map(|n| n.name()).collect();
        assert_eq!(current, ["B"]);
        assert_eq!(both.tree.documents()[0].title, "B");
        let focused: Vec<u64> = both
            .tree
            .nodes()
            .filter(|n| n.is(States::FOCUSED))
            .filter_map(|n| n.handle())
            .map(|handle| to_member(handle).0)
            .collect();
        assert_eq!(focused, [1]);
        let unknown = merged(&parts, InputFocus::default());
        assert_eq!(unknown.tree.nodes().filter(|n| n.is(States::FOCUSED)).count(), 2);
        assert!(
            both.is_merge_of(&parts, focus, &[]) && !both.is_merge_of(&parts, InputFocus::default(), &[])
        );
        assert!(!both.is_merge_of(&parts[..1], focus, &[]));
        assert!(!both.is_merge_of(&[part(1, Some(&a)), part(2, None)], focus, &[]));
        assert!(!both.is_merge_of(&parts, focus, &[window]));
    }

    #[test]
    fn what_is_gone_with_its_member_is_found_in_no_other() {
        // All three have equal text.
        let (a, b, again) = (form("Form"), form("Form"), form("Form"));
        let (first, twin, third) = (part(1, Some(&a)), part(2, Some(&b)), part(3, Some(&again)));
        // The name is available again.
        let third = MemberTree { name: first.name.clone(), ..third };
        let openers = Openers::default();
        for (then, now) in [
            (vec![first.clone()], vec![third.clone()]),
            (vec![first.clone(), twin.clone()], vec![twin.clone()]),
            (vec![first, twin.clone()], vec![twin, third]),
        ] {
            let (before, after) = (merged(&then, InputFocus::default()), merged(&now, InputFocus::default()));
            let (old, new) = (Records::new(&before.tree, &openers), Records::new(&after.tree, &openers));
            for node in a.nodes().filter(|n| n.role() == Role::Button) {
                let at = before.node_in_merged(1, &a, node.id()).unwrap();
                let meaning = old.meaning(at);
                assert!(content_match(&old, at, &meaning, &new).is_err(), "{meaning}");
                assert!(after.tree.find_handle(before.tree.node(at).handle().unwrap()).is_none());
            }
            // The node that names the member is not matched either.
            let app = before.tree.nodes().find(|n| n.role() == Role::Application).unwrap().id();
            let meaning = old.meaning(app);
            assert!(content_match(&old, app, &meaning, &new).is_err(), "{meaning}");
        }
    }

    #[test]
    fn meaning_does_not_depend_on_other_members() {
        let (a, b) = (form("A"), form("B"));
        let openers = Openers::default();
        let alone = merged(&[part(1, Some(&a))], InputFocus::default());
        let both = merged(&[part(2, Some(&b)), part(1, Some(&a))], InputFocus::default());
        let (old, new) = (Records::new(&alone.tree, &openers), Records::new(&both.tree, &openers));
        for node in a.nodes() {
            let meaning = old.meaning(alone.node_in_merged(1, &a, node.id()).unwrap());
            assert!(
                new.judge(&meaning, both.node_in_merged(1, &a, node.id()).unwrap()).is_same(),
                "{meaning}"
            );
        }
    }
}
