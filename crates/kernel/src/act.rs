//! The path from a target to an input: resolve, locate, judge, aim, judge again, guard, perform,
//! read the outcome.
//!
//! No step trusts an old tree. The element is located by identity, judged by its record, and aimed
//! at where it is now. It is judged again after the pointer has arrived, because the arrival may
//! change the app.

pub(crate) mod action_target;
pub(crate) mod aim;
pub(crate) mod choice;
pub(crate) mod context_rule;
pub(crate) mod fields;
pub(crate) mod fill;
pub(crate) mod focus;
pub(crate) mod input;
pub(crate) mod locate;
pub(crate) mod outcome;
#[cfg_attr(not(feature = "pictures"), allow(dead_code, reason = "only `screenshot` needs all of it"))]
pub(crate) mod points;
pub(crate) mod targeted;

use crate::act::action_target::{ActionTarget, Actionability, TargetState};
use crate::act::locate::{CurrentElement, MAX_RELOCATIONS, RECHECK_INTERVAL};
use crate::api::target::Target;
use crate::command::args::ActionOptions;
use crate::command::context::Cx;
use crate::observe::resolve::ResolvedTarget;
use crate::observe::{resolve, waiting};
use crate::recording;
use std::time::Duration;
use stickpin_device::{Error, ErrorCode, HitResult, Result};
use stickpin_tree::{IdentityGrade, NodeRef, States};
use tokio::time::Instant;

/// The minimum time for which a failed guard is retried: enough for an app that is re-rendering.
const GUARD_RETRY: Duration = Duration::from_millis(250);

/// Waits until a target can be acted on, and brings it into view if `reach` requires that.
///
/// # Errors
/// Returns `STALE_REF`, `REF_NOT_FOUND`, `ELEMENT_NOT_FOUND` or `AMBIGUOUS_MATCH` when the target
/// does not resolve, `REPLAY_DIVERGENCE` when it is not what a script expects, and
/// `CONTEXT_CHANGED` when the context rule refuses it. Returns `ELEMENT_DISABLED`,
/// `ELEMENT_COVERED` or `ELEMENT_OFFSCREEN` when a guard fails, `UNSUPPORTED` when `--strict`
/// requires a hit test that the device lacks, and errors from the device.
pub(crate) async fn wait_actionable(
    cx: &mut Cx,
    target: &Target,
    reach: Actionability,
    opts: ActionOptions,
) -> Result<ActionTarget> {
    let until = Instant::now() + opts.timeout.max(GUARD_RETRY);
    let mut lost = 0;
    loop {
        let error = match locate_aim_and_guard(cx, target, reach, opts).await {
            // The element vanished after it was judged. A capture shows whether it is gone or was
            // re-rendered.
            Err(e)
                if e.code == ErrorCode::ElementNotFound
                    && matches!(target, Target::Ref(_))
                    && lost < MAX_RELOCATIONS =>
            {
                lost += 1;
                locate::recapture_target(cx, target, opts).await?;
                continue;
            }
            Err(e) if may_pass(&e, opts) && Instant::now() < until => e,
            result => return result,
        };
        tracing::debug!(%target, "waiting: {error}");
        let left = until.saturating_duration_since(Instant::now()).min(RECHECK_INTERVAL);
        waiting::wait_for_change(cx, left).await?;
    }
}

