//! Cells inside cells. In a GTK 3 table, an icon, a check box and a text are separate cells inside
//! the cell of their column, which itself reports nothing. All these cells report that they are
//! shown, but hidden ones have no width.

use super::{CellPosition, Table};
use crate::bus::BusResult;
use crate::capture::question::{ALL_QUESTIONS, Question, Questions};
use crate::model::{Interfaces, Object, role, states};

/// The maximum number of inner cells that are read per cell.
const PIECES: usize = 16;

impl Table<'_> {
    /// Reads the inner cells of cells that report nothing themselves, and determines which of them
    /// are check boxes.
    pub(super) async fn read_pieces(&mut self, found: &[(CellPosition, usize)]) -> BusResult<()> {
        let mut questions = Questions::default();
        for &(_, cell) in found.iter().filter(|(_, cell)| is_mute(&self.picture[*cell])) {
            questions.add_all(cell, [Question::Children, Question::Actions]);
        }
        let mut inside = Vec::new();
        for (cell, named) in questions.ask(self.link, self.picture).await?.children {
            inside.extend(named.into_iter().take(PIECES).map(|child| (cell, child)));
        }
        let mut ticks = Questions::default();
        let mut texts: Vec<(usize, usize)> = Vec::new();
        for (cell, new) in self.look_at(inside, ALL_QUESTIONS).await?.0 {
            self.picture[cell].children.push(new);
            let object = &mut self.picture.objects[new];
            // An icon has no text to read.
            object.shown = object.role == role::TABLE_CELL
                && states::is_visible(object.states, self.picture.toolkit)
                && !object.has(Interfaces::IMAGE);
            if object.shown && is_mute(object) {
                ticks.0.push((new, Question::Actions));
            } else if object.shown && !object.name.trim().is_empty() {
                texts.push((cell, new));
            }
        }
        // A single text is the text of the cell.
        let of_cells = texts.chunk_by(|(cell, _), (other, _)| cell == other);
        let several = of_cells.filter(|texts| texts.len() > 1).flatten();
        let doubtful: Vec<usize> = several.map(|&(_, text)| text).collect();
        doubtful.iter().for_each(|&text| ticks.0.push((text, Question::Extents)));
        ticks.ask(self.link, self.picture).await?;
        for text in doubtful {
            // A cell without width is omitted. The rectangle was needed only for this.
            let object = &mut self.picture.objects[text];
            object.shown &= !object.is_flat();
            object.extents = None;
        }
        Ok(())
    }
}

/// Returns whether a cell reports nothing itself.
fn is_mute(object: &Object) -> bool {
    object.name.trim().is_empty() && !object.has(Interfaces::TEXT) && !object.has(Interfaces::IMAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_no_room_is_not_shown() {
        let flat = |extents| Object { extents, ..Object::default() }.is_flat();
        assert!(flat(Some([322, 320, 0, 25])));
        assert!(!flat(Some([362, 320, 130, 25])) && !flat(None), "of the last nobody knows");
    }
}
