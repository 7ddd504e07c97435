//! The home folder of the apps that a session starts.

use std::path::{Path, PathBuf};
use stickpin_device::{Result, io_error};
use tokio::process::Command;

/// The base folders of the XDG specification, below the home folder.
const XDG: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// The home folder of apps, and the treatment of its XDG base folders.
#[derive(Debug, Clone)]
pub struct Home {
    path: Option<PathBuf>,
    xdg: Xdg,
    temporary: bool,
}

/// The treatment of the inherited variables for base folders, which may point anywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Xdg {
    /// The variables belong to this home and are kept.
    Inherited,
    /// The variables belong to another home and are removed, so that the defaults apply.
    Default,
    /// The variables are set to folders below this home, even for programs that do not know the
    /// defaults.
    BelowHome,
}

impl Home {
    /// Returns the home of the caller, or else `inherited`: the home of this process, to which the
    /// process's environment belongs.
    #[must_use]
    pub fn of_caller(caller: Option<&Path>, inherited: Option<&Path>) -> Self {
        let path = caller.or(inherited);
        let xdg = if path == inherited { Xdg::Inherited } else { Xdg::Default };
        Self { path: path.map(Path::to_owned), xdg, temporary: false }
    }

    /// Returns a home in a persistent folder that contains all of the apps' data.
    #[must_use]
    pub fn profile(path: PathBuf) -> Self {
        Self { path: Some(path), xdg: Xdg::BelowHome, temporary: false }
    }

    /// Returns a home below the folder of a session; the home is removed with the session.
    #[must_use]
    pub fn temporary(dir: &Path) -> Self {
        Self { temporary: true, ..Self::profile(dir.join("home")) }
    }

    /// Returns the folder; `None` if neither the caller nor this process has one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the folder, if it is to be removed at close.
    #[must_use]
    pub fn to_remove(&self) -> Option<&Path> {
        self.path().filter(|_| self.temporary)
    }

    /// Creates the folder, if it belongs to the session or is a profile.
    ///
    /// # Errors
    /// Returns `IO` when it cannot be created.
    pub fn make(&self) -> Result<()> {
        let Some(home) = self.path().filter(|_| self.xdg == Xdg::BelowHome) else { return Ok(()) };
        std::fs::create_dir_all(home).map_err(|e| io_error("create", home, &e))
    }

    /// Sets this home in the environment of a program.
    pub fn apply(&self, command: &mut Command) {
        let Some(home) = &self.path else { return };
        command.env("HOME", home);
        for (name, path) in XDG {
            match self.xdg {
                Xdg::Inherited => &mut *command,
                Xdg::Default => command.env_remove(name),
                Xdg::BelowHome => command.env(name, home.join(path)),
            };
        }
    }
}
