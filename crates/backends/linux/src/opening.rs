//! The timeout for opening an app, and the events that end the opening early.
//!
//! One timeout covers all steps, because any step may take long on a busy machine. Known failures
//! end the opening immediately: a program of a private display that ends, an app that exits with an
//! error, or a caller that goes away.

use std::time::Duration;
use stickpin_device::{CancellationToken, Error, Result};
use tokio::time::Instant;

/// The timeout for the whole opening. It is shorter than the command's timeout, so that the error
/// names what was being waited for.
pub(crate) const OPENING: Duration = Duration::from_secs(45);

/// An opening in progress.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    /// The deadline.
    pub(crate) until: Instant,
    pub(crate) cancel: CancellationToken,
}

impl Opening {
    /// Starts the timeout.
    pub(crate) fn begin(cancel: &CancellationToken) -> Self {
        Self { until: Instant::now() + OPENING, cancel: cancel.clone() }
    }

    /// Returns whether the deadline has not passed and the caller has not gone away.
    pub(crate) fn is_in_time(&self) -> bool {
        Instant::now() < self.until && !self.cancel.is_cancelled()
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
        tokio::select! {
            biased;
            // Check this first, because the reason for an end is more informative than a missing
            // answer.
            fallen = fallen => Err(fallen),
            done = part => done,
            () = self.cancel.cancelled() => Err(Error::timeout("opening was cancelled before it finished")),
        }
    }
}

/// Logs a cleanup error after a failed opening. The error of the opening itself is reported
/// instead.
pub(crate) fn log_cleanup_error(ended: Result<()>) {
    if let Err(e) = ended {
        tracing::debug!("a process that was started for a failed opening could not be ended: {e}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_device::ErrorCode;

    #[tokio::test]
    async fn a_part_ends_with_what_it_needs_and_with_its_caller() {
        let cancel = CancellationToken::new();
        let opening = Opening::begin(&cancel);
        let never = std::future::pending::<Error>;
        let done = opening.run_step(async { Ok(7) }, never()).await;
        assert_eq!(done.unwrap(), 7);
        let fell = async { Error::new(ErrorCode::BackendLost, "Xvfb has ended") };
        let error = opening.run_step(std::future::pending::<Result<()>>(), fell).await.unwrap_err();
        assert_eq!(error.message, "Xvfb has ended");
        cancel.cancel();
        let error = opening.run_step(std::future::pending::<Result<()>>(), never()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Timeout);
    }
}
