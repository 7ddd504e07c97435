//! From a target to the one element that it means.
//!
//! The only reader of pins. A ref is worth what its session says; a selector must match exactly one element.

use crate::cx::Cx;
use crate::error::{Error, ErrorCode, Result};
use crate::request::RefDetail;
use crate::target::{RefTarget, Target};
use serde_json::json;
use std::sync::Arc;
use stickpin_refs::Ref;
use stickpin_session::{EndReason, Origin, RefFault, Resolved, Standing};
use stickpin_tree::{Handle, Meaning, NodeId, Selector, Tree};

/// Candidates that an error names.
const CANDIDATES: usize = 5;

/// The element that a target means.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Its ref, if it was named by one.
    pub(crate) r#ref: Option<RefTarget>,
    /// Its place in the stored tree; `None` if a cut capture does not show it.
    pub(crate) node: Option<NodeId>,
    /// How to name it to the device now.
    pub(crate) handle: Option<Handle>,
    /// What it was issued for, or what it is.
    pub(crate) meaning: Meaning,
}

impl Found {
    /// It in words, with its ref if it has one.
    pub(crate) fn words(&self) -> String {
        match self.r#ref {
            Some(r) => format!("{} {}", r.plain(), self.meaning),
            None => self.meaning.to_string(),
        }
    }
}

/// An answer to a question that an ended ref or a selector without matches answers too.
#[derive(Debug)]
pub(crate) enum Presence {
    /// It is there, in this tree.
    There(Arc<Tree>, NodeId),
    /// It is not, for this reason.
    Not(String),
}

impl Cx {
    /// The element that a ref stands for, without looking at the app.
    ///
    /// # Errors
    /// `REF_NOT_FOUND`, `STALE_REF`.
    pub(crate) fn resolve_ref(&mut self, target: RefTarget) -> Result<Found> {
        match self.standing(target)? {
            Ok(resolved) => Ok(self.found(target, resolved)),
            Err(fault) => Err(self.fault(fault)?),
        }
    }

    /// The same, but an element that means something else now is accepted (`--allow-changed`).
    pub(crate) fn resolve_changed(&mut self, target: RefTarget) -> Result<Found> {
        match self.standing(target)? {
            Ok(resolved) => Ok(self.found(target, resolved)),
            Err(RefFault::Ended {
                reason: EndReason::Changed | EndReason::Unproven,
                now: Some(node),
                ..
            }) => {
                let tree = self.tree()?;
                let meaning = self.meaning(&tree, node)?;
                self.warn(format!("{} is {meaning} now.", target.plain()));
                Ok(Found {
                    r#ref: Some(target),
                    node: Some(node),
                    handle: tree.node(node).address(),
                    meaning,
                })
            }
            Err(fault) => Err(self.fault(fault)?),
        }
    }

    fn standing(&mut self, target: RefTarget) -> Result<Result<Resolved, RefFault>> {
        let client = self.client();
        let session = &self.live()?.session;
        let resolved = session.resolve(&client, target.token());
        let (standing, meaning) = match &resolved {
            Ok(r) => (r.standing.name(), r.meaning.to_string()),
            Err(RefFault::NotIssued { .. }) => ("never", String::new()),
            Err(RefFault::Ended { reason, was, .. }) => {
                (reason.name(), was.as_ref().map(Meaning::to_string).unwrap_or_default())
            }
        };
        self.envelope.reference = Some(RefDetail {
            body: target.plain().to_string(),
            minted: target.token().pin.map(|g| g.get()),
            current: session.generation().map(|g| g.get()),
            standing: standing.to_owned(),
            meaning,
        });
        Ok(resolved)
    }

    /// The element of a ref after a capture that this command made for itself. What the client had seen was worked
    /// out before that: our own look is no reason to warn.
    ///
    /// # Errors
    /// As [`Cx::resolve_ref`].
    pub(crate) fn resolve_again(&mut self, target: RefTarget) -> Result<Found> {
        match self.standing(target)? {
            Ok(mut resolved) => {
                if resolved.standing == Standing::Live {
                    resolved.warning = None;
                }
                Ok(self.found(target, resolved))
            }
            Err(fault) => Err(self.fault(fault)?),
        }
    }

