//! An element of a tree as a record sees it.

use super::Records;
use super::basis::{Basis, FieldValues, Kept, Shift, Sight};
use super::groups::titles_around;
use super::keys::Key;
use super::place::{region_name, region_of};
use super::print::{Part, Print};
use super::rows::Row;
use super::structure::RowAt;
use super::switches::Switches;
use crate::{Handle, NodeRef, Role};

/// So many prints of a row are kept; the first ones. A row of more texts is a page.
const MOST_PRINTS: usize = 64;

/// An element, with the row that it is looked at in.
pub(super) struct Live<'r, 't> {
    pub(super) records: &'r Records<'t>,
    pub(super) element: NodeRef<'t>,
    pub(super) row: Option<RowAt<'r>>,
}

impl Live<'_, '_> {
    pub(super) fn content(&self) -> Option<&Row> {
        self.row.map(|at| self.records.known.structure.row(self.records.tree, at))
    }

    /// What tells the element from its likes: the strongest evidence that there is.
    pub(super) fn basis(&self) -> Basis {
        let records = self.records;
        match self.row {
            Some(at) if !records.is_lone_group(at) => {
                self.row_basis(at, records.known.structure.row(records.tree, at))
            }
            _ => self.place_basis(),
        }
    }

    fn row_basis(&self, at: RowAt<'_>, row: &Row) -> Basis {
        let (on, element) = (self.records.on, self.element);
        if let Some(key) = row.key {
            return Basis::Key(key);
        }
        let bounded = |prints: &mut dyn Iterator<Item = Print>| -> Box<[Print]> {
            let mut found: Vec<Print> = Vec::new();
            for print in prints {
                if !found.contains(&print) {
                    found.push(print);
                }
                if found.len() == MOST_PRINTS {
                    break;
                }
            }
            found.into()
        };
        if on.contains(Switches::ROW_TEXT) {
            let mut prints = bounded(&mut row.text.telling_outside(element).map(|(_, p)| p));
            if prints.is_empty() && on.contains(Switches::ROW_NAMES) && at.container.ids.len() > 1 {
                let others = row.names.telling_outside(element).filter(|&(n, _)| n != element.id());
                prints = bounded(&mut others.map(|(_, p)| p));
            }
            if !prints.is_empty() {
                return Basis::Text { prints, raw_key: row.raw_key };
            }
        }
        if on.contains(Switches::OWN_NAME) && self.has_own_name() {
            return Basis::OwnName;
        }
        // It may belong to the place instead: in a sorted table another row has it then. So it tells only where no words in
        // the cells do, and numbers tell along with it.
        let headers = if on.contains(Switches::ROW_NAMES) {
            bounded(&mut row.headers.telling_outside(element).map(|(_, p)| p))
        } else {
            Box::default()
        };
        if on.contains(Switches::ROW_NUMBERS) {
            let prints = bounded(&mut row.numbers.telling_outside(element).map(|(_, p)| p));
            if !prints.is_empty() {
                return Basis::Numbers { prints, headers };
            }
        }
        if !headers.is_empty() {
            return Basis::Text { prints: headers, raw_key: row.raw_key };
        }
        let values = at.container.values(self.records.tree, on);
        let own = bounded(&mut row.values.telling.iter().map(|&(_, p)| p));
        Basis::Place {
            index: at.index,
            count: at.container.ids.len(),
            values: FieldValues { own, all: values.prints.clone() },
        }
    }

    fn place_basis(&self) -> Basis {
        let places = &self.records.known.places;
        if self.records.on.contains(Switches::FRAMEWORK) && places.in_framework(self.element) {
            return Basis::Always;
        }
        if self.records.on.contains(Switches::HEADINGS)
            && let Some(heading) = places.heading_of(self.element)
        {
            return Basis::Heading { node: heading.handle(), text: places.heading_text(heading) };
        }
        match region_of(self.element) {
            Some(n) if n.role() == Role::Window => Basis::Window { node: n.handle(), title: region_print(n) },
            Some(n) => Basis::Region(region_print(n)),
            None => Basis::Address(self.address()),
        }
    }

    /// The same, for when the tree is gone.
    pub(super) fn keep(&self) -> Kept {
        let row = self.content();
        let mut text: Vec<Print> = row
            .iter()
            .flat_map(|r| [&r.text, &r.names, &r.headers])
            .flat_map(|traces| traces.outside(self.element))
            .collect();
        let mut numbers: Vec<Print> = row.iter().flat_map(|r| r.numbers.outside(self.element)).collect();
        text.sort_unstable();
        text.dedup();
        numbers.sort_unstable();
        numbers.dedup();
        Kept {
            key: self.key(),
            text: text.into(),
            numbers: numbers.into(),
            place: self.place(),
            heading: self.heading(),
            heading_above_rows: Sight::heading_above_rows(self),
            groups: titles_around(self.element, &self.records.known.places),
            region: self.region(),
            window: Sight::window(self),
            address: self.address(),
        }
    }
}

impl Sight for Live<'_, '_> {
    fn key(&self) -> Option<Key> {
        self.content()?.key
    }

    fn is_blank_with(&self, raw_key: Print) -> bool {
        self.content()
            .is_some_and(|r| r.raw_key == Some(raw_key) && r.text.outside(self.element).next().is_none())
    }

    fn has_text(&self, print: Print) -> bool {
        let has = |row: &Row| {
            [&row.text, &row.names, &row.headers].iter().any(|traces| traces.has(print, self.element))
        };
        self.content().is_some_and(has)
    }

    fn has_number(&self, print: Print) -> bool {
        self.content().is_some_and(|r| r.numbers.has(print, self.element))
    }

    fn place(&self) -> Option<(usize, usize)> {
        self.row.map(|at| (at.index, at.container.ids.len()))
    }

    fn shift(&self, issued: &FieldValues) -> Shift {
        let Some(at) = self.row.filter(|_| self.records.on.contains(Switches::ROW_SHIFTS)) else {
            return Shift::Unknown;
        };
        let now = at.container.values(self.records.tree, self.records.on);
        let here = |p: &&Print| now.row_with(**p) == Some(at.index);
        if issued.own.iter().filter(here).count() * 2 > issued.own.len() {
            return Shift::Stayed;
        }
        let left = issued.own.iter().any(|p| now.row_with(*p).is_some_and(|row| row != at.index));
        let row = self.records.known.structure.row(self.records.tree, at);
        let came = row
            .values
            .telling
            .iter()
            .any(|&(_, p)| issued.all.binary_search(&p).is_ok() && !issued.own.contains(&p));
        if left || came { Shift::Moved } else { Shift::Unknown }
    }

    fn heading(&self) -> Option<Print> {
        let places = &self.records.known.places;
        places.heading_of(self.element).map(|h| places.heading_text(h))
    }

    fn heading_above_rows(&self) -> Option<Print> {
        self.heading_above().map(|h| self.records.known.places.heading_text(h))
    }

    fn heading_at(&self, node: Handle) -> Option<Print> {
        let heading = self.records.node_at(node)?;
        self.records
            .on
            .contains(Switches::HEADING_LIVES)
            .then(|| self.records.known.places.heading_text(heading))
    }

    fn region(&self) -> Option<Print> {
        region_of(self.element).map(region_print)
    }

    fn window(&self) -> Option<Handle> {
        region_of(self.element).filter(|n| n.role() == Role::Window)?.handle()
    }

    fn address(&self) -> Print {
        Print::of(Part::Address, &self.element.document().url)
    }
}

fn region_print(region: NodeRef<'_>) -> Print {
    Print::of(Part::Region, &region_name(region))
}
