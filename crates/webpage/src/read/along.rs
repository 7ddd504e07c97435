//! What the questions of one act share: where one question can answer the next ones too, it is asked for all of them, and
//! the answers are kept for who asks next.
//!
//! An act looks at its target, aims, lets the pointer arrive, looks again and presses, and looks once more. Each of these
//! is a wait for the browser, of which the page's own work is the least. On a page that is one document the first look
//! brings along where the element would be aimed at; the question what the pointer's arrival did brings along the second
//! look, of the same moment, and watches for the press; and a page that is walked faster than it is asked whether it
//! changed is walked. Every answer that is kept is of one element, and good until anything is told of the page.

use crate::agent::{Aimed, Arrival, Look};
use crate::capture::Columns;
use crate::read::guard;
use crate::read::guard::Guard;
use crate::read::page::{Page, Place, corrupt};
use crate::read::unchanged;
use crate::read::unchanged::{Walked, Wanted};
use crate::tab::NONE;
use crate::tab::{Asked, Fault, World, expression};
use serde::de::IgnoredAny;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{Located, Result};
use stickpin_tree::Handle;

/// Nodes of a page that is walked sooner than the browser answers for its counts of style and layout.
const SMALL: usize = 250;

/// How long an answer is good for who asks next: what comes about without a word in this time may as well come about
/// while an answer is on its way.
const NEXT: Duration = Duration::from_millis(50);

/// How long a press may follow its announcement. The script watches for longer.
const FOLLOWS: Duration = Duration::from_secs(1);

/// How long after an act a look of that moment tells what became of its target.
const FRESH: Duration = Duration::from_millis(20);

/// Answers that came along with others.
#[derive(Debug, Default)]
pub(crate) struct Along {
    /// Nodes of the last walk.
    pub(crate) extent: usize,
    /// What else was asked about with the element that was located last.
    context: Vec<Handle>,
    aimed: Option<Kept<Aimed>>,
    look: Option<Kept<Seen>>,
    press: Option<Announced>,
    after: Option<After>,
    /// What must hold what it held until the input of the act is delivered: of one target, or of the two ends of a drag.
    pub(crate) guards: Vec<Guard>,
}

/// An answer about an element.
#[derive(Debug)]
struct Kept<T> {
    of: Handle,
    /// How much had happened in the tab by then.
    activity: u64,
    at: Instant,
    answer: T,
}

/// What a look saw.
#[derive(Debug)]
pub(crate) enum Seen {
    /// The page.
    Tree(Walked),
    /// Whether it is as it was walked, as `unchanged` and `uncollected` of the script say.
    Check((bool, bool)),
}

/// A press that the document watches for.
#[derive(Debug)]
struct Announced {
    on: Handle,
    world: World,
    at: Instant,
}

/// What was asked about the target of a press when the press had arrived.
#[derive(Debug)]
struct After {
    at: Handle,
    world: World,
    asked: Asked,
    /// It brings a look along; else it says when one is worth while.
    look: bool,
}

/// The document of the tab, where there is no other in it.
async fn only_world(page: &Page) -> Result<Option<World>, Fault> {
    let mut worlds = page.tab.worlds().await?;
    Ok(worlds.pop().filter(|_| worlds.is_empty()))
}

/// The same, where it is walked sooner than proven to be as it was.
async fn small_world(page: &Page) -> Result<Option<World>, Fault> {
    if !(1..=SMALL).contains(&page.along.extent) {
        return Ok(None);
    }
    only_world(page).await
}

fn keep<T>(page: &Page, of: Handle, answer: T) -> Result<Option<Kept<T>>, Fault> {
    let activity = page.tab.read(|tab| tab.activity)?;
    Ok(Some(Kept { of, activity, at: Instant::now(), answer }))
}

/// An answer that was kept about an element a moment ago, unless anything was told since.
fn still<T>(page: &Page, kept: Option<Kept<T>>, of: Handle) -> Result<Option<T>> {
    let Some(kept) = kept.filter(|kept| kept.of == of && kept.at.elapsed() < NEXT) else {
        return Ok(None);
    };
    Ok(page.tab.read(|tab| tab.activity == kept.activity)?.then_some(kept.answer))
}

/// An input goes out: what is known of the page is of the time before it.
pub fn input_follows(page: &mut Page) {
    (page.along.aimed, page.along.look, page.along.after) = (None, None, None);
}

/// Notes where an element would be aimed at.
pub(crate) fn keep_aim(page: &mut Page, of: Handle, aimed: Option<Aimed>) -> Result<(), Fault> {
    page.along.aimed = match aimed {
        Some(aimed) => keep(page, of, aimed)?,
        None => None,
    };
    Ok(())
}

/// Where an element would be aimed at, if the last look brought that along.
pub(crate) fn take_aim(page: &mut Page, of: Handle) -> Result<Option<Aimed>> {
    let kept = page.along.aimed.take();
    still(page, kept, of)
}

/// What the arrival of the pointer brought along of a look at an element. Notes what else is asked about.
pub(crate) fn take_look(page: &mut Page, of: Handle, context: &[Handle]) -> Result<Option<Seen>> {
    page.along.aimed = None;
    page.along.context = context.to_vec();
    let kept = page.along.look.take();
    still(page, kept, of)
}

