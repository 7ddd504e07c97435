//! Resolution of a target to exactly one element.
//!
//! The session decides the standing of a ref. A selector must match exactly one element.

mod errors;
mod presence;

pub(crate) use errors::{MAX_CANDIDATES, add_candidates, no_point, not_found};
pub(crate) use presence::{Freshness, Presence, determine_presence};

use crate::api::request::RefDetail;
use crate::api::target::{RefTarget, Target};
use crate::command::context::Cx;
use crate::observe::capture;
use errors::{NOT_CAPTURED, SNAPSHOT_HINT, ambiguous, ref_error};
use std::collections::HashSet;
use std::sync::Arc;
use stickpin_device::{Error, Result};
use stickpin_refs::RefToken;
use stickpin_session::{EndReason, Origin, RefFault, Resolved, Standing};
use stickpin_tree::{Handle, Meaning, NodeId, NodeRef, Selector, Tree};

/// The maximum number of times that a selector is matched while the browser finds only elements
/// that the capture lacks.
const MAX_CSS_CAPTURES: usize = 3;

/// The element that a target resolved to.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedTarget {
    /// The ref, if the target is one.
    pub(crate) target_ref: Option<RefTarget>,
    /// The node in the stored tree; `None` if a truncated capture does not contain the element.
    pub(crate) node: Option<NodeId>,
    /// The current handle for calls to the device.
    pub(crate) handle: Option<Handle>,
    /// The meaning for which the ref was issued, or the current meaning.
    pub(crate) meaning: Meaning,
}

impl ResolvedTarget {
    fn at(node: NodeRef<'_>, meaning: Meaning, target_ref: Option<RefTarget>) -> Self {
        Self { target_ref, node: Some(node.id()), handle: node.address(), meaning }
    }

    /// Describes the element, and begins with the ref if the target is one.
    pub(crate) fn describe(&self) -> String {
        match self.target_ref {
            Some(r) => format!("{} {}", r.without_pin(), self.meaning),
            None => self.meaning.to_string(),
        }
    }
}

/// Resolves a ref without reading the app.
///
/// # Errors
/// Returns `REF_NOT_FOUND`, `STALE_REF`, `SESSION_NOT_FOUND` when nothing is open, and errors from
/// issuing the refs that the message names.
pub(crate) fn resolve_ref(cx: &mut Cx, target: RefTarget) -> Result<ResolvedTarget> {
    let resolved = standing(cx, target)?;
    require_usable(cx, target, resolved)
}

/// Resolves a ref for an action. Captures the app first if the element was gone in the last
/// capture, because the element may be back.
pub(crate) async fn resolve_ref_for_action(cx: &mut Cx, target: RefTarget) -> Result<ResolvedTarget> {
    let mut resolved = standing(cx, target)?;
    if let Err(RefFault::Ended { reason: EndReason::Gone, .. }) = resolved {
        capture::capture_app(cx, Origin::Internal).await?;
        resolved = standing(cx, target)?;
    }
    require_usable(cx, target, resolved)
}

fn require_usable(
    cx: &mut Cx,
    target: RefTarget,
    resolved: Result<Resolved, RefFault>,
) -> Result<ResolvedTarget> {
    match resolved {
        Ok(resolved) => Ok(resolved_target(cx, target, resolved)),
        Err(fault) => Err(ref_error(cx, fault)?),
    }
}

/// Returns the token of a ref. The pin of a ref that an earlier step of this batch issued is
/// ignored, because the client wrote the steps before it knew the ref.
pub(crate) fn token_of(cx: &Cx, target: RefTarget) -> RefToken {
    let number = target.without_pin().get();
    match cx.batch_issued.iter().any(|(first, last)| (*first..=*last).contains(&number)) {
        true => RefToken::plain(target.without_pin()),
        false => target.token(),
    }
}

/// Resolves a ref for `--allow-changed`: accepts an element whose meaning has changed or cannot be
/// proven, and warns about it.
pub(crate) fn resolve_changed_ref(cx: &mut Cx, target: RefTarget) -> Result<ResolvedTarget> {
    match standing(cx, target)? {
        Ok(resolved) => Ok(resolved_target(cx, target, resolved)),
        Err(RefFault::Ended {
            reason: EndReason::Changed | EndReason::Unproven, now: Some(node), ..
        }) => {
            let tree = cx.tree()?;
            let meaning = capture::meaning(cx, &tree, node)?;
            cx.warn(format!("{} is now {meaning}.", target.without_pin()));
            Ok(ResolvedTarget::at(tree.node(node), meaning, Some(target)))
        }
        Err(fault) => Err(ref_error(cx, fault)?),
    }
}

