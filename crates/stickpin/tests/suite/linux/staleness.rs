//! The staleness table on real windows of GTK 3 and GTK 4, where the app's own log says which
//! control received the input.

use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_backend_linux::LinuxProvider;
use stickpin_testkit::staleness::{BetweenReads, Stage, StalenessResults, Table};
use stickpin_testkit::{InProcess, SharedDesktop, desktop, shared_desktop, workspace_root};

/// Debian's Python, because it has the GTK bindings.
const PYTHON: &str = "/usr/bin/python3";

/// Situations that do not exist on a desktop, each with the reason.
const NOT_ON_A_DESKTOP: &[(&str, &str)] = &[
    ("reload-same-record", "no document is loaded: desktop-window-reopened-same is the nearest to it"),
    ("reload-other-record", "the same: desktop-window-reopened-other"),
    (
        "navigation-by-click",
        "nothing leads to another document: route-change-same-layout is the nearest to it",
    ),
    ("navigation-by-page", "the same"),
    ("act-navigation-in-flight", "the same"),
    ("iframe-reload-same-origin", "windows have no frames"),
    ("iframe-reload-cross-origin", "the same"),
    ("iframe-reload-nested", "the same"),
    ("second-tab-same-layout", "all windows of an app are looked at together: desktop-second-window"),
    ("design-system-menu", "toggle-by-state is what is left of it without attributes"),
    (
        "quantity-stepper",
        "one session shows all situations, and knows from the first count that such texts change by themselves",
    ),
    ("group-that-counts", "the same"),
    ("heading-that-counts", "the same"),
    ("like-counter", "the same"),
    ("vote-counter", "the same"),
    ("live-prices", "the same"),
    ("optimistic-row", "rows have no ids that could come later"),
    ("toggle-by-name", "its new self is handed over by an act: fixtures/scenarios/toggle.toml"),
];

/// Situations with a different outcome on a private display, each with the reason.
const NOT_ON_A_PRIVATE_DISPLAY: &[(&str, &str)] = &[(
    "desktop-covered-by-a-window",
    "nobody is disturbed there: a window that merely lies in the way makes room, and the target receives the press",
)];

const PATIENCE: Duration = Duration::from_secs(10);

/// The app, which shows one situation after another.
struct Windows {
    /// Set if the test has started the app; on a private display, the device starts it.
    child: Option<Child>,
    link: Option<Link>,
    listener: UnixListener,
    dir: PathBuf,
    log: PathBuf,
    read: u64,
    attached: bool,
    gtk: String,
}

/// The connection to the app, which selects the situation.
struct Link(BufReader<UnixStream>);

impl Link {
    /// Waits until the app connects, unless `ended` reports that it never will.
    fn accept(
        listener: &UnixListener,
        mut ended: impl FnMut() -> Result<(), String>,
    ) -> Result<Self, String> {
        let failed = |e: std::io::Error| format!("the app: {e}");
        let until = Instant::now() + PATIENCE;
        let link = loop {
            match listener.accept() {
                Ok((link, _)) => break link,
                Err(e) if e.kind() == ErrorKind::WouldBlock && Instant::now() < until => {}
                Err(e) => return Err(failed(e)),
            }
            ended()?;
            std::thread::sleep(Duration::from_millis(10));
        };
        link.set_nonblocking(false).map_err(failed)?;
        link.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        let mut link = Self(BufReader::new(link));
        link.answer()?;
        Ok(link)
    }

    fn answer(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(0) => Err("the app ended".to_owned()),
            Ok(_) => Ok(line.trim().to_owned()),
            Err(e) => Err(format!("the app does not respond: {e}")),
        }
    }

    fn ask(&mut self, line: &str) -> Result<String, String> {
        writeln!(self.0.get_mut(), "{line}").map_err(|e| format!("`{line}`: {e}"))?;
        self.answer()
    }
}

