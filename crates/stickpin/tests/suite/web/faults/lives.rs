//! Browsers and pages that end.

use super::web::{Web, html, kill};
use crate::support::eventually;

fn web() -> Option<Web> {
    Web::new(&[
        ("/", html("<title>First</title><button onclick=\"tell('pressed')\">Save</button>")),
        ("/next", html("<title>Next</title><button onclick=\"tell('pressed')\">Save</button>")),
    ])
}

/// Ends the processes of the session's browser whose command line contains a word; without a word,
/// the browser itself.
fn end(web: &Web, what: &str) {
    let browser = web.pid();
    let processes = web.processes();
    let ended: Vec<u32> = match what {
        "browser" => vec![browser],
        _ => processes
            .iter()
            .filter(|(_, line)| line.contains("--type=renderer"))
            .map(|(pid, _)| *pid)
            .collect(),
    };
    assert!(!ended.is_empty(), "{processes:?}");
    for pid in ended {
        kill(pid);
    }
}

#[test]
fn open_starts_anew_where_a_browser_or_page_ended_unnoticed() {
    let Some(mut web) = web() else { return };
    for what in ["browser", "page", "browser", "page"] {
        web.open("/");
        end(&web, what);
        let response = web.open("/next");
        assert!(response.text.clone().unwrap_or_default().contains("Next"), "{what}: {response:#?}");
        web.ok(&["press", "text=Save"]);
        web.was_asked("/log?pressed");
        eventually("the folder of the previous lifetime is gone", || web.folders().len() == 1);
    }
    web.ok(&["close"]);
    eventually("nothing is left", || web.folders().is_empty() && web.processes().is_empty());
}

#[test]
fn recording_goes_on_where_open_starts_anew() {
    let Some(mut web) = web() else { return };
    let url = web.url("/");
    web.ok(&["open", &url, "--record"]);
    web.ok(&["press", "text=Save"]);
    end(&web, "browser");
    let response = web.open("/next");
    let warning = response.warning.clone().unwrap_or_default();
    assert!(warning.contains("a new lifetime begins"), "{response:#?}");
    assert!(!warning.contains("record stop"), "the session is still being recorded: {response:#?}");
    web.ok(&["press", "text=Save"]);
    let script = web.dir.path().join("script.ad");
    web.ok(&["record", "stop", script.to_str().unwrap()]);
    let script = std::fs::read_to_string(script).unwrap();
    assert_eq!(script.lines().filter(|line| line.starts_with("press ")).count(), 2, "{script}");
}

#[test]
fn a_lost_session_leaves_no_folder_and_no_process() {
    let Some(mut web) = web() else { return };
    for what in ["browser", "page", "browser", "page"] {
        web.open("/");
        end(&web, what);
        eventually("it is known", || !web.surface.request(&["snapshot"], |_| {}).ok);
        eventually("nothing is left", || {
            web.ok(&["session", "list"]);
            web.folders().is_empty() && web.processes().is_empty()
        });
    }
}
