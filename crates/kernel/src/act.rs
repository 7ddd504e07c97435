//! The way from a target to an input on it: resolve, locate and judge, aim, look again, guard, perform, look after.
//!
//! Nothing here trusts an old tree: the element is asked for by identity, judged by its record, aimed at where it is
//! now, and judged again after the pointer has arrived, because a pointer that arrives may move things.

pub(crate) mod choice;
pub(crate) mod context_guard;
pub(crate) mod fields;
pub(crate) mod fill;
pub(crate) mod focus;
pub(crate) mod input;
pub(crate) mod outcome;
pub(crate) mod points;

pub(crate) use input::{Input, went_away};

use crate::api::target::{RefTarget, Target};
use crate::command::args::How;
use crate::command::context::Cx;
use crate::observe::capture;
use crate::observe::resolve;
use crate::observe::resolve::Found;
use crate::recording;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{Aim, AimOptions, Error, ErrorCode, Hit, Located, Result, SettleRequest};
use stickpin_session::Origin;
use stickpin_tree::{Clause, Handle, IdentityGrade, NodeId, NodeRef, States, Tree, Verdict, quote};
use tokio::time::Instant;

/// How long a guard may hold before it is answered: an app that is just redrawing gets that much.
const PATIENCE: Duration = Duration::from_millis(250);

/// How long to wait for a change before a guard is looked at again.
const RECHECK: Duration = Duration::from_millis(40);

/// How long a press that was stopped waits for what moved to come to rest.
const REST: SettleRequest =
    SettleRequest { quiet: Duration::from_millis(100), cap: Duration::from_millis(500) };

/// How often the app may be captured anew because the element went away between two questions.
pub(crate) const TRIES: usize = 3;

/// What an action needs of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The pointer stands on it and would hit it: hovers, drags.
    Pointer,
    /// As `Pointer`, or whatever the device does a plain press by would hit it.
    Press { plain: bool },
    /// It is in view and could be hit: fill, select.
    View,
    /// Only that it is there and enabled.
    There,
}

/// A target that may be acted on now.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    /// The element; `None` for a bare point that hits nothing known.
    pub(crate) found: Option<Found>,
    /// How to name it to the device.
    pub(crate) handle: Option<Handle>,
    /// Where to act, in pixels of the viewport.
    pub(crate) point: (f64, f64),
    /// Whether the input is sent although something else is there (`--force`).
    pub(crate) forced: bool,
    /// It before the act.
    pub(crate) before: Option<Reading>,
    /// It right behind the act, where that was asked in the same go.
    pub(crate) behind: Option<Located>,
    /// It when the pointer had arrived, where that was looked at: it may have turned by that alone.
    pub(crate) now: Option<Reading>,
    /// Whether a press on it does something, as far as the device can tell.
    pub(crate) actionable: bool,
    /// Whether its content is secret.
    pub(crate) protected: bool,
    /// It in words.
    pub(crate) words: String,
    /// The tree that it was judged in last.
    pub(crate) tree: Option<Arc<Tree>>,
}

impl Ready {
    /// What is known of it last.
    pub(crate) fn reading(&self) -> Option<&Reading> {
        self.now.as_ref().or(self.before.as_ref())
    }

    /// The element that a press must reach; `None` where it goes to whatever is there.
    pub(crate) fn receiver(&self) -> Option<Handle> {
        self.handle.filter(|_| !self.forced)
    }

    /// The handle, for actions that need an element.
    ///
    /// # Errors
    /// `INVALID_ARGS` when the target was a point where nothing is.
    pub(crate) fn element(&self) -> Result<Handle> {
        self.handle.ok_or_else(|| {
            Error::new(ErrorCode::InvalidArgs, format!("there is no element at {}", self.words))
        })
    }
}

/// What of an element an act may change: read before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    name: String,
    /// What stands for the name where there is none.
    words: Option<Box<str>>,
    states: States,
    /// Whether it takes text.
    pub(crate) editable: bool,
    /// Whether it can be on or off.
    checkable: bool,
}

