//! `-i`: folds a toolbar with more than a few buttons into one line.
//!
//! Forty formatting buttons above an editor take up most of the outline and are rarely what a
//! reader needs: `toolbar "Formatting" 12 buttons (snapshot -s @e7)`. Fields in a toolbar keep
//! their lines. `--all` folds nothing, and `-s` opens the toolbar that it names.

use super::draft::Draft;
use crate::{NodeRef, Role};

/// The maximum number of buttons of a toolbar that is not folded.
const MAX_BUTTONS: usize = 8;

/// Folds each toolbar with more than [`MAX_BUTTONS`] buttons, including those of toolbars inside
/// it.
pub(super) fn fold_toolbars(draft: &mut Draft<'_>) {
    let toolbars: Vec<NodeRef<'_>> =
        draft.nodes().filter(|n| n.role() == Role::Toolbar && !draft.is_scope(*n)).collect();
    for toolbar in toolbars {
        let inside = toolbar.subtree().skip(1);
        let buttons: Vec<NodeRef<'_>> =
            inside.filter(|n| is_button(n.role()) && draft.shows(*n) && !draft.is_dropped(*n)).collect();
        if buttons.len() > MAX_BUTTONS {
            buttons.iter().for_each(|button| draft.drop(*button));
            draft.show(toolbar);
            draft.set_folded(toolbar, buttons.len());
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
