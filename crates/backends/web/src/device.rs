//! An open page.

use crate::cdp::Client;
use crate::launch::Browser;
use crate::tab::Tab;
use stickpin_kernel::device::DeviceInfo;
use stickpin_tree::IdentityGrade;

/// A tab of a browser that was started for it.
#[derive(Debug)]
pub struct WebDevice {
    pub(crate) info: DeviceInfo,
    pub(crate) browser: Browser,
    pub(crate) tab: Tab,
}

impl WebDevice {
    pub(crate) fn new(browser: Browser, tab: Tab) -> Self {
        let info = DeviceInfo {
            kind: "web",
            label: browser.label.clone(),
            grade: IdentityGrade::NeverReused,
            pid: Some(browser.pid),
        };
        Self { info, browser, tab }
    }

    /// The connection to its browser and the session of its page: for tests, which ask the page itself what it
    /// received, and for tools that need what no command offers.
    #[must_use]
    pub fn devtools(&self) -> (&Client, &str) {
        (&self.tab.client, &self.tab.session)
    }
}
