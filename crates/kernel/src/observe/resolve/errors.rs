//! The errors of targets that do not resolve, with what to use instead.

use crate::api::target::Target;
use crate::command::context::Cx;
use crate::observe::capture;
use serde_json::json;
use stickpin_device::{Error, Result};
use stickpin_refs::Ref;
use stickpin_session::{EndReason, RefFault};
use stickpin_tree::{Meaning, NodeId, Selector, States, Tree};

/// The maximum number of candidates in an error.
pub(crate) const MAX_CANDIDATES: usize = 5;

/// The end of the message about an element that a truncated capture does not contain.
pub(super) const NOT_CAPTURED: &str = "is not in the part of the app that could be read";

pub(super) const SNAPSHOT_HINT: &str = "run `stickpin snapshot -i` to see what is there now";

/// Creates the error for a selector without matches, and issues refs for the nearest elements.
///
/// # Errors
/// Returns the errors of issuing a ref.
pub(crate) fn not_found(cx: &mut Cx, tree: &Tree, selector: &Selector) -> Result<Error> {
    let near = capture::issue_described(cx, tree, &stickpin_tree::nearest(tree, selector, 3))?;
    let e = Error::element_not_found(format!("no element matches {selector}"));
    Ok(if near.is_empty() {
        e.hint("run `stickpin find TEXT` to search for text, or `stickpin snapshot -i` to list the elements")
    } else {
        add_candidates(e, "nearest:", &near, near.len())
    })
}

pub(super) fn ambiguous(cx: &mut Cx, tree: &Tree, selector: &Selector, found: &[NodeId]) -> Result<Error> {
    let named = capture::issue_described(cx, tree, &found[..found.len().min(MAX_CANDIDATES)])?;
    let e = Error::ambiguous_match(format!("{} elements match {selector}", found.len()));
    Ok(add_candidates(e, "use one of:", &named, found.len()))
}

