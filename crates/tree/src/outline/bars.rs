//! `-i`: folds a toolbar with more than a few buttons into one line.
//!
//! Forty formatting buttons above an editor take most of the bytes of its outline and are seldom
//! what a reader wants: `toolbar "Formatting" 12 buttons (snapshot -s @e7)`. Fields in a toolbar
//! keep their lines. `--all` folds nothing, and `-s` opens the toolbar that it names.

use super::sketch::Sketch;
use crate::{NodeRef, Role};

/// The most buttons of a toolbar that is not folded.
const MOST_BUTTONS: usize = 8;

/// Folds the toolbars of a sketch. Of nested toolbars, the outermost counts all buttons.
pub(super) fn fold(sketch: &mut Sketch<'_>) {
    let toolbars: Vec<NodeRef<'_>> =
        sketch.nodes().filter(|n| n.role() == Role::Toolbar && !sketch.is_scope(*n)).collect();
    for toolbar in toolbars {
        let inside = toolbar.subtree().skip(1);
        let buttons: Vec<NodeRef<'_>> =
            inside.filter(|n| is_button(n.role()) && sketch.shows(*n) && !sketch.is_dropped(*n)).collect();
        if buttons.len() > MOST_BUTTONS {
            buttons.iter().for_each(|button| sketch.drop(*button));
            sketch.show(toolbar);
            sketch.set_folded(toolbar, buttons.len());
        }
    }
}

fn is_button(role: Role) -> bool {
    use Role::{Button, Checkbox, Clickable, Link, MenuItem, MenuItemCheckbox, MenuItemRadio, Radio, Switch};
    matches!(
        role,
        Button | Checkbox | Clickable | Link | MenuItem | MenuItemCheckbox | MenuItemRadio | Radio | Switch
    )
}
