//! Bad input on real pages: each is answered with its error code and a hint, nothing is sent or
//! lost, and the session or the next `open` continues. The page reports to its server which element
//! received input.

mod hostile;
mod redrawn;
mod site;
mod tabs;
mod waits;

use crate::support::eventually;
use site::{PATIENCE, Process, Site};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_backend_web::{WebConfig, WebProvider};
use stickpin_kernel::{Dispatched, Error, ErrorCode};

#[test]
fn addresses_that_lead_nowhere() {
    let Some(mut site) = Site::new() else { return };
    // A port that was free a moment ago refuses.
    let refused = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let cases = [
        ("http://no-such-host.invalid/".to_owned(), ErrorCode::DeviceNotFound),
        (format!("http://{refused}/"), ErrorCode::DeviceNotFound),
        ("ftp://127.0.0.1/".to_owned(), ErrorCode::InvalidArgs),
        ("chrome://crash".to_owned(), ErrorCode::InvalidArgs),
        ("javascript:alert(1)".to_owned(), ErrorCode::InvalidArgs),
        ("mailto:a@b.example".to_owned(), ErrorCode::InvalidArgs),
        ("http://[::1".to_owned(), ErrorCode::InvalidArgs),
    ];
    // Without a session, neither a session nor a browser remains.
    for (address, code) in &cases {
        let error = site.fails(&["open", address], *code);
        assert!(error.message.len() < 400, "{error:?}");
    }
    site.fails(&["get", "title"], ErrorCode::SessionNotFound);
    eventually("the browsers are gone", || site.processes().is_empty());
    assert_eq!(site.profiles(), 0);
    // In a session: an invalid address leaves the page as it is, and a failed navigation is undone.
    site.open("guards.html");
    for (address, code) in cases.iter().filter(|(_, code)| *code == ErrorCode::InvalidArgs) {
        site.refuses(&["open", address], *code);
        assert_eq!(site.text(&["get", "title"]).trim(), "Targets that cannot be reached");
    }
    for (address, code) in cases.iter().filter(|(_, code)| *code != ErrorCode::InvalidArgs) {
        site.fails(&["open", address], *code);
    }
    site.open("guards.html");
    site.goes_on();
}

#[test]
fn a_page_that_never_finishes_loading() {
    let Some(mut site) = Site::new() else { return };
    site.open("guards.html");
    let never = site.url("__never");
    let began = Instant::now();
    site.fails(&["open", &never], ErrorCode::Timeout);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    // The previous page is still there.
    site.goes_on();
    site.ok(&["close"]);
    site.fails(&["open", &never], ErrorCode::Timeout);
    site.fails(&["get", "title"], ErrorCode::SessionNotFound);
    site.open("guards.html");
}

#[test]
fn targets_that_cannot_be_acted_on() {
    let Some(mut site) = Site::new() else { return };
    site.open("guards.html");
    let error = site.refuses(&["press", "css=\"#disabled\""], ErrorCode::ElementDisabled);
    assert!(error.message.contains("button \"Disabled\""), "{error:?}");
    let error = site.refuses(&["press", "css=\"#covered\""], ErrorCode::ElementCovered);
    assert!(error.message.contains("dialog \"Cookies\""), "{error:?}");
    site.refuses(&["press", "css=\"#off\""], ErrorCode::ElementOffscreen);
    for target in ["css=\"#save\"", "role=heading"] {
        site.refuses(&["fill", target, "text"], ErrorCode::InvalidArgs);
        site.refuses(&["type", "text", "--into", target], ErrorCode::InvalidArgs);
    }
    site.refuses(&["fill", "css=\"#fixed\"", "text"], ErrorCode::ElementDisabled);
    site.refuses(&["check", "css=\"#save\""], ErrorCode::InvalidArgs);
    site.refuses(&["select", "css=\"#save\"", "x"], ErrorCode::InvalidArgs);
    assert_eq!(site.text(&["get", "value", "css=\"#fixed\""]).trim(), "as it is");
    site.goes_on();
}

