//! The content guard: which nodes must hold what they held when they were judged, until an input has been delivered.
//!
//! The agent of each document copies what its guarded nodes hold and compares it in the task of each event
//! (`agent/script/act/guard.js`). A copy travels with a question that is asked anyway: the arrival of the pointer, the aim, the last
//! look. In a page of several documents those around the target's are asked for copies of their own. Documents of the
//! target's origin are compared in the task of the event, too; those of other origins right before the input is sent,
//! because no script can look from one into the other: what they change in between is not seen.

use crate::read::page::Page;
use crate::tab::{Fault, World, expression};
use serde::Serialize;
use stickpin_device::{Landed, Performed, Result};
use stickpin_tree::Handle;

/// The guard of one target.
#[derive(Debug)]
pub(crate) struct Guard {
    of: Handle,
    /// Its name in the documents: also that of the event by which they ask each other, which no page can guess.
    key: String,
    guarded: Vec<Handle>,
    /// Whether the target's document has a copy.
    copied: bool,
}

/// A guard as the script takes it.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum GuardArgument {
    /// To be copied: its name, the ids as ranges, whether other documents guard for the same target.
    Copy(String, Vec<u64>, bool),
    /// Copied before.
    Copied((String,)),
}

impl Guard {
    /// The ids in a document, as ranges: first and last in turns.
    fn ranges(&self, scope: u64) -> Vec<u64> {
        ranges(self.guarded.iter().filter(|h| h.scope == scope).map(|h| h.id), 1)
    }

    fn copy(&self) -> GuardArgument {
        let wide = self.guarded.iter().any(|h| h.scope != self.of.scope);
        GuardArgument::Copy(self.key.clone(), self.ranges(self.of.scope), wide)
    }
}

/// Numbers as ranges: first and last in turns, in order. Numbers that are at most `apart` from one another are in one.
pub(crate) fn ranges(numbers: impl Iterator<Item = u64>, apart: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    let mut ranges: Vec<u64> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if number - *last <= apart => *last = number,
            _ => ranges.extend([number, number]),
        }
    }
    ranges
}

/// What must hold what it held until the input of the act is delivered: of one target, or of the two ends of a drag.
#[derive(Debug, Default)]
pub(crate) struct Guards(Vec<Guard>);

impl Guards {
    /// From now on nodes are guarded with a target; replaces what was guarded with it before.
    pub(crate) fn add(&mut self, of: Handle, world: &World, guarded: &[Handle]) {
        self.0.retain(|guard| guard.of != of);
        let key = format!("{}:{}", world.context, of.id);
        self.0.push(Guard { of, key, guarded: guarded.to_vec(), copied: false });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    fn of(&self, of: Handle) -> Option<&Guard> {
        self.0.iter().find(|guard| guard.of == of)
    }

    /// The guard of a target, for a question whose answer is judged last.
    pub(crate) fn copy(&mut self, of: Handle) -> Option<GuardArgument> {
        let guard = self.0.iter_mut().find(|guard| guard.of == of)?;
        guard.copied = true;
        Some(guard.copy())
    }

    /// The guard of a target, for its input.
    pub(crate) fn for_input(&self, of: Handle) -> Option<GuardArgument> {
        let guard = self.of(of)?;
        Some(if guard.copied { GuardArgument::Copied((guard.key.clone(),)) } else { guard.copy() })
    }

    /// The name of a target's guard.
    pub(crate) fn key(&self, of: Handle) -> Option<&str> {
        self.of(of).map(|guard| guard.key.as_str())
    }
}

/// Has every document around a target's copy what is guarded there.
pub(crate) async fn guard_around(page: &Page, of: Handle) -> Result<(), Fault> {
    ask_around(page, of, |guard, scope| {
        expression("guardContent", (0, &guard.key, guard.ranges(scope), false))
    })
    .await
    .map(drop)
}

/// Whether the documents around a target's hold what is guarded there.
pub(crate) async fn around_holds(page: &Page, of: Handle) -> Result<bool, Fault> {
    let answers = ask_around(page, of, |guard, _| expression("aroundHolds", (&guard.key,))).await?;
    Ok(answers.into_iter().all(|holds| holds != Some(false)))
}

/// Asks the documents that guard something for a target in another one. One that went away has no answer.
async fn ask_around(
    page: &Page,
    of: Handle,
    question: impl Fn(&Guard, u64) -> Result<String>,
) -> Result<Vec<Option<bool>>, Fault> {
    let Some(guard) = page.guards.of(of) else { return Ok(Vec::new()) };
    if guard.guarded.iter().all(|h| h.scope == of.scope) {
        return Ok(Vec::new());
    }
    let mut worlds = page.tab.worlds().await?;
    worlds.retain(|w| w.scope != of.scope && guard.guarded.iter().any(|h| h.scope == w.scope));
    let mut answers = Vec::with_capacity(worlds.len());
    for asked in page.tab.ask_all(&worlds, |world| question(guard, world.scope))? {
        answers.push(match page.tab.finish::<Option<bool>>(asked).await {
            Ok(answer) => answer,
            // What was guarded in it is gone.
            Err(Fault::WorldGone) => Some(false),
            Err(fault) => return Err(fault),
        });
    }
    Ok(answers)
}

/// What an input came to that was kept from the page because of its guard.
pub(crate) fn kept_back(stopped: bool) -> Performed {
    Performed { handled: true, landed: Landed::Changed { stopped }, ..Performed::default() }
}
