//! Locates the element of a target now, and judges whether it is still the intended one.

use crate::act::context_rule;
use crate::api::target::{RefTarget, Target};
use crate::command::args::ActionOptions;
use crate::command::context::Cx;
use crate::observe::resolve::ResolvedTarget;
use crate::observe::{capture, resolve};
use crate::recording;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{Error, LocatedElement, Result, Ticket};
use stickpin_session::Origin;
use stickpin_tree::{Clause, Handle, IdentityGrade, NodeId, Tree, Verdict, quote};

/// How long to wait for a change before a guard is checked again.
pub(super) const RECHECK_INTERVAL: Duration = Duration::from_millis(40);

/// The maximum number of new attempts after an element vanished between two calls.
pub(crate) const MAX_RELOCATIONS: usize = 3;

/// The current location of an element.
pub(super) struct CurrentElement {
    pub(super) handle: Handle,
    pub(super) tree: Arc<Tree>,
    pub(super) node: NodeId,
    /// The device's ticket for the element.
    pub(super) ticket: Ticket,
}

impl CurrentElement {
    pub(super) fn of(handle: Handle, LocatedElement { tree, node, ticket, .. }: LocatedElement) -> Self {
        Self { handle, tree, node, ticket }
    }
}

/// Locates and judges the element of a target, without checking whether it can be acted on.
///
/// # Errors
/// Returns errors from resolving the target, `REPLAY_DIVERGENCE` when the target is not what a
/// script expects, `CONTEXT_CHANGED` when the context rule refuses it, and `INVALID_ARGS` for a
/// point.
pub(crate) async fn locate_target(
    cx: &mut Cx,
    target: &Target,
    opts: ActionOptions,
) -> Result<ResolvedTarget> {
    let found = match target {
        Target::Ref(r) if opts.allow_changed => resolve::resolve_changed_ref(cx, *r)?,
        Target::Ref(r) => resolve::resolve_ref(cx, *r)?,
        Target::Selector(s) => resolve::resolve_selector(cx, s).await?,
        Target::Point { .. } => return Err(crate::observe::resolve::no_point(target)),
    };
    recording::check_and_record_target(cx, target, &found, opts).await?;
    Ok(locate_and_judge(cx, target, found, None, opts).await?.0)
}

/// Replaces a selector target with a ref, so that later steps act on this element or fail, whatever
/// else the selector matches by then. Returns any other target unchanged.
///
/// # Errors
/// Returns errors from issuing a ref.
pub(crate) fn pin_selector_to_ref(cx: &mut Cx, target: &Target, found: &ResolvedTarget) -> Result<Target> {
    let (Target::Selector(_), Some(node)) = (target, found.node) else { return Ok(target.clone()) };
    let held = capture::issue(cx, &[node])?.pop();
    let Some(held) = held.map(|r| RefTarget::from(stickpin_refs::RefToken::plain(r))) else {
        return Ok(target.clone());
    };
    // This command found the element just now: the command's own effects on it are no reason to
    // warn.
    cx.envelope.pinned_selectors.push(held.without_pin());
    if !cx.envelope.judged_refs.contains(&held.without_pin()) {
        cx.envelope.judged_refs.push(held.without_pin());
    }
    Ok(Target::Ref(held))
}

/// Locates the element, unless the device has just reported its location in `told`, and judges it.
/// An element that vanished or changed is resolved again in a new capture.
pub(super) async fn locate_and_judge(
    cx: &mut Cx,
    target: &Target,
    mut found: ResolvedTarget,
    mut told: Option<CurrentElement>,
    opts: ActionOptions,
) -> Result<(ResolvedTarget, CurrentElement)> {
    for _ in 0..MAX_RELOCATIONS {
        cx.check()?;
        let place = match told.take() {
            None => locate(cx, &found).await?,
            told => told,
        };
        let Some(place) = place else {
            found = recapture_target(cx, target, opts).await?;
            continue;
        };
        let (judged, heading) = judge(cx, &place, &found)?;
        match judged {
            Verdict::Same { reads_now } => {
                if let Some(name) = reads_now {
                    cx.warn(format!("The element now reads {}.", quote(&name)));
                }
                if let Some(heading) = heading {
                    cx.warn(below(&heading));
                }
                if !opts.allow_changed {
                    context_rule::check_context(cx, &found, &place.tree, place.node)?;
                }
                return Ok((found, place));
            }
            Verdict::Changed(_) if opts.allow_changed => {
                let meaning = capture::meaning(cx, &place.tree, place.node)?;
                cx.warn(format!("{target} is now {meaning}."));
                found.meaning = meaning;
                return Ok((found, place));
            }
            Verdict::Changed(clause) => {
                tracing::debug!(%target, "changed: {}", clause.reason());
                // The capture ends the ref and determines the element's new ref.
                let again = recapture_target(cx, target, opts).await?;
                if matches!(target, Target::Ref(_)) && again.handle == found.handle {
                    return Err(changed_at_act(target, &found, clause));
                }
                found = again;
            }
        }
    }
    Err(never_stable(&found))
}

