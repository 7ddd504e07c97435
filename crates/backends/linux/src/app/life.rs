//! Whether an app is still there: how it ended, and how it is ended.

use crate::app::{App, end_child, lost};
use crate::bus::fault::Fault;
use std::process::ExitStatus;
use std::time::Duration;
use stickpin_device::{Error, Result};
use tokio::time::timeout;

/// How long the exit code of an app that left the bus is waited for.
const EXIT: Duration = Duration::from_millis(500);

/// An error when the app is gone.
pub(crate) async fn alive(app: &App) -> Result<()> {
    let left = app.heard.state().gone;
    if left || app.desktop.closed() {
        return Err(failed(app, Fault::Closed("the app has left".into())).await);
    }
    Ok(())
}

/// What a fault of a whole reading means.
pub(crate) async fn failed(app: &App, fault: Fault) -> Error {
    if fault.is_final()
        && let Some(status) = left(app).await
    {
        return lost(&ended_with(app, status));
    }
    lost_by(app, &fault)
}

/// What was answered, or what its fault means, as one of a whole reading.
///
/// # Errors
/// As [`failed`].
pub(crate) async fn judged<T>(app: &App, answer: Result<T, Fault>) -> Result<T> {
    match answer {
        Ok(answer) => Ok(answer),
        Err(fault) => Err(failed(app, fault).await),
    }
}

/// The error of an app that does not answer any more.
pub(crate) fn lost_by(app: &App, fault: &Fault) -> Error {
    match fault {
        fault @ Fault::Silent(_) => Error::timeout(format!("{} may hang: {fault}", app.called()))
            .hint("wait and try again; stickpin close ends it"),
        fault => lost(&format!("{} cannot be reached any more: {fault}", app.called())),
    }
}

/// Waits until all that the app signalled before has been heard.
///
/// # Errors
/// `TIMEOUT`, `BACKEND_LOST`.
pub(crate) async fn barrier(app: &App) -> Result<()> {
    app.link.barrier().await.map_err(|fault| lost_by(app, &fault))
}

/// Waits until the app has taken what was sent to it: it may answer before that, but not twice.
///
/// # Errors
/// As [`barrier`].
pub(crate) async fn taken(app: &App) -> Result<()> {
    barrier(app).await?;
    barrier(app).await
}

/// How the app ended, where it did so by itself.
pub(crate) async fn how_it_ended(app: &App) -> Option<String> {
    if app.child.lock().await.is_some() {
        return left(app).await.filter(|s| s.code().is_some()).map(|status| ended_with(app, status));
    }
    // Of an app that we only watched it is known that it left, not how.
    let left = app.heard.until(|heard| heard.gone.then_some(()));
    timeout(EXIT, left).await.ok().map(|()| format!("{} has left", app.called()))
}

/// How our child ended, if it has, or is about to.
async fn left(app: &App) -> Option<ExitStatus> {
    timeout(EXIT, app.child.lock().await.as_mut()?.wait()).await.ok()?.ok()
}

fn ended_with(app: &App, status: ExitStatus) -> String {
    format!("{} has ended ({status})", app.called())
}

/// Ends the app, where we started it.
pub(crate) async fn end_app(app: &App) -> Result<()> {
    let Some(child) = app.child.lock().await.take() else { return Ok(()) };
    end_child(child, &app.info.label).await
}
