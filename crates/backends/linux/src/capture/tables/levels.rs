//! Levels of rows in trees.

use super::{CellPosition, Paths, Table, cell};
use crate::bus::BusResult;
use crate::capture::question::Question;
use crate::limits::DEPTH;
use hashbrown::HashMap;
use std::collections::BTreeSet;

/// Returns the first cell of each row.
pub(super) fn firsts(found: &[(CellPosition, usize)]) -> impl Iterator<Item = (i32, usize)> + '_ {
    found.iter().filter(|((_, column), _)| *column == 0).map(|&((row, _), new)| (row, new))
}

impl Table<'_> {
    /// Sets the levels of a tree's rows.
    pub(super) async fn read_levels(&mut self, found: &[(CellPosition, usize)]) -> BusResult<()> {
        let deep = match self.link.toolkit.profile().rows_name_their_parent {
            true => self.levels_by_parents(found).await?,
            false => self.levels_by_place(found).await?,
        };
        for (at, level) in deep {
            self.picture[at].attributes.push(("level".to_owned(), level.to_string()));
        }
        Ok(())
    }

    /// Determines levels by parent rows. Used for GTK 3, where rows out of view have no rectangle.
    async fn levels_by_parents(&mut self, found: &[(CellPosition, usize)]) -> BusResult<Vec<(usize, usize)>> {
        let mut outer: HashMap<String, String> = HashMap::new();
        let mut next: Vec<usize> = firsts(found).map(|(_, new)| new).collect();
        for _ in 0..DEPTH {
            let rows = next.iter().map(|&at| &self.picture[at]);
            outer.extend(rows.clone().map(|row| (row.path.clone(), row.child_of.clone())));
            // Ancestors out of view have not been read yet.
            let unread =
                |above: &String| !above.is_empty() && *above != self.path && !outer.contains_key(above);
            let above: BTreeSet<String> = rows.map(|row| row.child_of.clone()).filter(unread).collect();
            if above.is_empty() {
                break;
            }
            let above = above.into_iter().map(|above| ((), above)).collect();
            let read = self.look_at(above, &[Question::Relations]).await?.0;
            next = read.into_iter().map(|((), at)| at).collect();
        }
        let level = |at: usize| {
            let up = std::iter::successors(outer.get(&self.picture[at].path), |above| outer.get(*above));
            // A chain that does not end at this tree is invalid.
            up.take(DEPTH).position(|above| *above == self.path).map(|above| (at, above + 1))
        };
        Ok(firsts(found).filter_map(|(_, new)| level(new)).collect())
    }

    /// Determines levels by indentation. Used for Qt, which reports nothing else.
    async fn levels_by_place(&mut self, found: &[(CellPosition, usize)]) -> BusResult<Vec<(usize, usize)>> {
        let mut open: Vec<i32> = Vec::new();
        // The first row is never indented, even if it is out of view.
        if firsts(found).next().is_some_and(|(row, _)| row > 0) {
            let unknown = &mut Paths::default();
            let first = self.look_up(vec![(0, 0)], cell, unknown, &[Question::Extents]).await?;
            open.extend(first.first().and_then(|&(_, new)| Some(self.picture[new].extents?[0])));
        }
        // The rectangle is needed only for this; cells without a rectangle are read anyway.
        let lefts = firsts(found).filter_map(|(_, new)| Some((new, self.picture[new].extents.take()?[0])));
        Ok(lefts.map(|(new, left)| (new, level(&mut open, left))).collect())
    }
}

/// Returns the level of a row that begins at `left`, counting from 1. `open` contains the
/// indentations of its possible ancestors.
fn level(open: &mut Vec<i32>, left: i32) -> usize {
    open.retain(|&outer| outer < left);
    open.push(left);
    open.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_further_in_is_deeper() {
        let levels = |outer: &[i32], lefts: &[i32]| {
            let mut open = outer.to_vec();
            lefts.iter().map(|&left| level(&mut open, left)).collect::<Vec<_>>()
        };
        assert_eq!(levels(&[], &[20, 40, 60, 60, 40, 20]), [1, 2, 3, 3, 2, 1]);
        // Only a part was read, without the parent of the first row.
        assert_eq!(levels(&[20], &[40, 60, 20, 40]), [2, 3, 1, 2]);
        // Further out than all rows so far.
        assert_eq!(levels(&[], &[60, 40, 60]), [1, 1, 2]);
    }
}
