//! Private displays: a display, buses and a window manager for one session, so that the session
//! never competes with a person for the pointer and the focus.
//!
//! Xvfb picks a free display number (`-displayfd`), and dbus-daemon serves the session bus on a
//! socket in the runtime folder of the session. The session bus starts the accessibility bus on
//! demand. All processes carry a mark in their environment: the path of the runtime folder. At the
//! end, or in a sweep after a crash, the mark also identifies processes that apps started and
//! abandoned.

mod environment;
mod home;

pub use self::home::Home;
use crate::address::{Address, Cookie};
use crate::x11::X11;
use parking_lot::Mutex;
use std::ffi::OsStr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Stdio;
use std::task::{Context, Poll};
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, Result, io_error};
use stickpin_process::{Process, ProcessRecord, find_on_path, kill_group, remove_file, remove_folder};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::{Instant, timeout, timeout_at};

/// Timeout for a killed process to end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the display server may take to end after its clients have ended.
const DISPLAY_EXIT_TIMEOUT: Duration = Duration::from_millis(200);

/// The display server. When it ends, all other programs end as well.
const DISPLAY: &str = "Xvfb";

/// The minimum width and height of a display, in pixels.
const SIZE: (u32, u32) = (1280, 900);

/// The maximum length of the temporary folder's path, in bytes. Socket paths below it may be at
/// most 107 bytes long.
const MAX_TMPDIR: usize = 40;

/// The programs of a private session, with their Debian packages.
const TOOLS: [(&str, &str); 3] = [(DISPLAY, "xvfb"), ("dbus-daemon", "dbus"), ("openbox", "openbox")];

/// A configuration of the window manager with one workspace, and with no key binding except Alt+F4,
/// because chords are for the app.
const OPENBOX: &str = include_str!("private/openbox.xml");