#[test]
fn a_page_that_moves_in_the_middle_of_an_act() {
    let Some(mut site) = Site::new() else { return };
    site.open("moving.html");
    let vanish = site.ref_of("Vanish");
    let error = site.refuses(&["press", &vanish], ErrorCode::StaleRef);
    assert_eq!(error.details["reason"], "gone");
    assert!(error.message.contains("button \"Vanish\""), "{error:?}");
    site.open("moving.html");
    site.refuses(&["press", "css=\"#vanish\""], ErrorCode::ElementNotFound);
    site.goes_on();

    // Hovering navigates away from the page, which ends the ref.
    let leave = site.ref_of("Leave");
    let error = site.refuses(&["press", &leave], ErrorCode::StaleRef);
    assert_eq!(error.details["reason"], "gone");
    assert_eq!(site.text(&["get", "title"]).trim(), "Targets that cannot be reached");
    site.goes_on();

    // A press that navigates away succeeds, and the old content is gone.
    site.open("moving.html");
    let save = site.ref_of("Save");
    site.ok(&["press", "css=\"#depart\"", "--settle"]);
    assert_eq!(site.text(&["get", "title"]).trim(), "Targets that cannot be reached");
    drop(site.server.received());
    site.refuses(&["press", &save], ErrorCode::StaleRef);
    site.goes_on();

    // Hovering opens a dialog, which blocks every press.
    site.open("moving.html");
    let error = site.fails(&["press", "css=\"#ask\""], ErrorCode::DialogOpen);
    assert!(error.message.contains("Sure?") && error.hint.contains("alert"), "{error:?}");
    site.refuses(&["press", "css=\"#save\""], ErrorCode::DialogOpen);
    site.ok(&["alert", "dismiss"]);
    site.goes_on();
}

#[test]
fn an_element_behind_a_modal_dialog_is_hidden() {
    let Some(mut site) = Site::new() else { return };
    site.open("modal.html");
    let save = site.ref_of("Save");
    site.ok(&["press", "css=\"#show\""]);
    assert!(site.server.wait_for("click show", PATIENCE));
    for _ in 0..2 {
        let error = site.refuses(&["press", &save], ErrorCode::StaleRef);
        assert_eq!(error.details["reason"], "gone");
        assert_eq!(error.details["hidden"], true);
        assert!(error.message.contains("hidden now, perhaps behind"), "{error:?}");
        assert!(error.message.contains("dialog \"Really empty it?\""), "{error:?}");
    }
    let response = site.surface.request(&["is", "visible", &save], |_| {});
    assert!(response.text.unwrap_or_default().contains("is hidden"));
    site.ok(&["press", "css=\"#no\""]);
    assert!(site.server.wait_for("click no", PATIENCE));
    // The old ref is valid again.
    site.ok(&["press", &save]);
    assert!(site.server.wait_for("click save", PATIENCE));
}

#[test]
fn selectors_of_the_page() {
    let Some(mut site) = Site::new() else { return };
    site.open("css.html");
    assert_eq!(site.text(&["count", "css=\".go\""]).trim(), "2");
    assert_eq!(site.text(&["get", "name", "css=\"li:last-child > button\""]).trim(), "Two");
    site.ok(&["press", "css=\"#one\""]);
    assert!(site.server.wait_for("click one", PATIENCE));
    // Inside shadow roots and frames too, and together with other terms.
    site.ok(&["press", "css=\".shadowed\" role=button"]);
    assert!(site.server.wait_for("click shadowed", PATIENCE));
    assert_eq!(site.text(&["get", "name", "css=\".framed\""]).trim(), "Framed");
    assert_eq!(site.text(&["count", "css=\".go\" in(css=\"li:first-child\")"]).trim(), "1");
    site.refuses(&["press", "css=\".go\""], ErrorCode::AmbiguousMatch);
    site.refuses(&["press", "css=\"#none\""], ErrorCode::ElementNotFound);
    for bad in ["li[", "li:nope()", "\u{1b}[31m", ""] {
        let target = format!("css=\"{bad}\"");
        let error = site.refuses(&["press", &target], ErrorCode::InvalidArgs);
        assert!(!error.message.contains('\u{1b}'), "{error:?}");
    }
    for bad in ["colour=red", "role=button label=\"Save", "in(role=list", "css=\"#one"] {
        site.refuses(&["press", bad], ErrorCode::InvalidArgs);
    }
    assert!(site.server.received().is_empty());
}

