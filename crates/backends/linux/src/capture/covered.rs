//! Windows of Firefox that show nothing. It says so of all that is in a window which others cover entirely, or which is
//! minimised; only the window itself goes on being shown.

use crate::model::Picture;
use crate::model::ids::Ids;
use crate::model::states as s;
use hashbrown::HashSet;
use stickpin_tree::Handle;

/// What is told in the place of what it shows.
pub(super) const NOTHING: &str = "shows nothing while other windows cover all of it: stickpin hover on this window brings it to the front, or move them";

/// Whether a window says of nothing in it that it is shown.
pub(super) fn shows_nothing(picture: &Picture, window: usize) -> bool {
    let objects = &picture.objects;
    let window = &objects[window];
    picture.toolkit.profile().hides_covered_windows
        && window.shown
        && !window.children.is_empty()
        && window.children.iter().all(|&child| !objects[child].shown)
}

/// Those of `watch` that may be in such a window: all that are not shown and not known to have ended. They come back with
/// what is in it.
pub(super) fn behind(picture: &Picture, ids: &Ids, watch: &[Handle]) -> Vec<Handle> {
    let decided = picture.objects.iter().filter(|object| object.shown || object.is(s::DEFUNCT));
    let decided: HashSet<&str> = decided.map(|object| object.path.as_str()).collect();
    let may_be = |handle: &Handle| ids.path(handle.id).is_some_and(|path| !decided.contains(&*path));
    watch.iter().copied().filter(may_be).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::tree::build;
    use crate::model::Object;
    use crate::model::ids::{APP, Where};
    use crate::model::roles::number as role;
    use crate::toolkit::Toolkit;
    use stickpin_tree::{Role, Tree};

    fn picture(toolkit: Toolkit, shown: bool) -> Picture {
        let object = |path: &str, role, shown, children: &[usize]| Object {
            path: path.to_owned(),
            name: path.to_owned(),
            role,
            shown,
            states: s::VISIBLE | s::ENABLED | if shown { s::SHOWING } else { 0 },
            children: children.to_vec(),
            ..Object::default()
        };
        let objects = vec![
            object("app", 75, true, &[1]),
            object("window", role::FRAME, true, &[2, 3]),
            object("menu", role::MENU, false, &[]),
            object("Reload", role::PUSH_BUTTON, shown, &[]),
        ];
        Picture { toolkit, objects, truncated: false }
    }

    fn statuses(tree: &Tree) -> Vec<&str> {
        tree.nodes().filter(|node| node.role() == Role::Status).map(|node| node.name()).collect()
    }

    #[test]
    fn what_a_covered_window_of_firefox_holds_is_hidden_and_it_is_said_why() {
        let ids = Ids::default();
        let handle = |ids: &Ids, path: &str| Handle { scope: APP, id: ids.id(path) };
        // Of a page that is not even listed while the window is covered, too.
        let (reload, link) = (handle(&ids, "Reload"), handle(&ids, "link of a page"));
        let watch = [reload, link];
        let of = |toolkit, shown| build(&picture(toolkit, shown), &ids, &Where::default(), &watch).unwrap();
        let covered = of(Toolkit::Gecko, false);
        assert_eq!((statuses(&covered), covered.hidden()), (vec![NOTHING], &watch[..]));
        let open = of(Toolkit::Gecko, true);
        assert_eq!((statuses(&open).len(), open.hidden().len()), (0, 0));
        assert!(open.find_handle(reload).is_some());
        // Other toolkits mean what they say.
        let other = of(Toolkit::Gtk3, false);
        assert_eq!((statuses(&other).len(), other.hidden()), (0, &watch[..1]));
    }

    #[test]
    fn what_has_ended_behind_it_is_gone() {
        let ids = Ids::default();
        let reload = Handle { scope: APP, id: ids.id("Reload") };
        let mut picture = picture(Toolkit::Gecko, false);
        picture.objects[3].states |= s::DEFUNCT;
        let tree = build(&picture, &ids, &Where::default(), &[reload]).unwrap();
        assert_eq!(tree.hidden(), []);
    }
}
