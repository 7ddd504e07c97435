//! Names of unlabeled fields: the text of an adjacent label, but not the title of the enclosing
//! group.
//!
//! Qt names everything in a group box after the title of the box, unless the object has a label.
//! Several fields would then share one name, which the group already provides. An element keeps
//! this name only if it is alone in the box, because the box is then about that element.

use crate::model::{Object, ObjectTree, is_field, names, role as n, roles};
use crate::toolkit::profile::Toolkit;
use hashbrown::{HashMap, HashSet};

/// The maximum distance between a field and the label above it, in pixels.
const ABOVE: i32 = 24;

/// Returns labels for fields without a name, by the path of the field: the nearest label to the
/// left on the same line, otherwise the nearest one directly above. Only siblings of the field
/// count.
pub(super) fn of_fields(picture: &ObjectTree) -> HashMap<&str, &str> {
    let mut out = HashMap::new();
    for parent in picture.objects.iter().filter(|parent| parent.shown) {
        let shown = || picture.children(parent).filter(|object| object.shown);
        let labels: Vec<(&Object, [i32; 4])> =
            shown().filter(|o| o.role == n::LABEL).filter_map(|o| Some((o, o.extents?))).collect();
        // GTK 4 names a field without a name after its class.
        let classed = |o: &Object| {
            is_field(o.role) && names::clean_name(&o.name, picture.toolkit, false, "").is_empty()
        };
        let nameless = |o: &&Object| takes_label(parent, o, picture.toolkit) || classed(o);
        let fields: Vec<[i32; 4]> = shown().filter(nameless).filter_map(|o| o.extents).collect();
        let unlabelled = |o: &&Object| o.labelled_by.is_empty() || borrows_name(parent, o, picture.toolkit);
        for field in shown().filter(|o| nameless(o) && unlabelled(o)) {
            let Some([left, top, width, height]) = field.extents else { continue };
            // Labels on the same line come before those above.
            let distance = |[x, y, w, h]: [i32; 4]| {
                let middle = y.saturating_add(h / 2);
                let in_line = middle >= top && middle <= top.saturating_add(height);
                let gap = left.saturating_sub(x.saturating_add(w));
                // A label applies only to the first field after it.
                let between = |&[fx, fy, _, fh]: &[i32; 4]| {
                    fx >= x.saturating_add(w) && fx < left && middle >= fy && middle <= fy.saturating_add(fh)
                };
                let before = in_line && gap >= 0 && !fields.iter().any(between);
                let rise = top.saturating_sub(y.saturating_add(h));
                let across = x < left.saturating_add(width) && left < x.saturating_add(w);
                let over = across && (0..=ABOVE).contains(&rise);
                before.then_some((0, gap)).or(over.then_some((1, rise)))
            };
            let near = labels.iter().filter_map(|(label, at)| Some((distance(*at)?, *label)));
            if let Some((_, label)) = near.min_by_key(|(distance, _)| *distance) {
                let text =
                    label.text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or(&label.name);
                out.insert(field.path.as_str(), text.trim());
            }
        }
    }
    out.retain(|_, label| !label.is_empty());
    out
}

/// Returns whether an adjacent label may name an object: one without a name of its own, or one that
/// only the title of its group box names. A combo box always qualifies, because its own name may be
/// the selected option.
pub(super) fn takes_label(parent: &Object, object: &Object, toolkit: Toolkit) -> bool {
    let control = is_field(object.role) || object.role == n::SLIDER;
    let unnamed = control && object.name.is_empty() || object.role == n::COMBO_BOX;
    unnamed || borrows_name(parent, object, toolkit)
}

/// Returns whether an object is named only by the title of its group box.
fn borrows_name(parent: &Object, object: &Object, toolkit: Toolkit) -> bool {
    let boxed = toolkit.profile().group_boxes_name_what_they_hold
        && parent.role == n::PANEL
        && !parent.name.trim().is_empty();
    // Roles without a text that names them, unlike buttons.
    let textless = is_field(object.role) || matches!(object.role, n::SLIDER | n::DIAL | n::PROGRESS_BAR);
    // A combo box is named after its selected option.
    let labelled = object.role == n::COMBO_BOX && *object.labelled_by == [parent.path.clone()];
    boxed && (textless && object.name == parent.name || labelled)
}

/// Returns the objects whose group title does not count as a name: those that share the box with
/// elements other than labels, or have an adjacent label in `beside`.
pub(super) fn untitled<'p>(picture: &'p ObjectTree, beside: &HashMap<&str, &str>) -> HashSet<&'p str> {
    let mut out = HashSet::new();
    if !picture.profile().group_boxes_name_what_they_hold {
        return out;
    }
    for parent in picture.objects.iter().filter(|parent| parent.shown) {
        let shown = || picture.children(parent).filter(|object| object.shown);
        let is_label = |object: &Object| object.role == n::LABEL || roles::is_wrapper(object.role);
        let several = shown().filter(|object| !is_label(object)).nth(1).is_some();
        let borrowed = shown().filter(|object| borrows_name(parent, object, picture.toolkit));
        let paths = borrowed.map(|object| object.path.as_str());
        out.extend(paths.filter(|path| several || beside.contains_key(path)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a Qt group box that contains these objects.
    fn group(inside: &[(u32, &str)]) -> ObjectTree {
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
        ObjectTree { toolkit: Toolkit::Qt, objects, truncated: false }
    }

    fn untitled_of(picture: &ObjectTree, beside: &HashMap<&str, &str>) -> Vec<String> {
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
