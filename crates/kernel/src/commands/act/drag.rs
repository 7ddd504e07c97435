//! `drag`: drags one element onto another.

use crate::act::input::FailedAttempts;
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

impl TargetedAction for Drag {
    const SPEC: Spec = Spec {
        name: "drag",
        effect: Effect::Mutates,
        needs: &[Capability::Drag],
        examples: &["stickpin drag @e4 @e9 --settle", "stickpin drag @e4 300,420"],
        ..Spec::SESSION
    };

    async fn act(self, cx: &mut Cx, opts: ActionOptions) -> Result<(ActionTarget, ActionOutput)> {
        resolve::note_standings(cx, [&self.source, &self.destination])?;
        let mut attempts = FailedAttempts::default();
        let (source, destination) = loop {
            let (source, destination, to) = self.aim_at_both_ends(cx, opts).await?;
            outcome::begin_action(cx, &source).await?;
            let action = Action::Drag {
                from: source.point,
                source: source.receiver(),
                to,
                target: destination.receiver(),
            };
            match input::send_to_target(cx, &action, &source).await {
                Ok(performed) if !performed.handled => {
                    return Err(too_far_apart_error(&source, &destination));
                }
                Ok(_) => break (source, destination),
                Err(missed) => attempts.prepare_retry(cx, &source, missed).await?,
            }
        };
        let words = format!("{} to {}", source.description, destination.description);
        Ok((source, ActionOutput::new("dragged", words)))
    }
}

impl Drag {
    /// Aims at both ends and returns their current states and the drop point.
    async fn aim_at_both_ends(
        &self,
        cx: &mut Cx,
        opts: ActionOptions,
    ) -> Result<(ActionTarget, ActionTarget, (f64, f64))> {
        let before = match &self.destination {
            Target::Point { .. } => cx.device()?.scroll_offset().await?,
            _ => (0.0, 0.0),
        };
        // Aim at the destination first: aiming at the source may scroll again, and the source is
        // what gets pressed.
        let mut destination =
            act::wait_actionable(cx, &self.destination, Actionability::InView, opts).await?;
        let mut source = act::wait_actionable(cx, &self.source, Actionability::Pointer, opts).await?;
        // Locate the destination again: aiming at the source may have scrolled, or re-rendered
        // rows.
        match &self.destination {
            Target::Point { x, y } => {
                let (mut x, mut y) = (*x, *y);
                // A point in a screenshot follows the scroll offset automatically.
                if points::reference_screenshot(cx)?.is_none() {
                    let (right, down) = cx.device()?.scroll_offset().await?;
                    (x, y) = (x - right + before.0, y - down + before.1);
                }
                let words = std::mem::take(&mut destination.description);
                destination = ActionTarget {
                    description: words,
                    ..points::resolve_point(cx, x, y, Actionability::InView, opts).await?
                };
            }
            target => {
                act::relocate_pair(cx, &mut destination, &mut source, (target, &self.source), opts).await?
            }
        }
        let mut to = destination.point;
        if let (Some(handle), Target::Ref(_) | Target::Selector(_)) = (destination.handle, &self.destination)
        {
            let rect = cx.device()?.rects(&[handle]).await?.into_iter().flatten().next();
            to = rect.map_or(to, stickpin_tree::Rect::center);
        }
        if cx.device()?.element_at(to.0, to.1).await?.is_none() {
            return Err(too_far_apart_error(&source, &destination));
        }
        Ok((source, destination, to))
    }
}

/// Creates the error for two ends that do not fit into the viewport together.
fn too_far_apart_error(source: &ActionTarget, destination: &ActionTarget) -> Error {
    Error::element_offscreen(format!(
        "{} and {} are not in view at the same time",
        destination.description, source.description
    ))
    .hint("open the app with a larger viewport (`--viewport 1280x1600`), or drag in two steps")
}