/// Judges whether an element is still the intended one. Also returns a changed heading that
/// warrants only a warning.
fn judge(cx: &mut Cx, place: &CurrentElement, found: &ResolvedTarget) -> Result<(Verdict, Option<String>)> {
    let records = cx.open_session()?.session.records(&place.tree);
    let judged = records.judge(&found.meaning, place.node);
    let heading = judged.is_same().then(|| records.changed_heading(&found.meaning, place.node));
    Ok((judged, heading.flatten()))
}

/// Resolves the target again in a new capture.
pub(super) async fn recapture_target(
    cx: &mut Cx,
    target: &Target,
    opts: ActionOptions,
) -> Result<ResolvedTarget> {
    match target {
        Target::Ref(r) => {
            capture::capture_app(cx, Origin::Internal).await?;
            if opts.allow_changed {
                resolve::resolve_changed_ref(cx, *r)
            } else {
                resolve::resolve_after_capture(cx, *r)
            }
        }
        Target::Selector(s) => resolve::resolve_selector(cx, s).await,
        Target::Point { .. } => Err(crate::observe::resolve::no_point(target)),
    }
}

/// Locates the element by its handle, or by its ref or meaning in a new capture if the device has
/// no lasting handles.
async fn locate(cx: &mut Cx, found: &ResolvedTarget) -> Result<Option<CurrentElement>> {
    let live = cx.open_session()?;
    if let Some(dialog) = live.device.dialog() {
        return Err(crate::observe::capture::dialog_error(&dialog));
    }
    if live.device.info().grade == IdentityGrade::None {
        return locate_by_likeness(cx, found).await;
    }
    let Some(handle) = found.handle else { return Ok(None) };
    let located = live.device.locate(handle, &found.meaning.context_handles()).await?;
    Ok(located.map(|located| CurrentElement::of(handle, located)))
}

async fn locate_by_likeness(cx: &mut Cx, found: &ResolvedTarget) -> Result<Option<CurrentElement>> {
    let tree = capture::capture_app(cx, Origin::Internal).await?;
    let node = match found.target_ref {
        Some(r) => resolve::resolve_after_capture(cx, r)?.node,
        None => {
            let records = cx.open_session()?.session.records(&tree);
            let mut alike = tree.nodes().filter(|n| records.judge(&found.meaning, n.id()).is_same());
            match (alike.next(), alike.next()) {
                (Some(n), None) => Some(n.id()),
                _ => None,
            }
        }
    };
    let address = node.and_then(|node| tree.node(node).address());
    Ok(node.zip(address).map(|(node, handle)| CurrentElement::of(handle, LocatedElement::new(tree, node))))
}

/// Creates the error for an element that changed according to the record rule but not according to
/// a full capture. Such an element must not be acted on either.
fn changed_at_act(target: &Target, found: &ResolvedTarget, clause: Clause) -> Error {
    let (was, because) = (found.meaning.to_string(), clause.reason());
    Error::stale_ref(format!("{target} was {was}; it is now a different element because {because}"))
        .hint("run `stickpin snapshot -i`, or use `--allow-changed` to act on it anyway")
        .details(serde_json::json!({
            "ref": target.to_string(), "reason": "changed", "was": was, "because": because,
        }))
}

/// Creates the warning that the heading above an element's row changed.
fn below(heading: &str) -> String {
    match heading {
        "" => "The heading that was above the element is gone.".to_owned(),
        heading => format!("The heading above the element now reads {}.", quote(heading)),
    }
}

/// Creates the error for an element that never became stable.
pub(super) fn never_stable(found: &ResolvedTarget) -> Error {
    Error::element_not_found(format!(
        "{} keeps re-rendering and never became stable enough to act on",
        found.describe()
    ))
    .hint("run `stickpin wait stable`, then repeat the command")
}
