//! Captures of the app, and refs issued for the captured nodes.

use crate::command::context::Cx;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{CaptureRequest, CaptureResult, Dialog, Error, ErrorCode, Page, Result};
use stickpin_refs::Ref;
use stickpin_session::turn::AgentId;
use stickpin_session::{NumberError, Origin};
use stickpin_tree::{Meaning, NodeId, Tree};
use tokio::time::Instant;

/// Captures the whole UI and stores it in the session. A command that only reads may get the stored
/// tree instead: see [`capture_for_reader`].
///
/// # Errors
/// Returns the errors of [`check_no_dialog`], and errors from the device.
pub(crate) async fn capture_app(cx: &mut Cx, origin: Origin) -> Result<Arc<Tree>> {
    Ok(capture_for_reader(cx, origin).await?.0)
}

/// Captures the app. While another agent holds the turn, a command that only reads gets the stored
/// tree, if there is one, and its age. A new tree would outdate the holder's refs.
///
/// # Errors
/// Returns the errors of [`capture_app`].
pub(crate) async fn capture_for_reader(cx: &mut Cx, origin: Origin) -> Result<(Arc<Tree>, Option<Duration>)> {
    let holder = cx.held_by();
    let live = cx.open_session()?;
    let age = live.captured.map(|at| at.elapsed());
    if let (Some(holder), Some(age), Some(tree)) = (holder, age, live.session.tree().cloned()) {
        warn_of_age(cx, &holder, age);
        return Ok((tree, Some(age)));
    }
    Ok((capture_and_store(cx, origin).await?, None))
}

/// Adds the warning that the command reads the stored tree, unless an earlier capture added it.
fn warn_of_age(cx: &mut Cx, holder: &AgentId, age: Duration) {
    let lead = format!("{holder} holds the turn: ");
    if !cx.envelope.warnings.iter().any(|warning| warning.starts_with(&lead)) {
        cx.warn(format!(
            "{lead}elements and refs are {} ms old; `snapshot --fresh` shows the app as it is now, without refs.",
            age.as_millis()
        ));
    }
}

/// Captures the app as it is now, for a command that waits or that needs no refs. While another
/// agent holds the turn, the tree of a command that only reads is not stored, and its nodes get no
/// refs.
///
/// # Errors
/// Returns the errors of [`capture_app`].
pub(crate) async fn capture_now(cx: &mut Cx) -> Result<Arc<Tree>> {
    match cx.held_by() {
        Some(_) => capture_unstored(cx).await,
        None => capture_and_store(cx, Origin::Internal).await,
    }
}

/// Captures the whole UI and stores it in the session, whoever holds the turn.
///
/// # Errors
/// Returns the errors of [`check_no_dialog`], and errors from the device.
async fn capture_and_store(cx: &mut Cx, origin: Origin) -> Result<Arc<Tree>> {
    check_no_dialog(cx)?;
    let (tree, is_new) = capture_against_stored(cx).await?;
    let live = cx.open_session()?;
    live.captured = Some(Instant::now());
    // A snapshot always gets its own generation, even when nothing changed.
    if !is_new && origin != Origin::Snapshot {
        return Ok(tree);
    }
    let replaced = live.session.replace_tree(tree, origin);
    let tree = live.session.tree().cloned();
    let stored = live.session.generation().map(|generation| generation.get()).zip(tree.clone());
    if let Some(document) = tree.as_ref().and_then(|t| t.documents().first()) {
        live.page = Some(Page::new(document.url.clone(), document.title.clone()));
    }
    cx.envelope.ended.extend(replaced.ended);
    if let (Some(begun), Some((generation, tree))) = (&cx.envelope.begun, stored) {
        begun.log_tree(generation, tree);
    }
    tree.ok_or_else(|| Error::internal("a stored tree is missing"))
}

/// Captures the whole UI, which the device may compare with the stored tree. Returns the tree, and
/// whether it is a new one rather than the stored one. Stores nothing.
///
/// # Errors
/// Returns errors from the device.
pub(crate) async fn capture_against_stored(cx: &mut Cx) -> Result<(Arc<Tree>, bool)> {
    let live = cx.open_session()?;
    let watch = live.session.watched_handles();
    let stored = live.session.tree().cloned();
    let request = CaptureRequest::default().watch(&watch).stored(stored.as_ref());
    match (live.device.capture(request).await?, stored) {
        (CaptureResult::Tree(tree), _) => Ok((tree, true)),
        (CaptureResult::Unchanged, Some(tree)) => Ok((tree, false)),
        (CaptureResult::Unchanged, None) => {
            Err(Error::internal("the device reported no change since a capture that it never made"))
        }
        (other, _) => Err(Error::internal(format!("the device returned {other:?} for a capture"))),
    }
}

