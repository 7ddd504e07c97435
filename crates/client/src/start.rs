//! Starts a daemon. The client spawns the daemon with a pipe as its stdout and waits for one line
//! from that pipe, without polling. A daemon that loses the race for the state directory waits for
//! the winner and then also reports `ready`.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use stickpin_kernel::{Error, ErrorCode, Result};
use stickpin_wire::{Announcement, StateDir};

/// How a daemon is started.
#[derive(Debug, Clone)]
pub struct Start {
    /// The program to start, normally this one.
    pub program: PathBuf,
    /// The arguments; `--state-dir DIR` is appended.
    pub args: Vec<OsString>,
    /// Environment variables that the daemon gets in addition to those of this process.
    pub env: &'static [(&'static str, &'static str)],
    /// Environment variables that the daemon does not get. Secrets are sent with the command that
    /// uses them.
    pub removed_env: Vec<OsString>,
    /// Timeout for the daemon to announce itself.
    pub timeout: Duration,
}

impl Start {
    /// Starts a daemon and returns once one is listening.
    ///
    /// # Errors
    /// Returns the error that the daemon announced, or `DAEMON_UNREACHABLE`.
    pub(crate) fn run(&self, state_dir: &StateDir) -> Result<()> {
        let mut command = Command::new(&self.program);
        for name in &self.removed_env {
            command.env_remove(name);
        }
        let mut child = command
            .args(&self.args)
            .arg("--state-dir")
            .arg(state_dir.path())
            .envs(self.env.iter().copied())
            // The daemon must not keep the caller's folder busy.
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| unreachable(state_dir, &format!("cannot run `{}`: {e}", self.program.display())))?;
        let line = match child.stdout.take() {
            Some(pipe) => read_line(pipe, self.timeout),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        let outcome = match line.and_then(|line| Ok(serde_json::from_str(&line)?)) {
            Ok(Announcement::Ready { .. }) => Ok(()),
            Ok(Announcement::Failed(error)) => Err(error),
            Err(e) => {
                // Fails only if the daemon has already exited.
                let _ = child.kill();
                Err(unreachable(state_dir, &format!("it did not report that it is ready: {e}")))
            }
        };
        // Reaps the daemon if this client outlives it; otherwise the thread ends with the process.
        std::thread::spawn(move || child.wait());
        outcome
    }
}

fn unreachable(state_dir: &StateDir, reason: &str) -> Error {
    let dir = state_dir.path().display();
    Error::new(ErrorCode::DaemonUnreachable, format!("cannot start the daemon for `{dir}`: {reason}"))
        .hint(format!("read the daemon's log, if there is one: `{}`", state_dir.log().display()))
}

/// Reads the first line from a pipe, or times out. The reading thread ends at the latest when the
/// pipe closes.
fn read_line(pipe: impl Read + Send + 'static, timeout: Duration) -> io::Result<String> {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(pipe).read_line(&mut line);
        // The receiver may have timed out.
        let _ = tell.send(read.map(|_| line));
    });
    told.recv_timeout(timeout).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(script: &str, timeout: Duration) -> (tempfile::TempDir, Result<()>) {
        let tmp = tempfile::tempdir().unwrap();
        let state_dir = StateDir::open(tmp.path()).unwrap();
        let args = ["-c", script].map(OsString::from).to_vec();
        let outcome = Start { program: "/bin/sh".into(), args, env: &[], removed_env: Vec::new(), timeout }
            .run(&state_dir);
        (tmp, outcome)
    }

    #[test]
    fn start_follows_the_announcement() {
        start("echo '{\"ready\":{\"pid\":1}}'", Duration::from_secs(10)).1.unwrap();
        let failed = Announcement::Failed(Error::new(ErrorCode::StorageFull, "no space"));
        let failed = String::from_utf8(stickpin_wire::encode(&failed)).unwrap();
        let error = start(&format!("echo '{}'", failed.trim()), Duration::from_secs(10)).1.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::StorageFull, "no space"));
    }

    #[test]
    fn silent_or_dead_daemon_is_unreachable() {
        for (script, timeout) in [("exit 3", 10_000), ("echo nonsense", 10_000), ("exec sleep 60", 50)] {
            let error = start(script, Duration::from_millis(timeout)).1.unwrap_err();
            assert_eq!(error.code, ErrorCode::DaemonUnreachable, "{script}: {error}");
            assert!(error.hint.contains("daemon.log"), "{}", error.hint);
        }
    }
}
