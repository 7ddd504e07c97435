//! The context rule (`CONTEXT_CHANGED`): a client acts only on what it has seen. If the context of
//! its target changed unseen, the command fails before anything is sent, and the same command,
//! repeated, acts.

use crate::act::locate::TRIES;
use crate::act::target::Ready;
use crate::command::context::Cx;
use crate::observe::capture;
use crate::observe::resolve::Found;
use serde_json::json;
use std::sync::Arc;
use stickpin_device::{Dispatched, Error, ErrorCode, Result};
use stickpin_session::{ContextPolicy, Origin};
use stickpin_tree::{ContextChange, ContextReader, FactKind, Handle, NodeId, Tree, quote};

/// The maximum number of changes that a notice spells out.
const SPELLED: usize = 2;

/// The maximum number of receipt lines about what an act replaced.
const LINES: usize = 3;

/// The maximum number of changes in the details of an error.
const DETAILS: usize = 10;

/// The maximum number of nodes whose content a device watches until the input has arrived.
const GUARDED: usize = 512;

/// Compares the context of a target with what this client was shown. Reported changes count as
/// shown from here on.
///
/// # Errors
/// Returns `CONTEXT_CHANGED` where the session reports changes before it acts.
pub(crate) fn compare(cx: &mut Cx, found: &Found, tree: &Arc<Tree>, node: NodeId) -> Result<()> {
    // A selector asks for what is there now. A script compares with its recording instead.
    let Some(target) = found.r#ref.filter(|r| !cx.envelope.held.contains(&r.plain())) else {
        return Ok(());
    };
    let client = cx.client();
    let partial = cx.device()?.info().partial;
    let session = &mut cx.live()?.session;
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
    tracing::debug!(target = %target.plain(), ?changes, "the context changed");
    let by = if another { ", and another client has acted since" } else { "" };
    let told = told(&changes);
    if policy == ContextPolicy::Warn {
        cx.warn(format!("What {} belongs to has changed since you last looked{by}: {told}.", found.words()));
        return Ok(());
    }
    Err(Error::context_changed(format!(
        "{} is still there, but what it belongs to has changed since you last looked{by}: {told}",
        found.words()
    ))
    .hint(REPEAT)
    .details(json!({ "ref": target.plain().to_string(), "changes": details(&changes) })))
}

/// Captures after the device stopped an input because guarded content changed, and reports the
/// change.
///
/// Returns `Ok` for another attempt when no relevant content changed and nothing was sent, at most
/// [`TRIES`] times (`lost`).
///
/// # Errors
/// Returns `CONTEXT_CHANGED` with the changes, `e`, or errors of the device.
pub(crate) async fn changed_in_flight(cx: &mut Cx, ready: &Ready, e: Error, lost: &mut usize) -> Result<()> {
    let tree = capture::look(cx, Origin::Internal).await?;
    let target = ready.handle.and_then(|handle| tree.find_address(handle)).map(|n| n.id());
    if let (Some(node), Some(found)) = (target, &ready.found)
        && let Err(told) = compare(cx, found, &tree, node)
    {
        return Err(Error { dispatched: e.dispatched, ..told });
    }
    *lost += 1;
    let again = e.dispatched == Dispatched::No && *lost <= TRIES;
    if again { Ok(()) } else { Err(e) }
}

