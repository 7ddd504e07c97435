//! Accessible names without toolkit artifacts.
//!
//! GTK 4.8 names a widget without a name after its class (`GtkMenuButton`, `AdwGizmo`), and repeats
//! a label that is both content and name (`7 7`).

use crate::toolkit::profile::Toolkit;

/// Returns the name of an object without toolkit artifacts. `wrapper` states whether objects of its
/// role usually have no name; `content` is the text of the labels inside the object.
pub(crate) fn clean_name<'a>(name: &'a str, toolkit: Toolkit, wrapper: bool, content: &str) -> &'a str {
    let name = name.trim();
    let prefixes = toolkit.profile().class_prefixes;
    if prefixes.is_empty() {
        return name;
    }
    if is_class(name, prefixes, wrapper) && name != content {
        return "";
    }
    // `_Open Open`: the label with its mnemonic, followed by its text.
    if !content.is_empty()
        && name.strip_suffix(content).is_some_and(|rest| rest.trim_end().replace('_', "") == content)
    {
        return &name[name.len() - content.len()..];
    }
    match name.split_at_checked(name.len() / 2) {
        Some((half, rest)) if rest.strip_prefix(' ') == Some(half) && ["", half].contains(&content) => half,
        _ => name,
    }
}

/// Returns whether a name is that of a class, such as `GtkButton` or `EditorSourceView`; for
/// wrappers, also whether it is any name in camel case, such as `HistoryView`.
fn is_class(name: &str, prefixes: &[&str], wrapper: bool) -> bool {
    let upper = |c: char| c.is_ascii_uppercase();
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    // A Python class: `module+Class`.
    if let Some((module, class)) = name.split_once('+') {
        return plain(module) && plain(class) && class.starts_with(upper);
    }
    let of_library = |library| name.strip_prefix(library).is_some_and(|rest: &str| rest.starts_with(upper));
    let camel = || name.starts_with(upper) && name.matches(upper).count() > 1;
    plain(name) && (prefixes.iter().any(of_library) || has_three_words(name) || (wrapper && camel()))
}

/// Returns whether a name consists of three or more capitalized words and nothing else, as class
/// names do.
fn has_three_words(name: &str) -> bool {
    let mut behind_capitals = name.split(|c: char| c.is_ascii_uppercase());
    let small = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_lowercase());
    behind_capitals.next() == Some("") && behind_capitals.clone().all(small) && behind_capitals.count() >= 3
}

/// Returns a tooltip as plain text. Qt passes on rich text.
pub(crate) fn clean_description(text: &str) -> String {
    let text = text.trim();
    if !(text.starts_with('<') && text.contains('>')) {
        return text.to_owned();
    }
    let behind_tags = text.split('<').filter_map(|part| Some(part.split_once('>')?.1));
    behind_tags.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Formats a number without meaningless decimals.
pub(crate) fn number(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    // Avoids `-0`.
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_are_no_names() {
        let clean = |name, wrapper| clean_name(name, Toolkit::Gtk4, wrapper, "");
        assert_eq!(clean("GtkMenuButton", false), "");
        assert_eq!(clean("AdwGizmo", true), "");
        assert_eq!(clean("HistoryView", true), "");
        // A name that a developer may have chosen.
        assert_eq!(clean("HistoryView", false), "HistoryView");
        assert_eq!(clean("EditorSourceView", false), "");
        assert_eq!(clean_name("OpenStreetMap", Toolkit::Gtk4, false, "OpenStreetMap"), "OpenStreetMap");
        for name in
            ["YouTube", "PIN", "ID", "SaveAsPDF", "Open Street Map", "OpenStreetMap2", "openStreetMap"]
        {
            assert_eq!(clean(name, false), name);
        }
        assert_eq!(clean("Gtk", false), "Gtk");
        assert_eq!(clean("Gtk+", false), "Gtk+");
        assert_eq!(clean("History", true), "History");
        assert_eq!(clean("__main__+SongRow", false), "");
        assert_eq!(clean("notes_list+Row", false), "");
        assert_eq!(clean("1+1", false), "1+1");
        assert_eq!(clean("+A", false), "+A");
        assert_eq!(clean("A+", true), "A+");
        assert_eq!(clean("Rock + Roll", false), "Rock + Roll");
        // The name is the visible text.
        assert_eq!(clean_name("GtkButton", Toolkit::Gtk4, false, "GtkButton"), "GtkButton");
        assert_eq!(clean_name("GtkButton", Toolkit::Gtk3, false, ""), "GtkButton");
    }

    #[test]
    fn what_is_said_twice_is_said_once() {
        let clean = |name, content| clean_name(name, Toolkit::Gtk4, false, content);
        assert_eq!(clean("7 7", "7"), "7");
        assert_eq!(clean("÷ ÷", "÷"), "÷");
        assert_eq!(clean("Save as Save as", ""), "Save as");
        assert_eq!(clean("7 8", "7"), "7 8");
        assert_eq!(clean("_Open Open", "Open"), "Open");
        assert_eq!(clean("Save _as Save as", "Save as"), "Save as");
        assert_eq!(clean("Re Open", "Open"), "Re Open");
        // The label has this text.
        assert_eq!(clean("bye bye", "bye bye"), "bye bye");
        assert_eq!(clean("", ""), "");
        assert_eq!(clean(" ", ""), "");
        assert_eq!(clean_name("7 7", Toolkit::Qt, false, "7"), "7 7");
    }

    #[test]
    fn rich_text_is_read_without_its_marks() {
        assert_eq!(clean_description("<p style='x'>Count (of <b>words</b>)</p>"), "Count (of words )");
        assert_eq!(clean_description(" a < b > c "), "a < b > c");
        assert_eq!(clean_description("<b"), "<b");
    }

    #[test]
    fn numbers_have_no_more_digits_than_they_need() {
        assert_eq!(number(3.0), "3");
        assert_eq!(number(0.1 + 0.2), "0.3");
        assert_eq!(number(-0.0), "0");
        assert_eq!(number(-1.5), "-1.5");
    }
}
