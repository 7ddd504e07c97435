//! The context rule (`CONTEXT_CHANGED`): a client acts only on what it has seen. If the context of
//! its target changed unseen, the command fails before anything is sent. If the command is
//! repeated, it acts.

use crate::act::action_target::ActionTarget;
use crate::act::locate::MAX_RELOCATIONS;
use crate::command::context::Cx;
use crate::observe::capture;
use crate::observe::resolve::ResolvedTarget;
use serde_json::json;
use std::sync::Arc;
use stickpin_device::{Dispatched, Error, ErrorCode, Result};
use stickpin_session::{ContextPolicy, Origin};
use stickpin_tree::{ContextChange, ContextReader, FactKind, Handle, NodeId, Tree, quote};

/// The maximum number of changes that a notice spells out.
const MAX_SPELLED_CHANGES: usize = 2;

/// The maximum number of receipt lines about what an action replaced.
const MAX_EFFECT_LINES: usize = 3;

/// The maximum number of changes in the details of an error.
const MAX_DETAILS: usize = 10;

/// The maximum number of nodes whose content a device watches until the input has arrived.
const MAX_GUARDED_NODES: usize = 512;

/// Compares the context of a target with what this client was shown. Reported changes count as
/// shown from then on.
///
/// # Errors
/// Returns `CONTEXT_CHANGED` if the context changed and the session's policy is to refuse.
pub(crate) fn check_context(
    cx: &mut Cx,
    found: &ResolvedTarget,
    tree: &Arc<Tree>,
    node: NodeId,
) -> Result<()> {
    // A selector asks for what is there now. A script compares the target with its recording
    // instead.
    let Some(target) = found.target_ref.filter(|r| !cx.envelope.pinned_selectors.contains(&r.without_pin()))
    else {
        return Ok(());
    };
    let client = cx.client_id();
    let partial = cx.device()?.info().partial;
    let session = &mut cx.open_session()?.session;
    let policy = session.context_policy();
    if policy == ContextPolicy::Off {
        return Ok(());
    }
    if !partial {
        session.observe(tree);
    }
    let changes = session.unseen_changes(&client, tree, node);
    if changes.is_empty() {
        return Ok(());
    }
    let another = session.was_last_act_by_another(&client);
    session.note_notice(&client, tree, node, &changes);
    tracing::debug!(target = %target.without_pin(), ?changes, "the context changed");
    let by = if another { ", and another client has acted since" } else { "" };
    let told = describe_changes(&changes);
    if policy == ContextPolicy::Warn {
        cx.warn(format!(
            "The context of {} has changed since you last looked{by}: {told}.",
            found.describe()
        ));
        return Ok(());
    }
    Err(Error::context_changed(format!(
        "{} is still there, but its context has changed since you last looked{by}: {told}",
        found.describe()
    ))
    .hint(REPEAT_HINT)
    .details(json!({ "ref": target.without_pin().to_string(), "changes": details(&changes) })))
}

/// Captures the app after the device stopped an input because guarded content changed, and reports
/// the change.
///
/// Returns `Ok` to allow another attempt if no relevant content changed and nothing was sent.
/// Allows at most [`MAX_RELOCATIONS`] attempts, which are counted in `lost`.
///
/// # Errors
/// Returns `CONTEXT_CHANGED` with the changes, `e`, or errors from the device.
pub(crate) async fn report_change_in_flight(
    cx: &mut Cx,
    ready: &ActionTarget,
    e: Error,
    lost: &mut usize,
) -> Result<()> {
    let tree = capture::capture_app(cx, Origin::Internal).await?;
    let target = ready.handle.and_then(|handle| tree.find_address(handle)).map(|n| n.id());
    if let (Some(node), Some(found)) = (target, &ready.found)
        && let Err(told) = check_context(cx, found, &tree, node)
    {
        return Err(Error { dispatched: e.dispatched, ..told });
    }
    *lost += 1;
    let again = e.dispatched == Dispatched::No && *lost <= MAX_RELOCATIONS;
    if again { Ok(()) } else { Err(e) }
}

/// Returns the nodes whose content must not change until an input for the target has arrived.
pub(crate) fn guarded_nodes(cx: &mut Cx, tree: &Tree, node: NodeId) -> Result<Vec<Handle>> {
    let session = &cx.open_session()?.session;
    if session.context_policy() == ContextPolicy::Off {
        return Ok(Vec::new());
    }
    let records = session.records(tree);
    let mut nodes = ContextReader::new(&records).context_nodes(node, MAX_GUARDED_NODES);
    nodes.retain(|&n| !session.is_ticker(tree, n));
    // A text without an id is watched through its parent.
    let address = |n: NodeId| {
        let node = tree.node(n);
        node.address().or_else(|| node.parent()?.address())
    };
    let mut guarded: Vec<Handle> = nodes.into_iter().filter_map(address).collect();
    guarded.dedup();
    Ok(guarded)
}

