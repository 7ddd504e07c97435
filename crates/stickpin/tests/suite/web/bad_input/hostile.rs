//! Hostile pages: broken built-ins, endless names, depths and changes.

use super::site::{PATIENCE, Site};
use crate::support::eventually;
use std::time::{Duration, Instant};
use stickpin_kernel::{Dispatched, ErrorCode};

#[test]
fn page_that_breaks_its_globals_still_works() {
    let Some(mut site) = Site::new() else { return };
    site.open("hostile.html");
    let text = site.text(&["snapshot", "-i"]);
    for line in ["button \"Save\"", "textbox \"Name\"", "checkbox \"Agree\"", "button \"Delete\""] {
        assert!(text.contains(line), "no {line} in\n{text}");
    }
    assert_eq!(text.matches("button \"Delete\"").count(), 2, "{text}");
    assert_eq!(site.text(&["get", "title"]).trim(), "A page that breaks its own world");
    site.ok(&["fill", "label=Name", "Ada"]);
    assert!(site.server.wait_for("input Ada", PATIENCE));
    assert_eq!(site.text(&["get", "value", "label=Name"]).trim(), "Ada");
    site.ok(&["check", "label=Agree"]);
    assert!(site.server.wait_for("change agree", PATIENCE));
    site.ok(&["select", "label=City", "Bergen"]);
    assert!(site.server.wait_for("change city", PATIENCE));
    site.refuses(&["press", "text=Delete"], ErrorCode::AmbiguousMatch);
    assert_eq!(site.text(&["count", "css=\"li > button\""]).trim(), "2");
    site.ok(&["screenshot"]);
    drop(site.server.received());
    let save = site.ref_of("Save");
    site.ok(&["press", &save, "--settle"]);
    assert!(site.server.wait_for("click save", PATIENCE));
}

#[test]
fn names_of_a_megabyte_are_cut() {
    let Some(mut site) = Site::new() else { return };
    site.open("long-names.html");
    for words in [&["snapshot"][..], &["snapshot", "-i"], &["find", "name"], &["session", "show"]] {
        let text = site.text(words);
        assert!(text.len() <= 24_500, "{words:?}: {} bytes", text.len());
    }
    let error = site.refuses(&["press", "role=button"], ErrorCode::AmbiguousMatch);
    assert!(error.message.len() + error.hint.len() < 4_000, "{} bytes", error.hint.len());
    let response = site.ok(&["press", "css=\"#long3\""]);
    assert!(response.text.unwrap_or_default().len() < 4_000);
    assert!(site.server.wait_for("click long3", PATIENCE));
    site.goes_on();
}

#[test]
fn fifty_frames_in_each_other() {
    let Some(mut site) = Site::new() else { return };
    site.open("frames.html");
    // The innermost frame reports itself in the title.
    eventually("the frames are made", || site.text(&["get", "title"]).trim() == "made");
    let text = site.text(&["snapshot", "-i", "--all"]);
    for level in [0, 10, 30] {
        assert!(text.contains(&format!("button \"Level {level}\"")), "no level {level} in\n{text}");
    }
    // Content beyond the depth limit is not reported as absent.
    assert!(!text.contains("button \"Level 50\""), "{text}");
    assert!(
        text.contains("the app has more than was captured"),
        "nothing says that something is missing:\n{text}"
    );
    for level in [1, 12] {
        site.ok(&["press", &format!("text=\"Level {level}\"")]);
        assert!(site.server.wait_for(&format!("click level {level}"), PATIENCE), "level {level}");
    }
    site.goes_on();
}

#[test]
fn ten_thousand_levels() {
    let Some(mut site) = Site::new() else { return };
    let url = site.url("deep.html");
    let opened = site.surface.request(&["open", &url], |_| {});
    if let Some(error) = opened.error {
        // The browser may not survive such a page; the next command starts a new lifetime.
        assert_eq!(error.code, ErrorCode::BackendLost, "{error:?}");
        assert!(error.hint.contains("open"), "{error:?}");
        site.open("guards.html");
        return site.goes_on();
    }
    let text = site.text(&["snapshot", "-i"]);
    assert!(text.contains("button \"Save\"") && text.len() <= 24_500, "{text}");
    site.goes_on();
}

