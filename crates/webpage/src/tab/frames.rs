//! Nested frames: which element shows which document, and how its pixels map to those of the tab.

use super::Tab;
use super::{TabError, World};
use crate::agent::ElementAt;
use stickpin_device::Result;
use stickpin_tree::{Handle, Rect};

/// The maximum nesting of frames that is searched.
const DEPTH: usize = 32;

/// One step outward: the element of the outer document that shows the inner one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FrameStep {
    pub(crate) outer: World,
    pub(crate) owner: u64,
    /// The position and scale of the frame's content in the outer document: x, y, scale x, scale y.
    origin_and_scale: [f64; 4],
}

impl FrameStep {
    /// Converts a point of the inner document to one of the outer document.
    pub(crate) fn outward(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let [left, top, scale_x, scale_y] = self.origin_and_scale;
        (left + x * scale_x, top + y * scale_y)
    }
}

/// Returns the steps from a document outward to the top document of the tab.
pub(crate) async fn frame_steps(tab: &Tab, world: &World) -> Result<Vec<FrameStep>, TabError> {
    let mut steps = Vec::new();
    let mut inner = world.clone();
    while let Some((outer, owner)) = tab.owner(&inner).await? {
        let frame_box: Option<[f64; 4]> = tab.call(&outer, "frameBox", (owner,)).await?;
        // The frame's element went away, and its document soon will.
        let frame_box = frame_box.ok_or(TabError::WorldGone)?;
        inner = outer.clone();
        steps.push(FrameStep { outer, owner, origin_and_scale: frame_box });
        if steps.len() > DEPTH {
            return Err(TabError::WorldGone);
        }
    }
    Ok(steps)
}

/// Returns the bounding box of an element in pixels of the tab; `None` if the element has no box.
pub(crate) async fn bounding_box(tab: &Tab, handle: Handle) -> Result<Option<Rect>> {
    Ok(bounding_boxes(tab, &[handle]).await?.into_iter().flatten().next())
}

/// Returns the bounding boxes of elements in pixels of the tab; `None` for an element without a
/// box.
pub async fn bounding_boxes(tab: &Tab, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
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
        let answer = async {
            let rects: Vec<Option<[f64; 4]>> = tab.call(&world, "rects", (&ids,)).await?;
            Ok((rects, frame_steps(tab, &world).await?))
        };
        let (rects, steps) = match answer.await {
            Ok(answer) => answer,
            // A document that is gone has no boxes.
            Err(TabError::WorldGone) => continue,
            Err(fault) => return Err(fault.into()),
        };
        for (place, found) in places.into_iter().zip(rects) {
            boxes[place] = found.map(|found| outward(rect(found), &steps));
        }
    }
    Ok(boxes)
}

/// Returns the innermost element at a point of the tab.
pub async fn innermost(tab: &Tab, x: f64, y: f64) -> Result<Option<Handle>, TabError> {
    let worlds = tab.worlds().await?;
    let mut world = tab.top_world().await?;
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
        let frame_box: Option<[f64; 4]> = tab.call(&world, "frameBox", (id,)).await?;
        let Some([left, top, scale_x, scale_y]) = frame_box else { return Ok(found) };
        (x, y) = ((x - left) / scale_x, (y - top) / scale_y);
        world = inner;
    }
    Ok(found)
}

/// Returns whether key events go to a document: each frame around it must have the focus in its
/// parent document.
///
/// # Errors
/// See [`TabError`].
pub async fn has_keys(tab: &Tab, world: &World) -> Result<bool, TabError> {
    for step in frame_steps(tab, world).await? {
        if !tab.call::<bool>(&step.outer, "takesKeys", (step.owner,)).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Converts a box of an inner document to pixels of the tab.
pub(crate) fn outward(inner: Rect, steps: &[FrameStep]) -> Rect {
    let (left, top) = to_tab((inner.x, inner.y), steps);
    let (right, bottom) = to_tab((inner.x + inner.width, inner.y + inner.height), steps);
    Rect { x: left, y: top, width: right - left, height: bottom - top }
}

pub(crate) fn rect([x, y, width, height]: [f64; 4]) -> Rect {
    Rect { x, y, width, height }
}

/// Converts a point of the innermost document to a point of the tab.
pub(crate) fn to_tab(point: (f64, f64), steps: &[FrameStep]) -> (f64, f64) {
    steps.iter().fold(point, |point, step| step.outward(point))
}

/// Converts a point of the tab to a point of the innermost document.
pub(crate) fn from_tab(point: (f64, f64), steps: &[FrameStep]) -> (f64, f64) {
    // The outward mapping is linear, so its image of the unit square suffices to invert it.
    let Rect { x, y, width, height } = outward(Rect { x: 0.0, y: 0.0, width: 1.0, height: 1.0 }, steps);
    ((point.0 - x) / width, (point.1 - y) / height)
}
