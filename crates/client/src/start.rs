//! Starting a daemon: the client spawns it with a pipe as its stdout and waits for one line on it. Nothing is polled:
//! whoever loses a race for the state dir waits for the winner and then says `ready` too.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use stickpin_kernel::{Error, ErrorCode, Result};
use stickpin_wire::{Announcement, Place};

/// How a daemon is started.
#[derive(Debug, Clone)]
pub struct Start {
    /// The program: this one.
    pub program: PathBuf,
    /// Its arguments; `--state-dir DIR` is appended.
    pub args: Vec<OsString>,
    /// What its environment has besides ours.
    pub env: &'static [(&'static str, &'static str)],
    /// Variables of ours that it does not get: what is secret is sent with the command that uses it.
    pub without: Vec<OsString>,
    /// How long it may take until it says that it is ready.
    pub timeout: Duration,
}

impl Start {
    /// Starts a daemon and returns once one listens.
    ///
    /// # Errors
    /// What the daemon announced, or `DAEMON_UNREACHABLE`.
    pub(crate) fn run(&self, place: &Place) -> Result<()> {
        let mut command = Command::new(&self.program);
        for name in &self.without {
            command.env_remove(name);
        }
        let mut child = command
            .args(&self.args)
            .arg("--state-dir")
            .arg(place.state_dir())
            .envs(self.env.iter().copied())
            // Not the caller's: a daemon must not keep its folder busy.
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| unreachable(place, &format!("`{}` does not run: {e}", self.program.display())))?;
        let line = match child.stdout.take() {
            Some(pipe) => read_line(pipe, self.timeout),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        let outcome = match line.and_then(|line| Ok(serde_json::from_str(&line)?)) {
            Ok(Announcement::Ready { .. }) => Ok(()),
            Ok(Announcement::Failed(error)) => Err(error),
            Err(e) => {
                // It may be gone already, which is what this is for.
                let _ = child.kill();
                Err(unreachable(place, &format!("it did not say that it is ready: {e}")))
            }
        };
        // Reaps the daemon in a client that lives longer than it; in others the thread dies with the process.
        std::thread::spawn(move || child.wait());
        outcome
    }
}

fn unreachable(place: &Place, why: &str) -> Error {
    let dir = place.state_dir().display();
    Error::new(ErrorCode::DaemonUnreachable, format!("the daemon of `{dir}` could not be started: {why}"))
        .hint(format!("its log, if it came so far: {}", place.log().display()))
}

/// The first line of a pipe. The thread that reads it ends with the pipe at the latest.
fn read_line(pipe: impl Read + Send + 'static, patience: Duration) -> io::Result<String> {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(pipe).read_line(&mut line);
        // Whoever waited may have given up.
        let _ = tell.send(read.map(|_| line));
    });
    told.recv_timeout(patience).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(script: &str, timeout: Duration) -> (tempfile::TempDir, Result<()>) {
        let tmp = tempfile::tempdir().unwrap();
        let place = Place::open(tmp.path()).unwrap();
        let args = ["-c", script].map(OsString::from).to_vec();
        let outcome =
            Start { program: "/bin/sh".into(), args, env: &[], without: Vec::new(), timeout }.run(&place);
        (tmp, outcome)
    }

    #[test]
    fn the_announcement_decides() {
        start("echo '{\"ready\":{\"pid\":1}}'", Duration::from_secs(10)).1.unwrap();
        let failed = Announcement::Failed(Error::new(ErrorCode::StorageFull, "no space"));
        let failed = String::from_utf8(stickpin_wire::encode(&failed)).unwrap();
        let error = start(&format!("echo '{}'", failed.trim()), Duration::from_secs(10)).1.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::StorageFull, "no space"));
    }

    #[test]
    fn a_daemon_that_dies_or_never_speaks_is_unreachable() {
        for (script, timeout) in [("exit 3", 10_000), ("echo nonsense", 10_000), ("exec sleep 60", 50)] {
            let error = start(script, Duration::from_millis(timeout)).1.unwrap_err();
            assert_eq!(error.code, ErrorCode::DaemonUnreachable, "{script}: {error}");
            assert!(error.hint.contains("daemon.log"), "{}", error.hint);
        }
    }
}
