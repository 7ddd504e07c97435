//! The real binary with its own state directory; its daemon ends with the test.

pub mod client;
#[cfg(any(feature = "sim", feature = "web"))]
pub mod page;
#[cfg(feature = "linux")]
pub mod shared;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use stickpin_testkit::skipped;

/// A state directory, a project folder, and the binary.
pub struct World {
    tmp: tempfile::TempDir,
    program: PathBuf,
}

/// The result of a command line.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Returns the one JSON value on stdout.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e} in {self:?}"))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl World {
    pub fn new() -> Self {
        Self::with(env!("CARGO_BIN_EXE_stickpin"))
    }

    /// Creates a world with another build of stickpin.
    pub fn with(program: impl Into<PathBuf>) -> Self {
        let tmp = tempfile::tempdir().unwrap();
        std::fs::create_dir(tmp.path().join("shop")).unwrap();
        Self { tmp, program: program.into() }
    }

    /// Returns the state directory, which does not exist before the first command.
    pub fn state_dir(&self) -> PathBuf {
        self.tmp.path().join("state")
    }

    pub fn path(&self) -> &Path {
        self.tmp.path()
    }

    /// Returns a command in the project's folder, without the environment of the test.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.args(args).current_dir(self.tmp.path().join("shop")).env_clear();
        command.env("HOME", self.tmp.path()).env("PATH", path).env("STICKPIN_STATE_DIR", self.state_dir());
        command.stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    /// Runs a command that must succeed, and returns its stdout.
    pub fn ok(&self, line: &str) -> String {
        let ran = self.run(&words(line));
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        ran.out
    }

    /// Returns the session of the project's folder, the only open one.
    pub fn session(&self) -> String {
        let list = self.run(&["session", "list", "--json"]).json();
        list["output"]["sessions"][0]["name"].as_str().expect("a session").to_owned()
    }

    /// Returns the daemon's process, if one runs.
    pub fn pid(&self) -> Option<u32> {
        let status = self.run(&["daemon", "status", "--json"]).json();
        status["output"]["pid"].as_u64().map(|pid| u32::try_from(pid).unwrap())
    }

    pub fn signal(&self, signal: &str, pid: u32) {
        let status = Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
        assert!(status.success());
    }

    pub fn socket(&self) -> PathBuf {
        self.state_dir().join("daemon/sock")
    }

    /// Returns a client with hand-written protocol messages.
    pub fn raw(&self) -> Raw {
        let stream = UnixStream::connect(self.socket()).unwrap();
        // A silent daemon fails the test instead of hanging it.
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Raw { reader: BufReader::new(stream) }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self.state_dir().exists() {
            // A test that is failing already must not fail a second time.
            let _ = self.command(&["daemon", "stop", "--force"]).output();
        }
    }
}

/// A connection without a client.
pub struct Raw {
    pub reader: BufReader<UnixStream>,
}

impl Raw {
    pub fn write(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).unwrap();
    }

    pub fn send(&mut self, value: &Value) {
        self.write(format!("{value}\n").as_bytes());
    }

    /// Returns the next answer; null at the end of the connection.
    pub fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        if line.is_empty() { Value::Null } else { serde_json::from_str(&line).unwrap() }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        self.answer()
    }

    /// Performs the handshake as a client of this version.
    pub fn hello(&mut self, protocol: u32, version: &str) -> Value {
        self.ask("hello", json!({"protocol": protocol, "version": version}))["result"].clone()
    }

    pub fn welcome(mut self) -> Self {
        assert_eq!(self.hello(1, env!("CARGO_PKG_VERSION"))["verdict"], "serve");
        self
    }
}

/// Returns the target folder of the build.
pub fn target_folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder")
}

/// Returns the path of a file that people look at after a run: `target/artifacts/NAME`. The file of
/// an earlier run is removed.
pub fn artifact(name: &str) -> PathBuf {
    let path = target_folder().join("artifacts").join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    if path.exists() {
        std::fs::remove_file(&path).expect("it is ours");
    }
    path
}

/// Writes an app with 100,000 nodes, and returns what opens it.
#[cfg(feature = "sim")]
pub fn huge_app(world: &World) -> String {
    const LEDGER: &str = r#"title = "Ledger"
start = "/"

[state]
paid = 0

[generate.entries]
count = 33400
id = "r{n}"
text = "Entry {n}"

[screens.list]
url = "/"
view = '''
main
  button "Pay" press=set(paid, paid + 1)
  status "paid {paid}"
  list
    for e in entries key e.id
      li
        link "{e.text}"
        button "Delete {e.text}"
'''
"#;
    let file = world.path().join("ledger.toml");
    std::fs::write(&file, LEDGER).expect("a file");
    format!("sim:{}", file.display())
}

/// Returns a request as the command line would send it.
pub fn request(command: &str, input: Value) -> Value {
    json!({"command": command, "input": input, "caller": {"cwd": "/", "key": "test", "ownSession": "test"}})
}

/// Splits a line into words; single quotes enclose words that contain spaces or are empty.
pub fn words(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .collect()
}

/// Waits until a condition holds.
#[track_caller]
pub fn eventually(what: &str, holds: impl FnMut() -> bool) {
    eventually_or(|| what.to_owned(), holds);
}

/// Waits until a condition holds. If it never does, `what` describes the condition and the actual
/// state.
#[track_caller]
pub fn eventually_or(what: impl Fn() -> String, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {}", what());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns a program in its own user and mount namespaces, in which it may mount.
pub fn unshared(words: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount"]).args(words);
    command
}

/// Kills the daemon, and waits until it is gone.
pub fn kill_daemon(world: &World) {
    world.signal("-KILL", world.pid().unwrap());
    eventually("the daemon is gone", || world.pid().is_none());
}

/// Kills the daemon, and starts the next one as after a restart of the machine. If a restart cannot
/// be simulated here, prints the reason and returns false.
pub fn reboot(world: &World) -> bool {
    if !may_mount() {
        skipped("STICKPIN_REQUIRE_MOUNTS", "nothing may be mounted here");
        return false;
    }
    let before = boot_id(world);
    kill_daemon(world);
    let ran = Ran::from(rebooted(world, &["session", "list", "--all", "--json"]).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_ne!(boot_id(world), before, "the next daemon sees another boot");
    true
}

/// Returns the boot id that the daemon noted.
fn boot_id(world: &World) -> String {
    let hint = std::fs::read_to_string(world.state_dir().join("daemon/daemon.json")).unwrap();
    serde_json::from_str::<Value>(&hint).unwrap()["bootId"].as_str().unwrap().to_owned()
}

/// Returns a command of a world after a restart of the machine: it and the daemon that it starts
/// see another boot id.
pub fn rebooted(world: &World, args: &[&str]) -> Command {
    let boot = world.path().join("boot_id");
    std::fs::write(&boot, "b0070000-0000-4000-8000-000000000000\n").unwrap();
    let first = world.command(args);
    let script = "mount --bind \"$1\" /proc/sys/kernel/random/boot_id && shift && exec \"$@\"";
    let mut command = unshared(&["sh", "-c", script, "sh"]);
    command.arg(&boot).arg(first.get_program()).args(first.get_args()).env_clear();
    command.envs(first.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(first.get_current_dir().unwrap()).stdin(Stdio::null());
    command
}

/// Returns whether a program in its own namespaces may mount on this machine.
pub fn may_mount() -> bool {
    let mounted = unshared(&["mount", "-t", "tmpfs", "tmpfs", "/tmp"]).output();
    mounted.is_ok_and(|ran| ran.status.success())
}
