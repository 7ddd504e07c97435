//! The life of an app: whether it is still running, what it has received, and how it ended.

use crate::app::{App, app_lost};
use crate::bus::{BusError, BusResult, Link};
use std::process::ExitStatus;
use std::time::Duration;
use stickpin_device::{Error, Result};
use tokio::time::timeout;

/// Timeout for the exit code of an app that has left the bus.
const EXIT: Duration = Duration::from_millis(500);

/// Returns an error when the app is gone.
pub(crate) async fn alive(app: &App) -> Result<()> {
    let left = app.events.state().gone;
    if left || app.desktop.closed() {
        let why = if left { "the app has closed" } else { "the accessibility bus is gone" };
        return Err(capture_error(app, BusError::Closed(why.into())).await);
    }
    Ok(())
}

/// Converts the [`BusError`] of a query to an [`Error`].
pub(crate) async fn capture_error(app: &App, fault: BusError) -> Error {
    let app_name = app.app_name();
    match fault {
        BusError::Silent(_) => Error::timeout(format!("{app_name} may be hung: {fault}"))
            .hint("wait and try again, or run `stickpin close` to end the session"),
        BusError::Closed(_) => app_lost(&match exit_status(app).await {
            Some(status) => ended_with(app, status),
            None => format!("{app_name} is no longer reachable: {fault}"),
        }),
        fault => app_lost(&format!("{app_name} cannot be read: {fault}")),
    }
}

/// Returns an answer, or its [`BusError`] as an [`Error`].
///
/// # Errors
/// Returns the error of [`capture_error`].
pub(crate) async fn check_answer<T>(app: &App, answer: BusResult<T>) -> Result<T> {
    match answer {
        Ok(answer) => Ok(answer),
        Err(fault) => Err(capture_error(app, fault).await),
    }
}

/// Waits until all events that the app has signaled so far have been received.
///
/// # Errors
/// Returns `TIMEOUT` or `BACKEND_LOST`.
pub(crate) async fn barrier(app: &App) -> Result<()> {
    check_answer(app, app.link.barrier().await).await
}

/// Waits until an app has read the input that was sent to it. The app may answer one request before
/// it reads the input, but not a second one.
///
/// # Errors
/// Returns an error if the app is gone or silent.
pub(crate) async fn wait_until_input_read(link: &Link) -> BusResult<()> {
    link.barrier().await?;
    link.barrier().await
}

/// Returns how the app ended; `None` if it is still running, or if a signal ended an app that we
/// started.
pub(crate) async fn exit_reason(app: &App) -> Option<String> {
    if app.child.lock().await.is_some() {
        return exit_status(app).await.filter(|s| s.code().is_some()).map(|status| ended_with(app, status));
    }
    // For an app that we did not start, only its departure is known.
    let left = app.events.until(|heard| heard.gone.then_some(()));
    timeout(EXIT, left).await.ok().map(|()| format!("{} has closed", app.app_name()))
}

/// Returns the exit status of our child process, if it has ended or is about to.
async fn exit_status(app: &App) -> Option<ExitStatus> {
    timeout(EXIT, app.child.lock().await.as_mut()?.wait()).await.ok()?.ok()
}

fn ended_with(app: &App, status: ExitStatus) -> String {
    format!("{} has exited ({status})", app.app_name())
}
