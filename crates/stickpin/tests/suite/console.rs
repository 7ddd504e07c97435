//! The console: line by line through pipes, and as a screen in a terminal that `tmux` provides.

use crate::support::{Ran, World, eventually, eventually_or, huge_app, words};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use stickpin_testkit::skipped;

/// A plain console whose lines are written one by one.
struct Plain {
    child: Child,
    input: ChildStdin,
    out: BufReader<ChildStdout>,
}

impl Plain {
    fn start(world: &World, options: &str) -> Self {
        let line = format!("--session shop console --plain {options}");
        let mut command = world.command(&words(&line));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary runs");
        let input = child.stdin.take().expect("a pipe");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, input, out }
    }

    /// Runs a line that prints one line.
    fn line(&mut self, line: &str) -> String {
        writeln!(self.input, "{line}").expect("the console reads");
        let mut answer = String::new();
        self.out.read_line(&mut answer).expect("the console answers");
        answer.trim_end().to_owned()
    }
}

/// Runs lines in a separate console.
fn console(world: &World, options: &str, lines: &str) -> Ran {
    let line = format!("--session shop console --plain {options}");
    let mut command = world.command(&words(&line));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("the console reads");
    child.wait_with_output().expect("the console ends").into()
}

/// Returns the prompts that a console may refer to.
fn prompts(world: &World) -> Vec<String> {
    let read = world.run(&words("--session shop context read main --json")).json();
    let entries = read["output"]["entries"].as_array().cloned().unwrap_or_default();
    entries.iter().map(|entry| entry["body"].as_str().expect("text").to_owned()).collect()
}

fn agent(world: &World, line: &str) -> Output {
    let mut command = world.command(&[&["--session", "shop"], &words(line)[..]].concat());
    command.env("STICKPIN_AGENT_ID", "claude:ada").output().expect("the binary runs")
}

#[test]
fn conversation_goes_on_in_the_next_console_until_it_is_cleared() {
    let world = World::new();
    let first = console(&world, "", "open sim:shop\nget text 'role=link label=Orders'\n");
    assert_eq!(first.code, 0, "{first:?}");
    let second = console(&world, "", ":drive\npress it\n");
    assert_eq!(second.code, 0, "{second:?}");
    assert!(second.out.contains("\nit is role=link label=Orders\npressed "), "{second:?}");
    assert_eq!(prompts(&world).len(), 4);
    let cleared = console(&world, "", ":clear\npress it\n");
    assert_eq!(cleared.code, 2, "{cleared:?}");
    assert!(cleared.err.contains("`it` refers to nothing"), "{cleared:?}");
    assert_eq!(prompts(&world), Vec::<String>::new());
    let log = world.run(&words("--session shop session log --limit 200"));
    assert!(log.out.contains("get text 'role=link label=Orders'"), "the history stays: {log:?}");
    let ephemeral = console(&world, "--ephemeral", "get text 'role=link label=Orders'\nget text it\n");
    assert_eq!(ephemeral.code, 0, "{ephemeral:?}");
    assert_eq!(prompts(&world), Vec::<String>::new());
}

#[test]
fn it_has_the_pin_of_the_snapshot_that_showed_it() {
    let world = World::new();
    let found = console(&world, "", "open sim:shop\nfind Orders\n");
    assert_eq!(found.code, 0, "{found:?}");
    let read = world.run(&words("--session shop context read main --json")).json();
    assert!(read["output"]["entries"][1]["pins"][0].is_array(), "{read}");
    let other = console(&world, "", ":drive\nopen sim:signin --relaunch\nsnapshot\n");
    assert_eq!(other.code, 0, "{other:?}");
    let refused = console(&world, "", "get text it\n");
    assert!(refused.code != 0 && refused.out.starts_with("it is @e"), "{refused:?}");
    assert!(refused.err.contains(" was minted from snapshot s"), "{refused:?}");
}

