//! The terminals of a page: its files and commands, run in the shells that it names.

use crate::support::page::missing;
use crate::support::{Ran, eventually};
use rustix::process::{Pid, Signal};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A command of a page, or a file that a page asks the reader to save.
#[derive(Debug, PartialEq)]
pub enum Step {
    File {
        name: String,
        text: String,
    },
    Command {
        line: String,
        shown: Vec<String>,
    },
    /// The rest of the output of the last command of a terminal, which waited for other terminals.
    Rest {
        shown: Vec<String>,
    },
}

/// A step, and the name of its terminal, from a line such as `**Terminal 2**` above the block.
#[derive(Debug, PartialEq)]
pub struct Item {
    pub terminal: String,
    pub step: Step,
}

/// Returns the files and the console commands of a page, in order.
pub fn items(page: &str) -> Vec<Item> {
    let (mut items, mut terminal): (Vec<Item>, _) = (Vec::new(), String::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("**Terminal ").and_then(|rest| rest.strip_suffix("**")) {
            name.clone_into(&mut terminal);
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        if let Some((_, name)) = info.split_once("file=") {
            let step = Step::File { name: name.to_owned(), text: block.join("\n") + "\n" };
            items.push(Item { terminal: terminal.clone(), step });
        } else if info == "console" {
            items.extend(commands(&block).into_iter().map(|step| Item { terminal: terminal.clone(), step }));
        }
    }
    items
}

/// Returns the commands of a block, each with the lines that are shown below it.
fn commands(block: &[&str]) -> Vec<Step> {
    let mut steps = Vec::new();
    for line in block {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(line), _) => steps.push(Step::Command { line: line.to_owned(), shown: Vec::new() }),
            (None, Some(Step::Command { shown, .. } | Step::Rest { shown })) => {
                shown.push((*line).to_owned())
            }
            (None, _) => steps.push(Step::Rest { shown: vec![(*line).to_owned()] }),
        }
    }
    steps
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

/// A shell in one terminal. It runs the lines that are written to it, and prints the status of each
/// command.
struct Shell {
    child: Child,
    statuses: BufReader<ChildStdout>,
    /// The number and the text of the command whose end has not been seen yet.
    running: Option<(usize, String)>,
}

/// The terminals of a page, in one folder.
pub struct Terminals {
    folder: PathBuf,
    shells: BTreeMap<String, Shell>,
}

impl Terminals {
    pub fn new(folder: &Path) -> Self {
        for made in ["out", "home", "work"] {
            std::fs::create_dir(folder.join(made)).expect("a folder");
        }
        Self { folder: folder.to_owned(), shells: BTreeMap::new() }
    }

    /// Returns a program with the environment of the terminals.
    fn command(&self, program: &str) -> Command {
        let built = Path::new(env!("CARGO_BIN_EXE_stickpin")).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command.current_dir(self.folder.join("work")).env_clear();
        command.env("PATH", format!("{}:/usr/bin:{path}", built.display()));
        command.env("HOME", self.folder.join("home")).env("OUT", self.folder.join("out"));
        command.env("STICKPIN_STATE_DIR", self.folder.join("state"));
        for kept in ["STICKPIN_CHROMIUM", "STICKPIN_NO_SANDBOX"] {
            command.envs(std::env::var_os(kept).map(|value| (kept, value)));
        }
        command.stdin(Stdio::null());
        command
    }

    fn start(&self) -> Shell {
        let mut bash = self.command("bash");
        bash.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child = bash.spawn().expect("bash runs");
        let statuses = BufReader::new(child.stdout.take().expect("a pipe"));
        Shell { child, statuses, running: None }
    }

