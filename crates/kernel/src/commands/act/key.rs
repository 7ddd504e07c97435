//! `key`: presses one chord.

use crate::act::focus;
pub use crate::api::keys::Chord;
use crate::command::args::{OptionalValue, Receipt};
use crate::commands::prelude::*;
use stickpin_device::Action;

/// Press a key or chord where the focus is: `Enter`, `Control+a`, `Shift+Tab`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Key {
    /// Keys by their `KeyboardEvent.key` names, with `+` in between.
    #[schemars(extend("x-positional" = 0))]
    pub chord: Chord,
    /// Wait until the app is quiet (at most 10 s, or MS milliseconds), then print what changed.
    pub settle: Option<OptionalValue<u64>>,
    /// Whether to report the effects seen since the action.
    pub receipt: Option<Receipt>,
}

impl Key {
    fn action_options(&self) -> ActionOptions {
        ActionOptions::new(self.settle, None, self.receipt)
    }
}

impl Command for Key {
    const SPEC: Spec = Spec {
        name: "key",
        effect: Effect::Mutates,
        needs: &[Capability::Key],
        examples: &["stickpin key Enter --settle", "stickpin key Control+a"],
        ..Spec::SESSION
    };
    type Output = ActionOutput;

    fn time_limits(&self) -> TimeLimits {
        self.action_options().time_limits(Self::SPEC.deadline, Duration::ZERO)
    }

    async fn run(self, cx: &mut Cx) -> Result<ActionOutput> {
        let opts = self.action_options();
        notices::discard(cx).await?;
        let words = match focus::focused_element(cx).await? {
            Some(focus) => format!("{} on {}", self.chord, focus.description),
            None => self.chord.to_string(),
        };
        let Chord { modifiers, key } = self.chord;
        input::send_untargeted(cx, &Action::Key { modifiers, key }, &words).await?;
        outcome::finish_action(cx, None, opts, ActionOutput::new("pressed key", words)).await
    }
}
