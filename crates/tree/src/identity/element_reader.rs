//! Reads the record of an element, and the surroundings with which a record is compared.

use std::sync::Arc;

use crate::identity::evidence::Evidence;
use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::identity::opener::{Opener, OpenerData};
use crate::identity::record::{ElementSurroundings, Record, RowSurroundings, Section};
use crate::identity::records::Records;
use crate::identity::rows::content::{Row, range_of};
use crate::identity::rows::detect::RowAt;
use crate::identity::rows::field_values::FieldValues;
use crate::identity::surroundings::group;
use crate::identity::surroundings::heading::{region_name, region_of};
use crate::identity::surroundings::popup::{self, PopupText};
use crate::identity::surroundings::section::SectionText;
use crate::identity::surroundings::title::Title;
use crate::{NodeRef, Role};

/// The maximum number of fingerprints kept of a row, from its beginning. A row with more texts is a
/// page.
const MAX_FINGERPRINTS: usize = 64;

/// An element with its row, for reading the element's record and surroundings.
#[derive(Clone, Copy)]
pub(crate) struct ElementReader<'r, 't> {
    pub(crate) records: &'r Records<'t>,
    pub(crate) element: NodeRef<'t>,
    pub(crate) row: Option<RowAt<'r>>,
}

impl ElementReader<'_, '_> {
    /// Returns the record of the element.
    pub(crate) fn record(&self) -> Record {
        let record = self.opener_record();
        Record {
            section: self.section(&record),
            popup_text: self.popup_text(record.is_row_part),
            opener: self.opener(),
            ..record
        }
    }

    /// Returns the record of the element without its section, popup text and opener. For the opener
    /// of a popup, only this part is kept.
    fn opener_record(&self) -> Record {
        let evidence = self.evidence();
        let uses_heading_above = !self.records.cache.headings.is_in_page_frame(self.element);
        let is_row_part = self.is_row_part(&evidence) && uses_heading_above;
        let reports_heading = uses_heading_above && matches!(evidence, Evidence::Text { .. });
        // The titles around an element are not needed if its row identifies it, or if it is the
        // same for all records.
        let needs_titles = match evidence {
            Evidence::OwnName => true,
            Evidence::Always => false,
            _ => is_row_part || !evidence.is_row(),
        };
        Record {
            row: self.row.and_then(|at| self.records.tree.node(at.id).handle()),
            is_row_part,
            heading_above: (is_row_part || reports_heading)
                .then(|| self.heading_above().map(|h| self.title_of(h)))
                .flatten(),
            section: None,
            group_titles: if needs_titles { self.titles() } else { Box::default() },
            popup_text: None,
            opener: None,
            evidence,
        }
    }

    /// Returns those surroundings of the element that a record compares.
    pub(crate) fn surroundings_for(&self, record: &Record) -> ElementSurroundings {
        let section = |then: &Section| {
            let node = then.node.and_then(|n| self.records.node_at(n));
            let text = node.map(|node| self.records.cache.headings.section_text(node));
            text.or_else(|| self.section_around().map(|(_, text)| text)).map(|text| text.all)
        };
        ElementSurroundings {
            above: record.is_row_part.then(|| self.text_above()).flatten(),
            titles: if record.group_titles.is_empty() { Box::default() } else { self.titles() },
            section: record.section.as_ref().and_then(section),
            popup_text: record.popup_text.as_ref().and_then(|_| self.popup_text(record.is_row_part)),
            opener: record.opener.as_ref().and_then(|_| self.opener()),
            ..self.surroundings()
        }
    }

    /// Returns the element as the opener of a popup. Its context is kept, except for values that
    /// change as a person types.
    pub(crate) fn as_opener(&self) -> Opener {
        let mut context =
            ElementSurroundings { above: self.text_above(), titles: self.titles(), ..self.surroundings() };
        if let Some(at) = &mut context.row {
            at.values = None;
        }
        Opener(Arc::new(OpenerData {
            role: self.element.role(),
            name: self.records.stable_name(self.element),
            handle: self.element.handle(),
            record: self.opener_record(),
            context,
        }))
    }

    pub(crate) fn row_content(&self) -> Option<&Row> {
        self.row.map(|at| &**self.records.cache.structure.row(self.records.tree, at))
    }

    /// Returns the strongest evidence that distinguishes the element from similar ones.
    fn evidence(&self) -> Evidence {
        let records = self.records;
        match self.row {
            Some(at) if !records.is_lone_group(at) => {
                self.row_evidence(at, records.cache.structure.row(records.tree, at))
            }
            _ => self.surroundings_evidence(),
        }
    }

