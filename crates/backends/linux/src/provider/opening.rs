//! An app that is being opened: its folders, its screen, and the events that end the opening early.
//!
//! By default, the home folder and the working directory are the caller's, even on a private
//! display, so that people find what their apps save. A private home (`open --private-home`) is
//! removed with the session; a profile (`open --profile`) is kept.
//!
//! One timeout covers all steps, because any step may take long on a busy machine. Known failures
//! end the opening immediately: a program of a private display that ends, an app that exits with an
//! error, or a caller that goes away.

use crate::provider::config::{LinuxConfig, LinuxOptions, Request};
use crate::screen::Screen;
use std::path::PathBuf;
use std::time::Duration;
use stickpin_device::{AppFolders, Error, Result};
use stickpin_x11desk::{Home, PrivateDisplay};
use tokio::time::Instant;

/// The timeout for the whole opening. It is shorter than the command's timeout, so that the error
/// names what was being waited for.
const OPENING: Duration = Duration::from_secs(45);

/// An opening in progress.
#[derive(Debug)]
pub(crate) struct Opening<'o> {
    pub(crate) config: &'o LinuxConfig,
    pub(crate) request: &'o Request,
    /// The home folder of apps.
    pub(crate) home: Home,
    /// The working directory of apps.
    pub(crate) cwd: PathBuf,
    /// The deadline.
    pub(crate) until: Instant,
}

impl<'o> Opening<'o> {
    /// Checks the options, chooses the folders and starts the timeout.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for mutually exclusive options.
    pub(crate) fn begin(config: &'o LinuxConfig, request: &'o Request) -> Result<Self> {
        check_options(&request.options)?;
        let home = match &request.options.profile {
            Some(profile) => Home::profile(profile.clone()),
            None if request.options.private_home => Home::temporary(&request.dir),
            // The environment of this process belongs to its own home folder.
            None => Home::of_caller(request.home.as_deref(), config.home.as_deref()),
        };
        let cwd = home.to_remove().unwrap_or(&request.cwd).to_owned();
        Ok(Self { config, request, home, cwd, until: Instant::now() + OPENING })
    }

    /// Returns the folders in the form that the device trait uses; `None` if the home folder is
    /// unknown.
    pub(crate) fn folders(&self) -> Option<AppFolders> {
        let home = self.home.path()?.to_owned();
        Some(AppFolders::new(home, self.cwd.clone(), self.home.to_remove().is_some()))
    }

    /// Runs one step until it is done, the caller goes away, or something that the step needs has
    /// ended.
    ///
    /// # Errors
    /// Returns the error of the step or of `fallen`, or `TIMEOUT` when cancelled.
    pub(crate) async fn run_step<T>(
        &self,
        part: impl Future<Output = Result<T>>,
        fallen: impl Future<Output = Error>,
    ) -> Result<T> {
        let cancelled = self.request.cancel.cancelled();
        tokio::select! {
            biased;
            // Check this first, because the reason for an end is more informative than a missing
            // answer.
            fallen = fallen => Err(fallen),
            done = part => done,
            () = cancelled => Err(Error::timeout("opening was cancelled before it finished")),
        }
    }

    /// Returns the screen for an app: a private display if one was requested, or if the app is to
    /// be started and no other display is available.
    pub(crate) async fn screen(&self) -> Result<Screen> {
        let (config, options) = (self.config, &self.request.options);
        let (display, wayland) = (config.display.as_deref(), config.wayland.is_some());
        if !options.private && (options.attach || display.is_some() || wayland) {
            return Ok(Screen::shared(display, wayland));
        }
        let (dir, home, size) = (&self.request.dir, self.home.clone(), options.viewport.map(Into::into));
        let (path, cancel) = (config.path.as_deref(), &self.request.cancel);
        let (private, x11) = PrivateDisplay::start(dir, home, size, path, self.until, cancel).await?;
        Ok(Screen::own(private, x11))
    }
}

/// Refuses options that exclude each other.
fn check_options(options: &LinuxOptions) -> Result<()> {
    let homes = [("--private-home", options.private_home), ("--profile", options.profile.is_some())];
    let homes: Vec<&str> =
        homes.into_iter().filter_map(|(option, is_set)| is_set.then_some(option)).collect();
    if homes.len() > 1 {
        return Err(Error::invalid_args(
            "`--private-home` and `--profile` cannot be combined: each sets the app's home folder",
        )
        .hint("use `--profile DIR` to keep the folder, or `--private-home` to let `close` remove it"));
    }
    if !options.attach {
        return Ok(());
    }
    if let Some(option) = homes.first() {
        return Err(Error::invalid_args(format!(
            "a running app already has a home folder: `{option}` and `--attach` cannot be combined"
        ))
        .hint(format!("omit `{option}` to attach to the app, or omit `--attach` to start it")));
    }
    if options.private {
        return Err(Error::invalid_args(
            "a running app already has a display: `--attach` and `--private` cannot be combined",
        )
        .hint("omit `--attach` to start the app on a private display"));
    }
    Ok(())
}