/// Judges what the client had seen of several targets, before this command captures the app for the
/// first of them.
///
/// # Errors
/// Returns `SESSION_NOT_FOUND` when nothing is open. An unusable ref fails only when it is used.
pub(crate) fn note_standings<'t>(cx: &mut Cx, targets: impl IntoIterator<Item = &'t Target>) -> Result<()> {
    for target in targets {
        if let Target::Ref(r) = target
            && let Ok(resolved) = standing(cx, *r)?
        {
            resolved_target(cx, *r, resolved);
        }
    }
    Ok(())
}

fn standing(cx: &mut Cx, target: RefTarget) -> Result<Result<Resolved, RefFault>> {
    let (client, token) = (cx.client_id(), token_of(cx, target));
    let session = &cx.open_session()?.session;
    let resolved = session.resolve(&client, token);
    let (standing, meaning) = match &resolved {
        Ok(r) => (r.standing.name(), r.meaning.to_string()),
        Err(RefFault::NotIssued { .. }) => ("never", String::new()),
        Err(RefFault::Ended { reason, was, .. }) => {
            (reason.name(), was.as_ref().map(Meaning::to_string).unwrap_or_default())
        }
    };
    cx.envelope.reference = Some(RefDetail {
        body: target.without_pin().to_string(),
        minted: token.pin.map(|g| g.get()),
        current: session.generation().map(|g| g.get()),
        standing: standing.to_owned(),
        meaning,
    });
    Ok(resolved)
}

/// Resolves a ref after a capture by this command itself. The standing was judged before, so this
/// capture is no reason to warn.
///
/// # Errors
/// Returns the errors of [`resolve_ref`].
pub(crate) fn resolve_after_capture(cx: &mut Cx, target: RefTarget) -> Result<ResolvedTarget> {
    let mut resolved = standing(cx, target)?;
    if let Ok(Resolved { standing: Standing::Live, warning, .. }) = &mut resolved {
        *warning = None;
    }
    require_usable(cx, target, resolved)
}

fn resolved_target(cx: &mut Cx, target: RefTarget, resolved: Resolved) -> ResolvedTarget {
    let first = !cx.envelope.judged_refs.contains(&target.without_pin());
    if first {
        cx.envelope.judged_refs.push(target.without_pin());
    }
    // Warn on the first resolution only: later captures by this command are no reason to warn.
    if let Some(warning) = resolved.warning
        && (first || resolved.standing == Standing::Unproven)
    {
        cx.warn(warning);
    }
    ResolvedTarget {
        target_ref: Some(target),
        node: resolved.node,
        handle: resolved.handle,
        meaning: resolved.meaning,
    }
}

/// Captures the app and returns the one element that a selector matches.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND` with the nearest elements, `AMBIGUOUS_MATCH` with candidates, and
/// the errors of [`capture_matches`].
pub(crate) async fn resolve_selector(cx: &mut Cx, selector: &Selector) -> Result<ResolvedTarget> {
    let (tree, matches) = capture_matches(cx, selector, Freshness::Stored).await?;
    the_match(cx, &tree, selector, &matches)
}

/// Returns the one element that a selector matches in the stored tree.
fn the_match(cx: &mut Cx, tree: &Tree, selector: &Selector, matches: &[NodeId]) -> Result<ResolvedTarget> {
    match matches {
        [] => Err(not_found(cx, tree, selector)?),
        [node] => {
            let meaning = capture::meaning(cx, tree, *node)?;
            Ok(ResolvedTarget::at(tree.node(*node), meaning, None))
        }
        several => Err(ambiguous(cx, tree, selector, several)?),
    }
}

/// Captures the app and returns the nodes that a selector matches, reduced to distinct elements by
/// [`reduce`](stickpin_tree::reduce).
///
/// # Errors
/// Returns the errors of [`capture::capture_app`] and [`match_in`].
pub(crate) async fn capture_matches(
    cx: &mut Cx,
    selector: &Selector,
    freshness: Freshness,
) -> Result<(Arc<Tree>, Vec<NodeId>)> {
    let mut tree = capture(cx, freshness).await?;
    let mut captures = 1;
    loop {
        let Matched { nodes, unknown } = match_in(cx, &tree, selector).await?;
        // The app may have replaced the element between the capture and the browser's answer, so
        // capture again before reporting that no element matches.
        if !unknown || captures == MAX_CSS_CAPTURES {
            return Ok((tree, nodes));
        }
        let next = capture(cx, freshness).await?;
        if Arc::ptr_eq(&next, &tree) {
            return Ok((tree, nodes));
        }
        (tree, captures) = (next, captures + 1);
    }
}

