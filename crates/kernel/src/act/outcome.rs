//! The outcome of an action: reads the target once more, makes the receipt from notices, and shows
//! changes for `--settle`.

use crate::act::action_target::{ActionTarget, TargetState};
use crate::act::context_rule;
use crate::api::render::{Show, Text};
use crate::command::args::ActionOptions;
use crate::command::context::Cx;
use crate::observe::changes::Changes;
use crate::observe::navigation::Quiet;
use crate::observe::waiting::{MAX_PENDING_CHARS, QUIET_TIME};
use crate::observe::{capture, changes, navigation, notices, receipt};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{ErrorCode, LocatedElement, Notice, Result, SettleRequest};
use stickpin_session::{BaseTree, ContextPolicy, Origin};
use stickpin_tree::{IdentityGrade, NodeId, Tree, Verdict};

/// How long to wait for the first visible effect of an action.
const EFFECT_TIMEOUT: Duration = Duration::from_millis(100);

/// The output of every action.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionOutput {
    /// What was done: `pressed`.
    pub did: Cow<'static, str>,
    /// A description of the target: `@e3 button "Save"`.
    pub target: String,
    /// The current value of the field, or the names of the files that it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The end of the value that the app appended and selected on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed: Option<String>,
    /// The target after the action, if its name or its states changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Whether the app became quiet (`--settle`).
    #[serde(flatten)]
    pub quiet: Option<Quiet>,
    /// What changed (`--settle`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
}

impl ActionOutput {
    /// Creates the output of an action on a target.
    pub(crate) fn new(did: &'static str, target: impl Into<String>) -> Self {
        Self { did: did.into(), target: target.into(), ..Self::default() }
    }
}

/// Discards older notices before an action, and records its target as the opener of the next popup.
///
/// # Errors
/// Returns errors from the device.
pub(crate) async fn begin_action(cx: &mut Cx, ready: &ActionTarget) -> Result<()> {
    // No input of this action caused the notices so far.
    notices::discard(cx).await?;
    cx.envelope.unrecorded_effects = found_in(cx, ready)?.map(|found| (found, ready.handle));
    record_opener(cx, ready)
}

/// Records the target of an action as the opener of the next popup.
///
/// # Errors
/// Returns `SESSION_NOT_FOUND` when nothing is open.
pub(crate) fn record_opener(cx: &mut Cx, ready: &ActionTarget) -> Result<()> {
    if let Some(node) = ready.found.as_ref().and_then(|found| found.node) {
        cx.open_session()?.session.note_act(node);
    }
    Ok(())
}

/// Reads the current state of the target; `None` when it is gone or is a point without an element.
///
/// # Errors
/// Returns errors from the device.
pub(crate) async fn reread_target(cx: &mut Cx, ready: &ActionTarget) -> Result<Option<TargetState>> {
    let Some(handle) = ready.handle else { return Ok(None) };
    let graded = cx.device()?.info().grade != IdentityGrade::None;
    if graded && let Some(LocatedElement { tree, node, .. }) = cx.device()?.locate(handle, &[]).await? {
        return Ok(Some(TargetState::of(tree.node(node))));
    }
    let tree = capture::capture_app(cx, Origin::Internal).await?;
    Ok(rerendered_target(cx, ready).map(|node| TargetState::of(tree.node(node))))
}

/// Determines the outcome of an action. Values that can no longer be read are omitted.
///
/// # Errors
/// Returns errors from the device, even though the action has been carried out.
pub(crate) async fn finish_action(
    cx: &mut Cx,
    ready: Option<&ActionTarget>,
    opts: ActionOptions,
    acted: ActionOutput,
) -> Result<ActionOutput> {
    let brief =
        ActionOutput { did: acted.did.clone(), target: acted.target.clone(), ..ActionOutput::default() };
    match settle_and_observe(cx, ready, opts, acted).await {
        Err(e) if e.code == ErrorCode::BackendLost => match cx.open_session()?.exit_reason().await {
            // This is the intended outcome: the action closed the app's last window.
            Some(reason) => {
                cx.envelope.receipt = vec![stickpin_tree::escape(&reason, MAX_PENDING_CHARS).into()];
                cx.open_session()?.lost = true;
                Ok(brief)
            }
            None => Err(e),
        },
        // The dialog opened while the outcome was being read. The action is done, and the response
        // names the dialog.
        Err(e) if e.code == ErrorCode::DialogOpen => Ok(brief),
        acted => acted,
    }
}

