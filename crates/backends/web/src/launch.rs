//! Starts and ends a browser.
//!
//! The browser is driven over two pipes, with the flag `--remote-debugging-pipe`. There is no port
//! to which others on the machine could connect. The browser exits when our process does, because
//! the pipes then close.

use crate::find::check_version;
use command_fds::{CommandFdExt, FdMapping};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use stickpin_device::{Error, ErrorCode, Result, io_error};
use stickpin_devtools::{Client, PipeReader, PipeWriter, Sink, protocol};
use stickpin_process::{ProcessRecord, kill_group, remove_file, remove_folder};
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::time::timeout;

/// Timeout for a browser to answer its first command.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout for a browser to exit when asked, after which it is killed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum length, in bytes, of a temporary directory's path. A longer path would leave no room
/// for the browser's socket, because socket paths are limited to 104 bytes.
const MAX_TMPDIR: usize = 55;

/// The flags of every browser. Most of them keep the browser from acting on its own: no network
/// traffic, no dialogs, no throttling of background pages.
const FLAGS: &str = include_str!("../flags.txt");

/// The parameters of a browser to start.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) program: &'a Path,
    /// The session's own directory.
    pub(crate) dir: &'a Path,
    /// A persistent profile; `None` for a fresh one in `dir`.
    pub(crate) profile: Option<&'a Path>,
    pub(crate) headed: bool,
    pub(crate) window: Option<(u32, u32)>,
    /// Whether to run without the sandbox even if we are not root.
    pub(crate) no_sandbox: bool,
}

/// A running browser.
#[derive(Debug)]
pub(crate) struct Browser {
    pub(crate) client: Client,
    /// The name and version, such as `Chromium 156`.
    pub(crate) label: String,
    pub(crate) pid: u32,
    /// Whether the browser shows a window.
    pub(crate) headed: bool,
    /// The download directory.
    pub(crate) downloads: PathBuf,
    child: Child,
    dir: PathBuf,
    folders: Vec<PathBuf>,
}

