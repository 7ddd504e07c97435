//! The standing of a ref at the moment of use.
//!
//! Only [`Session::resolve`] determines it, so that one rule applies to all commands.

use crate::client::ClientId;
use crate::session::Session;
use crate::table::{Element, Entry, Presence};
use std::str::FromStr;
use stickpin_refs::{Generation, Ref, RefToken};
use stickpin_tree::{Handle, Meaning, NodeId};

/// The strictness of a session towards refs that are alive but uncertain.
///
/// `Warn` is the default. A later release makes `Enforce` the default, once clients commonly pin
/// their refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ladder {
    /// Acts on live and unproven refs, with a warning.
    #[default]
    Warn,
    /// Refuses unproven refs and omits the warnings on live ones.
    Enforce,
}

impl FromStr for Ladder {
    type Err = UnknownLadder;

    fn from_str(word: &str) -> Result<Self, UnknownLadder> {
        match word {
            "warn" => Ok(Self::Warn),
            "enforce" => Ok(Self::Enforce),
            _ => Err(UnknownLadder(word.to_owned())),
        }
    }
}

/// The reaction if the context of a target has changed since the client was shown that context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ContextPolicy {
    /// The command is refused with a notice before any input is sent; the repeated command acts.
    #[default]
    Tell,
    /// The command acts, with a warning about the change.
    Warn,
    /// Contexts are not compared.
    Off,
}

/// A word that does not name a [`Ladder`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither `warn` nor `enforce`")]
pub struct UnknownLadder(pub String);

/// The standing of a ref that resolves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Issued or renewed with the stored tree.
    Current,
    /// The element and its meaning are unchanged, but the tree has changed since the client
    /// received the ref.
    Live,
    /// Matched by content in a truncated capture: the node may be a different element.
    Unproven,
}

impl Standing {
    /// Returns the name of this standing in the envelope.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Live => "live",
            Self::Unproven => "unproven",
        }
    }
}

/// Why an issued ref does not resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EndReason {
    /// The element exists but now means something else.
    Changed,
    /// The element is missing from a complete capture, or its tab or window was closed.
    Gone,
    /// The element is in a tab or window other than the current one.
    Elsewhere,
    /// The meaning of the ref is no longer remembered.
    Forgotten,
    /// Under `enforce`, the element is not proven to be the one that the ref was issued for.
    /// Alternatively, a truncated capture does not contain the element, which has no handle.
    Unproven,
}

impl EndReason {
    /// Returns the name of this reason in the envelope and in error details.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Gone => "gone",
            Self::Elsewhere => "elsewhere",
            Self::Forgotten => "forgotten",
            Self::Unproven => "unproven",
        }
    }
}

/// A ref that may be used.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The ref without its pin.
    pub id: Ref,
    /// The node in the current tree; `None` if a truncated capture does not contain the element.
    pub node: Option<NodeId>,
    /// The handle or address that currently identifies the element to the device, if there is one.
    pub handle: Option<Handle>,
    /// The meaning for which the ref was issued.
    pub meaning: Meaning,
    /// The standing of the ref.
    pub standing: Standing,
    /// The warning for the response, if any.
    pub warning: Option<String>,
}

/// A ref that must not be used. Nothing is sent to the device.
#[derive(Debug, Clone)]
pub enum RefFault {
    /// `REF_NOT_FOUND`: this lifetime never issued the ref, or never had the generation of its pin.
    NotIssued {
        /// The ref without its pin.
        r#ref: Ref,
        /// The warning that names the pinned and the current generation, used as the hint. `None`
        /// if the ref has no pin or the two generations are equal.
        warning: Option<String>,
    },
    /// `STALE_REF`: the ref was issued but must not be used now.
    Ended {
        /// The ref without its pin.
        r#ref: Ref,
        /// Why the ref must not be used.
        reason: EndReason,
        /// The meaning for which the ref stood; `None` if it was forgotten.
        was: Option<Meaning>,
        /// The last handle of the element, if any. The device may have given the handle to another
        /// element since.
        handle: Option<Handle>,
        /// A current node to suggest. `changed`: the element itself, to be issued under a new
        /// number. `gone`: the one node of the current tree with the same meaning, if it is unique.
        /// `unproven`: the likely node.
        now: Option<NodeId>,
        /// Whether an element that counts as `gone` still exists but is not shown, for example in a
        /// collapsed part. The ref is valid again when the element is shown.
        hidden: bool,
        /// The warning that names the pinned and the current generation, for the hint. `None` if
        /// the ref has no pin or the two generations are equal.
        warning: Option<String>,
    },
}

