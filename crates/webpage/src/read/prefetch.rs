//! Requests that one action sends together.
//!
//! An action locates its target, aims, waits for the pointer to arrive, locates again, presses, and
//! locates once more. Each step waits for the browser, and the page's own work takes the smallest
//! part of the time.
//!
//! - In a page of one document, the request that locates the element also returns where to aim
//!   ([`PrefetchedAim`]).
//! - Walking a small page is faster than having the browser prove that nothing has changed. In a
//!   small page, the request about the pointer's arrival also locates the element again, at the
//!   same moment, and watches for the press ([`AnnouncedPress`]). The press also returns the state
//!   of its target ([`OutcomeRequest`]).
//!
//! Such an answer is about one element and valid for a short time, at most until the page reports
//! an event. The caller passes it on in a ticket.

use crate::agent::{AimAnswer, ArrivalAnswer};
use crate::capture::Columns;
use crate::read::guard;
use crate::read::page::{DocumentElement, Page, corrupt};
use crate::read::walk_cache;
use crate::read::walk_cache::{PageWalk, WalkRequest};
use crate::tab::{NONE, PendingRequest, Tab, TabError, World, expression};
use serde::de::IgnoredAny;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{LocatedElement, Result, Ticket};
use stickpin_tree::Handle;

/// The maximum number of nodes in a page that is walked faster than the browser reports the page's
/// style and layout counts.
const MAX_SMALL_PAGE_NODES: usize = 250;

/// The time for which an answer is valid for the next request. A change that causes no event in
/// this time could just as well happen while an answer is in flight.
const ANSWER_VALIDITY: Duration = Duration::from_millis(50);

/// The time in which a press may follow its announcement. The script watches for longer.
const PRESS_TIMEOUT: Duration = Duration::from_secs(1);

/// The time after an input in which the capture that it requested counts as the state of the
/// target.
const OUTCOME_VALIDITY: Duration = Duration::from_millis(20);

/// An answer that is valid only for a moment.
#[derive(Debug)]
pub(crate) struct FreshAnswer<T> {
    /// The tab's activity counter when the answer arrived.
    activity: u64,
    at: Instant,
    answer: T,
}

impl<T> FreshAnswer<T> {
    pub(crate) fn from_now(page: &Page, answer: T) -> Result<Self> {
        Ok(Self { activity: page.tab.read(|tab| tab.activity)?, at: Instant::now(), answer })
    }

    /// Returns the answer, unless an event has been reported or too much time has passed since the
    /// answer arrived.
    pub(crate) fn if_fresh(self, page: &Page) -> Result<Option<T>> {
        let same = page.tab.read(|tab| tab.activity == self.activity)?;
        Ok((same && self.at.elapsed() < ANSWER_VALIDITY).then_some(self.answer))
    }
}

/// The point to aim at in an element, as reported when the element was located.
#[derive(Debug)]
pub(crate) struct PrefetchedAim {
    pub(crate) handle: Handle,
    pub(crate) aimed: FreshAnswer<AimAnswer>,
}

impl PrefetchedAim {
    pub(crate) fn ticket(handle: Handle, aimed: Option<FreshAnswer<AimAnswer>>) -> Ticket {
        Ticket::from_option(aimed.map(|aimed| Self { handle, aimed }))
    }
}

/// The answers that came with the pointer's arrival at an element.
#[derive(Debug, Default)]
pub(crate) struct PointerArrival {
    /// The page at the moment of arrival.
    pub(crate) seen: Option<FreshAnswer<PageWalk>>,
    pub(crate) press: Option<AnnouncedPress>,
}

/// A press for which the document watches. Dropping this value ends the watch, so that no other
/// input is stopped.
#[derive(Debug)]
pub struct AnnouncedPress {
    target: Handle,
    world: World,
    at: Instant,
    /// The tab; `None` once the press follows.
    tab: Option<Tab>,
}

