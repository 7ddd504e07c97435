//! Decides what to do with the entry in a configuration. Pure: maps what was read to what to write.

use crate::edit::{EditError, Format, lookup};
use crate::harness::{Config, Slot};
use crate::outcome::Status;
use crate::shape::{KnownServers, Server, recognise, same};
use serde_json::Value;

/// The entries that a run requires.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Intent<'a> {
    /// An entry for this server.
    Install(Server<'a>),
    /// No entry.
    Uninstall,
    /// No entry that is in a legacy shape or whose program no longer exists. The function reports
    /// whether an absolute path exists.
    Cleanup(fn(&str) -> bool),
}

/// The decision about an entry.
#[derive(Debug, Clone)]
pub(crate) enum Decision {
    /// Change nothing. The fields are the status, the shape of the entry, if known, and the reason.
    Keep(Status, Option<&'static str>, &'static str),
    /// Write an entry; `old` is the shape of the entry that it replaces, if any.
    Set { slot: &'static Slot, value: Value, old: Option<&'static str> },
    /// Remove the entries at these positions. Each position is paired with the shape of its entry.
    Remove(Vec<(&'static Slot, &'static str)>),
}

/// Decides what to do with a configuration.
pub(crate) fn decide(root: &Value, config: &Config, known: &KnownServers, intent: Intent<'_>) -> Decision {
    let mut found = config.slots.iter().filter_map(|slot| Some((slot, lookup(root, slot.pointer)?)));
    let Intent::Install(server) = intent else {
        return removals(found, known, intent);
    };
    let Some(used) = config.slot(root) else {
        return Decision::Keep(Status::Preserved, None, "the configuration has no place for the entry");
    };
    let (slot, entry) = found.next().map_or((used, None), |(slot, entry)| (slot, Some(entry)));
    let Some(written) = slot.shapes.first() else {
        return Decision::Keep(Status::Preserved, None, "the configuration has no place for the entry");
    };
    let value = (written.build)(&server);
    let Some(entry) = entry else { return Decision::Set { slot, value, old: None } };
    if let Some(shape) = slot.shapes.iter().find(|shape| same(&(shape.build)(&server), entry)) {
        return Decision::Keep(Status::AlreadyPresent, Some(shape.id), "");
    }
    match recognise(entry, slot.shapes, slot.legacy, known) {
        Some(old) => Decision::Set { slot, value, old: Some(old.shape) },
        None => Decision::Keep(
            Status::Preserved,
            None,
            "the entry was written or edited by hand; to have it rewritten, remove it first",
        ),
    }
}

fn removals<'v>(
    found: impl Iterator<Item = (&'static Slot, &'v Value)>,
    known: &KnownServers,
    intent: Intent<'_>,
) -> Decision {
    let (mut removed, mut kept) = (Vec::new(), None);
    for (slot, entry) in found {
        let ours = recognise(entry, slot.shapes, slot.legacy, known);
        match (ours, intent) {
            (None, _) => kept = Some((Status::Preserved, None, "the entry was written or edited by hand")),
            (Some(ours), Intent::Cleanup(exists))
                if !ours.legacy && (!ours.command.starts_with('/') || exists(ours.command)) =>
            {
                kept = kept.or(Some((Status::AlreadyPresent, Some(ours.shape), "")));
            }
            (Some(ours), _) => removed.push((slot, ours.shape)),
        }
    }
    match kept {
        _ if !removed.is_empty() => Decision::Remove(removed),
        Some((status, shape, message)) => Decision::Keep(status, shape, message),
        None => Decision::Keep(Status::AlreadyAbsent, None, ""),
    }
}

impl Decision {
    /// Returns the status of the target after the decision has been carried out.
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Keep(status, ..) => *status,
            Self::Set { old: None, .. } => Status::Added,
            Self::Set { old: Some(_), .. } => Status::Updated,
            Self::Remove(_) => Status::Removed,
        }
    }

    /// Returns the shape of the entry that is kept or written, or of the first one that is removed,
    /// if that shape is known.
    pub(crate) fn shape(&self) -> Option<&'static str> {
        match self {
            Self::Keep(_, shape, _) => *shape,
            Self::Set { slot, .. } => slot.shapes.first().map(|shape| shape.id),
            Self::Remove(removed) => removed.first().map(|(_, shape)| *shape),
        }
    }

    /// Returns whether existing content is lost.
    pub(crate) fn is_destructive(&self) -> bool {
        matches!(self, Self::Remove(_) | Self::Set { old: Some(_), .. })
    }

    /// Returns the text of a configuration after the decision has been carried out.
    pub(crate) fn edit(&self, format: Format, text: &str) -> Result<String, EditError> {
        match self {
            Self::Keep(..) => Ok(text.to_owned()),
            Self::Set { slot, value, .. } => format.set(text, slot.pointer, value),
            Self::Remove(removed) => {
                removed.iter().try_fold(text.to_owned(), |text, (slot, _)| format.remove(&text, slot.pointer))
            }
        }
    }
}
