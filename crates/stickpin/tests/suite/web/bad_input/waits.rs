//! Waits during which a dialog opens, the tab closes or crashes, or the browser is killed. The
//! trigger is the wait's own query or precedes the wait; the answer is the same.

use super::is_browser;
use super::site::{PATIENCE, Process, Site};
use crate::support::eventually;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_kernel::{Error, ErrorCode};

/// The timeout of the waits. A wait that approaches it was not interrupted.
const LONG: &str = "60000";

/// Waits for an event that never comes, and ends early because of another event.
#[track_caller]
fn waited(site: &mut Site, words: &[&str], code: ErrorCode) -> Error {
    let words = [words, &["--timeout", LONG]].concat();
    let began = Instant::now();
    let error = site.fails(&words, code);
    assert!(began.elapsed() < Duration::from_secs(40), "{words:?} ended after {:?}", began.elapsed());
    error
}

#[test]
fn a_dialog_ends_a_wait() {
    let Some(mut site) = Site::new() else { return };
    site.open("guards.html");
    // A wait may query several times.
    let asks = "(window.asked ??= setTimeout(() => confirm('Sure?'), 30)) && false";
    let waits: [&[&str]; 6] = [
        &["wait", "fn", asks],
        &["wait", "text", "Zebra"],
        &["wait", "url", "/nowhere"],
        &["wait", "request", "/nothing"],
        &["wait", "download"],
        &["wait", "css=\"#zebra\""],
    ];
    for (n, words) in waits.iter().enumerate() {
        if n > 0 {
            // A page that opens a dialog by itself after a short delay.
            site.ok(&["wait", "fn", "setTimeout(() => confirm('Sure?'), 300)"]);
        }
        let error = waited(&mut site, words, ErrorCode::DialogOpen);
        assert!(error.message.contains("Sure?") && error.hint.contains("alert"), "{words:?}: {error:?}");
        site.ok(&["alert", "dismiss"]);
    }
    site.goes_on();
}

#[test]
fn a_tab_that_closes_ends_a_wait() {
    let Some(mut site) = Site::new() else { return };
    site.open("popups.html");
    site.ok(&["press", "css=\"#one\""]);
    assert!(site.server.wait_for("click one", PATIENCE));
    site.ok(&["tab", "switch", "t2"]);
    let error = waited(
        &mut site,
        &["wait", "fn", "setTimeout(() => close(), 30) && false"],
        ErrorCode::DeviceNotFound,
    );
    assert!(error.message.contains("t2 was closed"), "{error:?}");
    eventually("the session is in the other tab", || site.text(&["get", "title"]).trim() == "Popups");
    site.goes_on();
}

/// The element that a wait queries, which reports to the server that the wait has begun.
const TELLS: &str = "void fetch('/__log', { method: 'POST', body: 'looked' })";

/// Kills the process that `which` selects during a wait.
#[track_caller]
fn killed_while_waiting(site: &mut Site, which: fn(&Process) -> bool) -> Error {
    site.open("guards.html");
    let victims: Vec<Process> = site.processes().into_iter().filter(which).collect();
    assert!(!victims.is_empty(), "{:#?}", site.processes());
    let server = Arc::clone(&site.server);
    let killer = std::thread::spawn(move || {
        assert!(server.wait_for("looked", PATIENCE), "the wait never queried the page");
        victims.iter().for_each(Process::kill);
    });
    let error = waited(site, &["wait", "fn", TELLS], ErrorCode::BackendLost);
    killer.join().unwrap();
    assert!(error.hint.contains("open"), "{error:?}");
    site.open("guards.html");
    // The last queries of the wait may arrive late.
    drop(site.server.received());
    site.goes_on();
    error
}

#[test]
fn a_renderer_that_dies_ends_a_wait() {
    let Some(mut site) = Site::new() else { return };
    killed_while_waiting(&mut site, |p| p.line.contains("--type=renderer"));
}

#[test]
fn a_browser_that_dies_ends_a_wait() {
    let Some(mut site) = Site::new() else { return };
    killed_while_waiting(&mut site, is_browser);
}

#[test]
fn a_page_that_asks_before_it_is_left() {
    let Some(mut site) = Site::new() else { return };
    site.open("leaving.html");
    site.ok(&["fill", "label=Draft", "Dear Ada"]);
    // Leaving by a link, by history or by reloading: a draft would be lost, so the dialog must be
    // answered.
    for (words, told) in [(&["press", "css=\"#away\""][..], Some("click away")), (&["reload"], None)] {
        let response = site.surface.request(words, |_| {});
        let dialog = response.dialog.unwrap_or_else(|| panic!("{words:?}: {:?}", response.error));
        assert_eq!(dialog.kind, "beforeunload");
        site.fails(&["snapshot", "-i"], ErrorCode::DialogOpen);
        site.ok(&["alert", "dismiss"]);
        assert_eq!(site.text(&["get", "value", "label=Draft"]).trim(), "Dear Ada");
        assert!(told.is_none_or(|line| site.server.wait_for(line, PATIENCE)), "{words:?}");
    }
    site.goes_on();
    site.ok(&["press", "css=\"#away\""]);
    site.ok(&["alert", "accept"]);
    assert!(site.server.wait_for("click away", PATIENCE));
    eventually("it navigates", || site.text(&["get", "title"]).trim() == "Targets that cannot be reached");
    site.goes_on();
    // `open` navigates without asking.
    site.open("leaving.html");
    site.ok(&["fill", "label=Draft", "Dear Grace"]);
    site.open("guards.html");
    site.goes_on();
}