/// A private display that is running.
#[derive(Debug)]
pub struct PrivateDisplay {
    /// The display name, such as `:7`.
    pub display: String,
    /// The authorization for clients.
    cookie: Cookie,
    /// The address of the session bus.
    pub bus: String,
    /// The programs in the order in which they are ended, the display last. Each leads its own
    /// process group.
    children: Mutex<Vec<(&'static str, Child)>>,
    dir: PathBuf,
    /// A link to `dir` whose path leaves room for socket names.
    link: PathBuf,
    /// The home folder of apps.
    home: Home,
}

/// Returns the programs that private sessions need and that are not installed, with their packages.
#[must_use]
pub fn missing_tools(path: Option<&OsStr>) -> Vec<(&'static str, &'static str)> {
    TOOLS.into_iter().filter(|(program, _)| find_on_path(&[program], path).is_none()).collect()
}

/// Returns the paths of [`TOOLS`], which must be on the search path `path`.
fn tools(path: Option<&OsStr>) -> Result<[PathBuf; 3]> {
    let missing = missing_tools(path);
    if missing.is_empty() {
        return Ok(TOOLS.map(|(program, _)| find_on_path(&[program], path).unwrap_or_default()));
    }
    let (programs, packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
    let verb = if programs.len() == 1 { "is" } else { "are" };
    let what = format!("a private display needs {}, which {verb} not installed", programs.join(", "));
    let hint = format!("run `apt install {} at-spi2-core`", packages.join(" "));
    Err(Error::tool_missing(what).hint(hint))
}

impl PrivateDisplay {
    /// Starts a private display in `dir` with at least this `size`, for apps with this `home`, and
    /// connects to it as soon as a window manager is running. If the start fails or is cancelled,
    /// ends the programs that were started, and removes the folders.
    ///
    /// # Errors
    /// Returns `TOOL_MISSING` when a program is not installed or cannot be run, `BACKEND_LOST` when
    /// one exits or is not ready in time, `TIMEOUT` when cancelled, `IO`, or the errors of
    /// [`X11::connect`].
    pub async fn start(
        dir: &Path,
        home: Home,
        size: Option<(u32, u32)>,
        path: Option<&OsStr>,
        until: Instant,
        cancel: &CancellationToken,
    ) -> Result<(Self, X11)> {
        let tools = tools(path)?;
        let link = short_link(dir)?;
        let bus = format!("unix:path={}", link.join("r/bus").display());
        let mut private = Self {
            display: String::new(),
            cookie: Cookie(rand::random()),
            bus,
            children: Mutex::default(),
            dir: dir.to_owned(),
            link,
            home,
        };
        let raised = cancel.run_until_cancelled(private.raise(&tools, size, until)).await;
        let raised =
            raised.unwrap_or_else(|| Err(Error::timeout("opening was cancelled before it finished")));
        // A failure to remove something must not replace the reason for the removal.
        if raised.is_err()
            && let Err(left) = private.end().await
        {
            tracing::warn!(error = %left, "an abandoned private display leaves files behind");
        }
        raised.map(|x11| (private, x11))
    }

    /// Creates the folders, and writes the cookie and the record.
    fn prepare(&self) -> Result<()> {
        let own = self.dir.join("r");
        let made = std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&own);
        made.map_err(|e| io_error("create", &own, &e))?;
        self.home.make()?;
        self.cookie.write(&self.runtime().join("xauthority"))?;
        self.write_record()
    }

    /// Returns the address of the display, which no person uses.
    #[must_use]
    pub fn address(&self) -> Address {
        Address { name: self.display.clone(), cookie: Some(self.cookie.clone()), shared: false }
    }

    /// Returns the short path of the runtime folder.
    pub fn runtime(&self) -> PathBuf {
        self.link.join("r")
    }

    async fn raise(
        &mut self,
        [xvfb, dbus, openbox]: &[PathBuf; 3],
        size: Option<(u32, u32)>,
        until: Instant,
    ) -> Result<X11> {
        self.prepare()?;
        let (width, height) = size.map_or(SIZE, |(w, h)| (w.max(SIZE.0), h.max(SIZE.1)));
        let screen = format!("{width}x{height}x24");
        let authority = self.runtime().join("xauthority");
        let mut command = self.command(xvfb);
        // Xvfb writes the chosen display number as a line when it is ready.
        command.args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0", &screen, "-auth"]);
        command.arg(&authority);
        let number = self.spawn(command, DISPLAY, until).await?;
        if number.parse::<u32>().is_err() {
            let why = format!("it printed {} instead of a display number", stickpin_tree::quote(&number));
            return Err(failed(DISPLAY, &why));
        }
        self.display = format!(":{number}");

        let mut command = self.command(dbus);
        command.args(["--session", "--nofork", "--nopidfile", "--nosyslog", "--print-address=1"]);
        command.arg(format!("--address={}", self.bus));
        self.spawn(command, "dbus-daemon", until).await?;

        let config = self.runtime().join("openbox.xml");
        std::fs::write(&config, OPENBOX).map_err(|e| io_error("write", &config, &e))?;
        let mut command = self.command(openbox);
        // Keeps the caches and themes separate from the person's.
        Home::temporary(&self.runtime()).apply(&mut command);
        command.args(["--sm-disable", "--config-file"]).arg(&config);
        // openbox does not report that it is ready. It sets a property of the root window, and
        // `X11::connect` waits for that.
        command.stdout(Stdio::null());
        self.add(command, "openbox")?;
        tokio::select! {
            biased;
            // Check this first, because the reason for an end is more informative than a missing
            // answer.
            failure = self.wait_for_failure() => Err(failure),
            connected = X11::connect(self.address(), until) => connected,
        }
    }

    /// Returns a command that has the environment of apps and leads its own process group. Its
    /// stderr goes to a separate log.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        environment::apply(&mut command, &self.runtime(), &self.bus);
        self.home.apply(&mut command);
        if !self.display.is_empty() {
            command.env("DISPLAY", &self.display);
        }
        // In a shared log, the last line could come from any program. Without a log, only an
        // explanation is lost.
        let log = std::fs::File::options().create(true).append(true).open(self.log_of(program));
        let log = log.map_or_else(|_| Stdio::null(), Stdio::from);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).process_group(0);
        command.kill_on_drop(true);
        command
    }

    fn log_of(&self, program: &Path) -> PathBuf {
        self.dir.join("r").join(program.file_name().unwrap_or_default()).with_added_extension("log")
    }

    /// Starts a program, and returns its output, unless that goes elsewhere.
    fn add(&mut self, mut command: Command, name: &'static str) -> Result<Option<ChildStdout>> {
        let started = command.spawn();
        let mut child = started.map_err(|e| Error::tool_missing(format!("cannot start {name}: {e}")))?;
        let stdout = child.stdout.take();
        self.children.lock().insert(0, (name, child));
        self.write_record().map(|()| stdout)
    }

    /// Starts a program that prints one line when it is ready, and returns that line.
    async fn spawn(&mut self, command: Command, name: &'static str, until: Instant) -> Result<String> {
        let stdout = self.add(command, name)?.ok_or_else(|| failed(name, "it has no output"))?;
        let (start, mut line) = (Instant::now(), String::new());
        let why = match timeout_at(until, BufReader::new(stdout).read_line(&mut line)).await {
            Ok(Ok(read)) if read > 0 => return Ok(line.trim().to_owned()),
            Ok(Ok(_)) => {
                format!("it exited before it was ready; its last output was {}", self.last_line(name))
            }
            Ok(Err(e)) => e.to_string(),
            Err(_) => format!("it was not ready within {} s", start.elapsed().as_secs()),
        };
        Err(failed(name, &why))
    }

    /// Returns the last line that `name`, one of [`TOOLS`], wrote to its log, in quotes, or
    /// `nothing`.
    fn last_line(&self, name: &str) -> String {
        let log = std::fs::read(self.log_of(Path::new(name))).unwrap_or_default();
        let text = String::from_utf8_lossy(&log).into_owned();
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.map_or_else(|| "nothing".to_owned(), stickpin_tree::quote)
    }

    /// Returns the variable that only the processes of this display have in their environment.
    fn mark(&self) -> String {
        format!("{}={}", environment::MARK, self.runtime().display())
    }

    fn write_record(&self) -> Result<()> {
        let pids: Vec<u32> = self.children.lock().iter().filter_map(|(_, child)| child.id()).collect();
        let (links, mark) = (vec![self.link.clone()], Some(self.mark()));
        let record = ProcessRecord { links, mark, ..ProcessRecord::of_children(&pids) };
        record.write(&self.dir).map_err(|e| io_error("write to", &self.dir, &e))
    }

    /// Waits until one of the programs has ended, and returns the resulting error.
    pub async fn wait_for_failure(&self) -> Error {
        let mut ended = self.first_ended(|_| true).await;
        // Programs end with their display, and their end may be noticed first.
        if ended.0 != DISPLAY
            && let Ok(display) = timeout(DISPLAY_EXIT_TIMEOUT, self.first_ended(|name| name == DISPLAY)).await
        {
            ended = display;
        }
        let (name, how) = ended;
        let what = format!(
            "{name} of the private display has exited ({how}); its last output was {}",
            self.last_line(name)
        );
        Error::backend_lost(what).hint("run `stickpin doctor`")
    }

    /// Waits until one of these programs has ended. Returns the first of those that have ended, in
    /// the order in which they were started, and how it ended.
    async fn first_ended(&self, these: impl Fn(&str) -> bool) -> (&'static str, String) {
        let ended = |cx: &mut Context<'_>| {
            for (name, child) in self.children.lock().iter_mut().rev().filter(|(name, _)| these(name)) {
                if let Poll::Ready(ended) = pin!(child.wait()).poll(cx) {
                    let how = ended.map_or_else(|e| e.to_string(), |status| status.to_string());
                    return Poll::Ready((*name, how));
                }
            }
            Poll::Pending
        };
        std::future::poll_fn(ended).await
    }

    /// Ends all programs and removes the folders.
    ///
    /// # Errors
    /// Returns `IO` when a folder, the link or the record cannot be removed.
    pub async fn end(&mut self) -> Result<()> {
        for (_, child) in self.children.get_mut() {
            child.id().into_iter().for_each(kill_group);
            let ended = timeout(EXIT_TIMEOUT, child.wait()).await;
            if !matches!(ended, Ok(Ok(_))) {
                tracing::warn!(pid = child.id(), ?ended, "a process of a private display does not end");
            }
        }
        self.children.lock().clear();
        let (mark, link, dir, home) = (self.mark(), self.link.clone(), self.dir.clone(), self.home.clone());
        let removed = tokio::task::spawn_blocking(move || {
            Process::find_marked(&mark).iter().for_each(Process::kill);
            remove_file(&link).map_err(|e| io_error("remove", &link, &e))?;
            for path in std::iter::once(&*dir.join("r")).chain(home.to_remove()) {
                remove_folder(path).map_err(|e| io_error("remove", path, &e))?;
            }
            ProcessRecord::remove(&dir).map_err(|e| io_error("remove the record in", &dir, &e))
        });
        removed.await.map_err(|e| Error::internal(e.to_string()))?
    }
}

/// Creates a link to `dir` whose path leaves room for socket names.
fn short_link(dir: &Path) -> Result<PathBuf> {
    let tmp = Some(std::env::temp_dir()).filter(|tmp| tmp.as_os_str().len() <= MAX_TMPDIR);
    let tmp = tmp.unwrap_or_else(|| PathBuf::from("/tmp"));
    loop {
        let link = tmp.join(format!("stickpin-{:08x}", rand::random::<u32>()));
        match std::os::unix::fs::symlink(dir, &link) {
            Ok(()) => return Ok(link),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(io_error("create", &link, &e)),
        }
    }
}

fn failed(name: &str, why: &str) -> Error {
    Error::backend_lost(format!("{name} did not start: {why}")).hint("run `stickpin doctor`")
}
