//! Keeps refs whose record changed because an action of their client changed a number.
//!
//! For example, `Green tea: 2` becomes `Green tea: 3` after a press in that row. The record rule
//! treats this as another record, which is right if the cause is unknown. If the client's own
//! action changed only numbers in nodes that stayed, the receipt informs the client and the refs
//! stay valid.

use crate::client::ClientId;
use crate::session::Session;
use stickpin_refs::Ref;
use stickpin_tree::{Clause, ContextReader, NodeId, Records, Tree};

/// The maximum number of refs that are kept after one action.
const MAX_KEPT_REFS: usize = 64;

impl Session {
    /// Keeps refs of this client whose record changed because an action changed a number, turning
    /// `before` into `after`. Covers refs that ended and refs that would end with the next tree,
    /// because `after` may be newer than the stored tree. Returns the refs that had ended. The
    /// caller must inform the client of what the action replaced.
    pub(crate) fn keep_refs_with_changed_counts(
        &mut self,
        client: &ClientId,
        before: &Tree,
        after: &Tree,
    ) -> Vec<Ref> {
        let Some(generation) = self.generation() else { return Vec::new() };
        let is_stored = self.tree().is_some_and(|tree| std::ptr::eq(&**tree, after));
        let mut asked = if is_stored { self.table.ended_at(generation) } else { self.table.live() };
        asked.retain(|(r, _)| self.clients.received_at(client, *r).is_some());
        if asked.is_empty() {
            return Vec::new();
        }
        let records = [before, after].map(|tree| Records::new(tree, &self.openers));
        let (then, now) = (ContextReader::new(&records[0]).map(), ContextReader::new(&records[1]));
        let is_counted = |node: NodeId, clause: Clause| {
            let widest = match clause {
                Clause::RowText | Clause::RowNumbers | Clause::DialogText => false,
                Clause::Heading | Clause::SectionText | Clause::Group => true,
                _ => return false,
            };
            let now_around = now.context(node);
            let now_around = if widest { now_around } else { now_around.without_document() };
            let then_around = then.context_of(&now_around);
            let changes = then_around.changes_to(&now_around, &now.own_content(node), |_| false);
            !changes.is_empty() && changes.iter().all(stickpin_tree::ContextChange::differs_in_numbers)
        };
        let mut kept = Vec::new();
        let nodes = [before, after].map(Tree::handle_index);
        for (r, handle) in asked {
            let Some((_, entry)) = self.table.find(r) else { continue };
            let [Some(&was), Some(&is)] = nodes.each_ref().map(|nodes| nodes.get(&handle)) else { continue };
            if let Some(clause) = records[1].judge(&entry.meaning, is).clause()
                && records[0].judge(&entry.meaning, was).is_same()
                && is_counted(is, clause)
            {
                kept.push((r, records[1].meaning(is)));
            }
            if kept.len() == MAX_KEPT_REFS {
                break;
            }
        }
        drop(records);
        let refs = kept.iter().map(|(r, _)| *r).filter(|_| is_stored).collect::<Vec<_>>();
        for (r, meaning) in kept {
            self.table.continue_with_meaning(r, meaning);
        }
        self.note_received(client, &refs, generation);
        refs
    }
}
