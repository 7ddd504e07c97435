//! The path from a target to an input: resolve, locate, judge, aim, judge again, guard, perform,
//! read the outcome.
//!
//! No step trusts an old tree. The element is located by identity, judged by its record, and aimed
//! at in its current position. It is judged again after the pointer has arrived, because the
//! arrival may change the app.

pub(crate) mod aim;
pub(crate) mod choice;
pub(crate) mod context_guard;
pub(crate) mod fields;
pub(crate) mod fill;
pub(crate) mod focus;
pub(crate) mod input;
pub(crate) mod locate;
pub(crate) mod outcome;
#[cfg_attr(not(feature = "pictures"), allow(dead_code, reason = "only `screenshot` needs all of it"))]
pub(crate) mod points;
pub(crate) mod target;

use crate::act::locate::{Place, RECHECK, TRIES};
use crate::act::target::{Reach, Reading, Ready};
use crate::api::target::Target;
use crate::command::args::How;
use crate::command::context::Cx;
use crate::observe::resolve::Found;
use crate::observe::{resolve, waiting};
use crate::recording;
use std::time::Duration;
use stickpin_device::{Error, ErrorCode, Hit, Result};
use stickpin_tree::{IdentityGrade, NodeRef, States};
use tokio::time::Instant;

/// The minimum time that a failed guard is retried: enough for an app that is re-rendering.
const PATIENCE: Duration = Duration::from_millis(250);

/// Brings a target into a state in which it can be acted on.
///
/// # Errors
/// Returns `STALE_REF`, `REF_NOT_FOUND`, `ELEMENT_NOT_FOUND` or `AMBIGUOUS_MATCH` when the target
/// does not resolve, `ELEMENT_DISABLED`, `ELEMENT_COVERED` or `ELEMENT_OFFSCREEN` when a guard
/// fails, and errors of the device.
pub(crate) async fn ready(cx: &mut Cx, target: &Target, reach: Reach, how: How) -> Result<Ready> {
    let until = Instant::now() + how.timeout.max(PATIENCE);
    let mut lost = 0;
    loop {
        let error = match attempt(cx, target, reach, how).await {
            // It vanished after it was judged: a capture tells whether it is gone or re-rendered.
            Err(e)
                if e.code == ErrorCode::ElementNotFound
                    && matches!(target, Target::Ref(_))
                    && lost < TRIES =>
            {
                lost += 1;
                locate::look_again(cx, target, how).await?;
                continue;
            }
            Err(e) if may_pass(&e, how) && Instant::now() < until => e,
            result => return result,
        };
        tracing::debug!(%target, "waiting: {error}");
        let left = until.saturating_duration_since(Instant::now()).min(RECHECK);
        waiting::change(cx, left).await?;
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
    let (mut found, mut place) = locate::locate_judged(cx, target, found, None, how).await?;
    let before = Reading::of(place.tree.node(place.node));
    for _ in 0..TRIES {
        check_enabled(cx, &place, &found, how)?;
        let mut ready = Ready {
            handle: Some(place.handle),
            before: Some(before.clone()),
            actionable: place.tree.node(place.node).is(States::ACTIONABLE),
            protected: place.tree.node(place.node).is(States::PROTECTED),
            ..Ready::default()
        };
        if reach != Reach::There {
            let guarded = context_guard::guarded(cx, &place.tree, place.node)?;
            let prepared = match aim::prepare(cx, &place, &found, reach, &guarded).await {
                // It vanished after it was judged: it is gone or re-rendered.
                Err(e) if e.code == ErrorCode::ElementNotFound => {
                    found = locate::look_again(cx, target, how).await?;
                    (found, place) = locate::locate_judged(cx, target, found, None, how).await?;
                    continue;
                }
                prepared => prepared?,
            };
            ready.point = prepared.aim.point;
            if let Some(refusal) = prepared.aim.hit.refusal(&found.words()) {
                ready.forced = aim::insist(cx, refusal, &prepared.aim, &place, reach, how).await?;
            }
            if prepared.aim.hit == Hit::Unknown {
                let unchecked = format!(
                    "{} was not checked for overlap: this device cannot tell what is on top",
                    found.words()
                );
                if how.strict {
                    return Err(Error::unsupported(unchecked).hint(
                        "run `stickpin screenshot` to see what is there; without `--strict` the input is sent",
                    ));
                }
                cx.warn(format!("{unchecked}."));
            }
            // The device's note belongs to the element in the state that the device reported.
            let ticket = prepared.ticket;
            let told = prepared.located.map(|told| Place { ticket, ..Place::of(place.handle, told) });
            // Scrolling or the pointer may have changed the element or had it re-rendered, as
            // recycled rows are. Only an element that was both judged and aimed at is acted on.
            (found, place) = locate::locate_judged(cx, target, found, told, how).await?;
            check_enabled(cx, &place, &found, how)?;
            if ready.handle != Some(place.handle) {
                continue;
            }
            ready.now = Some(Reading::of(place.tree.node(place.node)));
            ready.ticket = place.ticket;
        }
        ready.words = found.words();
        ready.found = Some(found);
        ready.tree = Some(place.tree);
        return Ok(ready);
    }
    Err(locate::restless(&found))
}

/// Locates two targets again without bringing either into view, to detect what aiming at one did to
/// the other.
///
/// # Errors
/// Returns the errors of [`ready`].
pub(crate) async fn both(
    cx: &mut Cx,
    first: &mut Ready,
    second: &mut Ready,
    of: (&Target, &Target),
    how: How,
) -> Result<()> {
    let (Some(a), Some(b)) = (first.found.clone(), second.found.clone()) else { return Ok(()) };
    for _ in 0..TRIES {
        let (a, there) = locate::locate_judged(cx, of.0, a.clone(), None, how).await?;
        let (b, here) = locate::locate_judged(cx, of.1, b.clone(), None, how).await?;
        let mut handle = there.handle;
        if cx.device()?.info().grade == IdentityGrade::None {
            // Addresses are those of the last capture. Equal trees have their elements in equal
            // places.
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
    Err(Error::element_not_found(format!("{} and {} keep moving", a.words(), b.words()))
        .hint("run `stickpin wait stable`, then repeat the command"))
}

/// Fails when a located element is disabled, unless the input is forced.
fn check_enabled(cx: &mut Cx, place: &Place, found: &Found, how: How) -> Result<()> {
    check_node_enabled(cx, place.tree.node(place.node), &found.words(), how)
}

/// Fails when a node is disabled, unless the input is forced; for nodes without a target of their
/// own.
pub(crate) fn check_node_enabled(cx: &mut Cx, node: NodeRef<'_>, words: &str, how: How) -> Result<()> {
    if !node.is(States::DISABLED) {
        return Ok(());
    }
    let disabled = Error::element_disabled(format!("{words} is disabled"));
    if how.force {
        cx.warn(format!("Forced: {disabled}."));
        return Ok(());
    }
    Err(disabled
        .hint("enable it first; `--timeout MS` waits until it is enabled, `--force` acts on it anyway"))
}

/// Whether waiting may resolve the error.
fn may_pass(e: &Error, how: How) -> bool {
    match e.code {
        ErrorCode::ElementDisabled | ErrorCode::ElementCovered | ErrorCode::ElementOffscreen => true,
        ErrorCode::ElementNotFound | ErrorCode::ReplayDivergence => !how.timeout.is_zero(),
        _ => false,
    }
}