impl Reading {
    /// Whether it is neither on nor off.
    pub(crate) fn mixed(&self) -> bool {
        self.states.contains(States::MIXED)
    }

    pub(crate) fn of(node: NodeRef<'_>) -> Self {
        let shown = States::DISABLED
            | States::CHECKED
            | States::MIXED
            | States::EXPANDED
            | States::SELECTED
            | States::PRESSED
            | States::READONLY
            | States::REQUIRED
            | States::INVALID
            | States::BUSY;
        Self {
            name: node.name().to_owned(),
            words: stickpin_tree::words(node),
            states: node.states() & shown,
            editable: node.is(States::EDITABLE),
            checkable: node.states().intersects(States::CHECKABLE | States::PRESSABLE),
        }
    }

    /// Whether it is on; `None` where it can be neither. A mixed box is not on, and not off either.
    pub(crate) fn checked(&self) -> Option<bool> {
        let on = self.states.intersects(States::CHECKED | States::PRESSED);
        self.checkable.then(|| on && !self.states.contains(States::MIXED))
    }
}

/// An element as it is now.
struct Place {
    handle: Handle,
    tree: Arc<Tree>,
    node: NodeId,
}

/// Brings a target to where it can be acted on, or says why it cannot.
///
/// # Errors
/// `STALE_REF`, `REF_NOT_FOUND`, `ELEMENT_NOT_FOUND`, `AMBIGUOUS_MATCH` of the target; the guards
/// `ELEMENT_DISABLED`, `ELEMENT_COVERED`, `ELEMENT_OFFSCREEN`; what the device says.
pub(crate) async fn ready(cx: &mut Cx, target: &Target, reach: Reach, how: How) -> Result<Ready> {
    let until = Instant::now() + how.timeout.max(PATIENCE);
    let mut lost = 0;
    loop {
        let error = match attempt(cx, target, reach, how).await {
            // It went away after it was judged: a capture says what became of it, or that it was drawn anew.
            Err(e)
                if e.code == ErrorCode::ElementNotFound
                    && matches!(target, Target::Ref(_))
                    && lost < TRIES =>
            {
                lost += 1;
                look_again(cx, target, how).await?;
                continue;
            }
            Err(e) if may_pass(&e, how) && Instant::now() < until => e,
            result => return result,
        };
        tracing::debug!(%target, "waiting: {error}");
        let left = until.saturating_duration_since(Instant::now()).min(RECHECK);
        let cancel = cx.cancel.clone();
        cx.device()?.changed(left, &cancel).await?;
        cx.check()?;
    }
}

async fn attempt(cx: &mut Cx, target: &Target, reach: Reach, how: How) -> Result<Ready> {
    let found = match target {
        Target::Ref(r) if how.allow_changed => resolve::changed(cx, *r)?,
        Target::Ref(r) => resolve::present(cx, *r).await?,
        Target::Selector(s) => resolve::selector(cx, s).await?,
        Target::Point { x, y } => return points::pointed(cx, *x, *y, reach, how).await,
    };
    recording::witness(cx, target, &found, how).await?;
    let (mut found, mut place) = locate_judged(cx, target, found, how).await?;
    let before = Reading::of(place.tree.node(place.node));
    for _ in 0..TRIES {
        check_enabled(cx, &place, &found, how)?;
        let mut ready = Ready {
            handle: Some(place.handle),
            point: (0.0, 0.0),
            forced: false,
            before: Some(before.clone()),
            behind: None,
            now: None,
            actionable: place.tree.node(place.node).is(States::ACTIONABLE),
            protected: place.tree.node(place.node).is(States::PROTECTED),
            words: found.words(),
            found: None,
            tree: None,
        };
        if reach != Reach::There {
            let guarded = context_guard::guarded(cx, &place.tree, place.node)?;
            match aim(cx, place.handle, reach, &guarded).await {
                Ok(aim) => {
                    ready.point = aim.point;
                    if let Some(refusal) = aim.hit.refusal(&found.words()) {
                        ready.forced = insist(cx, refusal, &aim, &place, reach, how).await?;
                    }
                }
                // It went away after it was judged: gone, or rendered anew.
                Err(e) if e.code == ErrorCode::ElementNotFound => {
                    found = look_again(cx, target, how).await?;
                    (found, place) = locate_judged(cx, target, found, how).await?;
                    continue;
                }
                Err(e) => return Err(e),
            }
            // The arrival of the pointer, or the way into view, may have changed it or had it rendered anew (rows
            // that scrolling recycles): only what was judged and aimed at is acted on.
            (found, place) = locate_judged(cx, target, found, how).await?;
            check_enabled(cx, &place, &found, how)?;
            if ready.handle != Some(place.handle) {
                continue;
            }
            ready.now = Some(Reading::of(place.tree.node(place.node)));
        }
        ready.words = found.words();
        ready.found = Some(found);
        ready.tree = Some(place.tree);
        return Ok(ready);
    }
    Err(restless(&found))
}

