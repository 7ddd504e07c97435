//! A desktop like a person's. Only the test uses the desktop, but to the device it appears to be a
//! shared one on which apps are already running.

use crate::desktop::are_installed;
use std::env;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use stickpin_backend_linux::LinuxConfig;
use stickpin_process::{Process, remove_folder};

/// The accessibility bus launcher, in Debian and in other distributions.
const LAUNCHERS: [&str; 2] =
    ["/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher"];

/// Environment variables that would lead an app to another desktop.
const REMOVED_ENV: [&str; 6] =
    ["AT_SPI_BUS_ADDRESS", "GTK_MODULES", "NO_AT_BRIDGE", "SESSION_MANAGER", "WAYLAND_DISPLAY", "XAUTHORITY"];

/// A desktop that ends when this value is dropped.
#[derive(Debug)]
pub struct SharedDesktop {
    dir: tempfile::TempDir,
    children: Vec<Child>,
    display: String,
    bus: String,
}

/// Starts a desktop for this test. If a tool or one of `programs` is missing, prints a message on
/// stderr and returns `None`.
///
/// # Panics
/// Panics if something is missing although `STICKPIN_REQUIRE_DESKTOP` is set, or if the desktop
/// does not start.
#[must_use]
pub fn shared_desktop(programs: &[&str]) -> Option<SharedDesktop> {
    let mut needed = programs.to_vec();
    if !LAUNCHERS.iter().any(|p| Path::new(p).is_file()) {
        needed.push("at-spi-bus-launcher");
    }
    are_installed(&needed, "STICKPIN_REQUIRE_DESKTOP").then(|| SharedDesktop::start().expect("a desktop"))
}

impl SharedDesktop {
    fn start() -> std::io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("sp").tempdir()?;
        let bus = format!("unix:path={}", dir.path().join("bus").display());
        let mut desktop = Self { dir, children: Vec::new(), display: String::new(), bus };
        let mut xvfb = desktop.command("Xvfb");
        xvfb.args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0", "1280x900x24"]);
        desktop.display = format!(":{}", desktop.spawn(xvfb)?);
        let mut dbus = desktop.command("dbus-daemon");
        dbus.args(["--session", "--nofork", "--nopidfile", "--nosyslog", "--print-address=1"]);
        dbus.arg(format!("--address={}", desktop.bus));
        desktop.bus = desktop.spawn(dbus)?;
        let mut openbox = desktop.command("openbox");
        openbox.arg("--sm-disable");
        desktop.children.push(openbox.spawn()?);
        Ok(desktop)
    }

    /// Starts a program, and returns the line that it prints when it is ready.
    fn spawn(&mut self, mut command: Command) -> std::io::Result<String> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().expect("it is piped");
        self.children.push(child);
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }

    /// Returns a command that runs a program on this desktop.
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for name in REMOVED_ENV {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env("XDG_RUNTIME_DIR", self.dir.path()).env("HOME", self.dir.path());
        command.env("DISPLAY", &self.display).env("DBUS_SESSION_BUS_ADDRESS", &self.bus);
        command.envs([
            ("GDK_BACKEND", "x11"),
            ("GSK_RENDERER", "cairo"),
            ("GSETTINGS_BACKEND", "memory"),
            ("GTK_USE_PORTAL", "0"),
        ]);
        command
    }

    /// Returns the device's configuration for this desktop.
    #[must_use]
    pub fn config(&self) -> LinuxConfig {
        LinuxConfig {
            session_bus: Some(self.bus.clone()),
            display: Some(self.display.clone()),
            path: env::var_os("PATH"),
            ..LinuxConfig::default()
        }
    }

    /// Returns a folder that is removed with the desktop. Its path is short enough for sockets.
    #[must_use]
    pub fn dir(&self) -> PathBuf {
        self.dir.path().to_owned()
    }
}

impl Drop for SharedDesktop {
    fn drop(&mut self) {
        // Processes that the bus and apps started have the folder in their environment. The display
        // ends last.
        let mark = format!("XDG_RUNTIME_DIR={}", self.dir.path().display());
        let own: Vec<u32> = self.children.iter().map(Child::id).collect();
        let all = Process::find_marked(&mark);
        all.iter().filter(|p| !own.contains(&p.pid)).for_each(Process::kill);
        for child in self.children.iter_mut().rev() {
            if let Err(error) = child.kill().and_then(|()| child.wait()) {
                eprintln!("a part of a test's desktop: {error}");
            }
        }
        // Unmounts what a portal mounted there. `tempfile` must not remove the folder, because it
        // would delete files through a remaining mount.
        self.dir.disable_cleanup(true);
        if let Err(error) = remove_folder(self.dir.path()) {
            eprintln!("the folder of a test's desktop: {error}");
        }
    }
}
