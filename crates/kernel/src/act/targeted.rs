//! What the commands that act on one element have in common.

use crate::act::action_target::ActionTarget;
use crate::act::outcome::{ActionOutput, finish_action};
use crate::api::spec::Spec;
use crate::command::args::{ActionOptions, SharedOptions};
use crate::command::context::Cx;
use crate::command::definition::{Command, TimeLimits};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use std::time::Duration;
use stickpin_device::Result;

/// A command that acts on one element and whose output is the outcome of that action.
pub(crate) trait TargetedAction:
    SharedOptions + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// The properties of the command that every front end needs.
    const SPEC: Spec;

    /// Returns the time that the input itself takes, for example for typing. Zero by default.
    fn input_time(&self) -> Duration {
        Duration::ZERO
    }

    /// Sends the input, and returns its target and the output of the action.
    fn act(
        self,
        cx: &mut Cx,
        opts: ActionOptions,
    ) -> impl Future<Output = Result<(ActionTarget, ActionOutput)>> + Send;
}

impl<A: TargetedAction> Command for A {
    const SPEC: Spec = <A as TargetedAction>::SPEC;
    type Output = ActionOutput;

    fn time_limits(&self) -> TimeLimits {
        self.action_options().time_limits(<A as TargetedAction>::SPEC.deadline, self.input_time())
    }

    async fn run(self, cx: &mut Cx) -> Result<ActionOutput> {
        let opts = self.action_options();
        let (ready, acted) = self.act(cx, opts).await?;
        finish_action(cx, Some(&ready), opts, acted).await
    }
}
