//! The note on a display which keys are lent, and by whom: what a killed process of ours left with a meaning is put back
//! by the next one.

use crate::display::Display;
use crate::fault::Fault;
use x11rb::protocol::xproto::{AtomEnum, PropMode, Window as WindowId};
use x11rb::wrapper::ConnectionExt as _;

/// Keys with the windows of those that lent them, as pairs of numbers.
fn pairs(numbers: &[u32]) -> Vec<(WindowId, u8)> {
    let pair = |two: &[u32]| Some((two[0], u8::try_from(two[1]).ok()?));
    numbers.chunks_exact(2).filter_map(pair).collect()
}

/// The keys that are lent, with the window of who did.
pub(crate) fn lent(d: &Display) -> Result<Vec<(WindowId, u8)>, Fault> {
    Ok(pairs(&d.numbers(d.root, d.atoms.STICKPIN_SPARES)?))
}

/// Notes the keys that we lend, beside those of others who live.
pub(crate) fn note_lent(d: &Display) -> Result<(), Fault> {
    let mut all = Vec::new();
    for (owner, code) in lent(d)? {
        if d.lives(owner)? {
            all.extend([owner, u32::from(code)]);
        }
    }
    all.extend(d.spares.lent.values().flat_map(|&code| [d.own, u32::from(code)]));
    let name = d.atoms.STICKPIN_SPARES;
    d.conn.change_property32(PropMode::REPLACE, d.root, name, AtomEnum::CARDINAL, &all)?;
    Ok(())
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
