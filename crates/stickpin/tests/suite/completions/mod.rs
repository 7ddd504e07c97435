//! Shell completions, run by the shells themselves.

use crate::support::{Ran, World};
use std::process::{Command, Stdio};
use stickpin_testkit::skipped;

/// A shell, and a script that prints its completions at the end of each line of `$LINE`, and
/// `<end>` after those of a line.
struct Shell {
    program: &'static str,
    options: &'static [&'static str],
    script: &'static str,
    /// The environment variable that makes a missing shell a failure.
    required_by: &'static str,
    /// Why the shell may be missing.
    missing: &'static str,
}

const BASH: Shell = Shell {
    program: "bash",
    options: &["--norc", "-c"],
    script: include_str!("bash.sh"),
    required_by: "STICKPIN_REQUIRE_TERMINAL",
    missing: "bash is not installed",
};

const FISH: Shell = Shell {
    program: "fish",
    options: &["--no-config", "-c"],
    script: include_str!("complete.fish"),
    missing: "fish is not installed; `cargo xtask setup` installs it",
    ..BASH
};

const ZSH: Shell = Shell {
    program: "zsh",
    options: &["-f", "-c"],
    script: include_str!("capture.zsh"),
    missing: "zsh is not installed; `cargo xtask setup` installs it",
    ..BASH
};

const POWERSHELL: Shell = Shell {
    program: "pwsh",
    options: &["-NoProfile", "-NonInteractive", "-Command"],
    script: include_str!("complete.ps1"),
    required_by: "STICKPIN_REQUIRE_SHELLS",
    missing: "PowerShell is not installed, and Debian has no package of it",
};

impl Shell {
    /// Runs a script with `$LINE`, if the shell is installed.
    fn run(&self, world: &World, script: &str, line: &str) -> Option<Ran> {
        let ours = world.command(&[]);
        let mut command = Command::new(self.program);
        command.args(self.options).arg(script).env_clear().stdin(Stdio::null());
        command.current_dir(ours.get_current_dir().expect("a folder"));
        for (name, value) in ours.get_envs() {
            command.env(name, value.expect("a value"));
        }
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_stickpin"));
        let own = program.parent().expect("a folder").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path)));
        match command.env("PATH", path.expect("folders")).env("LINE", line).output() {
            Ok(output) => Some(output.into()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                skipped(self.required_by, self.missing);
                None
            }
            Err(e) => panic!("{}: {e}", self.program),
        }
    }

    /// Returns the completions at the end of each line, if the shell is installed. One shell
    /// answers for all lines, because starting a shell takes most of the time.
    fn completions(&self, world: &World, lines: &[&str]) -> Option<Vec<Vec<String>>> {
        let ran = self.run(world, self.script, &lines.join("\n"))?;
        assert_eq!((ran.code, &*ran.err), (0, ""), "{}: {lines:?}: {ran:?}", self.program);
        let mut parts: Vec<_> = ran.out.split("<end>").collect();
        let rest = parts.pop().map(str::trim);
        assert_eq!((parts.len(), rest), (lines.len(), Some("")), "{}: {lines:?}: {ran:?}", self.program);
        let words =
            |part: &str| part.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned).collect();
        Some(parts.into_iter().map(words).collect())
    }
}

/// Returns a world with a session and as much of an installed app as completions read.
fn world() -> World {
    let world = World::new();
    let applications = world.path().join(".local/share/applications");
    std::fs::create_dir_all(&applications).expect("a folder");
    std::fs::write(applications.join("org.example.Own.desktop"), "[Desktop Entry]\nExec=own\n")
        .expect("a file");
    world.ok("--session checkout open sim:shop");
    world
}

/// Lines, each with a word that completes it.
const LINES: &[(&str, &str)] = &[
    ("stickpin --session ch", "checkout"),
    ("stickpin help sel", "selectors"),
    ("stickpin help snap", "snapshot"),
    ("stickpin open --stale-refs e", "enforce"),
    ("stickpin --detail di", "digest"),
    ("stickpin press @e1 --color al", "always"),
    ("stickpin open sim:sh", "sim:shop"),
    #[cfg(feature = "linux")]
    ("stickpin open linux:org.example.", "linux:org.example.Own"),
];

#[test]
fn shells_offer_what_there_is() {
    let world = world();
    let lines: Vec<&str> = LINES.iter().map(|(line, _)| *line).collect();
    for shell in [BASH, FISH, ZSH] {
        let Some(all) = shell.completions(&world, &lines) else { continue };
        for ((line, offered), all) in LINES.iter().zip(all) {
            // Readline treats the colon as the end of a word.
            let offered = match offered.split_once(':') {
                Some((_, rest)) if shell.program == BASH.program => rest,
                _ => offered,
            };
            assert!(all.iter().any(|one| one == offered), "{}: {line}: {all:?}", shell.program);
            assert!(all.len() < 5, "{}: {line}: {all:?}", shell.program);
        }
    }
}

#[test]
fn completions_start_no_daemon() {
    let world = World::new();
    for shell in [BASH, FISH, ZSH] {
        let Some(all) = shell.completions(&world, &["stickpin --session "]) else { continue };
        let all = all.concat();
        assert!(!all.iter().any(|one| one == "checkout"), "{}: {all:?}", shell.program);
        assert!(world.pid().is_none(), "{} started a daemon", shell.program);
    }
}

#[test]
fn powershell_offers_the_commands_and_options() {
    let world = World::new();
    let script = world.ok("completions powershell");
    for part in ["'stickpin;snapshot' {", "'--max-bytes', '--max-bytes'"] {
        assert!(script.contains(part), "{part}");
    }
    let lines = ["stickpin snap", "stickpin snapshot --max-b"];
    let Some(completions) = POWERSHELL.completions(&world, &lines) else { return };
    for ((line, offered), all) in lines.iter().zip(["snapshot", "--max-bytes"]).zip(completions) {
        assert!(all.iter().any(|one| one == offered), "{line}: {all:?}");
    }
}

#[test]
fn nushell_reads_the_commands_and_options() {
    const NUSHELL: Shell = Shell {
        program: "nu",
        options: &["--no-config-file", "--commands"],
        script: "",
        required_by: "STICKPIN_REQUIRE_SHELLS",
        missing: "nushell is not installed, and Debian has no package of it",
    };
    let world = World::new();
    let script = world.ok("completions nushell");
    for part in
        ["export extern \"stickpin snapshot\" [", "--session: string@\"nu-complete stickpin sessions\""]
    {
        assert!(script.contains(part), "{part}");
    }
    let listed = format!("{script}\nscope externs | get name | str join (char newline) | print");
    let Some(ran) = NUSHELL.run(&world, &listed, "") else { return };
    assert!(ran.code == 0 && ran.out.lines().any(|name| name == "stickpin snapshot"), "{ran:?}");
}
