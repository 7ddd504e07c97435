//! Points: the screenshots that clients were given, and what their pixels mean.
//!
//! A point has no identity. The session remembers what a client saw at a point, and checks the
//! point like a ref before any input is sent there.

use crate::act;
use crate::act::action_target::{ActionTarget, Actionability, TargetState};
use crate::command::args::ActionOptions;
use crate::command::context::Cx;
use crate::host::screenshots::{ClientScreenshot, PageIdentity, PlacedElement, ScreenshotMark};
use crate::observe::capture;
use crate::observe::resolve::ResolvedTarget;
use std::sync::Arc;
use stickpin_device::{AimOptions, Error, ErrorCode, LocatedElement, Result};
use stickpin_tree::{Handle, IdentityGrade, NodeId, NodeRef, Rect, Role, States, Tree};

/// The maximum number of elements remembered per screenshot.
const MAX_MARKS: usize = 2_000;

/// The maximum number of hit tests per screenshot.
const MAX_HIT_TESTS: usize = 200;

/// The maximum share of a control's box that an element on top may cover and still count as part of
/// the control's appearance.
const MAX_ADORNMENT: f64 = 0.25;

/// What a press acts on: an element, or its meaning in words if elements have no identity.
#[derive(Debug, PartialEq)]
enum PressReceiver {
    Element(Option<Handle>),
    Text(String),
}

/// Returns the bounding boxes of everything in a tree that can be acted on.
///
/// # Errors
/// Returns errors from the device.
pub(crate) async fn actionable_boxes(cx: &mut Cx, tree: &Tree) -> Result<Vec<PlacedElement>> {
    let shown = tree.nodes().filter(|&n| acts(n) && !n.is(States::HIDDEN));
    let (nodes, handles): (Vec<_>, Vec<_>) = shown.filter_map(|n| Some((n.id(), n.address()?))).unzip();
    let rects = cx.device()?.visible_rects(&handles).await?;
    let placed = nodes.into_iter().zip(handles).zip(rects);
    Ok(placed
        .filter_map(|((node, handle), rect)| Some(PlacedElement { node, handle, rect: rect? }))
        .collect())
}

/// Returns the elements of a tree that a screenshot of `area` shows.
///
/// # Errors
/// Returns errors from the device.
pub(crate) async fn screenshot_marks(
    cx: &mut Cx,
    tree: &Tree,
    boxes: &[PlacedElement],
    area: Rect,
) -> Result<Vec<ScreenshotMark>> {
    let boxes: Vec<PlacedElement> =
        boxes.iter().filter(|b| b.rect.overlaps(area)).take(MAX_MARKS).copied().collect();
    let mut seen = Vec::new();
    let mut asked = 0;
    for b in &boxes {
        let ((x, y), node) = (b.rect.center(), tree.node(b.node));
        let over = |o: &PlacedElement| {
            o.rect.contains(x, y) && !node.contains(o.node) && !tree.node(o.node).contains(b.node)
        };
        // Two elements overlap: the screenshot shows the one on top.
        if asked < MAX_HIT_TESTS && boxes.iter().any(over) {
            asked += 1;
            let top = cx.device()?.element_at(x, y).await?.and_then(|h| tree.find_address(h));
            if top.is_some_and(|top| !node.contains(top.id())) {
                continue;
            }
        }
        seen.push(*b);
    }
    let records = cx.open_session()?.session.records(tree);
    let mark = |PlacedElement { node, handle, rect }| ScreenshotMark {
        node,
        handle,
        rect,
        meaning: records.meaning(node),
    };
    Ok(seen.into_iter().map(mark).collect())
}

/// Resolves a point that this client named for an action: a pixel of its last screenshot, or else
/// of the viewport. Judges the element there, and for pointer input judges it again after the
/// pointer has arrived.
///
/// # Errors
/// Returns `STALE_REF` when the screenshot shows another element at the point or the pointer's
/// arrival put another one there. Returns `ELEMENT_DISABLED` when the element is disabled,
/// `ELEMENT_NOT_FOUND` when it vanished, and errors from the device.
pub(crate) async fn resolve_point(
    cx: &mut Cx,
    x: f64,
    y: f64,
    reach: Actionability,
    opts: ActionOptions,
) -> Result<ActionTarget> {
    // A press goes to what the screenshot shows. A drag may grab the handle on top of it.
    let is_drag = matches!(reach, Actionability::Pointer);
    let (first, acts) = read_point(cx, x, y, opts, is_drag).await?;
    if !matches!(reach, Actionability::Pointer | Actionability::Press { .. }) {
        return Ok(first);
    }
    cx.envelope.pointer_moved = true;
    cx.device()?.move_pointer(first.point.0, first.point.1).await?;
    let (now, still) = read_point(cx, x, y, opts, is_drag).await?;
    if acts == still {
        return Ok(now);
    }
    let words = |target: &ActionTarget| match target.handle {
        Some(_) => target.description.clone(),
        None => format!("nothing at {}", target.description),
    };
    let changed = Error::stale_ref(format!(
        "before the pointer arrived, there was {}; now there is {}",
        words(&first),
        words(&now)
    ));
    let changed =
        changed.hint("nothing was pressed; repeat the command to act on what is there now").details(
            serde_json::json!({ "reason": "changed", "was": first.description, "now": now.description }),
        );
    veto(cx, opts, changed).map(|()| now)
}