/// Returns the nodes whose content must not change until an input for the target has arrived.
pub(crate) fn guarded(cx: &mut Cx, tree: &Tree, node: NodeId) -> Result<Vec<Handle>> {
    let session = &cx.live()?.session;
    if session.context_policy() == ContextPolicy::Off {
        return Ok(Vec::new());
    }
    let records = session.records(tree);
    let mut nodes = ContextReader::new(&records).context_nodes(node, GUARDED);
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

/// Records what an act of this client turned `before` into, for the receipt of the command.
pub(crate) fn note_effects(
    cx: &mut Cx,
    before: &Tree,
    after: &Arc<Tree>,
    target: Option<Handle>,
) -> Result<()> {
    let client = cx.client();
    let session = &mut cx.live()?.session;
    if session.context_policy() == ContextPolicy::Off {
        return Ok(());
    }
    session.observe(after);
    let (effects, kept) = session.note_effects(&client, before, after, target);
    effects.into_iter().for_each(|effect| add_effect(&mut cx.envelope.effects, effect));
    cx.envelope.ended.retain(|r| !kept.contains(r));
    cx.envelope.issued.extend(kept);
    if let Some((noted, _)) = &mut cx.envelope.unnoted {
        *noted = Arc::clone(after);
    }
    Ok(())
}

/// Records what the inputs of this command changed until `now`, so that a further input does not
/// attribute the changes to another client.
pub(crate) fn note_so_far(cx: &mut Cx, now: &Arc<Tree>) -> Result<()> {
    match cx.envelope.unnoted.clone() {
        Some((before, target)) => note_effects(cx, &before, now, target),
        None => Ok(()),
    }
}

/// Records and reports the effects of a command that failed after it had sent input.
pub(crate) async fn note_failed(cx: &mut Cx, e: &Error) {
    // An app that did not answer is not asked again.
    let answers = !matches!(e.code, ErrorCode::Timeout | ErrorCode::BackendLost)
        && cx.device().is_ok_and(|device| device.dialog().is_none());
    if cx.envelope.unnoted.is_none() || !answers {
        return;
    }
    if cx.device().is_ok_and(|device| device.info().partial) {
        let client = cx.client();
        if let Ok(live) = cx.live() {
            live.session.waive_context(&client, None);
        }
        return;
    }
    match capture::look(cx, Origin::Internal).await.and_then(|now| note_so_far(cx, &now)) {
        Ok(()) => {
            let mut effects = std::mem::take(&mut cx.envelope.effects);
            // Do not repeat what the error says.
            effects.retain(|effect| !tells(e, effect));
            cx.envelope.receipt.extend(effect_lines(&effects).into_iter().map(Into::into));
        }
        // The command's own error is more useful. The next act reports what was not recorded.
        Err(unread) => tracing::debug!("cannot tell what the failed action replaced: {unread}"),
    }
}

/// Whether an error already states the new value of an effect.
fn tells(e: &Error, effect: &ContextChange) -> bool {
    let changes = e.details["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    e.details["value"] == *effect.after
        || changes.iter().take(SPELLED).any(|change| change["now"] == *effect.after)
}

const REPEAT: &str = "repeat the command to act on it as it is now, or run `stickpin snapshot -i`";

/// Merges an effect into those of earlier inputs of the same command. A value that is back to its
/// original is no effect.
fn add_effect(effects: &mut Vec<ContextChange>, effect: ContextChange) {
    let again = |earlier: &ContextChange| earlier.key == effect.key && earlier.after == effect.before;
    match effects.iter().position(again) {
        Some(at) if effects[at].before == effect.after => drop(effects.remove(at)),
        Some(at) => effects[at].after = effect.after,
        None => effects.push(effect),
    }
}

/// Describes what an act replaced, in at most [`LINES`] lines.
pub(crate) fn effect_lines(effects: &[ContextChange]) -> Vec<String> {
    let mut sentences = sentences(effects);
    if sentences.len() > LINES {
        let more = sentences.len() - (LINES - 1);
        sentences.truncate(LINES - 1);
        sentences.push(format!("and {more} more changed"));
    }
    sentences
}

/// Returns the changes as one clause for a notice.
fn told(changes: &[ContextChange]) -> String {
    let mut sentences = sentences(changes);
    let more = sentences.len().saturating_sub(SPELLED);
    sentences.truncate(SPELLED);
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
        FactKind::Checked => format!("a box is now {}", change.after),
        FactKind::Expanded => format!("what is open moved from {was} to {now}"),
        FactKind::Text | FactKind::Name | FactKind::Value | FactKind::Description | FactKind::Placeholder => {
            format!("{was} is now {now}")
        }
    }
}

fn details(changes: &[ContextChange]) -> Vec<serde_json::Value> {
    let first = changes.iter().take(DETAILS);
    first.map(|c| json!({ "was": c.before, "now": c.after })).collect()
}
