//! Compares the texts of parts of a page, to tell a re-render from other content.

use std::rc::Rc;

use hashbrown::HashMap;

use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::identity::memo::{Memo, RecordsId};
use crate::identity::records::Records;
use crate::identity::rows::numbers::{
    CURRENCY_SIGNS, is_amount, is_bare, is_clock, is_numeric_date, is_time_or_date,
};
use crate::identity::rows::text::{is_field, leaf_text, leaves_except, walk};
use crate::identity::step_count;
use crate::{NodeId, NodeRef, Role, States};

/// Text leaves and control names with their frequencies.
#[derive(Debug, Default)]
pub(crate) struct TextCounts {
    counts: HashMap<Fingerprint, u32>,
    total: u32,
}

/// Cached counts of the text that a newer part keeps of an older part.
pub(crate) type KeptCounts = Memo<(RecordsId, NodeId, NodeId), u32>;

/// A part of a tree, given by its root, and optionally an element in the part that does not count.
pub(crate) type PageArea<'a, 't> = (&'a Records<'t>, NodeRef<'t>, Option<NodeRef<'t>>);

/// Returns whether the part `now` keeps more than half of the text of the part `then`. `None` if
/// `then` has no text.
///
/// Each part is read and compared once for all of its elements; the element itself is then
/// subtracted.
pub(crate) fn reads_same(then: PageArea<'_, '_>, now: PageArea<'_, '_>) -> Option<bool> {
    let (old, old_root, a) = then;
    let (new, new_root, b) = now;
    let before = text_counts(old, old_root);
    let after = text_counts(new, new_root);
    let mut kept = kept_count(new, old, old_root, new_root);
    let mut total = before.total;
    let without_a = a.map(|a| own_fingerprints(a, old_root)).unwrap_or_default();
    let without_b = b.map(|b| own_fingerprints(b, new_root)).unwrap_or_default();
    let mut changed: Vec<Fingerprint> = without_a.iter().chain(&without_b).copied().collect();
    changed.sort_unstable();
    changed.dedup();
    for fingerprint in changed {
        step_count::count_step();
        let count = |reading: &TextCounts| reading.counts.get(&fingerprint).copied().unwrap_or(0);
        let of = |words: &[Fingerprint]| {
            u32::try_from(words.iter().filter(|w| **w == fingerprint).count()).unwrap_or(0)
        };
        let (x, y) = (count(&before), count(&after));
        let (x_left, y_left) = (x.saturating_sub(of(&without_a)), y.saturating_sub(of(&without_b)));
        kept = kept + x_left.min(y_left) - x.min(y);
        total -= x - x_left;
    }
    (total > 0).then_some(kept * 2 > total)
}

/// Returns the fingerprints that an element itself contributes to the text of a part.
fn own_fingerprints(element: NodeRef<'_>, root: NodeRef<'_>) -> Vec<Fingerprint> {
    let in_control = element.ancestors().take_while(|n| *n != root).any(|n| n.is(States::ACTIONABLE));
    if element == root {
        return text_fingerprints(element);
    }
    if in_control {
        return Vec::new();
    }
    if element.is(States::ACTIONABLE) {
        return vec![control_fingerprint(element)];
    }
    text_fingerprints(element)
}

fn control_fingerprint(n: NodeRef<'_>) -> Fingerprint {
    Fingerprint::of(TextKind::Name, &format!("{} {}", n.role(), n.name()))
}

fn text_fingerprints(root: NodeRef<'_>) -> Vec<Fingerprint> {
    let mut found = Vec::new();
    walk(root, |n| {
        if n.is_text() {
            found.extend(leaf_text(n).filter(|t| !is_bare(t)).map(|t| Fingerprint::of(TextKind::Text, &t)));
            return true;
        }
        let is_control = n.is(States::ACTIONABLE);
        if is_control {
            found.push(control_fingerprint(n));
        }
        !is_control
    });
    found
}