/// The element of a target, judged; whether it can be used is not asked.
///
/// # Errors
/// Of resolving; `INVALID_ARGS` for a point.
pub(crate) async fn there(cx: &mut Cx, target: &Target, how: How) -> Result<Found> {
    let found = match target {
        Target::Ref(r) if how.allow_changed => resolve::changed(cx, *r)?,
        Target::Ref(r) => resolve::reference(cx, *r)?,
        Target::Selector(s) => resolve::selector(cx, s).await?,
        Target::Point { .. } => return Err(crate::observe::resolve::no_point(target)),
    };
    recording::witness(cx, target, &found, how).await?;
    Ok(locate_judged(cx, target, found, how).await?.0)
}

/// The target by a ref of its own: what comes later acts on this element or not at all, whatever else a selector
/// matches by then.
///
/// # Errors
/// As issuing.
pub(crate) fn hold(cx: &mut Cx, target: &Target, found: &Found) -> Result<Target> {
    let (Target::Selector(_), Some(node)) = (target, found.node) else { return Ok(target.clone()) };
    let held = capture::issue(cx, &[node])?.pop();
    let Some(held) = held.map(|r| RefTarget::from(stickpin_refs::RefToken::plain(r))) else {
        return Ok(target.clone());
    };
    // This command found it just now: what it does to other targets first is no reason to warn.
    cx.envelope.held.push(held.plain());
    if !cx.envelope.judged.contains(&held.plain()) {
        cx.envelope.judged.push(held.plain());
    }
    Ok(Target::Ref(held))
}

/// Two targets where both are now, without bringing either into view: what an aim at one of them did to the
/// other shows here.
///
/// # Errors
/// As [`ready`].
pub(crate) async fn both(
    cx: &mut Cx,
    first: &mut Ready,
    second: &mut Ready,
    of: (&Target, &Target),
    how: How,
) -> Result<()> {
    let (Some(a), Some(b)) = (first.found.clone(), second.found.clone()) else { return Ok(()) };
    for _ in 0..TRIES {
        let (a, there) = locate_judged(cx, of.0, a.clone(), how).await?;
        let (b, here) = locate_judged(cx, of.1, b.clone(), how).await?;
        let mut handle = there.handle;
        if cx.device()?.info().grade == IdentityGrade::None {
            // Addresses are those of the last capture; equal trees have their elements at equal places.
            match (*there.tree == *here.tree).then(|| here.tree.node(there.node).address()).flatten() {
                Some(address) => handle = address,
                None => continue,
            }
        }
        check_enabled(cx, &there, &a, how)?;
        check_enabled(cx, &here, &b, how)?;
        (first.handle, first.found) = (Some(handle), Some(a));
        (second.handle, second.found) = (Some(here.handle), Some(b));
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::ElementNotFound,
        format!("{} and {} move on again and again", a.words(), b.words()),
    )
    .hint("stickpin wait stable, then try again"))
}

