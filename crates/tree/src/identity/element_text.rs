//! The words of an element without a name: the texts inside a clickable serve as its name.
//!
//! Situations: a wrapper used as a button changes from `Subscribe` to `Delete account`. A list of
//! clickable wrappers shows the next page in the same nodes. A renamed wrapper is another element.
//! A counter in a wrapper, such as `Likes 3`, a relative time beside its title, or an answer that
//! unfolds below a question does not make it another element.
//!
//! This rule applies only to actionable elements without an accessible name, without other controls
//! inside, and with at most two texts. A heading names its box whatever text is below it. A whole
//! card is identified by its row.

use hashbrown::HashMap;

use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::identity::rows::numbers::{is_plural, is_volatile, without_counts};
use crate::identity::rows::text::{is_field, leaf_text};
use crate::identity::step_count;
use crate::{NodeRef, Role, States, Tree};

/// The maximum number of texts that serve as a name; more are the content of a card.
const MAX_TEXTS: usize = 2;

/// The maximum number of nodes below an element whose texts may serve as its name. A larger element
/// is a container.
const MAX_NODES: usize = 200;

/// The words of an element without a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamelessText {
    pub(crate) text: Box<str>,
    /// The text for messages: without counts, unless nothing else is left.
    pub(crate) label: Box<str>,
    /// A fingerprint of the texts without counts, or of an empty text if the texts are only counts.
    pub(crate) stable: Fingerprint,
    /// A fingerprint of each text.
    pub(crate) texts: Box<[Fingerprint]>,
}

/// The number of elements per role and words, ignoring counts.
pub(crate) type SharedTexts = HashMap<(Role, Fingerprint), u32>;

impl NamelessText {
    /// Returns the words of an element. `None` if the element has a name, is not actionable,
    /// contains no text, is more than a button, or contains text that a person writes or that
    /// changes by itself.
    pub(crate) fn of(element: NodeRef<'_>) -> Option<Self> {
        if !element.is(States::ACTIONABLE) || !element.name().is_empty() || is_user_or_live_text(element) {
            return None;
        }
        let mut said: Vec<(String, bool)> = Vec::new();
        let mut heading: Option<NodeRef<'_>> = None;
        for (count, node) in element.subtree().skip(1).enumerate() {
            step_count::count_step();
            if count >= MAX_NODES
                || node.is(States::ACTIONABLE)
                || node.role().is_control()
                || is_user_or_live_text(node)
            {
                return None;
            }
            if node.role() == Role::Heading {
                if heading.is_some() {
                    return None;
                }
                heading = Some(node);
            }
            let text = if node.is_text() {
                leaf_text(node).map(std::borrow::Cow::into_owned)
            } else if node.role() == Role::Image && !node.name().is_empty() {
                Some(node.name().to_owned())
            } else {
                None
            };
            // A count in a separate element is a badge.
            let badge = node.parent() != Some(element);
            said.extend(text.map(|t| (t, badge || node.parent().is_some_and(|p| p.is(States::TIME)))));
        }
        if let Some(heading) = heading {
            said = vec![(heading.name().to_owned(), false)];
        }
        if said.is_empty() || said.len() > MAX_TEXTS {
            return None;
        }
        let words = said.iter().filter(|(text, badge)| !(*badge && is_volatile(text)));
        let mut words: Vec<&str> = words.map(|(text, _)| text.as_str()).collect();
        if words.is_empty() {
            words = said.iter().map(|(text, _)| text.as_str()).collect();
        }
        let stable: Vec<String> = words.iter().map(|text| strip_counter(text)).collect();
        let stable = stable.join(" ").trim().to_owned();
        let texts: Vec<&str> = said.iter().map(|(text, _)| text.as_str()).collect();
        let text: Box<str> = texts.join(" ").into();
        Some(Self {
            stable: Fingerprint::of(TextKind::Name, &stable),
            label: if stable.is_empty() { text.clone() } else { stable.into() },
            text,
            texts: texts.iter().map(|text| Fingerprint::of(TextKind::Text, text)).collect(),
        })
    }

