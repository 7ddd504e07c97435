//! The home folder and the working directory of the apps that a session starts.
//!
//! By default, these are the caller's, even on a private display, so that people find what their
//! apps save. A private home (`open --private-home`) is removed with the session; a profile (`open
//! --profile`) is kept.

use crate::provider::config::Request;
use std::path::{Path, PathBuf};
use stickpin_device::{AppFolders, Error, Result};
use stickpin_x11desk::Home;

/// The home folder and the working directory of apps.
#[derive(Debug, Clone)]
pub(crate) struct AppDirs {
    pub(crate) home: Home,
    pub(crate) cwd: PathBuf,
}

impl AppDirs {
    /// Returns the folders that `request` specifies. `inherited` is the home folder to which the
    /// environment of this process belongs.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for mutually exclusive options.
    pub(crate) fn of(request: &Request, inherited: Option<&Path>) -> Result<Self> {
        let profile = request.options.profile.as_ref().map(|_| "--profile");
        if profile.is_some() && request.options.private_home {
            return Err(Error::invalid_args(
                "`--private-home` and `--profile` cannot be combined: each sets the app's home folder",
            )
            .hint("use `--profile DIR` to keep the folder, or `--private-home` to let `close` remove it"));
        }
        let option = profile.or(request.options.private_home.then_some("--private-home"));
        if let Some(option) = option.filter(|_| request.options.attach) {
            return Err(Error::invalid_args(format!(
                "a running app already has a home folder: `{option}` and `--attach` cannot be combined"
            ))
            .hint(format!("omit `{option}` to attach to the app, or omit `--attach` to start it")));
        }
        let home = match &request.options.profile {
            Some(profile) => Home::profile(profile.clone()),
            None if request.options.private_home => Home::temporary(&request.dir),
            None => Home::of_caller(request.home.as_deref(), inherited),
        };
        let cwd = home.to_remove().unwrap_or(&request.cwd).to_owned();
        Ok(Self { home, cwd })
    }

    /// Returns the folders in the form that the device trait uses; `None` if the home folder is
    /// unknown.
    pub(crate) fn folders(&self) -> Option<AppFolders> {
        let home = self.home.path()?.to_owned();
        Some(AppFolders::new(home, self.cwd.clone(), self.home.to_remove().is_some()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::config::LinuxOptions;
    use std::ffi::OsStr;
    use stickpin_device::{ErrorCode, OpenRequest};
    use tokio::process::Command;

    fn request(options: LinuxOptions) -> Request {
        let mut request = OpenRequest::new("linux:notes", "s", "/state/s").with_options(options);
        (request.home, request.cwd) = (Some("/home/a".into()), "/home/a/project".into());
        request
    }

    /// Returns the environment that a program gets, by name; `None` for a removed variable.
    fn environment(dirs: &AppDirs) -> std::collections::BTreeMap<String, Option<String>> {
        let mut command = Command::new("true");
        dirs.home.apply(&mut command);
        let text = |s: &OsStr| s.to_string_lossy().into_owned();
        command.as_std().get_envs().map(|(name, value)| (text(name), value.map(text))).collect()
    }

    #[test]
    fn apps_have_the_callers_folders_unless_others_are_asked_for() {
        let own = AppDirs::of(&request(LinuxOptions::default()), Some(Path::new("/home/a"))).unwrap();
        assert_eq!(
            environment(&own).into_iter().collect::<Vec<_>>(),
            [("HOME".into(), Some("/home/a".into()))]
        );
        assert_eq!((&*own.cwd, own.home.to_remove()), (Path::new("/home/a/project"), None));
        assert!(!own.folders().unwrap().removed_at_close);

        // The daemon of a user with another home, whose base folders differ from the caller's.
        let other =
            environment(&AppDirs::of(&request(LinuxOptions::default()), Some(Path::new("/root"))).unwrap());
        assert_eq!(other["HOME"].as_deref(), Some("/home/a"));
        assert_eq!(other["XDG_CONFIG_HOME"], None);

        let private =
            AppDirs::of(&request(LinuxOptions { private_home: true, ..LinuxOptions::default() }), None)
                .unwrap();
        assert_eq!(environment(&private)["XDG_CONFIG_HOME"].as_deref(), Some("/state/s/home/.config"));
        assert_eq!(private.home.to_remove(), Some(Path::new("/state/s/home")));
        assert_eq!(private.cwd, Path::new("/state/s/home"));
        assert!(private.folders().unwrap().removed_at_close);

        let profile = request(LinuxOptions { profile: Some("/p".into()), ..LinuxOptions::default() });
        let profile = AppDirs::of(&profile, None).unwrap();
        assert_eq!(environment(&profile)["XDG_DATA_HOME"].as_deref(), Some("/p/.local/share"));
        assert_eq!((&*profile.cwd, profile.home.to_remove()), (Path::new("/home/a/project"), None));
    }

    #[test]
    fn options_that_name_two_homes_are_refused() {
        let both = request(LinuxOptions {
            private_home: true,
            profile: Some("/p".into()),
            ..LinuxOptions::default()
        });
        let error = AppDirs::of(&both, None).unwrap_err();
        assert!(error.code == ErrorCode::InvalidArgs && error.message.contains("--profile"), "{error}");
        for (profile, option) in [(None, "--private-home"), (Some(PathBuf::from("/p")), "--profile")] {
            let running = request(LinuxOptions {
                attach: true,
                private_home: profile.is_none(),
                profile,
                ..LinuxOptions::default()
            });
            let error = AppDirs::of(&running, None).unwrap_err();
            assert!(error.message.contains(option) && error.message.contains("--attach"), "{error}");
        }
    }
}
