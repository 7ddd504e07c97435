//! Recognizes file choosers and their path fields, and determines whether the choosers save. All
//! functions here are pure.

use crate::model::{Object, ObjectTree, is_field, role as n, states as s};
use crate::toolkit::profile::Chooser;
use std::path::PathBuf;

/// Returns whether a window is a file chooser.
pub(super) fn is_chooser(picture: &ObjectTree, window: usize) -> bool {
    let object = &picture[window];
    if !object.shown {
        return false;
    }
    let below = || shown_in(picture, window, |_| false).skip(1).map(|at| &picture[at]);
    match picture.profile().chooser {
        Chooser::Class(class) => below().any(|o| o.name == class),
        // A Qt chooser has no role of its own: it is a dialog with a path field and a combo box
        // that names the current folder.
        Chooser::Folder => {
            let folder = |o: &Object| o.role == n::COMBO_BOX && o.name.starts_with('/');
            object.role == n::DIALOG && below().any(folder) && path_field(picture, window).is_some()
        }
        Chooser::Role => object.role == n::FILE_CHOOSER || below().any(|o| o.role == n::FILE_CHOOSER),
    }
}

/// Returns the objects that are shown in a window, in tree order, without the content of skipped
/// roles.
fn shown_in<'p>(
    picture: &'p ObjectTree,
    window: usize,
    skips: impl Fn(u32) -> bool + 'p,
) -> impl Iterator<Item = usize> + 'p {
    let shown = picture.walk(window, move |object| object.shown && !skips(object.role));
    shown.filter(|&at| picture[at].shown)
}

/// Returns the path field: the first text field that is not in a list, table, tree or combo box.
pub(super) fn path_field(picture: &ObjectTree, window: usize) -> Option<usize> {
    let objects = &picture.objects;
    let holds = |role| matches!(role, n::COMBO_BOX | n::TREE | n::TABLE | n::TREE_TABLE | n::LIST);
    let takes = |&at: &usize| is_field(objects[at].role) && objects[at].role != n::PASSWORD;
    let at = shown_in(picture, window, holds).find(takes)?;
    // In GTK 4, the editable field is inside one that is not editable.
    let inner = objects[at].children.iter().find(|&&child| is_field(objects[child].role));
    Some(inner.copied().filter(|&child| objects[child].shown).unwrap_or(at))
}

/// Returns whether a GTK chooser, which other toolkits show as well, saves files. In a chooser that
/// saves, the name field precedes the list of places. In a chooser that opens files, the field, if
/// shown, follows the list.
pub(super) fn is_to_save_in(picture: &ObjectTree, window: usize) -> bool {
    let holds = |role| matches!(role, n::TABLE | n::TREE_TABLE | n::TREE);
    let mut roles = shown_in(picture, window, holds).map(|at| picture[at].role);
    let first = roles.find(|&role| is_field(role) || matches!(role, n::LIST | n::LIST_BOX));
    first.is_some_and(is_field) && roles.any(|role| matches!(role, n::LIST | n::LIST_BOX))
}

/// Returns whether a Qt chooser opens files, according to its English buttons; `None` if there is
/// no such button, as in other languages. A chooser that saves shows "Open" while its field names a
/// folder.
pub(super) fn says_it_opens(picture: &ObjectTree, window: usize) -> Option<bool> {
    let named = |name: &str| behind_the_field(picture, window).any(|button| button.name == name);
    if named("Save") { Some(false) } else { named("Open").then_some(true) }
}

/// Returns whether a Qt chooser accepts the name in its field: no button after the field is
/// disabled.
pub(super) fn takes_the_name(picture: &ObjectTree, window: usize) -> bool {
    behind_the_field(picture, window).all(|button| !s::is_disabled(button.states, picture.toolkit))
}

/// Returns the buttons that follow a chooser's path field.
fn behind_the_field(picture: &ObjectTree, window: usize) -> impl Iterator<Item = &Object> {
    let field = path_field(picture, window);
    let behind = picture.inside(window).skip_while(move |&at| Some(at) != field);
    behind.map(|at| &picture[at]).filter(|object| object.shown && object.role == n::PUSH_BUTTON)
}

