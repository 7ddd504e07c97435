//! `hover`: moves the pointer onto an element.

use crate::commands::prelude::*;

acting! {
    /// Move the pointer onto an element, which shows tooltips and hover menus.
    pub struct Hover {
        /// Ref, selector, or `x,y`: the element that is there.
        #[schemars(extend("x-positional" = 0))]
        target: Target,
    }
}

impl Command for Hover {
    const SPEC: Spec = Spec {
        name: "hover",
        effect: Effect::Mutates,
        needs: &[Capability::Hover],
        examples: &["stickpin hover @e3 --settle"],
        ..Spec::SESSION
    };
    type Output = Acted;

    fn time(&self) -> Time {
        self.how().time(Self::SPEC.deadline, Duration::ZERO)
    }

    async fn run(self, cx: &mut Cx) -> Result<Acted> {
        let how = self.how();
        // Reactions to the pointer's arrival are the effect of this act, so earlier notices are
        // dropped before it.
        drop(cx.device()?.notices().await?);
        let hovered = act::ready(cx, &self.target, Reach::Pointer, how).await;
        if cx.envelope.pointed {
            cx.dispatching();
        }
        let ready = hovered?;
        outcome::opened_by(cx, &ready)?;
        outcome::after(cx, Some(&ready), how, Acted::new("hovering", &ready.words)).await
    }
}