/// Locates a target, aims at it, and refuses it if it is disabled, covered, off-screen, or no
/// longer the element that the caller meant.
async fn locate_aim_and_guard(
    cx: &mut Cx,
    target: &Target,
    reach: Actionability,
    opts: ActionOptions,
) -> Result<ActionTarget> {
    let found = match target {
        Target::Ref(r) if opts.allow_changed => resolve::resolve_changed_ref(cx, *r)?,
        Target::Ref(r) => resolve::resolve_ref_for_action(cx, *r).await?,
        Target::Selector(s) => resolve::resolve_selector(cx, s).await?,
        Target::Point { x, y } => return points::resolve_point(cx, *x, *y, reach, opts).await,
    };
    recording::check_and_record_target(cx, target, &found, opts).await?;
    let (mut found, mut place) = locate::locate_and_judge(cx, target, found, None, opts).await?;
    let before = TargetState::of(place.tree.node(place.node));
    for _ in 0..MAX_RELOCATIONS {
        check_enabled(cx, &place, &found, opts)?;
        let mut ready = ActionTarget {
            handle: Some(place.handle),
            before: Some(before.clone()),
            actionable: place.tree.node(place.node).is(States::ACTIONABLE),
            protected: place.tree.node(place.node).is(States::PROTECTED),
            ..ActionTarget::default()
        };
        if reach != Actionability::Enabled {
            let guarded = context_rule::guarded_nodes(cx, &place.tree, place.node)?;
            let prepared = match aim::prepare(cx, &place, &found, reach, &guarded).await {
                // The element vanished after it was judged: it is gone or was re-rendered.
                Err(e) if e.code == ErrorCode::ElementNotFound => {
                    found = locate::recapture_target(cx, target, opts).await?;
                    (found, place) = locate::locate_and_judge(cx, target, found, None, opts).await?;
                    continue;
                }
                prepared => prepared?,
            };
            ready.point = prepared.aim.point;
            if let Some(refusal) = prepared.aim.hit.refusal(&found.describe()) {
                ready.forced = aim::override_refusal(cx, refusal, &prepared.aim, &place, reach, opts).await?;
            }
            if prepared.aim.hit == HitResult::Unknown {
                let unchecked = format!(
                    "{} was not checked for overlap: this device cannot tell what is on top",
                    found.describe()
                );
                if opts.strict {
                    return Err(Error::unsupported(unchecked).hint(
                        "run `stickpin screenshot` to see what is there, or omit `--strict` to send the input anyway",
                    ));
                }
                cx.warn(format!("{unchecked}."));
            }
            // The device's ticket belongs to the element in the state that the device reported.
            let ticket = prepared.ticket;
            let told = prepared
                .located
                .map(|told| CurrentElement { ticket, ..CurrentElement::of(place.handle, told) });
            // Scrolling or the pointer may have changed the element or caused a re-render, as
            // happens with recycled rows. Only an element that was both judged and aimed at is
            // acted on.
            (found, place) = locate::locate_and_judge(cx, target, found, told, opts).await?;
            check_enabled(cx, &place, &found, opts)?;
            if ready.handle != Some(place.handle) {
                continue;
            }
            ready.after_aim = Some(TargetState::of(place.tree.node(place.node)));
            ready.ticket = place.ticket;
        }
        ready.description = found.describe();
        ready.found = Some(found);
        ready.tree = Some(place.tree);
        return Ok(ready);
    }
    Err(locate::never_stable(&found))
}

/// Locates two targets again without bringing either into view, to detect what aiming at one did to
/// the other.
///
/// # Errors
/// Returns the errors of [`wait_actionable`].
pub(crate) async fn relocate_pair(
    cx: &mut Cx,
    first: &mut ActionTarget,
    second: &mut ActionTarget,
    of: (&Target, &Target),
    opts: ActionOptions,
) -> Result<()> {
    let (Some(a), Some(b)) = (first.found.clone(), second.found.clone()) else { return Ok(()) };
    for _ in 0..MAX_RELOCATIONS {
        let (a, there) = locate::locate_and_judge(cx, of.0, a.clone(), None, opts).await?;
        let (b, here) = locate::locate_and_judge(cx, of.1, b.clone(), None, opts).await?;
        let mut handle = there.handle;
        if cx.device()?.info().grade == IdentityGrade::None {
            // Addresses come from the last capture. Equal trees have the same element at the same
            // address.
            match (*there.tree == *here.tree).then(|| here.tree.node(there.node).address()).flatten() {
                Some(address) => handle = address,
                None => continue,
            }
        }
        check_enabled(cx, &there, &a, opts)?;
        check_enabled(cx, &here, &b, opts)?;
        (first.handle, first.found) = (Some(handle), Some(a));
        (second.handle, second.found) = (Some(here.handle), Some(b));
        return Ok(());
    }
    let message =
        format!("the app kept changing while {} and {} were being located", a.describe(), b.describe());
    Err(Error::element_not_found(message).hint("run `stickpin wait stable`, then repeat the command"))
}

/// Fails when a located element is disabled, unless the input is forced.
fn check_enabled(
    cx: &mut Cx,
    place: &CurrentElement,
    found: &ResolvedTarget,
    opts: ActionOptions,
) -> Result<()> {
    check_node_enabled(cx, place.tree.node(place.node), &found.describe(), opts)
}

/// Fails when a node, which need not be a target, is disabled, unless the input is forced.
pub(crate) fn check_node_enabled(
    cx: &mut Cx,
    node: NodeRef<'_>,
    words: &str,
    opts: ActionOptions,
) -> Result<()> {
    if !node.is(States::DISABLED) {
        return Ok(());
    }
    let disabled = Error::element_disabled(format!("{words} is disabled"));
    if opts.force {
        cx.warn(format!("Forced: {disabled}."));
        return Ok(());
    }
    Err(disabled.hint(match opts.has_overrides {
        true => "enable it first, use `--timeout MS` to wait until it is enabled, or use `--force` to act on it anyway",
        false => "enable it first, then repeat the command",
    }))
}

/// Returns whether waiting may resolve the error.
fn may_pass(e: &Error, opts: ActionOptions) -> bool {
    match e.code {
        ErrorCode::ElementDisabled | ErrorCode::ElementCovered | ErrorCode::ElementOffscreen => true,
        ErrorCode::ElementNotFound | ErrorCode::ReplayDivergence => !opts.timeout.is_zero(),
        _ => false,
    }
}
