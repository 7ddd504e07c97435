//! Titled groups between an element and its heading: a fieldset with a legend, a frame with a
//! label, a named region or form.
//!
//! An app may show one record at a time in the same widgets under one heading, such as `Orders`.
//! The record, such as `Order Anna`, is then named only in the title of the group. A title is a
//! name, not text of a section: in a section, legends count as labels, and `aria-label` is not text
//! at all. Every title that surrounded an element must therefore still surround it, or its group
//! must still have that title. Counts, volatile text and the unsaved mark are ignored.
//!
//! A group that gets its first title or a count, or is wrapped around existing content, does not
//! indicate another record. Neither does an element that moves while its group stays the same.

use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::identity::rows::numbers::{is_volatile, without_counts};
use crate::identity::surroundings::heading::{HeadingIndex, strip_unsaved_mark};
use crate::identity::surroundings::title::Title;
use crate::{NodeRef, Role};

/// Returns the titles of the groups that contain an element and are below its heading, nearest
/// first. Without a heading, returns those below its window or document.
pub(crate) fn titles_around(element: NodeRef<'_>, surroundings: &HeadingIndex) -> Box<[Title]> {
    surroundings
        .below_heading(element)
        .take_while(|n| n.role() != Role::Window)
        .filter_map(|n| title(n).map(|text| Title { node: n.handle(), text }))
        .collect()
}

/// Returns the stable part of a group's title. `None` if the role of the node is not that of a
/// titled group, or if no part of the title is stable.
pub(crate) fn title(group: NodeRef<'_>) -> Option<Fingerprint> {
    use Role::{Article, Form, Group, RadioGroup, Region};
    if !matches!(group.role(), Article | Form | Group | RadioGroup | Region) || is_volatile(group.name()) {
        return None;
    }
    let name = without_counts(group.name());
    let title = strip_unsaved_mark(&name);
    (!title.is_empty() && !is_volatile(title)).then(|| Fingerprint::of(TextKind::Region, title))
}

#[cfg(test)]
mod tests {
    use crate::testing::tree;
    use crate::{Handle, NodeId, NodeRef, Openers, Records, Role, Tree};

    /// Returns a page with a button two boxes deep in a named group below a heading.
    fn page(group: &str, title: &str, button: u64) -> Tree {
        tree(&format!(
            "page \"Orders\" http://app.test/orders scope=1\n  main #2\n    heading \"Orders\"* level=1 #3\n    \
             {group} \"{title}\" #{}\n      paragraph \"Please decide\"* #{}\n      generic #{}\n        \
             button \"Delete\"* #{button}\n",
            button - 3,
            button - 2,
            button - 1
        ))
    }

    fn button(tree: &Tree) -> NodeId {
        tree.nodes().rfind(|n| n.role() == Role::Button).map(NodeRef::id).expect("a button")
    }

    /// Returns whether "Delete" in the first tree is still "Delete" in the second.
    fn delete_is_same(then: &Tree, now: &Tree) -> bool {
        let openers = Openers::default();
        let issued = Records::new(then, &openers).meaning(button(then));
        Records::new(now, &openers).judge(&issued, button(now)).is_same()
    }

    #[test]
    fn group_title_identifies_unless_it_is_volatile() {
        for role in ["group", "form", "region", "radiogroup"] {
            let same_with_role = |then, now| delete_is_same(&page(role, then, 9), &page(role, now, 9));
            assert!(!same_with_role("Order Anna", "Order Bruno"), "{role}");
            assert!(!same_with_role("Order Anna", "3 orders"), "{role}");
            for (then, now) in [
                ("Selected (3)", "Selected (5)"),
                ("3 orders", "5 orders"),
                ("November 2026", "December 2026"),
                ("Order Anna", "Order Anna •"),
                ("", "Order Anna"),
            ] {
                assert!(same_with_role(then, now), "{role}: {then:?} and {now:?}");
            }
        }
        // Layout boxes of a toolkit and lists are not groups.
        for role in ["generic", "toolbar", "list"] {
            assert!(delete_is_same(&page(role, "Order Anna", 9), &page(role, "Order Bruno", 9)), "{role}");
        }
    }

    #[test]
    fn context_handles_follow_a_rerendered_group() {
        // Use neither a row nor a section, which have their own clauses.
        let [then, anew] = [9, 19].map(|button| page("radiogroup", "Order Anna", button));
        let openers = Openers::default();
        let issued = Records::new(&then, &openers).meaning(button(&then));
        let group = |id| Handle { scope: 1, id };
        assert!(issued.context_handles().contains(&group(6)));
        let now = Records::new(&anew, &openers).meaning(button(&anew));
        let rests = issued.with_nodes_of(&now).context_handles();
        assert!(rests.contains(&group(16)) && !rests.contains(&group(6)));
    }
}