impl Windows {
    /// Creates the app without starting it; `dir` contains the app's socket and log.
    fn new(dir: PathBuf, gtk: &str) -> Result<Self, String> {
        let failed = |e: std::io::Error| format!("the socket of the app: {e}");
        let listener = UnixListener::bind(dir.join("control")).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let log = dir.join("received");
        let gtk = gtk.to_owned();
        Ok(Self { child: None, link: None, listener, dir, log, read: 0, attached: false, gtk })
    }

    /// Returns the words of the app's command line.
    fn words(&self) -> [String; 6] {
        let app = workspace_root().join("fixtures").join("linux").join("staleness").join("app.py");
        let path = |path: PathBuf| path.to_string_lossy().into_owned();
        let (control, log) = (path(self.dir.join("control")), path(self.log.clone()));
        [PYTHON.to_owned(), "-B".to_owned(), path(app), self.gtk.clone(), control, log]
    }

    /// Starts the app on a desktop.
    fn start(desktop: &SharedDesktop, gtk: &str) -> Result<Self, String> {
        let mut app = Self::new(desktop.dir(), gtk)?;
        let [program, words @ ..] = app.words();
        let failed = |e: std::io::Error| format!("the app: {e}");
        let mut child = desktop.command(&program).args(words).spawn().map_err(failed)?;
        let link = Link::accept(&app.listener, || match child.try_wait().map_err(failed)? {
            Some(status) => Err(format!("the app ended at once ({status}): is GTK {gtk} there for Python?")),
            None => Ok(()),
        });
        app.child = Some(child);
        app.link = Some(link?);
        Ok(app)
    }

    /// Lets the device start the app on a private display, with the first situation. The app counts
    /// as open once it shows a situation.
    fn open(&mut self, surface: &mut InProcess, id: &str) -> Result<String, String> {
        let app = format!("linux:{}", self.words().join(" "));
        let listener = &self.listener;
        let (response, shown) = std::thread::scope(|scope| {
            let shown = scope.spawn(|| {
                let mut link = Link::accept(listener, || Ok(()))?;
                let shown = link.ask(&format!("show {id}"))?;
                Ok::<_, String>((link, shown))
            });
            let response = surface.request(&["open", &app, "--private"], |_| {});
            (response, shown.join().expect("the thread ends"))
        });
        response.error.map_or(Ok(()), |e| Err(format!("open: {e}")))?;
        let (link, shown) = shown?;
        self.link = Some(link);
        self.attached = true;
        Ok(shown)
    }

    fn ask(&mut self, line: &str) -> Result<String, String> {
        self.link.as_mut().ok_or("the app was not started")?.ask(line)
    }

    /// Returns the new lines of the log.
    fn received(&mut self) -> std::io::Result<String> {
        let mut file = std::fs::File::open(&self.log)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut text = String::new();
        self.read += file.read_to_string(&mut text)? as u64;
        Ok(text)
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child
            && let Err(error) = child.kill().and_then(|()| child.wait())
        {
            eprintln!("the app of a test: {error}");
        }
    }
}

impl Stage for Windows {
    fn show(&mut self, surface: &mut InProcess, id: &str) -> Result<usize, String> {
        let shown = match (&self.link, &self.child) {
            (None, None) => self.open(surface, id)?,
            _ => self.ask(&format!("show {id}"))?,
        };
        if let Some(child) = self.child.as_ref().filter(|_| !self.attached) {
            let app = format!("linux:{}", child.id());
            let response = surface.request(&["open", "--attach", &app], |_| {});
            response.error.map_or(Ok(()), |e| Err(format!("open: {e}")))?;
            self.attached = true;
        }
        let steps = shown.strip_prefix(&format!("shown {id} ")).and_then(|steps| steps.parse().ok());
        steps.ok_or_else(|| format!("the app shows something else: {shown}"))
    }

    fn change(&mut self, _: &mut InProcess) -> Result<(), String> {
        self.ask("change").map(drop)
    }

