//! Texts as the passes compare and join them.

/// Whether two lines that say the same are one too many.
pub(super) fn says_the_same(text: &str, name: &str) -> bool {
    bare(text) == bare(name)
}

/// A text without its decoration, a trailing colon or asterisk. Where it is nothing else, that is what it says.
pub(super) fn bare(text: &str) -> &str {
    let bare = text.trim_end_matches([':', '*', ' ']);
    if bare.is_empty() { text } else { bare }
}

/// Every text leaf below a node, joined as it is read.
pub(super) fn text_of(node: crate::NodeRef<'_>) -> String {
    let mut out = String::new();
    for leaf in node.subtree().filter(|n| n.is_text()) {
        join(&mut out, leaf.name());
    }
    out
}

/// Appends a text with a space between, but none before what closes a phrase.
pub(super) fn join(out: &mut String, text: &str) {
    if !out.is_empty() && !text.starts_with(['.', ',', ';', ':', '!', '?', ')', ']', '%', '…']) {
        out.push(' ');
    }
    out.push_str(text);
}
