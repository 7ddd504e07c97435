//! Whether an app is still there: how it ended, and how it is ended.

use crate::app::{LinuxDevice, end_child, lost};
use crate::bus::fault::Fault;
use std::process::ExitStatus;
use std::time::Duration;
use stickpin_device::{Error, ErrorCode, Result};
use tokio::time::timeout;

/// How long the exit code of an app that left the bus is waited for.
const EXIT: Duration = Duration::from_millis(500);

/// An error when the app is gone.
pub(crate) async fn alive(device: &mut LinuxDevice) -> Result<()> {
    let left = device.heard.state().gone;
    if left || device.desktop.closed() {
        return Err(failed(device, Fault::Closed("the app has left".into())).await);
    }
    Ok(())
}

/// What a fault of a whole reading means.
pub(crate) async fn failed(device: &mut LinuxDevice, fault: Fault) -> Error {
    if fault.is_final()
        && let Some(status) = left(device).await
    {
        return lost(&ended_with(device, status));
    }
    lost_by(device, &fault)
}

/// The error of an app that does not answer any more.
pub(crate) fn lost_by(device: &LinuxDevice, fault: &Fault) -> Error {
    match fault {
        fault @ Fault::Silent(_) => {
            Error::new(ErrorCode::Timeout, format!("{} may hang: {fault}", device.called()))
                .hint("wait and try again; stickpin close ends it")
        }
        fault => lost(&format!("{} cannot be reached any more: {fault}", device.called())),
    }
}

/// How the app ended, where it did so by itself.
pub(crate) async fn how_it_ended(device: &mut LinuxDevice) -> Option<String> {
    if device.child.is_some() {
        return left(device).await.filter(|s| s.code().is_some()).map(|status| ended_with(device, status));
    }
    // Of an app that we only watched it is known that it left, not how.
    let left = device.heard.until(|heard| heard.gone.then_some(()));
    timeout(EXIT, left).await.ok().map(|()| format!("{} has left", device.called()))
}

/// How our child ended, if it has, or is about to.
async fn left(device: &mut LinuxDevice) -> Option<ExitStatus> {
    timeout(EXIT, device.child.as_mut()?.wait()).await.ok()?.ok()
}

fn ended_with(device: &LinuxDevice, status: ExitStatus) -> String {
    format!("{} has ended ({status})", device.called())
}

/// Ends the app, where we started it.
pub(crate) async fn end_app(device: &mut LinuxDevice) -> Result<()> {
    let Some(child) = device.child.take() else { return Ok(()) };
    end_child(child, &device.info.label).await
}
