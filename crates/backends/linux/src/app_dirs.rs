//! The home folder and the working directory of the apps that a session starts.
//!
//! By default they are the caller's, also on a private display: what a person's app saves is where they look for it. A
//! private home (`open --private-home`) goes with the session; a profile (`open --profile`) stays.

use std::path::{Path, PathBuf};
use stickpin_device::{AppFolders, Error, ErrorCode, OpenRequest, Result, io_error};
use tokio::process::Command;

/// The base folders of the XDG specification, below the home folder.
const XDG: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// Where apps have their home, and where they are started.
#[derive(Debug, Clone)]
pub(crate) struct AppDirs {
    /// None where neither the caller nor this process has one.
    home: Option<PathBuf>,
    cwd: PathBuf,
    xdg: Xdg,
    temporary: bool,
}

/// What becomes of the inherited base folders, which may point anywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Xdg {
    /// They belong to this home.
    Inherited,
    /// They belong to another home: the defaults below this one hold.
    Default,
    /// Set below this home, also for programs that do not know the defaults.
    BelowHome,
}

impl AppDirs {
    /// The folders that `request` asks for. `inherited` is the home of this process, which its environment fits.
    ///
    /// # Errors
    /// `INVALID_ARGS` for options that exclude one another.
    pub(crate) fn of(request: &OpenRequest, inherited: Option<&Path>) -> Result<Self> {
        let option = match (&request.profile, request.private_home) {
            (Some(_), true) => {
                return Err(Error::new(
                    ErrorCode::InvalidArgs,
                    "--private-home and --profile exclude one another: each names the home of the app",
                )
                .hint("--profile DIR keeps it, --private-home removes it at close"));
            }
            (Some(_), false) => Some("--profile"),
            (None, true) => Some("--private-home"),
            (None, false) => None,
        };
        if let Some(option) = option.filter(|_| request.attach) {
            return Err(Error::new(
                ErrorCode::InvalidArgs,
                format!(
                    "an app that runs already has its home already: {option} and --attach exclude one another"
                ),
            )
            .hint(format!("without {option} it is attached to, without --attach it is started")));
        }
        if request.private_home {
            return Ok(Self::temporary(&request.dir));
        }
        let cwd = request.cwd.clone();
        if let Some(profile) = &request.profile {
            return Ok(Self { home: Some(profile.clone()), cwd, xdg: Xdg::BelowHome, temporary: false });
        }
        let home = request.home.as_deref().or(inherited);
        let xdg = if home == inherited { Xdg::Inherited } else { Xdg::Default };
        Ok(Self { home: home.map(Path::to_owned), cwd, xdg, temporary: false })
    }

    /// A home in the folder of a session, which goes with it.
    pub(crate) fn temporary(dir: &Path) -> Self {
        let home = dir.join("home");
        Self { cwd: home.clone(), home: Some(home), xdg: Xdg::BelowHome, temporary: true }
    }

    /// Makes the home, where it is one of the session or a profile.
    ///
    /// # Errors
    /// `IO`.
    pub(crate) fn make(&self) -> Result<()> {
        match &self.home {
            Some(home) if self.xdg == Xdg::BelowHome => {
                std::fs::create_dir_all(home).map_err(|e| io_error("make", home, &e))
            }
            _ => Ok(()),
        }
    }

    /// What is to be removed at close.
    pub(crate) fn to_remove(&self) -> Option<&Path> {
        self.home.as_deref().filter(|_| self.temporary)
    }

    /// Gives a program this home.
    pub(crate) fn apply_home(&self, command: &mut Command) {
        if let Some(home) = &self.home {
            command.env("HOME", home);
            for (name, path) in XDG {
                match self.xdg {
                    Xdg::Inherited => {}
                    Xdg::Default => {
                        command.env_remove(name);
                    }
                    Xdg::BelowHome => {
                        command.env(name, home.join(path));
                    }
                }
            }
        }
    }

    /// Starts a program in the working directory, or in the root where that is none any more.
    pub(crate) fn apply_cwd(&self, command: &mut Command) {
        command.current_dir(if self.cwd.is_dir() { &self.cwd } else { Path::new("/") });
    }

    /// The working directory.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The folders, for whoever asked for the app.
    pub(crate) fn folders(&self) -> Option<AppFolders> {
        let home = self.home.clone()?;
        Some(AppFolders { home, cwd: self.cwd.clone(), removed_at_close: self.temporary })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::time::Duration;
    use stickpin_device::CancellationToken;

    fn request() -> OpenRequest {
        OpenRequest {
            what: "linux:notes".to_owned(),
            session: "s".to_owned(),
            dir: "/state/s".into(),
            home: Some("/home/a".into()),
            cwd: "/home/a/project".into(),
            headed: false,
            attach: false,
            private: true,
            private_home: false,
            viewport: None,
            profile: None,
            file_roots: None,
            ready_timeout: Duration::ZERO,
            cancel: CancellationToken::new(),
        }
    }

    /// What a program gets, by the names of the variables; none for one that is taken away.
    fn environment(dirs: &AppDirs) -> std::collections::BTreeMap<String, Option<String>> {
        let mut command = Command::new("true");
        dirs.apply_home(&mut command);
        let text = |s: &OsStr| s.to_string_lossy().into_owned();
        command.as_std().get_envs().map(|(name, value)| (text(name), value.map(text))).collect()
    }

    #[test]
    fn apps_have_the_callers_folders_unless_others_are_asked_for() {
        let own = AppDirs::of(&request(), Some(Path::new("/home/a"))).unwrap();
        assert_eq!(
            environment(&own).into_iter().collect::<Vec<_>>(),
            [("HOME".into(), Some("/home/a".into()))]
        );
        assert_eq!((own.cwd(), own.to_remove()), (Path::new("/home/a/project"), None));
        assert!(!own.folders().unwrap().removed_at_close);

        // The daemon of somebody with another home: its base folders are not the caller's.
        let other = environment(&AppDirs::of(&request(), Some(Path::new("/root"))).unwrap());
        assert_eq!(other["HOME"].as_deref(), Some("/home/a"));
        assert_eq!(other["XDG_CONFIG_HOME"], None);

        let private = AppDirs::of(&OpenRequest { private_home: true, ..request() }, None).unwrap();
        assert_eq!(environment(&private)["XDG_CONFIG_HOME"].as_deref(), Some("/state/s/home/.config"));
        assert_eq!(private.to_remove(), Some(Path::new("/state/s/home")));
        assert_eq!(private.cwd(), Path::new("/state/s/home"));
        assert!(private.folders().unwrap().removed_at_close);

        let profile = OpenRequest { profile: Some("/p".into()), ..request() };
        let profile = AppDirs::of(&profile, None).unwrap();
        assert_eq!(environment(&profile)["XDG_DATA_HOME"].as_deref(), Some("/p/.local/share"));
        assert_eq!((profile.cwd(), profile.to_remove()), (Path::new("/home/a/project"), None));
    }

    #[test]
    fn options_that_name_two_homes_are_refused() {
        let both = OpenRequest { private_home: true, profile: Some("/p".into()), ..request() };
        let error = AppDirs::of(&both, None).unwrap_err();
        assert!(error.code == ErrorCode::InvalidArgs && error.message.contains("--profile"), "{error}");
        for (profile, option) in [(None, "--private-home"), (Some(PathBuf::from("/p")), "--profile")] {
            let running = OpenRequest { attach: true, private_home: profile.is_none(), profile, ..request() };
            let error = AppDirs::of(&running, None).unwrap_err();
            assert!(error.message.contains(option) && error.message.contains("--attach"), "{error}");
        }
    }
}
