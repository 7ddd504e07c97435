//! `-i`: toolbars with more than a few buttons are one line.
//!
//! Forty formatting buttons above an editor are most of the bytes of its outline, and seldom what a reader is after:
//! `toolbar "Formatting" 12 buttons (snapshot -s @e7)`. Fields in a toolbar keep their lines. `--all` folds nothing, and a
//! toolbar that is asked for by `-s` is open.

use super::sketch::Sketch;
use crate::{NodeRef, Role};

/// A toolbar with more buttons is folded.
const MOST_BUTTONS: usize = 8;

/// The outermost toolbar of several that stand in each other counts the buttons of all.
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