impl Session {
    /// Returns the element that a ref of this client currently stands for.
    ///
    /// # Errors
    /// Returns [`RefFault::NotIssued`] for a ref that this lifetime never issued, or whose pin
    /// names a generation that the lifetime never had. Returns [`RefFault::Ended`] for a ref that
    /// must not be used now.
    pub fn resolve(&self, client: &ClientId, token: RefToken) -> Result<Resolved, RefFault> {
        let RefToken { id: r#ref, pin } = token;
        let now = self.generation().unwrap_or(Generation::new(0));
        // A pin to the current generation implies no change of the tree, so a warning would be
        // false.
        let precise = |from: Generation| (from != now).then(|| precise_warning(r#ref, from, now));
        let found = self.table.find(r#ref).filter(|_| pin.is_none_or(|p| has_had_generation(self, p)));
        let Some((element, entry)) = found else {
            let warning = pin.and_then(precise);
            let known = self.table.was_minted(r#ref) && pin.is_none_or(|p| has_had_generation(self, p));
            return Err(if known {
                let reason = EndReason::Forgotten;
                RefFault::Ended { r#ref, reason, was: None, handle: None, now: None, hidden: false, warning }
            } else {
                RefFault::NotIssued { r#ref, warning }
            });
        };
        let given = received_generation(self, client, entry, pin);
        let standing = match given == now {
            true => Standing::Current,
            false
                if element.unproven || (element.presence == Presence::Unseen && element.handle.is_none()) =>
            {
                Standing::Unproven
            }
            false => Standing::Live,
        };
        let end = ended_fault(self, element, entry, standing);
        if let Some((reason, now)) = end {
            let warning = pin.and_then(precise);
            let (was, hidden) = (Some(entry.meaning.clone()), element.presence == Presence::Hidden);
            let handle = element.handle.or(element.unreliable_handle);
            return Err(RefFault::Ended { r#ref, reason, was, handle, now, hidden, warning });
        }
        let node = element.presence.node();
        let handle = node.and_then(|n| self.tree()?.node(n).address()).or(element.handle);
        let warning = match (self.ladder(), standing) {
            (Ladder::Enforce, _) | (_, Standing::Current) => None,
            // The client may pin a tree that did not contain the ref. What matters is the
            // generation with which the client received the ref.
            (Ladder::Warn, _) if pin.is_some() => precise(given),
            (Ladder::Warn, Standing::Unproven) => Some(format!(
                "{ref} may now be another {}: the app does not identify its elements, and only a part of \
                 the app could be read.",
                entry.meaning,
            )),
            (Ladder::Warn, Standing::Live) => Some(format!(
                "The tree changed since {ref} was issued; the ref still means {}.",
                entry.meaning
            )),
        };
        Ok(Resolved { id: r#ref, node, handle, meaning: entry.meaning.clone(), standing, warning })
    }
}

/// Returns whether a generation belongs to this lifetime.
fn has_had_generation(session: &Session, generation: Generation) -> bool {
    session.generation().is_some_and(|now| (session.seed..=now).contains(&generation))
}

/// Returns the generation with which this client received the ref, from the pin or from memory. If
/// it is unknown, or if the pin names the current generation, returns the generation with which any
/// client last received the ref.
fn received_generation(
    session: &Session,
    client: &ClientId,
    entry: &Entry,
    pin: Option<Generation>,
) -> Generation {
    match pin {
        Some(pin) if Some(pin) == session.generation() => entry.received_at,
        Some(pin) => pin,
        // A client that never received the ref got it from another client.
        None => session.clients.received_at(client, entry.id).unwrap_or(entry.received_at),
    }
}

fn ended_fault(
    session: &Session,
    element: &Element,
    entry: &Entry,
    standing: Standing,
) -> Option<(EndReason, Option<NodeId>)> {
    match element.presence {
        Presence::Elsewhere => Some((EndReason::Elsewhere, None)),
        Presence::Gone | Presence::Hidden => {
            Some((EndReason::Gone, unique_similar_node(session, &entry.meaning)))
        }
        Presence::Here(_) | Presence::Unseen if element.active != Some(entry.id) => {
            Some((EndReason::Changed, element.presence.node()))
        }
        Presence::Unseen if element.handle.is_none() => Some((EndReason::Unproven, None)),
        Presence::Here(node) if session.ladder() == Ladder::Enforce && standing == Standing::Unproven => {
            Some((EndReason::Unproven, Some(node)))
        }
        Presence::Here(_) | Presence::Unseen => None,
    }
}

/// Returns the unique node of the current tree with the same meaning, for the message about a ref
/// whose element is gone.
fn unique_similar_node(session: &Session, meaning: &Meaning) -> Option<NodeId> {
    let tree = session.tree()?;
    let records = session.records(tree);
    let like = tree.nodes().filter(|n| n.role() == meaning.role() && n.name() == meaning.name());
    let mut same = like.map(|n| n.id()).filter(|&n| records.judge(meaning, n).is_same());
    match (same.next(), same.next()) {
        (Some(node), None) => Some(node),
        _ => None,
    }
}

/// Returns the warning that the tree has changed since the ref was received, in the documented
/// wording.
fn precise_warning(r#ref: Ref, from: Generation, now: Generation) -> String {
    format!(
        "Ref {ref} was minted from snapshot {from} but the session tree is now {now} — re-run snapshot -i."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precise_warning_has_the_promised_wording() {
        let warning = precise_warning(Ref::new(37).unwrap(), Generation::new(12), Generation::new(13));
        assert_eq!(
            warning,
            "Ref @e37 was minted from snapshot s12 but the session tree is now s13 — re-run snapshot -i."
        );
    }
}
