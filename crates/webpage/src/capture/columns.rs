//! The columns of a capture, on the wire (`agent/script/read/capture.js`) and as read here.

use super::CaptureError;
use super::self_description::{REPORTED_STATES, SelfDescription};
use hashbrown::HashMap;
use serde::Deserialize;
use stickpin_devtools::well_formed;
use stickpin_tree::{Role, States};

/// The answer to one call of `capture` or `locate` in the page.
#[derive(Debug, Clone)]
pub struct Columns {
    /// The columns that are used in their wire form.
    pub(crate) wire: WireColumns,
    /// Per row: the string index of the role.
    pub(super) role: Vec<u32>,
    /// Per row: the string index of the tag.
    pub(super) tag: Vec<u32>,
    /// Per row: 0 for no name, otherwise one more than the index into the names.
    name: Vec<u32>,
    pub(super) states: Vec<u32>,
    /// Per row: the element id; 0 for text.
    pub(super) id: Vec<u64>,
    /// The rows for which the browser's accessibility tree overrides the script.
    pub(super) self_descriptions: HashMap<u32, SelfDescription>,
}

/// The columns on the wire.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct WireColumns {
    /// The version of the format.
    v: u32,
    pub(super) url: String,
    pub(super) title: String,
    pub(super) depth: Vec<u32>,
    /// Per row: the index of its kind. Empty after parsing.
    kind: Vec<u32>,
    /// The kinds as flattened triples (string of the role, string of the tag, states).
    kinds: Vec<u32>,
    /// Per row: 0 for no name, 1 for the next of `names`, and n for the name n - 1 places before
    /// the next one. Empty after parsing.
    name: Vec<u32>,
    names: Vec<String>,
    /// The ids of all rows except text, as flattened runs (first, count).
    ids: Vec<u64>,
    /// Flattened pairs (row, level).
    pub(super) level: Vec<u32>,
    /// Flattened pairs (row, string).
    pub(super) value: Vec<u32>,
    /// Flattened triples (row, string of the key, string of the value).
    pub(super) attrs: Vec<u32>,
    /// The rows of defined custom elements, whose internals may define their role.
    custom: Vec<u32>,
    /// The ids of elements that may have a closed shadow root.
    hosts: Vec<u64>,
    /// The watched elements that are connected but not in the tree.
    pub(super) hidden: Vec<u64>,
    pub(super) strings: Vec<String>,
    /// The token with which to ask the script later whether this capture still holds; 0 if the
    /// script cannot tell.
    #[serde(default)]
    pub(crate) seal: u32,
    /// The document's change count at the time of the capture.
    #[serde(default)]
    pub(crate) changes: u64,
    /// Whether a limit cut the walk short.
    pub(super) truncated: bool,
}

/// The version of the columns that this code reads.
const FORMAT: u32 = 2;

impl Columns {
    /// Parses the script's answer.
    ///
    /// # Errors
    /// Returns an error when the answer is not a capture in the current format, columns differ in
    /// length, or a kind, a name or an id is inconsistent.
    pub fn parse(json: &str) -> Result<Self, CaptureError> {
        let mut wire: WireColumns = serde_json::from_str(&well_formed(json))?;
        if wire.v != FORMAT {
            return Err(CaptureError::Corrupt("version"));
        }
        let n = wire.depth.len();
        if wire.kind.len() != n || wire.name.len() != n {
            return Err(CaptureError::Corrupt("columns"));
        }
        let (kinds, []) = wire.kinds.as_chunks::<3>() else { return Err(CaptureError::Corrupt("kinds")) };
        let is_text = |role: u32| wire.strings.get(role as usize).is_some_and(|r| r == Role::Text.name());
        let texts: Vec<bool> = kinds.iter().map(|&[role, ..]| is_text(role)).collect();
        let mut numbers = Runs::new(&wire.ids);
        let (mut role, mut tag, mut states, mut id) =
            (Vec::with_capacity(n), Vec::with_capacity(n), Vec::with_capacity(n), Vec::with_capacity(n));
        for &kind in &wire.kind {
            let kind = kind as usize;
            let &[r, t, s] = kinds.get(kind).ok_or(CaptureError::Corrupt("kinds"))?;
            role.push(r);
            tag.push(t);
            states.push(s);
            id.push(if texts[kind] { 0 } else { numbers.next().ok_or(CaptureError::Corrupt("ids"))? });
        }
        if numbers.next().is_some() {
            return Err(CaptureError::Corrupt("ids"));
        }
        let name = places(std::mem::take(&mut wire.name), wire.names.len())?;
        wire.kind = Vec::new();
        Ok(Self { wire, role, tag, name, states, id, self_descriptions: HashMap::new() })
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Returns the rows and ids of custom elements that may have a role through `ElementInternals`.
    pub(crate) fn custom_elements(&self) -> impl Iterator<Item = (u32, u64)> {
        self.wire.custom.iter().filter_map(|&row| Some((row, *self.id.get(row as usize)?)))
    }

    /// Returns the ids of elements that may have a closed shadow root.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = u64> {
        self.wire.hosts.iter().copied()
    }

