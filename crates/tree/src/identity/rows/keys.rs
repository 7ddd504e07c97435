//! Record keys: attributes that identify the record that a row shows.

use hashbrown::HashMap;

use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::{Attr, NodeRef};

/// A key of a row: its attribute and value.
pub(crate) type RowKey = (Attr, Fingerprint);

/// The key attributes, most trusted first.
const KEYS: [Attr; 9] = [
    Attr::DataId,
    Attr::DataKey,
    Attr::DataRowKey,
    Attr::DataItemId,
    Attr::TestId,
    Attr::DataTest,
    Attr::DataCy,
    Attr::DataTestId,
    Attr::Id,
];

fn is_test_id(attr: Attr) -> bool {
    matches!(attr, Attr::TestId | Attr::DataTest | Attr::DataCy | Attr::DataTestId)
}

/// Returns the keys of all rows of a container, in order. Values that count up with the row
/// position are not keys but indices: another record has the same index after the list has changed.
pub(crate) fn keys_of(rows: &[NodeRef<'_>]) -> Vec<Option<RowKey>> {
    let mut keys = vec![None; rows.len()];
    for attr in KEYS {
        if is_test_id(attr) && rows.len() < 2 {
            continue;
        }
        let values: Vec<Option<&str>> = rows.iter().map(|r| key_value(*r, attr)).collect();
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for value in values.iter().flatten() {
            *counts.entry(value).or_default() += 1;
        }
        if counts.is_empty() {
            continue;
        }
        let index = follow_row_positions(&values);
        for (at, value) in values.iter().enumerate() {
            let Some(value) = value else { continue };
            let numbered = number_in(value).is_some();
            if keys[at].is_none() && counts[value] == 1 && !(index && numbered) {
                keys[at] = Some((attr, Fingerprint::of(TextKind::Key, value)));
            }
        }
    }
    keys
}

/// Returns a fingerprint of the key attributes of a row, including index-like ones but not test
/// ids. The fingerprint proves nothing on its own.
pub(crate) fn raw_key(row: NodeRef<'_>) -> Option<Fingerprint> {
    let parts: Vec<&str> =
        KEYS.iter().filter(|a| !is_test_id(**a)).filter_map(|&a| key_value(row, a)).collect();
    (!parts.is_empty()).then(|| Fingerprint::of(TextKind::Key, &parts.join("\n")))
}

fn key_value(row: NodeRef<'_>, attr: Attr) -> Option<&str> {
    row.attr(attr).filter(|v| attr != Attr::Id || !is_machine_made(v))
}

/// Returns whether all values present differ by as much as their row positions. For a single value,
/// returns whether the value could be the position of its row.
fn follow_row_positions(values: &[Option<&str>]) -> bool {
    let mut offset = None;
    let mut present = 0;
    let mut small = true;
    for (at, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        let Some(number) = number_in(value) else { return false };
        let Some(at) = i64::try_from(at).ok() else { return false };
        present += 1;
        small &= number <= at + 2;
        if *offset.get_or_insert(number - at) != number - at {
            return false;
        }
    }
    present > 1 || present == 1 && small
}

/// Returns the number in a value that contains exactly one.
fn number_in(value: &str) -> Option<i64> {
    let digits = value.trim_matches(|c: char| !c.is_ascii_digit());
    digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns whether a key may be the app's own name for a part of itself (`edit-bar`), in a row
/// without other text. Data keys use other attributes or contain a number.
pub(crate) fn may_name_a_part(attr: Attr, value: &str) -> bool {
    (attr == Attr::Id || is_test_id(attr)) && !value.bytes().any(|b| b.is_ascii_digit())
}

/// Returns whether a library generated an id, which then means nothing after the next render.
pub(crate) fn is_machine_made(id: &str) -> bool {
    const PREFIXES: &str = "radix headlessui mui react-aria ember ext-gen rc- rc_ reach ui-id el-id downshift tippy popper \
                            svelte cmdk base-ui";
    let lower = id.to_ascii_lowercase();
    let hexish = |run: &str| {
        run.len() >= 6
            && run.bytes().any(|b| b.is_ascii_digit())
            && run.bytes().any(|b| b.is_ascii_alphabetic())
    };
    id.contains(':')
        || PREFIXES.split(' ').any(|p| lower.starts_with(p))
        || id.split(|c: char| !c.is_ascii_digit()).any(|run| run.len() >= 5)
        || lower.split(|c: char| !c.is_ascii_hexdigit()).any(hexish)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_ids_are_not_keys() {
        for id in ["radix-:r3:", ":r1:", "mui-12", "row-10023", "item-3fa9c1", "headlessui-menu-item-4"] {
            assert!(is_machine_made(id), "{id}");
        }
        for id in ["mail-3", "order-1002", "cart", "decade", "row_17"] {
            assert!(!is_machine_made(id), "{id}");
        }
    }

    #[test]
    fn index_like_values_are_in_step() {
        assert!(follow_row_positions(&[Some("row-0"), Some("row-1"), None, Some("row-3")]));
        assert!(follow_row_positions(&[Some("5"), Some("6")]));
        assert!(follow_row_positions(&[None, Some("1")]));
        assert!(!follow_row_positions(&[Some("17")]));
        assert!(!follow_row_positions(&[Some("a"), Some("b")]));
        assert!(!follow_row_positions(&[Some("5"), Some("7")]));
        assert!(!follow_row_positions(&[None]));
    }
}
