//! Tabs that open by the hundreds, close themselves, crash, or vanish during an action.

use super::site::{PATIENCE, Site};
use crate::support::eventually;
use stickpin_kernel::{Dispatched, ErrorCode};

#[test]
fn a_hundred_popups() {
    let Some(mut site) = Site::new() else { return };
    site.open("popups.html");
    let pressed = site.ok(&["press", "css=\"#hundred\""]);
    let text = pressed.text.unwrap_or_default();
    assert!(text.contains("opened t2 ") && text.len() < 2_000, "{text}");
    assert!(site.server.wait_for("click hundred", PATIENCE));
    // The browser decides how many tabs it opens and how fast.
    eventually("some of them are there", || site.text(&["tab", "list"]).lines().count() > 1);
    site.goes_on();
    site.ok(&["tab", "switch", "t2"]);
    site.ok(&["press", "css=\"#in-popup\""]);
    assert!(site.server.wait_for("click in-popup", PATIENCE));
    site.ok(&["tab", "close"]);
    site.goes_on();
    site.ok(&["close"]);
    eventually("nothing is left", || site.processes().is_empty());
}

#[test]
fn a_tab_that_closes_when_the_pointer_comes() {
    let Some(mut site) = Site::new() else { return };
    site.open("popups.html");
    site.ok(&["press", "css=\"#one\""]);
    assert!(site.server.wait_for("click one", PATIENCE));
    site.ok(&["tab", "switch", "t2"]);
    let shy = site.ref_of("Shy");
    let response = site.surface.request(&["press", &shy], |_| {});
    let error = response.error.expect("nothing was pressed");
    assert_eq!(error.code, ErrorCode::DeviceNotFound, "{error:?}");
    assert!(error.message.contains("tab t2 was closed"), "{error:?}");
    let said = response.warning.unwrap_or_default();
    assert!(said.contains("tab t2 was closed; the session continues in t1"), "{said:?}");
    // The ref ended with its tab, for every client and every attempt.
    for _ in 0..2 {
        let error = site.refuses(&["press", &shy], ErrorCode::StaleRef);
        assert_eq!(error.details["reason"], "gone", "{error:?}");
    }
    site.goes_on();
}

#[test]
fn a_tab_that_closes_in_the_middle_of_a_fill() {
    let Some(mut site) = Site::new() else { return };
    site.open("popups.html");
    site.ok(&["press", "css=\"#one\""]);
    assert!(site.server.wait_for("click one", PATIENCE));
    site.ok(&["tab", "switch", "t2"]);
    // The first character closes the tab: after the fill, or before the value was read back.
    let filled = site.surface.request(&["fill", "label=Note", "text"], |_| {});
    if let Some(error) = &filled.error {
        assert_eq!((error.code, error.dispatched), (ErrorCode::DeviceNotFound, Dispatched::Unknown));
    }
    let said = filled.warning.unwrap_or_default();
    assert!(said.contains("tab t2 was closed; the session continues in t1"), "{said:?} {:?}", filled.error);
    site.goes_on();
}

#[test]
fn closed_tab_is_reported_before_acting_in_another() {
    let Some(mut site) = Site::new() else { return };
    site.open("popups.html");
    site.ok(&["press", "css=\"#one\""]);
    assert!(site.server.wait_for("click one", PATIENCE));
    site.ok(&["tab", "switch", "t2"]);
    site.ok(&["press", "css=\"#soon\""]);
    assert!(site.server.wait_for("closing", PATIENCE));
    // The tab is closed already, or during this press. In neither case is the button of the other
    // tab pressed.
    let mut error = None;
    eventually("the tab is gone", || {
        let pressed = site.surface.request(&["press", "css=\"#in-popup\" || css=\"#save\""], |_| {});
        error = pressed.error;
        error.is_some()
    });
    let error = error.expect("it was refused");
    let told = error.code == ErrorCode::DeviceNotFound && error.message.contains("t2 was closed");
    // Its document ended shortly before the tab.
    let replaced = error.code == ErrorCode::ElementNotFound && error.dispatched == Dispatched::No;
    assert!(told || replaced, "{error:?}");
    assert!(!site.server.received().contains(&"click save".to_owned()), "the other tab was pressed");
    // A command that reads is answered, and reports the session's current tab.
    eventually("the session is in the other tab", || site.text(&["get", "title"]).trim() == "Popups");
    site.goes_on();
}