impl Launch<'_> {
    /// Returns the command-line arguments, the profile last.
    fn arguments(&self, profile: &Path, root: bool) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = FLAGS.lines().map(OsString::from).collect();
        if !self.headed {
            arguments.push("--headless".into());
            arguments.push("--mute-audio".into());
        }
        if let Some((width, height)) = self.window {
            arguments.push(format!("--window-size={width},{height}").into());
        }
        if root || self.no_sandbox {
            arguments.push("--no-sandbox".into());
        }
        let mut data_dir = OsString::from("--user-data-dir=");
        data_dir.push(profile);
        arguments.push(data_dir);
        arguments
    }

    /// Starts the browser and waits until it answers.
    ///
    /// # Errors
    /// Returns `TOOL_MISSING` when the program cannot be executed or is too old, and `BACKEND_LOST`
    /// when it does not answer. Returns `IO` when its directories, log, pipes or record cannot be
    /// created, or cannot be removed after a failed start.
    pub(crate) async fn start(&self, sink: impl Sink) -> Result<Browser> {
        let own_profile = self.dir.join("profile");
        let (tmp, downloads) = (self.dir.join("tmp"), self.dir.join("downloads"));
        let mut folders = vec![tmp.clone(), downloads.clone()];
        let profile = self.profile.unwrap_or_else(|| {
            folders.push(own_profile.clone());
            &own_profile
        });
        for folder in [profile, &tmp, &downloads] {
            std::fs::create_dir_all(folder).map_err(|e| io_error("create", folder, &e))?;
        }
        let log = self.dir.join("chromium.log");
        let stderr = std::fs::File::create(&log).map_err(|e| io_error("write", &log, &e))?;

        let pipes = || -> std::io::Result<_> {
            let (browser_reads, we_write) = std::io::pipe()?;
            let (we_read, browser_writes) = std::io::pipe()?;
            enlarge_pipe(&we_read);
            Ok((browser_reads, browser_writes, we_read, we_write))
        };
        let (browser_reads, browser_writes, we_read, we_write) = pipes().map_err(|e| pipe_error(&e))?;

        let mut command = std::process::Command::new(self.program);
        let root = rustix::process::geteuid().is_root();
        command.args(self.arguments(profile, root)).arg("about:blank");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        // Use a process group, so that Ctrl-C in our terminal does not reach the browser, and so
        // that the browser can be killed with its children.
        command.process_group(0);
        if tmp.as_os_str().len() <= MAX_TMPDIR {
            command.env("TMPDIR", &tmp);
        }
        command
            .fd_mappings(vec![
                FdMapping { parent_fd: browser_reads.into(), child_fd: 3 },
                FdMapping { parent_fd: browser_writes.into(), child_fd: 4 },
            ])
            .map_err(|e| Error::new(ErrorCode::Internal, e.to_string()))?;
        // The command owns the browser's ends of the pipes. Drop the command before reading, so
        // that our copies of these ends close.
        let child = {
            let mut command = tokio::process::Command::from(command);
            command.kill_on_drop(true).spawn()
        };
        let child = child.map_err(|e| {
            Error::new(ErrorCode::ToolMissing, format!("cannot start {}: {e}", self.program.display()))
                .hint(crate::find::install_hint())
        })?;
        let pid = child.id().unwrap_or_default();

        let from_browser = pipe::Receiver::from_owned_fd(we_read.into()).map_err(|e| pipe_error(&e))?;
        let to_browser = pipe::Sender::from_owned_fd(we_write.into()).map_err(|e| pipe_error(&e))?;
        let client = Client::new(PipeReader::new(from_browser), PipeWriter::new(to_browser), sink);
        let dir = self.dir.to_owned();
        let mut browser = Browser {
            client,
            headed: self.headed,
            label: String::new(),
            pid,
            downloads,
            child,
            dir,
            folders,
        };
        browser.record()?;
        let failed = match timeout(START_TIMEOUT, browser.client.call(None, &protocol::GetVersion {})).await {
            Ok(Ok(version)) => {
                if let Err(too_old) = check_version(&version.product) {
                    browser.end().await?;
                    return Err(too_old);
                }
                browser.label = browser_label(&version.product);
                return Ok(browser);
            }
            Ok(Err(e)) => e.to_string(),
            Err(_) => format!("it did not respond within {} s", START_TIMEOUT.as_secs()),
        };
        let error = self.start_error(&failed, &log);
        browser.end().await?;
        Err(error)
    }

    fn start_error(&self, reason: &str, log: &Path) -> Error {
        let last_lines =
            std::fs::read(log).map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
        // Without a display, the line about the display is followed by others that only report the
        // exit.
        let mut lines = last_lines.lines().rev().filter(|line| !line.trim().is_empty());
        let display = lines.clone().find(|line| self.headed && is_about_display(line));
        let last = display.or_else(|| lines.next()).unwrap_or("nothing");
        let hint = if display.is_some() {
            "a window needs a display, and the daemon uses the display of the shell that started it: run \
             `stickpin daemon stop`, then `stickpin open URL --headed` in a shell where DISPLAY or \
             WAYLAND_DISPLAY is set, or omit `--headed`"
        } else if last_lines.contains("sandbox") {
            "the browser's sandbox may not work on this machine; if you trust the pages, run `stickpin daemon stop`, then set STICKPIN_NO_SANDBOX=1"
        } else if !self.headed {
            "run `stickpin doctor`"
        } else {
            "if the program is only a wrapper, as with snap, run `stickpin daemon stop`, then set STICKPIN_CHROMIUM to the browser itself"
        };
        let program = self.program.display();
        let last: String = last.chars().take(300).collect();
        Error::new(ErrorCode::BackendLost, format!("{program} did not start: {reason}; it printed: {last}"))
            .hint(hint)
    }
}

/// Returns whether a line of the browser's log reports a missing display.
fn is_about_display(line: &str) -> bool {
    ["DISPLAY", "X server", "open display", "wayland", "platform failed to initialize"]
        .iter()
        .any(|word| line.contains(word))
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Kill an abandoned browser: otherwise, its helpers would write to the directories that are
        // removed next.
        if matches!(self.child.try_wait(), Ok(None)) {
            kill_group(self.pid);
        }
    }
}

