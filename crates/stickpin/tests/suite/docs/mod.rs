//! The commands of the README, the tutorial and the tour of sessions, run exactly as printed, on a
//! real browser.
//!
//! Each command must succeed or fail as its page shows, and print the lines shown below it in
//! order. `...` in such a line represents text that differs from run to run; alone on a line, it
//! represents any lines. A line such as `**Terminal 2**` names the shell of the blocks below it.

mod terminals;

use crate::support::eventually;
use crate::support::page::page;
use std::net::TcpListener;
use std::path::Path;
use stickpin_testkit::PageServer;
use terminals::{Item, Step, Terminals, items};

fn run(folder: &Path, items: &[Item]) {
    Terminals::new(folder).run(items);
}

/// Returns a port that nothing listens on.
fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port().to_string()
}

/// Waits until the page has fetched the guests twice, instead of for two seconds.
const POLLED: &str = "seen=$(grep -c guests.json server.log); \
                      until [ $(grep -c guests.json server.log) -ge $((seen + 2)) ]; do sleep 0.05; done";

/// Reports each press that the page of the tour receives, by the row of the button.
const REPORTER: &str = "<script>addEventListener('click', event => event.isTrusted && fetch('ORIGIN/__log', \
    {method: 'POST', mode: 'no-cors', body: event.target.closest('li').firstChild.data.trim()}), true)</script>\n";

#[test]
fn the_tour_of_sessions_runs_as_printed() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let server = PageServer::start(folder.path()).expect("a port");
    let mut items = items(&page("docs/sessions.md"));
    let saved = items.iter_mut().find_map(|item| match &mut item.step {
        Step::File { text, .. } => Some(text),
        _ => None,
    });
    saved.expect("a page").push_str(&REPORTER.replace("ORIGIN", &server.origin()));
    let mut shells: Vec<&str> = items.iter().map(|item| item.terminal.as_str()).collect();
    shells.sort_unstable();
    shells.dedup();
    assert_eq!(shells, ["1", "2"], "two terminals");
    run(folder.path(), &items);
    let mut pressed = server.received();
    eventually("the page reported two presses", || {
        pressed.extend(server.received());
        pressed.len() >= 2
    });
    assert_eq!(pressed, ["Oak lamp", "Wall shelf"], "each agent pressed one button, in its turn");
}

#[test]
fn the_tutorial_runs_as_printed() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = page("docs/tutorial.md")
        .replace("8000", &free_port())
        .replace("$ sleep 2\n", &format!("$ {POLLED}\n"))
        // Where the page polls during an action, its receipt names the request instead.
        .replace("\nchanged\n", "\n...\n");
    // The digest depends on the port.
    let printed = text
        .split("--plan-digest ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .expect("a digest")
        .to_owned();
    text = text
        .lines()
        .map(|line| line.replace(&printed, if line.starts_with("$ ") { "$digest" } else { "..." }) + "\n")
        .collect();
    run(folder.path(), &items(&text));
}

/// Commands of the README that this test does not run, with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("apt install", "installs packages"),
    ("curl ", "installs Rust"),
    ("cargo install", "builds the program"),
    ("cargo run -- demo", "runs in cli.rs"),
    ("cargo xtask test", "runs this test"),
    ("stickpin install", "configures other programs: tests/install.rs"),
    ("stickpin open --private linux:", "needs a desktop: linux/apps.rs"),
    ("stickpin press 'role=button \"7\"'", "needs a desktop: linux/apps.rs"),
    ("stickpin screenshot calculator.png", "needs a desktop: linux/apps.rs"),
    ("stickpin doctor", "fails where an optional program is missing: cli.rs"),
];

/// The page that the README drives.
const SIGN_IN: &str = "<!doctype html><title>Sign in</title><h1>Sign in</h1>\
    <form onsubmit=\"event.preventDefault(); document.body.innerHTML='<h1>Welcome</h1>'\">\
    <label>Email <input type=email></label><button>Continue</button></form>";

#[test]
fn the_readme_runs_as_printed() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let readme = page("README.md");
    let mut lines = Vec::new();
    // The run of two harnesses has its own test.
    let (mut in_block, mut is_run) = (false, false);
    for line in readme.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
            is_run = in_block && line == "```text";
        } else if in_block && !is_run && !NOT_RUN.iter().any(|(begin, _)| line.starts_with(begin)) {
            lines.push(line);
        }
    }
    assert!(lines.len() >= 12, "{lines:?}");
    let port = free_port();
    let served = format!("http://127.0.0.1:{port}");
    let item = |step| Item { terminal: String::new(), step };
    let command = |line: &str| item(Step::Command { line: line.to_owned(), shown: Vec::new() });
    let file = |name: &str, text: String| item(Step::File { name: name.to_owned(), text });
    let mut items = vec![
        file("index.html", format!("{SIGN_IN}\n")),
        file("link.html", "<a href=index.html>More</a>\n".to_owned()),
        command(&format!("python3 -m http.server {port} --bind 127.0.0.1 >server.log 2>&1 &")),
        command(&format!("until curl -s -o page {served}; do sleep 0.05; done")),
    ];
    let local = |line: &str| {
        line.replace("http://127.0.0.1:3000", &served)
            .replace("https://example.com", &format!("{served}/link.html"))
    };
    items.extend(lines.into_iter().map(|line| command(&local(line))));
    run(folder.path(), &items);
}