/// Looks for an element in a page that is walked sooner than asked anything; none where that is not so. The answer
/// may be that there is no such element.
pub(crate) async fn find_in_small(
    page: &mut Page,
    handle: Handle,
    context: &[Handle],
) -> Result<Option<Option<Located>>, Fault> {
    let Some(world) = small_world(page).await?.filter(|world| world.scope == handle.scope) else {
        return Ok(None);
    };
    let wanted = Wanted { watch: context, only: Some(handle), patient: false };
    let guard = page.along.copy_guard(handle);
    let found: Option<(String, Option<Aimed>)> =
        page.tab.call(&world, "find", (handle.id, wanted.ranges(&world), guard)).await?;
    let Some((columns, aimed)) = found else { return Ok(Some(None)) };
    keep_aim(page, handle, aimed)?;
    let walked = walked_alone(page, &world, &columns, wanted).await?;
    Ok(Some(walked.located(handle)))
}

/// What the only document of the tab answered to a walk that was asked for by itself.
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

/// Moves the pointer to a point of the tab's own document, and asks what is there when the page has answered. Brings
/// along a second look at the element; with `press`, the document watches for it.
pub(crate) async fn pointer_to(
    page: &mut Page,
    at: &Place,
    point: (f64, f64),
    count: i64,
    press: bool,
) -> Result<Arrival> {
    let Place { world, id } = at;
    let handle = Handle { scope: world.scope, id: *id };
    page.tab.move_pointer(point).await?;
    let guard = page.along.copy_guard(handle);
    if only_world(page).await?.as_ref() != Some(world) {
        let (hit, rect) = page.tab.call(world, "arrived", (id, point.0, point.1, count, guard)).await?;
        guard::guard_around(page, handle).await?;
        return Ok(Arrival { hit, rect, look: None, armed: false });
    }
    let context = std::mem::take(&mut page.along.context);
    let wanted = Wanted { watch: &context, only: Some(handle), patient: false };
    let seal = if page.along.extent <= SMALL { None } else { unchanged::seal_of(page, world) };
    let question = match seal {
        Some(seal) => expression("arrivedLook", (id, point.0, point.1, count, press, seal, guard))?,
        None => {
            let ranges = wanted.ranges(world);
            expression("arrivedLook", (id, point.0, point.1, count, press, ranges, guard))?
        }
    };
    page.tab.write(|tab| tab.verdict = None)?;
    let mut arrival: Arrival = page.tab.evaluate(world, question).await?;
    if arrival.armed {
        page.along.press = Some(Announced { on: handle, world: world.clone(), at: Instant::now() });
    }
    if let Some(look) = arrival.look.take() {
        let kept = keep(page, handle, ())?;
        let answer = match look {
            Look::Columns(columns) => Seen::Tree(walked_alone(page, world, &columns, wanted).await?),
            Look::Check(same, uncollected) => Seen::Check((same, uncollected)),
        };
        page.along.look = kept.map(|Kept { of, activity, at, .. }| Kept { of, activity, at, answer });
    }
    page.along.context = context;
    Ok(arrival)
}

/// The only document of the tab, if it watches for a press on this element since the pointer arrived there.
pub(crate) async fn announced(page: &mut Page, target: Option<Handle>) -> Result<Option<World>, Fault> {
    let Some(press) = page.along.press.take() else { return Ok(None) };
    let same = target == Some(press.on)
        && press.at.elapsed() < FOLLOWS
        && only_world(page).await?.as_ref() == Some(&press.world);
    if !same {
        unannounce(page, &press);
        return Ok(None);
    }
    Ok(Some(press.world))
}

/// Whoever announced a press looks again instead: nothing is to be stopped meanwhile.
pub fn no_press(page: &mut Page) {
    if let Some(press) = page.along.press.take() {
        unannounce(page, &press);
    }
}

fn unannounce(page: &Page, press: &Announced) {
    if let Ok(end) = expression("clickVerdict", NONE) {
        // A document that cannot be asked now ends the watch by itself.
        drop(page.tab.begin(&press.world, end));
    }
}

/// Asks what became of the target of a press that has arrived in this document, which also ends the watch for it.
/// False where that is asked the usual way.
pub(crate) fn ask_after(page: &mut Page, target: Option<Handle>, world: &World) -> Result<bool, Fault> {
    let Some(at) = target.filter(|at| at.scope == world.scope && page.along.extent <= SMALL) else {
        return Ok(false);
    };
    let asked = page.tab.begin(world, expression("pressed", (at.id, [at.id, at.id]))?)?;
    page.along.after = Some(After { at, world: world.clone(), asked, look: true });
    Ok(true)
}

/// Asks the document of a target to say when it has done what it put off at a press: what became of the target is
/// looked at then.
pub(crate) fn ask_when_answered(page: &mut Page, target: Option<Handle>, worlds: &[World]) {
    let own = target.and_then(|at| Some((at, worlds.iter().find(|world| world.scope == at.scope)?)));
    let Some((at, world)) = own else { return };
    let asked = expression("answered", NONE).map(|question| page.tab.begin(world, question));
    // A document that cannot be asked now is looked at without.
    if let Ok(Ok(asked)) = asked {
        page.along.after = Some(After { at, world: world.clone(), asked, look: false });
    }
}

/// The target as it was when its press had arrived, if that was asked and nothing was told since.
pub(crate) async fn seen_after(page: &mut Page, handle: Handle) -> Result<Option<Located>, Fault> {
    let Some(After { world, asked, look, .. }) = page.along.after.take().filter(|after| after.at == handle)
    else {
        return Ok(None);
    };
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
    Ok(walked.located(handle).filter(|_| !outdated))
}

impl Walked {
    /// An element in it. One that is connected, but hidden, is not: the next capture says so.
    pub(crate) fn located(&self, handle: Handle) -> Option<Located> {
        Some(Located { tree: Arc::clone(self.tree()), node: self.find(handle)? })
    }
}
