//! Requests of one act that are sent together.
//!
//! An act locates its target, aims, waits for the pointer to arrive, locates again, presses, and
//! locates once more. Each step waits for the browser, and the page's own work is the smallest
//! part.
//!
//! - In a page of one document, the first look also returns where to aim ([`Glimpse`]).
//! - A small page is walked sooner than the browser can prove that nothing changed. There, the
//!   request about the pointer's arrival also returns the second look, taken at the same moment,
//!   and watches for the press ([`Announced`]). The press also returns the state of its target
//!   ([`After`]).
//!
//! Such an answer is about one element and valid until the page reports any event. The caller
//! passes it on in a ticket.

use crate::agent::{Aimed, Arrival};
use crate::capture::Columns;
use crate::read::guard;
use crate::read::page::{Page, Place, corrupt};
use crate::read::unchanged;
use crate::read::unchanged::{Walked, Wanted};
use crate::tab::{Asked, Fault, NONE, Tab, World, expression};
use serde::de::IgnoredAny;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{Located, Result, Ticket};
use stickpin_tree::Handle;

/// The most nodes of a page that is walked sooner than the browser reports its style and layout
/// counts.
const SMALL: usize = 250;

/// The time for which an answer is valid for the next request. A change that causes no event in
/// this time could just as well happen while an answer is in flight.
const NEXT: Duration = Duration::from_millis(50);

/// The time in which a press may follow its announcement. The script watches for longer.
const FOLLOWS: Duration = Duration::from_secs(1);

/// The time after an act in which a look from that moment shows the state of its target.
const FRESH: Duration = Duration::from_millis(20);

/// An answer that is valid only for a moment.
#[derive(Debug)]
pub(crate) struct Momentary<T> {
    /// The tab's activity counter at that moment.
    activity: u64,
    at: Instant,
    answer: T,
}

impl<T> Momentary<T> {
    pub(crate) fn now(page: &Page, answer: T) -> Result<Self> {
        Ok(Self { activity: page.tab.read(|tab| tab.activity)?, at: Instant::now(), answer })
    }

    /// The answer, unless an event was reported since or too much time passed.
    pub(crate) fn still(self, page: &Page) -> Result<Option<T>> {
        let same = page.tab.read(|tab| tab.activity == self.activity)?;
        Ok((same && self.at.elapsed() < NEXT).then_some(self.answer))
    }
}

/// The point to aim at in an element, as reported by the look at it.
#[derive(Debug)]
pub(crate) struct Glimpse {
    pub(crate) of: Handle,
    pub(crate) aimed: Momentary<Aimed>,
}

impl Glimpse {
    pub(crate) fn of(of: Handle, aimed: Option<Momentary<Aimed>>) -> Ticket {
        Ticket::of(aimed.map(|aimed| Self { of, aimed }))
    }
}

/// The answers that came with the pointer's arrival at an element.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    /// The page at that moment.
    pub(crate) seen: Option<Momentary<Walked>>,
    pub(crate) press: Option<Announced>,
}

/// A press for which the document watches. Dropping this ends the watch, so that no other input is
/// stopped.
#[derive(Debug)]
pub struct Announced {
    on: Handle,
    world: World,
    at: Instant,
    /// The tab; `None` once the press follows.
    watching: Option<Tab>,
}

impl Announced {
    /// Returns the only document of the tab, if it has watched for a press on this element since
    /// the pointer arrived.
    pub(crate) async fn world(mut self, page: &Page, target: Option<Handle>) -> Result<Option<World>, Fault> {
        let same = target == Some(self.on)
            && self.at.elapsed() < FOLLOWS
            && self.watching.as_ref().is_some_and(|tab| tab.session == page.tab.session)
            && only_world(page).await?.as_ref() == Some(&self.world);
        if !same {
            return Ok(None);
        }
        self.watching = None;
        Ok(Some(self.world.clone()))
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        if let (Some(tab), Ok(end)) = (self.watching.take(), expression("clickVerdict", NONE)) {
            // A document that cannot be asked now ends its watch by itself.
            drop(tab.begin(&self.world, end));
        }
    }
}

/// A request about the target of a press, sent when the press had arrived.
#[derive(Debug)]
pub(crate) struct After {
    of: Handle,
    world: World,
    asked: Asked,
    /// Whether the answer is a look; otherwise it says when a look is worthwhile.
    look: bool,
}

/// The document of the tab, if it is the only one.
async fn only_world(page: &Page) -> Result<Option<World>, Fault> {
    let mut worlds = page.tab.worlds().await?;
    Ok(worlds.pop().filter(|_| worlds.is_empty()))
}

/// The only document of the tab, if walking it is faster than proving it unchanged.
async fn small_world(page: &Page) -> Result<Option<World>, Fault> {
    if !(1..=SMALL).contains(&page.extent) {
        return Ok(None);
    }
    only_world(page).await
}

/// Locates an element in a small page. The outer `None` means that the page is not small, the inner
/// one that there is no such element.
pub(crate) async fn find_in_small(
    page: &mut Page,
    handle: Handle,
    context: &[Handle],
) -> Result<Option<Option<Located>>, Fault> {
    let Some(world) = small_world(page).await?.filter(|world| world.scope == handle.scope) else {
        return Ok(None);
    };
    let wanted = Wanted { watch: context, only: Some(handle), patient: false };
    let guard = page.guards.copy(handle);
    let found: Option<(String, Option<Aimed>)> =
        page.tab.call(&world, "find", (handle.id, wanted.ranges(&world), guard)).await?;
    let Some((columns, aimed)) = found else { return Ok(Some(None)) };
    let aimed = aimed.map(|aimed| Momentary::now(page, aimed)).transpose()?;
    let walked = walked_alone(page, &world, &columns, wanted).await?;
    Ok(Some(walked.located(handle, Glimpse::of(handle, aimed))))
}

