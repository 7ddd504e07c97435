//! `wait TARGET`, `wait absent`: waits for an element to appear or disappear.

use crate::commands::prelude::*;
use crate::commands::wait::{WAIT, WaitOutput, default_timeout, within};
use crate::observe::predicate::{Predicate, evaluate};
use crate::observe::resolve::Freshness;
use crate::observe::waiting::{WaitTimeout, WakeOn};

/// Wait until an element is visible.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Wait {
    /// Ref or selector.
    #[schemars(extend("x-positional" = 0))]
    pub target: Target,
    /// Time limit in milliseconds.
    #[serde(default = "default_timeout")]
    pub timeout: u64,
}

/// Wait until an element is gone.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitAbsent {
    /// Ref or selector; a ref that has ended is absent.
    #[schemars(extend("x-positional" = 0))]
    pub target: Target,
    /// Time limit in milliseconds.
    #[serde(default = "default_timeout")]
    pub timeout: u64,
}

impl Wait {
    /// Creates a `wait` command with a time limit of ten seconds.
    #[must_use]
    pub fn new(target: impl Into<Target>) -> Self {
        Self { target: target.into(), timeout: default_timeout() }
    }
}

impl Command for Wait {
    const SPEC: Spec =
        Spec { name: "wait", asserts: true, examples: &["stickpin wait 'role=heading \"Welcome\"'"], ..WAIT };
    type Output = WaitOutput;

    fn time_limits(&self) -> TimeLimits {
        within(self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<WaitOutput> {
        holds(cx, Predicate::Visible, &self.target, self.timeout).await
    }
}

impl Command for WaitAbsent {
    const SPEC: Spec = Spec {
        asserts: true,
        name: "wait absent",
        examples: &["stickpin wait absent 'role=progressbar'"],
        ..WAIT
    };
    type Output = WaitOutput;

    fn time_limits(&self) -> TimeLimits {
        within(self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<WaitOutput> {
        holds(cx, Predicate::Absent, &self.target, self.timeout).await
    }
}

async fn holds(cx: &mut Cx, predicate: Predicate, target: &Target, timeout: u64) -> Result<WaitOutput> {
    let what = format!("{target} to be {}", predicate.name());
    let patience = WaitTimeout::new(Duration::from_millis(timeout));
    loop {
        let answer = evaluate(cx, predicate, target, None, Freshness::Now).await?;
        if answer.holds {
            return Ok(WaitOutput { truth: answer.truth });
        }
        patience.wait_for_next_check(cx, WakeOn::Changes, &what, &answer.truth).await?;
    }
}
