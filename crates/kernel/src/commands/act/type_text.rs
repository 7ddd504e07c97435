//! `type`: types text key by key, where the focus is or into an element.

use crate::act::focus;
use crate::commands::prelude::*;
use stickpin_device::Action;

acting! {
    /// Type text key by key at the focus, or into an element that is focused first.
    ///
    /// Keeps the existing text.
    ///
    /// To replace the content of a field, use `fill`: it is faster and checks the result.
    pub struct Type {
        /// The text.
        #[schemars(extend("x-positional" = 0, "x-text" = true))]
        text: String,
        /// Ref or selector of the element to focus first.
        into: Option<Target> = None,
    }
}

impl Command for Type {
    const SPEC: Spec = Spec {
        name: "type",
        effect: Effect::Mutates,
        needs: &[Capability::Type],
        examples: &["stickpin type hello", "stickpin type --into @e5 'dear all'"],
        ..Spec::SESSION
    };
    type Output = ActionOutput;

    fn time_limits(&self) -> TimeLimits {
        self.action_options().time_limits(Self::SPEC.deadline, crate::command::args::typing_time(&self.text))
    }

    async fn run(self, cx: &mut Cx) -> Result<ActionOutput> {
        let opts = self.action_options();
        let (ready, words) = match &self.into {
            Some(target) => {
                let ready = act::wait_actionable(cx, target, Actionability::InView, opts).await?;
                input::check_editable(&ready)?;
                outcome::begin_action(cx, &ready).await?;
                let words = format!("into {}", ready.description);
                (Some(ready), words)
            }
            None => {
                notices::discard(cx).await?;
                let words = match focus::focus_for_text(cx, &self.text).await? {
                    Some(focus) => format!("into {}, which has the focus", focus.description),
                    None => "with nothing focused".to_owned(),
                };
                (None, words)
            }
        };
        let target = ready.as_ref().map(ActionTarget::element_handle).transpose()?;
        let action = Action::Type { target, text: self.text.clone() };
        match &ready {
            Some(ready) => input::send_to_target(cx, &action, ready).await?,
            None => input::send_untargeted(cx, &action, &words).await?,
        };
        outcome::finish_action(cx, ready.as_ref(), opts, ActionOutput::new("typed", words)).await
    }
}