/// Captures the app without storing the tree.
///
/// # Errors
/// Returns the errors of [`check_no_dialog`], and errors from the device.
pub(crate) async fn capture_unstored(cx: &mut Cx) -> Result<Arc<Tree>> {
    check_no_dialog(cx)?;
    match cx.device()?.capture(CaptureRequest::default()).await? {
        CaptureResult::Tree(tree) => Ok(tree),
        other => Err(Error::internal(format!("the device returned {other:?} for a capture"))),
    }
}

/// Issues refs to the caller for nodes of the stored tree.
///
/// # Errors
/// Returns `STORAGE_FULL` or `IO` when numbers cannot be reserved, and `SESSION_NOT_FOUND` when
/// nothing is open.
pub(crate) fn issue(cx: &mut Cx, nodes: &[NodeId]) -> Result<Vec<Ref>> {
    let client = cx.client_id();
    let refs = cx.open_session()?.session.issue(&client, nodes);
    note_issued(cx, refs)
}

/// Issues refs in a response that shows the stored tree in full.
///
/// # Errors
/// Returns the errors of [`issue`].
pub(crate) fn issue_in_full(cx: &mut Cx, nodes: &[NodeId]) -> Result<Vec<Ref>> {
    let client = cx.client_id();
    let refs = cx.open_session()?.session.issue_in_full(&client, nodes);
    cx.envelope.full |= refs.is_ok();
    note_issued(cx, refs)
}

fn note_issued(cx: &mut Cx, refs: Result<Vec<Ref>, NumberError>) -> Result<Vec<Ref>> {
    let refs = refs.map_err(|e| {
        let full = matches!(&e, NumberError::Storage { full: true, .. });
        let (code, hint) = match full {
            true => (ErrorCode::StorageFull, "no refs were issued; free disk space, then repeat the command"),
            false => (
                ErrorCode::Io,
                "no refs were issued; make the state directory writable, or choose another with `--state-dir DIR`",
            ),
        };
        Error::new(code, e.to_string()).hint(hint)
    })?;
    cx.envelope.issued.extend(&refs);
    Ok(refs)
}

/// Returns the meaning with which a ref for a node would be issued now.
///
/// # Errors
/// Returns `SESSION_NOT_FOUND` when nothing is open.
pub(crate) fn meaning(cx: &mut Cx, tree: &Tree, node: NodeId) -> Result<Meaning> {
    Ok(cx.open_session()?.session.records(tree).meaning(node))
}

/// Issues refs for nodes of the stored tree and describes each with its record: `@e57 button
/// "Delete" in row "Mail 11"`.
///
/// # Errors
/// Returns the errors of [`issue`].
pub(crate) fn issue_described(cx: &mut Cx, tree: &Tree, nodes: &[NodeId]) -> Result<Vec<(Ref, String)>> {
    let refs = issue(cx, nodes)?;
    let records = cx.open_session()?.session.records(tree);
    let name = |(r, &n): (Ref, &NodeId)| (r, format!("{r} {}", records.meaning(n)));
    Ok(refs.into_iter().zip(nodes).map(name).collect())
}

/// Returns whether a tree is the stored one, whose nodes can get refs.
///
/// # Errors
/// Returns `SESSION_NOT_FOUND` when nothing is open.
pub(crate) fn is_stored(cx: &mut Cx, tree: &Tree) -> Result<bool> {
    Ok(cx.open_session()?.session.tree().is_some_and(|stored| std::ptr::eq(&**stored, tree)))
}

/// Issues the ref of one node and returns the node's line, including states. If the tree is not the
/// stored one, the line has no ref.
///
/// # Errors
/// Returns the errors of [`issue`].
pub(crate) fn issue_line(cx: &mut Cx, tree: &Tree, node: NodeId) -> Result<String> {
    let r = if is_stored(cx, tree)? { issue(cx, &[node])?.pop() } else { None };
    let telling = cx.open_session()?.session.records(tree).distinguishing_text(node);
    Ok(stickpin_tree::line(tree.node(node), r, telling.as_deref()))
}

/// Fails when a dialog blocks the app.
///
/// # Errors
/// Returns `DIALOG_OPEN`, `TIMEOUT` when the command was cancelled, or `SESSION_NOT_FOUND` when
/// nothing is open.
pub(crate) fn check_no_dialog(cx: &mut Cx) -> Result<()> {
    cx.check()?;
    cx.device()?.dialog().map_or(Ok(()), |dialog| Err(dialog_error(&dialog)))
}

/// Creates the error for an app dialog that blocks everything else.
pub(crate) fn dialog_error(dialog: &Dialog) -> Error {
    Error::dialog_open(format!("the app is waiting for an answer to its {}", dialog.describe()))
        .hint("run `stickpin alert accept` or `stickpin alert dismiss`")
}
