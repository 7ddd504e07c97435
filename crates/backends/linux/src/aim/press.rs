//! Whether a press goes through an element's own action or the pointer, and where the pointer
//! presses.

use crate::app::{App, AppView};
use crate::model::{Facts, Interfaces, Object, ObjectTree, Point, is_menu, is_menu_item, role as n, roles};
use stickpin_tree::{Handle, Rect};

/// Returns whether an object is pressed through its action, not with the pointer. The action of its
/// role must have the effect of a press. If there is a pointer, it is used instead of these
/// actions:
///
/// - The actions of Qt's menu entries, which leave the menu open, so that the menu receives all
///   keys.
/// - Qt's `Toggle` action, which changes a check box or tool button without emitting `clicked` or
///   `triggered`, to which most apps respond.
/// - The actions of a GTK 3 app that is reached only over the bus. If such an action shows a dialog
///   from inside, the app locks up at the next key (`bus/orders.rs`).
pub(crate) fn presses_by_action(AppView { app, last }: AppView<'_>, at: usize) -> bool {
    let (object, profile) = (&last[at], app.profile());
    let turns = is_menu_item(object.role) || roles::is(object.role, Facts::CHECKED);
    let differs =
        profile.turns_without_click && turns || profile.locks_up_in_dialogs && !app.link.orders_apart();
    let acts = object.has(Interfaces::ACTION) && roles::is(object.role, Facts::PRESSED);
    acts && !(differs && app.screen.has_pointer())
}

/// Returns whether a captured element is pressed through its action.
pub(crate) fn is_by_action(view: AppView<'_>, target: Handle) -> bool {
    view.index(target).is_some_and(|at| presses_by_action(view, at))
}

/// Returns whether an object is a checkable group box of Qt, and there is a pointer to press the
/// box. A press inside the box reaches the controls that it contains.
pub(crate) fn is_group_box(app: &App, picture: &ObjectTree, object: &Object) -> bool {
    let is_control = |&child: &usize| !is_menu(picture[child].role);
    app.profile().boxes_hold_controls
        && app.screen.has_pointer()
        && object.role == n::CHECK_BOX
        && object.children.iter().any(is_control)
}

/// Returns the point where a press reaches an object. Check boxes and radio buttons of Qt have
/// their indicator at the leading edge and ignore presses beyond their text. A spin box of GTK 4
/// has its buttons after the text.
pub(crate) fn press_point(AppView { app, last }: AppView<'_>, at: usize, visible: Rect) -> Point {
    let (x, y) = visible.center();
    let object = &last[at];
    let profile = app.profile();
    let leads = profile.takes_presses_on_text_only && roles::is(object.role, Facts::CHECKED)
        || profile.spins_behind_text && object.role == n::SPIN_BUTTON;
    if !leads {
        return (x, y);
    }
    let top = visible.y + INSET.min(visible.height / 2.0);
    let y = if is_group_box(app, &last.picture, object) { top } else { y };
    (leading(visible, is_right_to_left(&object.name)), y)
}

/// The distance of a press, in pixels, from the leading edge, or from the top edge of a group box,
/// for elements that do not accept a press everywhere.
const INSET: f64 = 9.0;

/// Returns the x coordinate of a press at the leading edge.
fn leading(visible: Rect, right_to_left: bool) -> f64 {
    let inset = INSET.min(visible.width / 2.0);
    if right_to_left { visible.x + visible.width - inset } else { visible.x + inset }
}

/// Returns whether the first letter of a text is right-to-left, which determines the direction of
/// the layout.
fn is_right_to_left(text: &str) -> bool {
    let first = text.chars().find(|c| c.is_alphabetic());
    first.is_some_and(
        |c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_edge_is_where_the_text_begins() {
        let visible = Rect { x: 100.0, y: 0.0, width: 300.0, height: 20.0 };
        assert!((leading(visible, false) - 109.0).abs() < f64::EPSILON);
        assert!((leading(visible, true) - 391.0).abs() < f64::EPSILON);
        let narrow = Rect { width: 10.0, ..visible };
        assert!((leading(narrow, false) - 105.0).abs() < f64::EPSILON);
    }

    #[test]
    fn direction_is_that_of_the_first_letter() {
        assert!(is_right_to_left("1. \u{5e9}\u{5dc}\u{5d5}\u{5dd}") && is_right_to_left("\u{645}\u{631}"));
        assert!(!is_right_to_left("Wrap \u{645}") && !is_right_to_left("12") && !is_right_to_left(""));
    }
}