    fn role<'r>(&self, role: &'r str) -> &'r str {
        match role {
            // AT-SPI has no such role.
            "searchbox" => "textbox",
            // GTK 3 reports a link button as a button.
            "link" if self.gtk == "3" => "button",
            role => role,
        }
    }

    fn pressed(&mut self) -> Vec<String> {
        let settled = self.ask("settle");
        assert_eq!(settled.as_deref(), Ok("settled"), "the app handles its input");
        let lines = self.received().expect("the app's log");
        lines.lines().filter_map(|l| l.strip_prefix("click ")).map(str::to_owned).collect()
    }

    /// The app makes the changes by itself, so no input is on its way to it. GTK 3 reports that the
    /// app switches a toggle as a click.
    fn discard_pressed(&mut self) {
        drop(self.received().expect("the app's log"));
    }
}

/// Runs the whole table on a desktop on which the app already runs; `between` returns the column
/// for the situation at an index.
fn shared(between: impl Fn(usize) -> BetweenReads, gtk: &str) {
    let Some(desktop) = shared_desktop(&[PYTHON]) else { return };
    let windows = Windows::start(&desktop, gtk).expect("the app of this test");
    judged(between, gtk, windows, LinuxProvider::new(desktop.config()), &[]);
}

/// Runs the table without reads in between, on a private display.
fn private(gtk: &str) {
    let Some(provider) = desktop(&[PYTHON]) else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let windows = Windows::new(dir.path().to_owned(), gtk).expect("the app of this test");
    judged(|_| BetweenReads::Nothing, gtk, windows, provider, NOT_ON_A_PRIVATE_DISPLAY);
}

fn judged(
    between: impl Fn(usize) -> BetweenReads,
    gtk: &str,
    mut windows: Windows,
    provider: LinuxProvider,
    without: &[(&str, &str)],
) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut surface = InProcess::new(dir.path(), vec![Arc::new(provider)]);
    let table = Table::read().expect("the table");
    let mut account = StalenessResults::default();
    let name = format!("gtk{gtk}");
    for (index, situation) in table.situations.iter().enumerate() {
        let here = |suite: &String| suite == "device" || suite == "desktop";
        let here = situation.suites.as_ref().is_none_or(|s| s.iter().any(here));
        let left_out = NOT_ON_A_DESKTOP.iter().chain(without).any(|(id, _)| *id == situation.id);
        if !here || left_out {
            continue;
        }
        let grades = [&name, "desktop", "while-alive"];
        match table.run(situation, &grades, between(index), &mut surface, &mut windows) {
            Ok(found) => account.add(found),
            Err(e) => account.differences.push(e),
        }
    }
    println!("staleness on GTK {gtk}, {:?} and {:?} in between: {account}", between(0), between(1));
    assert!(account.wrong.is_empty() && account.differences.is_empty(), "{account}");
    assert!(account.uses > 100, "only {} uses were judged", account.uses);
}

macro_rules! columns {
    ($($toolkit:ident $gtk:literal;)*) => {$(mod $toolkit {
        use super::*;

        #[test]
        fn nothing_in_between() {
            shared(|_| BetweenReads::Nothing, $gtk);
        }

        /// The effects of captures and snapshots belong to the session, and are tested for each
        /// situation on Chromium and on the simulated device. Here they alternate, opposite for the
        /// two toolkits.
        #[test]
        fn looks_and_snapshots_in_turn() {
            let first = usize::from($gtk == "4");
            shared(|index| [BetweenReads::Looks, BetweenReads::Snapshots][(index + first) % 2], $gtk);
        }
    })*};
}

columns! {
    gtk3 "3";
    gtk4 "4";
}

#[test]
fn on_a_private_display() {
    private("3");
}

#[test]
fn what_is_left_out_exists() {
    let table = Table::read().expect("the table");
    for (id, reason) in NOT_ON_A_DESKTOP.iter().chain(NOT_ON_A_PRIVATE_DISPLAY) {
        assert!(table.situations.iter().any(|s| s.id == *id), "{id} is not a situation");
        assert!(!reason.is_empty());
    }
}