/// Asks the device for the element and judges it. One that went away is looked for in a new capture.
async fn locate_judged(cx: &mut Cx, target: &Target, mut found: Found, how: How) -> Result<(Found, Place)> {
    for _ in 0..TRIES {
        cx.check()?;
        let Some(place) = locate(cx, &found).await? else {
            found = look_again(cx, target, how).await?;
            continue;
        };
        let (judged, heading) = judge(cx, &place, &found)?;
        match judged {
            Verdict::Same { reads_now } => {
                if let Some(name) = reads_now {
                    cx.warn(format!("It reads {} now.", quote(&name)));
                }
                if let Some(heading) = heading {
                    cx.warn(below(&heading));
                }
                if !how.allow_changed {
                    context_guard::compare(cx, &found, &place.tree, place.node)?;
                }
                return Ok((found, place));
            }
            Verdict::Changed(_) if how.allow_changed => {
                let meaning = capture::meaning(cx, &place.tree, place.node)?;
                cx.warn(format!("{target} is {meaning} now."));
                found.meaning = meaning;
                return Ok((found, place));
            }
            Verdict::Changed(clause) => {
                tracing::debug!(%target, "changed: {clause}");
                // The capture ends the ref, and says under which number the element goes on.
                let again = look_again(cx, target, how).await?;
                if matches!(target, Target::Ref(_)) && again.handle == found.handle {
                    return Err(changed_at_act(target, &found, clause));
                }
                found = again;
            }
        }
    }
    Err(restless(&found))
}

/// Whether it still is what was meant, and what became of a heading that is only told of.
fn judge(cx: &mut Cx, place: &Place, found: &Found) -> Result<(Verdict, Option<String>)> {
    let records = cx.live()?.session.records(&place.tree);
    let judged = records.judge(&found.meaning, place.node);
    let heading = judged.is_same().then(|| records.other_heading(&found.meaning, place.node));
    Ok((judged, heading.flatten()))
}

/// Captures, and resolves the target anew.
async fn look_again(cx: &mut Cx, target: &Target, how: How) -> Result<Found> {
    match target {
        Target::Ref(r) => {
            capture::look(cx, Origin::Look).await?;
            if how.allow_changed { resolve::changed(cx, *r) } else { resolve::again(cx, *r) }
        }
        Target::Selector(s) => resolve::selector(cx, s).await,
        Target::Point { .. } => Err(crate::observe::resolve::no_point(target)),
    }
}

/// The element by its handle; where the device has no handles, by a new capture that the session aligned.
async fn locate(cx: &mut Cx, found: &Found) -> Result<Option<Place>> {
    let live = cx.live()?;
    if let Some(dialog) = live.device.dialog() {
        return Err(crate::observe::capture::blocked(&dialog));
    }
    if live.device.info().grade == IdentityGrade::None {
        return locate_by_likeness(cx, found).await;
    }
    let Some(handle) = found.handle else { return Ok(None) };
    let located = live.device.locate(handle, &found.meaning.context_handles()).await?;
    Ok(located.map(|Located { tree, node }| Place { handle, tree, node }))
}

async fn locate_by_likeness(cx: &mut Cx, found: &Found) -> Result<Option<Place>> {
    let tree = capture::look(cx, Origin::Look).await?;
    let node = match found.r#ref {
        Some(r) => resolve::again(cx, r)?.node,
        None => {
            let records = cx.live()?.session.records(&tree);
            let mut alike = tree.nodes().filter(|n| records.judge(&found.meaning, n.id()).is_same());
            match (alike.next(), alike.next()) {
                (Some(n), None) => Some(n.id()),
                _ => None,
            }
        }
    };
    let address = node.and_then(|node| tree.node(node).address());
    Ok(node.zip(address).map(|(node, handle)| Place { handle, tree, node }))
}

/// The rule says that it changed, a whole capture says that it did not: then it may not be acted on either.
fn changed_at_act(target: &Target, found: &Found, clause: Clause) -> Error {
    Error::new(ErrorCode::StaleRef, format!("{target} was {}; it is not the same now, because {clause}", found.meaning))
        .hint("stickpin snapshot -i, or --allow-changed to act on it whatever it is")
        .details(serde_json::json!({ "ref": target.to_string(), "reason": "changed", "was": found.meaning.to_string(), "because": clause.reason() }))
}

