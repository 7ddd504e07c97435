//! The refs that a run was given, and what it leaves behind: sessions and repaired scripts.

use super::CLOSE;
use crate::plan::Step;
use std::collections::BTreeSet;
use std::path::PathBuf;
use stickpin_kernel::schema::NestedTargets;
use stickpin_kernel::{Error, RefsEnvelope, Response};

/// A repaired script.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RepairedScript {
    /// The path of the script.
    pub path: PathBuf,
    /// The difference from the original, as a patch.
    pub patch: String,
}

/// The state of one run, collected from the responses to its requests.
#[derive(Default)]
pub(super) struct RunState {
    /// The ranges of ref numbers that steps may use: those that the caller had, and those that this
    /// run was given.
    issued: Vec<(u32, u32)>,
    /// The sessions that the run opened and that are still open.
    pub(super) open: BTreeSet<String>,
    /// The session and state directory that the last response named.
    pub(super) last_session: Option<(String, PathBuf)>,
    /// The refs that the caller is given with a divergence.
    pub(super) refs: Option<RefsEnvelope>,
    /// The repaired scripts that the last `close` of the run wrote.
    pub(super) repaired: Vec<RepairedScript>,
}

impl RunState {
    /// Starts with the refs that the caller already has.
    pub(super) fn new(given: Vec<(u32, u32)>) -> Self {
        Self { issued: given, ..Self::default() }
    }

    /// Records the refs that a line of the script was given, and the session that answered.
    pub(super) fn record_refs(&mut self, response: &Response) {
        self.issued.extend(response.refs.iter().flat_map(|refs| &refs.issued));
        // Steps of a batch have their own envelopes.
        let steps = response.output.as_ref().and_then(|output| output["steps"].as_array());
        for step in steps.into_iter().flatten() {
            let refs = serde_json::from_value::<RefsEnvelope>(step["refs"].clone());
            self.issued.extend(refs.into_iter().flat_map(|refs| refs.issued));
        }
        if let (Some(session), Some(dir)) = (&response.session, &response.state_dir) {
            self.last_session = Some((session.clone(), dir.clone()));
        }
    }

    /// Records the open sessions and repaired scripts after a successful step.
    pub(super) fn record_step(&mut self, step: &Step, response: &Response) {
        let entry = step.line.entry;
        if let Some(session) = &response.session {
            if entry.begins_session() {
                self.open.insert(session.clone());
            }
            // The command that ends sessions.
            if entry.spec.name == CLOSE {
                self.open.remove(session);
                let repaired = response.output.as_ref().and_then(|output| output.get("repaired")).cloned();
                // A `close` that repaired nothing has no such field.
                self.repaired = repaired.and_then(|h| serde_json::from_value(h).ok()).unwrap_or_default();
            }
        }
    }

    /// Returns an error if a step uses a ref that this run was not given, which could denote
    /// another element here.
    pub(super) fn unknown_ref(&self, step: &Step) -> Option<Error> {
        // A step of a batch may issue a ref that the next one uses, so the daemon checks those.
        if step.line.entry.fields().iter().any(|f| f.nested_targets == Some(NestedTargets::Steps)) {
            return None;
        }
        let mut unknown = None;
        step.line.entry.rewrite_targets(&mut step.line.input.clone(), &mut |target| {
            if let Ok(token) = target.parse::<stickpin_refs::RefToken>() {
                let number = token.id.get();
                if !self.issued.iter().any(|(first, last)| (*first..=*last).contains(&number)) {
                    unknown.get_or_insert(token.id);
                }
            }
            None
        });
        let r#ref = unknown?;
        Some(
            Error::ref_not_found(format!("{ref} was never issued in this run ({})", step.at))
                .hint("use selectors in scripts; `record start` records commands with selectors"),
        )
    }

    /// Records the refs that the caller is given with the divergence: those of the newest tree.
    pub(super) fn refs_for_caller(&mut self, response: Response) {
        if let (Some(session), Some(dir)) = (response.session, response.state_dir) {
            self.last_session = Some((session, dir));
        }
        let Some(refs) = response.refs else { return };
        match &mut self.refs {
            Some(known) if known.generation == refs.generation && known.lifetime == refs.lifetime => {
                known.issued.extend(refs.issued);
                known.ended.extend(refs.ended);
                known.full |= refs.full;
            }
            known => *known = Some(refs),
        }
    }
}
