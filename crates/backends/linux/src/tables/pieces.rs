//! What stands in one cell of a GTK 3 table: a picture, a box to tick and a text are a cell each there, inside the cell of
//! their column, which itself says nothing.

use super::{Place, look_at};
use crate::bus::{Fault, Link};
use crate::capture::ask::{Ask, Questions, WHOLE};
use crate::model::{Interfaces, Object, Picture};
use crate::roles::number as role;
use crate::states;

/// What is read of one cell at most.
const PIECES: usize = 16;

/// Reads what stands in the cells that say nothing themselves, and which of them can be ticked.
pub(super) async fn read(link: &Link, picture: &mut Picture, found: &[(Place, usize)]) -> Result<(), Fault> {
    let mut questions = Questions::default();
    for &(_, cell) in found.iter().filter(|(_, cell)| is_mute(&picture.objects[*cell])) {
        questions.add(cell, Ask::Children);
        questions.add(cell, Ask::Actions);
    }
    let mut inside = Vec::new();
    let mut cells = Vec::new();
    for (cell, named) in questions.ask(link, picture).await?.children {
        let line = i32::try_from(cells.len()).unwrap_or(i32::MAX);
        let path = |child| link.named(&picture.objects[cell].path, child);
        inside.extend((0..).zip(named.into_iter().take(PIECES)).map(|(n, child)| ((line, n), path(child))));
        cells.push(cell);
    }
    let mut ticks = Questions::default();
    for ((line, _), new) in look_at(link, picture, inside, WHOLE).await?.0 {
        if let Some(&cell) = usize::try_from(line).ok().and_then(|line| cells.get(line)) {
            picture.objects[cell].children.push(new);
        }
        let object = &mut picture.objects[new];
        // A picture says nothing that could be read.
        object.shown = object.role == role::TABLE_CELL
            && states::seen(object.states, picture.toolkit)
            && !object.has(Interfaces::IMAGE);
        if object.shown && is_mute(object) {
            ticks.add(new, Ask::Actions);
        }
    }
    ticks.ask(link, picture).await.map(drop)
}

/// Whether a cell says nothing itself.
fn is_mute(object: &Object) -> bool {
    object.name.trim().is_empty() && !object.has(Interfaces::TEXT) && !object.has(Interfaces::IMAGE)
}

/// Whether a cell is one of those that stand in another.
pub(crate) fn is_piece(picture: &Picture, object: &Object, above: u32) -> bool {
    use crate::bus::Toolkit::Gtk3;
    let in_cell = matches!(above, role::TABLE_CELL | role::TREE_ITEM);
    picture.toolkit == Gtk3 && object.role == role::TABLE_CELL && in_cell
}

/// Whether a cell is a box to tick. Whether one is ticked its states say, but not that one can be.
pub(crate) fn is_box(object: &Object) -> bool {
    object.role == role::TABLE_CELL
        && object.actions.iter().any(|action| action.eq_ignore_ascii_case("toggle"))
}
