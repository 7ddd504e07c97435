//! Rows that are parts of one thing: bars of buttons, rows of labelled fields, lines without a word.
//!
//! Names of controls, labels of fields, numbers and places tell such rows from each other, and are the same for every
//! record that an app shows in them: `Edit, Delete` and `Print, Mail` below `Invoice 1041`, and then below `Invoice 1042`.
//! Only what a row says itself (a text, a link, a key) is of a record. So where it says nothing, all is asked that is asked
//! of an element in no row: the heading above, the section, the titles around it, what its dialog says.
//!
//! A list whose rows say what they are keeps them, whatever the heading above it says; and what stands before a `main` that
//! it is not in, the tools of the whole app, is not below the heading in there.

use super::basis::{Basis, Sight};
use super::keys;
use super::print::Print;
use super::rows::Row;
use super::sight::Live;
use super::switches::Switches;
use super::verdict::Clause;
use crate::{Handle, NodeRef, Role, States};

/// What a row is a part of.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    /// The heading above it.
    pub(super) heading: Option<Title>,
}

/// A heading, as it read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Title {
    pub(super) node: Option<Handle>,
    text: Print,
}

impl Whole {
    /// Whether it is still below that heading, or the heading still reads the same.
    pub(super) fn holds(&self, now: &impl Sight) -> Result<(), Clause> {
        let Some(Title { node, text }) = self.heading else { return Ok(()) };
        let holds =
            now.heading_above_rows() == Some(text) || node.and_then(|n| now.heading_at(n)) == Some(text);
        if holds { Ok(()) } else { Err(Clause::Heading) }
    }

    /// The same, resting on the heading's node of now, where that reads as it did.
    pub(super) fn resting_on(&self, now: Option<&Self>) -> Self {
        let heading_now = now.and_then(|now| now.heading);
        let same = |then: Title| heading_now.filter(|now| now.text == then.text).unwrap_or(then);
        Self { heading: self.heading.map(same) }
    }
}

