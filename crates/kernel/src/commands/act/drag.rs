//! `drag`: drags one element onto another.

use crate::act::input::Attempts;
use crate::act::points;
use crate::commands::prelude::*;
use stickpin_device::Action;

acting! {
    /// Drag an element onto another one: press, move, release.
    pub struct Drag {
        /// The element to drag: ref, selector, or `x,y`.
        #[schemars(extend("x-positional" = 0))]
        source: Target,
        /// Where to drop it: ref, selector, or `x,y`.
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

    fn time(&self) -> Time {
        self.how().time(Self::SPEC.deadline, Duration::ZERO)
    }

    async fn run(self, cx: &mut Cx) -> Result<Acted> {
        let how = self.how();
        resolve::foresee(cx, [&self.source, &self.destination])?;
        let mut attempts = Attempts::default();
        let (source, destination) = loop {
            let (source, destination, to) = self.aimed(cx).await?;
            outcome::before(cx, &source).await?;
            let action = Action::Drag {
                from: source.point,
                source: source.receiver(),
                to,
                target: destination.receiver(),
            };
            match input::perform_on(cx, &action, &source).await {
                Ok(performed) if !performed.handled => return Err(apart(&source, &destination)),
                Ok(_) => break (source, destination),
                Err(missed) => attempts.again(cx, &source, missed).await?,
            }
        };
        let words = format!("{} to {}", source.words, destination.words);
        outcome::after(cx, Some(&source), how, Acted::new("dragged", words)).await
    }
}

impl Drag {
    /// Aims at both ends and returns their current state with the drop point.
    async fn aimed(&self, cx: &mut Cx) -> Result<(Ready, Ready, (f64, f64))> {
        let how = self.how();
        let before = match &self.destination {
            Target::Point { .. } => cx.device()?.scroll_offset().await?,
            _ => (0.0, 0.0),
        };
        // The destination first: aiming at the source may scroll again, and the source is what is
        // pressed.
        let mut destination = act::ready(cx, &self.destination, Reach::View, how).await?;
        let mut source = act::ready(cx, &self.source, Reach::Pointer, how).await?;
        // Locate the destination again: aiming at the source may have scrolled, or re-rendered
        // rows.
        match &self.destination {
            Target::Point { x, y } => {
                let (mut x, mut y) = (*x, *y);
                // A point of a screenshot follows the scroll offset on its own.
                if points::pictured(cx)?.is_none() {
                    let (right, down) = cx.device()?.scroll_offset().await?;
                    (x, y) = (x - right + before.0, y - down + before.1);
                }
                let words = std::mem::take(&mut destination.words);
                destination = Ready { words, ..points::at_point(cx, x, y, how).await? };
            }
            target => act::both(cx, &mut destination, &mut source, (target, &self.source), how).await?,
        }
        let mut to = destination.point;
        if let (Some(handle), Target::Ref(_) | Target::Selector(_)) = (destination.handle, &self.destination)
        {
            let rect = cx.device()?.rects(&[handle]).await?.into_iter().flatten().next();
            to = rect.map_or(to, stickpin_tree::Rect::center);
        }
        if cx.device()?.element_at(to.0, to.1).await?.is_none() {
            return Err(apart(&source, &destination));
        }
        Ok((source, destination, to))
    }
}

/// Creates the error for two ends that do not fit into the viewport together.
fn apart(source: &Ready, destination: &Ready) -> Error {
    Error::element_offscreen(format!(
        "{} and {} are not in view at the same time",
        destination.words, source.words
    ))
    .hint("open the app with a larger viewport, `--viewport 1280x1600`, or drag in two steps")
}
