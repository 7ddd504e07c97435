//! Compares and joins texts for the passes.

/// Returns whether a text and a name are equal, apart from colons, asterisks and spaces at the end.
pub(super) fn is_same_text(text: &str, name: &str) -> bool {
    strip_label_mark(text) == strip_label_mark(name)
}

/// Returns a text without trailing colons, asterisks and spaces, unless nothing else remains.
pub(super) fn strip_label_mark(text: &str) -> &str {
    let bare = text.trim_end_matches([':', '*', ' ']);
    if bare.is_empty() { text } else { bare }
}

/// Returns the texts of all leaves below a node, joined into one text.
pub(super) fn text_of(node: crate::NodeRef<'_>) -> String {
    let mut out = String::new();
    for leaf in node.subtree().filter(|n| n.is_text()) {
        join(&mut out, leaf.name());
    }
    out
}

/// Appends a text after a space, except before punctuation that closes a phrase.
pub(super) fn join(out: &mut String, text: &str) {
    if !out.is_empty() && !text.starts_with(['.', ',', ';', ':', '!', '?', ')', ']', '%', '…']) {
        out.push(' ');
    }
    out.push_str(text);
}
