//! The output of `install` and `uninstall`.

use crate::outcome::{Outcome, Status};
use serde::Serialize;
use stickpin_kernel::{Error, Show, Text};

/// What happened to each target.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Whether this is a plan, and nothing was changed.
    pub(super) plan: bool,
    pub(super) results: Vec<Outcome>,
}

impl Show for Report {
    fn show(&self, text: &mut Text) {
        if self.plan {
            text.line("plan (nothing was changed):");
        }
        for outcome in &self.results {
            let target = outcome.target.name();
            let (harness, status, path) = (outcome.harness, outcome.status.words(), outcome.path.display());
            let why = match outcome.message.as_str() {
                "" => String::new(),
                message => format!(": {message}"),
            };
            text.line(format_args!("{harness} {target}: {status} ({path}){why}"));
            if let Some(entry) = &outcome.entry {
                text.line(format_args!("  {entry}"));
            }
        }
        if self.results.is_empty() {
            text.line("found no harness to install into");
        }
    }

    fn failure(&self) -> Option<Error> {
        let failed = self.results.iter().filter(|outcome| outcome.status == Status::Failed);
        let failed: Vec<&str> = failed.map(|outcome| outcome.harness).collect();
        (!failed.is_empty()).then(|| {
            let message =
                format!("{} of {} targets failed: {}", failed.len(), self.results.len(), failed.join(", "));
            Error::io(message).hint("fix the failures listed in the results, then run the command again")
        })
    }
}