/// Returns whether two documents show the same record: the same text in the nearest main, form,
/// dialog or article, otherwise in the whole document. Ignores fields, live regions, times, money
/// and counts, but not single numbers, which may be all that distinguishes invoice 17 from 18.
pub(crate) fn same_document(old: &Records<'_>, a: NodeRef<'_>, new: &Records<'_>, b: NodeRef<'_>) -> bool {
    let area = |n: NodeRef<'_>| {
        n.ancestors()
            .find(|n| {
                matches!(n.role(), Role::Main | Role::Form | Role::Dialog | Role::Article | Role::Document)
            })
            .map_or(NodeId::ROOT, NodeRef::id)
    };
    document_text(old, area(a)) == document_text(new, area(b))
}

/// Returns the text with all volatile parts masked.
fn mask_volatile(text: &str) -> String {
    let money = || text.contains(CURRENCY_SIGNS) && is_amount(text);
    if is_time_or_date(text) || money() {
        return "~".to_owned();
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_integer = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit());
    let count_at = |at: usize| {
        let noun = words.get(at + 1).is_some_and(|w| w.len() > 2 && w.starts_with(char::is_lowercase));
        let leading = at.checked_sub(1).is_none_or(|i| {
            words[i].starts_with(char::is_lowercase) || words[i].ends_with("ed") || words[i] == "Seen"
        });
        is_integer(words[at].trim_matches(['(', ')'])) && noun && leading
    };
    let moves = |w: &str| {
        let lower = w.to_ascii_lowercase();
        is_clock(&lower) || is_numeric_date(&lower) || w.contains(CURRENCY_SIGNS) && is_amount(w)
    };
    let mask = |at: usize| match words[at] {
        _ if count_at(at) => "#",
        word if moves(word.trim_end_matches([',', '.'])) => "~",
        word => word,
    };
    (0..words.len()).map(mask).collect::<Vec<_>>().join(" ")
}

fn text_counts(records: &Records<'_>, root: NodeRef<'_>) -> Rc<TextCounts> {
    records.text_counts.get(root.id(), || {
        let mut counts = TextCounts::default();
        for fingerprint in text_fingerprints(root) {
            *counts.counts.entry(fingerprint).or_default() += 1;
            counts.total += 1;
        }
        Rc::new(counts)
    })
}

/// Returns the number of texts that a part of the new tree keeps of an older part.
fn kept_count(new: &Records<'_>, old: &Records<'_>, old_root: NodeRef<'_>, root: NodeRef<'_>) -> u32 {
    new.comparisons.get((old.token(), old_root.id(), root.id()), || {
        let (before, after) = (text_counts(old, old_root), text_counts(new, root));
        let shared_count = |(fingerprint, &x): (&Fingerprint, &u32)| {
            step_count::count_step();
            x.min(after.counts.get(fingerprint).copied().unwrap_or(0))
        };
        before.counts.iter().map(shared_count).sum()
    })
}

fn document_text(records: &Records<'_>, area: NodeId) -> Fingerprint {
    records.document_texts.get(area, || {
        let texts = leaves_except(records.tree.node(area), |n| {
            is_field(n) || n.is(States::LIVE) || n.is(States::TIME)
        });
        let masked: Vec<String> = texts.iter().map(|(_, t)| mask_volatile(t)).collect();
        Fingerprint::of(TextKind::Text, &masked.join("\n"))
    })
}

#[cfg(test)]
mod tests {
    use super::mask_volatile;

    #[test]
    fn volatile_text_is_masked_in_reloaded_documents() {
        for (a, b) in [
            ("3 comments", "4 comments"),
            ("Viewed 3 times", "Viewed 12 times"),
            ("2 min ago", "3 min ago"),
            ("1 views, 12:01", "2 views, 12:02"),
            ("Updated 2026-05-04, total $3", "Updated 2026-05-06, total $4"),
            ("$12.00", "$13.50"),
            ("showing 3 results", "showing 4 results"),
            ("Saved at 7:15PM by Ann", "Saved at 7:20PM by Ann"),
            ("Saved at 7:15AM by Ann", "Saved at 1:20PM by Ann"),
            ("Last sync 2026-05-04T10:30:00, complete", "Last sync 2026-05-04T10:31:12, complete"),
        ] {
            assert_eq!(mask_volatile(a), mask_volatile(b));
        }
        for (a, b) in [
            ("Invoice 17", "Invoice 18"),
            ("17", "18"),
            ("Order 17 for Ann", "Order 18 for Ann"),
            ("Ann", "Bob"),
        ] {
            assert_ne!(mask_volatile(a), mask_volatile(b));
        }
    }
}