/// Builds the walk of the tab's only document from a separate answer.
async fn walked_alone(
    page: &mut Page,
    world: &World,
    columns: &str,
    wanted: Wanted<'_>,
) -> Result<Walked, Fault> {
    let columns = Columns::parse(columns).map_err(corrupt)?;
    let columns = unchanged::complete(page, world, columns, wanted).await?;
    unchanged::put_together(page, vec![(world, columns)], wanted).await
}

/// Moves the pointer to a point of the tab's own document and hit-tests once the page has reacted.
/// In a small page, `context` requests a second look at the element; with `press`, the document
/// also watches for the press.
pub(crate) async fn pointer_to(
    page: &mut Page,
    at: &Place,
    point: (f64, f64),
    count: i64,
    context: Option<&[Handle]>,
    press: bool,
) -> Result<(Arrival, Arrived)> {
    let Place { world, id } = at;
    let handle = Handle { scope: world.scope, id: *id };
    page.tab.move_pointer(point).await?;
    let guard = page.guards.copy(handle);
    let small = small_world(page).await?.as_ref() == Some(world);
    let Some(context) = context.filter(|_| small) else {
        let (hit, rect) = page.tab.call(world, "arrived", (id, point.0, point.1, count, guard)).await?;
        guard::guard_around(page, handle).await?;
        return Ok((Arrival { hit, rect, look: None, armed: false }, Arrived::default()));
    };
    let wanted = Wanted { watch: context, only: Some(handle), patient: false };
    page.tab.write(|tab| tab.verdict = None)?;
    let question = (id, point.0, point.1, count, press, wanted.ranges(world), guard);
    let mut arrival: Arrival = page.tab.call(world, "arrivedLook", question).await?;
    let mut arrived = Arrived::default();
    if arrival.armed {
        let (world, watching) = (world.clone(), Some(page.tab.clone()));
        arrived.press = Some(Announced { on: handle, world, at: Instant::now(), watching });
    }
    if let Some(columns) = arrival.look.take() {
        let Momentary { activity, at, .. } = Momentary::now(page, ())?;
        let answer = walked_alone(page, world, &columns, wanted).await?;
        arrived.seen = Some(Momentary { activity, at, answer });
    }
    Ok((arrival, arrived))
}

/// Requests the state of the target after a press arrived in this document, and ends the watch for
/// the press. `None` if the target must be located the usual way.
pub(crate) fn ask_after(page: &Page, target: Option<Handle>, world: &World) -> Result<Option<After>, Fault> {
    let Some(of) = target.filter(|of| of.scope == world.scope && page.extent <= SMALL) else {
        return Ok(None);
    };
    let asked = page.tab.begin(world, expression("pressed", (of.id, [of.id, of.id]))?)?;
    Ok(Some(After { of, world: world.clone(), asked, look: true }))
}

/// Asks the document of a target to report when it has done what it deferred at a press. The target
/// is located then.
pub(crate) fn ask_when_answered(page: &Page, target: Option<Handle>, worlds: &[World]) -> Option<After> {
    let of = target?;
    let world = worlds.iter().find(|world| world.scope == of.scope)?;
    let asked = expression("answered", NONE).map(|question| page.tab.begin(world, question));
    // A document that cannot be asked now is looked at directly.
    let Ok(Ok(asked)) = asked else { return None };
    Some(After { of, world: world.clone(), asked, look: false })
}

/// The target as it was when its press had arrived, if that was requested and no event was reported
/// since.
pub(crate) async fn seen_after(
    page: &mut Page,
    handle: Handle,
    after: After,
) -> Result<Option<Located>, Fault> {
    let After { of, world, asked, look } = after;
    if of != handle {
        return Ok(None);
    }
    if !look {
        page.tab.finish::<IgnoredAny>(asked).await?;
        return Ok(None);
    }
    if page.acted.is_none_or(|acted| acted.elapsed() > FRESH)
        || page.tab.read(|tab| tab.leaves(Some(handle.scope)))?
    {
        return Ok(None);
    }
    let Some(columns) = page.tab.finish::<Option<String>>(asked).await? else { return Ok(None) };
    if page.tab.world(handle.scope)?.as_ref() != Some(&world) {
        return Ok(None);
    }
    let wanted = Wanted { watch: &[], only: Some(handle), patient: false };
    let walked = walked_alone(page, &world, &columns, wanted).await?;
    let outdated = page.tab.read(|tab| walked.is_outdated(tab))?;
    Ok(walked.located(handle, Ticket::default()).filter(|_| !outdated))
}

impl Walked {
    /// Returns an element of this walk. A hidden but connected element counts as absent; the next
    /// capture reports it.
    pub(crate) fn located(&self, handle: Handle, ticket: Ticket) -> Option<Located> {
        let mut located = Located::new(Arc::clone(self.tree()), self.find(handle)?);
        located.ticket = ticket;
        Some(located)
    }
}
