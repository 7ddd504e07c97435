//! The commands of the README and of the tutorial, run as they are printed, on a real browser.
//!
//! Each command must end as its page shows, and print the lines below it in this order. `...` in
//! such a line represents text that differs from run to run; alone on a line, it represents any
//! lines.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

/// A command of a page, or a file that a page asks the reader to save.
#[derive(Debug, PartialEq)]
enum Item {
    File { name: String, text: String },
    Command { line: String, shown: Vec<String> },
}

/// Returns the files and the console commands of a page, in order.
fn items(page: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        if let Some((_, name)) = info.split_once("file=") {
            items.push(Item::File { name: name.to_owned(), text: block.join("\n") + "\n" });
        } else if info == "console" {
            for line in block {
                match (line.strip_prefix("$ "), items.last_mut()) {
                    (Some(line), _) => items.push(Item::Command { line: line.to_owned(), shown: Vec::new() }),
                    (None, Some(Item::Command { shown, .. })) => shown.push(line.to_owned()),
                    (None, _) => panic!("output without a command: {line}"),
                }
            }
        }
    }
    items
}

/// Returns whether a page shows a command as failing: its output begins with an error code, a false
/// condition or a failed script.
fn fails(shown: &[String]) -> bool {
    let first = shown.iter().find(|line| !line.starts_with("warning: ")).map_or("", String::as_str);
    let code = first
        .split_once(": ")
        .is_some_and(|(code, _)| code.len() > 1 && code.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'));
    code || first.starts_with("false: ") || first.starts_with("FAIL ")
}

/// Returns whether a printed line matches a line of the page, in which `...` represents any text.
fn is_like(shown: &str, line: &str) -> bool {
    let Some((first, rest)) = shown.split_once("...") else { return shown == line };
    let (middle, last) = rest.rsplit_once("...").unwrap_or(("", rest));
    let inner = line.strip_prefix(first).and_then(|line| line.strip_suffix(last));
    let mut parts = middle.split("...");
    inner.is_some_and(|inner| {
        parts.try_fold(inner, |left, part| left.find(part).map(|at| &left[at + part.len()..])).is_some()
    })
}

/// Returns the first shown line that does not follow in the output.
fn missing<'s>(shown: &'s [String], output: &str) -> Option<&'s str> {
    let mut lines = output.lines();
    shown
        .iter()
        .map(String::as_str)
        .filter(|line| *line != "...")
        .find(|line| !lines.by_ref().any(|printed| is_like(line, printed)))
}

/// Runs items in one shell in a folder, and compares each command with what is shown of it.
fn run(folder: &Path, items: &[Item]) {
    let out = folder.join("out");
    let home = folder.join("home");
    let work = folder.join("work");
    for made in [&out, &home, &work] {
        std::fs::create_dir(made).expect("a folder");
    }
    let mut script =
        "trap 'stickpin daemon stop --force >\"$OUT/stop\" 2>&1; kill $(jobs -p) 2>\"$OUT/kill\"' EXIT\n"
            .to_owned();
    for (at, item) in items.iter().enumerate() {
        match item {
            Item::File { name, text } => {
                writeln!(script, "cat > {name} <<'END OF FILE'\n{text}END OF FILE").expect("a string");
            }
            Item::Command { line, .. } => {
                // The status of the command before is what `echo $?` shows.
                writeln!(
                    script,
                    "digest=$(cat \"$OUT\"/*.out 2>\"$OUT/none\" | grep -o 'plan-digest [0-9a-f]*' | tail -n 1 | cut -d' ' -f2)\n\
                     (exit ${{status:-0}})\n{{ {line}\n}} >\"$OUT/{at:03}.out\" 2>&1\nstatus=$?\n\
                     echo $status >\"$OUT/{at:03}.status\"",
                )
                .expect("a string");
            }
        }
    }
    let program = Path::new(env!("CARGO_BIN_EXE_stickpin")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command.arg("-c").arg(&script).current_dir(&work).env_clear();
    command.env("PATH", format!("{}:/usr/bin:{path}", program.display())).env("HOME", &home).env("OUT", &out);
    command.env("STICKPIN_STATE_DIR", folder.join("state"));
    for kept in ["STICKPIN_CHROMIUM", "STICKPIN_NO_SANDBOX"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
    let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).output().expect("bash runs");
    for (at, item) in items.iter().enumerate() {
        let Item::Command { line, shown } = item else { continue };
        let read =
            |kind: &str| std::fs::read_to_string(out.join(format!("{at:03}.{kind}"))).unwrap_or_default();
        let (printed, status) = (read("out"), read("status"));
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(status.trim() != "0", fails(shown), "`{line}` ended with {status}:\n{printed}\n{said}");
        if let Some(missing) = missing(shown, &printed) {
            panic!("`{line}` does not print\n{missing}\nbut\n{printed}");
        }
    }
}

/// Returns a page of the repository.
fn page(name: &str) -> String {
    std::fs::read_to_string(stickpin_testkit::workspace_root().join(name)).expect("a page")
}

/// Returns a port that nothing listens on.
fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port().to_string()
}

/// Waits until the page has fetched the guests twice, instead of for two seconds.
const POLLED: &str = "seen=$(grep -c guests.json server.log); \
                      until [ $(grep -c guests.json server.log) -ge $((seen + 2)) ]; do sleep 0.05; done";

#[test]
fn the_consoles_of_the_readme_run_as_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let items = items(&page("README.md"));
    assert!(items.len() >= 6, "{items:?}");
    run(folder.path(), &items);
}

#[test]
fn the_tour_of_sessions_runs_as_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), &items(&page("docs/sessions.md")));
}

#[test]
fn the_tutorial_runs_as_printed() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = page("docs/tutorial.md")
        .replace("8000", &free_port())
        .replace("$ sleep 2\n", &format!("$ {POLLED}\n"));
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
    // Console blocks show their output, and have their own test.
    let (mut in_block, mut is_console) = (false, false);
    for line in readme.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
            is_console = in_block && line == "```console";
        } else if in_block && !is_console && !NOT_RUN.iter().any(|(begin, _)| line.starts_with(begin)) {
            lines.push(line);
        }
    }
    assert!(lines.len() >= 12, "{lines:?}");
    let port = free_port();
    let served = format!("http://127.0.0.1:{port}");
    let command = |line: &str| Item::Command { line: line.to_owned(), shown: Vec::new() };
    let mut items = vec![
        Item::File { name: "index.html".to_owned(), text: format!("{SIGN_IN}\n") },
        Item::File { name: "link.html".to_owned(), text: "<a href=index.html>More</a>\n".to_owned() },
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

#[test]
fn lines_of_a_page_are_matched_around_dots() {
    assert!(is_like("opened Chromium ... · session guests-...", "opened Chromium 149 · session guests-12ab"));
    assert!(is_like("pass    a.ad · ... s", "pass    a.ad · 1.2 s"));
    assert!(!is_like("pass    a.ad · ... s", "FAIL    a.ad · 1.2 s"));
    assert!(!is_like("changed", "changed more"));
    let shown = ["a".to_owned(), "...".to_owned(), "c".to_owned()];
    assert_eq!(missing(&shown, "a\nb\nc\n"), None);
    assert_eq!(missing(&shown, "c\na\n"), Some("c"));
    assert!(
        fails(&["warning: x".to_owned(), "STALE_REF: y".to_owned()]) && !fails(&["pressed y".to_owned()])
    );
}
