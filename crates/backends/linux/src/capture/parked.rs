//! Parts of a window that lie outside of it, where nobody can see or scroll to them.
//!
//! Qt puts the docks that lie behind another one, and the tabs of docks that are none any more, to a place left of and above
//! their window, and says that they are shown. A dock that floats is a window of its own, and Qt says of windows only that
//! they can be made larger.

use crate::model::Picture;
use crate::model::floating::floats;
use crate::model::roles::number as n;

/// The windows with such parts, and the parts: where they are is to be asked.
pub(super) fn asked(picture: &Picture) -> Vec<usize> {
    if !picture.toolkit.profile().parks_parts_outside {
        return Vec::new();
    }
    let mut out = Vec::new();
    for &window in &picture.root().children {
        let from = out.len();
        out.extend(parts(picture, window));
        if out.len() > from {
            out.push(window);
        }
    }
    out
}

/// Leaves out the parts that are not in their window.
pub(super) fn leave(picture: &mut Picture) {
    if !picture.toolkit.profile().parks_parts_outside {
        return;
    }
    for window in picture.root().children.clone() {
        let Some(frame) = picture.objects[window].extents.take() else { continue };
        for part in parts(picture, window).collect::<Vec<_>>() {
            let outside = picture.objects[part].extents.take().is_some_and(|place| apart(place, frame));
            if outside {
                for at in picture.inside(part).collect::<Vec<_>>() {
                    picture.objects[at].shown = false;
                }
            }
        }
    }
}

fn parts(picture: &Picture, window: usize) -> impl Iterator<Item = usize> + '_ {
    let part = |role| matches!(role, n::FRAME | n::PAGE_TAB_LIST);
    let objects = &picture.objects;
    let children = objects[window].children.iter().copied();
    let lies = move |at: usize| objects[at].shown && part(objects[at].role) && !floats(&objects[at]);
    children.filter(move |&at| objects[window].shown && lies(at))
}

/// Whether two places have nothing in common. One without a size is no place.
fn apart(a: [i32; 4], b: [i32; 4]) -> bool {
    let sized = |[_, _, width, height]: [i32; 4]| width > 0 && height > 0;
    let beyond = |a: [i32; 4], b: [i32; 4], at: usize| b[at] >= a[at].saturating_add(a[at + 2]);
    sized(a) && sized(b) && (0..2).any(|at| beyond(a, b, at) || beyond(b, a, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Object;
    use crate::model::states as s;
    use crate::toolkit::Toolkit;

    #[test]
    fn a_dock_outside_of_its_window_is_not_to_be_seen() {
        let object = |role, children: &[usize], extents| Object {
            role,
            children: children.to_vec(),
            extents,
            shown: true,
            ..Object::default()
        };
        let objects = vec![
            object(75, &[1], None),
            object(n::FRAME, &[2, 4, 5], Some([100, 80, 600, 400])),
            object(n::FRAME, &[3], Some([-675, -539, 296, 144])),
            object(n::PUSH_BUTTON, &[], None),
            object(n::FRAME, &[], Some([650, 90, 100, 50])),
            object(n::PUSH_BUTTON, &[], Some([-675, -539, 296, 144])),
        ];
        let mut picture = Picture { toolkit: Toolkit::Qt, objects, truncated: false };
        assert_eq!(asked(&picture), [2, 4, 1]);
        leave(&mut picture);
        let shown: Vec<usize> = (0..6).filter(|&at| picture.objects[at].shown).collect();
        assert_eq!(shown, [0, 1, 4, 5], "one that reaches out of its window, and a button, may be seen");
        assert!(picture.objects[4].extents.is_none());
    }

    #[test]
    fn a_dock_that_floats_lies_where_its_own_window_is() {
        let object = |states, children: &[usize], extents| Object {
            role: n::FRAME,
            states,
            children: children.to_vec(),
            extents,
            shown: true,
            ..Object::default()
        };
        let objects = vec![
            object(0, &[1], None),
            object(s::RESIZABLE, &[2], Some([100, 80, 600, 400])),
            object(s::RESIZABLE, &[], Some([800, 80, 200, 100])),
        ];
        let mut picture = Picture { toolkit: Toolkit::Qt, objects, truncated: false };
        assert!(asked(&picture).is_empty());
        leave(&mut picture);
        assert!(picture.objects[2].shown);
    }
}