/// Waits for the app (`--settle`, or the first effect of the action), then reads what has changed.
async fn settle_and_observe(
    cx: &mut Cx,
    ready: Option<&ActionTarget>,
    opts: ActionOptions,
    mut acted: ActionOutput,
) -> Result<ActionOutput> {
    // An action may close its own tab.
    navigation::warn_ended_tabs(cx);
    if cx.device()?.dialog().is_some() {
        // The app does not respond until the dialog is answered; the response names the dialog.
        return Ok(acted);
    }
    let cancel = cx.cancel.clone();
    let before = changes::stored_base(cx)?;
    if let Some(cap) = opts.settle {
        let request = SettleRequest::new(QUIET_TIME, cap);
        let mut settled = cx.device()?.settle(request, &cancel).await;
        if went_on(cx, &settled) {
            settled = cx.device()?.settle(request, &cancel).await;
        }
        acted.quiet = Some(settled?.into());
    } else if opts.receipt {
        let effects = cx.device()?.wait_effect(EFFECT_TIMEOUT, &cancel).await;
        if !went_on(cx, &effects) {
            effects?;
        }
    }
    if cx.device()?.dialog().is_some() {
        return Ok(acted);
    }
    let mut seen = None;
    if let Some(ready) = ready {
        (acted.now, seen) = changed_target(cx, ready).await?;
    }
    let noticed = if opts.receipt { notices::take(cx).await? } else { Vec::new() };
    if let Some(Notice::Navigated { url }) = noticed.iter().rfind(|n| matches!(n, Notice::Navigated { .. })) {
        // The receipt reports the navigation, so the client's next points no longer refer to its
        // screenshot of the earlier page.
        let client = cx.client_id();
        cx.open_session()?.screenshots.forget_unless_at(&client, url);
    }
    let mut changed = acted.now.is_some();
    if opts.settle.is_none() {
        changed |= effects_of(cx, ready, opts, seen, &before, &noticed).await?;
    }
    if opts.settle.is_some() {
        let then = before.as_ref().map(|before| before.generation);
        acted.changes = Some(changes::changes_after_action(cx, before.clone()).await?);
        let after = cx.tree()?;
        tell_effects(cx, ready, &before, &after)?;
        cx.envelope.effects.clear();
        // Not every change is signaled.
        changed |= then.is_some() && cx.open_session()?.session.generation() != then;
    }
    if opts.receipt {
        let effects = context_rule::effect_lines(&std::mem::take(&mut cx.envelope.effects));
        cx.envelope.receipt = receipt::receipt_lines(&noticed, changed, effects);
    }
    Ok(acted)
}

/// Records, for the receipt, which of the facts that this client was shown were replaced by an
/// action. Returns whether any fact was replaced.
///
/// `seen` is the app after the action, if it was already read. For a partial device, it contains
/// only the target and the window titles.
async fn effects_of(
    cx: &mut Cx,
    ready: Option<&ActionTarget>,
    opts: ActionOptions,
    seen: Option<Arc<Tree>>,
    before: &Option<BaseTree>,
    notices: &[Notice],
) -> Result<bool> {
    if cx.open_session()?.session.context_policy() == ContextPolicy::Off {
        return Ok(false);
    }
    if cx.device()?.info().partial {
        // Reading the whole app would cost more than the action. Its changes are unknown, and only
        // window titles are compared until the next capture.
        let mut titles = Vec::new();
        if !opts.receipt || notices.contains(&Notice::Changed) {
            let client = cx.client_id();
            let judged = ready.and_then(|ready| ready.tree.as_deref());
            titles = cx.open_session()?.session.waive_context(&client, judged.zip(seen.as_deref()));
        }
        cx.envelope.unrecorded_effects = None;
        let told = !titles.is_empty();
        cx.envelope.effects.append(&mut titles);
        return Ok(told);
    }
    let after = match seen {
        Some(after) => after,
        None => capture::capture_app(cx, Origin::Internal).await?,
    };
    let told = cx.envelope.effects.len();
    tell_effects(cx, ready, before, &after)?;
    Ok(cx.envelope.effects.len() > told)
}

/// Returns the tree of the whole app in which the target was judged; on a partial device, the last
/// full capture. Returns `None` if there is no such tree.
fn found_in(cx: &mut Cx, ready: &ActionTarget) -> Result<Option<Arc<Tree>>> {
    let judged = ready.tree.clone();
    // A partial device reports a single element; its last full capture is older.
    Ok(if cx.device()?.info().partial { cx.open_session()?.session.tree().cloned() } else { judged })
}

