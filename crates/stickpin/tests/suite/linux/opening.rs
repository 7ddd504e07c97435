//! `open linux:desktop` without a desktop, through the real binary. The attempt leaves nothing
//! behind: no session, no process, no folder.

use crate::support::shared::PYTHON;
use crate::support::{Ran, World, eventually};
use stickpin_testkit::{desktop, workspace_root};

/// A world whose commands find neither a display nor a bus.
struct Nowhere {
    world: World,
}

impl Nowhere {
    fn new() -> Self {
        let world = World::new();
        std::fs::create_dir(world.path().join("tmp")).unwrap();
        Self { world }
    }

    /// Gives the sessions an accessibility registry of `fixtures/linux/registry` in place of the
    /// real one.
    fn with(self, kind: &str) -> Self {
        let services = self.world.path().join("data/dbus-1/services");
        std::fs::create_dir_all(&services).unwrap();
        let script = workspace_root().join("fixtures/linux/registry/app.py");
        for name in ["org.a11y.Bus", "org.a11y.atspi.Registry"] {
            let (script, log) = (script.display(), self.log().display().to_string());
            let text = format!("[D-BUS Service]\nName={name}\nExec={PYTHON} -B {script} {kind} {log}\n");
            std::fs::write(services.join(format!("{name}.service")), text).unwrap();
        }
        self
    }

    fn log(&self) -> std::path::PathBuf {
        self.world.path().join("log")
    }

    fn asked(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap_or_default()
    }

    /// Opens the desktop with these environment variables.
    fn open(&self, surroundings: &[(&str, &str)]) -> Ran {
        let mut command = self.world.command(&["open", "linux:desktop"]);
        let data = format!("{}:/usr/local/share:/usr/share", self.world.path().join("data").display());
        command.env("TMPDIR", self.world.path().join("tmp")).env("XDG_DATA_DIRS", data);
        command.envs(surroundings.iter().copied()).output().unwrap().into()
    }

    /// Returns the processes that were started for a session: each has one of our folders in its
    /// command line or environment, as does the daemon.
    fn processes(&self) -> Vec<String> {
        let ours = self.world.path().display().to_string();
        let daemon = self.world.pid().map(|pid| pid.to_string());
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let told = |entry: std::fs::DirEntry| {
            // A process that has just ended has no command line.
            let read = |what| std::fs::read(entry.path().join(what)).unwrap_or_default();
            let text = [read("cmdline"), read("environ")].concat();
            let pid = entry.file_name().into_string().ok().filter(|pid| Some(pid) != daemon.as_ref())?;
            String::from_utf8_lossy(&text).contains(&ours).then_some(pid)
        };
        all.filter_map(told).collect()
    }

    #[track_caller]
    fn nothing_is_left(&self) {
        assert!(self.world.ok("session list --json").contains("\"sessions\":[]"));
        for folder in ["state/live", "tmp"] {
            let left: Vec<_> = std::fs::read_dir(self.world.path().join(folder)).unwrap().flatten().collect();
            assert!(left.is_empty(), "{left:?}");
        }
        eventually("what was started has ended", || self.processes().is_empty());
    }
}

#[track_caller]
fn says(ran: &Ran, code: &str, words: &[&str]) {
    assert!(ran.code != 0 && ran.err.starts_with(&format!("{code}: ")), "{ran:?}");
    for word in words {
        assert!(ran.err.contains(word), "{word:?} is not in {ran:?}");
    }
}

#[test]
fn desktop_without_a_bus_reports_what_was_tried() {
    let nowhere = Nowhere::new();
    let ran = nowhere.open(&[("DISPLAY", ":77777")]);
    says(
        &ran,
        "TOOL_MISSING",
        &["cannot connect to the accessibility bus: ", "DBUS_SESSION_BUS_ADDRESS", "display :77777"],
    );
    nowhere.nothing_is_left();

    let nowhere = Nowhere::new();
    let bus = format!("unix:path={}", nowhere.world.path().join("bus").display());
    let ran = nowhere.open(&[("DISPLAY", ":77777"), ("DBUS_SESSION_BUS_ADDRESS", &bus)]);
    says(&ran, "TOOL_MISSING", &[&format!("org.a11y.Bus on {bus}: "), "stickpin doctor"]);
    nowhere.nothing_is_left();
}

#[test]
fn private_desktop_ends_if_accessibility_does_not_start() {
    if desktop(&[PYTHON]).is_none() {
        return;
    }
    let nowhere = Nowhere::new().with("ends");
    let ran = nowhere.open(&[]);
    says(
        &ran,
        "TOOL_MISSING",
        &["cannot connect to the accessibility bus: ", "status 3", "apt install at-spi2-core"],
    );
    nowhere.nothing_is_left();
}

#[test]
fn registry_errors_end_the_opening_with_their_message() {
    if desktop(&[PYTHON]).is_none() {
        return;
    }
    let nowhere = Nowhere::new().with("errors");
    let ran = nowhere.open(&[]);
    says(
        &ran,
        "BACKEND_LOST",
        &["the accessibility registry does not respond: ", "Error.Closed: the registry is\\nclosed today\""],
    );
    assert!(nowhere.asked().contains("asked GetChildren"), "{}", nowhere.asked());
    nowhere.nothing_is_left();
}

#[test]
fn a_display_that_goes_during_the_opening_is_not_waited_for() {
    if desktop(&[PYTHON]).is_none() {
        return;
    }
    let nowhere = Nowhere::new().with("display");
    let ran = nowhere.open(&[]);
    assert_eq!(nowhere.asked(), "asked GetAddress\n", "{ran:?}");
    says(&ran, "BACKEND_LOST", &["Xvfb of the private display has exited", "signal: 9", "stickpin doctor"]);
    nowhere.nothing_is_left();
}
