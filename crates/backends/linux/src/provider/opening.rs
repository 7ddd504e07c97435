//! An app that is being opened: its folders, its screen, and the events that end the opening early.
//!
//! One timeout covers all steps, because any step may take long on a busy machine. Known failures
//! end the opening immediately: a program of a private display that ends, an app that exits with an
//! error, or a caller that goes away.

use crate::bus::{AccessibilityBus, Listener};
use crate::provider::app_dirs::AppDirs;
use crate::provider::config::{LinuxConfig, Request};
use crate::screen::Screen;
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_x11desk::PrivateDisplay;
use tokio::time::Instant;

/// The timeout for the whole opening. It is shorter than the command's timeout, so that the error
/// names what was being waited for.
const OPENING: Duration = Duration::from_secs(45);

/// An opening in progress.
#[derive(Debug)]
pub(crate) struct Opening<'o> {
    pub(crate) config: &'o LinuxConfig,
    pub(crate) request: &'o Request,
    /// The home folder and the working directory of started apps.
    pub(crate) dirs: AppDirs,
    /// The deadline.
    pub(crate) until: Instant,
}

impl<'o> Opening<'o> {
    /// Checks the folders, and starts the timeout.
    ///
    /// # Errors
    /// Returns the errors of [`AppDirs::of`].
    pub(crate) fn begin(config: &'o LinuxConfig, request: &'o Request) -> Result<Self> {
        let dirs = AppDirs::of(request, config.home.as_deref())?;
        Ok(Self { config, request, dirs, until: Instant::now() + OPENING })
    }

    /// Returns whether the deadline has not passed and the caller has not gone away.
    pub(crate) fn is_in_time(&self) -> bool {
        Instant::now() < self.until && !self.request.cancel.is_cancelled()
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
        if options.attach && options.private {
            return Err(Error::invalid_args(
                "a running app already has a display: `--attach` and `--private` cannot be combined",
            )
            .hint("omit `--attach` to start the app on a private display"));
        }
        let (display, wayland) = (config.display.as_deref(), config.wayland.is_some());
        if !options.private && (options.attach || display.is_some() || wayland) {
            return Ok(Screen::shared(display, wayland));
        }
        let (dir, home, size) = (&self.request.dir, self.dirs.home.clone(), options.viewport.map(Into::into));
        let (path, cancel) = (config.path.as_deref(), &self.request.cancel);
        let (private, x11) = PrivateDisplay::start(dir, home, size, path, self.until, cancel).await?;
        Ok(Screen::own(private, x11))
    }

    /// Connects to the accessibility bus of a screen; its signals go to `listener`.
    pub(crate) async fn bus(&self, screen: &Screen, listener: Listener) -> Result<AccessibilityBus> {
        self.config.bus(&self.config.addresses_on(screen), listener, self.until).await
    }
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
    use crate::provider::config::LinuxOptions;
    use stickpin_device::{ErrorCode, OpenRequest};

    #[tokio::test]
    async fn a_part_ends_with_what_it_needs_and_with_its_caller() {
        let request = OpenRequest::new("linux:a", "s", "/s").with_options(LinuxOptions::default());
        let config = LinuxConfig::default();
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