fn tell_effects(
    cx: &mut Cx,
    ready: Option<&ActionTarget>,
    before: &Option<BaseTree>,
    after: &Arc<Tree>,
) -> Result<()> {
    let unnoted = cx.envelope.unrecorded_effects.take().map(|(before, _)| before);
    let partial = cx.device()?.info().partial;
    let judged = || ready.and_then(|ready| ready.tree.clone()).filter(|_| !partial);
    let stored = || before.as_ref().map(|b| Arc::clone(&b.tree));
    let Some(before) = unnoted.or_else(judged).or_else(stored) else { return Ok(()) };
    context_rule::record_effects(cx, &before, after, ready.and_then(|ready| ready.handle))
}

/// Returns whether a wait ended together with its tab while the session continues in another one.
fn went_on<T>(cx: &mut Cx, waited: &Result<T>) -> bool {
    let gone = waited.as_ref().is_err_and(|e| e.code == ErrorCode::DeviceNotFound);
    let moved = if gone { navigation::process_ended_tabs(cx) } else { None };
    if let Some(moved) = &moved {
        cx.warn(format!("Note: {moved}."));
    }
    moved.is_some()
}

/// Returns the target's line with its current ref, if the target's name or states changed, and the
/// tree of the app if one was read.
async fn changed_target(cx: &mut Cx, ready: &ActionTarget) -> Result<(Option<String>, Option<Arc<Tree>>)> {
    let (Some(before), Some(handle)) = (&ready.before, ready.handle) else { return Ok((None, None)) };
    let graded = cx.device()?.info().grade != IdentityGrade::None;
    let told = match graded {
        true => cx.device()?.outcome(handle, ready.ticket.clone()).await?,
        false => None,
    };
    if let Some(LocatedElement { tree, node, .. }) = told {
        if TargetState::of(tree.node(node)) == *before {
            return Ok((None, Some(tree)));
        }
        if cx.device()?.info().partial
            && let Some(line) = same_ref(cx, ready, &tree, node)?
        {
            return Ok((Some(line), Some(tree)));
        }
    }
    let tree = capture::capture_app(cx, Origin::Internal).await?;
    let same = tree.find_address(handle).filter(|_| graded).map(|node| node.id());
    let node = same.or_else(|| rerendered_target(cx, ready));
    // The target may be gone.
    let line = match node.filter(|node| TargetState::of(tree.node(*node)) != *before) {
        Some(node) => Some(capture::issue_line(cx, &tree, node)?),
        None => None,
    };
    Ok((line, Some(tree)))
}

/// Returns the line of a target that was given as a ref, without a capture. Returns `None` unless
/// the element is still what the ref was issued for, including its name; a capture would then keep
/// the ref as well.
fn same_ref(cx: &mut Cx, ready: &ActionTarget, tree: &Arc<Tree>, node: NodeId) -> Result<Option<String>> {
    let Some((found, r)) = ready.found.as_ref().and_then(|found| Some((found, found.target_ref?))) else {
        return Ok(None);
    };
    let session = &mut cx.open_session()?.session;
    let same = session.records(tree).judge(&found.meaning, node) == Verdict::Same { reads_now: None };
    // The distinguishing text is computed in the tree in which the target was found.
    let Some((stored, at)) = session.tree().cloned().zip(found.node).filter(|_| same) else {
        return Ok(None);
    };
    let now = tree.node(node);
    let telling = session.records(&stored).distinguishing_text(at);
    let issued = capture::issue(cx, &[at])?.pop();
    let line = stickpin_tree::line(now, issued, telling.as_deref());
    Ok(Some(line).filter(|_| issued == Some(r.without_pin())))
}

/// Returns the node that a re-render put in place of the target, in the stored tree.
fn rerendered_target(cx: &mut Cx, ready: &ActionTarget) -> Option<NodeId> {
    let r = ready.found.as_ref()?.target_ref?;
    let client = cx.client_id();
    let token = stickpin_refs::RefToken::plain(r.without_pin());
    cx.open_session().ok()?.session.resolve(&client, token).ok()?.node
}

impl Show for ActionOutput {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("{} {}", self.did, self.target));
        if let Some(value) = &self.value {
            text.line(format_args!("value {}", stickpin_tree::quote(value)));
        }
        if let Some(completed) = &self.completed {
            text.line(format_args!(
                "the app added {}, which is selected; `key Delete` removes it",
                stickpin_tree::quote(completed)
            ));
        }
        if let Some(now) = &self.now {
            text.line(format_args!("now {now}"));
        }
        if let Some(quiet) = &self.quiet {
            quiet.show(text);
        }
        if let Some(changes) = &self.changes {
            changes.show(text);
        }
    }
}
