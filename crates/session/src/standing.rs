//! What a ref is worth when somebody uses it.
//!
//! Worked out once, where a command's arguments are parsed, for every consumer alike.

use crate::client::ClientId;
use crate::session::Session;
use crate::table::{Element, Entry, Place};
use std::str::FromStr;
use stickpin_refs::{Generation, Ref, RefToken};
use stickpin_tree::{Handle, Meaning, NodeId};

/// How strict the session is with refs that are alive but not certain.
///
/// `Warn` is the default. `Enforce` becomes it in a later release, once clients that pin are established: until then
/// a refusal would hit clients that cannot know better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ladder {
    /// Executes what is alive and warns where the client has not seen the current tree.
    #[default]
    Warn,
    /// Refuses what is not proven, and drops the warnings on what is.
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

/// What happens when the context of a target has changed since the client was shown it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ContextPolicy {
    /// The client is told before anything is sent; the same command, repeated, acts.
    #[default]
    Tell,
    /// The command acts, and its warning says what changed.
    Warn,
    /// Contexts are not compared.
    Off,
}

/// A word that is no step of the ladder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither warn nor enforce")]
pub struct UnknownLadder(pub String);

/// The standing of a ref that resolves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Issued or renewed with the stored tree.
    Current,
    /// The same element with the same meaning; the tree moved on since.
    Live,
    /// Found by likeness in a capture that was cut: it may be another element.
    Unproven,
}

impl Standing {
    /// The word for it in the envelope.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Live => "live",
            Self::Unproven => "unproven",
        }
    }
}

/// Why a ref that was issued does not resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EndReason {
    /// The element is there and means something else now.
    Changed,
    /// The element is not there.
    Gone,
    /// The element was in another tab or window than the one that is looked at.
    Elsewhere,
    /// It ended so long ago that nothing is known of it any more.
    Forgotten,
    /// It cannot be proved that the element is the one that was issued (`enforce`), or the capture was cut before it.
    Unproven,
}

impl EndReason {
    /// The word for it in the envelope and in error details.
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
    /// Without its pin.
    pub r#ref: Ref,
    /// Its node in the current tree; `None` if a cut capture does not show it.
    pub node: Option<NodeId>,
    /// How to name it to the device now.
    pub handle: Option<Handle>,
    /// What it was issued for.
    pub meaning: Meaning,
    /// How certain that is.
    pub standing: Standing,
    /// What the response has to say about it.
    pub warning: Option<String>,
}

/// A ref that may not be used. Nothing is sent to the device.
#[derive(Debug, Clone)]
pub enum RefFault {
    /// This lifetime never issued it, or never had the generation of its pin (`REF_NOT_FOUND`).
    NotIssued {
        /// Without its pin.
        r#ref: Ref,
        /// The precise warning, as the hint.
        warning: Option<String>,
    },
    /// It no longer stands for anything (`STALE_REF`).
    Ended {
        /// Without its pin.
        r#ref: Ref,
        /// Why.
        reason: EndReason,
        /// What it stood for; `None` if that is forgotten.
        was: Option<Meaning>,
        /// How the device named it last, where it did. It may name another element by now.
        handle: Option<Handle>,
        /// `changed`: the element itself, to be issued under a new number. `gone`: the one element of the current
        /// tree that has the same meaning, if there is exactly one. `unproven`: the likely element.
        now: Option<NodeId>,
        /// `gone`: the element is there and not shown, behind a dialog or in a closed part; the ref is good again when
        /// it shows.
        hidden: bool,
        /// The precise warning, for the hint.
        warning: Option<String>,
    },
}