/// Returns whether a character may control a terminal or reorder text.
fn is_raw(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[test]
fn names_that_are_meant_to_deceive() {
    let Some(mut site) = Site::new() else { return };
    site.open("names.html");
    let all: [&[&str]; 9] = [
        &["snapshot"],
        &["snapshot", "-i"],
        &["snapshot", "--raw", "--all"],
        &["get", "title"],
        &["get", "name", "css=\"#escape\""],
        &["get", "text", "role=main"],
        &["find", "a"],
        &["session", "show"],
        &["press", "css=\"#header\""],
    ];
    for words in all {
        let text = site.text(words);
        if let Some(c) = text.chars().find(|&c| is_raw(c)) {
            panic!("{words:?} prints {:?}:\n{}", c, text.escape_debug());
        }
        // Only stickpin's own lines begin like a ref or a header.
        if words[0] != "get" {
            assert!(!text.lines().skip(1).any(|l| l.starts_with("page ")), "{words:?}:\n{text}");
            assert!(!text.contains("button \"Pay\""), "{words:?}:\n{text}");
        }
    }
    let error = site.refuses(&["press", "role=button"], ErrorCode::AmbiguousMatch);
    assert!(!format!("{}{}", error.message, error.hint).chars().any(is_raw), "{error:?}");
    // Printed text can be used as input again.
    for id in ["quote", "lines", "ref"] {
        let target = format!("css=\"#{id}\"");
        let shown = site.text(&["snapshot", "-s", &target]);
        assert_eq!(shown.lines().filter(|l| l.contains("button")).count(), 1, "{shown}");
    }
}

#[test]
fn huge_texts_and_trees_are_bounded() {
    let Some(mut site) = Site::new() else { return };
    for (page, nodes) in [("big.html?text=10000000", 0), ("big.html?nodes=100000", 100_000)] {
        let url = site.url(page);
        site.ok(&["open", &url]);
        let began = Instant::now();
        for words in [&["snapshot"][..], &["snapshot", "-i"], &["find", "Much"]] {
            let text = site.text(words);
            assert!(text.len() <= 24_500, "{words:?} of {page}: {} bytes", text.len());
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{page}: {:?}", began.elapsed());
        if nodes > 0 {
            assert_eq!(site.text(&["count", "role=button"]).trim(), (nodes / 10 + 1).to_string());
        }
        let text = site.text(&["snapshot", "-i", "--max-bytes", "2000"]);
        assert!(text.len() <= 2_100, "{}", text.len());
        site.ok(&["press", "css=\"#save\""]);
        assert!(site.server.wait_for("saved", PATIENCE));
    }
}

#[test]
fn a_browser_that_is_not_installed() {
    let missing = WebConfig { chromium: Some(PathBuf::from("/nowhere/chromium")), ..WebConfig::default() };
    let mut site = Site::with(WebProvider::new(missing));
    let error = site.refuses(&["open", "about:blank"], ErrorCode::ToolMissing);
    assert!(
        error.message.contains("/nowhere/chromium") && error.hint.contains("STICKPIN_CHROMIUM"),
        "{error:?}"
    );
    assert_eq!(site.profiles(), 0);
    site.fails(&["get", "title"], ErrorCode::SessionNotFound);
}

/// A press whose handler never ends.
const SPIN: &[&str] = &["press", "css=\"#spin\""];

/// Runs a command whose script never ends, and kills the process that `which` selects once it has
/// begun.
fn killed_in_the_middle(site: &mut Site, page: &str, words: &[&str], which: fn(&Process) -> bool) -> Error {
    site.open(page);
    let victims: Vec<Process> = site.processes().into_iter().filter(which).collect();
    assert!(!victims.is_empty(), "{:#?}", site.processes());
    let server = Arc::clone(&site.server);
    let killer = std::thread::spawn(move || {
        assert!(server.wait_for("spinning", PATIENCE), "the press never arrived");
        victims.iter().for_each(Process::kill);
    });
    let error = site.fails(words, ErrorCode::BackendLost);
    killer.join().unwrap();
    assert_eq!(error.dispatched, Dispatched::Unknown, "{error:?}");
    error
}

#[test]
fn a_renderer_that_dies_in_the_middle_of_an_act() {
    let Some(mut site) = Site::new() else { return };
    let error = killed_in_the_middle(&mut site, "moving.html", SPIN, |p| p.line.contains("--type=renderer"));
    assert!(error.hint.contains("open"), "{error:?}");
    site.open("guards.html");
    site.goes_on();
}

/// Returns whether a process is the parent of all processes of a browser.
fn is_browser(p: &Process) -> bool {
    p.line.contains("--remote-debugging") && !p.line.contains("--type=")
}

#[test]
fn a_browser_that_dies_in_the_middle_of_an_act() {
    let Some(mut site) = Site::new() else { return };
    for (page, words) in [("moving.html", SPIN), ("shaky.html", &["fill", "css=\"#slow\"", "some text"])] {
        let error = killed_in_the_middle(&mut site, page, words, is_browser);
        assert!(error.hint.contains("open"), "{error:?}");
        let left = site.processes();
        eventually("all of its processes are gone", || !left.iter().any(Process::is_there));
        site.open("guards.html");
        site.goes_on();
        eventually("only the profile of the open session is left", || site.profiles() == 1);
    }
    site.ok(&["close"]);
    eventually("nothing is left", || site.processes().is_empty());
    assert_eq!(site.profiles(), 0);
}

#[test]
fn a_graphics_process_that_dies_is_started_anew() {
    let Some(mut site) = Site::new() else { return };
    site.open("guards.html");
    site.ok(&["screenshot"]);
    let gpu: Vec<Process> =
        site.processes().into_iter().filter(|p| p.line.contains("--type=gpu-process")).collect();
    assert!(!gpu.is_empty(), "{:#?}", site.processes());
    gpu.iter().for_each(Process::kill);
    eventually("it is gone", || !gpu.iter().any(Process::is_there));
    site.goes_on();
    site.ok(&["screenshot"]);
}