async fn capture(cx: &mut Cx, freshness: Freshness) -> Result<Arc<Tree>> {
    match freshness {
        Freshness::Stored => capture::capture_app(cx, Origin::Internal).await,
        Freshness::Now => capture::capture_now(cx).await,
    }
}

/// The nodes that a selector matches in a tree.
struct Matched {
    nodes: Vec<NodeId>,
    /// Whether there are no such nodes, but a `css=` term matches an element that the tree does not
    /// contain: the element is hidden, or the app changed after the capture.
    unknown: bool,
}

/// Matches a selector in a tree, and reduces the matches to distinct elements. Evaluates `css=`
/// terms in the app as it is now.
///
/// # Errors
/// Returns `UNSUPPORTED` for `css=` if the device cannot evaluate it, and errors from the device.
async fn match_in(cx: &mut Cx, tree: &Tree, selector: &Selector) -> Result<Matched> {
    let mut answers = Vec::new();
    for css in selector.css() {
        let handles: HashSet<Handle> = crate::command::facets::script(cx.device()?, "match `css=`")?
            .css(css)
            .await?
            .into_iter()
            .collect();
        answers.push((css, handles));
    }
    let matches = selector.matches_with(tree, &|css, node| {
        let address = tree.node(node).address();
        answers.iter().any(|(c, handles)| *c == css && address.is_some_and(|a| handles.contains(&a)))
    });
    let unknown = matches.is_empty() && {
        let known: HashSet<Handle> = tree.nodes().filter_map(|node| node.address()).collect();
        answers.iter().flat_map(|(_, handles)| handles).any(|handle| !known.contains(handle))
    };
    Ok(Matched { nodes: stickpin_tree::reduce(tree, &matches), unknown })
}

/// Captures the app and resolves a target, for commands that read.
///
/// # Errors
/// Returns the errors of [`resolve_ref`] and [`resolve_selector`], and `INVALID_ARGS` for a point.
pub(crate) async fn resolve_element(cx: &mut Cx, target: &Target) -> Result<(Arc<Tree>, NodeId)> {
    let found = match target {
        Target::Ref(r) => {
            let (_, resolved) = look_for(cx, *r).await?;
            require_usable(cx, *r, resolved)?
        }
        Target::Selector(s) => resolve_selector(cx, s).await?,
        Target::Point { .. } => return Err(no_point(target)),
    };
    Ok((cx.tree()?, in_tree(&found)?))
}

/// Resolves a ref in a new capture. First judges what the client had seen, so that the capture is
/// no reason to warn.
async fn look_for(cx: &mut Cx, target: RefTarget) -> Result<(Arc<Tree>, Result<Resolved, RefFault>)> {
    let before = standing(cx, target)?;
    let told = cx.envelope.reference.clone();
    let tree = capture::capture_app(cx, Origin::Internal).await?;
    let mut now = standing(cx, target)?;
    if let (Ok(before), Ok(now)) = (before, &mut now)
        && now.standing != Standing::Unproven
    {
        now.warning = before.warning;
        cx.envelope.reference = told;
    }
    Ok((tree, now))
}

/// Resolves a target in the stored tree, without another capture.
///
/// # Errors
/// Returns the errors of [`resolve_element`].
pub(crate) async fn resolve_in_stored_tree(cx: &mut Cx, target: &Target) -> Result<NodeId> {
    let found = match target {
        Target::Ref(r) => resolve_ref(cx, *r)?,
        Target::Selector(s) => {
            let tree = cx.tree()?;
            let Matched { nodes, .. } = match_in(cx, &tree, s).await?;
            the_match(cx, &tree, s, &nodes)?
        }
        Target::Point { .. } => return Err(no_point(target)),
    };
    in_tree(&found)
}

/// Returns the node of an element in the stored tree.
fn in_tree(found: &ResolvedTarget) -> Result<NodeId> {
    found.node.ok_or_else(|| {
        Error::element_not_found(format!("{} {NOT_CAPTURED}", found.describe())).hint(SNAPSHOT_HINT)
    })
}
