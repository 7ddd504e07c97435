//! The beginnings and ends of commands in the log.

use super::{Origin, SessionLog};
use crate::error::{Result, StoreError};
use stickpin_session::log::{
    Arguments, CommandBegin, CommandEnd, CommandError, CommandId, Kind, Outcome, RecordedStep, Redacted,
    RefPin,
};

/// A command that is about to run.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCommand {
    /// The name of the command.
    pub verb: String,
    /// The arguments as given.
    pub args_raw: Arguments,
    /// The arguments with absolute paths, and with selectors in place of refs.
    pub args_resolved: Arguments,
    /// A one-line summary.
    pub summary: Redacted,
    /// The refs that were passed to the command.
    pub ref_pins: Vec<RefPin>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandOutcome {
    /// The error; `None` if the command succeeded.
    pub error: Option<CommandError>,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The generation of the tree after the command.
    pub generation: Option<u64>,
    /// The address of the app after the command.
    pub address: Option<Redacted>,
    /// What the command contributed to the recording of its session.
    pub recorded: Option<RecordedStep>,
}

impl SessionLog {
    /// Records the beginning of a command. The device must not be touched before this function
    /// returns.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written. The command must not run in that case.
    pub fn begin(&mut self, origin: &Origin, command: NewCommand) -> Result<CommandId> {
        let NewCommand { verb, args_raw, args_resolved, summary, ref_pins } = command;
        let cmd_id = CommandId::new(self.next_seq(origin)?);
        let begin = CommandBegin { cmd_id, verb, args_raw, args_resolved, summary, ref_pins };
        self.commit(origin, Kind::CommandBegin(Box::new(begin)))?;
        Ok(cmd_id)
    }

    /// Records the end of a command, and returns the `seq` of the record. The outcome is valid even
    /// if this function fails: the caller reports the outcome, and whether the end was logged.
    ///
    /// # Errors
    /// Returns [`StoreError::NotOpen`] for a command that is not open. Any other error means that
    /// the end could not be written. The command has ended nevertheless, and the log is read-only
    /// until the end is written or the session is opened again.
    pub fn end(&mut self, origin: &Origin, command: CommandId, outcome: CommandOutcome) -> Result<u64> {
        let Some(open) = self.meta.open_commands.iter().find(|open| open.cmd_id == command) else {
            return Err(StoreError::NotOpen(command));
        };
        let late = open.turn_id != self.meta.turn.turn_id;
        let CommandOutcome { error, duration_ms, generation, address, recorded } = outcome;
        let known = self.meta.targets.first().map(|target| target.device_key.as_str());
        let address = address.filter(|address| known.is_some() && address.text() != known);
        let ended = if error.is_some() { Outcome::Error } else { Outcome::Ok };
        let end = CommandEnd {
            cmd_id: command,
            outcome: ended,
            error,
            duration_ms,
            generation,
            address,
            late,
            recorded,
        };
        let mut kind = Kind::CommandEnd(end);
        let mut written = self.flush_ends().and_then(|()| self.commit(origin, kind.clone()));
        if let (Err(StoreError::MetaTooLarge { .. }), Kind::CommandEnd(end)) = (&written, &mut kind) {
            // The command has ended in any case; the metadata keeps the previous address of the
            // app.
            end.address = None;
            written = self.commit(origin, kind.clone());
        }
        written.inspect_err(|_| self.pending_ends.push((origin.clone(), kind)))
    }

    /// Writes the ends of commands that could not be written earlier.
    ///
    /// # Errors
    /// Returns an error if one of the ends still cannot be written.
    pub fn flush_ends(&mut self) -> Result<()> {
        while let Some((origin, kind)) = self.pending_ends.first().cloned() {
            if let Err(error) = self.commit(&origin, kind) {
                if let Some(damage) = self.damage.error() {
                    return Err(damage);
                }
                let reason = format!("the end of a command was not written: {error}");
                return Err(StoreError::ReadOnly { session: self.dir.name.clone(), reason });
            }
            self.pending_ends.remove(0);
        }
        Ok(())
    }

    /// Records as interrupted the commands that a process left open when it ended. Such commands
    /// are never rerun automatically.
    pub(super) fn interrupt_commands(&mut self, origin: &Origin) -> Result<()> {
        for open in self.meta.open_commands.clone() {
            let end = CommandEnd {
                cmd_id: open.cmd_id,
                outcome: Outcome::Interrupted,
                error: None,
                duration_ms: origin.ts.millis().saturating_sub(open.began_at.millis()),
                generation: None,
                address: None,
                late: open.turn_id != self.meta.turn.turn_id,
                recorded: None,
            };
            self.commit(origin, Kind::CommandEnd(end))?;
        }
        Ok(())
    }
}
