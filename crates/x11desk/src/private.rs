//! A display, buses and a window manager of a session's own, so that it never fights a person for
//! pointer and focus.
//!
//! Xvfb picks a free display number itself (`-displayfd`), dbus-daemon listens on a socket in a
//! runtime folder of this session, and the accessibility bus is activated on it. Everything bears a
//! mark in its environment (the runtime folder), by which also what apps start and abandon is found
//! at the end, or by a sweep after a crash.

mod environment;
mod home;

pub use self::home::Home;
use crate::address::{Address, Cookie};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, Result, io_error};
use stickpin_process::{Process, Record, kill_group, on_path, remove_folder};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout, timeout_at};

/// How long what was killed may take to be gone.
const END: Duration = Duration::from_secs(5);

/// How long the display may take to be gone after what was shown on it.
const WITH_IT: Duration = Duration::from_millis(200);

/// The server of the display, whose end takes the others along.
const DISPLAY: &str = "Xvfb";

/// The smallest display.
const SIZE: (u32, u32) = (1280, 900);

/// The longest temporary folder below which sockets still fit (a path of at most 107 bytes).
const MAX_TMPDIR: usize = 40;

/// What a private session needs: program, Debian package.
const TOOLS: [(&str, &str); 3] = [(DISPLAY, "xvfb"), ("dbus-daemon", "dbus"), ("openbox", "openbox")];

/// The window manager without its own keys: chords are for the app, and one workspace is enough.
const OPENBOX: &str = include_str!("private/openbox.xml");

/// A private display that runs.
#[derive(Debug)]
pub struct Private {
    /// `:7`.
    pub display: String,
    /// What a client of the display has to show.
    cookie: Cookie,
    /// The address of the session bus.
    pub bus: String,
    /// What apps get in their environment.
    environment: Vec<(OsString, OsString)>,
    /// Each the leader of its own group, in the order in which they are ended: the display last.
    children: Mutex<Vec<Part>>,
    dir: PathBuf,
    /// The home of apps.
    home: Home,
    record: Record,
}

/// A program that a display needs as long as it is there.
#[derive(Debug)]
struct Part {
    name: &'static str,
    child: Child,
}

/// What is missing for private sessions: programs and their packages.
#[must_use]
pub fn missing(path: Option<&OsStr>) -> Vec<(&'static str, &'static str)> {
    TOOLS.into_iter().filter(|(program, _)| on_path(&[program], path).is_none()).collect()
}

