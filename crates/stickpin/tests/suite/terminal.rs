//! Output for a person at a terminal: colors, tables, pictures, progress, steps from
//! standard input.

use crate::support::{Ran, World};
use std::io::Write;
use std::process::Stdio;
use stickpin_testkit::skipped;

const ESCAPE: char = '\u{1b}';

/// Runs a command line on a terminal with this many columns, if a program for that is installed.
fn on_terminal(world: &World, columns: u16, env: &[(&str, &str)], line: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_stickpin");
    // Only the program gets these variables: `script` and the shell need a search path.
    let exports: String = env.iter().map(|(name, value)| format!("export {name}='{value}'; ")).collect();
    let script = format!("stty cols {columns}; {exports}exec {program} {line}");
    let ours = world.command(&[]);
    let mut terminal = std::process::Command::new("script");
    terminal.args(["-qec", &script, "/dev/null"]).env_clear().stdin(Stdio::null());
    terminal.current_dir(ours.get_current_dir().expect("a folder"));
    for (name, value) in ours.get_envs() {
        terminal.env(name, value.expect("a value"));
    }
    terminal.env("TERM", "xterm");
    match terminal.output() {
        Ok(output) => Some(String::from_utf8(output.stdout).expect("text").replace("\r\n", "\n")),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            skipped("STICKPIN_REQUIRE_TERMINAL", "there is no program `script`, which makes a terminal");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn person_is_told_of_a_cleanup_and_nobody_else() {
    const LEGACY: &str = r#"{"mcpServers": {"stickpin": {"command": "stickpin", "args": ["mcp"]}}}"#;
    const TOLD: &str = "removed stale registrations of stickpin from claude-code\n";
    for (env, line, told) in [
        (&[("PATH", "/nowhere")][..], "session list", true),
        (&[("PATH", "/nowhere")], "session list --json", false),
        (&[("PATH", "/nowhere"), ("STICKPIN_AGENT_ID", "codex:one")], "session list", false),
    ] {
        let world = World::new();
        let config = world.path().join(".claude.json");
        std::fs::write(&config, LEGACY).expect("a file");
        let Some(shown) = on_terminal(&world, 100, env, line) else { return };
        assert_eq!(shown.contains(TOLD), told, "{env:?} {line}: {shown:?}");
        assert_eq!(std::fs::read_to_string(&config).expect("a file"), "{\"mcpServers\": {}}");
        let shown = on_terminal(&world, 100, env, line).expect("a terminal");
        assert!(!shown.contains(TOLD), "{shown:?}");
    }
}

#[test]
fn colors_are_shown_on_a_terminal_unless_they_are_unwanted() {
    let world = World::new();
    world.ok("open sim:shop");
    let Some(shown) = on_terminal(&world, 100, &[], "snapshot -i") else { return };
    assert!(shown.contains("\u{1b}[36m@e1\u{1b}[0m "), "{shown:?}");
    let shown = on_terminal(&world, 100, &[], "press @e99").expect("a terminal");
    assert!(shown.starts_with("\u{1b}[1m\u{1b}[31mREF_NOT_FOUND:\u{1b}[0m @e99"), "{shown:?}");
    for (env, line) in [
        (&[("NO_COLOR", "1")][..], "snapshot -i"),
        (&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], "snapshot -i"),
        (&[("CLICOLOR", "0")], "snapshot -i"),
        (&[("TERM", "dumb")], "snapshot -i"),
        (&[], "snapshot -i --color never"),
        (&[], "--color=never press @e99"),
        (&[], "snapshot -i --json"),
        (&[("CLICOLOR_FORCE", "1")], "press @e99 --json --color always"),
    ] {
        let shown = on_terminal(&world, 100, env, line).expect("a terminal");
        assert!(!shown.contains(ESCAPE) && shown.contains("@e"), "{env:?} {line}: {shown:?}");
    }
}

#[test]
fn colors_are_shown_elsewhere_only_where_they_are_asked_for() {
    let world = World::new();
    world.ok("open sim:shop");
    assert!(!world.ok("snapshot -i").contains(ESCAPE));
    assert!(world.ok("snapshot -i --color always").contains("\u{1b}[36m@e1\u{1b}[0m "));
    let ran: Ran =
        world.command(&["snapshot", "-i"]).env("CLICOLOR_FORCE", "1").output().expect("it runs").into();
    assert!(ran.out.contains(ESCAPE), "{ran:?}");
    let ran: Ran = world
        .command(&["press", "@e99", "--color", "sometimes"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .expect("it runs")
        .into();
    assert!(ran.code == 2 && ran.err.contains("not one of auto, always, never"), "{ran:?}");
}

#[test]
fn lists_are_tables_that_fit_the_terminal() {
    let world = World::new();
    world.ok("--session a open sim:shop");
    world.ok("--session checkout open sim:settings/devices");
    let Some(wide) = on_terminal(&world, 200, &[], "session list") else { return };
    let column = |line: &str, word: &str| line.find(word).unwrap_or_else(|| panic!("{word}: {line}"));
    let lines: Vec<&str> = wide.lines().collect();
    assert_eq!(lines.len(), 2, "{wide}");
    for word in ["sim:", "yours", "open ", "idle "] {
        assert_eq!(column(lines[0], word), column(lines[1], word), "{word}: {wide}");
    }
    let narrow = on_terminal(&world, 90, &[], "devices").expect("a terminal");
    assert!(narrow.contains("…\"") && narrow.lines().all(|line| line.chars().count() <= 90), "{narrow}");
    let piped = world.ok("devices");
    assert!(!piped.contains('…') && piped.contains("sim:shop  \""), "{piped}");
}

#[test]
fn batch_reads_command_lines_and_standard_input() {
    let world = World::new();
    let log = world.path().join("log");
    world.ok(&format!("open sim:shop?log={} -i", log.display()));
    let ran = world.run(&["batch", "press 'role=button text=\"Add to cart\" nth=1'", "get title"]);
    assert!(ran.code == 0 && ran.out.contains("[1] press") && ran.out.contains("[2] get"), "{ran:?}");
    let mut child = world
        .command(&["batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(b"# buys a chair\npress 'text=\"Add to cart\" nth=2'\n\nget title\n")
        .expect("it is read");
    drop(stdin);
    let ran: Ran = child.wait_with_output().expect("it ends").into();
    assert!(ran.code == 0 && ran.out.contains("[2] get"), "{ran:?}");
    let received = std::fs::read_to_string(&log).expect("a log");
    for element in ["add lamp", "add chair"] {
        let pressed = format!("\"press\",\"element\":\"{element}\"");
        assert!(received.contains(&pressed), "{element}: {received}");
    }
}

#[test]
fn picture_is_shown_in_a_terminal_that_can() {
    const KITTY: &str = "\u{1b}_Ga=T,f=100,q=2";
    let world = World::new();
    world.ok("open sim:shop");
    let kitty = [("TERM", "xterm-kitty")];
    let Some(shown) = on_terminal(&world, 100, &kitty, "screenshot before.png --show") else { return };
    let (text, picture) = shown.split_once('\n').expect("two parts");
    assert!(text.contains("before.png · ") && picture.starts_with(KITTY), "{shown:?}");
    assert!(picture.ends_with("\u{1b}\\\n"), "{shown:?}");
    world.ok("press 'text=\"Add to cart\" nth=1'");
    let shown = on_terminal(&world, 100, &kitty, "diff screenshot before.png --show").expect("a terminal");
    assert!(shown.contains(" pixels differ, ") && shown.contains(KITTY), "{shown:?}");
    let shown = on_terminal(&world, 100, &[("TERM", "foot")], "screenshot --show").expect("a terminal");
    assert!(shown.contains("\u{1b}P"), "{shown:?}");
    for (env, line, why) in [
        (&kitty[..], "screenshot", None),
        (&kitty, "screenshot --show --json", Some("the output is JSON")),
        (&[("TERM", "xterm-kitty"), ("TMUX", "1")], "screenshot --show", Some("multiplexer")),
        (&[], "screenshot --show", Some("not known to support")),
    ] {
        let shown = on_terminal(&world, 100, env, line).expect("a terminal");
        assert!(!shown.contains(ESCAPE), "{env:?} {line}: {shown:?}");
        let note = shown.lines().find(|line| line.starts_with("the picture is not shown: "));
        assert_eq!(note.is_some(), why.is_some(), "{shown:?}");
        assert!(why.is_none_or(|why| shown.contains(why)), "{shown:?}");
    }
    let ran: Ran =
        world.command(&["screenshot", "--show"]).env("TERM", "xterm-kitty").output().expect("it runs").into();
    assert!(ran.code == 0 && !ran.out.contains(ESCAPE), "{ran:?}");
    assert_eq!(ran.err, "the picture is not shown: the output does not go to a terminal\n");
}

#[test]
fn progress_moves_on_a_terminal_and_is_plain_lines_in_a_pipe() {
    let world = World::new();
    let folder = world.path().join("shop");
    for name in ["a", "b"] {
        let script = "open sim:shop\nget title\nclose\n";
        std::fs::write(folder.join(format!("{name}.ad")), script).expect("a file");
    }
    let plain: Ran = world.run(&["test", "a.ad", "b.ad"]);
    assert!(plain.code == 0 && !plain.err.contains([ESCAPE, '█', '░']), "{plain:?}");
    assert_eq!(plain.err.lines().filter(|line| line.starts_with("pass ")).count(), 2, "{plain:?}");
    // A step that takes a while is shown, so that a CI log does not seem to hang.
    std::fs::write(folder.join("slow.ad"), "open sim:shop\nwait ms 2100\nget title\nclose\n")
        .expect("a file");
    for (command, err) in
        [("replay", "2/4 slow.ad:2 wait ms 2100\n"), ("test", "2/4 slow.ad:2 wait ms 2100\npass")]
    {
        let slow = world.run(&[command, "slow.ad"]);
        assert!(slow.code == 0 && slow.err.contains(err), "{slow:?}");
    }
    for columns in [20, 80] {
        let Some(shown) = on_terminal(&world, columns, &[("NO_COLOR", "1")], "test a.ad b.ad") else {
            return;
        };
        assert!(shown.contains("░ 0/2") && shown.contains("░ 1/2"), "{columns}: {shown:?}");
        assert!(shown.contains("1/3 a.ad:1 open"), "{columns}: {shown:?}");
        // Cursor movements only: no escape sequence sets a color.
        assert!(
            shown.contains("\u{1b}[2K") && !shown.split(ESCAPE).any(|s| s.starts_with("[3")),
            "{shown:?}"
        );
        let after = shown.rsplit("\u{1b}[2K").next().expect("a part");
        assert!(!after.contains(['█', '░']), "the progress bars are still shown: {shown:?}");
        let shown = on_terminal(&world, columns, &[], "replay a.ad").expect("a terminal");
        assert!(shown.contains("░ 1/3 a.ad:1 "), "{columns}: {shown:?}");
    }
    let dumb = on_terminal(&world, 80, &[("TERM", "dumb")], "test a.ad b.ad").expect("a terminal");
    assert!(!dumb.contains([ESCAPE, '█', '░']), "{dumb:?}");
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let world = World::new();
    let said = world.ok("man --out pages");
    let pages = world.path().join("shop/pages");
    let count = std::fs::read_dir(&pages).expect("a folder").count();
    assert!(count > 60 && said.contains(&format!("wrote {count} ")), "{count}: {said}");
    let press = std::fs::read_to_string(pages.join("stickpin-press.1")).expect("a page");
    assert!(press.contains(".TH stickpin-press 1") && press.contains("\\-\\-settle"), "{press}");
    assert_eq!(world.ok("man press"), press);
    let ran = world.run(&["man", "nonsense"]);
    assert!(ran.code == 2 && ran.err.contains("there is no command"), "{ran:?}");
}
