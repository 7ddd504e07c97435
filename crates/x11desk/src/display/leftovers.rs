//! What a killed process of ours left on a display that goes on without it: pointers, and keys with a meaning.
//!
//! Both are noted with the id of a window of the process that made them. The window ends with its connection, so that
//! whoever comes next can tell what is left over. The server gives ids again: whoever connects after a process that was
//! killed mostly gets those that it had. So another one's window counts only where it is called as ours are, and what is
//! noted with our own before we have made anything is left over, too.

use crate::display::fault::Fault;
use crate::display::server::Display;
use crate::display::state::OWN;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt, PropMode, Window as WindowId};
use x11rb::wrapper::ConnectionExt as _;

/// Keys with the windows of those that lent them, as pairs of numbers.
fn pairs(numbers: &[u32]) -> Vec<(WindowId, u8)> {
    let pair = |two: &[u32]| Some((two[0], u8::try_from(two[1]).ok()?));
    numbers.chunks_exact(2).filter_map(pair).collect()
}

impl Display {
    /// Removes what was left over.
    pub(super) fn remove_leftovers(&mut self) -> Result<(), Fault> {
        self.remove_seats()?;
        let mut left = Vec::new();
        for (owner, code) in self.lent()? {
            if !self.lives(owner)? {
                left.push(code);
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        tracing::debug!(?left, "keys that were left with a meaning");
        self.unlend(left.iter().copied())?;
        self.note_lent(&[])
    }

    /// Whether the process that made this window is another one that is still connected.
    pub(super) fn lives(&self, owner: WindowId) -> Result<bool, Fault> {
        let (name, text) = (self.atoms._NET_WM_NAME, self.atoms.UTF8_STRING);
        let called = self.conn.get_property(false, owner, name, text, 0, 16)?.reply();
        // The server knows no such window, where it refuses.
        Ok(owner != self.own && called.is_ok_and(|called| called.value == OWN.as_bytes()))
    }

    fn lent(&self) -> Result<Vec<(WindowId, u8)>, Fault> {
        let name = self.atoms.STICKPIN_SPARES;
        let asked = self.conn.get_property(false, self.root, name, AtomEnum::CARDINAL, 0, 1024)?;
        let numbers: Vec<u32> = asked.reply()?.value32().map(Iterator::collect).unwrap_or_default();
        Ok(pairs(&numbers))
    }

    /// Notes the keys that we lend, beside those of others who live.
    pub(super) fn note_lent(&self, ours: &[u8]) -> Result<(), Fault> {
        let mut all = Vec::new();
        for (owner, code) in self.lent()? {
            if self.lives(owner)? {
                all.extend([owner, u32::from(code)]);
            }
        }
        all.extend(ours.iter().flat_map(|&code| [self.own, u32::from(code)]));
        let name = self.atoms.STICKPIN_SPARES;
        self.conn.change_property32(PropMode::REPLACE, self.root, name, AtomEnum::CARDINAL, &all)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pair_of_a_window_and_a_key_is_left_out() {
        assert_eq!(pairs(&[7, 200, 8, 256, 9]), [(7, 200)]);
        assert_eq!(pairs(&[]), []);
    }
}