/// Where the programs are.
fn tools(path: Option<&OsStr>) -> Result<[PathBuf; 3]> {
    let missing = missing(path);
    if missing.is_empty() {
        return Ok(TOOLS.map(|(program, _)| on_path(&[program], path).unwrap_or_default()));
    }
    let (programs, packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
    let verb = if programs.len() == 1 { "is" } else { "are" };
    let what = format!("a private display needs {}, which {verb} not installed", programs.join(", "));
    let hint = format!("apt install {} at-spi2-core", packages.join(" "));
    Err(Error::tool_missing(what).hint(hint))
}

impl Private {
    /// Starts one in `dir`, with a display of at least `size`, for apps with this `home`. Nothing
    /// is left behind when it fails, or is cancelled.
    ///
    /// # Errors
    /// `TOOL_MISSING` with the install command, `BACKEND_LOST` when a part does not come up until
    /// then, `TIMEOUT`, `IO`.
    pub async fn start(
        dir: &Path,
        home: Home,
        size: Option<(u32, u32)>,
        path: Option<&OsStr>,
        until: Instant,
        cancel: &CancellationToken,
    ) -> Result<Self> {
        let tools = tools(path)?;
        let mut private = Self::prepare(dir, home)?;
        let raised = cancel.run_until_cancelled(private.raise(&tools, size, until)).await;
        match raised.unwrap_or_else(|| Err(Error::timeout("the opening was ended before it was done"))) {
            Ok(()) => Ok(private),
            Err(e) => {
                private.end().await?;
                Err(e)
            }
        }
    }

    /// Folders, the short link to them, the cookie.
    fn prepare(dir: &Path, home: Home) -> Result<Self> {
        let link = short_link(dir)?;
        let own = dir.join("r");
        let made = std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&own);
        made.map_err(|e| io_error("make", &own, &e))?;
        home.make()?;
        let runtime = link.join("r");
        let cookie = Cookie::random();
        cookie.write(&runtime.join("xauthority"))?;
        let mark = Some(format!("{}={}", environment::MARK, runtime.display()));
        let record = Record { links: vec![link], mark, ..Record::of(&[]) };
        let bus = format!("unix:path={}", runtime.join("bus").display());
        let environment = environment::of_apps(&runtime, &bus);
        let private = Self {
            display: String::new(),
            cookie,
            bus,
            environment,
            children: Mutex::default(),
            dir: dir.to_owned(),
            home,
            record,
        };
        private.write_record()?;
        Ok(private)
    }

    /// How to get to its display, which nobody else uses.
    #[must_use]
    pub fn address(&self) -> Address {
        Address { name: self.display.clone(), cookie: Some(self.cookie.clone()), shared: false }
    }

    /// The runtime folder, by its short name.
    pub fn runtime(&self) -> PathBuf {
        self.record.links[0].join("r")
    }

    async fn raise(
        &mut self,
        [xvfb, dbus, openbox]: &[PathBuf; 3],
        size: Option<(u32, u32)>,
        until: Instant,
    ) -> Result<()> {
        let (width, height) = size.map_or(SIZE, |(w, h)| (w.max(SIZE.0), h.max(SIZE.1)));
        let screen = format!("{width}x{height}x24");
        let authority = self.runtime().join("xauthority");
        let mut command = self.command(xvfb);
        // It writes the number that it got as a line when it is ready.
        command.args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0", &screen, "-auth"]);
        command.arg(&authority);
        let number = self.spawn(command, DISPLAY, until).await?;
        if number.parse::<u32>().is_err() {
            let why = format!("it named no display, but {}", stickpin_tree::quote(&number));
            return Err(failed(DISPLAY, &why));
        }
        self.display = format!(":{number}");
        self.environment.push(("DISPLAY".into(), self.display.clone().into()));

        let mut command = self.command(dbus);
        command.args(["--session", "--nofork", "--nopidfile", "--nosyslog", "--print-address=1"]);
        command.arg(format!("--address={}", self.bus));
        self.bus = self.spawn(command, "dbus-daemon", until).await?;

        let config = self.runtime().join("openbox.xml");
        std::fs::write(&config, OPENBOX).map_err(|e| io_error("write", &config, &e))?;
        let mut command = self.command(openbox);
        // Its caches and themes are nothing of the person's.
        Home::temporary(&self.runtime()).apply(&mut command);
        command.args(["--sm-disable", "--config-file"]).arg(&config);
        // It says nothing when it is ready: it puts its name on the root window, and whoever
        // connects waits
        // for that.
        command.stdout(Stdio::null());
        self.add(command, "openbox")
    }

    /// A program with the environment of apps, the leader of its own group. What it says goes to a
    /// log of its own.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        environment::clear(&mut command);
        self.home.apply(&mut command);
        command.envs(self.environment.iter().map(|(k, v)| (k, v)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(self.log(program)).process_group(0);
        command.kill_on_drop(true);
        command
    }

    /// Where `program` says what it has to say. Each has its own: in one for all the last line is
    /// anybody's.
    fn log(&self, program: &Path) -> Stdio {
        let log = std::fs::File::options().create(true).append(true).open(self.log_of(program));
        // Without it nothing is lost but an explanation.
        log.map_or_else(|_| Stdio::null(), Stdio::from)
    }

    fn log_of(&self, program: &Path) -> PathBuf {
        let mut name = program.file_name().unwrap_or_default().to_owned();
        name.push(".log");
        self.dir.join("r").join(name)
    }

    fn add(&mut self, mut command: Command, name: &'static str) -> Result<()> {
        let child =
            command.spawn().map_err(|e| Error::tool_missing(format!("{name} cannot be started: {e}")))?;
        self.parts().insert(0, Part { name, child });
        self.write_record()
    }

    /// Starts a program that says one line when it is ready, and returns that line.
    async fn spawn(&mut self, command: Command, name: &'static str, until: Instant) -> Result<String> {
        self.add(command, name)?;
        let stdout = self.parts()[0].child.stdout.take();
        let Some(stdout) = stdout else { return Err(failed(name, "it has no output")) };
        let (start, mut line) = (Instant::now(), String::new());
        match timeout_at(until, BufReader::new(stdout).read_line(&mut line)).await {
            Ok(Ok(read)) if read > 0 => Ok(line.trim().to_owned()),
            Ok(Ok(_)) => Err(failed(name, &format!("it ended at once and said: {}", self.said(name)))),
            Ok(Err(e)) => Err(failed(name, &e.to_string())),
            Err(_) => Err(failed(name, &format!("it was not ready within {} s", start.elapsed().as_secs()))),
        }
    }

    /// The last line that `name`, one of [`TOOLS`], has said, in quotes.
    fn said(&self, name: &str) -> String {
        let log = std::fs::read(self.log_of(Path::new(name))).unwrap_or_default();
        let text = String::from_utf8_lossy(&log).into_owned();
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.map_or_else(|| "nothing".to_owned(), stickpin_tree::quote)
    }

    fn write_record(&self) -> Result<()> {
        let pids: Vec<u32> = self.parts().iter().filter_map(|part| part.child.id()).collect();
        let record = Record { processes: Record::of(&pids).processes, ..self.record.clone() };
        record.write(&self.dir).map_err(|e| io_error("write to", &self.dir, &e))
    }

    /// The programs of this display, the last one started first.
    fn parts(&self) -> MutexGuard<'_, Vec<Part>> {
        // Nothing panics while it is held; if something did, the list would still be whole.
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Comes back when one of its programs has ended, with what that means.
    pub async fn fallen(&self) -> Error {
        let mut fallen = std::future::poll_fn(|cx| self.ended(cx, |_| true)).await;
        // What shows something on the display ends with it, and may be heard of first.
        let display = std::future::poll_fn(|cx| self.ended(cx, |name| name == DISPLAY));
        if fallen.0 != DISPLAY
            && let Ok(display) = timeout(WITH_IT, display).await
        {
            fallen = display;
        }
        let (name, how) = fallen;
        let what = format!("{name} of the private display has ended ({how}): {}", self.said(name));
        Error::backend_lost(what).hint("stickpin doctor")
    }

    /// The first of these programs that has ended, in the order in which they were started, and
    /// how.
    fn ended(&self, cx: &mut Context<'_>, these: impl Fn(&str) -> bool) -> Poll<(&'static str, String)> {
        for Part { name, child } in self.parts().iter_mut().rev().filter(|part| these(part.name)) {
            if let Poll::Ready(ended) = pin!(child.wait()).poll(cx) {
                let how = ended.map_or_else(|e| e.to_string(), |status| status.to_string());
                return Poll::Ready((name, how));
            }
        }
        Poll::Pending
    }

    /// Ends everything that runs here and removes the folders.
    ///
    /// # Errors
    /// `IO` when a folder cannot be removed.
    pub async fn end(&mut self) -> Result<()> {
        for Part { child, .. } in self.children.get_mut().unwrap_or_else(PoisonError::into_inner) {
            child.id().into_iter().for_each(kill_group);
            let ended = timeout(END, child.wait()).await;
            if !matches!(ended, Ok(Ok(_))) {
                tracing::warn!(pid = child.id(), ?ended, "a part of a private display does not end");
            }
        }
        self.parts().clear();
        let (mut record, dir, home) = (self.record.clone(), self.dir.clone(), self.home.clone());
        let removed = tokio::task::spawn_blocking(move || {
            if let Some(mark) = record.mark.take() {
                Process::marked(&mark).iter().for_each(Process::kill);
            }
            for link in &record.links {
                match std::fs::remove_file(link) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                        return Err(io_error("remove", link, &e));
                    }
                    _ => {}
                }
            }
            for folder in std::iter::once(&*dir.join("r")).chain(home.to_remove()) {
                remove_folder(folder).map_err(|e| io_error("remove", folder, &e))?;
            }
            Record::remove(&dir).map_err(|e| io_error("remove the record in", &dir, &e))
        });
        removed.await.map_err(|e| Error::internal(e.to_string()))?
    }
}

/// A link to `dir` with a name that is short enough for sockets below it.
fn short_link(dir: &Path) -> Result<PathBuf> {
    let tmp = Some(std::env::temp_dir()).filter(|tmp| tmp.as_os_str().len() <= MAX_TMPDIR);
    let tmp = tmp.unwrap_or_else(|| PathBuf::from("/tmp"));
    loop {
        let link = tmp.join(format!("stickpin-{:08x}", rand::random::<u32>()));
        match std::os::unix::fs::symlink(dir, &link) {
            Ok(()) => return Ok(link),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(io_error("make", &link, &e)),
        }
    }
}

fn failed(name: &str, why: &str) -> Error {
    Error::backend_lost(format!("{name} did not start: {why}")).hint("stickpin doctor")
}
