//! Errors in a script or in its invocation are reported with file, line and a hint; nothing is
//! sent.

use super::Desk;
use crate::support::eventually;
use std::process::Stdio;

#[test]
fn faults_are_said_before_anything_runs() {
    let desk = Desk::new();
    let open = format!("open {}\n", desk.address());
    desk.write("good.ad", &open);
    for (script, says) in [
        ("frobnicate\n", "bad.ad:2: there is no command \"frobnicate\""),
        ("press ${WHO}\n", "bad.ad:2: `${WHO}` is not set"),
        ("loop 3 {\n}\n", "bad.ad:2:1: \"loop\" does not start a block"),
        ("press \"a\n", "bad.ad:2:7: a quote is not closed"),
        ("press \"a\tb\"\n", "bad.ad:2:9: the text in double quotes contains a control character"),
        ("press a\rb\n", "bad.ad:2:8: the line contains a carriage return"),
        ("include bad.ad\n", "includes itself"),
        ("include not-there.ad\n", "bad.ad:2: no such file: not-there.ad (resolved to /"),
        ("include ~ada/a.ad\n", "bad.ad:2: \"~ada/a.ad\" names a user's home directory"),
        ("retry 2 {\npress a\n", "bad.ad:2:1: this block is not closed"),
        ("press @e1~3\n", "bad.ad:2: "),
    ] {
        desk.write("bad.ad", &format!("{open}{script}"));
        let ran = desk.run("replay bad.ad");
        assert!(
            matches!(ran.code, 2 | 9) && ran.err.contains(says) && ran.out.is_empty(),
            "{script}: {ran:?}"
        );
    }
    desk.write("bad.ad", "context platform=sim platform=web\nopen sim:shop\n");
    let ran = desk.run("replay bad.ad");
    assert!(ran.err.contains("bad.ad:1:22: `platform` is given twice"), "{ran:?}");
    for huge in ["huge.ad", "huge.yaml"] {
        let file = std::fs::File::create(desk.path(huge)).expect("a file");
        file.set_len(100 << 20).expect("it grows");
        let ran = desk.run(&format!("replay {huge}"));
        assert!(ran.code == 2 && ran.err.contains("has more than 4194304 bytes"), "{ran:?}");
    }
    // Through two files, and through a flow.
    desk.write("one.ad", &format!("{open}include two.ad\n"));
    desk.write("two.ad", "include flow.yaml\n");
    desk.write("flow.yaml", "appId: sim:shop\n---\n- runFlow: one.ad\n");
    let ran = desk.run("replay one.ad");
    assert!(ran.code == 2 && ran.err.contains("flow.yaml:3: one.ad includes itself"), "{ran:?}");
    for (flow, says) in [
        ("appId: sim:shop\n---\n- tapOn: [\n", "bad.yaml:4:1: this is not YAML"),
        ("appId: sim:shop\n---\n- tapOn: a\n\t- back\n", "bad.yaml:3:10: this is not YAML"),
        (
            "appId: sim:shop\n---\n- runFlow: not-there.yaml\n",
            "bad.yaml:3: no such file: not-there.yaml (resolved to /",
        ),
    ] {
        desk.write("bad.yaml", flow);
        let ran = desk.run("replay bad.yaml");
        assert!(matches!(ran.code, 2 | 9) && ran.err.contains(says) && ran.out.is_empty(), "{flow}: {ran:?}");
    }
    std::fs::write(desk.path("binary.ad"), [0xff, 0xfe, 0x00]).expect("a file");
    assert!(desk.run("replay binary.ad").err.contains("is not UTF-8 text"));
    for (line, says) in [
        ("replay", "`replay` needs FILE"),
        ("replay not-there.ad", "no such file: not-there.ad (resolved to /"),
        ("replay good.ad -e 1=2", "is not a variable name"),
        ("replay good.ad -e AD_SESSION=x", "is a reserved name"),
        ("replay good.ad --from 7", "cannot begin at step 7: the script has 1 step"),
        (
            "replay good.ad --plan-digest 0123456789abcdef",
            "or a file that it includes has changed: the plan digest is",
        ),
        ("test", "`test` needs PATH"),
        ("test not-there", "\"not-there\" matches no script (resolved to /"),
        ("test 'flows/**/*.ad'", "matches no script"),
        ("test good.ad --shard 3/2", "`shard` must be `I/N` with I from 1 to N"),
        ("test good.ad --workers 0", "`workers` must be a number"),
        ("test good.ad --junit /dev/null/x.xml", "could not write"),
    ] {
        let ran = desk.run(line);
        assert!(ran.code != 0 && ran.err.contains(says) && ran.out.is_empty(), "{line}: {ran:?}");
    }
    assert!(desk.received().is_empty());
    // An unreadable file of a suite fails as a script, and does not end the suite.
    desk.write("bad.ad", "frobnicate\n");
    let ran = desk.run("test bad.ad good.ad");
    assert!(ran.code == 1 && ran.out.contains("2 scripts: 1 passed, 1 failed"), "{ran:?}");
}

