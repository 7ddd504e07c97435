//! Waiting for the app, between looks that others may use.

use crate::cx::Cx;
use crate::error::{Error, ErrorCode, Result};
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;

/// The net under the events: how long at most until a wait looks again.
const LOOK: Duration = Duration::from_millis(250);

/// How long a wait goes on. Between looks, [`Patience::next`] waits for a change and lets other commands in.
#[derive(Debug)]
pub(crate) struct Patience {
    timeout: Duration,
    end: Instant,
}

impl Patience {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { timeout, end: Instant::now() + timeout }
    }

    /// Waits until it is worth looking again.
    ///
    /// # Errors
    /// `TIMEOUT` when the time is over, naming what was waited for and what is true instead.
    pub(crate) async fn next(&self, cx: &mut Cx, what: &str, instead: &str) -> Result<()> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let waited = self.timeout.as_millis();
            return Err(Error::new(ErrorCode::Timeout, format!("waited {waited} ms for {what}; {instead}"))
                .hint("--timeout MS waits longer; stickpin snapshot -i shows what is there"));
        }
        cx.pause(left.min(LOOK)).await
    }
}

impl Cx {
    /// Waits until it is worth looking again, at most so long: something may have changed, or other commands had
    /// their turn. Commands go first at once, other waits after a look of this one.
    ///
    /// # Errors
    /// `TIMEOUT` when the command was ended, `SESSION_NOT_FOUND` when the session was closed meanwhile.
    pub(crate) async fn pause(&mut self, at_most: Duration) -> Result<()> {
        self.check()?;
        let Some(loan) = &self.loan else { return Err(crate::mailbox::closed(&self.session_name)) };
        let (wanted, again) = (loan.wanted.clone(), loan.wanted_again.clone());
        if self.looked && again.is_cancelled() {
            self.looked = false;
            return self.let_others_in().await;
        }
        let stop = self.cancel.child_token();
        {
            let mut changed = pin!(self.device()?.changed(at_most, &stop));
            tokio::select! {
                biased;
                changed = &mut changed => changed?,
                () = wanted.cancelled() => {
                    // Not dropped: the device ends its waiting by itself.
                    stop.cancel();
                    changed.await?
                }
            };
        }
        self.looked = true;
        self.check()?;
        if wanted.is_cancelled() { self.let_others_in().await } else { Ok(()) }
    }
}
