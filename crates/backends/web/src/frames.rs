//! Frames in frames: whose element shows which document, and how their pixels map to those of the tab.

use crate::agent::ElementAt;
use crate::device::{WebDevice, rect};
use crate::tab::{Fault, World};
use stickpin_device::Result;
use stickpin_tree::{Handle, Rect};

/// Frames in frames beyond this are not looked into.
const DEPTH: usize = 32;

/// One step outward: the element of the outer document that shows the inner one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(crate) outer: World,
    pub(crate) owner: u64,
    /// Where the inside of the frame begins, and its scale, in pixels of the outer document.
    place: [f64; 4],
}

impl Step {
    /// A point of the inner document in the outer one.
    pub(crate) fn outward(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let [left, top, scale_x, scale_y] = self.place;
        (left + x * scale_x, top + y * scale_y)
    }
}

impl WebDevice {
    /// The way from a document out to the tab's own.
    pub(crate) async fn steps(&self, world: &World) -> Result<Vec<Step>, Fault> {
        let mut steps = Vec::new();
        let mut inner = world.clone();
        while let Some((outer, owner)) = self.tab.owner(&inner).await? {
            let place: Option<[f64; 4]> = self.tab.call(&outer, "frameBox", (owner,)).await?;
            // The frame's element went away: so will its document.
            let place = place.ok_or(Fault::WorldGone)?;
            inner = outer.clone();
            steps.push(Step { outer, owner, place });
            if steps.len() > DEPTH {
                return Err(Fault::WorldGone);
            }
        }
        Ok(steps)
    }

    /// Boxes of elements in pixels of the tab.
    pub(crate) async fn boxes(&self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        let mut boxes = vec![None; handles.len()];
        for world in self.tab.worlds().await? {
            let (places, ids): (Vec<usize>, Vec<u64>) = handles
                .iter()
                .enumerate()
                .filter(|(_, h)| h.scope == world.scope)
                .map(|(place, h)| (place, h.id))
                .unzip();
            if ids.is_empty() {
                continue;
            }
            let asked = async {
                let rects: Vec<Option<[f64; 4]>> = self.tab.call(&world, "rects", (&ids,)).await?;
                Ok((rects, self.steps(&world).await?))
            };
            let (rects, steps) = match asked.await {
                Ok(answer) => answer,
                // A document that is gone has no boxes.
                Err(Fault::WorldGone) => continue,
                Err(fault) => return Err(fault.into()),
            };
            for (place, found) in places.into_iter().zip(rects) {
                boxes[place] = found.map(|found| outward(rect(found), &steps));
            }
        }
        Ok(boxes)
    }

    /// The innermost element at a point of the tab.
    pub(crate) async fn innermost(&self, x: f64, y: f64) -> Result<Option<Handle>, Fault> {
        let worlds = self.tab.worlds().await?;
        let mut world = self.tab.top().await?;
        let (mut x, mut y) = (x, y);
        let mut found = None;
        for _ in 0..DEPTH {
            let at: Option<ElementAt> = self.tab.call(&world, "elementAt", (x, y)).await?;
            let Some(ElementAt { id, frame }) = at else { return Ok(found) };
            found = Some(Handle { scope: world.scope, id });
            if !frame {
                return Ok(found);
            }
            let mut inner = None;
            for candidate in worlds.iter().filter(|w| w.parent.as_deref() == Some(world.frame.as_str())) {
                if self.tab.owner(candidate).await?.is_some_and(|(_, owner)| owner == id) {
                    inner = Some(candidate.clone());
                }
            }
            let Some(inner) = inner else { return Ok(found) };
            let place: Option<[f64; 4]> = self.tab.call(&world, "frameBox", (id,)).await?;
            let Some([left, top, scale_x, scale_y]) = place else { return Ok(found) };
            (x, y) = ((x - left) / scale_x, (y - top) / scale_y);
            world = inner;
        }
        Ok(found)
    }
}

/// A box of an inner document in pixels of the tab.
pub(crate) fn outward(inner: Rect, steps: &[Step]) -> Rect {
    let corner = |point| steps.iter().fold(point, |point, step| step.outward(point));
    let (left, top) = corner((inner.x, inner.y));
    let (right, bottom) = corner((inner.x + inner.width, inner.y + inner.height));
    Rect { x: left, y: top, width: right - left, height: bottom - top }
}