/// Brings an element into view, with the pointer on it if asked. What is there is for the caller to judge.
///
/// # Errors
/// What the device says.
pub(crate) async fn aim(cx: &mut Cx, handle: Handle, reach: Reach, guarded: &[Handle]) -> Result<Aim> {
    let press = matches!(reach, Reach::Press { .. });
    let plain = reach == Reach::Press { plain: true };
    let pointer = press || reach == Reach::Pointer;
    let aim = cx.device()?.aim(handle, AimOptions { pointer, press, plain, guarded }).await;
    // Where it failed nobody knows how far it came.
    cx.envelope.pointed |= aim.as_ref().map_or(pointer, |aim| aim.pointed);
    aim
}

/// Goes on in spite of a refusal, where the caller insists and the input can be sent. Answers whether it goes to
/// whatever is there.
///
/// # Errors
/// The refusal, which names what the caller can do.
async fn insist(
    cx: &mut Cx,
    refusal: Error,
    aim: &Aim,
    place: &Place,
    reach: Reach,
    how: How,
) -> Result<bool> {
    let covered = aim.hit != Hit::OffScreen;
    // What needs no place is sent without one, and a place that is not in view for the device may be there for a press.
    let refusal = match covered || reach == Reach::View || is_at(cx, place, aim).await? {
        true if how.force => {
            cx.warn(format!("Forced: {refusal}."));
            return Ok(covered);
        }
        true if !covered => {
            let hint = format!("{}; --force acts on it where it is", refusal.hint);
            refusal.hint(hint)
        }
        _ => refusal,
    };
    Err(refusal)
}

/// Whether an element, or something inside it, is what is at the middle of its box.
async fn is_at(cx: &mut Cx, place: &Place, aim: &Aim) -> Result<bool> {
    if aim.rect.width <= 0.0 || aim.rect.height <= 0.0 {
        return Ok(false);
    }
    let top = cx.device()?.element_at(aim.point.0, aim.point.1).await?;
    let top = top.and_then(|handle| place.tree.find_address(handle));
    Ok(top.is_some_and(|top| place.tree.node(place.node).contains(top.id())))
}

/// Whether it can be used now, or is to be used all the same.
fn check_enabled(cx: &mut Cx, place: &Place, found: &Found, how: How) -> Result<()> {
    check_node_enabled(cx, place.tree.node(place.node), &found.words(), how)
}

/// The same for what was not found by a target of its own.
pub(crate) fn check_node_enabled(cx: &mut Cx, node: NodeRef<'_>, words: &str, how: How) -> Result<()> {
    if !node.is(States::DISABLED) {
        return Ok(());
    }
    let disabled = Error::new(ErrorCode::ElementDisabled, format!("{words} is disabled"));
    if how.force {
        cx.warn(format!("Forced: {disabled}."));
        return Ok(());
    }
    Err(disabled.hint("do first what enables it; --timeout MS waits for it, --force presses it all the same"))
}

/// That the heading above the row of an element became another.
fn below(heading: &str) -> String {
    match heading {
        "" => "The heading that was above it is gone.".to_owned(),
        heading => format!("The heading above it reads {} now.", quote(heading)),
    }
}

/// Whether waiting may help.
fn may_pass(e: &Error, how: How) -> bool {
    match e.code {
        ErrorCode::ElementDisabled | ErrorCode::ElementCovered | ErrorCode::ElementOffscreen => true,
        ErrorCode::ElementNotFound | ErrorCode::ReplayDivergence => !how.timeout.is_zero(),
        _ => false,
    }
}

/// It never stayed what was aimed at.
fn restless(found: &Found) -> Error {
    Error::new(
        ErrorCode::ElementNotFound,
        format!("{} is drawn anew again and again; it could not be caught", found.words()),
    )
    .hint("stickpin wait stable, then try again")
}