impl<'t> Live<'_, 't> {
    /// What the row is a part of, where nothing in it is of a record.
    pub(super) fn whole(&self, basis: &Basis) -> Option<Whole> {
        let (on, places) = (self.records.on, &self.records.known.places);
        if !on.contains(Switches::PARTS) || !self.is_part(basis) {
            return None;
        }
        if on.contains(Switches::FRAMEWORK) && places.in_framework(self.element) {
            return None;
        }
        let heading = self.heading_above().filter(|h| on.contains(Switches::HEADINGS) && self.is_below(*h));
        let title = |h: NodeRef<'_>| Title { node: h.handle(), text: places.heading_text(h) };
        Some(Whole { heading: heading.map(title) })
    }

    /// The heading above all the rows: that of another row is not, nor what a person writes.
    pub(super) fn heading_above(&self) -> Option<NodeRef<'t>> {
        let rows = self.row?.container;
        let other = |n: NodeRef<'_>| rows.index_of(n.id()).is_some() || n.is(States::EDIT_HOST);
        self.records.known.places.headings_around(self.element).find(|h| !h.ancestors().any(other))
    }

    fn is_part(&self, basis: &Basis) -> bool {
        let Some((at, row)) = self.row.zip(self.content()) else { return false };
        match basis {
            Basis::Key((attr, _)) => {
                let node = self.records.tree.node(at.id);
                !self.says_something(row) && keys::may_name_a_part(*attr, node.attr(*attr).unwrap_or(""))
            }
            Basis::Text { .. } => !self.says_something(row),
            Basis::OwnName | Basis::Numbers { .. } | Basis::Place { .. } => true,
            Basis::Heading { .. } | Basis::Region(_) | Basis::Address(_) | Basis::Always => false,
        }
    }

    /// Whether a row has words of its own. Those of a form, a label with its field, are the form's.
    fn says_something(&self, row: &Row) -> bool {
        !row.is_of_form && row.text.telling_outside(self.element).next().is_some()
    }

    /// Whether it is below a heading, and not only before a part of the page that has one.
    fn is_below(&self, heading: NodeRef<'_>) -> bool {
        let around = |n: &NodeRef<'_>| !n.contains(self.element.id());
        heading.id() < self.element.id()
            || !heading.ancestors().take_while(around).any(|n| n.role() == Role::Main)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::tree;
    use crate::{Handle, NodeId, NodeRef, Openers, Records, Tree};

    fn page(heading: &str, body: &str) -> Tree {
        numbered(heading, 3, body)
    }

    /// What `body` says below a heading, in the nodes that it always has.
    fn numbered(heading: &str, id: u64, body: &str) -> Tree {
        let body = body.lines().fold(String::new(), |text, line| format!("{text}    {line}\n"));
        tree(&format!(
            "page \"App\" http://app.test/ scope=1\n  main #2\n    heading \"{heading}\"* level=2 #{id}\n{body}"
        ))
    }

    fn called(tree: &Tree, name: &str) -> NodeId {
        tree.nodes().find(|n| !n.is_text() && n.name() == name).map(NodeRef::id).expect("an element")
    }

    /// Whether what is called so in the first is still that in the second.
    fn same(then: &Tree, now: &Tree, name: &str) -> bool {
        let openers = Openers::default();
        let issued = Records::new(then, &openers).meaning(called(then, name));
        Records::new(now, &openers).judge(&issued, called(now, name)).is_same()
    }

    const BARS: &str = "generic #10\n  button \"Edit\"* #11\n  button \"Delete\"* #12\ngeneric #13\n  \
                        button \"Print\"* #14\n  button \"Mail\"* #15";

    #[test]
    fn what_a_row_says_itself_decides_whether_the_heading_is_asked() {
        let below = |then: &str, now: &str, body: &str, name| same(&page(then, body), &page(now, body), name);
        let labelled = |label: &str| {
            format!(
                "generic #10\n  text \"{label}\" #11\n  textbox \"Customer\" #12\n  text \"as in the books\" #17\n\
                 generic #13\n  text \"Due\" #14\n  textbox \"Due\" #15"
            )
        };
        let said = "generic #10\n  text \"Anna\" #11\n  button \"Delete\"* #12\ngeneric #13\n  text \"Bruno\" #14\n  \
                    button \"Remove\"* #15";
        let own = "generic #10\n  button \"Delete\"* #12\ngeneric #13\n  button \"Print\"* #15";
        let invoices = ("Invoice 1041", "Invoice 1042");
        for (body, name, acts) in [
            (BARS, "Delete", false),
            (own, "Delete", false),
            (&labelled("Customer"), "Customer", false),
            (&labelled("Customer: *"), "Customer", false),
            // Words that are no label of a field are the row's own.
            (&labelled("Anna"), "Customer", true),
            (said, "Delete", true),
            (&BARS.replace("#10", "#10 id=edit-bar").replace("#13", "#13 id=print-bar"), "Delete", false),
            (&BARS.replace("#10", "#10 id=order-7").replace("#13", "#13 id=order-3"), "Delete", true),
            (&BARS.replace("#10", "#10 data-id=a").replace("#13", "#13 data-id=b"), "Delete", true),
        ] {
            assert_eq!(below(invoices.0, invoices.1, body, name), acts, "{body}");
            for (then, now) in [("Inbox (3)", "Inbox (4)"), ("Report", "Report *"), ("Report", "• Report")]
            {
                assert!(below(then, now, body, name), "{then} and {now} above {body}");
            }
        }
    }

    #[test]
    fn people_are_told_of_which_record_a_part_is() {
        let tree = page("Invoice 1041", BARS);
        let openers = Openers::default();
        let meaning = Records::new(&tree, &openers).meaning(called(&tree, "Delete"));
        assert_eq!(meaning.to_string(), "button \"Delete\" in section \"Invoice 1041\"");
    }

    #[test]
    fn tools_before_a_main_are_not_below_its_heading() {
        let tools = BARS.lines().fold(String::new(), |text, line| format!("{text}  {line}\n"));
        let document = |title: &str| format!("  main #2\n    heading \"{title}\"* level=1 #3\n");
        let page =
            |parts: [&str; 2]| tree(&format!("page \"App\" http://app.test/ scope=1\n{}", parts.concat()));
        let [then, now] = [document("Report"), document("Notes")];
        assert!(same(&page([&tools, &then]), &page([&tools, &now]), "Delete"));
        assert!(!same(&page([&then, &tools]), &page([&now, &tools]), "Delete"));
    }

    #[test]
    fn a_heading_that_a_person_writes_is_no_title_of_the_tools() {
        let written = |text: &str| {
            let body = BARS.lines().fold(String::new(), |text, line| format!("{text}  {line}\n"));
            let editor = format!("  textbox \"Text\" edit-host #20\n    heading \"{text}\"* level=1 #21\n");
            tree(&format!("page \"App\" http://app.test/ scope=1\n{body}{editor}"))
        };
        assert!(same(&written("Tea"), &written("Tea for two"), "Delete"));
    }

    #[test]
    fn a_menu_that_a_button_of_a_bar_opens_is_of_the_same_record() {
        let with_menu = |heading| {
            let menu = "menu \"\" #20\n  menuitem \"Archive\"* #21";
            page(heading, &format!("{}\n{menu}", BARS.replace("\"Mail\"*", "\"More\"*")))
        };
        let [then, now, counted] = ["Invoice 1041", "Invoice 1042", "Invoice 1041 (2)"].map(with_menu);
        let opened = |tree: &Tree| {
            let mut openers = Openers::default();
            openers.note_act(Records::new(tree, &Openers::default()).opener(called(tree, "More")));
            openers.observe(tree);
            openers
        };
        let issued = Records::new(&then, &opened(&then)).meaning(called(&then, "Archive"));
        let holds = |tree: &Tree| Records::new(tree, &opened(tree)).judge(&issued, called(tree, "Archive"));
        assert!(holds(&then).is_same() && holds(&counted).is_same());
        assert!(!holds(&now).is_same());
    }

    #[test]
    fn the_heading_is_asked_for_and_another_one_after_it_was_drawn_anew() {
        let openers = Openers::default();
        let [then, anew] = [3, 33].map(|heading| numbered("Invoice 1041", heading, BARS));
        let handle = |id| Handle { scope: 1, id };
        let issued = Records::new(&then, &openers).meaning(called(&then, "Delete"));
        assert!(issued.context_handles().contains(&handle(3)));
        let now = Records::new(&anew, &openers).meaning(called(&anew, "Delete"));
        assert!(issued.resting_on(&now).context_handles().contains(&handle(33)));
    }
}
