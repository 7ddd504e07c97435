//! `wait T`, `wait absent`: waits for an element to appear or disappear.

use crate::commands::prelude::*;
use crate::commands::wait::{WAIT, Waited, usual, within};
use crate::observe::question::{Predicate, ask};
use crate::observe::waiting::{Listen, Patience};

/// Wait until an element is visible.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Wait {
    /// Ref or selector.
    #[schemars(extend("x-positional" = 0))]
    pub target: Target,
    /// Time limit in milliseconds.
    #[serde(default = "usual")]
    #[schemars(extend("x-placeholder" = "MS"))]
    pub timeout: u64,
}

/// Wait until an element is no longer there.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitAbsent {
    /// Ref or selector; a ref that has ended is absent.
    #[schemars(extend("x-positional" = 0))]
    pub target: Target,
    /// Time limit in milliseconds.
    #[serde(default = "usual")]
    #[schemars(extend("x-placeholder" = "MS"))]
    pub timeout: u64,
}

impl Wait {
    /// Waits at most ten seconds.
    #[must_use]
    pub fn new(target: impl Into<Target>) -> Self {
        Self { target: target.into(), timeout: usual() }
    }
}

impl Command for Wait {
    const SPEC: Spec =
        Spec { name: "wait", asserts: true, examples: &["stickpin wait 'role=heading \"Welcome\"'"], ..WAIT };
    type Output = Waited;

    fn time(&self) -> Time {
        within(self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<Waited> {
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
    type Output = Waited;

    fn time(&self) -> Time {
        within(self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<Waited> {
        holds(cx, Predicate::Absent, &self.target, self.timeout).await
    }
}

async fn holds(cx: &mut Cx, predicate: Predicate, target: &Target, timeout: u64) -> Result<Waited> {
    let what = format!("{target} to be {}", predicate.name());
    let patience = Patience::new(Duration::from_millis(timeout));
    loop {
        let answer = ask(cx, predicate, target, None).await?;
        if answer.holds {
            return Ok(Waited { truth: answer.truth });
        }
        patience.next(cx, Listen::Changes, &what, &answer.truth).await?;
    }
}
