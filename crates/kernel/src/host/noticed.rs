//! Notices from the device that no receipt has reported.

use std::collections::VecDeque;
use stickpin_device::{MAX_NOTICES, Notice, push_latest};

/// The maximum number of console errors that are kept for watchers.
const MAX_CONSOLE_ERRORS: usize = 20;

/// The notices of a session that were read from the device and that no receipt has reported.
#[derive(Debug, Default)]
pub(crate) struct Noticed {
    /// Notices that the next action discards or the next receipt reports, oldest first. Watchers
    /// read these notices without taking them.
    pending: VecDeque<Notice>,
    /// Console errors that no receipt has reported, oldest first, each with the number of its
    /// consecutive occurrences.
    console_errors: VecDeque<(String, usize)>,
}

impl Noticed {
    /// Keeps notices for the next reader. Drops the oldest ones if there are too many.
    pub(crate) fn keep(&mut self, notices: Vec<Notice>) {
        for notice in notices {
            // One `Changed` is enough: the number of changes is irrelevant.
            if notice != Notice::Changed || !self.pending.contains(&notice) {
                push_latest(&mut self.pending, notice, MAX_NOTICES);
            }
        }
    }

    /// Takes the kept notices, for the receipt of an action.
    pub(crate) fn take(&mut self) -> Vec<Notice> {
        self.pending.drain(..).collect()
    }

    /// Drops the kept notices, which no action caused, but remembers their console errors.
    pub(crate) fn discard(&mut self) {
        for notice in self.take() {
            if let Notice::ConsoleError { text } = notice {
                count(&mut self.console_errors, text);
            }
        }
    }

    /// Returns the last console errors that no receipt has reported, oldest first, each with the
    /// number of its consecutive occurrences.
    pub(crate) fn console_errors(&self) -> Vec<(String, usize)> {
        let mut all = self.console_errors.clone();
        for notice in &self.pending {
            if let Notice::ConsoleError { text } = notice {
                count(&mut all, text.clone());
            }
        }
        all.into()
    }
}

/// Adds an error, or counts it if the last one has the same text.
fn count(errors: &mut VecDeque<(String, usize)>, text: String) {
    match errors.back_mut() {
        Some((last, times)) if *last == text => *times += 1,
        _ => push_latest(errors, (text, 1), MAX_CONSOLE_ERRORS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> Notice {
        Notice::ConsoleError { text: text.to_owned() }
    }

    fn seen(noticed: &Noticed) -> Vec<String> {
        noticed.console_errors().into_iter().map(|(text, times)| format!("{text} x{times}")).collect()
    }

    #[test]
    fn watcher_takes_no_notice_from_a_receipt() {
        let mut noticed = Noticed::default();
        noticed.keep(vec![Notice::Changed, error("a")]);
        noticed.keep(vec![Notice::Changed, error("a")]);
        assert_eq!(seen(&noticed), ["a x2"]);
        assert_eq!(noticed.take(), [Notice::Changed, error("a"), error("a")]);
        assert_eq!(seen(&noticed), Vec::<String>::new(), "the receipt reports them");
    }

    #[test]
    fn discarded_console_errors_are_remembered_within_limits() {
        let mut noticed = Noticed::default();
        for n in 0..100 {
            noticed.keep(vec![error(&n.to_string()), error(&n.to_string()), Notice::FileChooser]);
            noticed.discard();
        }
        noticed.keep(vec![error("99")]);
        let all = seen(&noticed);
        assert_eq!((all.len(), &*all[0], &*all[19]), (20, "80 x2", "99 x3"));
        noticed.discard();
        assert_eq!((seen(&noticed), noticed.take()), (all, Vec::new()));
    }
}