#[test]
fn a_page_that_changes_in_every_frame() {
    let Some(mut site) = Site::new() else { return };
    let began = Instant::now();
    site.open("restless.html");
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    let save = site.ref_of("Save");
    for _ in 0..3 {
        site.ok(&["press", &save]);
        assert!(site.server.wait_for("click save", PATIENCE));
    }
    let settled = site.ok(&["press", &save, "--settle=1000"]);
    let text = settled.text.unwrap_or_default();
    assert!(text.contains("not quiet yet"), "{text}");
    assert!(site.server.wait_for("click save", PATIENCE));
    // A row that vanishes before the press is refused, and no other row is pressed.
    let row = site.ref_of("Delete");
    let pressed = site.surface.request(&["press", &row], |_| {});
    assert!(pressed.error.is_some_and(|e| !e.hint.is_empty()), "the row of an old frame was pressed");
    let waited = site.surface.request(&["wait", "stable", "--timeout", "1000"], |_| {});
    assert_eq!(waited.error.map(|e| e.code), Some(ErrorCode::Timeout));
    drop(site.server.received());
    site.goes_on();
}

#[test]
fn an_animation_without_end_keeps_nobody_waiting() {
    let Some(mut site) = Site::new() else { return };
    site.open("restless.html?calm");
    let settled = site.ok(&["press", "css=\"#save\"", "--settle"]);
    let text = settled.text.unwrap_or_default();
    assert!(!text.contains("not quiet yet"), "{text}");
    site.ok(&["wait", "stable", "--timeout", "5000"]);
}

#[test]
fn a_page_that_never_stops_loading_is_open() {
    let Some(mut site) = Site::new() else { return };
    let began = Instant::now();
    site.open("never.html");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    site.goes_on();
    let save = site.ref_of("Save");
    site.ok(&["press", &save, "--settle=1000"]);
    assert!(site.server.wait_for("click save", PATIENCE));
    // Navigation away from it works as usual.
    site.open("guards.html");
    site.goes_on();
}

#[test]
fn endless_script_times_out_and_open_recovers() {
    let Some(mut site) = Site::new() else { return };
    site.open("shaky.html");
    let began = Instant::now();
    let error = site.fails(&["fill", "css=\"#slow\"", "x", "--timeout", "4000"], ErrorCode::Timeout);
    assert_eq!(error.dispatched, Dispatched::Unknown, "{error:?}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(site.server.wait_for("spinning", PATIENCE), "the text did not arrive");
    let url = site.url("guards.html");
    site.ok(&["open", &url, "--relaunch"]);
    drop(site.server.received());
    site.goes_on();
}

#[test]
fn dialogs_of_five_megabytes() {
    let Some(mut site) = Site::new() else { return };
    site.open("shaky.html");
    let pressed = site.ok(&["press", "css=\"#huge\"", "--settle=2000"]);
    assert!(pressed.text.unwrap_or_default().len() < 4_000);
    let message = pressed.dialog.map(|d| d.message.len());
    assert!(message.is_none_or(|bytes| bytes < 3_000), "{message:?} bytes");
    let error = site.fails(&["get", "text", "css=\"#save\""], ErrorCode::DialogOpen);
    assert!(error.message.len() < 1_000, "{} bytes", error.message.len());
    site.ok(&["alert", "accept"]);
    assert!(site.server.wait_for("answered true", PATIENCE));
    drop(site.server.received());
    site.goes_on();
}

#[test]
fn a_frame_that_goes_when_the_pointer_comes() {
    let Some(mut site) = Site::new() else { return };
    site.open("shaky.html");
    let gone = site.ref_of("Gone");
    for _ in 0..2 {
        let error = site.fails(&["press", &gone], ErrorCode::StaleRef);
        assert_eq!(error.details["reason"], "gone", "{error:?}");
    }
    let inner = site.ref_of("Inner");
    site.ok(&["press", &inner]);
    assert!(site.server.wait_for("click inner", PATIENCE));
    site.goes_on();
}