/// Returns the screenshot that this client's points refer to: its last one, unless the client has
/// read another document since.
pub(crate) fn reference_screenshot(cx: &mut Cx) -> Result<Option<ClientScreenshot>> {
    let client = cx.client_id();
    let live = cx.open_session()?;
    let Some(picture) = live.screenshots.last_of(&client).cloned() else { return Ok(None) };
    let (page, at) = &picture.page;
    let left = live
        .session
        .base(&client, None)
        .is_some_and(|base| Some(base.generation) > *at && PageIdentity::of(&base.tree) != *page);
    Ok((!left).then_some(picture))
}

/// Fails with `e`, the refusal of an input to a point, unless the input is forced. A forced input
/// causes a warning instead.
fn veto(cx: &mut Cx, opts: ActionOptions, e: Error) -> Result<()> {
    if !opts.force {
        return Err(e);
    }
    cx.warn(format!("Forced: {e}."));
    Ok(())
}

/// Locates the element at a point; `None` if no tree contains it, for example the page around a
/// short body.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND` when the element vanished.
async fn locate_at(
    cx: &mut Cx,
    handle: Handle,
    (x, y): (f64, f64),
    point: (f64, f64),
) -> Result<Option<LocatedElement>> {
    let located = cx.device()?.locate(handle, &[]).await?;
    if located.is_none() && cx.device()?.element_at(point.0, point.1).await? != Some(handle) {
        let message = format!("the element at {x},{y} disappeared");
        return Err(Error::element_not_found(message));
    }
    Ok(located)
}

/// Reads what is at a point. Returns the target for an action, and what a press there acts on.
async fn read_point(
    cx: &mut Cx,
    x: f64,
    y: f64,
    opts: ActionOptions,
    is_drag: bool,
) -> Result<(ActionTarget, Option<PressReceiver>)> {
    let picture = reference_screenshot(cx)?;
    let pictured = picture.as_ref().map_or((x, y), |p| p.to_viewport(x, y));
    let mut shown = picture.as_ref().and_then(|p| p.mark_at(pictured).map(|mark| (p.id, mark.clone())));
    let mut point = now_at(cx, picture.as_ref(), pictured).await?;
    let mut hit = cx.device()?.element_at(point.0, point.1).await?;
    if let (None, Some((_, mark))) = (hit, &shown) {
        // The screenshot shows more than the viewport: the element that it shows here is brought
        // into view.
        let aim = cx.device()?.aim(mark.handle, AimOptions::default()).await;
        if let Err(e) = aim
            && e.code != ErrorCode::ElementNotFound
        {
            return Err(e);
        }
        point = now_at(cx, picture.as_ref(), pictured).await?;
        hit = cx.device()?.element_at(point.0, point.1).await?;
    }
    let located = match hit {
        Some(handle) => locate_at(cx, handle, (x, y), point).await?.map(|located| (handle, located)),
        None => None,
    };
    let Some((handle, located)) = located else {
        if let Some((id, mark)) = shown {
            veto(cx, opts, moved_error(id, x, y, &mark.meaning.to_string(), "nothing is there now"))?;
        }
        return Ok((
            ActionTarget { point, description: format!("{x},{y}"), ..ActionTarget::default() },
            None,
        ));
    };
    let node = nearest_named(located.tree.node(located.node));
    let meaning = capture::meaning(cx, &located.tree, node.id())?;
    if let Some((id, mark)) = shown.clone() {
        let graded = cx.device()?.info().grade != IdentityGrade::None;
        // Whether the element in the screenshot still has its meaning; `None` if it is not at the
        // point.
        let reads_same = {
            let within = located.tree.node(located.node);
            let records = cx.open_session()?.session.records(&located.tree);
            let same = |n: &NodeRef<'_>| records.judge(&mark.meaning, n.id()).is_same();
            let mut outwards = std::iter::once(within).chain(within.ancestors());
            let it = outwards.find(|n| if graded { n.address() == Some(mark.handle) } else { same(n) });
            it.map(|it| same(&it))
        };
        let is_adorned =
            is_drag && reads_same.is_none() && adorns(cx, picture.as_ref(), &mark, handle, &located).await?;
        let now = match reads_same {
            Some(true) => None,
            Some(false) => Some(format!("it is now {meaning}")),
            None if is_adorned => {
                shown = None;
                None
            }
            None => Some(format!("{meaning} is there now")),
        };
        if let Some(now) = now {
            veto(cx, opts, moved_error(id, x, y, &mark.meaning.to_string(), &now))?;
            shown = None;
        }
    } else if let Some(picture) = &picture
        && let Some(acting) = acting(located.tree.node(located.node))
        && !shows(cx, picture, pictured, &located.tree, acting).await?
    {
        let now = capture::meaning(cx, &located.tree, acting)?;
        veto(cx, opts, moved_error(picture.id, x, y, "nothing to act on", &format!("{now} is there now")))?;
    }
    let words = format!("{meaning} at {x},{y}");
    act::check_node_enabled(cx, node, &words, opts)?;
    let found = shown.map(|(_, mark)| ResolvedTarget {
        target_ref: None,
        node: None,
        handle: Some(mark.handle),
        meaning: mark.meaning,
    });
    let graded = cx.device()?.info().grade != IdentityGrade::None;
    let acts = match acting(located.tree.node(located.node)) {
        Some(acting) if graded => Some(PressReceiver::Element(located.tree.node(acting).address())),
        Some(acting) => Some(PressReceiver::Text(capture::meaning(cx, &located.tree, acting)?.to_string())),
        None => None,
    };
    let ready = ActionTarget {
        found,
        handle: Some(handle),
        point,
        before: Some(TargetState::of(node)),
        actionable: node.is(States::ACTIONABLE),
        protected: node.is(States::PROTECTED),
        description: words,
        tree: Some(Arc::clone(&located.tree)),
        ..ActionTarget::default()
    };
    Ok((ready, acts))
}

