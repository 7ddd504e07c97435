//! The presence of an element, for `is` and `wait`.

use super::errors::{NOT_CAPTURED, ambiguous, no_point, ref_error};
use super::{capture_matches, look_for, resolved_target, standing};
use crate::api::target::{RefTarget, Target};
use crate::command::context::Cx;
use crate::observe::capture;
use std::sync::Arc;
use stickpin_device::{Error, Result};
use stickpin_session::{EndReason, RefFault};
use stickpin_tree::{Meaning, NodeId, Tree};

/// The tree that a command that only reads uses while another agent holds the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// The stored tree, whose nodes have refs.
    Stored,
    /// A new tree, which is not stored.
    Now,
}

/// The presence of an element. An ended ref and a selector without matches are answers here, not
/// errors.
#[derive(Debug)]
pub(crate) enum Presence {
    /// The element exists, in this tree.
    Present(Arc<Tree>, NodeId),
    /// The element does not exist or cannot be seen, for this reason.
    Absent(String),
    /// This many elements match, and any of them is an answer.
    Several(usize),
}

/// Determines whether the element of a target exists now. An ended ref is an answer here. `any`
/// allows several matches. `freshness` matters while another agent holds the turn.
///
/// # Errors
/// Returns `REF_NOT_FOUND` or `AMBIGUOUS_MATCH`, `INVALID_ARGS` for a point, and the errors of
/// capturing the app.
pub(crate) async fn determine_presence(
    cx: &mut Cx,
    target: &Target,
    any: bool,
    freshness: Freshness,
) -> Result<Presence> {
    let is_apart = freshness == Freshness::Now && cx.held_by().is_some();
    match target {
        Target::Ref(r) if is_apart => ref_presence_now(cx, *r).await,
        Target::Ref(r) => {
            let (tree, now) = look_for(cx, *r).await?;
            match now {
                Ok(resolved) => {
                    let found = resolved_target(cx, *r, resolved);
                    Ok(match found.node {
                        Some(node) => Presence::Present(tree, node),
                        None => Presence::Absent(NOT_CAPTURED.to_owned()),
                    })
                }
                Err(RefFault::Ended { hidden: true, .. }) => Ok(Presence::Absent("is hidden".to_owned())),
                Err(RefFault::Ended { reason, .. }) => Ok(Presence::Absent(format!("is {}", reason.name()))),
                Err(fault) => Err(ref_error(cx, fault)?),
            }
        }
        Target::Selector(s) => {
            let (tree, matches) = capture_matches(cx, s, freshness).await?;
            match matches[..] {
                [] => Ok(Presence::Absent("is not there".to_owned())),
                [node] => Ok(Presence::Present(tree, node)),
                ref several if any => Ok(Presence::Several(several.len())),
                // Without refs, candidates could not be told apart.
                ref several if !capture::is_stored(cx, &tree)? => {
                    Err(Error::ambiguous_match(format!("{} elements match {s}", several.len()))
                        .hint("add terms to the selector until it matches one element"))
                }
                ref several => Err(ambiguous(cx, &tree, s, several)?),
            }
        }
        Target::Point { .. } => Err(no_point(target)),
    }
}

/// Determines whether the element of a ref exists in a new tree that is not stored. The element is
/// found again by its handle, if the app identifies its elements, and must still have the same
/// meaning.
async fn ref_presence_now(cx: &mut Cx, target: RefTarget) -> Result<Presence> {
    let (meaning, handle, ended) = match standing(cx, target)? {
        Ok(resolved) => {
            let found = resolved_target(cx, target, resolved);
            (found.meaning, found.handle, None)
        }
        Err(RefFault::Ended { reason, was: Some(was), handle, .. }) => (was, handle, Some(reason)),
        Err(RefFault::Ended { reason, .. }) => {
            return Ok(Presence::Absent(format!("is {}", reason.name())));
        }
        Err(fault) => return Err(ref_error(cx, fault)?),
    };
    let has_identity = cx.tree()?.nodes().any(|node| node.handle().is_some());
    let tree = capture::capture_unstored(cx).await?;
    let there = {
        let records = cx.open_session()?.session.records(&tree);
        let same = |node: NodeId| records.judge(&meaning, node).is_same();
        let node = match has_identity {
            true => handle.and_then(|handle| tree.find_address(handle)).map(|node| node.id()),
            // If the app does not identify its elements, any element with the same meaning is an
            // answer.
            false => like(&tree, &meaning).find(|node| same(*node)),
        };
        node.map(|node| (node, same(node)))
    };
    Ok(match there {
        Some((node, true)) => Presence::Present(tree, node),
        Some((_, false)) => Presence::Absent(format!("is {}", EndReason::Changed.name())),
        None if ended.is_none() && tree.is_truncated() => Presence::Absent(NOT_CAPTURED.to_owned()),
        None => Presence::Absent(format!("is {}", ended.unwrap_or(EndReason::Gone).name())),
    })
}

/// Returns the nodes with the role and the name of a meaning.
fn like<'t>(tree: &'t Tree, meaning: &'t Meaning) -> impl Iterator<Item = NodeId> + use<'t> {
    let alike = tree.nodes().filter(move |n| n.role() == meaning.role() && n.name() == meaning.name());
    alike.map(|node| node.id())
}