#[test]
fn a_script_of_another_platform_is_not_run() {
    let desk = Desk::new();
    desk.write("ios.ad", "context platform=ios\nopen Settings\npress text=Add\n");
    let ran = desk.run("replay ios.ad");
    assert!(ran.code == 1 && ran.err.starts_with("UNSUPPORTED: the script is for \"ios\""), "{ran:?}");
    desk.write("web.ad", &format!("context platform=web\nopen {}\npress text=Order\n", desk.address()));
    let ran = desk.run("replay web.ad");
    assert!(ran.code == 1 && ran.err.starts_with("UNSUPPORTED: the script is for \"web\""), "{ran:?}");
    assert!(desk.received().is_empty());
}

#[test]
fn a_backend_that_is_lost_is_no_failure_of_the_app() {
    let desk = Desk::new();
    desk.write("lost.ad", &format!("open \"{}&fault=lost\"\npress text=Order\n", desk.address()));
    desk.write("gone.ad", "open sim:no-such-app\n");
    desk.write("fails.ad", &format!("open {}\npress text=Nothing\n", desk.address()));
    let ran = desk.run("test lost.ad gone.ad fails.ad --wait 0 --json");
    assert_eq!(ran.code, 1, "{ran:?}");
    let report = &ran.json()["output"];
    let outcome = |at: usize| report["files"][at]["outcome"].as_str().unwrap_or_default().to_owned();
    assert_eq!([outcome(0), outcome(1), outcome(2)], ["failed", "broken", "broken"], "{report}");
}

#[test]
fn who_is_stopped_closes_and_reports_what_was_done() {
    let desk = Desk::new();
    desk.write("a.ad", &format!("open {}\n", desk.address()));
    desk.write("b.ad", "open sim:shop\nwait text Never --timeout 60000\n");
    desk.write("c.ad", "open sim:shop\n");
    let child = desk
        .world
        .command(&["test", "a.ad", "b.ad", "c.ad", "--junit", "results.xml", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // The second one waits.
    eventually("b.ad waits", || {
        let list = desk.run("session list --json").json();
        let sessions = list["output"]["sessions"].as_array().cloned().unwrap_or_default();
        sessions.iter().any(|session| session["running"].to_string().contains("wait"))
    });
    desk.world.signal("-INT", child.id());
    let ran: super::Ran = child.wait_with_output().expect("it ends").into();
    assert_eq!(ran.code, 1, "{ran:?}");
    let report = &ran.json()["output"];
    assert_eq!(report["endedEarly"], "interrupted", "{report}");
    let outcomes: Vec<_> =
        report["files"].as_array().expect("files").iter().map(|f| f["outcome"].clone()).collect();
    assert_eq!(outcomes, ["passed", "notRun", "notRun"]);
    assert!(desk.read("results.xml").contains("skipped=\"2\""), "{}", desk.read("results.xml"));
    let list = desk.run("session list --json").json();
    assert_eq!(list["output"]["sessions"].as_array().map(Vec::len), Some(0), "{list}");
}

#[test]
fn two_runs_may_write_one_file() {
    let desk = Desk::new();
    desk.write("a.ad", &format!("open {}\n", desk.address()));
    desk.ok("daemon start");
    let run = || {
        let mut command = desk.world.command(&["test", "a.ad", "--junit", "results.xml"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    };
    let (mut one, mut other) = (run(), run());
    assert!(one.wait().expect("it ends").success() && other.wait().expect("it ends").success());
    let xml = desk.read("results.xml");
    assert!(xml.starts_with("<?xml") && xml.trim_end().ends_with("</testsuites>"), "{xml}");
    let left = std::fs::read_dir(desk.path("")).expect("a folder").map(|e| e.expect("an entry").file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().contains(".part")).collect();
    assert!(left.is_empty(), "{left:?}");
}
