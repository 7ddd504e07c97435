//! An element of a tree as a record sees it.

use crate::identity::compare::Records;
use crate::identity::evidence::{ElementContext, Evidence, FieldValues, KeptContext, Shift};
use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::identity::rows::content::Row;
use crate::identity::rows::detect::RowAt;
use crate::identity::rows::keys::Key;
use crate::identity::surroundings::group::titles_around;
use crate::identity::surroundings::heading::{region_name, region_of};
use crate::{Handle, NodeRef, Role};

/// So many fingerprints of a row are kept; the first ones. A row of more texts is a page.
const MOST_PRINTS: usize = 64;

/// An element, with the row that it is looked at in.
#[derive(Clone, Copy)]
pub(crate) struct LiveContext<'r, 't> {
    pub(crate) records: &'r Records<'t>,
    pub(crate) element: NodeRef<'t>,
    pub(crate) row: Option<RowAt<'r>>,
}

impl LiveContext<'_, '_> {
    pub(crate) fn content(&self) -> Option<&Row> {
        self.row.map(|at| self.records.cache.structure.row(self.records.tree, at))
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

    /// The same, for when the tree is gone.
    pub(crate) fn keep(&self) -> KeptContext {
        let row = self.content();
        let mut text: Vec<Fingerprint> = row
            .iter()
            .flat_map(|r| [&r.text, &r.names, &r.headers])
            .flat_map(|traces| traces.outside(self.element))
            .collect();
        let mut numbers: Vec<Fingerprint> =
            row.iter().flat_map(|r| r.numbers.outside(self.element)).collect();
        text.sort_unstable();
        text.dedup();
        numbers.sort_unstable();
        numbers.dedup();
        KeptContext {
            key: self.key(),
            text: text.into(),
            numbers: numbers.into(),
            place: self.place(),
            heading: self.heading(),
            heading_above_rows: ElementContext::heading_above_rows(self),
            groups: titles_around(self.element, &self.records.cache.surroundings),
            region: self.region(),
            window: ElementContext::window(self),
            address: self.address(),
        }
    }
}

impl ElementContext for LiveContext<'_, '_> {
    fn key(&self) -> Option<Key> {
        self.content()?.key
    }

    fn is_blank_with(&self, raw_key: Fingerprint) -> bool {
        self.content()
            .is_some_and(|r| r.raw_key == Some(raw_key) && r.text.outside(self.element).next().is_none())
    }

    fn has_text(&self, fingerprint: Fingerprint) -> bool {
        let has = |row: &Row| {
            [&row.text, &row.names, &row.headers].iter().any(|traces| traces.has(fingerprint, self.element))
        };
        self.content().is_some_and(has)
    }

    fn has_number(&self, fingerprint: Fingerprint) -> bool {
        self.content().is_some_and(|r| r.numbers.has(fingerprint, self.element))
    }

    fn place(&self) -> Option<(usize, usize)> {
        self.row.map(|at| (at.index, at.container.ids.len()))
    }

    fn shift(&self, issued: &FieldValues) -> Shift {
        let Some(at) = self.row else {
            return Shift::Unknown;
        };
        let now = at.container.values(self.records.tree);
        let here = |p: &&Fingerprint| now.row_with(**p) == Some(at.index);
        if issued.own.iter().filter(here).count() * 2 > issued.own.len() {
            return Shift::Stayed;
        }
        let left = issued.own.iter().any(|p| now.row_with(*p).is_some_and(|row| row != at.index));
        let row = self.records.cache.structure.row(self.records.tree, at);
        let came = row
            .values
            .telling
            .iter()
            .any(|&(_, p)| issued.all.binary_search(&p).is_ok() && !issued.own.contains(&p));
        if left || came { Shift::Moved } else { Shift::Unknown }
    }

    fn heading(&self) -> Option<Fingerprint> {
        let surroundings = &self.records.cache.surroundings;
        surroundings.heading_of(self.element).map(|h| surroundings.heading_text(h))
    }

    fn heading_above_rows(&self) -> Option<Fingerprint> {
        self.heading_above().map(|h| self.records.cache.surroundings.heading_text(h))
    }

    fn heading_at(&self, node: Handle) -> Option<Fingerprint> {
        self.records.node_at(node).map(|heading| self.records.cache.surroundings.heading_text(heading))
    }

    fn region(&self) -> Option<Fingerprint> {
        region_of(self.element).map(region_fingerprint)
    }

    fn window(&self) -> Option<Handle> {
        region_of(self.element).filter(|n| n.role() == Role::Window)?.handle()
    }

    fn address(&self) -> Fingerprint {
        Fingerprint::of(TextKind::Address, &self.element.document().url)
    }
}

fn region_fingerprint(region: NodeRef<'_>) -> Fingerprint {
    Fingerprint::of(TextKind::Region, &region_name(region))
}
