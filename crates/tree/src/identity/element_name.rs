//! Names without counts. Each of these pairs stands for one button: `show 1 item` and `show 7
//! items`, `Cart (1)` and `Cart (2)`, a name with and without a badge. The numbers are compared as
//! part of the context.

use crate::identity::rows::numbers::is_plural;
use crate::identity::rows::numbers::{is_count, without_counts};
use crate::identity::rows::text;
use crate::{NodeRef, States};

/// Returns the name without counts and badges. A badge is a leaf that contains only a count and is
/// inside a child element.
///
/// `Page 3` keeps its number, because it is one leaf.
pub(crate) fn stable_name(node: NodeRef<'_>) -> String {
    if !node.is(States::NAME_FROM_CONTENT) {
        return strip_counts(node.name());
    }
    let leaves = text::leaves(node);
    let is_badge = |leaf: NodeRef<'_>, text: &str| is_count(text) && leaf.parent() != Some(node);
    if !leaves.iter().any(|(leaf, text)| is_badge(*leaf, text)) {
        return strip_counts(node.name());
    }
    let without_spaces =
        |s: &mut dyn Iterator<Item = char>| s.filter(|c| !c.is_whitespace()).collect::<String>();
    if without_spaces(&mut leaves.iter().flat_map(|(_, t)| t.chars()))
        == without_spaces(&mut node.name().chars())
    {
        let kept: Vec<&str> =
            leaves.iter().filter(|(l, t)| !is_badge(*l, t)).map(|(_, t)| t.as_ref()).collect();
        return strip_counts(&kept.join(" "));
    }
    // Part of the name comes from elsewhere (the text of an image): remove the words of the badges.
    let mut words: Vec<&str> = node.name().split_whitespace().collect();
    for (_, text) in leaves.iter().filter(|(l, t)| is_badge(*l, t)) {
        for word in text.split_whitespace() {
            if let Some(at) = words.iter().rposition(|w| *w == word) {
                words.remove(at);
            }
        }
    }
    strip_counts(&words.join(" "))
}

/// Words that follow the number of selected, unread or new items.
const SELECTION_WORDS: [&str; 5] = ["selected", "marked", "checked", "unread", "new"];

/// Removes counts from a name: parenthesized integers, numbers before a plural or a selection word,
/// and `1` before a singular. `show 7 items` and `show 1 item` become `show item`, and `3 selected`
/// becomes `selected`. `Page 3 of 12`, `Order 18` and `12 Main Street` keep their numbers.
fn strip_counts(name: &str) -> String {
    let name = without_counts(name);
    if !name.contains(|c: char| c.is_ascii_digit()) {
        return name;
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut words = name.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let noun = words.peek().filter(|_| is_count(word)).map(|next| next.trim_end_matches(PUNCTUATION));
        let Some(noun) = noun.filter(|things| things.chars().all(char::is_lowercase)) else {
            kept.push(word);
            continue;
        };
        if SELECTION_WORDS.contains(&noun) {
            continue;
        }
        match (word, noun.strip_suffix('s').filter(|_| is_plural(noun))) {
            (_, Some(one)) => kept.push(one),
            ("1", None) => kept.push(noun),
            _ => {
                kept.push(word);
                continue;
            }
        }
        words.next();
    }
    kept.join(" ")
}

/// Punctuation that ends a word.
const PUNCTUATION: [char; 5] = [',', '.', ':', ';', '…'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_name_drops_counts_and_keeps_numbers() {
        for (name, bare) in [
            ("show 0 items", "show item"),
            ("show 1 item", "show item"),
            ("show 99+ items", "show item"),
            ("3 comments", "comment"),
            ("Delete 3 selected", "Delete selected"),
            ("Inbox, 7 unread", "Inbox, unread"),
            ("Cart (2)", "Cart"),
            ("Page 3 of 12", "Page 3 of 12"),
            ("Order 18", "Order 18"),
            ("12 Main Street", "12 Main Street"),
            ("Room 3 address", "Room 3 address"),
            ("2 min", "2 min"),
        ] {
            assert_eq!(strip_counts(name), bare, "{name}");
        }
    }
}