/// Creates the error for an unusable ref: what it was, what happened, and what to do next. Issues
/// refs for the element to use instead, if there is one, and for a dialog that may hide the old
/// element.
pub(super) fn ref_error(cx: &mut Cx, fault: RefFault) -> Result<Error> {
    let (r#ref, reason, was, handle, now, is_hidden, warning) = match fault {
        RefFault::NotIssued { r#ref, warning } => {
            let lists = || "run `stickpin snapshot -i` to list the elements with their refs".to_owned();
            // Without the pin, the ref may be one that this lifetime issued.
            let pin = if warning.is_some() { " with this pin" } else { "" };
            let message = format!("{ref}{pin} was never issued in this session's lifetime");
            return Ok(Error::ref_not_found(message).hint(warning.unwrap_or_else(lists)));
        }
        RefFault::Ended { r#ref, reason, was, handle, now, hidden, warning, .. } => {
            (r#ref, reason, was, handle, now, hidden, warning)
        }
    };
    let tree = cx.tree()?;
    let because = match (&was, now) {
        (Some(was), Some(node)) if reason == EndReason::Changed && !is_hidden => {
            cx.open_session()?.session.records(&tree).judge(was, node).clause()
        }
        _ => None,
    };
    let modal = tree.nodes().find(|n| is_hidden && n.is(States::MODAL)).map(|n| n.id());
    let behind = describe_node(cx, &tree, modal)?;
    let now = describe_node(cx, &tree, now)?;
    let (reason, (what, next)) = match is_hidden {
        true => (EndReason::Gone, explain_hidden(r#ref, behind.as_ref(), now.as_ref())),
        false => {
            let with = match handle.filter(|_| reason == EndReason::Gone) {
                Some(handle) => cx.device()?.lifecycle().and_then(|life| life.gone_with(handle)),
                None => None,
            };
            (reason, explain_stale(reason, now.as_ref(), with))
        }
    };
    let was = was.as_ref().map(Meaning::to_string);
    let message = match &was {
        Some(was) => format!("{ref} was {was}; {what}"),
        None => format!("{ref} {what}"),
    };
    let hint = warning.map_or_else(|| next.clone(), |warning| format!("{warning} {next}"));
    let mut details = json!({
        "ref": r#ref.to_string(), "reason": reason.name(), "was": was,
        "now": now.as_ref().map(|(r, _)| r.to_string()), "nowIs": now.as_ref().map(|(_, line)| line),
    });
    if is_hidden {
        details["hidden"] = json!(true);
    }
    if let Some((dialog, _)) = behind {
        details["behind"] = json!(dialog.to_string());
    }
    if let Some(clause) = because {
        details["because"] = json!(clause.reason());
    }
    Ok(Error::stale_ref(message).hint(hint).details(details))
}

/// Returns the ref and the description of a node of the stored tree, if there is one.
fn describe_node(cx: &mut Cx, tree: &Tree, node: Option<NodeId>) -> Result<Option<(Ref, String)>> {
    Ok(capture::issue_described(cx, tree, node.as_slice())?.pop())
}

/// Describes an element that is connected but hidden, and the next step. Nobody can act on the
/// element now.
fn explain_hidden(
    r#ref: Ref,
    behind: Option<&(Ref, String)>,
    now: Option<&(Ref, String)>,
) -> (String, String) {
    let (mut what, mut next) = match behind {
        Some((dialog, line)) => (
            format!("it is hidden now, perhaps behind {line}"),
            format!("close the dialog first (see `stickpin snapshot -s {dialog}`); then {ref} works again"),
        ),
        None => (
            "it is hidden now".to_owned(),
            format!("make {ref} visible first (see `stickpin snapshot -i`); then it works again"),
        ),
    };
    if let Some((new, line)) = now {
        what = format!("{what}; the element that reads the same is {line}");
        next = format!("use {new} if that is what you mean, or {next}");
    }
    (what, next)
}

/// Describes the element of an ended ref, and the next step. `with` names what removed the element.
fn explain_stale(reason: EndReason, now: Option<&(Ref, String)>, with: Option<String>) -> (String, String) {
    let gone = with.map_or_else(|| "it is gone".to_owned(), |with| format!("it is gone with {with}"));
    match (reason, now) {
        (EndReason::Changed, Some((new, line))) => (
            format!("that element changed and is now {line}"),
            format!("use {new} if that is what you mean, or act with `--allow-changed`"),
        ),
        (EndReason::Gone, Some((new, line))) => (
            format!("{gone}; the element that reads the same is {line}"),
            format!("use {new} if that is what you mean"),
        ),
        (EndReason::Unproven, Some((new, line))) => (
            format!("it cannot be proven to be the same element; it is probably {line}"),
            format!("use {new} if that is what you mean, or act with `--allow-changed`"),
        ),
        (EndReason::Unproven, None) => {
            ("it cannot be proven to be the same element".to_owned(), SNAPSHOT_HINT.to_owned())
        }
        (EndReason::Elsewhere, _) => (
            "it is in another tab or window".to_owned(),
            "switch to that tab or window, then repeat the command".to_owned(),
        ),
        (EndReason::Forgotten, _) => {
            ("ended so long ago that no details are kept".to_owned(), SNAPSHOT_HINT.to_owned())
        }
        (EndReason::Changed, None) => ("that element changed".to_owned(), SNAPSHOT_HINT.to_owned()),
        _ => (gone, SNAPSHOT_HINT.to_owned()),
    }
}

/// Adds candidates to the hint and the details of an error. `total` also counts candidates that
/// `named` omits.
pub(crate) fn add_candidates(e: Error, lead: &str, named: &[(Ref, String)], total: usize) -> Error {
    let mut hint = lead.to_owned();
    for (_, line) in named {
        hint.push_str("\n  ");
        hint.push_str(line);
    }
    if total > named.len() {
        hint.push_str(&format!("\n  … {} more", total - named.len()));
    }
    let list: Vec<_> = named.iter().map(|(r, line)| json!({ "ref": r.to_string(), "is": line })).collect();
    e.hint(hint).details(json!({ "candidates": list, "total": total }))
}

/// Creates the error for a point that was given to a command that needs an element.
pub(crate) fn no_point(target: &Target) -> Error {
    Error::invalid_args(format!("{target} is a point, but a ref or a selector is needed"))
        .hint(crate::api::target::TARGET_FORMS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cut_capture_lacks_is_not_called_gone() {
        let (what, _) = explain_stale(EndReason::Unproven, None, None);
        assert_eq!(what, "it cannot be proven to be the same element");
        assert_eq!(explain_stale(EndReason::Gone, None, None).0, "it is gone");
    }
}