    /// Runs items, and compares the output of each command with what the page shows.
    pub fn run(&mut self, items: &[Item]) {
        for (at, Item { terminal, step }) in items.iter().enumerate() {
            if !self.shells.contains_key(terminal) {
                let started = self.start();
                self.shells.insert(terminal.clone(), started);
            }
            let out = self.folder.join("out");
            let shell = self.shells.get_mut(terminal).expect("it was started");
            match step {
                Step::File { name, text } => {
                    shell.write(&format!("cat > {name} <<'END OF FILE'\n{text}END OF FILE\n"));
                }
                Step::Command { line, shown } => {
                    shell.begin(at, line);
                    let mut later = items[at + 1..].iter().filter(|item| item.terminal == *terminal);
                    if later.next().is_some_and(|item| matches!(item.step, Step::Rest { .. })) {
                        assert_eq!(shown, &[""; 0], "`{line}` waits before it prints");
                        self.expect_waiter(terminal, line);
                    } else {
                        shell.end(&out, shown);
                    }
                }
                Step::Rest { shown } => shell.end(&out, shown),
            }
        }
    }

    /// Waits until a command waits for the turn.
    fn expect_waiter(&self, terminal: &str, line: &str) {
        assert!(line.ends_with("turn wait"), "`{line}` does not end, and is not a command that waits");
        let folder = format!("/proc/{}/cwd", self.shells[terminal].child.id());
        eventually("it waits for the turn", || {
            let mut observer = self.command("stickpin");
            observer.args(["turn", "state", "--json"]).current_dir(&folder);
            let state = Ran::from(observer.output().expect("the binary runs")).json();
            state["output"]["waiters"].as_array().is_some_and(|waiters| !waiters.is_empty())
        });
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        // A test that is failing already must not fail a second time.
        for shell in self.shells.values_mut() {
            // This includes its jobs, and a command that still waits.
            let _ = rustix::process::kill_process_group(Pid::from_child(&shell.child), Signal::KILL);
            let _ = shell.child.wait();
        }
        let _ = self.command("stickpin").args(["daemon", "stop", "--force"]).output();
    }
}

impl Shell {
    fn write(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().expect("it is open");
        input.write_all(text.as_bytes()).expect("the shell reads");
    }

    fn begin(&mut self, at: usize, line: &str) {
        self.running = Some((at, line.to_owned()));
        // `echo $?` must show the status of the previous command.
        self.write(&format!(
            "digest=$(cat \"$OUT\"/*.out 2>\"$OUT/none\" | grep -o 'plan-digest [0-9a-f]*' | tail -n 1 | cut -d' ' -f2)\n\
             (exit ${{status:-0}})\n{{ {line}\n}} >\"$OUT/{at:03}.out\" 2>&1 </dev/null\nstatus=$?\necho $status\n",
        ));
    }

    /// Waits for the end of the command, and compares its output with what the page shows.
    #[track_caller]
    fn end(&mut self, out: &Path, shown: &[String]) {
        let (at, line) = self.running.take().expect("a command");
        let mut status = String::new();
        self.statuses.read_line(&mut status).expect("a status");
        let printed = std::fs::read_to_string(out.join(format!("{at:03}.out"))).unwrap_or_default();
        assert_eq!(status.trim() != "0", fails(shown), "`{line}` ended with {status:?}:\n{printed}");
        if let Some(missing) = missing(shown, &printed) {
            panic!("`{line}` does not print\n{missing}\nbut\n{printed}");
        }
    }
}

#[test]
fn output_that_a_page_shows_as_an_error_belongs_to_a_failed_command() {
    assert!(
        fails(&["warning: x".to_owned(), "STALE_REF: y".to_owned()]) && !fails(&["pressed y".to_owned()])
    );
}

#[test]
fn command_that_waits_ends_in_a_later_block_of_its_terminal() {
    let found = items(
        "**Terminal 2**\n```console\n$ a\n$ b\n```\n**Terminal 1**\n```console\n$ c\nd\n```\n\
                       **Terminal 2**\n```console\ne\n$ f\n```\n",
    );
    let shown = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<String>>();
    let command = |line: &str, lines: &[&str]| Step::Command { line: line.to_owned(), shown: shown(lines) };
    let found: Vec<_> = found.into_iter().map(|item| (item.terminal, item.step)).collect();
    let expected = [
        ("2", command("a", &[])),
        ("2", command("b", &[])),
        ("1", command("c", &["d"])),
        ("2", Step::Rest { shown: shown(&["e"]) }),
        ("2", command("f", &[])),
    ];
    assert_eq!(found, expected.map(|(terminal, step)| (terminal.to_owned(), step)));
}