impl Session {
    /// What a ref stands for, for this client, now.
    ///
    /// # Errors
    /// [`RefFault::NotIssued`] and [`RefFault::Ended`].
    pub fn resolve(&self, client: &ClientId, token: RefToken) -> Result<Resolved, RefFault> {
        let RefToken { r#ref, pin } = token;
        let now = self.generation().unwrap_or(Generation::new(0));
        // A pin to the current generation says nothing about a move; a sentence about one would be false.
        let precise = |from: Generation| (from != now).then(|| precise_warning(r#ref, from, now));
        let found = self.table.find(r#ref).filter(|_| pin.is_none_or(|p| has_had(self, p)));
        let Some((element, entry)) = found else {
            let warning = pin.and_then(precise);
            let known = self.table.was_minted(r#ref) && pin.is_none_or(|p| has_had(self, p));
            return Err(if known {
                let reason = EndReason::Forgotten;
                RefFault::Ended { r#ref, reason, was: None, handle: None, now: None, hidden: false, warning }
            } else {
                RefFault::NotIssued { r#ref, warning }
            });
        };
        let given = given(self, client, entry, pin);
        let standing = match given == now {
            true => Standing::Current,
            false if element.unproven || (element.place == Place::Unseen && element.handle.is_none()) => {
                Standing::Unproven
            }
            false => Standing::Live,
        };
        let end = end_of(self, element, entry, standing);
        if let Some((reason, now)) = end {
            let warning = pin.and_then(precise);
            let (was, hidden) = (Some(entry.meaning.clone()), element.place == Place::Hidden);
            let handle = element.handle.or(element.lapsed);
            return Err(RefFault::Ended { r#ref, reason, was, handle, now, hidden, warning });
        }
        let node = element.place.node();
        let handle = node.and_then(|n| self.tree()?.node(n).address()).or(element.handle);
        let warning = match (self.ladder(), standing) {
            (Ladder::Enforce, _) | (_, Standing::Current) => None,
            // A pin to a tree with which the ref was not given is a client's error; the tree that it was given with
            // is what the client has to know.
            (Ladder::Warn, _) if pin.is_some() => precise(given),
            (Ladder::Warn, Standing::Unproven) => Some(format!(
                "{ref} may be another {} now: the app does not say which element is which, and only a part of it \
                 could be read.",
                entry.meaning,
            )),
            (Ladder::Warn, Standing::Live) => {
                Some(format!("The tree changed since {ref} was issued; it is still {}.", entry.meaning))
            }
        };
        Ok(Resolved { r#ref, node, handle, meaning: entry.meaning.clone(), standing, warning })
    }
}

/// Whether a generation belongs to this lifetime.
fn has_had(session: &Session, generation: Generation) -> bool {
    session.generation().is_some_and(|now| (session.seed..=now).contains(&generation))
}

/// With which tree this client was given the ref, as far as it says or we know.
fn given(session: &Session, client: &ClientId, entry: &Entry, pin: Option<Generation>) -> Generation {
    match pin {
        Some(pin) if Some(pin) == session.generation() => entry.given,
        Some(pin) => pin,
        // Somebody who was never given it read it where another client was.
        None => session.clients.given(client, entry.r#ref).unwrap_or(entry.given),
    }
}

fn end_of(
    session: &Session,
    element: &Element,
    entry: &Entry,
    standing: Standing,
) -> Option<(EndReason, Option<NodeId>)> {
    match element.place {
        Place::Elsewhere => Some((EndReason::Elsewhere, None)),
        Place::Gone | Place::Hidden => Some((EndReason::Gone, only_one_like(session, &entry.meaning))),
        Place::Here(_) | Place::Unseen if element.active != Some(entry.r#ref) => {
            Some((EndReason::Changed, element.place.node()))
        }
        Place::Unseen if element.handle.is_none() => Some((EndReason::Unproven, None)),
        Place::Here(node) if session.ladder() == Ladder::Enforce && standing == Standing::Unproven => {
            Some((EndReason::Unproven, Some(node)))
        }
        Place::Here(_) | Place::Unseen => None,
    }
}

/// The one element of the current tree that means the same, for the message of a ref that is gone.
fn only_one_like(session: &Session, meaning: &Meaning) -> Option<NodeId> {
    let tree = session.tree()?;
    let records = session.records(tree);
    let like = tree.nodes().filter(|n| n.role() == meaning.role() && n.name() == meaning.name());
    let mut same = like.map(|n| n.id()).filter(|&n| records.judge(meaning, n).is_same());
    match (same.next(), same.next()) {
        (Some(node), None) => Some(node),
        _ => None,
    }
}

/// The precise warning, word for word as it is promised.
fn precise_warning(r#ref: Ref, from: Generation, now: Generation) -> String {
    format!(
        "Ref {ref} was minted from snapshot {from} but the session tree is now {now} — re-run snapshot -i."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_precise_warning_is_word_for_word_as_promised() {
        let warning = precise_warning(Ref::new(37).unwrap(), Generation::new(12), Generation::new(13));
        assert_eq!(
            warning,
            "Ref @e37 was minted from snapshot s12 but the session tree is now s13 — re-run snapshot -i."
        );
    }
}