/// Converts a point of a screenshot to the current viewport, which may have been scrolled since.
async fn now_at(cx: &mut Cx, picture: Option<&ClientScreenshot>, (x, y): (f64, f64)) -> Result<(f64, f64)> {
    let Some(picture) = picture else { return Ok((x, y)) };
    let (right, down) = cx.device()?.scroll_offset().await?;
    Ok((x - right + picture.scrolled.0, y - down + picture.scrolled.1))
}

/// Returns whether the element on top of a control is a small part of its appearance, such as the
/// handle in its corner. That element must not be actionable, and the control must not have changed
/// or moved since the screenshot.
async fn adorns(
    cx: &mut Cx,
    picture: Option<&ClientScreenshot>,
    mark: &ScreenshotMark,
    over: Handle,
    located: &LocatedElement,
) -> Result<bool> {
    let Some(control) = cx.device()?.locate(mark.handle, &[]).await? else { return Ok(false) };
    let same = cx.open_session()?.session.records(&control.tree).judge(&mark.meaning, control.node).is_same();
    let own = acting(located.tree.node(located.node));
    if !same || own.is_some() {
        return Ok(false);
    }
    let rects = cx.device()?.rects(&[mark.handle, over]).await?;
    let [Some(rect), Some(part)] = rects[..] else { return Ok(false) };
    let (x, y) = now_at(cx, picture, (mark.rect.x, mark.rect.y)).await?;
    let is_small = part.width * part.height <= rect.width * rect.height * MAX_ADORNMENT;
    Ok(is_small && part.overlaps(rect) && rect == Rect { x, y, ..mark.rect })
}

/// Returns whether a screenshot accounts for an element at a point outside all remembered boxes.
/// Returns true if the screenshot has no information about the point, or if the element extends
/// beyond its box and has not moved.
async fn shows(
    cx: &mut Cx,
    picture: &ClientScreenshot,
    (x, y): (f64, f64),
    tree: &Tree,
    node: NodeId,
) -> Result<bool> {
    if !picture.area.contains(x, y) || picture.marks.len() >= MAX_MARKS {
        return Ok(true);
    }
    let Some(address) = tree.node(node).address() else { return Ok(false) };
    let Some(mark) = picture.marks.iter().find(|m| m.handle == address) else { return Ok(false) };
    let same = cx.open_session()?.session.records(tree).judge(&mark.meaning, node).is_same();
    let rect = cx.device()?.rects(&[address]).await?.into_iter().flatten().next();
    let (x, y) = now_at(cx, Some(picture), (mark.rect.x, mark.rect.y)).await?;
    Ok(same && rect == Some(Rect { x, y, ..mark.rect }))
}

/// Returns whether a person can act on the node. The options of a closed list share its position
/// and are not targets.
fn acts(n: NodeRef<'_>) -> bool {
    n.is(States::ACTIONABLE) || (n.role().is_control() && n.role() != Role::Option)
}

/// Returns the node that a press acts on: the node itself or its nearest actionable ancestor.
fn acting(node: NodeRef<'_>) -> Option<NodeId> {
    std::iter::once(node).chain(node.ancestors()).find(|&n| acts(n)).map(|n| n.id())
}

/// Creates the error for a screenshot that shows something else at the point.
fn moved_error(id: u32, x: f64, y: f64, was: &str, now: &str) -> Error {
    Error::stale_ref(format!("picture p{id} shows {was} at {x},{y}; {now}"))
        .hint("run `stickpin screenshot` to see what is there now; use a ref instead of a point, or `--force` to act on what is there")
        .details(serde_json::json!({ "reason": "changed", "picture": format!("p{id}"), "was": was }))
}

/// Returns the node that a person would name: the node itself or its nearest ancestor that is
/// actionable or has a name.
fn nearest_named(node: NodeRef<'_>) -> NodeRef<'_> {
    std::iter::once(node)
        .chain(node.ancestors())
        .find(|n| n.is(States::ACTIONABLE) || (!n.is_text() && !n.name().is_empty()))
        .unwrap_or(node)
}
