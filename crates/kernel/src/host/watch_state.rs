//! What a session keeps for watchers: the receipts of the last commands, and what a watcher saw
//! last.

use std::collections::VecDeque;
use std::time::Duration;

/// The maximum number of remembered receipts.
const MAX_RECEIPTS: usize = 64;

/// How long the session must be idle after a command before a watcher uses the device, so that a
/// busy agent shares the processor with few pictures.
const ROOM: Duration = Duration::from_millis(80);

/// The maximum number of times that [`ROOM`] is doubled.
const MAX_DOUBLINGS: u32 = 2;

/// The receipt of one command.
#[derive(Debug, Clone)]
pub(crate) struct KeptReceipt {
    /// The log record with which the command began; `None` if the command was not logged.
    pub(crate) command: Option<u64>,
    /// The lines, each with whether it reports an error in the app.
    pub(crate) lines: Vec<(String, bool)>,
}

/// The state that is kept for watchers.
#[derive(Debug, Default)]
pub(crate) struct WatchState {
    /// The number of commands that ran, except commands that are never logged.
    pub(crate) commands: u64,
    /// The log record with which the last logged command began.
    pub(crate) last_command: Option<u64>,
    /// The hash of the screenshot in the last frame; `None` if that frame had no screenshot.
    pub(crate) picture: Option<u64>,
    /// How many times the pause before a picture is currently doubled because commands ran while
    /// pictures were being taken.
    doublings: u32,
    /// The receipts of the last commands, oldest first.
    receipts: VecDeque<KeptReceipt>,
}

impl WatchState {
    /// Records that a command ran, and its receipt unless it has no lines. Drops the oldest receipt
    /// if there are too many.
    pub(crate) fn add(&mut self, command: Option<u64>, lines: Vec<(String, bool)>) {
        self.commands += 1;
        self.last_command = command.or(self.last_command);
        if lines.is_empty() {
            return;
        }
        if self.receipts.len() == MAX_RECEIPTS {
            self.receipts.pop_front();
        }
        self.receipts.push_back(KeptReceipt { command, lines });
    }

    /// Returns how long the session must be idle before a picture is taken. If this time were
    /// constant, an agent that works at the pace of the pictures would share the processor with
    /// each of them.
    pub(crate) fn room(&self) -> Duration {
        ROOM * 2_u32.pow(self.doublings)
    }

    /// Records whether a command ran while a picture was being taken.
    pub(crate) fn note_picture(&mut self, disturbed: bool) {
        self.doublings = match disturbed {
            true => MAX_DOUBLINGS.min(self.doublings + 1),
            false => self.doublings.saturating_sub(1),
        };
    }

    /// Returns the receipts of the commands that began after a log record, and of the commands that
    /// were not logged.
    pub(crate) fn receipts_after(&self, seq: u64) -> impl Iterator<Item = &KeptReceipt> {
        self.receipts.iter().filter(move |kept| kept.command.is_none_or(|command| command > seq))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_before_a_picture_follows_the_pace_of_the_agent() {
        let mut state = WatchState::default();
        let mut rooms = Vec::new();
        for disturbed in [true, true, true, false, false, false] {
            state.note_picture(disturbed);
            rooms.push(state.room().as_millis());
        }
        assert_eq!(rooms, [160, 320, 320, 160, 80, 80]);
    }

    #[test]
    fn oldest_receipts_are_forgotten() {
        let mut state = WatchState::default();
        for seq in 0..100 {
            state.add(Some(seq), vec![("changed".to_owned(), false)]);
        }
        state.add(Some(100), Vec::new());
        state.add(None, Vec::new());
        let seqs = |after| state.receipts_after(after).filter_map(|kept| kept.command).collect::<Vec<_>>();
        assert_eq!((seqs(0).len(), seqs(0)[0]), (MAX_RECEIPTS, 36));
        assert_eq!(seqs(97), [98, 99]);
        assert_eq!((state.commands, state.last_command), (102, Some(100)));
    }
}
