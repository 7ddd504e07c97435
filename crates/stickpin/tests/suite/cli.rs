//! The command line through the real binary: streams, exit codes, help.

use crate::support::{self, World, words};
use stickpin_testkit::skipped;

#[test]
fn exit_codes_and_errors() {
    let world = World::new();
    for (line, code, error) in [
        ("", 2, "stickpin drives real apps"),
        ("snapshto", 2, "INVALID_ARGS: there is no command \"snapshto\"\ndid you mean `stickpin snapshot`?"),
        ("open", 2, "INVALID_ARGS: `open` needs WHAT\nusage: stickpin open [OPTIONS] <WHAT>"),
        ("open nothing:here", 2, "INVALID_ARGS: "),
        (
            "open sim:shop --idle-timeout soon",
            2,
            "INVALID_ARGS: `idleTimeout` of `open`: \"soon\" is not a whole number\nrun `stickpin help open`",
        ),
        ("get title", 6, "SESSION_NOT_FOUND: "),
        ("get title --session other", 6, "SESSION_NOT_FOUND: session `other` is not open"),
        ("help nonsense", 2, "INVALID_ARGS: there is no topic or command \"nonsense\""),
        ("completions tcsh", 2, "INVALID_ARGS: "),
    ] {
        let ran = world.run(&words(line));
        assert_eq!(ran.code, code, "{line}: {ran:?}");
        assert!(ran.err.starts_with(error), "{line}: {}", ran.err);
        assert_eq!(ran.out, "", "{line}");
    }
}

#[test]
fn json_is_one_value_on_stdout_for_errors_too() {
    let world = World::new();
    for (line, code) in [
        ("get title --json", "SESSION_NOT_FOUND"),
        ("--json open", "INVALID_ARGS"),
        ("nope --json", "INVALID_ARGS"),
    ] {
        let ran = world.run(&words(line));
        let value = ran.json();
        assert_eq!(value["ok"], false, "{line}");
        assert_eq!(value["error"]["code"], code, "{line}");
        assert_eq!(value["error"]["dispatched"], "no", "{line}");
        assert_eq!(value["exit"], ran.code, "{line}");
        assert_eq!(ran.err, "", "{line}");
    }
}

#[test]
fn help_needs_no_daemon() {
    let world = World::new();
    for line in ["help", "--help", "-h", "help refs", "help open", "open -h", "--version", "completions bash"]
    {
        assert!(!world.ok(line).is_empty(), "{line}");
    }
    assert!(!world.state_dir().exists());
}

