//! Finding the elements of the table in a new tree.
//!
//! The comparison is with the table (handle, meaning, last seen), not with the tree before: an element that was away
//! for a while is found again like any other. By handle where the device's identity grade allows it, else by content
//! matching, and always only with the same meaning.

use crate::retained::Retained;
use crate::table::{Element, ElementKey, Place, Table};
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use stickpin_refs::Generation;
use stickpin_tree::{
    Document, Handle, IdentityGrade, Meaning, NodeId, NodeRef, Openers, RecordBook, Records, Role, SurfaceId,
    Tree, came_back_with_its_list, content_match,
};

/// A new tree (in its book), and everything needed to find elements in it.
pub(crate) struct Alignment<'a> {
    pub(crate) book: &'a RecordBook,
    pub(crate) generation: Generation,
    pub(crate) openers: &'a Openers,
    /// The tree before, if there was one.
    pub(crate) before: Option<&'a Tree>,
    /// What was learnt about the tree before, where that is known.
    pub(crate) last_book: Option<&'a RecordBook>,
    /// Where absent elements were last seen; holds the tree before, too.
    pub(crate) retained: &'a Retained,
}

impl Alignment<'_> {
    fn tree(&self) -> &Tree {
        self.book.tree()
    }

    /// Gives every element its place in the new tree.
    pub(crate) fn run(&self, table: &mut Table) {
        if self.is_same() {
            return self.carry_over(table);
        }
        let records = self.book.records(self.openers);
        let found = self.by_handle(&table.by_handle);
        let mut taken: HashSet<NodeId> = found.values().copied().collect();
        let mut missing = Vec::new();
        for (&key, element) in &mut table.elements {
            match found.get(&key) {
                Some(&node) => self.settle(element, node, &records),
                None => missing.push(key),
            }
        }
        self.place_missing(table, &missing, &mut taken, &records);
    }

    /// Whether every element is where it was, and means what it meant.
    ///
    /// Without handles, two trees that are equal by value hold the same elements at the same positions: the device
    /// reports no difference at all, and elements with equal looks keep their refs while nothing happens. With them, the
    /// tree that is stored already has been searched: nothing in it is new. What opened a popup may have become known
    /// since, which is part of what is in it; and in a cut tree a second look proves what the first could not.
    fn is_same(&self) -> bool {
        match self.before {
            Some(before) if self.tree().grade() == IdentityGrade::None => before == self.tree(),
            Some(before) => {
                std::ptr::eq(before, self.tree()) && !self.tree().truncated() && self.openers.is_empty()
            }
            None => false,
        }
    }

    fn carry_over(&self, table: &mut Table) {
        for element in table.elements.values_mut() {
            if let Place::Here(node) = element.place {
                element.seen = (self.generation, node);
            }
        }
    }

    /// Elements whose handle is in the new tree. Handles that may have come back for another element are not in the
    /// index any more.
    fn by_handle(&self, index: &HashMap<Handle, ElementKey>) -> HashMap<ElementKey, NodeId> {
        if index.is_empty() {
            return HashMap::new();
        }
        self.tree().nodes().filter_map(|n| Some((*index.get(&n.handle()?)?, n.id()))).collect()
    }

    /// The element is this node. Which of its meanings holds, if any?
    fn settle(&self, element: &mut Element, node: NodeId, records: &Records<'_>) {
        element.place = Place::Here(node);
        element.seen = (self.generation, node);
        element.surface = self.tree().surface();
        element.unproven = false;
        element.row_lost = false;
        let holds = |element: &Element, r| {
            element.entry(r).is_some_and(|e| records.judge(&e.meaning, node).is_same())
        };
        if element.active.is_some_and(|r| holds(element, r)) {
            return;
        }
        element.active = element.entries.iter().rev().map(|e| e.r#ref).find(|&r| holds(element, r));
    }

    fn place_missing(
        &self,
        table: &mut Table,
        missing: &[ElementKey],
        taken: &mut HashSet<NodeId>,
        records: &Records<'_>,
    ) {
        if missing.is_empty() {
            return;
        }
        let fresh = self.fresh(taken);
        let handles: HashSet<Handle> = self.tree().nodes().filter_map(|n| n.handle()).collect();
        // By the tree they were last seen in, the newest first: of two elements that could claim a node, the one
        // that was there last has the better claim, and the other one was told apart from it before.
        let mut sought: BTreeMap<Generation, Vec<ElementKey>> = BTreeMap::new();
        let ended = table.ended_surfaces();
        // Known to be away from a list that stayed, and without a key.
        let mut lost: HashSet<ElementKey> = HashSet::new();
        for &key in missing {
            let Some(element) = table.elements.get_mut(&key) else { continue };
            let was = element.place;
            element.place = self.place_without_match(element, &ended);
            if element.place == Place::Gone && was != Place::Gone {
                element.row_lost = self.lost_its_row(element, &handles);
            }
            let seekable =
                element.active_meaning().is_some_and(|m| fresh.contains(&likes(m.role(), m.name())));
            if seekable && self.may_be_matched(element, was) {
                let keyed = element.active_meaning().is_some_and(Meaning::has_record_key);
                if was == Place::Gone && element.row_lost && !keyed {
                    lost.insert(key);
                }
                sought.entry(element.seen.0).or_default().push(key);
            }
        }
        for (&at, keys) in sought.iter().rev() {
            let Some(last) = self.retained.get(at).filter(|t| t.surface() == self.tree().surface()) else {
                continue;
            };
            let last = match self.last_book.filter(|book| Arc::ptr_eq(book.tree(), last)) {
                Some(book) => book.records(self.openers),
                None => Records::new(last, self.openers),
            };
            let mut matches: HashMap<NodeId, Option<ElementKey>> = HashMap::new();
            for &key in keys {
                let Some(element) = table.elements.get(&key) else { continue };
                let Some(meaning) = element.active_meaning() else { continue };
                if !self.has_document_of(last.tree().node(element.seen.1)) {
                    continue;
                }
                if let Ok(node) = content_match(&last, element.seen.1, meaning, records)
                    && !taken.contains(&node)
                    && (!lost.contains(&key) || came_back_with_its_list(&last, element.seen.1, records, node))
                {
                    // Two claims on one node: neither is proven.
                    matches.entry(node).and_modify(|claim| *claim = None).or_insert(Some(key));
                }
            }
            for (node, key) in matches {
                taken.insert(node);
                let Some(element) = key.and_then(|key| table.elements.get_mut(&key)) else { continue };
                self.settle(element, node, records);
                element.rest_on(&records.meaning(node));
                element.unproven = self.tree().truncated();
                let handle = self.tree().node(node).handle();
                let old = std::mem::replace(&mut element.handle, handle);
                if let Some(key) = key {
                    if let Some(old) = old.filter(|h| table.by_handle.get(h) == Some(&key)) {
                        table.by_handle.remove(&old);
                    }
                    table.by_handle.extend(handle.map(|h| (h, key)));
                }
            }
        }
        self.drop_unreliable_handles(table);
    }

    /// Where an element is that was not found by its handle.
    fn place_without_match(&self, element: &Element, ended: &HashSet<SurfaceId>) -> Place {
        if element.surface != self.tree().surface() {
            return Table::away(ended, element);
        }
        match element.place {
            // What was known to be away before stays away; a cut capture proves nothing new.
            place if self.tree().truncated() && !place.resolves() && place != Place::Elsewhere => place,
            _ if self.tree().truncated() => Place::Unseen,
            _ if self.is_hidden(element) => Place::Hidden,
            _ => Place::Gone,
        }
    }

    /// Whether content matching may look for an element that is not where its handle says.
    fn may_be_matched(&self, element: &Element, was: Place) -> bool {
        match element.place {
            Place::Elsewhere | Place::Hidden | Place::Here(_) => false,
            // With a handle it may be in the part of the tree that was cut; without one, likeness is all there is.
            Place::Unseen => element.handle.is_none(),
            // Away for a while: an equal one may be a new one. A row that was taken out of its list needs a key or its
            // likes; everything needs a key where handles do not last, because nothing shows then what survived.
            Place::Gone => {
                was != Place::Gone
                    || self.tree().grade() == IdentityGrade::NeverReused
                    || element.active_meaning().is_some_and(Meaning::has_record_key)
            }
        }
    }

    /// Whether the row of an element is not there any more while the list that it was in is.
    fn lost_its_row(&self, element: &Element, handles: &HashSet<Handle>) -> bool {
        let (at, node) = element.seen;
        let last = self.retained.get(at).map(|tree| tree.node(node));
        let (Some(row), Some(last)) = (element.active_meaning().and_then(Meaning::row), last) else {
            return false;
        };
        let row = last.ancestors().find(|n| n.handle() == Some(row));
        let list = row.and_then(|r| r.parent()?.handle());
        row.is_some_and(|r| r.handle().is_some_and(|h| !handles.contains(&h)))
            && list.is_some_and(|h| handles.contains(&h))
    }

    fn is_hidden(&self, element: &Element) -> bool {
        element.handle.is_some_and(|h| self.tree().hidden().binary_search(&h).is_ok())
    }

    /// What the nodes that were not in the tree before could be: only such a node can take the place of another one.
    fn fresh(&self, taken: &HashSet<NodeId>) -> HashSet<u64> {
        let known: HashSet<Handle> = match self.before {
            Some(before) if before.surface() == self.tree().surface() => {
                before.nodes().filter_map(|n| n.handle()).collect()
            }
            _ => HashSet::new(),
        };
        let fresh = self.tree().nodes().filter(|n| n.handle().is_none_or(|h| !known.contains(&h)));
        fresh.filter(|n| !taken.contains(&n.id())).map(|n| likes(n.role(), n.name())).collect()
    }

    /// Whether the document that a node was in is still there, or was loaded again.
    fn has_document_of(&self, node: NodeRef<'_>) -> bool {
        let then = node.document();
        let same = |d: &Document| d.scope == then.scope || (d.frame == then.frame && d.url == then.url);
        self.tree().documents().iter().any(same)
    }

    /// Where a device may give the handle of a dead element to another one, a handle is worth nothing as soon as its
    /// element was missing.
    fn drop_unreliable_handles(&self, table: &mut Table) {
        if self.tree().grade() == IdentityGrade::NeverReused {
            return;
        }
        for (key, element) in &mut table.elements {
            if element.place == Place::Gone
                && let Some(handle) = element.handle.take()
            {
                element.lapsed = Some(handle);
                if table.by_handle.get(&handle) == Some(key) {
                    table.by_handle.remove(&handle);
                }
            }
        }
    }
}

/// One number for all elements that could be alike: of one role, with one name, counts aside. A cheap sieve before
/// the record rule.
fn likes(role: Role, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    role.hash(&mut hasher);
    name.chars().filter(|c| c.is_alphabetic()).for_each(|c| c.hash(&mut hasher));
    hasher.finish()
}
