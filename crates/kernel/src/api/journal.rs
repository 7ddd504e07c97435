//! The [`Journal`] trait, which records commands. The only implementation so far keeps nothing.

use crate::api::spec::Effect;
use std::fmt;
use stickpin_device::ErrorCode;

/// Receives the start and the end of every command.
pub(crate) trait Journal: Send + Sync + fmt::Debug {
    /// Called when a command of `session` starts, before the device is touched. A command that
    /// mutates must be on disk when this returns.
    fn command_begin(&self, _session: &str, _command: &str, _effect: Effect) {}

    /// Called when the command ends, with the error code if it failed.
    fn command_end(&self, _session: &str, _command: &str, _failed: Option<ErrorCode>) {}
}

/// A journal that keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NoJournal;

impl Journal for NoJournal {}
