//! `wait ms`, `wait text`, `wait url`, `wait stable`: waits that concern no particular element.

use crate::api::url_pattern::UrlPattern;
use crate::commands::prelude::*;
use crate::commands::read::get::url;
use crate::commands::wait::{WAIT, WaitOutput, default_timeout, within};
use crate::host::queue::Position;
use crate::observe::waiting::{MAX_PENDING_CHARS, QUIET_TIME, WaitTimeout, WakeOn, until_wanted};
use stickpin_device::SettleRequest;
use stickpin_tree::{Selector, States, escape, quote, quote_url};
use tokio::time::Instant;

/// Wait for a fixed time. Waiting for what you expect is nearly always better.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitMs {
    /// Time to wait, in milliseconds.
    #[schemars(extend("x-positional" = 0))]
    pub ms: u64,
}

/// Wait until text is visible anywhere.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitText {
    /// Part of the text, ignoring case.
    #[schemars(extend("x-positional" = 0, "x-text" = true))]
    pub text: String,
    /// Time limit in milliseconds.
    #[serde(default = "default_timeout")]
    pub timeout: u64,
}

/// Wait until the address of the page contains a string, or matches a pattern with `*`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitUrl {
    /// Part of the address, or a `*` pattern for the whole: `https://*/orders/*`, `/orders/*` (from
    /// the path on).
    #[schemars(extend("x-positional" = 0, "x-text" = true))]
    pub part: String,
    /// Time limit in milliseconds.
    #[serde(default = "default_timeout")]
    pub timeout: u64,
}

/// Wait until nothing moves: no changes, recent requests or finite animations for 150 ms.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitStable {
    /// Time limit in milliseconds.
    #[serde(default = "default_timeout")]
    pub timeout: u64,
}

impl Command for WaitMs {
    const SPEC: Spec = Spec { name: "wait ms", examples: &["stickpin wait ms 500"], ..WAIT };
    type Output = WaitOutput;

    fn time_limits(&self) -> TimeLimits {
        TimeLimits { response_limit: None, ..within(self.ms) }
    }

    async fn run(self, cx: &mut Cx) -> Result<WaitOutput> {
        let slot = cx.slot.clone();
        cx.check_in();
        let cancel = cx.cancel.clone();
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(self.ms)) => {}
            () = cancel.cancelled() => {}
        }
        cx.check()?;
        if let Some(slot) = slot {
            cx.check_out(slot, Position::Yielded).await?;
            cx.open_session()?;
        }
        Ok(WaitOutput { truth: format!("waited {} ms", self.ms) })
    }
}

impl Command for WaitText {
    const SPEC: Spec =
        Spec { asserts: true, name: "wait text", examples: &["stickpin wait text \"Order placed\""], ..WAIT };
    type Output = WaitOutput;

    fn time_limits(&self) -> TimeLimits {
        within(self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<WaitOutput> {
        let patience = WaitTimeout::new(Duration::from_millis(self.timeout));
        let what = format!("the text {}", quote(&self.text));
        let selector = Selector::containing(&self.text);
        loop {
            let tree = capture::capture_now(cx).await?;
            let found = selector.matches(&tree).into_iter().find(|&n| !tree.node(n).is(States::HIDDEN));
            if let Some(node) = found {
                return Ok(WaitOutput { truth: capture::issue_line(cx, &tree, node)? });
            }
            patience.wait_for_next_check(cx, WakeOn::Changes, &what, "it did not appear").await?;
        }
    }
}

impl Command for WaitUrl {
    const SPEC: Spec =
        Spec { asserts: true, name: "wait url", examples: &["stickpin wait url /checkout"], ..WAIT };
    type Output = WaitOutput;

    fn time_limits(&self) -> TimeLimits {
        within(self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<WaitOutput> {
        let patience = WaitTimeout::new(Duration::from_millis(self.timeout));
        let what = format!("an address that matches {}", quote(&self.part));
        let pattern = UrlPattern::new(&self.part);
        loop {
            capture::check_no_dialog(cx)?;
            let at = url(cx).await?;
            let truth = format!("at {}", quote_url(&at));
            if pattern.matches(&at) {
                return Ok(WaitOutput { truth });
            }
            patience.wait_for_next_check(cx, WakeOn::AnyEvent, &what, &truth).await?;
        }
    }
}

impl Command for WaitStable {
    const SPEC: Spec = Spec { name: "wait stable", examples: &["stickpin wait stable"], ..WAIT };
    type Output = WaitOutput;

    fn time_limits(&self) -> TimeLimits {
        within(self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<WaitOutput> {
        let end = Instant::now() + Duration::from_millis(self.timeout);
        loop {
            cx.check()?;
            let wanted = cx.checkout.as_ref().map(|l| l.requested.clone()).unwrap_or_default();
            let stop = cx.cancel.child_token();
            let request = SettleRequest::new(QUIET_TIME, end.saturating_duration_since(Instant::now()));
            let settled = until_wanted(cx.device()?.settle(request, &stop), &wanted, &stop).await?;
            if settled.is_quiet {
                return Ok(WaitOutput { truth: "nothing moves".to_owned() });
            }
            if !stop.is_cancelled() || Instant::now() >= end {
                let still: Vec<String> = settled.pending.iter().map(ToString::to_string).collect();
                let mut message = format!("waited {} ms for the app to become quiet", self.timeout);
                if !still.is_empty() {
                    message.push_str("; still active: ");
                    message.push_str(&escape(&still.join(", "), MAX_PENDING_CHARS));
                }
                return Err(Error::timeout(message).details(serde_json::json!({ "still": still })));
            }
            // The wait ended early because another command is waiting for the session.
            cx.yield_checkout().await?;
        }
    }
}
