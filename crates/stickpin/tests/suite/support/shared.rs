//! A shared desktop, with the apps of a user.

use super::{Ran, World, eventually};
use std::path::PathBuf;
use std::process::{Child, Command};
use stickpin_testkit::{SharedDesktop, shared_desktop, workspace_root};

/// Debian's Python, because it has the GTK bindings.
pub const PYTHON: &str = "/usr/bin/python3";

/// A shared desktop, with a world whose commands run there.
pub struct Shared {
    pub world: World,
    pub desktop: SharedDesktop,
    apps: Vec<Child>,
}

impl Shared {
    pub fn new(programs: &[&str]) -> Option<Self> {
        Some(Self { desktop: shared_desktop(programs)?, world: World::new(), apps: Vec::new() })
    }

    pub fn start(&mut self, command: &mut Command) -> u32 {
        let child = command.spawn().unwrap();
        let pid = child.id();
        self.apps.push(child);
        pid
    }

    /// Returns the controls of `fixtures/linux/widgets`, and the input that they receive.
    pub fn widgets(&mut self, part: &str) -> (u32, PathBuf) {
        let log = self.world.path().join("log");
        let script = workspace_root().join("fixtures/linux/widgets/app.py");
        let mut command = self.desktop.command(PYTHON);
        command.arg("-B").arg(script).args(["3".as_ref(), log.as_os_str(), part.as_ref()]);
        (self.start(&mut command), log)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.world.command(args);
        let config = self.desktop.config();
        command.envs(config.display.map(|display| ("DISPLAY", display)));
        command.envs(config.session_bus.map(|bus| ("DBUS_SESSION_BUS_ADDRESS", bus)));
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran.out
    }

    /// Runs the command of a hint, split into words as a shell does.
    pub fn typed(&self, line: &str) -> Ran {
        let known = self.command(&[]);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("stickpin() {{ \"$BINARY\" \"$@\"; }}; {line}")]).env_clear();
        shell.envs(known.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("BINARY", known.get_program());
        if let Some(folder) = known.get_current_dir() {
            shell.current_dir(folder);
        }
        shell.output().unwrap().into()
    }

    /// Attaches to a process, once it has registered with a window.
    #[track_caller]
    pub fn attach(&self, pid: u32) {
        let app = format!("linux:{pid}");
        let mut last = String::new();
        eventually("the app registers", || {
            let there = self.run(&["devices"]);
            last.clone_from(&there.out);
            there.out.contains(&app)
        });
        self.ok(&["open", "--attach", &app]);
    }

    pub fn xdotool(&self, args: &[&str]) -> String {
        let output = self.desktop.command("xdotool").args(args).stdout(std::process::Stdio::piped()).output();
        String::from_utf8(output.unwrap().stdout).unwrap().trim().to_owned()
    }

    /// Returns the window with this title, once it is shown.
    pub fn window(&self, title: &str) -> String {
        let mut id = String::new();
        eventually("the window is shown", || {
            id = self.xdotool(&["search", "--onlyvisible", "--name", title]);
            !id.is_empty()
        });
        id.lines().next().unwrap_or_default().to_owned()
    }

    pub fn end(&mut self, pid: u32) {
        let at = self.apps.iter().position(|child| child.id() == pid).unwrap();
        let mut child = self.apps.remove(at);
        child.kill().and_then(|()| child.wait()).unwrap();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for child in &mut self.apps {
            if let Err(e) = child.kill().and_then(|()| child.wait()) {
                eprintln!("an app of a test: {e}");
            }
        }
    }
}
