//! `check`, `uncheck`: turns a checkbox, switch or toggle on or off.

use crate::act::fields;
use crate::commands::prelude::*;

acting! {
    /// Turn on a checkbox, radio, switch or toggle. Does nothing if it is already on.
    pub struct Check {
        /// Ref or selector.
        #[schemars(extend("x-positional" = 0))]
        target: Target,
    }
}

acting! {
    /// Turn off a checkbox, switch or toggle. Does nothing if it is already off.
    pub struct Uncheck {
        /// Ref or selector.
        #[schemars(extend("x-positional" = 0))]
        target: Target,
    }
}

const CHECK: Spec =
    Spec { effect: Effect::Mutates, idempotent: true, needs: &[Capability::Press], ..Spec::SESSION };

impl Command for Check {
    const SPEC: Spec = Spec { name: "check", examples: &["stickpin check @e4"], ..CHECK };
    type Output = Acted;

    fn time(&self) -> Time {
        self.how().time(Self::SPEC.deadline, Duration::ZERO)
    }

    async fn run(self, cx: &mut Cx) -> Result<Acted> {
        let (ready, acted) = fields::check(cx, &self.target, true, self.how()).await?;
        outcome::after(cx, Some(&ready), self.how(), acted).await
    }
}

impl Command for Uncheck {
    const SPEC: Spec = Spec { name: "uncheck", examples: &["stickpin uncheck @e4"], ..CHECK };
    type Output = Acted;

    fn time(&self) -> Time {
        self.how().time(Self::SPEC.deadline, Duration::ZERO)
    }

    async fn run(self, cx: &mut Cx) -> Result<Acted> {
        let (ready, acted) = fields::check(cx, &self.target, false, self.how()).await?;
        outcome::after(cx, Some(&ready), self.how(), acted).await
    }
}
