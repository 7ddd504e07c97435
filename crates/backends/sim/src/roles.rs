//! The words that begin view lines, with their roles, tags and default states.

use std::sync::LazyLock;
use stickpin_tree::{Role, States};

/// How the text of a view line names the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// The text is content, in a text leaf, and the element's name comes from it.
    FromContent,
    /// The text is content; the element has no name.
    Content,
    /// The text is a label; there is no text leaf.
    Label,
}

/// How boxes are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Flow {
    /// On separate lines.
    #[default]
    Block,
    /// Side by side with siblings.
    Inline,
}

/// The kind of an element.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The word that begins a view line of this kind.
    pub(crate) word: &'static str,
    pub(crate) role: Role,
    pub(crate) tag: &'static str,
    pub(crate) level: u8,
    pub(crate) states: States,
    pub(crate) naming: Naming,
    pub(crate) flow: Flow,
}

/// The kinds, sorted by word. Columns: word, role, tag (`-` for none), use of the text (`name` is
/// both name and content), flow and states.
const TABLE: &str = include_str!("roles/kinds.txt");

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| TABLE.lines().filter_map(read).collect());

fn read(line: &'static str) -> Option<Kind> {
    let mut columns = line.split_whitespace();
    let (word, role, tag) = (columns.next()?, columns.next()?.parse().ok()?, columns.next()?);
    let naming = match columns.next()? {
        "name" => Naming::FromContent,
        "content" => Naming::Content,
        _ => Naming::Label,
    };
    let flow = if columns.next()? == "inline" { Flow::Inline } else { Flow::Block };
    let states = columns.map(States::from_name).collect::<Option<_>>()?;
    let level = word.strip_prefix('h').and_then(|level| level.parse().ok()).unwrap_or(0);
    Some(Kind { word, role, tag: tag.trim_matches('-'), level, states, naming, flow })
}

/// Returns the kind that a word names.
pub(crate) fn kind(word: &str) -> Option<&'static Kind> {
    KINDS.binary_search_by_key(&word, |k| k.word).ok().map(|i| &KINDS[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_every_word_is_found() {
        assert_eq!(KINDS.len(), TABLE.lines().count(), "a line is not read");
        for k in KINDS.iter() {
            assert_eq!(kind(k.word).map(|found| found.word), Some(k.word));
        }
        assert!(kind("marquee").is_none());
    }
}
