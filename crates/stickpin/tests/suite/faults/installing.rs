//! F26 and F39: the disk is full during an installation, or the installation is killed. Each
//! installation is a separate process.

use crate::support::{self, Ran, World, words};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use stickpin_testkit::skipped;

const CONFIG: &str = "# mine\nmodel = \"o3\"\n\n[mcp_servers.docs] # theirs\ncommand = \"docs\"\n";

/// Installs and uninstalls below a home and a state directory, one of which is on the full disk.
/// Prints a line per command: its exit code, and whether the configuration is unchanged.
const ON_A_SMALL_DISK: &str = r#"
    mount -t tmpfs -o size=1m tmpfs "$DISK" || exit 90
    mkdir -p "$HOME/.codex" && cp "$CONFIG" "$HOME/.codex/config.toml" || exit 91
    config="$HOME/.codex/config.toml"
    run() {
        name="$1"; shift
        cp "$config" "$OUT/before"
        "$BIN" "$@" --json > "$OUT/$name" 2>&1; code=$?
        cmp -s "$config" "$OUT/before"; echo "$name $code $?"
    }
    fill() { cat /dev/zero > "$DISK/filler" 2>/dev/null; }
    prepare() { :; }
    [ -z "$FORGET_AUDIT" ] || prepare() { rm -f "$STICKPIN_STATE_DIR/install/install-audit.jsonl"; }
    "$BIN" install codex --print >/dev/null || exit 92
    prepare; fill; run install-full install codex
    rm "$DISK/filler"; run install-free install codex
    prepare; fill; run uninstall-full uninstall codex
    rm "$DISK/filler"; run uninstall-free uninstall codex
    cmp "$config" "$CONFIG"; echo "restored $? 0"
    echo "files $(ls -A "$HOME/.codex" | wc -l) 0"
"#;

