//! The way from a target to an input on it: resolve, locate and judge, aim, look again, guard, perform, look after.
//!
//! Nothing here trusts an old tree: the element is asked for by identity, judged by its record, aimed at where it is
//! now, and judged again after the pointer has arrived, because a pointer that arrives may move things.

pub(crate) mod aim;
pub(crate) mod choice;
pub(crate) mod context_guard;
pub(crate) mod fields;
pub(crate) mod fill;
pub(crate) mod focus;
pub(crate) mod input;
pub(crate) mod locate;
pub(crate) mod outcome;
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

/// How long a guard may hold before it is answered: an app that is just redrawing gets that much.
const PATIENCE: Duration = Duration::from_millis(250);

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
                // It went away after it was judged: gone, or rendered anew.
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
                        "stickpin screenshot shows what is there; without --strict the input is sent",
                    ));
                }
                cx.warn(format!("{unchecked}."));
            }
            // What the device noted is of the element as it told it.
            let ticket = prepared.ticket;
            let told = prepared.located.map(|told| Place { ticket, ..Place::of(place.handle, told) });
            // The arrival of the pointer, or the way into view, may have changed it or had it rendered anew (rows
            // that scrolling recycles): only what was judged and aimed at is acted on.
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
        let (a, there) = locate::locate_judged(cx, of.0, a.clone(), None, how).await?;
        let (b, here) = locate::locate_judged(cx, of.1, b.clone(), None, how).await?;
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
    Err(Error::element_not_found(format!("{} and {} move on again and again", a.words(), b.words()))
        .hint("stickpin wait stable, then try again"))
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
    let disabled = Error::element_disabled(format!("{words} is disabled"));
    if how.force {
        cx.warn(format!("Forced: {disabled}."));
        return Ok(());
    }
    Err(disabled.hint("do first what enables it; --timeout MS waits for it, --force presses it all the same"))
}

/// Whether waiting may help.
fn may_pass(e: &Error, how: How) -> bool {
    match e.code {
        ErrorCode::ElementDisabled | ErrorCode::ElementCovered | ErrorCode::ElementOffscreen => true,
        ErrorCode::ElementNotFound | ErrorCode::ReplayDivergence => !how.timeout.is_zero(),
        _ => false,
    }
}
