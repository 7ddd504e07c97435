//! What a run was given and what it leaves behind: refs, sessions, a healed script.

use super::CLOSE;
use crate::plan::Step;
use std::collections::BTreeSet;
use std::path::PathBuf;
use stickpin_kernel::schema::Holds;
use stickpin_kernel::{Error, ErrorCode, RefsEnvelope, Response, targets};

/// A script that was mended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Healed {
    /// Where it is.
    pub path: PathBuf,
    /// What is different in it.
    pub patch: String,
}

/// The account of one run, kept from responses alone.
#[derive(Default)]
pub(super) struct Account {
    /// Ref numbers that steps of this run were given, as ranges.
    issued: Vec<(u32, u32)>,
    /// Sessions that it opened and that are open still.
    pub(super) open: BTreeSet<String>,
    /// The session and the state dir of the last response that named them.
    pub(super) place: Option<(String, PathBuf)>,
    /// What the caller is given with a divergence.
    pub(super) refs: Option<RefsEnvelope>,
    /// The scripts that a `close` wrote mended.
    pub(super) healed: Vec<Healed>,
}

impl Account {
    /// An account that begins with the refs that the caller was given before.
    pub(super) fn new(given: Vec<(u32, u32)>) -> Self {
        Self { issued: given, ..Self::default() }
    }

    /// Keeps what a line of the script was given.
    pub(super) fn heard(&mut self, response: &Response) {
        self.issued.extend(response.refs.iter().flat_map(|refs| &refs.issued));
        // Steps of a batch have envelopes of their own.
        let steps = response.output.as_ref().and_then(|output| output["steps"].as_array());
        for step in steps.into_iter().flatten() {
            let refs = serde_json::from_value::<RefsEnvelope>(step["refs"].clone());
            self.issued.extend(refs.into_iter().flat_map(|refs| refs.issued));
        }
        if let (Some(session), Some(dir)) = (&response.session, &response.state_dir) {
            self.place = Some((session.clone(), dir.clone()));
        }
    }

    /// Keeps in mind what is open after a step that did what it says.
    pub(super) fn note(&mut self, step: &Step, response: &Response) {
        let entry = step.line.entry;
        if let Some(session) = &response.session {
            if entry.begins_session() {
                self.open.insert(session.clone());
            }
            // The one command that ends sessions.
            if entry.spec.name == CLOSE {
                self.open.remove(session);
                let healed = response.output.as_ref().and_then(|output| output.get("healed")).cloned();
                // A close that mended nothing says nothing of it.
                self.healed = healed.and_then(|h| serde_json::from_value(h).ok()).unwrap_or_default();
            }
        }
    }

    /// A ref that this run was not given means nothing here, or something else.
    pub(super) fn unknown_ref(&self, step: &Step) -> Option<Error> {
        // A step of a batch may give what the next one uses: the daemon judges those.
        if step.line.entry.fields().iter().any(|f| f.holds == Some(Holds::Steps)) {
            return None;
        }
        let mut unknown = None;
        targets::change(step.line.entry, &mut step.line.input.clone(), &mut |target| {
            if let Ok(token) = target.parse::<stickpin_refs::RefToken>() {
                let number = token.r#ref.get();
                if !self.issued.iter().any(|(first, last)| (*first..=*last).contains(&number)) {
                    unknown.get_or_insert(token.r#ref);
                }
            }
            None
        });
        let r#ref = unknown?;
        Some(
            Error::new(ErrorCode::RefNotFound, format!("{ref} was never issued to this run ({})", step.at))
                .hint("scripts name elements by selectors; record start writes them"),
        )
    }

    /// Keeps which refs the caller is given with the divergence: those of the newest tree.
    pub(super) fn given(&mut self, response: Response) {
        if let (Some(session), Some(dir)) = (response.session, response.state_dir) {
            self.place = Some((session, dir));
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
