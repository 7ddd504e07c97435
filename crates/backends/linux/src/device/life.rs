//! Whether an app is still there: how it ended, and how it is ended.

use crate::app::{LinuxDevice, end_child, lost};
use crate::bus::fault::Fault;
use std::process::ExitStatus;
use std::time::Duration;
use stickpin_device::{Error, ErrorCode, Result};
use tokio::time::timeout;

/// How long the exit code of an app that left the bus is waited for.
const EXIT: Duration = Duration::from_millis(500);

impl LinuxDevice {
    /// An error when the app is gone.
    pub(crate) async fn alive(&mut self) -> Result<()> {
        let left = self.heard.state().gone;
        if left || self.desktop.closed() {
            return Err(self.failed(Fault::Closed("the app has left".into())).await);
        }
        Ok(())
    }

    /// What a fault of a whole reading means.
    pub(crate) async fn failed(&mut self, fault: Fault) -> Error {
        if fault.is_final()
            && let Some(status) = self.left().await
        {
            return lost(&self.ended_with(status));
        }
        self.lost(&fault)
    }

    /// The error of an app that does not answer any more.
    pub(crate) fn lost(&self, fault: &Fault) -> Error {
        match fault {
            fault @ Fault::Silent(_) => {
                Error::new(ErrorCode::Timeout, format!("{} may hang: {fault}", self.called()))
                    .hint("wait and try again; stickpin close ends it")
            }
            fault => lost(&format!("{} cannot be reached any more: {fault}", self.called())),
        }
    }

    /// How the app ended, where it did so by itself.
    pub(super) async fn how_it_ended(&mut self) -> Option<String> {
        if self.child.is_some() {
            return self.left().await.filter(|s| s.code().is_some()).map(|status| self.ended_with(status));
        }
        // Of an app that we only watched it is known that it left, not how.
        let left = self.heard.until(|heard| heard.gone.then_some(()));
        timeout(EXIT, left).await.ok().map(|()| format!("{} has left", self.called()))
    }

    /// How our child ended, if it has, or is about to.
    async fn left(&mut self) -> Option<ExitStatus> {
        timeout(EXIT, self.child.as_mut()?.wait()).await.ok()?.ok()
    }

    fn ended_with(&self, status: ExitStatus) -> String {
        format!("{} has ended ({status})", self.called())
    }

    /// Ends the app, where we started it.
    pub(super) async fn end_app(&mut self) -> Result<()> {
        let Some(child) = self.child.take() else { return Ok(()) };
        end_child(child, &self.info.label).await
    }
}
