//! `hover`: moves the pointer onto an element.

use crate::commands::prelude::*;

acting! {
    /// Move the pointer onto an element, to show tooltips and hover menus.
    pub struct Hover {
        /// Ref, selector, or `x,y` for the element at that point.
        #[schemars(extend("x-positional" = 0))]
        target: Target,
    }
}

impl TargetedAction for Hover {
    const SPEC: Spec = Spec {
        name: "hover",
        effect: Effect::Mutates,
        needs: &[Capability::Hover],
        examples: &["stickpin hover @e3 --settle"],
        ..Spec::SESSION
    };

    async fn act(self, cx: &mut Cx, opts: ActionOptions) -> Result<(ActionTarget, ActionOutput)> {
        // Reactions to the pointer's arrival are the effect of this action, so earlier notices are
        // dropped first.
        notices::discard(cx).await?;
        let hovered = act::wait_actionable(cx, &self.target, Actionability::Pointer, opts).await;
        if cx.envelope.pointer_moved {
            cx.mark_dispatched();
        }
        let ready = hovered?;
        outcome::record_opener(cx, &ready)?;
        let acted = ActionOutput::new("hovering", &ready.description);
        Ok((ready, acted))
    }
}