#[test]
fn session_name_is_the_same_in_all_project_folders() {
    let world = World::new();
    let project = world.path().join("shop");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::create_dir_all(project.join("src/deep")).unwrap();
    let name = |dir: &str| {
        let output = world.command(&["get", "title"]).current_dir(project.join(dir)).output().unwrap();
        let ran = support::Ran::from(output);
        ran.err.split('`').nth(1).unwrap_or_default().to_owned()
    };
    assert!(name("").starts_with("shop-"), "{}", name(""));
    assert_eq!(name("src/deep"), name(""));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let world = World::new();
    let mut child =
        world.command(&["help", "workflow"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn demo_is_reproducible_without_a_daemon() {
    let world = World::new();
    let first = world.ok("demo");
    assert_eq!(world.ok("demo"), first);
    assert!(!world.state_dir().exists());
    let refusal = first.lines().find(|line| line.starts_with("STALE_REF: ")).expect("the recycled row");
    assert!(refusal.contains("\"Ada Berg\"") && refusal.contains("\"Nils Falk\""), "{refusal}");
    // The README shows this output: the printed commands must be the executed ones.
    assert!(first.lines().filter(|line| line.starts_with("$ stickpin ")).count() >= 10);
    assert!(!first.contains('{'), "{first}");
}

#[test]
fn what_is_not_utf8_is_refused_by_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let odd = OsStr::from_bytes(b"caf\xe9");
    let folder = world.path().join(odd);
    std::fs::create_dir(&folder).expect("a folder");
    let link = world.path().join("link");
    std::os::unix::fs::symlink(&folder, &link).expect("a link");
    let link = link.to_str().expect("text");
    let refused = |command: &mut std::process::Command, named: &str| {
        let ran: support::Ran = command.output().expect("it runs").into();
        assert_ne!(ran.code, 0, "{ran:?}");
        let coded = ["IO: ", "INVALID_ARGS: "].iter().any(|code| ran.err.starts_with(code));
        assert!(coded && ran.err.contains(named) && ran.err.contains("not UTF-8"), "{ran:?}");
    };
    for line in [&["session", "list"][..], &["mcp"], &["test", "."]] {
        refused(world.command(line).current_dir(&folder), "the working directory");
        refused(world.command(line).env("HOME", &folder), "the home directory");
        refused(world.command(line).env("STICKPIN_STATE_DIR", &folder), "STICKPIN_STATE_DIR");
        refused(world.command(line).env("STICKPIN_SESSION", odd), "STICKPIN_SESSION");
    }
    refused(&mut world.command(&["session", "list", "--state-dir", link]), "the state dir");
    let ran: support::Ran =
        world.command(&["session", "list", "--json"]).current_dir(&folder).output().expect("it runs").into();
    assert_eq!(ran.json()["error"]["code"], "IO", "{ran:?}");
}

#[test]
fn an_empty_name_is_not_the_default() {
    let world = World::new();
    world.ok("open sim:shop");
    for line in [
        &["close", "--session", ""][..],
        &["close", "--session="],
        &["session", "list", "--state-dir="],
        &["mcp", "--session", ""],
    ] {
        let ran = world.run(line);
        assert!(ran.code == 2 && ran.err.contains("is empty"), "{line:?}: {ran:?}");
    }
    assert_eq!(world.ok("session list").lines().count(), 1, "nothing was closed");
}

#[test]
fn full_disk_under_stdout_is_a_failure() {
    let world = World::new();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let topic = stickpin(&world, &["help", "workflow"], full());
    // First longer than the output buffer, then short enough to fit in it.
    for ran in
        [topic, stickpin(&world, &["--version"], full()), stickpin(&world, &["devices", "--json"], full())]
    {
        assert_eq!(ran.code, i32::from(stickpin_kernel::ErrorCode::StorageFull.exit()), "{ran:?}");
        assert!(ran.err.starts_with("STORAGE_FULL: could not write to `stdout`"), "{ran:?}");
    }
    // An independent failure keeps its own exit code.
    assert_eq!(stickpin(&world, &["get", "title", "--json"], full()).code, 6);
}

fn stickpin(world: &World, args: &[&str], out: std::fs::File) -> support::Ran {
    world
        .command(args)
        .stdout(out)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap()
        .into()
}

#[test]
fn full_disk_leaves_every_file_that_was_there() {
    let world = World::new();
    let disk = world.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    if !support::may_mount() {
        skipped("STICKPIN_REQUIRE_MOUNTS", "nothing may be mounted here");
        return;
    }
    // The daemon that the first command starts also sees the small disk.
    let script = r#"
        mount -t tmpfs -o size=256k tmpfs "$DISK" || exit 90
        cd "$DISK" && mkdir scripts && cd scripts
        "$BIN" open 'sim:shop?clock=virtual' --record >/dev/null || exit 91
        "$BIN" screenshot one.png >/dev/null && "$BIN" press 'role=button label="Add to cart" row="Oak lamp"' >/dev/null
        "$BIN" screenshot two.png >/dev/null || exit 92
        printf old > old.png && printf old > old.ad && printf old > old.yaml && printf old > old.xml && printf old > old.html
        cat /dev/zero > filler 2>/dev/null
        "$BIN" screenshot old.png; echo "screenshot $?"
        "$BIN" diff screenshot one.png two.png --out old.png; echo "diff $?"
        "$BIN" record stop old.ad; echo "record $?"
        printf 'open sim:shop\n' > "$HOME/flow.ad"
        "$BIN" replay export "$HOME/flow.ad" --format maestro --out old.yaml; echo "export $?"
        "$BIN" test "$HOME/flow.ad" --junit old.xml --report old.html; echo "test $?"
        for file in old.*; do printf '%s=%s\n' "$file" "$(cat "$file")"; done
        ls
        rm filler
        "$BIN" record stop old.ad >/dev/null; echo "record $?"
        grep -c . old.ad
    "#;
    let first = world.command(&[]);
    let mut command = support::unshared(&["sh", "-c", script]);
    command.env_clear().envs(first.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("BIN", first.get_program()).env("DISK", &disk);
    let ran = support::Ran::from(command.output().unwrap());
    let full = stickpin_kernel::ErrorCode::StorageFull.exit();
    for command in ["screenshot", "diff", "record", "export", "test"] {
        assert!(ran.out.contains(&format!("{command} {full}\n")), "{command}: {ran:?}");
    }
    for file in ["old.ad", "old.html", "old.png", "old.xml", "old.yaml"] {
        assert!(ran.out.contains(&format!("{file}=old\n")), "{file}: {ran:?}");
    }
    assert!(!ran.out.contains(".part"), "something is left: {ran:?}");
    // No recorded line is lost: the header, open, press.
    assert!(ran.out.contains("record 0\n"), "{ran:?}");
}
