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
        #[serde(default = "usual")]
        #[schemars(range(min = 1, max = 10_000), extend("x-positional" = 1, "x-placeholder" = "MS"))]
        hold: u64 = usual(),
    }
}

fn usual() -> u64 {
    600
}

impl Command for LongPress {
    const SPEC: Spec = Spec {
        name: "longpress",
        effect: Effect::Mutates,
        needs: &[Capability::LongPress],
        examples: &["stickpin longpress @e3", "stickpin longpress @e3 1500"],
        ..Spec::SESSION
    };
    type Output = Acted;

    fn time(&self) -> Time {
        self.how().time(Self::SPEC.deadline, Duration::from_millis(self.hold))
    }

    async fn run(self, cx: &mut Cx) -> Result<Acted> {
        if !(1..=10_000).contains(&self.hold) {
            let message = format!("`hold` is {} ms, not 1 to 10000", self.hold);
            return Err(Error::invalid_args(message).hint("for example: `stickpin longpress @e3 600`"));
        }
        let how = self.how();
        let action = |ready: &Ready| Action::Press {
            point: ready.point,
            target: ready.receiver(),
            button: Button::Left,
            count: 1,
            modifiers: Modifiers::default(),
            hold: Duration::from_millis(self.hold),
        };
        let ready = input::press(cx, &self.target, false, how, action).await?;
        outcome::after(cx, Some(&ready), how, Acted::new("held", &ready.words)).await
    }
}