/// Runs the script with the home or the state directory on the small disk. Returns the exit code
/// and whether the configuration changed, for each command.
fn on_a_small_disk(world: &World, is_home: bool) -> Vec<(String, String, bool)> {
    let [disk, out, elsewhere] = ["disk", "out", "elsewhere"].map(|name| world.path().join(name));
    for folder in [&disk, &out, &elsewhere] {
        fs::create_dir(folder).expect("a folder");
    }
    let config = world.path().join("config.toml");
    fs::write(&config, CONFIG).expect("a file");
    let first = world.command(&[]);
    let mut command = support::unshared(&["sh", "-c", ON_A_SMALL_DISK]);
    command.env_clear().envs(first.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("BIN", first.get_program()).env("DISK", &disk).env("OUT", &out).env("CONFIG", &config);
    let (home, state) = if is_home { (&disk, &elsewhere) } else { (&elsewhere, &disk) };
    command.env("HOME", home.join("home")).env("STICKPIN_STATE_DIR", state.join("state"));
    command.env("FORGET_AUDIT", if is_home { "" } else { "1" });
    let ran = Ran::from(command.output().expect("unshare runs"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines = ran.out.lines().map(|line| {
        let [name, code, same] = words(line)[..] else { panic!("not three words: {ran:?}") };
        (name.to_owned(), code.to_owned(), same != "0")
    });
    lines.collect()
}

/// F26.
#[test]
fn installation_on_a_full_disk_changes_no_configuration() {
    if !support::may_mount() {
        skipped("STICKPIN_REQUIRE_MOUNTS", "nothing may be mounted here");
        return;
    }
    for is_home in [true, false] {
        let world = World::new();
        let ran = on_a_small_disk(&world, is_home);
        let printed = |name: &str| fs::read_to_string(world.path().join("out").join(name)).expect("a file");
        let status = |name: &str| {
            let answer: Value = serde_json::from_str(&printed(name)).expect("JSON");
            answer["output"]["results"][0]["status"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
        };
        let of = |name: &str, code: &str, changed| (name.to_owned(), code.to_owned(), changed);
        let expected = [
            of("install-full", "9", false),
            of("install-free", "0", true),
            of("uninstall-full", "9", false),
            of("uninstall-free", "0", true),
            of("restored", "0", false),
            of("files", "1", false),
        ];
        assert_eq!(ran, expected, "{is_home}: {} {}", printed("install-full"), printed("uninstall-full"));
        for (name, expected) in
            [("install-full", "failed"), ("install-free", "added"), ("uninstall-full", "failed")]
        {
            assert_eq!(status(name), expected, "{is_home}: {name}: {}", printed(name));
            assert!(expected != "failed" || printed(name).contains("the disk is full"), "{}", printed(name));
        }
    }
}

/// A home with a configuration file that is large enough that rewriting it takes a while.
struct Home {
    world: World,
    config: PathBuf,
    before: String,
}

impl Home {
    fn new() -> Self {
        let world = World::new();
        let config = world.path().join(".codex/config.toml");
        fs::create_dir(config.parent().expect("a folder")).expect("a folder");
        let before = format!("{CONFIG}{}", "# a comment of the person who keeps this file\n".repeat(8_000));
        fs::write(&config, &before).expect("a file");
        Self { world, config, before }
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.config).expect("the configuration is whole")
    }

    /// Returns the path of the new configuration before it is moved into place.
    fn unfinished(&self) -> PathBuf {
        self.config.with_file_name(".config.toml.stickpin-new")
    }

    /// Returns the last action in the audit log.
    fn last_action(&self) -> Option<String> {
        let text = fs::read_to_string(self.world.state_dir().join("install/install-audit.jsonl")).ok()?;
        let line: Value = serde_json::from_str(text.lines().last()?).ok()?;
        line["action"].as_str().map(str::to_owned)
    }

    fn run(&self, line: &str) -> Ran {
        self.command(line).output().expect("the program").into()
    }

    fn command(&self, line: &str) -> std::process::Command {
        let mut command = self.world.command(&words(line));
        // No harness is on the path.
        command.env("PATH", "/nowhere");
        command
    }

    /// Runs a command until a condition holds, and then kills it.
    fn kill_when(&self, line: &str, is_so: impl Fn() -> bool) {
        let mut child: Child =
            self.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program");
        // There is no pause, because the condition may hold only briefly.
        while !is_so() && child.try_wait().expect("a state").is_none() {}
        child.kill().expect("it runs, or it was waited for");
        child.wait().expect("it ends");
    }

    /// Checks the configuration, and that no other file is left next to it.
    #[track_caller]
    fn is_finished(&self, expected: &str) {
        assert!(self.text() == expected, "unexpected configuration: {}", &self.text()[..200]);
        assert!(!self.unfinished().exists(), "a temporary file is left");
    }
}

/// F39: a kill may come too early or too late, so it is repeated until one meets the rewrite.
#[test]
fn installation_that_is_killed_leaves_the_old_or_the_new_file() {
    let home = Home::new();
    assert_eq!(home.run("install codex").code, 0);
    let installed = home.text();
    assert_eq!(home.run("uninstall codex").code, 0);
    home.is_finished(&home.before);
    for (line, moment) in [("install", "rewriting"), ("uninstall", "rewriting"), ("uninstall", "removing")] {
        let is_due = || match moment {
            "rewriting" => home.unfinished().exists(),
            _ => home.last_action().as_deref() == Some(moment),
        };
        let (old, new) =
            if line == "install" { (&home.before, &installed) } else { (&installed, &home.before) };
        let line = format!("{line} codex");
        for attempt in 0.. {
            assert!(attempt < 40, "{line} was never killed while {moment}");
            if line.starts_with("uninstall") {
                assert_eq!(home.run("install codex").code, 0);
            }
            home.kill_when(&line, is_due);
            let left = home.text();
            assert!(left == *old || left == *new, "half of a file: {} bytes", left.len());
            let is_hit = left == *old && is_due();
            let again = home.run(&line);
            assert_eq!(again.code, 0, "{again:?}");
            home.is_finished(new);
            if line.starts_with("install") {
                assert_eq!(home.run("uninstall codex").code, 0);
            }
            if is_hit {
                break;
            }
        }
    }
}
