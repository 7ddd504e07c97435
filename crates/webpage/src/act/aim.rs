//! Scrolls an element into view and determines what a press there would hit now.

use crate::agent::{AimAnswer, HitTest};
use crate::read::guard;
use crate::read::guard::GuardArgument;
use crate::read::page::{DocumentElement, Page, element_gone, locate_under_pointer};
use crate::read::prefetch::{self, PointerArrival, PrefetchedAim};
use crate::tab::frames;
use crate::tab::frames::{FrameStep, from_tab, outward, rect, to_tab};
use crate::tab::{TabError, World};
use serde::de::IgnoredAny;
use stickpin_device::{Aim, AimOptions, HitResult, PreparedInput, Result, Ticket};
use stickpin_tree::Handle;

/// The maximum number of attempts to aim at an element that moves away from the pointer.
const MAX_AIM_ATTEMPTS: usize = 3;

/// The maximum number of attempts to move the pointer until a document in another process sees it.
const MOVES: usize = 12;

/// The tolerance in pixels when comparing points of two documents.
const POINT_TOLERANCE: f64 = 2.0;

/// Aims at an element: scrolls it into view and hit-tests its point. With `options.pointer`, if a
/// press there would reach the element, also moves the pointer to the point, waits for the page to
/// react, and hit-tests again.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND` when the element is gone, `DIALOG_OPEN` when a dialog is open, or an
/// error from the tab.
pub async fn aim_at(page: &mut Page, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
    aim_and_capture(page, handle, options, None, None).await.map(|(aim, _)| aim)
}

/// Aims at an element and, if a press would hit it, locates it again. `seen` is the ticket of the
/// last request about the element.
///
/// # Errors
/// Returns the same errors as [`aim_at`].
pub async fn prepare(
    page: &mut Page,
    handle: Handle,
    context: &[Handle],
    options: AimOptions<'_>,
    seen: &Ticket,
) -> Result<PreparedInput> {
    let prefetched = seen.take().filter(|glimpse: &PrefetchedAim| glimpse.handle == handle);
    let (aim, arrived) = aim_and_capture(page, handle, options, prefetched, Some(context)).await?;
    let mut prepared = PreparedInput::new(aim);
    if prepared.aim.hit == HitResult::Target && page.tab.read(|tab| tab.dialog.is_none())? {
        (prepared.located, prepared.ticket) = locate_under_pointer(page, handle, context, arrived).await?;
    }
    Ok(prepared)
}

async fn aim_and_capture(
    page: &mut Page,
    handle: Handle,
    options: AimOptions<'_>,
    prefetched: Option<PrefetchedAim>,
    context: Option<&[Handle]>,
) -> Result<(Aim, PointerArrival)> {
    let element = page.located_element(handle)?;
    let DocumentElement { world, id } = element.clone();
    page.guards.add(handle, &world, options.guarded);
    let mut prefetched_aim = prefetched.map(|glimpse| glimpse.aimed.if_fresh(page)).transpose()?.flatten();
    let (mut round, mut pointed, mut arrived) = (1, false, PointerArrival::default());
    loop {
        let steps = frames::frame_steps(&page.tab, &world).await?;
        let aimed = match prefetched_aim.take() {
            Some(aimed) => Some(aimed),
            None if options.pointer => page.tab.call(&world, "aim", (id,)).await?,
            None => {
                let guard = page.guards.copy(handle);
                let aimed = page.tab.call(&world, "aim", (id, guard)).await?;
                guard::guard_outer_documents(page, handle).await?;
                aimed
            }
        };
        let AimAnswer { rect: bounds, point, hit, at } = aimed.ok_or_else(element_gone)?;
        let bounds = bounds.map(|bounds| outward(rect(bounds), &steps));
        let (Some(bounds), Some(inside)) = (bounds, point) else {
            let rect = bounds.unwrap_or_default();
            return Ok((Aim::new(rect, HitResult::OffScreen).pointer_moved(pointed), arrived));
        };
        let mut aim =
            Aim::new(bounds, HitResult::Target).point(to_tab(inside, &steps)).pointer_moved(pointed);
        aim.hit = match hit {
            Some(hit) if steps.is_empty() => hit.into_hit_result(world.scope),
            _ => hit_test(page, &world, id, inside, &steps).await?,
        };
        if aim.hit != HitResult::Target && !steps.is_empty() && round == 1 {
            // The element is in view of its frame, but the frame itself may be out of view: scroll
            // all ancestors.
            scroll_into_view(page, &world, id).await?;
            round += 1;
            continue;
        }
        if aim.hit != HitResult::Target || !options.pointer {
            return Ok((aim, arrived));
        }
        (pointed, aim.pointer_moved) = (true, true);
        // The arrival of the pointer may have moved everything, so test again.
        (aim.hit, aim.rect) = match steps.is_empty() {
            true => {
                // An announcement of an earlier arrival no longer applies.
                drop(std::mem::take(&mut arrived));
                let arrival;
                (arrival, arrived) =
                    prefetch::move_and_hit_test(page, &element, aim.point, at, context, options.press)
                        .await?;
                let hit = arrival.hit.ok_or_else(element_gone)?;
                (hit.into_hit_result(world.scope), arrival.rect.map_or(bounds, rect))
            }
            false => {
                bring_pointer(page, &world, inside, aim.point, &steps).await?;
                page.tab.wait_frame(&world).await?;
                let guard = page.guards.copy(handle);
                if let Some(GuardArgument::Copy(key, ranges, wide)) = guard {
                    let copy = (id, key, ranges, wide);
                    page.tab.call::<IgnoredAny>(&world, "guardContent", copy).await?;
                    guard::guard_outer_documents(page, handle).await?;
                }
                let current_steps = frames::frame_steps(&page.tab, &world).await?;
                let hit =
                    hit_test(page, &world, id, from_tab(aim.point, &current_steps), &current_steps).await?;
                (hit, frames::bounding_box(&page.tab, handle).await?.unwrap_or(bounds))
            }
        };
        if aim.hit == HitResult::Target || round >= MAX_AIM_ATTEMPTS {
            return Ok((aim, arrived));
        }
        round += 1;
    }
}

