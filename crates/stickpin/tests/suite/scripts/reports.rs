//! Reports of runs: the HTML page of a suite and of one script, even when the run is stopped, when
//! two runs write the same page, and when it cannot be written.

use super::{Desk, Ran, ref_of};
use crate::support::{eventually, words};
use std::process::{Child, Stdio};

/// Returns the contents of a folder, by name.
fn listed(desk: &Desk, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(desk.path(folder)).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn begun(desk: &Desk, line: &str) -> Child {
    let mut command = desk.world.command(&words(line));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Returns the argument of `open` for the app with a real clock, so that waits take time.
fn real(desk: &Desk) -> String {
    desk.address().replace("clock=virtual", "clock=real")
}

/// Waits until a command of the session waits.
fn waits(desk: &Desk) {
    eventually("a script waits", || {
        let list = desk.run("session list --json").json();
        let sessions = list["output"]["sessions"].as_array().cloned().unwrap_or_default();
        sessions.iter().any(|session| session["running"].to_string().contains("wait"))
    });
}

fn sessions(desk: &Desk) -> Option<usize> {
    desk.run("session list --json").json()["output"]["sessions"].as_array().map(Vec::len)
}

#[test]
fn who_is_stopped_has_a_report_up_to_there() {
    let desk = Desk::new();
    desk.write("a.ad", &format!("open {}\npress text=Order\n", desk.address()));
    desk.write(
        "b.ad",
        &format!("open {}\nfill label=Name Ada\nwait text Never --timeout 60000\n", real(&desk)),
    );
    desk.write("c.ad", "open sim:shop\n");
    let child = begun(&desk, "test a.ad b.ad c.ad --report out/report.html --junit out/results.xml");
    waits(&desk);
    desk.world.signal("-INT", child.id());
    let ran: Ran = child.wait_with_output().expect("it ends").into();
    assert!(
        ran.code == 1 && ran.out.contains("1 passed, 2 not run") && ran.out.contains("interrupted"),
        "{ran:?}"
    );
    let page = desk.read("out/report.html");
    for part in [
        "<strong>interrupted</strong>",
        "press text=Order",
        "fill label=Name Ada",
        "wait text Never",
        "data:image/png",
        "</html>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("open sim:shop</code>"), "a script that was not run has no steps");
    assert_eq!(listed(&desk, "out"), ["report.html", "results.xml"], "nothing else is left");
    assert_eq!(sessions(&desk), Some(0), "the session was closed");
}

#[test]
fn one_script_has_the_same_report() {
    let desk = Desk::new();
    desk.write("gone.ad", &format!("open {}\nfill label=Name Ada\npress text=Nothing\n", desk.address()));
    let ran = desk.run("replay gone.ad --wait 0 --report report.html");
    assert!(ran.code == 1 && ran.out.contains("report.html"), "{ran:?}");
    let page = desk.read("report.html");
    for part in [
        "The script did not pass",
        "Step 3 did not find what was recorded",
        "stickpin replay gone.ad --from 3 --plan-digest ",
        "data:image/png",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Its session is still open, and its refs are valid.
    desk.ok(&format!("press {}", ref_of(&ran.out, "button \"Order\"")));
    assert_eq!(desk.received().len(), 2);
    desk.ok("close");
    desk.write("gone.ad", &format!("open {}\npress text=Order\nclose\n", desk.address()));
    let ran = desk.run("replay gone.ad --report report.html");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(desk.read("report.html").contains("The script passed"));
    // In a suite the session is closed, and nothing can continue in it.
    desk.write("gone.ad", &format!("open {}\npress text=Nothing\n", desk.address()));
    assert_eq!(desk.run("test gone.ad --wait 0 --report report.html").code, 1);
    let page = desk.read("report.html");
    assert!(
        page.contains("<code>stickpin replay gone.ad</code>") && !page.contains("--plan-digest"),
        "{page}"
    );
}

#[test]
fn one_replay_that_is_stopped_closes_and_reports() {
    let desk = Desk::new();
    desk.write(
        "slow.ad",
        &format!("open {}\npress text=Order\nwait text Never --timeout 60000\n", real(&desk)),
    );
    let child = begun(&desk, "replay slow.ad --report report.html");
    waits(&desk);
    desk.world.signal("-INT", child.id());
    let ran: Ran = child.wait_with_output().expect("it ends").into();
    assert!(ran.code != 0 && ran.err.contains("the replay was stopped before it finished"), "{ran:?}");
    let page = desk.read("report.html");
    assert!(page.contains("<strong>interrupted</strong>") && page.contains("press text=Order"), "{page}");
    assert_eq!(sessions(&desk), Some(0), "the session was closed");
}

#[test]
fn two_runs_may_write_one_report() {
    let desk = Desk::new();
    desk.write("a.ad", &format!("open {}\npress text=Order\n", desk.address()));
    desk.ok("daemon start");
    let line = "test a.ad --report out/report.html --junit out/results.xml";
    let runs = [begun(&desk, line), begun(&desk, line), begun(&desk, line)];
    for run in runs {
        let ran: Ran = run.wait_with_output().expect("it ends").into();
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    // One of the two pages, complete with its screenshots: the one written last.
    let page = desk.read("out/report.html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{page}");
    assert!(page.contains("data:image/png") && !page.contains("not there any more"), "{page}");
    assert_eq!(listed(&desk, "out"), ["report.html", "results.xml"]);
}

#[test]
fn what_cannot_be_written_is_said_before_anything_runs() {
    let desk = Desk::new();
    desk.write("a.ad", &format!("open {}\npress text=Order\n", desk.address()));
    std::fs::create_dir(desk.path("folder")).expect("a folder");
    for line in [
        "test a.ad --report /dev/null/report.html",
        "test a.ad --report folder",
        "test a.ad --artifacts /dev/null/kept",
        "replay a.ad --report /dev/null/report.html",
        "replay a.ad --report folder",
    ] {
        let ran = desk.run(line);
        assert!(
            ran.code == 9 && ran.err.starts_with("IO: could not ") && ran.out.is_empty(),
            "{line}: {ran:?}"
        );
    }
    assert!(desk.received().is_empty() && listed(&desk, "folder").is_empty());
}

#[test]
fn what_cannot_be_written_any_more_leaves_nothing_half_there() {
    let desk = Desk::new();
    desk.write("a.ad", &format!("open {}\nwait text Never --timeout 60000\n", real(&desk)));
    let child = begun(&desk, "test a.ad --report out/report.html");
    waits(&desk);
    // A folder is in its place, which a file cannot replace.
    std::fs::create_dir(desk.path("out/report.html")).expect("a folder");
    desk.world.signal("-INT", child.id());
    let ran: Ran = child.wait_with_output().expect("it ends").into();
    assert!(ran.code == 9 && ran.err.contains("could not write"), "{ran:?}");
    assert_eq!(listed(&desk, "out"), ["report.html"], "nothing is left next to it");
    assert!(listed(&desk, "out/report.html").is_empty());
}
