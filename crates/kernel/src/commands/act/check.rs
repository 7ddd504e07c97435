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
    type Output = ActionOutput;

    fn time_limits(&self) -> TimeLimits {
        self.action_options().time_limits(Self::SPEC.deadline, Duration::ZERO)
    }

    async fn run(self, cx: &mut Cx) -> Result<ActionOutput> {
        let (ready, acted) = fields::set_checked(cx, &self.target, true, self.action_options()).await?;
        outcome::finish_action(cx, Some(&ready), self.action_options(), acted).await
    }
}

impl Command for Uncheck {
    const SPEC: Spec = Spec { name: "uncheck", examples: &["stickpin uncheck @e4"], ..CHECK };
    type Output = ActionOutput;

    fn time_limits(&self) -> TimeLimits {
        self.action_options().time_limits(Self::SPEC.deadline, Duration::ZERO)
    }

    async fn run(self, cx: &mut Cx) -> Result<ActionOutput> {
        let (ready, acted) = fields::set_checked(cx, &self.target, false, self.action_options()).await?;
        outcome::finish_action(cx, Some(&ready), self.action_options(), acted).await
    }
}
