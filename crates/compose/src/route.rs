//! Which member an input is for.

use crate::ground::Ground;
use crate::handles::inner;
use crate::parts::Parts;
use stickpin_device::{Action, Error, ErrorCode, Result};
use stickpin_tree::Handle;

/// Who decides which member receives an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way {
    /// The element that it is meant for.
    Element(Handle),
    /// The window at a point of the screen.
    Point((f64, f64)),
    /// The keyboard: whoever was acted on last.
    Keys,
}

impl Way {
    /// Returns the way of an input.
    #[must_use]
    pub fn of(action: &Action) -> Self {
        match *action {
            Action::Press { point, target: None, .. } => Self::Point(point),
            Action::Drag { from, source: None, .. } => Self::Point(from),
            _ => action.targets().first().map_or(Self::Keys, |target| Self::Element(*target)),
        }
    }
}

/// Returns the element of another member that a drag is to end on.
pub(crate) fn ends_elsewhere(action: &Action, part: u64) -> Option<Handle> {
    match action {
        Action::Drag { target, .. } => target.filter(|target| inner(*target).0 != part),
        _ => None,
    }
}

/// Returns an input in the handles of a member; what is of another member it is not told.
pub(crate) fn for_part(action: &Action, part: u64) -> Action {
    let mut action = action.clone();
    action.retain_targets(|handle| {
        let (of, own) = inner(handle);
        (of == part).then_some(own)
    });
    action
}

/// Returns the one active window. Members say so themselves; where not exactly one does, the ground is asked.
///
/// # Errors
/// As [`Ground::active`].
pub(crate) async fn active<G: Ground>(
    ground: &mut G,
    parts: &mut Parts<G::Member>,
) -> Result<Option<(u64, Handle)>> {
    let all = parts.active_windows();
    let mut say = all.iter().filter(|(.., says)| *says);
    if let (Some(&(number, window, _)), None) = (say.next(), say.next()) {
        return Ok(Some((number, window)));
    }
    let active = ground.active(parts).await?;
    Ok(all.iter().find(|(number, ..)| Some(*number) == active).map(|&(number, window, _)| (number, window)))
}

/// Returns the member that keys without a target go to: the one that was acted on last, else that of the active window.
async fn keyboard<G: Ground>(ground: &mut G, parts: &mut Parts<G::Member>) -> Result<Option<u64>> {
    match parts.keys().filter(|&number| parts.has(number)) {
        Some(number) => Ok(Some(number)),
        None => Ok(active(ground, parts).await?.map(|(number, _)| number)),
    }
}

/// Returns the member that an input is for.
///
/// # Errors
/// `ELEMENT_OFFSCREEN` and `ELEMENT_NOT_FOUND` where there is none, and as [`Ground::beneath`].
pub(crate) async fn receiver<G: Ground>(
    ground: &mut G,
    parts: &mut Parts<G::Member>,
    action: &Action,
) -> Result<u64> {
    match Way::of(action) {
        Way::Element(handle) => Ok(inner(handle).0),
        Way::Point(point) => match ground.beneath(parts, point, "press with the pointer").await? {
            Some(there) => Ok(there.part),
            None => Err(Error::new(
                ErrorCode::ElementOffscreen,
                format!("no window of an app is at {:.0},{:.0}", point.0, point.1),
            )
            .hint("stickpin screenshot shows what is there")),
        },
        Way::Keys => keyboard(ground, parts).await?.ok_or_else(|| {
            Error::new(ErrorCode::ElementNotFound, format!("no app of the {} has the keyboard", G::NAME))
                .hint("name the element: stickpin type TARGET TEXT; stickpin snapshot -i lists them")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handles::outer;
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
        assert_eq!(for_part(&typed(Some(there)), 3), typed(Some(OWN)));
    }

    #[test]
    fn a_drag_to_another_member_is_told_to_the_first_as_a_point() {
        let drag = |source: Handle, target: Handle| Action::Drag {
            from: (0.0, 0.0),
            source: Some(source),
            to: (9.0, 9.0),
            target: Some(target),
        };
        let across = drag(outer(3, OWN), outer(4, OWN));
        assert_eq!(ends_elsewhere(&across, 3), Some(outer(4, OWN)));
        assert!(matches!(for_part(&across, 3), Action::Drag { source: Some(OWN), target: None, .. }));
        let within = drag(outer(3, OWN), outer(3, OWN));
        assert_eq!(ends_elsewhere(&within, 3), None);
        assert_eq!(for_part(&within, 3), drag(OWN, OWN));
    }
}