    fn row_evidence(&self, at: RowAt<'_>, row: &Row) -> Evidence {
        let element = self.element;
        if let Some(key) = row.key {
            return Evidence::Key(key);
        }
        let bounded_list = |fingerprints: &mut dyn Iterator<Item = Fingerprint>| -> Box<[Fingerprint]> {
            let mut found: Vec<Fingerprint> = Vec::new();
            for fingerprint in fingerprints {
                if !found.contains(&fingerprint) {
                    found.push(fingerprint);
                }
                if found.len() == MAX_FINGERPRINTS {
                    break;
                }
            }
            found.into()
        };
        let mut fingerprints = bounded_list(&mut row.text.distinguishing_outside(element).map(|(_, p)| p));
        if fingerprints.is_empty() && at.container.ids.len() > 1 {
            let others = row.names.distinguishing_outside(element).filter(|&(n, _)| n != element.id());
            fingerprints = bounded_list(&mut others.map(|(_, p)| p));
        }
        if !fingerprints.is_empty() {
            return Evidence::Text { fingerprints, raw_key: row.raw_key };
        }
        if self.has_own_name() {
            return Evidence::OwnName;
        }
        // Headers may belong to the position instead of the record: after sorting, another row has
        // them. They count only if no words in the cells distinguish the row, and then numbers
        // count as well.
        let headers = bounded_list(&mut row.headers.distinguishing_outside(element).map(|(_, p)| p));
        let fingerprints = bounded_list(&mut row.numbers.distinguishing_outside(element).map(|(_, p)| p));
        if !fingerprints.is_empty() {
            return Evidence::Numbers { fingerprints, headers };
        }
        if !headers.is_empty() {
            return Evidence::Text { fingerprints: headers, raw_key: row.raw_key };
        }
        let values = at.container.values(self.records.tree);
        let own = bounded_list(&mut row.values.distinguishing.iter().map(|&(_, p)| p));
        Evidence::Position {
            index: at.index,
            count: at.container.ids.len(),
            values: FieldValues { own_values: own, all_values: values.fingerprints.clone() },
        }
    }

    fn surroundings_evidence(&self) -> Evidence {
        let surroundings = &self.records.cache.headings;
        if surroundings.is_in_page_frame(self.element) {
            return Evidence::Always;
        }
        if let Some(heading) = surroundings.heading_of(self.element) {
            return Evidence::Heading(self.title_of(heading));
        }
        match region_of(self.element) {
            Some(n) if n.role() == Role::Window => {
                Evidence::Window(Title { node: n.handle(), text: region_fingerprint(n) })
            }
            Some(n) => Evidence::Region(region_fingerprint(n)),
            None => Evidence::Address(self.address()),
        }
    }

    /// Returns those surroundings of the element that evidence compares.
    pub(crate) fn surroundings(&self) -> ElementSurroundings {
        let (tree, surroundings) = (self.records.tree, &self.records.cache.headings);
        let region = region_of(self.element);
        ElementSurroundings {
            row: self.row.map(|at| RowSurroundings {
                row: Arc::clone(self.records.cache.structure.row(tree, at)),
                element: range_of(self.element),
                index: at.index,
                count: at.container.ids.len(),
                values: Some(Arc::clone(at.container.values(tree))),
            }),
            heading: surroundings.heading_of(self.element).map(|h| surroundings.heading_text(h)),
            region: region.map(region_fingerprint),
            window: region.filter(|n| n.role() == Role::Window).and_then(NodeRef::handle),
            address: self.address(),
            above: None,
            titles: Box::default(),
            section: None,
            popup_text: None,
            opener: None,
        }
    }

    fn title_of(&self, heading: NodeRef<'_>) -> Title {
        Title { node: heading.handle(), text: self.records.cache.headings.heading_text(heading) }
    }

    /// Returns the text of the heading above all sibling rows of the element's row.
    pub(crate) fn text_above(&self) -> Option<Fingerprint> {
        self.heading_above().map(|h| self.title_of(h).text)
    }

    fn titles(&self) -> Box<[Title]> {
        group::titles_around(self.element, &self.records.cache.headings)
    }

    fn section_around(&self) -> Option<(NodeRef<'_>, SectionText)> {
        self.records.cache.headings.section_of(self.element)
    }

    fn section(&self, record: &Record) -> Option<Section> {
        let (node, text) = self.section_around().filter(|_| !matches!(record.evidence, Evidence::Always))?;
        // Text that repeats the window's title changes with the title, which is reported but ends
        // no ref. The bars of a window serve whatever the window shows, and a single label beside
        // the title is its status.
        let labels = if record.is_row_part { 2 } else { 1 };
        let use_labels =
            node.role() != Role::Window || text.labels >= labels && !text.without_title.is_empty();
        use_labels.then(|| Section { node: node.handle(), text: text.without_title })
    }

    fn popup_text(&self, is_row_part: bool) -> Option<PopupText> {
        // A live region around rows is a changing list; a dialog around its own parts is about one
        // thing.
        let is_identified = if is_row_part {
            popup::popup_of(self.element).is_none()
        } else {
            self.records.cache.structure.row_of(self.element).is_some()
        };
        if is_identified {
            return None;
        }
        let message = popup::enclosing_message(self.element)?;
        // The text on one of the dialog's tab pages does not apply to the bars beside the tabs.
        let paged = |n: NodeRef<'_>| n.role() == Role::TabPanel;
        let pages = !is_row_part || self.element.ancestors().take_while(|n| *n != message).any(paged);
        Some(self.records.cache.popup_texts.get((message.id(), pages), || popup::text_of(message, pages)))
    }

    fn opener(&self) -> Option<Opener> {
        let popup = popup::popup_of(self.element)?;
        self.records.popup_openers.get(popup.id(), || {
            popup::linked_opener(popup)
                .map(|n| self.records.reader(n).as_opener())
                .or_else(|| self.records.openers.of(popup.handle()?).cloned())
        })
    }

    pub(crate) fn address(&self) -> Fingerprint {
        Fingerprint::of(TextKind::Address, &self.element.document().url)
    }
}

fn region_fingerprint(region: NodeRef<'_>) -> Fingerprint {
    Fingerprint::of(TextKind::Region, &region_name(region))
}
