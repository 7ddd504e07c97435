//! The machine that an installation changes: its folders, programs and environment.

use crate::harness::{Config, Harness, Place};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use stickpin_process::find_on_path;

/// The version in manifests, audits and the cleanup state.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The default state directory, below the home directory.
const DEFAULT_STATE_DIR: &str = ".local/state/stickpin";

/// The name of the program on `PATH`.
const PROGRAM: &str = "stickpin";

/// The properties of the machine that an installation depends on.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The home directory.
    pub home: PathBuf,
    /// The state directory.
    pub state_dir: PathBuf,
    /// The path of the running program.
    pub program: PathBuf,
    /// `PATH` and [`PLACE_VARIABLES`](crate::PLACE_VARIABLES), if they are set.
    pub variables: BTreeMap<String, OsString>,
    /// The names of variables that contain secrets. Started programs do not receive them.
    pub private: Vec<OsString>,
}

impl Setup {
    /// Returns the folder of the installation's own files.
    pub(crate) fn folder(&self) -> PathBuf {
        self.state_dir.join("install")
    }

    /// Returns the path of the manifest, which lists what is installed.
    pub(crate) fn manifest(&self) -> PathBuf {
        self.folder().join("manifest.json")
    }

    /// Returns the folder of the skill in the state directory, to which installed links point.
    pub(crate) fn bundle(&self) -> PathBuf {
        self.folder().join("skills/stickpin")
    }

    pub(crate) fn place(&self, place: &Place) -> PathBuf {
        place.path(&self.home, &self.variables)
    }

    /// Returns the path of a configuration file: the alternative path if a file exists there,
    /// otherwise the usual one.
    pub(crate) fn config_path(&self, config: &Config) -> PathBuf {
        let alternative = config.alternative.map(|place| self.place(&place));
        alternative.filter(|path| path.exists()).unwrap_or_else(|| self.place(&config.file))
    }

    /// Finds the program of a harness on `PATH`.
    pub(crate) fn program_of(&self, harness: &Harness) -> Option<PathBuf> {
        find_on_path(harness.programs, self.variables.get("PATH").map(OsString::as_os_str))
    }

    /// Returns whether a harness is installed.
    pub(crate) fn has(&self, harness: &Harness) -> bool {
        self.place(&harness.folder).is_dir() || self.program_of(harness).is_some()
    }

    /// Returns the command for new entries: `stickpin` if that name on `PATH` is this program,
    /// otherwise the absolute path of this program.
    pub(crate) fn command(&self) -> String {
        let path = self.variables.get("PATH").map(OsString::as_os_str);
        let named = find_on_path(&[PROGRAM], path).is_some_and(|found| is_same_file(&found, &self.program));
        if named { PROGRAM.to_owned() } else { self.program.display().to_string() }
    }

    /// Returns the state directory for new entries; `None` if it is the default one.
    pub(crate) fn other_state_dir(&self) -> Option<String> {
        let default = is_same_file(&self.state_dir, &self.home.join(DEFAULT_STATE_DIR));
        (!default).then(|| self.state_dir.display().to_string())
    }
}

/// Returns whether two paths are equal or refer to the same file.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    a == b || fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}