#[test]
fn killed_console_leaves_each_complete_entry_once() {
    let world = World::new();
    let mut plain = Plain::start(&world, "");
    assert!(plain.line("open sim:shop").starts_with("opened sim:shop"));
    plain.line("get text 'role=link label=Orders'");
    // Nothing ends this wait before the console ends.
    writeln!(plain.input, "wait 'role=button \"nowhere\"' --timeout 60000").expect("the console reads");
    eventually("the wait runs", || {
        let log = world.run(&words("--session shop session log --json")).json();
        let events = log["output"]["events"].as_array().cloned().unwrap_or_default();
        events.iter().any(|event| event["payload"]["verb"] == "wait")
    });
    plain.child.kill().expect("it runs");
    plain.child.wait().expect("it ends");
    assert_eq!(prompts(&world), ["open sim:shop", "get text 'role=link label=Orders'"]);
    let next = console(&world, "", "get text it\n");
    assert_eq!((next.code, next.out.lines().next()), (0, Some("it is role=link label=Orders")), "{next:?}");
}

#[test]
fn watch_serves_beside_the_prompt_until_the_console_ends() {
    let world = World::new();
    let mut plain = Plain::start(&world, "");
    assert!(plain.line("open sim:shop").starts_with("opened sim:shop"));
    let mut shown = plain.line(":watch");
    // The response to `open` has a second line.
    if shown.starts_with("page ") {
        shown.clear();
        plain.out.read_line(&mut shown).expect("the console answers");
    }
    let link = shown.trim_end().strip_prefix("session shop: http://").unwrap_or_else(|| panic!("{shown}"));
    let (host, path) = link.split_once('/').expect("an address");
    let mut page = TcpStream::connect(host).expect("it serves");
    write!(page, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    page.read_to_string(&mut answer).expect("text");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // The prompt accepts lines meanwhile.
    assert_eq!(plain.line("get title"), "Nordic Shop");
    drop(plain.input);
    assert!(plain.child.wait().expect("it ends").success());
    assert!(TcpStream::connect(host).is_err(), "it serves after the console has ended");
}

#[test]
fn console_watches_until_it_drives() {
    let world = World::new();
    assert!(agent(&world, "open sim:shop").status.success());
    // Nobody has the turn, and an observer may not take it.
    assert!(agent(&world, "turn leave").status.success());
    let me = console(&world, "", ":who\n");
    assert!(me.out.starts_with("human:") && me.out.contains(":console:"), "{me:?}");
    let me = console(&world, "", "whoami --json\n").json();
    assert_eq!(me["output"]["kind"], "console", "{me}");
    let watching = console(&world, "", ":state\npress 'role=link label=Orders'\n");
    assert!(watching.out.contains("you, observer"), "{watching:?}");
    assert!(watching.err.starts_with("ROLE_OBSERVER: "), "{watching:?}");
    assert!(agent(&world, "turn wait").status.success());
    let driving =
        console(&world, "", ":drive\npress 'role=link label=Orders'\n:msg claude:ada it's my turn now\n");
    assert!(driving.err.contains("NOT_YOUR_TURN: "), "{driving:?}");
    assert!(driving.out.contains("sent as record"), "{driving:?}");
    let taken = console(&world, "", ":drive\n:take --operator-requested\npress 'role=link label=Orders'\n");
    assert!(taken.code == 0 && taken.out.contains("pressed "), "{taken:?}");
    let state = world.run(&words("--session shop turn state --json")).json();
    assert_eq!(state["output"]["owner"], Value::Null, "the console gave the turn back at its end: {state}");
    let members = state["output"]["members"].as_array().expect("members").len();
    assert_eq!(members, 1, "the console left the session: {state}");
}

/// A terminal in which a console runs.
struct Screen<'w> {
    world: &'w World,
    /// The folder of the screen's socket, which is not shared because an earlier screen's server
    /// may be about to exit.
    socket: tempfile::TempDir,
}

