//! `stickpin demo`: the main job on the simulated shop, in this process.

use stickpin_cli::Streams;

/// Runs it.
pub(crate) fn run(_streams: &mut Streams<'_>) -> u8 {
    0
}
