//! Reads the evidence and the context of an element from its tree.

use std::sync::Arc;

use crate::identity::compare::Records;
use crate::identity::element_context::{ElementContext, RowContext};
use crate::identity::evidence::Evidence;
use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::identity::rows::content::{Row, range_of};
use crate::identity::rows::detect::RowAt;
use crate::identity::rows::shift::FieldValues;
use crate::identity::surroundings::heading::{region_name, region_of};
use crate::{NodeRef, Role};

/// So many fingerprints of a row are kept; the first ones. A row of more texts is a page.
const MOST_PRINTS: usize = 64;

/// An element, with the row that it is looked at in.
#[derive(Clone, Copy)]
pub(crate) struct ElementReader<'r, 't> {
    pub(crate) records: &'r Records<'t>,
    pub(crate) element: NodeRef<'t>,
    pub(crate) row: Option<RowAt<'r>>,
}

impl ElementReader<'_, '_> {
    pub(crate) fn content(&self) -> Option<&Row> {
        self.row.map(|at| &**self.records.cache.structure.row(self.records.tree, at))
    }

    /// What tells the element from its likes: the strongest evidence that there is.
    pub(crate) fn evidence(&self) -> Evidence {
        let records = self.records;
        match self.row {
            Some(at) if !records.is_lone_group(at) => {
                self.row_evidence(at, records.cache.structure.row(records.tree, at))
            }
            _ => self.place_evidence(),
        }
    }

    fn row_evidence(&self, at: RowAt<'_>, row: &Row) -> Evidence {
        let element = self.element;
        if let Some(key) = row.key {
            return Evidence::Key(key);
        }
        let bounded = |fingerprints: &mut dyn Iterator<Item = Fingerprint>| -> Box<[Fingerprint]> {
            let mut found: Vec<Fingerprint> = Vec::new();
            for fingerprint in fingerprints {
                if !found.contains(&fingerprint) {
                    found.push(fingerprint);
                }
                if found.len() == MOST_PRINTS {
                    break;
                }
            }
            found.into()
        };
        let mut fingerprints = bounded(&mut row.text.telling_outside(element).map(|(_, p)| p));
        if fingerprints.is_empty() && at.container.ids.len() > 1 {
            let others = row.names.telling_outside(element).filter(|&(n, _)| n != element.id());
            fingerprints = bounded(&mut others.map(|(_, p)| p));
        }
        if !fingerprints.is_empty() {
            return Evidence::Text { fingerprints, raw_key: row.raw_key };
        }
        if self.has_own_name() {
            return Evidence::OwnName;
        }
        // It may belong to the place instead: in a sorted table another row has it then. So it tells only where no words in
        // the cells do, and numbers tell along with it.
        let headers = bounded(&mut row.headers.telling_outside(element).map(|(_, p)| p));
        let fingerprints = bounded(&mut row.numbers.telling_outside(element).map(|(_, p)| p));
        if !fingerprints.is_empty() {
            return Evidence::Numbers { fingerprints, headers };
        }
        if !headers.is_empty() {
            return Evidence::Text { fingerprints: headers, raw_key: row.raw_key };
        }
        let values = at.container.values(self.records.tree);
        let own = bounded(&mut row.values.telling.iter().map(|&(_, p)| p));
        Evidence::Place {
            index: at.index,
            count: at.container.ids.len(),
            values: FieldValues { own, all: values.fingerprints.clone() },
        }
    }

    fn place_evidence(&self) -> Evidence {
        let surroundings = &self.records.cache.surroundings;
        if surroundings.in_framework(self.element) {
            return Evidence::Always;
        }
        if let Some(heading) = surroundings.heading_of(self.element) {
            return Evidence::Heading { node: heading.handle(), text: surroundings.heading_text(heading) };
        }
        match region_of(self.element) {
            Some(n) if n.role() == Role::Window => {
                Evidence::Window { node: n.handle(), title: region_fingerprint(n) }
            }
            Some(n) => Evidence::Region(region_fingerprint(n)),
            None => Evidence::Address(self.address()),
        }
    }

    /// What stands around the element.
    pub(crate) fn context(&self) -> ElementContext {
        let region = region_of(self.element);
        let tree = self.records.tree;
        ElementContext {
            row: self.row.map(|at| RowContext {
                row: Arc::clone(self.records.cache.structure.row(tree, at)),
                element: range_of(self.element),
                index: at.index,
                count: at.container.ids.len(),
                values: Some(Arc::clone(at.container.values(tree))),
            }),
            heading: self.heading(),
            region: region.map(region_fingerprint),
            window: region.filter(|n| n.role() == Role::Window).and_then(NodeRef::handle),
            address: self.address(),
        }
    }

    fn heading(&self) -> Option<Fingerprint> {
        let surroundings = &self.records.cache.surroundings;
        surroundings.heading_of(self.element).map(|h| surroundings.heading_text(h))
    }

    /// What the heading above all rows that its row is one of reads.
    pub(crate) fn heading_above_rows(&self) -> Option<Fingerprint> {
        self.heading_above().map(|h| self.records.cache.surroundings.heading_text(h))
    }

    pub(crate) fn address(&self) -> Fingerprint {
        Fingerprint::of(TextKind::Address, &self.element.document().url)
    }
}

fn region_fingerprint(region: NodeRef<'_>) -> Fingerprint {
    Fingerprint::of(TextKind::Region, &region_name(region))
}
