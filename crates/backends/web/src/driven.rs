//! A browser and its driven tab.

use crate::browser_state::SharedBrowserState;
use crate::launch::Browser;
use std::sync::Arc;
use stickpin_device::Dialog;
use stickpin_webpage::Page;
use stickpin_webpage::tab::Tab;

/// A browser and its driven tab, on which the functions of this crate work.
#[derive(Debug)]
pub(crate) struct DrivenBrowser {
    pub(crate) browser: Browser,
    /// The state of the browser beyond its pages.
    pub(crate) state: Arc<SharedBrowserState>,
    /// The page of the driven tab.
    pub(crate) page: Page,
    /// The DevTools sessions of the previously driven tabs, latest last.
    pub(crate) previous_tabs: Vec<String>,
    /// How many times in a row the same dialog was dismissed.
    pub(crate) dialog_repetition: DialogRepetition,
}

impl DrivenBrowser {
    pub(crate) fn new(browser: Browser, browser_state: Arc<SharedBrowserState>, tab: Tab) -> Self {
        let (page, trail, nagging) = (Page::new(tab), Vec::new(), DialogRepetition::default());
        Self { browser, state: browser_state, page, previous_tabs: trail, dialog_repetition: nagging }
    }

    /// Returns the open dialog of the driven tab or, if that tab has none, of another tab; `None`
    /// if no dialog is open, or if the driven tab or the browser is gone.
    pub(crate) fn dialog(&self) -> Option<Dialog> {
        self.page.tab.read(|tab| tab.dialog.clone()).ok().flatten()
    }
}

/// The number of dismissals in a row after which the same dialog is dismissed automatically.
pub(crate) const MAX_DISMISSALS: u32 = 3;

/// Counts how often the same dialog was dismissed while the page did nothing but open it again.
#[derive(Debug, Default)]
pub(crate) struct DialogRepetition {
    last_dialog: Option<(String, String)>,
    dismissals: u32,
}

impl DialogRepetition {
    /// Records a dismissal and returns whether the dialog was dismissed too often.
    pub(crate) fn is_repeated(&mut self, kind: &str, message: &str) -> bool {
        let question = Some((kind.to_owned(), message.to_owned()));
        self.dismissals = if self.last_dialog == question { self.dismissals + 1 } else { 1 };
        self.last_dialog = question;
        self.dismissals >= MAX_DISMISSALS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_question_asked_over_and_over_is_nagging() {
        let mut nagging = DialogRepetition::default();
        let mut dismiss = |message| nagging.is_repeated("confirm", message);
        assert_eq!(
            ["a", "a", "b", "a", "a", "a", "a"].map(&mut dismiss),
            [false, false, false, false, false, true, true]
        );
    }
}