impl Browser {
    /// Writes the record by which a sweep finds the browser if we are killed.
    fn record(&self) -> Result<()> {
        let record = ProcessRecord::of_children(&[self.pid]);
        record.write(&self.dir).map_err(|e| io_error("write to", &self.dir, &e))
    }

    /// Ends the browser, waits for its exit, and removes its directories except for a persistent
    /// profile.
    ///
    /// # Errors
    /// Returns `IO` when a directory or file of the browser cannot be removed.
    pub(crate) async fn end(&mut self) -> Result<()> {
        if self.client.lost().is_none() {
            // The browser may exit before it answers; only its exit, awaited below, matters.
            let _ = timeout(EXIT_TIMEOUT, self.client.call(None, &protocol::CloseBrowser {})).await;
        }
        if timeout(EXIT_TIMEOUT, self.child.wait()).await.is_err() {
            tracing::warn!(pid = self.pid, "the browser did not exit on request; killing it");
        }
        // Needed even after a clean exit: a helper process may outlive the browser and write to the
        // profile.
        kill_group(self.pid);
        if let Err(e) = self.child.wait().await {
            tracing::warn!(pid = self.pid, error = %e, "cannot wait for the browser");
        }
        for folder in std::mem::take(&mut self.folders) {
            let removed = tokio::task::spawn_blocking({
                let folder = folder.clone();
                move || remove_folder(&folder)
            });
            let removed = removed.await.map_err(|e| Error::new(ErrorCode::Internal, e.to_string()))?;
            removed.map_err(|e| io_error("remove", &folder, &e))?;
        }
        let log = self.dir.join("chromium.log");
        remove_file(&log).map_err(|e| io_error("remove", &log, &e))?;
        ProcessRecord::remove(&self.dir).map_err(|e| io_error("remove the record in", &self.dir, &e))
    }
}

/// Converts a product such as `Chrome/156.0.8078.79` to a label such as `Chromium 156`.
fn browser_label(product: &str) -> String {
    let (name, version) = product.split_once('/').unwrap_or((product, ""));
    let name = if name.contains("Edg") { "Edge" } else { "Chromium" };
    format!("{name} {}", version.split('.').next().unwrap_or_default())
}

/// Enlarges a pipe, so that a capture of several megabytes needs fewer reads. The default is 64
/// KiB.
#[cfg(target_os = "linux")]
fn enlarge_pipe(pipe: &std::io::PipeReader) {
    if let Err(e) = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20) {
        tracing::debug!(error = %e, "cannot enlarge the pipe");
    }
}

#[cfg(not(target_os = "linux"))]
fn enlarge_pipe(_: &std::io::PipeReader) {}

fn pipe_error(e: &std::io::Error) -> Error {
    Error::new(ErrorCode::Io, format!("cannot create a pipe for the browser: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(headed: bool, no_sandbox: bool, root: bool) -> Vec<String> {
        let launch = Launch {
            program: Path::new("chromium"),
            dir: Path::new("d"),
            profile: None,
            headed,
            window: Some((800, 600)),
            no_sandbox,
        };
        launch.arguments(Path::new("p"), root).into_iter().map(|a| a.into_string().unwrap()).collect()
    }

    #[test]
    fn the_sandbox_stays_on_unless_root_or_asked() {
        let has = |flags: Vec<String>| flags.iter().any(|f| f == "--no-sandbox");
        assert!(!has(flags(false, false, false)));
        assert!(has(flags(false, true, false)));
        assert!(has(flags(false, false, true)));
    }

    #[test]
    fn a_window_is_shown_only_when_asked() {
        assert!(flags(false, false, false).contains(&"--headless".to_owned()));
        assert!(!flags(true, false, false).contains(&"--headless".to_owned()));
        assert!(flags(true, false, false).contains(&"--window-size=800,600".to_owned()));
    }

    #[test]
    fn labels_are_for_people() {
        assert_eq!(browser_label("Chrome/156.0.8078.79"), "Chromium 156");
        assert_eq!(browser_label("HeadlessChrome/156.0.1"), "Chromium 156");
        assert_eq!(browser_label("Edg/140.1"), "Edge 140");
    }
}
