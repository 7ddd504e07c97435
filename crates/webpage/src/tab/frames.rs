//! Frames in frames: whose element shows which document, and how their pixels map to those of the tab.

use super::Tab;
use super::{Fault, World};
use crate::agent::ElementAt;
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

/// The way from a document out to the tab's own.
pub(crate) async fn steps(tab: &Tab, world: &World) -> Result<Vec<Step>, Fault> {
    let mut steps = Vec::new();
    let mut inner = world.clone();
    while let Some((outer, owner)) = tab.owner(&inner).await? {
        let place: Option<[f64; 4]> = tab.call(&outer, "frameBox", (owner,)).await?;
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
pub async fn boxes(tab: &Tab, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
    let mut boxes = vec![None; handles.len()];
    for world in tab.worlds().await? {
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
            let rects: Vec<Option<[f64; 4]>> = tab.call(&world, "rects", (&ids,)).await?;
            Ok((rects, steps(tab, &world).await?))
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
pub async fn innermost(tab: &Tab, x: f64, y: f64) -> Result<Option<Handle>, Fault> {
    let worlds = tab.worlds().await?;
    let mut world = tab.top().await?;
    let (mut x, mut y) = (x, y);
    let mut found = None;
    for _ in 0..DEPTH {
        let at: Option<ElementAt> = tab.call(&world, "elementAt", (x, y)).await?;
        let Some(ElementAt { id, frame }) = at else { return Ok(found) };
        found = Some(Handle { scope: world.scope, id });
        if !frame {
            return Ok(found);
        }
        let mut inner = None;
        for candidate in worlds.iter().filter(|w| w.parent.as_deref() == Some(world.frame.as_str())) {
            if tab.owner(candidate).await?.is_some_and(|(_, owner)| owner == id) {
                inner = Some(candidate.clone());
            }
        }
        let Some(inner) = inner else { return Ok(found) };
        let place: Option<[f64; 4]> = tab.call(&world, "frameBox", (id,)).await?;
        let Some([left, top, scale_x, scale_y]) = place else { return Ok(found) };
        (x, y) = ((x - left) / scale_x, (y - top) / scale_y);
        world = inner;
    }
    Ok(found)
}

/// Whether keys go to a document: every frame on the way to it has the focus in the document around it.
///
/// # Errors
/// See [`Fault`].
pub async fn has_keys(tab: &Tab, world: &World) -> Result<bool, Fault> {
    for step in steps(tab, world).await? {
        if !tab.call::<bool>(&step.outer, "takesKeys", (step.owner,)).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A box of an inner document in pixels of the tab.
pub(crate) fn outward(inner: Rect, steps: &[Step]) -> Rect {
    let corner = |point| steps.iter().fold(point, |point, step| step.outward(point));
    let (left, top) = corner((inner.x, inner.y));
    let (right, bottom) = corner((inner.x + inner.width, inner.y + inner.height));
    Rect { x: left, y: top, width: right - left, height: bottom - top }
}

pub(crate) fn rect([x, y, width, height]: [f64; 4]) -> Rect {
    Rect { x, y, width, height }
}
