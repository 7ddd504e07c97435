//! The beginning of a command in the log of its session, while the command is running.

use crate::api::command_definition::CommandDefinition;
use crate::api::secret::{self, Secret};
use serde_json::{Map, Value};
use std::sync::Arc;
use stickpin_coordinator::{Participant, SessionAuthority, StoredTree, Ticket};
use stickpin_session::log::{Redacted, Redactor};
use stickpin_tree::{Outline, OutlineQueries, Tree, View};

/// A running command whose beginning is in the log of its session.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) session: Arc<SessionAuthority>,
    pub(crate) who: Participant,
    pub(crate) ticket: Ticket,
    pub(crate) redactor: CommandRedactor,
}

impl Begun {
    /// Returns the sequence number of the record with which the command begins.
    pub(crate) fn seq(&self) -> u64 {
        self.ticket.command().seq()
    }

    /// Queues for the log a tree that the command captured.
    pub(crate) fn log_tree(&self, generation: u64, tree: Arc<Tree>) {
        let redactor = CommandRedactor { secrets: self.redactor.secrets.clone(), typed: Vec::new() };
        let stored = StoredTree {
            generation,
            node_count: u64::try_from(tree.len()).unwrap_or(u64::MAX),
            text: Box::new(move || Redacted::new(text(&tree), &redactor)),
        };
        stored.log(&self.session, Some(&self.who));
    }
}

/// Renders every node of a tree as a line, without the values of fields that hide their content.
fn text(tree: &Tree) -> String {
    let view = View { all: true, raw: true, max_bytes: usize::MAX, ..View::default() };
    Outline::plan(tree, &view, &OutlineQueries::NONE).render(&|_| None)
}

/// Keeps secrets out of the log: those that the caller named, those that were filled in before, and
/// text that may be typed into a field that hides its content.
#[derive(Debug)]
pub(crate) struct CommandRedactor {
    pub(crate) secrets: Vec<Secret>,
    /// The names of the arguments whose text may be typed into such a field.
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

impl CommandDefinition {
    /// Summarizes a call as `key="value", key=value`, in at most 80 characters plus the number of
    /// omitted arguments. Text that the command may type is masked, because the field may turn out
    /// to hide it.
    #[must_use]
    pub fn summarize(&self, input: &Map<String, Value>) -> String {
        let typed = self.fields().iter().filter(|field| field.is_free_text || field.nested_targets.is_some());
        let typed = typed.map(|field| field.name.clone()).collect();
        self.summarize_for(input, &CommandRedactor { secrets: Vec::new(), typed })
    }

    /// Summarizes a call. Omits arguments that have their default values.
    pub(crate) fn summarize_for(&self, input: &Map<String, Value>, redactor: &dyn Redactor) -> String {
        let is_default = |name: &str, value: &Value| {
            self.fields().iter().any(|field| field.name == name && field.default.as_ref() == Some(value))
        };
        let mut given = input.clone();
        given.retain(|name, value| !is_default(name, value));
        stickpin_session::summarize(&given, redactor)
    }
}