    /// Counts the nameless elements of a tree per role and words.
    pub(crate) fn count_shared(tree: &Tree) -> SharedTexts {
        let mut shared = SharedTexts::new();
        for node in tree.nodes().filter(|n| n.is(States::ACTIONABLE)) {
            if let Some(words) = Self::of(node) {
                *shared.entry((node.role(), words.stable)).or_default() += 1;
            }
        }
        shared
    }
}

/// Returns the words that serve as the name of a nameless element: one that can be pressed and has
/// little content.
#[must_use]
pub fn words(element: NodeRef<'_>) -> Option<Box<str>> {
    NamelessText::of(element).map(|words| words.text)
}

/// Returns whether a person writes the text of a node, or the text changes by itself.
fn is_user_or_live_text(node: NodeRef<'_>) -> bool {
    is_field(node) || node.is(States::LIVE)
}

/// Removes the count from a text: `Likes 3` and `3 likes` become `Likes` and `likes`, `Cart (2)`
/// becomes `Cart`. A number after a word that is not a plural belongs to the word: `Order 18`.
fn strip_counter(text: &str) -> String {
    let text = without_counts(text);
    let mut words: Vec<&str> = text.split(' ').collect();
    if words.len() == 1 && is_counter(words[0]) {
        return String::new();
    }
    if let [.., word, last] = words[..]
        && is_counter(last)
        && is_plural(word)
    {
        words.pop();
    } else if let [first, word, ..] = words[..]
        && is_counter(first)
        && word.starts_with(char::is_lowercase)
    {
        words.remove(0);
    }
    words.join(" ")
}

/// Returns whether a word is a counter: `3`, `99+`, `1,204`, `1.2k`.
fn is_counter(word: &str) -> bool {
    let digits = word.trim_end_matches('+').trim_end_matches(['k', 'K', 'm', 'M']);
    digits.len() <= 9
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == ',' || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;

    #[test]
    fn strip_counter_drops_counters_and_keeps_numbers() {
        for (text, stable) in [
            ("Likes 3", "Likes"),
            ("Likes: 1.2k", "Likes:"),
            ("3 comments", "comments"),
            ("Cart (2)", "Cart"),
            ("7", ""),
            ("99+", ""),
            ("Order 18", "Order 18"),
            ("Address 3", "Address 3"),
            ("12 Main Street", "12 Main Street"),
            ("949-379-8345", "949-379-8345"),
            ("2027-02-14", "2027-02-14"),
            ("Subscribe", "Subscribe"),
        ] {
            assert_eq!(strip_counter(text), stable, "{text}");
        }
    }

    /// Returns the words of the first clickable of a page.
    fn first_clickable_words(page: &str) -> Option<String> {
        let tree = tree(&format!("page \"P\" http://h/\n{page}"));
        let clickable = tree.nodes().find(|n| n.role() == Role::Clickable)?;
        NamelessText::of(clickable).map(|words| words.text.into())
    }

    #[test]
    fn nameless_text_of_small_elements_but_not_containers() {
        assert_eq!(first_clickable_words("  clickable\n    text \"Mute\"").as_deref(), Some("Mute"));
        assert_eq!(first_clickable_words("  clickable\n    img \"Trash\"").as_deref(), Some("Trash"));
        let two = "  clickable\n    text \"Inbox\"\n    generic\n      text \"4\"";
        assert_eq!(first_clickable_words(two).as_deref(), Some("Inbox 4"));
        let third = format!("{two}\n    generic\n      text \"new\"");
        assert_eq!(first_clickable_words(&third), None);
        let titled = "  clickable\n    heading \"Pay?\"*\n    text \"a\"\n    generic\n      text \"b\"";
        assert_eq!(first_clickable_words(titled).as_deref(), Some("Pay?"));
        for inside in ["button \"Buy\"*", "textbox \"Name\"", "status live", "heading \"Other\"*"] {
            assert_eq!(
                first_clickable_words(&format!("  clickable\n    heading \"Pay?\"*\n    {inside}")),
                None,
                "{inside}"
            );
        }
        assert_eq!(first_clickable_words("  clickable \"Named\"\n    text \"Mute\""), None);
        assert_eq!(first_clickable_words("  clickable inert\n    text \"Mute\""), None);
        assert_eq!(first_clickable_words("  clickable"), None);
    }
}