impl AnnouncedPress {
    /// Returns the only document of the tab, if it has watched for a press on this element since
    /// the pointer arrived.
    pub(crate) async fn world(
        mut self,
        page: &Page,
        target: Option<Handle>,
    ) -> Result<Option<World>, TabError> {
        let same = target == Some(self.target)
            && self.at.elapsed() < PRESS_TIMEOUT
            && self.tab.as_ref().is_some_and(|tab| tab.session == page.tab.session)
            && only_world(page).await?.as_ref() == Some(&self.world);
        if !same {
            return Ok(None);
        }
        self.tab = None;
        Ok(Some(self.world.clone()))
    }
}

impl Drop for AnnouncedPress {
    fn drop(&mut self) {
        if let (Some(tab), Ok(end)) = (self.tab.take(), expression("clickVerdict", NONE)) {
            // A document that cannot answer now ends its watch by itself.
            drop(tab.send_request(&self.world, end));
        }
    }
}

/// A request about the target of a press, sent as soon as the press has arrived.
#[derive(Debug)]
pub(crate) struct OutcomeRequest {
    of: Handle,
    world: World,
    reply: PendingRequest,
    /// Whether the answer is a capture; otherwise, its arrival indicates that a capture is
    /// worthwhile.
    is_capture: bool,
}

/// Returns the document of the tab, if it is the only one.
async fn only_world(page: &Page) -> Result<Option<World>, TabError> {
    let mut worlds = page.tab.worlds().await?;
    Ok(worlds.pop().filter(|_| worlds.is_empty()))
}

/// Returns the only document of the tab, if walking it is faster than proving it unchanged.
async fn small_world(page: &Page) -> Result<Option<World>, TabError> {
    if !(1..=MAX_SMALL_PAGE_NODES).contains(&page.node_count) {
        return Ok(None);
    }
    only_world(page).await
}

/// Locates an element in a small page. The outer `None` means that the page is not small or that
/// its document is not the element's; the inner one means that there is no such element.
pub(crate) async fn locate_in_small_page(
    page: &mut Page,
    handle: Handle,
    context: &[Handle],
) -> Result<Option<Option<LocatedElement>>, TabError> {
    let Some(world) = small_world(page).await?.filter(|world| world.scope == handle.scope) else {
        return Ok(None);
    };
    let wanted = WalkRequest { watch: context, target: Some(handle), strict: false };
    let guard = page.guards.copy(handle);
    let found: Option<(String, Option<AimAnswer>)> =
        page.tab.call(&world, "find", (handle.id, wanted.ranges(&world), guard)).await?;
    let Some((columns, aimed)) = found else { return Ok(Some(None)) };
    let aimed = aimed.map(|aimed| FreshAnswer::from_now(page, aimed)).transpose()?;
    let walked = walk_single_document(page, &world, &columns, wanted).await?;
    Ok(Some(walked.located(handle, PrefetchedAim::ticket(handle, aimed))))
}

/// Builds the walk of the tab's only document from an answer that was requested separately.
async fn walk_single_document(
    page: &mut Page,
    world: &World,
    columns: &str,
    walk_request: WalkRequest<'_>,
) -> Result<PageWalk, TabError> {
    let columns = Columns::parse(columns).map_err(corrupt)?;
    let columns = walk_cache::complete(page, world, columns, walk_request).await?;
    walk_cache::assemble_walk(page, vec![(world, columns)], walk_request).await
}

