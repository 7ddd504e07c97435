//! The content guard: nodes whose content must stay as it was judged until an input is delivered.
//!
//! The agent of each document copies the content of its guarded nodes and compares it in the task
//! of each event (`agent/script/act/guard.js`). The copy is made by a request that is sent anyway:
//! the arrival of the pointer, the aim, or the last locate.
//!
//! In a page of several documents, the other documents with guarded nodes make their own copies.
//! Documents of the target's origin are also compared in the task of the event. Documents of other
//! origins are compared right before the input is sent, because scripts cannot look across origins.
//! Later changes in those documents are not detected.

use crate::read::page::Page;
use crate::tab::{TabError, World, expression};
use serde::Serialize;
use stickpin_device::{Delivery, InputOutcome, Result};
use stickpin_tree::Handle;

/// The guard of one target.
#[derive(Debug)]
pub(crate) struct Guard {
    target: Handle,
    /// The guard's name in the documents. Also names the event through which documents query each
    /// other, so a page must not be able to guess it.
    key: String,
    guarded: Vec<Handle>,
    /// Whether the target's document has a copy.
    copied: bool,
}

/// A guard in the form that the script accepts.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum GuardArgument {
    /// A guard to copy: its name, the ids as ranges, and whether other documents guard for the same
    /// target.
    Copy(String, Vec<u64>, bool),
    /// A guard that was copied before.
    Copied((String,)),
}

impl Guard {
    /// Returns the guarded ids in a document as ranges: first and last, flattened.
    fn ranges(&self, scope: u64) -> Vec<u64> {
        ranges(self.guarded.iter().filter(|h| h.scope == scope).map(|h| h.id), 1)
    }

    fn copy(&self) -> GuardArgument {
        let spans_documents = self.guarded.iter().any(|h| h.scope != self.target.scope);
        GuardArgument::Copy(self.key.clone(), self.ranges(self.target.scope), spans_documents)
    }
}

/// Groups numbers into sorted ranges: first and last, flattened. Numbers at most `max_gap` apart
/// share a range.
pub(crate) fn ranges(numbers: impl Iterator<Item = u64>, max_gap: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    let mut ranges: Vec<u64> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if number - *last <= max_gap => *last = number,
            _ => ranges.extend([number, number]),
        }
    }
    ranges
}

/// The guards of an action until its input is delivered: of one target, or of both ends of a drag.
#[derive(Debug, Default)]
pub(crate) struct Guards(Vec<Guard>);

impl Guards {
    /// Guards nodes together with a target, in place of the nodes that were guarded with that
    /// target before.
    pub(crate) fn add(&mut self, target: Handle, world: &World, guarded: &[Handle]) {
        self.0.retain(|guard| guard.target != target);
        let key = format!("{}:{}", world.context, target.id);
        self.0.push(Guard { target, key, guarded: guarded.to_vec(), copied: false });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    fn find(&self, target: Handle) -> Option<&Guard> {
        self.0.iter().find(|guard| guard.target == target)
    }

    /// Returns the guard of a target, for a request whose answer is the last to be judged. The
    /// target's document counts as having a copy from then on.
    pub(crate) fn copy(&mut self, target: Handle) -> Option<GuardArgument> {
        let guard = self.0.iter_mut().find(|guard| guard.target == target)?;
        guard.copied = true;
        Some(guard.copy())
    }

    /// Returns the guard of a target, for the input to the target.
    pub(crate) fn for_input(&self, target: Handle) -> Option<GuardArgument> {
        let guard = self.find(target)?;
        Some(if guard.copied { GuardArgument::Copied((guard.key.clone(),)) } else { guard.copy() })
    }

    /// Returns the name of a target's guard.
    pub(crate) fn key(&self, target: Handle) -> Option<&str> {
        self.find(target).map(|guard| guard.key.as_str())
    }
}

/// Makes every other document that guards content for a target copy that content.
pub(crate) async fn guard_outer_documents(page: &Page, target: Handle) -> Result<(), TabError> {
    query_outer_documents(page, target, |guard, scope| {
        expression("guardContent", (0, &guard.key, guard.ranges(scope), false))
    })
    .await
    .map(drop)
}

/// Returns whether the content that other documents guard for a target is unchanged.
pub(crate) async fn are_outer_guards_intact(page: &Page, target: Handle) -> Result<bool, TabError> {
    let answers =
        query_outer_documents(page, target, |guard, _| expression("aroundHolds", (&guard.key,))).await?;
    Ok(answers.into_iter().all(|holds| holds != Some(false)))
}

/// Queries every other document that guards content for a target. The answer for a document that
/// goes away meanwhile is `false`, because its guarded content is gone.
async fn query_outer_documents(
    page: &Page,
    target: Handle,
    expression_for: impl Fn(&Guard, u64) -> Result<String>,
) -> Result<Vec<Option<bool>>, TabError> {
    let Some(guard) = page.guards.find(target) else { return Ok(Vec::new()) };
    if guard.guarded.iter().all(|h| h.scope == target.scope) {
        return Ok(Vec::new());
    }
    let mut worlds = page.tab.worlds().await?;
    worlds.retain(|w| w.scope != target.scope && guard.guarded.iter().any(|h| h.scope == w.scope));
    let mut answers = Vec::with_capacity(worlds.len());
    for request in page.tab.send_requests(&worlds, |world| expression_for(guard, world.scope))? {
        answers.push(match page.tab.receive_answer::<Option<bool>>(request).await {
            Ok(answer) => answer,
            // The guarded content went away with the document.
            Err(TabError::WorldGone) => Some(false),
            Err(fault) => return Err(fault),
        });
    }
    Ok(answers)
}

/// Returns the result of an input that the guard stopped. `stopped` is true if the page received
/// none of the input.
pub(crate) fn stopped_outcome(stopped: bool) -> InputOutcome {
    InputOutcome::done().delivery(Delivery::Changed { stopped })
}
