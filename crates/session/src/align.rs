//! Finds the elements of the ref table in a new tree.
//!
//! The new tree is compared with the handles, meanings and last positions in the table, not with
//! the previous tree. An element that was absent for a while is therefore found again like any
//! other. Elements are matched by handle if the device's identity grade allows it, otherwise by
//! content, and only if the meaning is the same.

use crate::retained::Retained;
use crate::table::{Element, ElementKey, Presence, Table};
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use stickpin_refs::Generation;
use stickpin_tree::{
    CachedTree, Document, Handle, IdentityGrade, Meaning, NodeId, NodeRef, Openers, Records, Role, SurfaceId,
    Tree, content_match, reappeared_with_list,
};

/// A new tree with its identity cache and everything needed to find elements in it.
pub(crate) struct Alignment<'a> {
    pub(crate) cached: &'a CachedTree,
    pub(crate) generation: Generation,
    pub(crate) openers: &'a Openers,
    /// The previous tree, if any.
    pub(crate) before: Option<&'a Tree>,
    /// The identity cache of the previous tree, if available.
    pub(crate) last_cached: Option<&'a CachedTree>,
    /// The trees in which absent elements were last seen, including the previous tree.
    pub(crate) retained: &'a Retained,
}

impl Alignment<'_> {
    fn tree(&self) -> &Tree {
        self.cached.tree()
    }

    /// Updates the presence of every element for the new tree.
    pub(crate) fn align(&self, table: &mut Table) {
        if self.is_same() {
            return self.carry_over(table);
        }
        let records = self.cached.records(self.openers);
        let found = self.by_handle(&table.by_handle);
        let mut taken: HashSet<NodeId> = found.values().copied().collect();
        let mut missing = Vec::new();
        for (&key, element) in &mut table.elements {
            match found.get(&key) {
                Some(&node) => self.place_at_node(element, node, &records),
                None => missing.push(key),
            }
        }
        self.place_missing(table, &missing, &mut taken, &records);
    }

    /// Returns whether every element still has its position and its meaning.
    ///
    /// Without handles, two trees that are equal by value contain the same elements at the same
    /// positions. Elements that look alike therefore keep their refs while nothing changes. With
    /// handles, only the stored tree itself counts as unchanged. Even that tree needs another
    /// search in two cases: a popup's opener may have become known since, and a second search of a
    /// truncated tree may prove more than the first.
    fn is_same(&self) -> bool {
        match self.before {
            Some(before) if self.tree().grade() == IdentityGrade::None => before == self.tree(),
            Some(before) => {
                std::ptr::eq(before, self.tree()) && !self.tree().is_truncated() && self.openers.is_empty()
            }
            None => false,
        }
    }

    fn carry_over(&self, table: &mut Table) {
        for element in table.elements.values_mut() {
            if let Presence::Here(node) = element.presence {
                element.last_seen = (self.generation, node);
            }
        }
    }

    /// Finds elements by their handles. The index no longer contains handles that the device may
    /// have reused.
    fn by_handle(&self, index: &HashMap<Handle, ElementKey>) -> HashMap<ElementKey, NodeId> {
        if index.is_empty() {
            return HashMap::new();
        }
        self.tree().nodes().filter_map(|n| Some((*index.get(&n.handle()?)?, n.id()))).collect()
    }

    /// Places an element at a node and selects which of its meanings holds there, if any.
    fn place_at_node(&self, element: &mut Element, node: NodeId, records: &Records<'_>) {
        element.presence = Presence::Here(node);
        element.last_seen = (self.generation, node);
        element.surface = self.tree().surface();
        element.unproven = false;
        element.row_lost = false;
        let holds = |element: &Element, r| {
            element.entry(r).is_some_and(|e| records.judge(&e.meaning, node).is_same())
        };
        if element.active.is_some_and(|r| holds(element, r)) {
            return;
        }
        element.active = element.entries.iter().rev().map(|e| e.id).find(|&r| holds(element, r));
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
        let fresh = self.new_similarity_keys(taken);
        let handles: HashSet<Handle> = self.tree().nodes().filter_map(|n| n.handle()).collect();
        // Search the newest tree first. Of two elements that could claim a node, the one seen last
        // has the better claim, and the two were distinguishable before.
        let mut sought: BTreeMap<Generation, Vec<ElementKey>> = BTreeMap::new();
        let ended = table.ended_surfaces();
        // Elements without a key that left a list while the list stayed.
        let mut lost: HashSet<ElementKey> = HashSet::new();
        for &key in missing {
            let Some(element) = table.elements.get_mut(&key) else { continue };
            let was = element.presence;
            element.presence = self.place_without_match(element, &ended);
            if element.presence == Presence::Gone && was != Presence::Gone {
                element.row_lost = self.lost_its_row(element, &handles);
            }
            let seekable =
                element.active_meaning().is_some_and(|m| fresh.contains(&similarity_key(m.role(), m.name())));
            if seekable && self.may_be_matched(element, was) {
                let keyed = element.active_meaning().is_some_and(Meaning::has_record_key);
                if was == Presence::Gone && element.row_lost && !keyed {
                    lost.insert(key);
                }
                sought.entry(element.last_seen.0).or_default().push(key);
            }
        }
        for (&at, keys) in sought.iter().rev() {
            let Some(last) = self.retained.get(at).filter(|t| t.surface() == self.tree().surface()) else {
                continue;
            };
            let last = match self.last_cached.filter(|cached| Arc::ptr_eq(cached.tree(), last)) {
                Some(cached) => cached.records(self.openers),
                None => Records::new(last, self.openers),
            };
            let mut matches: HashMap<NodeId, Option<ElementKey>> = HashMap::new();
            for &key in keys {
                let Some(element) = table.elements.get(&key) else { continue };
                let Some(meaning) = element.active_meaning() else { continue };
                if !self.has_document_of(last.tree().node(element.last_seen.1)) {
                    continue;
                }
                if let Ok(node) = content_match(&last, element.last_seen.1, meaning, records)
                    && !taken.contains(&node)
                    && (!lost.contains(&key)
                        || reappeared_with_list(&last, element.last_seen.1, records, node))
                {
                    // Two elements claim one node: neither claim is proven.
                    matches.entry(node).and_modify(|claim| *claim = None).or_insert(Some(key));
                }
            }
            for (node, key) in matches {
                taken.insert(node);
                let Some(element) = key.and_then(|key| table.elements.get_mut(&key)) else { continue };
                self.place_at_node(element, node, records);
                element.take_nodes_of(&records.meaning(node));
                element.unproven = self.tree().is_truncated();
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

    /// Returns the presence of an element that was not found by its handle.
    fn place_without_match(&self, element: &Element, ended: &HashSet<SurfaceId>) -> Presence {
        if element.surface != self.tree().surface() {
            return Table::off_surface_presence(ended, element);
        }
        match element.presence {
            // An element known to be absent stays absent: a truncated capture proves nothing new.
            place if self.tree().is_truncated() && !place.resolves() && place != Presence::Elsewhere => place,
            _ if self.tree().is_truncated() => Presence::Unseen,
            _ if self.is_hidden(element) => Presence::Hidden,
            _ => Presence::Gone,
        }
    }

    /// Returns whether content matching may search for an element that was not found by its handle.
    fn may_be_matched(&self, element: &Element, was: Presence) -> bool {
        match element.presence {
            Presence::Elsewhere | Presence::Hidden | Presence::Here(_) => false,
            // An element with a handle may be in the truncated part of the tree. Without a handle,
            // only its content can identify it.
            Presence::Unseen => element.handle.is_none(),
            // An equal element that appears after an absence may be a new one. A row that left its
            // list needs a key, or a list that came back with the row. Without lasting handles, any
            // such element needs a key, because nothing else shows that it survived.
            Presence::Gone => {
                was != Presence::Gone
                    || self.tree().grade() == IdentityGrade::NeverReused
                    || element.active_meaning().is_some_and(Meaning::has_record_key)
            }
        }
    }

    /// Returns whether the row of an element is gone while the list around it still exists.
    fn lost_its_row(&self, element: &Element, handles: &HashSet<Handle>) -> bool {
        let (at, node) = element.last_seen;
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

    /// Returns the similarity keys of all nodes that are new in this tree and not taken. Only a new
    /// node can replace a missing element.
    fn new_similarity_keys(&self, taken: &HashSet<NodeId>) -> HashSet<u64> {
        let known: HashSet<Handle> = match self.before {
            Some(before) if before.surface() == self.tree().surface() => {
                before.nodes().filter_map(|n| n.handle()).collect()
            }
            _ => HashSet::new(),
        };
        let fresh = self.tree().nodes().filter(|n| n.handle().is_none_or(|h| !known.contains(&h)));
        fresh.filter(|n| !taken.contains(&n.id())).map(|n| similarity_key(n.role(), n.name())).collect()
    }

    /// Returns whether the document of a node still exists or was reloaded.
    fn has_document_of(&self, node: NodeRef<'_>) -> bool {
        let then = node.document();
        let same = |d: &Document| d.scope == then.scope || (d.frame == then.frame && d.url == then.url);
        self.tree().documents().iter().any(same)
    }

    /// Drops the handles of missing elements on devices that may reuse a handle: such a handle
    /// proves nothing later.
    fn drop_unreliable_handles(&self, table: &mut Table) {
        if self.tree().grade() == IdentityGrade::NeverReused {
            return;
        }
        for (key, element) in &mut table.elements {
            if element.presence == Presence::Gone
                && let Some(handle) = element.handle.take()
            {
                element.unreliable_handle = Some(handle);
                if table.by_handle.get(&handle) == Some(key) {
                    table.by_handle.remove(&handle);
                }
            }
        }
    }
}

/// Returns a hash of the role and of the letters of the name, equal for all elements that could be
/// alike. A cheap filter before the record rule.
fn similarity_key(role: Role, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    role.hash(&mut hasher);
    name.chars().filter(|c| c.is_alphabetic()).for_each(|c| c.hash(&mut hasher));
    hasher.finish()
}
