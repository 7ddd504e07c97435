//! The staleness table on real windows of GTK 3 and GTK 4, where the app's own log says which control received the input.

use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_backend_linux::LinuxProvider;
use stickpin_testkit::staleness::{Account, Between, Stage, Table};
use stickpin_testkit::{InProcess, SharedDesktop, shared_desktop, workspace_root};

/// Debian's own: it is the one that has the bindings of GTK.
const PYTHON: &str = "/usr/bin/python3";

/// Situations that a desktop does not have, each with the reason.
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
    ("optimistic-row", "rows have no ids that could come later"),
    ("toggle-by-name", "its new self is handed over by an act: fixtures/scenarios/toggle.toml"),
];

const PATIENCE: Duration = Duration::from_secs(10);

/// The app, which shows one situation after another.
struct Windows {
    child: Child,
    link: BufReader<UnixStream>,
    log: PathBuf,
    read: u64,
    attached: bool,
    gtk: String,
}

impl Windows {
    fn start(desktop: &SharedDesktop, gtk: &str) -> Result<Self, String> {
        let (control, log) = (desktop.dir().join("control"), desktop.dir().join("received"));
        let failed = |e: std::io::Error| format!("the app: {e}");
        let listener = UnixListener::bind(&control).map_err(failed)?;
        let app = workspace_root().join("fixtures").join("linux").join("staleness").join("app.py");
        let mut command = desktop.command(PYTHON);
        command.args(["-B".as_ref(), app.as_os_str(), gtk.as_ref()]).args([&control, &log]);
        let mut child = command.spawn().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let until = Instant::now() + PATIENCE;
        let link = loop {
            match listener.accept() {
                Ok((link, _)) => break link,
                Err(e) if e.kind() == ErrorKind::WouldBlock && Instant::now() < until => {}
                Err(e) => return Err(failed(e)),
            }
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Err(format!("the app ended at once ({status}): is GTK {gtk} there for Python?"));
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        link.set_nonblocking(false).map_err(failed)?;
        link.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        let mut app =
            Self { child, link: BufReader::new(link), log, read: 0, attached: false, gtk: gtk.to_owned() };
        app.answer()?;
        Ok(app)
    }

    fn answer(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.link.read_line(&mut line) {
            Ok(0) => Err("the app ended".to_owned()),
            Ok(_) => Ok(line.trim().to_owned()),
            Err(e) => Err(format!("the app does not answer: {e}")),
        }
    }

    fn ask(&mut self, line: &str) -> Result<String, String> {
        writeln!(self.link.get_mut(), "{line}").map_err(|e| format!("`{line}`: {e}"))?;
        self.answer()
    }

    /// What the log gained.
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
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            eprintln!("the app of a test: {error}");
        }
    }
}

impl Stage for Windows {
    fn show(&mut self, surface: &mut InProcess, id: &str) -> Result<usize, String> {
        let shown = self.ask(&format!("show {id}"))?;
        if !self.attached {
            let app = format!("linux:{}", self.child.id());
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
            // AT-SPI has no word for it.
            "searchbox" => "textbox",
            // A button that leads to an address is a button in the words of GTK 3.
            "link" if self.gtk == "3" => "button",
            role => role,
        }
    }

    fn pressed(&mut self) -> Vec<String> {
        let settled = self.ask("settle");
        assert_eq!(settled.as_deref(), Ok("settled"), "the app deals with its input");
        let lines = self.received().expect("the app's log");
        lines.lines().filter_map(|l| l.strip_prefix("click ")).map(str::to_owned).collect()
    }
}

/// One column of the table, on a desktop of its own.
fn column(between: Between, gtk: &str) {
    let Some(desktop) = shared_desktop(&[PYTHON]) else { return };
    let mut windows = Windows::start(&desktop, gtk).expect("the app of this test");
    let dir = tempfile::tempdir().expect("a folder");
    let mut surface = InProcess::new(dir.path(), vec![Arc::new(LinuxProvider::new(desktop.config()))]);
    let table = Table::read().expect("the table");
    let mut account = Account::default();
    let name = format!("gtk{gtk}");
    for situation in &table.situations {
        let here = |suite: &String| suite == "device" || suite == "desktop";
        let here = situation.suites.as_ref().is_none_or(|s| s.iter().any(here));
        if !here || NOT_ON_A_DESKTOP.iter().any(|(id, _)| *id == situation.id) {
            continue;
        }
        match table.run(situation, &[&name, "desktop", "while-alive"], between, &mut surface, &mut windows) {
            Ok(found) => account.add(found),
            Err(e) => account.differ.push(e),
        }
    }
    println!("staleness on GTK {gtk}, {between:?} in between: {account}");
    assert!(account.wrong.is_empty() && account.differ.is_empty(), "{account}");
    assert!(account.uses > 100, "only {} uses were judged", account.uses);
}

macro_rules! columns {
    ($($toolkit:ident $gtk:literal;)*) => {$(mod $toolkit {
        use super::*;

        #[test]
        fn nothing_in_between() {
            column(Between::Nothing, $gtk);
        }

        #[test]
        fn looks_in_between() {
            column(Between::Looks, $gtk);
        }

        #[test]
        fn snapshots_in_between() {
            column(Between::Snapshots, $gtk);
        }
    })*};
}

columns! {
    gtk3 "3";
    gtk4 "4";
}

#[test]
fn what_is_left_out_exists() {
    let table = Table::read().expect("the table");
    for (id, reason) in NOT_ON_A_DESKTOP {
        assert!(table.situations.iter().any(|s| s.id == *id), "{id} is no situation");
        assert!(!reason.is_empty());
    }
}
