//! Where commands are written down. The session log will implement it; until then nothing is kept.

use crate::api::spec::Effect;
use std::fmt;
use stickpin_device::ErrorCode;

/// Receives the beginning and the end of every command.
pub trait Journal: Send + Sync + fmt::Debug {
    /// A command of `session` begins. Called before the device is touched; a command that mutates must be on
    /// disk when this returns.
    fn command_begin(&self, _session: &str, _command: &str, _effect: Effect) {}

    /// It ended, with this error if it failed.
    fn command_end(&self, _session: &str, _command: &str, _failed: Option<ErrorCode>) {}
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJournal;

impl Journal for NoJournal {}