impl<'w> Screen<'w> {
    /// Starts a console of 80 by 24, if `tmux` is installed.
    fn start(world: &'w World, env: &[(&str, &str)]) -> Option<Self> {
        let screen = Self { world, socket: tempfile::tempdir().expect("a folder") };
        let program = env!("CARGO_BIN_EXE_stickpin");
        let mut command = screen.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24"]);
        for (name, value) in env {
            command.args(["-e", &format!("{name}={value}")]);
        }
        command.arg(format!("exec {program} --session shop console"));
        match command.output() {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                skipped("STICKPIN_REQUIRE_TERMINAL", "there is no program `tmux`, which makes a terminal");
                return None;
            }
            Err(e) => panic!("{e}"),
        }
        Some(screen)
    }

    fn tmux(&self, args: &[&str]) -> Command {
        let ours = self.world.command(&[]);
        let mut command = Command::new("tmux");
        command.env_clear().stdin(Stdio::null());
        command.current_dir(ours.get_current_dir().expect("a folder"));
        for (name, value) in ours.get_envs() {
            command.env(name, value.expect("a value"));
        }
        command.env("LANG", "C.UTF-8").env("SHELL", "/bin/sh").env("TERM", "xterm-256color");
        command.arg("-u").arg("-S").arg(self.socket.path().join("tmux")).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.tmux(args).output().expect("tmux runs")
    }

    fn keys(&self, keys: &[&str]) {
        let ran = self.run(&[&["send-keys"], keys].concat());
        assert!(ran.status.success(), "{ran:?}");
    }

    fn typed(&self, text: &str) {
        self.keys(&["-l", text]);
        self.keys(&["Enter"]);
    }

    /// Returns the content of the screen; nothing once the console has ended.
    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.run(&["capture-pane", "-p"]).stdout).into_owned()
    }

    #[track_caller]
    fn shows(&self, text: &str) {
        let what = || format!("the screen shows {text:?}; it shows\n{}", self.shown());
        eventually_or(what, || self.shown().contains(text));
    }

    fn has_ended(&self) -> bool {
        !self.run(&["has-session"]).status.success()
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        // The server may have ended with its last session.
        let _ = self.tmux(&["kill-server"]).output();
    }
}

#[test]
fn screen_follows_an_agent_and_takes_lines() {
    let world = World::new();
    let Some(screen) = Screen::start(&world, &[]) else { return };
    screen.shows("no session yet");
    assert!(agent(&world, "open sim:shop -i").status.success());
    screen.shows("claude:ada");
    screen.shows("link \"Orders\"");
    screen.shows("observer");
    assert!(agent(&world, "press 'role=link label=Orders'").status.success());
    screen.shows("press target=");
    screen.typed("press it");
    screen.shows("`it` refers to nothing");
    screen.typed("get title");
    // A line that is entered while another one runs is refused. The tree shows the title too, so
    // this matches the output next to the tree.
    screen.shows("│   Orders");
    screen.typed(":state");
    screen.shows("you, observer");

    // The tree receives the keys, and inserts the ref into the prompt.
    screen.keys(&["C-t"]);
    screen.keys(&["-l", "/"]);
    screen.keys(&["-l", "orders"]);
    screen.keys(&["Enter"]);
    screen.keys(&["Enter"]);
    screen.shows("shop> @e");
    screen.keys(&["C-c"]);

    // The size changes meanwhile.
    assert!(screen.run(&["resize-window", "-x", "20", "-y", "10"]).status.success());
    eventually("the screen is small", || {
        let shown = screen.shown();
        shown.lines().all(|line| line.chars().count() <= 20) && shown.contains("> ")
    });
    assert!(screen.run(&["resize-window", "-x", "100", "-y", "30"]).status.success());
    screen.shows("shop>");

    assert!(agent(&world, "close").status.success());
    screen.shows("session ended");
    screen.typed(":quit");
    eventually("the console ends", || screen.has_ended());
}

