//! `drag`: from one element to another.

use crate::act::Reach;
use crate::after::Acted;
use crate::args::acting;
use crate::command::{Command, Effect, Spec};
use crate::cx::Cx;
use crate::device::{Action, Capability};
use crate::error::{Error, ErrorCode, Result};
use crate::target::Target;
use std::time::Duration;

acting! {
    /// Drag an element onto another one: press, move, release.
    pub(crate) struct Drag {
        /// What is dragged: ref, selector, or `x,y`.
        #[schemars(extend("x-positional" = 0))]
        source: Target,
        /// Where it is dropped: ref, selector, or `x,y`.
        #[schemars(extend("x-positional" = 1))]
        destination: Target,
    }
}

impl Command for Drag {
    const SPEC: Spec = Spec {
        name: "drag",
        effect: Effect::Mutates,
        needs: &[Capability::Drag],
        examples: &["stickpin drag @e4 @e9 --settle", "stickpin drag @e4 300,420"],
        ..Spec::SESSION
    };
    type Output = Acted;

    fn deadline(&self) -> Duration {
        Self::SPEC.deadline + self.how().extra()
    }

    async fn run(self, cx: &mut Cx) -> Result<Acted> {
        let how = self.how();
        // The destination first: aiming at the source may scroll again, and the source is what is pressed.
        let destination = cx.ready(&self.destination, Reach::View, how).await?;
        let source = cx.ready(&self.source, Reach::Pointer, how).await?;
        let mut to = destination.point;
        if let (Some(handle), Some(_)) = (destination.handle, &destination.found) {
            let rect = cx.device()?.rects(&[handle]).await?.into_iter().flatten().next();
            to = rect.map_or(to, stickpin_tree::Rect::center);
        }
        if cx.device()?.element_at(to.0, to.1).await?.is_none() {
            return Err(Error::new(
                ErrorCode::ElementOffscreen,
                format!("{} is not in view together with {}", destination.words, source.words),
            )
            .hint("open a larger viewport (open --viewport WxH), or drag in two steps"));
        }
        cx.before(&source).await?;
        let action =
            Action::Drag { from: source.point, source: source.handle, to, target: destination.handle };
        cx.perform_on(&action, &source).await?;
        let words = format!("{} to {}", source.words, destination.words);
        cx.after(Some(&source), how, Acted::new("dragged", words)).await
    }
}
