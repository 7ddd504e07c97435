//! `longpress`: presses an element and holds it.

use crate::commands::prelude::*;
use stickpin_device::{Action, Button, Modifiers};

acting! {
    /// Press an element and hold it, by default for 600 ms.
    pub struct LongPress {
        /// Ref, selector, or `x,y`.
        #[schemars(extend("x-positional" = 0))]
        target: Target,
        /// How long to hold it, in milliseconds.
        #[serde(default = "default_hold")]
        #[schemars(range(min = 1, max = 10_000), extend("x-positional" = 1, "x-placeholder" = "MS"))]
        hold: u64 = default_hold(),
    }
}

fn default_hold() -> u64 {
    600
}

impl TargetedAction for LongPress {
    const SPEC: Spec = Spec {
        name: "longpress",
        effect: Effect::Mutates,
        needs: &[Capability::LongPress],
        examples: &["stickpin longpress @e3", "stickpin longpress @e3 1500"],
        ..Spec::SESSION
    };

    fn input_time(&self) -> Duration {
        Duration::from_millis(self.hold)
    }

    async fn act(self, cx: &mut Cx, opts: ActionOptions) -> Result<(ActionTarget, ActionOutput)> {
        if !(1..=10_000).contains(&self.hold) {
            let message = format!("`hold` is {} ms; it must be from 1 to 10000", self.hold);
            return Err(Error::invalid_args(message).hint("for example: `stickpin longpress @e3 600`"));
        }
        let action = |ready: &ActionTarget| Action::Press {
            point: ready.point,
            target: ready.receiver(),
            button: Button::Left,
            count: 1,
            modifiers: Modifiers::default(),
            hold: Duration::from_millis(self.hold),
        };
        let ready = input::press_target(cx, &self.target, false, opts, action).await?;
        let acted = ActionOutput::new("held", &ready.description);
        Ok((ready, acted))
    }
}