/// Returns the result of a step of an opening. If the step has failed, cleans up first; an error of
/// the cleanup is logged, because the error of the step is reported.
pub(crate) async fn or_clean_up<T>(step: Result<T>, cleanup: impl Future<Output = Result<()>>) -> Result<T> {
    if step.is_err()
        && let Err(e) = cleanup.await
    {
        tracing::debug!("a process that was started for a failed opening could not be ended: {e}");
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::path::Path;
    use stickpin_device::{ErrorCode, OpenRequest};
    use tokio::process::Command;

    fn request(options: LinuxOptions) -> Request {
        let mut request = OpenRequest::new("linux:notes", "s", "/state/s").with_options(options);
        (request.home, request.cwd) = (Some("/home/a".into()), "/home/a/project".into());
        request
    }

    fn config(home: Option<&str>) -> LinuxConfig {
        LinuxConfig { home: home.map(Into::into), ..LinuxConfig::default() }
    }

    /// Returns the environment that a program gets, by name; `None` for a removed variable.
    fn environment(opening: &Opening<'_>) -> std::collections::BTreeMap<String, Option<String>> {
        let mut command = Command::new("true");
        opening.home.apply(&mut command);
        let text = |s: &OsStr| s.to_string_lossy().into_owned();
        command.as_std().get_envs().map(|(name, value)| (text(name), value.map(text))).collect()
    }

    #[test]
    fn apps_have_the_callers_folders_unless_others_are_asked_for() {
        let plain = request(LinuxOptions::default());
        let config_a = config(Some("/home/a"));
        let own = Opening::begin(&config_a, &plain).unwrap();
        assert_eq!(
            environment(&own).into_iter().collect::<Vec<_>>(),
            [("HOME".into(), Some("/home/a".into()))]
        );
        assert_eq!((&*own.cwd, own.home.to_remove()), (Path::new("/home/a/project"), None));
        assert!(!own.folders().unwrap().removed_at_close);

        // The daemon of a user with another home, whose base folders differ from the caller's.
        let other = environment(&Opening::begin(&config(Some("/root")), &plain).unwrap());
        assert_eq!(other["HOME"].as_deref(), Some("/home/a"));
        assert_eq!(other["XDG_CONFIG_HOME"], None);

        let no_home = config(None);
        let private = request(LinuxOptions { private_home: true, ..LinuxOptions::default() });
        let private = Opening::begin(&no_home, &private).unwrap();
        assert_eq!(environment(&private)["XDG_CONFIG_HOME"].as_deref(), Some("/state/s/home/.config"));
        assert_eq!(private.home.to_remove(), Some(Path::new("/state/s/home")));
        assert_eq!(private.cwd, Path::new("/state/s/home"));
        assert!(private.folders().unwrap().removed_at_close);

        let profile = request(LinuxOptions { profile: Some("/p".into()), ..LinuxOptions::default() });
        let profile = Opening::begin(&no_home, &profile).unwrap();
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
        let error = Opening::begin(&config(None), &both).unwrap_err();
        assert!(error.code == ErrorCode::InvalidArgs && error.message.contains("--profile"), "{error}");
        for (profile, option) in [(None, "--private-home"), (Some(PathBuf::from("/p")), "--profile")] {
            let running = request(LinuxOptions {
                attach: true,
                private_home: profile.is_none(),
                profile,
                ..LinuxOptions::default()
            });
            let error = Opening::begin(&config(None), &running).unwrap_err();
            assert!(error.message.contains(option) && error.message.contains("--attach"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_part_ends_with_what_it_needs_and_with_its_caller() {
        let (request, config) = (request(LinuxOptions::default()), config(None));
        let opening = Opening::begin(&config, &request).unwrap();
        let never = std::future::pending::<Error>;
        let done = opening.run_step(async { Ok(7) }, never()).await;
        assert_eq!(done.unwrap(), 7);
        let fell = async { Error::new(ErrorCode::BackendLost, "Xvfb has ended") };
        let error = opening.run_step(std::future::pending::<Result<()>>(), fell).await.unwrap_err();
        assert_eq!(error.message, "Xvfb has ended");
        request.cancel.cancel();
        let error = opening.run_step(std::future::pending::<Result<()>>(), never()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Timeout);
    }
}
