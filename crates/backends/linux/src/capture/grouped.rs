//! Names that are only the title of the group around: Qt calls by it whatever stands in a group box and has no label. Several
//! fields would bear one name, which the group says already. The only thing in a box keeps it: it is what the box is about.

use crate::model::roles::{self, is_field, number as n};
use crate::model::{Object, Picture};
use crate::toolkit::Toolkit;
use hashbrown::{HashMap, HashSet};

/// Whether all that names an object is the title of the group box that it stands in.
pub(super) fn borrows(parent: &Object, object: &Object, toolkit: Toolkit) -> bool {
    let boxed = toolkit.profile().group_boxes_name_what_they_hold
        && parent.role == n::PANEL
        && !parent.name.trim().is_empty();
    boxed && (has_no_text(object.role) && object.name == parent.name || is_labelled_only_by(object, parent))
}

/// A combo box is called what is chosen in it.
fn is_labelled_only_by(object: &Object, parent: &Object) -> bool {
    object.role == n::COMBO_BOX && matches!(&*object.labelled_by, [one] if *one == parent.path)
}

/// Roles of what does not say itself what it is called, as a button does.
fn has_no_text(number: u32) -> bool {
    is_field(number) || matches!(number, n::SLIDER | n::DIAL | n::PROGRESS_BAR)
}

/// The objects of which such a title is no name: those with others beside them, or with a label of their own. `beside` is what
/// labels fields by its place.
pub(super) fn untitled<'p>(picture: &'p Picture, beside: &HashMap<&str, &str>) -> HashSet<&'p str> {
    let mut out = HashSet::new();
    if !picture.toolkit.profile().group_boxes_name_what_they_hold {
        return out;
    }
    for parent in picture.objects.iter().filter(|parent| parent.shown) {
        let shown = || parent.children.iter().map(|&at| &picture.objects[at]).filter(|object| object.shown);
        let is_label = |object: &Object| object.role == n::LABEL || roles::is_wrapper(object.role);
        let several = shown().filter(|object| !is_label(object)).nth(1).is_some();
        let borrowed = shown().filter(|object| borrows(parent, object, picture.toolkit));
        let paths = borrowed.map(|object| object.path.as_str());
        out.extend(paths.filter(|path| several || beside.contains_key(path)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A group box of Qt with these in it.
    fn group(inside: &[(u32, &str)]) -> Picture {
        let object = |role, name: &str, at: usize| Object {
            role,
            name: name.to_owned(),
            path: format!("/{at}"),
            shown: true,
            ..Object::default()
        };
        let mut objects = vec![object(75, "App", 0), object(n::PANEL, "Server", 1)];
        objects[0].children = vec![1];
        for &(role, name) in inside {
            let at = objects.len();
            objects.push(object(role, name, at));
            objects[1].children.push(at);
        }
        Picture { toolkit: Toolkit::Qt, objects, truncated: false }
    }

    fn untitled_of(picture: &Picture, beside: &HashMap<&str, &str>) -> Vec<String> {
        let mut paths: Vec<String> = untitled(picture, beside).into_iter().map(str::to_owned).collect();
        paths.sort_unstable();
        paths
    }

    #[test]
    fn a_title_names_none_of_several() {
        let fields = [(n::LABEL, "Name"), (n::TEXT, "Server"), (n::SLIDER, "Server"), (n::TEXT, "Port")];
        let mut picture = group(&fields);
        assert_eq!(untitled_of(&picture, &HashMap::new()), ["/3", "/4"]);
        picture.toolkit = Toolkit::Gtk3;
        assert!(untitled_of(&picture, &HashMap::new()).is_empty(), "there it was given");
    }

    #[test]
    fn the_only_thing_in_a_box_is_called_as_the_box_is() {
        let picture = group(&[(n::LABEL, "Write here"), (n::TEXT, "Server")]);
        assert!(untitled_of(&picture, &HashMap::new()).is_empty());
        assert_eq!(untitled_of(&picture, &HashMap::from([("/3", "Write here")])), ["/3"], "it has a label");
    }

    #[test]
    fn a_button_that_says_what_the_box_does_keeps_its_name() {
        let picture = group(&[(n::PUSH_BUTTON, "Server"), (n::TEXT, "Server")]);
        assert_eq!(untitled_of(&picture, &HashMap::new()), ["/3"]);
    }

    #[test]
    fn a_combo_box_is_labelled_by_the_box() {
        let mut picture = group(&[(n::COMBO_BOX, "a"), (n::PUSH_BUTTON, "Go")]);
        picture.objects[2].labelled_by = vec!["/1".to_owned()];
        assert_eq!(untitled_of(&picture, &HashMap::new()), ["/2"]);
        picture.objects[2].labelled_by.push("/3".to_owned());
        assert!(untitled_of(&picture, &HashMap::new()).is_empty());
    }
}