/// Records what this client's action changed since `before`, for the receipt of the command.
pub(crate) fn record_effects(
    cx: &mut Cx,
    before: &Tree,
    after: &Arc<Tree>,
    target: Option<Handle>,
) -> Result<()> {
    let client = cx.client_id();
    let session = &mut cx.open_session()?.session;
    if session.context_policy() == ContextPolicy::Off {
        return Ok(());
    }
    session.observe(after);
    let (effects, kept) = session.note_effects(&client, before, after, target);
    effects.into_iter().for_each(|effect| add_effect(&mut cx.envelope.effects, effect));
    cx.envelope.ended.retain(|r| !kept.contains(r));
    cx.envelope.issued.extend(kept);
    if let Some((noted, _)) = &mut cx.envelope.unrecorded_effects {
        *noted = Arc::clone(after);
    }
    Ok(())
}

/// Records what the inputs of this command changed up to `now`, so that a later input does not
/// attribute the changes to another client.
pub(crate) fn record_interim_effects(cx: &mut Cx, now: &Arc<Tree>) -> Result<()> {
    match cx.envelope.unrecorded_effects.clone() {
        Some((before, target)) => record_effects(cx, &before, now, target),
        None => Ok(()),
    }
}

/// Records and reports the effects of a command that failed after it had sent input.
pub(crate) async fn report_failed_effects(cx: &mut Cx, e: &Error) {
    // An app that did not answer is not queried again.
    let answers = !matches!(e.code, ErrorCode::Timeout | ErrorCode::BackendLost)
        && cx.device().is_ok_and(|device| device.dialog().is_none());
    if cx.envelope.unrecorded_effects.is_none() || !answers {
        return;
    }
    if cx.device().is_ok_and(|device| device.info().partial) {
        let client = cx.client_id();
        if let Ok(live) = cx.open_session() {
            live.session.waive_context(&client, None);
        }
        return;
    }
    match capture::capture_app(cx, Origin::Internal).await.and_then(|now| record_interim_effects(cx, &now)) {
        Ok(()) => {
            let mut effects = std::mem::take(&mut cx.envelope.effects);
            // Do not repeat what the error says.
            effects.retain(|effect| !tells(e, effect));
            cx.envelope.receipt.extend(effect_lines(&effects).into_iter().map(Into::into));
        }
        // The command's own error is more useful. The next action reports what was not recorded.
        Err(unread) => tracing::debug!("cannot tell what the failed action replaced: {unread}"),
    }
}

/// Returns whether an error already states the new value of an effect.
fn tells(e: &Error, effect: &ContextChange) -> bool {
    let changes = e.details["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    e.details["value"] == *effect.after
        || changes.iter().take(MAX_SPELLED_CHANGES).any(|change| change["now"] == *effect.after)
}

const REPEAT_HINT: &str =
    "repeat the command to act on the element as it is now, or run `stickpin snapshot -i`";

/// Merges an effect into those of earlier inputs of the same command. A value that was changed back
/// is not an effect.
fn add_effect(effects: &mut Vec<ContextChange>, effect: ContextChange) {
    let again = |earlier: &ContextChange| earlier.key == effect.key && earlier.after == effect.before;
    match effects.iter().position(again) {
        Some(at) if effects[at].before == effect.after => drop(effects.remove(at)),
        Some(at) => effects[at].after = effect.after,
        None => effects.push(effect),
    }
}

/// Describes what an action replaced, in at most [`MAX_EFFECT_LINES`] lines.
pub(crate) fn effect_lines(effects: &[ContextChange]) -> Vec<String> {
    let mut sentences = sentences(effects);
    if sentences.len() > MAX_EFFECT_LINES {
        let more = sentences.len() - (MAX_EFFECT_LINES - 1);
        sentences.truncate(MAX_EFFECT_LINES - 1);
        sentences.push(format!("and {more} more changed"));
    }
    sentences
}

/// Returns the changes as one clause for a notice.
fn describe_changes(changes: &[ContextChange]) -> String {
    let mut sentences = sentences(changes);
    let more = sentences.len().saturating_sub(MAX_SPELLED_CHANGES);
    sentences.truncate(MAX_SPELLED_CHANGES);
    let mut told = sentences.join("; ");
    if more > 0 {
        told.push_str(&format!("; {more} more"));
    }
    told
}

/// Returns one sentence per change, without duplicates.
fn sentences(changes: &[ContextChange]) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for change in changes {
        let sentence = sentence(change);
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}

fn sentence(change: &ContextChange) -> String {
    let (was, now) = (quote(&change.before), quote(&change.after));
    match change.kind {
        FactKind::Address => format!("the address is now {now}"),
        FactKind::Title | FactKind::WindowTitle => format!("the title is now {now}"),
        FactKind::Selected => match (change.before.is_empty(), change.after.is_empty()) {
            (true, _) => format!("{now} is selected now"),
            (_, true) => format!("{was} is no longer selected"),
            _ => format!("the selection moved from {was} to {now}"),
        },
        FactKind::Source => format!("a picture is now {now}"),
        FactKind::Options => "the options of a list changed".to_owned(),
        FactKind::Checked => format!("a checkbox or similar control is now {}", change.after),
        FactKind::Expanded => format!("the expanded element changed from {was} to {now}"),
        FactKind::Text | FactKind::Name | FactKind::Value | FactKind::Description | FactKind::Placeholder => {
            format!("{was} is now {now}")
        }
    }
}

fn details(changes: &[ContextChange]) -> Vec<serde_json::Value> {
    let first = changes.iter().take(MAX_DETAILS);
    first.map(|c| json!({ "was": c.before, "now": c.after })).collect()
}