/// Formats paths for a chooser: one unchanged, several in quotes.
pub(super) fn as_text(files: &[PathBuf]) -> String {
    match files {
        [one] => one.to_string_lossy().into_owned(),
        several => several.iter().map(|file| format!("\"{}\"", file.display())).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolkit::profile::Toolkit;

    fn object(role: u32, name: &str, children: &[usize]) -> Object {
        Object { role, name: name.to_owned(), children: children.to_vec(), shown: true, ..Object::default() }
    }

    #[test]
    fn a_chooser_is_told_by_what_its_toolkit_says_of_it() {
        let of = |toolkit, objects: Vec<Object>| {
            let picture = ObjectTree { toolkit, objects, truncated: false };
            (is_chooser(&picture, 1), path_field(&picture, 1))
        };
        let app = || object(75, "app", &[1]);
        let gtk3 = vec![app(), object(n::FILE_CHOOSER, "Open", &[2]), object(n::PANEL, "", &[])];
        assert_eq!(of(Toolkit::Gtk3, gtk3), (true, None));
        let gtk4 = |name| {
            vec![
                app(),
                object(n::FILLER, "Open", &[2]),
                object(n::FILLER, name, &[3, 4]),
                object(n::ENTRY, "", &[5]),
                object(n::ENTRY, "", &[]),
                object(n::TEXT, "", &[]),
            ]
        };
        assert_eq!(of(Toolkit::Gtk4, gtk4("GtkFileChooserWidget")), (true, Some(5)));
        assert!(!of(Toolkit::Gtk4, gtk4("Notes")).0);
        let qt = |folder| {
            vec![
                app(),
                object(n::DIALOG, "Open", &[2, 3, 5]),
                object(n::COMBO_BOX, folder, &[]),
                object(n::TREE, "Files", &[4]),
                object(n::TEXT, "a name that is being written", &[]),
                object(n::TEXT, "File name:", &[]),
            ]
        };
        assert_eq!(of(Toolkit::Qt, qt("/home")), (true, Some(5)));
        assert!(!of(Toolkit::Qt, qt("Normal")).0);
    }

    #[test]
    fn a_chooser_to_save_in_has_its_field_before_the_places() {
        let saves = |toolkit, order: &[usize]| {
            let objects = vec![
                object(75, "app", &[1]),
                object(n::FILE_CHOOSER, "Choose", order),
                object(n::TEXT, "", &[]),
                object(n::LIST_BOX, "", &[]),
                object(n::TABLE, "", &[5]),
                object(n::TEXT, "a name that is being written", &[]),
            ];
            is_to_save_in(&ObjectTree { toolkit, objects, truncated: false }, 1)
        };
        for toolkit in [Toolkit::Gtk3, Toolkit::Gtk4, Toolkit::Gecko, Toolkit::Office] {
            assert!(saves(toolkit, &[2, 3, 4]));
            assert!(!saves(toolkit, &[3, 2, 4]), "the field that Control+l shows");
            assert!(!saves(toolkit, &[3, 4]) && !saves(toolkit, &[4, 3]));
        }
    }

    #[test]
    fn a_chooser_of_qt_to_save_in_takes_a_name_that_no_file_has() {
        let of = |name: &str, states| {
            let objects = vec![
                object(75, "app", &[1]),
                object(n::DIALOG, "Choose", &[2, 3, 4, 5]),
                // The button precedes the field and is unrelated to the name.
                object(n::PUSH_BUTTON, "Open", &[]),
                object(n::TEXT, "File name:", &[]),
                Object { states, ..object(n::PUSH_BUTTON, name, &[]) },
                Object { states: s::ENABLED, ..object(n::PUSH_BUTTON, "Cancel", &[]) },
            ];
            let picture = ObjectTree { toolkit: Toolkit::Qt, objects, truncated: false };
            (says_it_opens(&picture, 1), takes_the_name(&picture, 1))
        };
        assert_eq!(of("Save", s::ENABLED), (Some(false), true));
        assert_eq!(of("Open", s::ENABLED), (Some(true), true));
        assert_eq!(of("Sichern", s::ENABLED), (None, true));
        assert_eq!(of("Attach", 0), (None, false), "it wants a file that is there");
    }

    #[test]
    fn several_paths_are_in_quotes() {
        assert_eq!(as_text(&["/a b".into()]), "/a b");
        assert_eq!(as_text(&["/a b".into(), "/c".into()]), "\"/a b\" \"/c\"");
    }
}