    fn found(&mut self, target: RefTarget, resolved: Resolved) -> Found {
        if let Some(warning) = resolved.warning {
            self.warn(warning);
        }
        Found { r#ref: Some(target), node: resolved.node, handle: resolved.handle, meaning: resolved.meaning }
    }

    /// The one element that a selector matches now.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND` with the nearest, `AMBIGUOUS_MATCH` with candidates.
    pub(crate) async fn resolve_selector(&mut self, selector: &Selector) -> Result<Found> {
        self.look(Origin::Look).await?;
        self.the_match(selector).await
    }

    /// The same, in the stored tree.
    async fn the_match(&mut self, selector: &Selector) -> Result<Found> {
        let tree = self.tree()?;
        let matches = self.matches(&tree, selector).await?;
        match stickpin_tree::reduce(&tree, &matches)[..] {
            [] => Err(self.not_found(&tree, selector)?),
            [node] => {
                let meaning = self.meaning(&tree, node)?;
                Ok(Found { r#ref: None, node: Some(node), handle: tree.node(node).address(), meaning })
            }
            ref several => Err(self.ambiguous(&tree, selector, several)?),
        }
    }

    /// All that a selector matches in a tree that was captured just now.
    ///
    /// # Errors
    /// `UNSUPPORTED` for `css=` where the device cannot answer it.
    pub(crate) async fn matches(&mut self, tree: &Tree, selector: &Selector) -> Result<Vec<NodeId>> {
        let mut answers = Vec::new();
        for css in selector.css() {
            answers.push((css, self.device()?.css(css).await?));
        }
        Ok(selector.matches_with(tree, &|css, node| {
            let address = tree.node(node).address();
            answers.iter().any(|(c, handles)| *c == css && address.is_some_and(|a| handles.contains(&a)))
        }))
    }

    /// The element that a target means in a tree captured now. For commands that read.
    ///
    /// # Errors
    /// As resolving; `INVALID_ARGS` for a point.
    pub(crate) async fn element(&mut self, target: &Target) -> Result<(Arc<Tree>, NodeId)> {
        self.look(Origin::Look).await?;
        let node = self.in_stored_tree(target).await?;
        Ok((self.tree()?, node))
    }

    /// The element that a target means in the stored tree, which was captured just now.
    ///
    /// # Errors
    /// As [`Cx::element`].
    pub(crate) async fn in_stored_tree(&mut self, target: &Target) -> Result<NodeId> {
        let found = match target {
            Target::Ref(r) => self.resolve_ref(*r)?,
            Target::Selector(s) => self.the_match(s).await?,
            Target::Point { .. } => return Err(no_point(target)),
        };
        match found.node {
            Some(node) => Ok(node),
            None => Err(Error::new(
                ErrorCode::ElementNotFound,
                format!("{} is not in the part of the app that could be read", found.words()),
            )),
        }
    }

    /// Whether the element that a target means is there now. An ended ref is an answer here.
    ///
    /// # Errors
    /// `REF_NOT_FOUND`, `AMBIGUOUS_MATCH`.
    pub(crate) async fn presence(&mut self, target: &Target) -> Result<Presence> {
        match target {
            Target::Ref(r) => {
                let tree = self.look(Origin::Look).await?;
                match self.standing(*r)? {
                    Ok(resolved) => {
                        let found = self.found(*r, resolved);
                        Ok(match found.node {
                            Some(node) => Presence::There(tree, node),
                            None => {
                                Presence::Not("is not in the part of the app that could be read".to_owned())
                            }
                        })
                    }
                    Err(RefFault::Ended { reason, .. }) => Ok(Presence::Not(format!("is {}", reason.name()))),
                    Err(fault) => Err(self.fault(fault)?),
                }
            }
            Target::Selector(s) => {
                let tree = self.look(Origin::Look).await?;
                let matches = self.matches(&tree, s).await?;
                match stickpin_tree::reduce(&tree, &matches)[..] {
                    [] => Ok(Presence::Not("is not there".to_owned())),
                    [node] => Ok(Presence::There(tree, node)),
                    ref several => Err(self.ambiguous(&tree, s, several)?),
                }
            }
            Target::Point { .. } => Err(no_point(target)),
        }
    }

    /// The stored tree.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when nothing is open.
    pub(crate) fn tree(&mut self) -> Result<Arc<Tree>> {
        let tree = self.live()?.session.tree().cloned();
        tree.ok_or_else(|| Error::new(ErrorCode::Internal, "the session has no tree yet"))
    }

    /// No element matches; the nearest are issued and named.
    ///
    /// # Errors
    /// As issuing.
    pub(crate) fn not_found(&mut self, tree: &Tree, selector: &Selector) -> Result<Error> {
        let near = self.named(tree, &stickpin_tree::nearest(tree, selector, 3))?;
        let e = Error::new(ErrorCode::ElementNotFound, format!("no element matches {selector}"));
        Ok(if near.is_empty() {
            e.hint("stickpin find TEXT looks for a text, stickpin snapshot -i lists what can be acted on")
        } else {
            candidates(e, "nearest:", &near, near.len())
        })
    }

    pub(crate) fn ambiguous(&mut self, tree: &Tree, selector: &Selector, found: &[NodeId]) -> Result<Error> {
        let named = self.named(tree, &found[..found.len().min(CANDIDATES)])?;
        let e = Error::new(ErrorCode::AmbiguousMatch, format!("{} elements match {selector}", found.len()));
        Ok(candidates(e, "use one of:", &named, found.len()))
    }

    /// The error of a ref that may not be used. Issues what the element is now, or the one like it.
    pub(crate) fn fault(&mut self, fault: RefFault) -> Result<Error> {
        match fault {
            RefFault::NotIssued { r#ref, warning } => Ok(Error::new(
                ErrorCode::RefNotFound,
                format!("{ref} was never issued in this session's lifetime"),
            )
            .hint(
                warning
                    .unwrap_or_else(|| "stickpin snapshot -i lists the elements with their refs".to_owned()),
            )),
            RefFault::Ended { r#ref, reason, was, now, warning } => {
                self.stale(r#ref, reason, was, now, warning)
            }
        }
    }

    fn stale(
        &mut self,
        r#ref: Ref,
        reason: EndReason,
        was: Option<Meaning>,
        now: Option<NodeId>,
        warning: Option<String>,
    ) -> Result<Error> {
        let tree = self.tree()?;
        let now = match now {
            Some(node) => self.named(&tree, &[node])?.pop(),
            None => None,
        };
        let was = was.map(|m| m.to_string());
        let subject = was.as_ref().map_or_else(|| r#ref.to_string(), |was| format!("{ref} was {was}"));
        let (what, next) = match (reason, &now) {
            (EndReason::Changed, Some((new, line))) => (
                format!("that element changed: now {line}"),
                format!("use {new} if that is what you mean, or --allow-changed"),
            ),
            (EndReason::Gone, Some((new, line))) => (
                format!("it is gone; the one that reads the same is {line}"),
                format!("use {new} if that is what you mean"),
            ),
            (EndReason::Unproven, Some((new, line))) => (
                format!("that it still is cannot be proved; likely it is {line}"),
                format!("use {new} if that is what you mean, or --allow-changed"),
            ),
            (EndReason::Elsewhere, _) => {
                ("it is in another tab or window".to_owned(), "go back there, then use it again".to_owned())
            }
            (EndReason::Forgotten, _) => {
                ("it ended so long ago that nothing is known of it".to_owned(), AGAIN.to_owned())
            }
            (EndReason::Changed, None) => ("that element changed".to_owned(), AGAIN.to_owned()),
            _ => ("it is gone".to_owned(), AGAIN.to_owned()),
        };
        let now_ref = now.as_ref().map(|(r, _)| r.to_string());
        let now_is = now.as_ref().map(|(_, line)| line.clone());
        let hint = match warning {
            Some(warning) => format!("{warning} {next}"),
            None => next,
        };
        Ok(Error::new(ErrorCode::StaleRef, format!("{subject}; {what}")).hint(hint).details(json!({
            "ref": r#ref.to_string(), "reason": reason.name(), "was": was, "now": now_ref, "nowIs": now_is,
        })))
    }
}

const AGAIN: &str = "stickpin snapshot -i shows what is there now";

fn candidates(e: Error, lead: &str, named: &[(Ref, String)], total: usize) -> Error {
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

/// A point where an element has to be named.
pub(crate) fn no_point(target: &Target) -> Error {
    Error::new(ErrorCode::InvalidArgs, format!("{target} is a point; this needs a ref or a selector"))
        .hint(crate::target::FORMS)
}
