//! `check`, `uncheck`: turn a checkbox, switch or toggle on or off.

use crate::act::fields;
use crate::commands::prelude::*;

acting! {
    /// Turn on a checkbox, radio button, switch or toggle. Does nothing if it is already on.
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

impl TargetedAction for Check {
    const SPEC: Spec = Spec { name: "check", examples: &["stickpin check @e4"], ..CHECK };

    async fn act(self, cx: &mut Cx, opts: ActionOptions) -> Result<(ActionTarget, ActionOutput)> {
        fields::set_checked(cx, &self.target, true, opts).await
    }
}

impl TargetedAction for Uncheck {
    const SPEC: Spec = Spec { name: "uncheck", examples: &["stickpin uncheck @e4"], ..CHECK };

    async fn act(self, cx: &mut Cx, opts: ActionOptions) -> Result<(ActionTarget, ActionOutput)> {
        fields::set_checked(cx, &self.target, false, opts).await
    }
}
