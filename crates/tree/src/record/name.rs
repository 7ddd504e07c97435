//! Names, counts aside: `Cart (1)` and `Cart (2)`, or a button with a badge in it, are the same button.

use super::text;
use super::volatile::{is_count, without_counts};
use crate::{NodeRef, States};

/// The name without parenthesised integers and without child leaves that are only a number.
///
/// Only text that a badge holds by itself is left out: `Page 3` keeps its number, for it is one leaf.
pub(super) fn stable_name(node: NodeRef<'_>, join: bool) -> String {
    if !node.is(States::NAME_FROM_CONTENT) {
        return without_counts(node.name());
    }
    let leaves = text::leaves(node, join);
    let is_badge = |leaf: NodeRef<'_>, text: &str| is_count(text) && leaf.parent() != Some(node);
    if !leaves.iter().any(|(leaf, text)| is_badge(*leaf, text)) {
        return without_counts(node.name());
    }
    let glued = |s: &mut dyn Iterator<Item = char>| s.filter(|c| !c.is_whitespace()).collect::<String>();
    if glued(&mut leaves.iter().flat_map(|(_, t)| t.chars())) == glued(&mut node.name().chars()) {
        let kept: Vec<&str> =
            leaves.iter().filter(|(l, t)| !is_badge(*l, t)).map(|(_, t)| t.as_ref()).collect();
        return without_counts(&kept.join(" "));
    }
    // Part of the name comes from elsewhere (an image's text): take the badges' words out of it.
    let mut words: Vec<&str> = node.name().split_whitespace().collect();
    for (_, text) in leaves.iter().filter(|(l, t)| is_badge(*l, t)) {
        for word in text.split_whitespace() {
            if let Some(at) = words.iter().rposition(|w| *w == word) {
                words.remove(at);
            }
        }
    }
    without_counts(&words.join(" "))
}
