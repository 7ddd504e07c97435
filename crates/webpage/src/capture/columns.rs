//! The columns of a capture, as the page script writes them (`agent/script/read/capture.js`) and as they are read here.

use super::CaptureError;
use super::said::{Said, TOLD};
use hashbrown::HashMap;
use serde::Deserialize;
use stickpin_devtools::well_formed;
use stickpin_tree::{Role, States};

/// What one call of `capture` or `locate` in the page returned.
#[derive(Debug, Clone)]
pub struct Columns {
    /// What is read as it traveled.
    pub(crate) wire: Wire,
    /// Strings.
    pub(super) role: Vec<u32>,
    /// Strings.
    pub(super) tag: Vec<u32>,
    /// 0: none; else one more than its place in the names.
    name: Vec<u32>,
    pub(super) states: Vec<u32>,
    /// 0: text.
    pub(super) id: Vec<u64>,
    /// What the browser says of some rows instead.
    pub(super) amended: HashMap<u32, Said>,
}

/// The columns as they travel.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Wire {
    /// Version of the format.
    v: u32,
    pub(super) url: String,
    pub(super) title: String,
    pub(super) depth: Vec<u32>,
    /// Of each row: which of the kinds; empty once they are read.
    kind: Vec<u32>,
    /// (string of the role, string of the tag, states) in turns.
    kinds: Vec<u32>,
    /// 0: none; 1: the next of `names`; n: the one n - 1 before that; empty once they are read.
    name: Vec<u32>,
    names: Vec<String>,
    /// Runs of numbers, of the rows that are no text: (first, how many) in turns.
    ids: Vec<u64>,
    /// (row, level) in turns.
    pub(super) level: Vec<u32>,
    /// (row, string) in turns.
    pub(super) value: Vec<u32>,
    /// (row, string of the key, string) in turns.
    pub(super) attrs: Vec<u32>,
    /// Rows of defined custom elements: their internals may say what they are.
    custom: Vec<u32>,
    /// Numbers of elements that may have a closed shadow root.
    hosts: Vec<u64>,
    /// Elements in the ranges that were watched that are connected, but not in the tree.
    pub(super) hidden: Vec<u64>,
    pub(super) strings: Vec<String>,
    /// What to ask the script later whether this capture still holds; 0 where that cannot be told.
    #[serde(default)]
    pub(crate) seal: u32,
    /// How often the document had changed by then.
    #[serde(default)]
    pub(crate) changes: u64,
    /// Whether a limit cut the walk.
    pub(super) truncated: bool,
}

/// The version of the columns that this side reads.
const FORMAT: u32 = 2;

impl Columns {
    /// Reads the script's answer.
    ///
    /// # Errors
    /// If it is no capture, columns differ in length, or an index points nowhere.
    pub fn parse(json: &str) -> Result<Self, CaptureError> {
        let mut wire: Wire = serde_json::from_str(&well_formed(json))?;
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
        Ok(Self { wire, role, tag, name, states, id, amended: HashMap::new() })
    }

    /// How many rows it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Rows and numbers of custom elements that may have a role of their own by `ElementInternals`.
    pub(crate) fn custom_elements(&self) -> impl Iterator<Item = (u32, u64)> {
        self.wire.custom.iter().filter_map(|&row| Some((row, *self.id.get(row as usize)?)))
    }

    /// The numbers of elements that may have a closed shadow root.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = u64> {
        self.wire.hosts.iter().copied()
    }

    /// What the browser says of a row counts instead of what the script said.
    pub(crate) fn amend(&mut self, row: u32, said: Said) {
        let Some(states) = self.states.get_mut(row as usize) else { return };
        let mut known = States::from_bits_truncate(*states).difference(TOLD).union(said.states);
        if said.role.is_some_and(Role::is_control) {
            known |= States::ACTIONABLE;
        }
        *states = known.bits();
        self.amended.insert(row, said);
    }

    /// Makes a row actionable, and one without a role `clickable`.
    pub(crate) fn press(&mut self, row: usize, clickable: bool) {
        self.states[row] |= States::ACTIONABLE.bits();
        if clickable {
            let name = Role::Clickable.name();
            let at = self.wire.strings.iter().position(|s| s == name).unwrap_or_else(|| {
                self.wire.strings.push(name.to_owned());
                self.wire.strings.len() - 1
            });
            // The table has as many entries as fit into the numbers that point into it.
            self.role[row] = u32::try_from(at).unwrap_or(self.role[row]);
        }
    }

    /// Forgets what is hidden of what nobody asked about.
    pub(crate) fn answer_for(&mut self, asked: impl Fn(u64) -> bool) {
        self.wire.hidden.retain(|&id| asked(id));
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

    /// Whether the script gave a row no role.
    pub(crate) fn is_wrapper(&self, row: usize) -> bool {
        matches!(self.string(self.role[row]), Ok("generic" | "clickable"))
    }

    pub(crate) fn role_of(&self, row: usize) -> Option<Role> {
        match self.amended.get(&u32::try_from(row).ok()?) {
            Some(Said { role: Some(role), .. }) => Some(*role),
            _ => self.string(self.role[row]).ok()?.parse().ok(),
        }
    }

    /// The name of a row.
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

/// From names counted back to their places in the table, of which every one is new once.
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

/// The numbers in runs of (first, how many).
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