#[test]
fn screen_keeps_its_role_when_the_session_is_opened_again() {
    let world = World::new();
    let Some(screen) = Screen::start(&world, &[]) else { return };
    screen.shows("no session yet");
    screen.typed("open sim:shop");
    screen.shows("your turn · driver");
    screen.typed("close");
    screen.shows("session ended");
    assert!(agent(&world, "open sim:shop").status.success());
    screen.shows("turn of claude:ada · driver");
    let state = agent(&world, "turn state --json");
    let state: Value = serde_json::from_slice(&state.stdout).expect("JSON");
    let members = state["output"]["members"].as_array().expect("members");
    let console = members.iter().find(|member| member["kind"] == "console");
    assert_eq!(console.map(|console| &console["role"]), Some(&Value::from("driver")), "{state}");
}

#[test]
fn console_stays_responsive_on_100_000_nodes() {
    let world = World::new();
    assert!(agent(&world, &format!("open {} -i", huge_app(&world))).status.success());
    let plain = console(&world, "", "count role=button\nsnapshot\n");
    assert!(plain.code == 0 && plain.out.starts_with("33401\n"), "{plain:?}");
    assert!(plain.out.len() < 24_500 && plain.out.contains("more listitem"), "{}", plain.out.len());

    let Some(screen) = Screen::start(&world, &[]) else { return };
    screen.shows("button \"Pay\"");
    // The last row is found, and its ref reaches the prompt.
    screen.keys(&["C-t"]);
    screen.keys(&["-l", "/"]);
    screen.keys(&["-l", "delete entry 33400"]);
    screen.keys(&["Enter"]);
    screen.shows("link \"Entry 33400\"");
    screen.keys(&["Enter"]);
    screen.shows("shop> @e66");
    screen.keys(&["C-c"]);
    // Lines are accepted while an agent acts.
    let pressed = agent(&world, "press 'role=button label=Pay'");
    assert!(pressed.status.success(), "{pressed:?}");
    screen.typed("get title");
    screen.shows("│   Ledger");
    screen.shows("press target=");
}

#[test]
fn screen_has_no_colors_where_they_are_unwanted() {
    let world = World::new();
    assert!(agent(&world, "open sim:shop -i").status.success());
    for (env, colored) in [(&[][..], true), (&[("NO_COLOR", "1")], false)] {
        let Some(screen) = Screen::start(&world, env) else { return };
        screen.shows("link \"Orders\"");
        let shown = screen.run(&["capture-pane", "-p", "-e"]).stdout;
        let shown = String::from_utf8_lossy(&shown).into_owned();
        assert_eq!(shown.contains("\u{1b}[38;5;6m"), colored, "{shown:?}");
        screen.keys(&["C-d"]);
        eventually("the console ends", || screen.has_ended());
    }
}

#[test]
fn terminal_is_put_back_when_the_console_is_terminated() {
    let world = World::new();
    let Some(screen) = Screen::start(&world, &[]) else { return };
    screen.shows("no session yet");
    let pid = screen.run(&["display-message", "-p", "#{pane_pid}"]).stdout;
    let pid: u32 = String::from_utf8_lossy(&pid).trim().parse().expect("a process id");
    let mut listed = screen.tmux(&["set-option", "remain-on-exit", "on"]);
    assert!(listed.output().expect("tmux runs").status.success());
    world.signal("-TERM", pid);
    eventually("the console ends", || {
        let dead = screen.run(&["display-message", "-p", "#{pane_dead} #{alternate_on}"]).stdout;
        String::from_utf8_lossy(&dead).trim() == "1 0"
    });
}

#[test]
fn console_needs_no_terminal_to_say_what_is_wrong() {
    let world = World::new();
    let refused = world.run(&words("console --json"));
    assert_eq!(refused.code, 2, "{refused:?}");
    let mut help = String::new();
    let mut child = world.command(&["console"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(b":help\n").expect("the console reads");
    child.stdout.take().expect("a pipe").read_to_string(&mut help).expect("text");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(help.matches("`~user` and `$VAR` are not expanded").count(), 1, "{help}");
}