/// Hit-tests in the element's own document, then in each surrounding document, where the frame of
/// the inner document must be hit.
pub(crate) async fn hit_test(
    page: &Page,
    world: &World,
    id: u64,
    point: (f64, f64),
    steps: &[FrameStep],
) -> Result<HitResult> {
    let inner = hit_one(page, world, id, point).await?;
    if inner != HitResult::Target {
        return Ok(inner);
    }
    let mut point = point;
    for step in steps {
        point = step.outward(point);
        let outer = hit_one(page, &step.outer, step.owner, point).await?;
        if outer != HitResult::Target {
            return Ok(outer);
        }
    }
    Ok(HitResult::Target)
}

/// Hit-tests an element like [`hit_test`], at a point of the tab.
pub(crate) async fn hit_from_tab(page: &Page, handle: Handle, point: (f64, f64)) -> Result<HitResult> {
    let DocumentElement { world, id } = page.located_element(handle)?;
    let steps = frames::frame_steps(&page.tab, &world).await?;
    hit_test(page, &world, id, from_tab(point, &steps), &steps).await
}

async fn hit_one(page: &Page, world: &World, id: u64, (x, y): (f64, f64)) -> Result<HitResult> {
    let hit: Option<HitTest> = page.tab.call(world, "hit", (id, x, y)).await?;
    Ok(hit.ok_or_else(element_gone)?.into_hit_result(world.scope))
}

async fn scroll_into_view(page: &Page, world: &World, id: u64) -> Result<(), TabError> {
    let script = format!(
        "Element.prototype.scrollIntoView.call({}.nodeOf({id}),\
         {{block:'center',inline:'center',behavior:'instant'}})",
        crate::agent::GLOBAL
    );
    page.tab.evaluate::<IgnoredAny>(world, script).await?;
    // Documents in other processes scroll with the next frame.
    page.tab.wait_frame(world).await
}

/// Moves the pointer to a point of a document. For a document in another process, the browser
/// briefly sends input to where the document was before an ancestor scrolled. The move is therefore
/// repeated until the document itself sees the pointer there, but at most [`MOVES`] times.
pub(crate) async fn bring_pointer(
    page: &Page,
    world: &World,
    inside: (f64, f64),
    point: (f64, f64),
    steps: &[FrameStep],
) -> Result<()> {
    let top = page.tab.top_world().await?;
    if steps.is_empty() || world.session == top.session {
        return page.tab.move_pointer(point).await;
    }
    for _ in 0..MOVES {
        page.tab.call::<IgnoredAny>(world, "pointerAt", (true,)).await?;
        page.tab.move_pointer(point).await?;
        let seen: Option<(f64, f64)> = page.tab.call(world, "pointerAt", (false,)).await?;
        if seen.is_some_and(|(x, y)| {
            (x - inside.0).abs() <= POINT_TOLERANCE && (y - inside.1).abs() <= POINT_TOLERANCE
        }) {
            return Ok(());
        }
        // The browser updates document positions with each frame of the outer document.
        page.tab.wait_frame(&top).await?;
    }
    // The element may have moved away or be covered; the next hit test reports that.
    Ok(())
}

impl HitTest {
    /// Converts the answer from the document with the given scope.
    fn into_hit_result(self, scope: u64) -> HitResult {
        match self {
            Self { target: true, .. } => HitResult::Target,
            Self { by: 0, .. } => HitResult::OffScreen,
            Self { by, what, .. } => HitResult::Covered { by: Some(Handle { scope, id: by }), what },
        }
    }
}