    /// Replaces what the script reported for a row with what the browser reports.
    pub(crate) fn set_self_description(&mut self, row: u32, description: SelfDescription) {
        let Some(states) = self.states.get_mut(row as usize) else { return };
        let mut known =
            States::from_bits_truncate(*states).difference(REPORTED_STATES).union(description.states);
        if description.role.is_some_and(Role::is_control) {
            known |= States::ACTIONABLE;
        }
        *states = known.bits();
        self.self_descriptions.insert(row, description);
    }

    /// Makes a row actionable. With `clickable`, also gives the row the role `clickable`.
    pub(crate) fn press(&mut self, row: usize, clickable: bool) {
        self.states[row] |= States::ACTIONABLE.bits();
        if clickable {
            let name = Role::Clickable.name();
            let at = self.wire.strings.iter().position(|s| s == name).unwrap_or_else(|| {
                self.wire.strings.push(name.to_owned());
                self.wire.strings.len() - 1
            });
            // The string table cannot have more entries than an index can address.
            self.role[row] = u32::try_from(at).unwrap_or(self.role[row]);
        }
    }

    /// Drops hidden elements that are not watched.
    pub(crate) fn retain_hidden(&mut self, is_watched: impl Fn(u64) -> bool) {
        self.wire.hidden.retain(|&id| is_watched(id));
    }

    pub(crate) fn depth_of(&self, row: usize) -> usize {
        self.wire.depth[row] as usize
    }

    pub(crate) fn id_of(&self, row: usize) -> u64 {
        self.id[row]
    }

    pub(crate) fn is_actionable(&self, row: usize) -> bool {
        States::from_bits_truncate(self.states[row]).contains(States::ACTIONABLE)
    }

    pub(crate) fn is_body(&self, row: usize) -> bool {
        matches!(self.string(self.tag[row]), Ok("body" | "html"))
    }

    /// Returns whether the script gave a row the role `generic` or `clickable`.
    pub(crate) fn is_wrapper(&self, row: usize) -> bool {
        matches!(self.string(self.role[row]), Ok("generic" | "clickable"))
    }

    pub(crate) fn role_of(&self, row: usize) -> Option<Role> {
        match self.self_descriptions.get(&u32::try_from(row).ok()?) {
            Some(SelfDescription { role: Some(role), .. }) => Some(*role),
            _ => self.string(self.role[row]).ok()?.parse().ok(),
        }
    }

    /// Returns the name of a row.
    pub(super) fn name_of(&self, row: usize) -> &str {
        match self.name[row] {
            0 => "",
            at => &self.wire.names[at as usize - 1],
        }
    }

    pub(super) fn string(&self, at: u32) -> Result<&str, CaptureError> {
        self.wire.strings.get(at as usize).map(String::as_str).ok_or(CaptureError::Corrupt("strings"))
    }
}

/// Converts relative name references to absolute ones. Each name in the table must be introduced
/// exactly once.
fn places(mut names: Vec<u32>, table: usize) -> Result<Vec<u32>, CaptureError> {
    let mut known = 0;
    for name in &mut names {
        match *name {
            0 => {}
            1 => {
                known += 1;
                *name = known;
            }
            back => {
                *name = (known + 2)
                    .checked_sub(back)
                    .filter(|&at| at > 0)
                    .ok_or(CaptureError::Corrupt("names"))?;
            }
        }
    }
    if known as usize == table { Ok(names) } else { Err(CaptureError::Corrupt("names")) }
}

/// Iterates over the numbers in runs of (first, count).
struct Runs<'a> {
    left: std::slice::Iter<'a, u64>,
    next: u64,
    more: u64,
}

impl<'a> Runs<'a> {
    fn new(runs: &'a [u64]) -> Self {
        Self { left: runs.iter(), next: 0, more: 0 }
    }
}

impl Iterator for Runs<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.more == 0 {
            self.next = *self.left.next()?;
            self.more = *self.left.next()?;
        }
        self.more = self.more.checked_sub(1)?;
        let number = self.next;
        self.next = number.checked_add(1)?;
        Some(number)
    }
}
