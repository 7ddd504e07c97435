//! Which app an input is for. Pure.

use super::merge::inner;
use stickpin_device::Action;
use stickpin_tree::Handle;

/// Who decides which app receives an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// The element that it is meant for.
    Element(Handle),
    /// The window at a point of the screen.
    Point((f64, f64)),
    /// The keyboard: whoever was acted on last.
    Keys,
}

impl Way {
    /// The way of an input.
    pub(super) fn of(action: &Action) -> Self {
        match *action {
            Action::Press { point, target, .. } => target.map_or(Self::Point(point), Self::Element),
            Action::Drag { from, source, .. } => source.map_or(Self::Point(from), Self::Element),
            Action::Fill { target, .. }
            | Action::Select { target, .. }
            | Action::Choose { target, .. }
            | Action::Upload { target, .. }
            | Action::Drop { target, .. } => Self::Element(target),
            Action::Type { target, .. } | Action::Scroll { target, .. } => {
                target.map_or(Self::Keys, Self::Element)
            }
            Action::Key { .. } => Self::Keys,
        }
    }
}

/// The element of another app that a drag is to end on.
pub(super) fn ends_elsewhere(action: &Action, app: u64) -> Option<Handle> {
    match action {
        Action::Drag { target, .. } => target.filter(|target| inner(*target).0 != app),
        _ => None,
    }
}

/// The same input in the handles of an app; what is of another app it is not told.
pub(super) fn for_app(action: &Action, app: u64) -> Action {
    let own = |handle: Option<Handle>| handle.map(inner).filter(|(of, _)| *of == app).map(|(_, own)| own);
    let mut action = action.clone();
    match &mut action {
        Action::Press { target, .. } | Action::Type { target, .. } | Action::Scroll { target, .. } => {
            *target = own(*target);
        }
        Action::Drag { source, target, .. } => (*source, *target) = (own(*source), own(*target)),
        Action::Fill { target, .. }
        | Action::Select { target, .. }
        | Action::Choose { target, .. }
        | Action::Upload { target, .. }
        | Action::Drop { target, .. } => *target = inner(*target).1,
        Action::Key { .. } => {}
    }
    action
}

#[cfg(test)]
mod tests {
    use super::super::merge::outer;
    use super::*;
    use stickpin_device::Modifiers;

    const OWN: Handle = Handle { scope: 1, id: 5 };

    #[test]
    fn an_input_goes_where_its_element_is_else_to_the_point_else_to_the_keyboard() {
        let there = outer(3, OWN);
        assert_eq!(Way::of(&Action::press((1.0, 2.0), Some(there))), Way::Element(there));
        assert_eq!(Way::of(&Action::press((1.0, 2.0), None)), Way::Point((1.0, 2.0)));
        let key = Action::Key { modifiers: Modifiers::default(), key: "a".to_owned() };
        assert_eq!(Way::of(&key), Way::Keys);
        let typed = |target| Action::Type { target, text: String::new() };
        assert_eq!(Way::of(&typed(None)), Way::Keys);
        assert_eq!(Way::of(&typed(Some(there))), Way::Element(there));
        assert_eq!(for_app(&typed(Some(there)), 3), typed(Some(OWN)));
    }

    #[test]
    fn a_drag_to_another_app_is_told_to_the_first_as_a_point() {
        let drag = |source: Handle, target: Handle| Action::Drag {
            from: (0.0, 0.0),
            source: Some(source),
            to: (9.0, 9.0),
            target: Some(target),
        };
        let across = drag(outer(3, OWN), outer(4, OWN));
        assert_eq!(ends_elsewhere(&across, 3), Some(outer(4, OWN)));
        assert!(matches!(for_app(&across, 3), Action::Drag { source: Some(OWN), target: None, .. }));
        let within = drag(outer(3, OWN), outer(3, OWN));
        assert_eq!(ends_elsewhere(&within, 3), None);
        assert_eq!(for_app(&within, 3), drag(OWN, OWN));
    }
}
