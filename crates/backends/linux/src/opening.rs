//! The timeout for opening an app, and the events that end it early.
//!
//! One timeout covers all steps, because any step may take long on a busy machine. Known failures
//! end it immediately: a program of a private display that ends, an app that exits with an error, a
//! caller that goes away.

use std::time::Duration;
use stickpin_device::{CancellationToken, Error, Result};
use stickpin_process::ProcessTable;
use tokio::time::Instant;

/// The timeout for the whole opening. Shorter than the timeout of the command, so that the error
/// names what was waited for.
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

/// Returns what an app without a window on the accessibility bus lacks, judging by the libraries
/// that its processes have loaded.
pub(crate) fn lacks(leader: u32) -> Option<&'static str> {
    let maps = |pid| lacking(&std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?);
    ProcessTable::now().below(leader).find_map(maps)
}

/// Returns what an app lacks, judging by the libraries of its process (`/proc/PID/maps`).
fn lacking(maps: &str) -> Option<&'static str> {
    if maps.contains("/libawt_xawt.so") && !maps.contains("/libatk-wrapper.so") {
        return Some(
            "this Java app lacks the accessibility bridge: run `apt install libatk-wrapper-java`, and start \
             the app with -Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper",
        );
    }
    let gtk2 = maps.contains("/libgtk-x11-2.0.so");
    (gtk2 && !maps.contains("/libatk-bridge.so")).then_some(
        "this GTK 2 app needs accessibility modules: run `apt install libatk-adaptor libgail-common`, and open \
         the app with `--private` or with GTK_MODULES=gail:atk-bridge",
    )
}

/// Logs an error of the cleanup after a failed opening, whose own error is reported instead.
pub(crate) fn unsaid(ended: Result<()>) {
    if let Err(e) = ended {
        tracing::debug!("a process started for it could not be ended: {e}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_device::ErrorCode;

    #[test]
    fn gtk_2_app_without_bridge_is_found_by_its_libraries() {
        let line = |library: &str| format!("7f52-7f53 r--p 00000000 fe:00 32 /usr/lib/{library}\n");
        let gtk2 = line("libgtk-x11-2.0.so.0.2400.33");
        assert!(lacking(&gtk2).unwrap().contains("apt install libatk-adaptor"));
        assert_eq!(lacking(&(gtk2 + &line("gtk-2.0/modules/libatk-bridge.so"))), None);
        assert_eq!(lacking(&line("libgtk-3.so.0.2406.32")), None);
        let java = line("jvm/java-17-openjdk-amd64/lib/libawt_xawt.so");
        assert!(lacking(&java).unwrap().contains("apt install libatk-wrapper-java"));
        assert_eq!(lacking(&(java + &line("jni/libatk-wrapper.so.6"))), None);
        assert_eq!(lacks(std::process::id()), None);
    }

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