/// Moves the pointer to a point of the tab's own document and hit-tests as soon as the page has
/// reacted. In a small page, `context` requests that the element be located again; with `press`,
/// the document also watches for the press.
pub(crate) async fn move_and_hit_test(
    page: &mut Page,
    at: &DocumentElement,
    point: (f64, f64),
    count: i64,
    context: Option<&[Handle]>,
    press: bool,
) -> Result<(ArrivalAnswer, PointerArrival)> {
    let DocumentElement { world, id } = at;
    let handle = Handle { scope: world.scope, id: *id };
    page.tab.move_pointer(point).await?;
    let guard = page.guards.copy(handle);
    let small = small_world(page).await?.as_ref() == Some(world);
    let Some(context) = context.filter(|_| small) else {
        let (hit, rect) = page.tab.call(world, "arrived", (id, point.0, point.1, count, guard)).await?;
        guard::guard_outer_documents(page, handle).await?;
        return Ok((ArrivalAnswer { hit, rect, look: None, armed: false }, PointerArrival::default()));
    };
    let wanted = WalkRequest { watch: context, target: Some(handle), strict: false };
    page.tab.write(|tab| tab.verdict = None)?;
    let question = (id, point.0, point.1, count, press, wanted.ranges(world), guard);
    let mut arrival: ArrivalAnswer = page.tab.call(world, "arrivedLook", question).await?;
    let mut arrived = PointerArrival::default();
    if arrival.armed {
        let (world, watching) = (world.clone(), Some(page.tab.clone()));
        arrived.press = Some(AnnouncedPress { target: handle, world, at: Instant::now(), tab: watching });
    }
    if let Some(columns) = arrival.look.take() {
        let FreshAnswer { activity, at, .. } = FreshAnswer::from_now(page, ())?;
        let answer = walk_single_document(page, world, &columns, wanted).await?;
        arrived.seen = Some(FreshAnswer { activity, at, answer });
    }
    Ok((arrival, arrived))
}

/// Requests the state of the target after a press has arrived in this document, and ends the watch
/// for the press. `None` if the target must be located the usual way.
pub(crate) fn request_outcome(
    page: &Page,
    target: Option<Handle>,
    world: &World,
) -> Result<Option<OutcomeRequest>, TabError> {
    let Some(of) = target.filter(|of| of.scope == world.scope && page.node_count <= MAX_SMALL_PAGE_NODES)
    else {
        return Ok(None);
    };
    let reply = page.tab.send_request(world, expression("pressed", (of.id, [of.id, of.id]))?)?;
    Ok(Some(OutcomeRequest { of, world: world.clone(), reply, is_capture: true }))
}

/// Asks a target's document to report when the document has done what it deferred at a press. The
/// target is then located.
pub(crate) fn request_outcome_report(
    page: &Page,
    target: Option<Handle>,
    worlds: &[World],
) -> Option<OutcomeRequest> {
    let handle = target?;
    let world = worlds.iter().find(|world| world.scope == handle.scope)?;
    let sent = expression("answered", NONE).map(|question| page.tab.send_request(world, question));
    // If the document cannot answer now, the target is located directly.
    let Ok(Ok(asked)) = sent else { return None };
    Some(OutcomeRequest { of: handle, world: world.clone(), reply: asked, is_capture: false })
}

/// Returns the target in the state that it had when its press arrived, if that state was requested
/// a moment ago and no change has been reported since then.
pub(crate) async fn read_outcome(
    page: &mut Page,
    handle: Handle,
    after: OutcomeRequest,
) -> Result<Option<LocatedElement>, TabError> {
    let OutcomeRequest { of, world, reply: asked, is_capture: look } = after;
    if of != handle {
        return Ok(None);
    }
    if !look {
        page.tab.receive_answer::<IgnoredAny>(asked).await?;
        return Ok(None);
    }
    if page.last_input.is_none_or(|input_at| input_at.elapsed() > OUTCOME_VALIDITY)
        || page.tab.read(|tab| tab.is_leaving(Some(handle.scope)))?
    {
        return Ok(None);
    }
    let Some(columns) = page.tab.receive_answer::<Option<String>>(asked).await? else { return Ok(None) };
    if page.tab.world(handle.scope)?.as_ref() != Some(&world) {
        return Ok(None);
    }
    let wanted = WalkRequest { watch: &[], target: Some(handle), strict: false };
    let walked = walk_single_document(page, &world, &columns, wanted).await?;
    let outdated = page.tab.read(|tab| walked.is_outdated(tab))?;
    Ok(walked.located(handle, Ticket::default()).filter(|_| !outdated))
}

impl PageWalk {
    /// Returns an element of this walk. A hidden but connected element counts as absent; the next
    /// capture reports it.
    pub(crate) fn located(&self, handle: Handle, ticket: Ticket) -> Option<LocatedElement> {
        let mut located = LocatedElement::new(Arc::clone(self.tree()), self.find(handle)?);
        located.ticket = ticket;
        Some(located)
    }
}
