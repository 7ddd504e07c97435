//! Timers, and how they run as time advances.

use super::eval::Env;
use super::expr::{Expr, Function};
use super::nav::PendingNavigation;
use super::sim::Sim;
use std::sync::Arc;
use stickpin_device::PendingActivity;

/// A timer.
#[derive(Debug)]
pub(crate) struct Timer {
    pub(crate) due: u64,
    /// Timers that are due at the same time run in the order in which they were set.
    serial: u64,
    pub(crate) name: Arc<str>,
    pub(crate) job: Job,
    /// The document whose end also ends the timer.
    pub(crate) scope: u64,
}

/// The work that a timer does.
#[derive(Debug)]
pub(crate) enum Job {
    /// Runs the statement of an `after`, `every` or `load` with this delay.
    Script { by: Function, job: Expr, env: Env, ms: u64 },
    /// Removes a toast.
    Untoast(u64),
    /// Shows a requested document.
    Commit(PendingNavigation),
}

impl Sim {
    /// Sets a timer in the current document.
    pub(crate) fn set_timer(&mut self, ms: u64, name: &str, job: Job) {
        self.timer_serial += 1;
        let (tab, serial) = (self.tab(), self.timer_serial);
        let scope = tab.entries.get(tab.at).map_or(0, |e| e.scope);
        self.timers.push(Timer { due: self.state.now_ms + ms, serial, name: name.into(), job, scope });
    }

    fn next(&self) -> Option<usize> {
        let order = |i: &usize| (self.timers[*i].due, self.timers[*i].serial);
        (0..self.timers.len()).min_by_key(order)
    }

    /// Returns when the next timer is due; `None` if there are no timers, a dialog is open, or the
    /// app has ended.
    pub(crate) fn next_due(&self) -> Option<u64> {
        if self.dialog.is_some() || self.end_reason.is_some() {
            return None;
        }
        self.next().map(|i| self.timers[i].due)
    }

    /// Returns when the last pending request, documents included, will be answered.
    pub(crate) fn loading_until(&self) -> Option<u64> {
        self.timers.iter().filter(|t| t.is_load()).map(|t| t.due).max()
    }

    /// Returns when the pending document will be shown.
    pub(crate) fn commit_time(&self) -> Option<u64> {
        self.timers.iter().filter(|t| matches!(t.job, Job::Commit(_))).map(|t| t.due).min()
    }

    /// Returns descriptions of the pending loads, and of the timers that are due by a moment.
    pub(crate) fn pending_activities(&self, until: u64) -> Vec<PendingActivity> {
        let mut timers: Vec<_> = self.timers.iter().filter(|t| t.is_load() || t.due <= until).collect();
        timers.sort_by_key(|t| (t.due, t.serial));
        timers
            .iter()
            .map(|t| match t.is_load() {
                true => PendingActivity::Request(t.name.to_string()),
                false => PendingActivity::Other(format!("timer {}", t.name)),
            })
            .collect()
    }

    /// Advances time to a moment and runs all due timers in order.
    pub(crate) fn advance_to(&mut self, ms: u64) {
        while let Some(due) = self.next_due().filter(|due| *due <= ms) {
            self.state.now_ms = self.state.now_ms.max(due);
            self.step();
        }
        let before = self.state.now_ms;
        self.state.now_ms = before.max(ms);
    }

    /// Runs the next due timer.
    fn step(&mut self) {
        let Some(at) = self.next() else { return };
        let timer = self.timers.remove(at);
        match timer.job {
            Job::Script { by, job, env, ms } => {
                if by == Function::Every {
                    // Set the timer again before the script runs, so that the script can cancel it.
                    self.set_timer(
                        ms,
                        &timer.name,
                        Job::Script { by, job: job.clone(), env: env.clone(), ms },
                    );
                    if let Some(last) = self.timers.last_mut() {
                        last.scope = timer.scope;
                    }
                }
                self.run(&[job], &env);
            }
            Job::Untoast(uid) => {
                if let Some(toasts) = self.state.lists.get_mut(super::render::TOASTS) {
                    toasts.retain(|t| t.uid != uid);
                }
            }
            Job::Commit(leave) => self.navigator().commit(leave),
        }
        self.refresh();
    }
}

impl Timer {
    fn is_load(&self) -> bool {
        match &self.job {
            Job::Script { by, .. } => *by == Function::Load,
            Job::Commit(_) => true,
            Job::Untoast(_) => false,
        }
    }
}
