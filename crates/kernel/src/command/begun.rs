//! The beginning of a command in the log of its session, while the command runs.

use crate::api::secret::{self, Secret};
use std::sync::Arc;
use stickpin_coordinator::{SessionAuthority, Ticket};
use stickpin_session::log::Redactor;

/// The beginning of a command in the log of its session.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) session: Arc<SessionAuthority>,
    pub(crate) ticket: Ticket,
    pub(crate) redactor: CommandRedactor,
}

impl Begun {
    /// Returns the sequence number of the record of the command's begin.
    pub(crate) fn seq(&self) -> u64 {
        self.ticket.command().seq()
    }
}

/// Keeps secrets out of the log: those that the caller named, those that were filled in before, and
/// what is typed where it may go into a field that hides it.
#[derive(Debug)]
pub(crate) struct CommandRedactor {
    pub(crate) secrets: Vec<Secret>,
    /// The arguments that are typed into a field that may hide them.
    pub(crate) typed: Vec<String>,
}

impl Redactor for CommandRedactor {
    fn is_secret(&self, argument: &str) -> bool {
        self.typed.iter().any(|name| name == argument)
    }

    fn redact(&self, text: &mut String) {
        secret::hide_in_text(text, &self.secrets);
    }
}
