//! The recording of a session as part of its log: its start, the steps that commands became, and
//! its end.

use crate::error;
use crate::participant::Participant;
use crate::session::{NewCommand, SessionAuthority, State};
use std::ops::ControlFlow;
use std::sync::Arc;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::{Kind, RecordedStep, RecordingEnded, RecordingStarted, Redacted, RepairStarted};
use stickpin_store::{CommandOutcome, Phase, SessionLog};

/// The recording of one session, as records in its log. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RecordingLog(Arc<SessionAuthority>);

/// An event of a recording, as recorded in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingEvent {
    /// The recording began.
    Started(RecordingStarted),
    /// The following steps repair a line of a script.
    RepairStarted(RepairedLine),
    /// A command became these lines of the script.
    Step(String),
    /// The script under repair continues.
    ScriptResumed,
}

/// The line of a script that is being repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedLine {
    /// The absolute path of the script.
    pub file: String,
    /// The text of the script.
    pub text: String,
    /// The absolute path of the repaired script.
    pub to: String,
    /// The line number, from 1.
    pub line: u32,
    /// Whether the line is kept after the steps.
    pub keeps_line: bool,
    /// The pass over the line, if the line runs several times.
    pub pass: Option<String>,
}

impl RecordingLog {
    /// Returns the recording of a session.
    #[must_use]
    pub fn new(session: Arc<SessionAuthority>) -> Self {
        Self(session)
    }

    /// Returns whether a recording is in progress, or was in progress when the session's lifetime
    /// ended.
    #[must_use]
    pub fn is_in_progress(&self) -> bool {
        self.0.lock().log.meta().recording.is_some()
    }

    /// Begins a recording. `who` is `None` on a host that does not identify agents.
    ///
    /// # Errors
    /// Returns errors from the log.
    pub fn start(&self, who: Option<&Participant>, start: RecordingStarted) -> Result<()> {
        self.append(who, Kind::RecordingStarted(Box::new(start)))
    }

    /// Begins the repair of a line of a script.
    ///
    /// # Errors
    /// Returns errors from the log.
    pub fn start_repair(&self, who: Option<&Participant>, repair: RepairStarted) -> Result<()> {
        self.append(who, Kind::RepairStarted(Box::new(repair)))
    }

    /// Ends the recording. `written` states whether a script was made from it.
    ///
    /// # Errors
    /// Returns errors from the log; the recording then continues.
    pub fn end(&self, who: Option<&Participant>, written: bool) -> Result<()> {
        self.append(who, Kind::RecordingEnded(RecordingEnded { written }))
    }

    /// Records a successful command whose beginning is not in the log, because the host does not
    /// identify agents, or because the recording began with this command.
    ///
    /// # Errors
    /// Returns errors from the log.
    pub fn add(&self, who: Option<&Participant>, command: NewCommand, step: RecordedStep) -> Result<()> {
        self.0.change(|state, now| {
            let origin = State::origin_of(who, now);
            let command = state.log.begin(&origin, command).map_err(error::of_store)?;
            let outcome = CommandOutcome { recorded: Some(step), ..CommandOutcome::default() };
            state.log.end(&origin, command, outcome).map(drop).map_err(error::of_store)
        })
    }

    /// Reads the recording in progress from its first record on; `None` if no recording is in
    /// progress. First writes the ends of commands that could not be written before.
    ///
    /// # Errors
    /// Returns `LOG_CORRUPT` for a damaged line or a missing blob, and other errors from the log.
    pub fn read(&self) -> Result<Option<Vec<RecordingEvent>>> {
        self.0.change(|state, _| {
            state.log.flush_ends().map_err(error::of_store)?;
            read(&state.log)
        })
    }

    fn append(&self, who: Option<&Participant>, kind: Kind) -> Result<()> {
        self.0.change(|state, now| state.append(&State::origin_of(who, now), kind).map(drop))
    }
}

fn read(log: &SessionLog) -> Result<Option<Vec<RecordingEvent>>> {
    let Some(recording) = log.meta().recording else { return Ok(None) };
    let mut kinds = Vec::new();
    let scanned = stickpin_store::scan(log, recording.first_seq - 1, Phase::Replay, &mut |record| {
        match &record.kind {
            Kind::RecordingStarted(_) | Kind::RepairStarted(_) => kinds.push(record.kind.clone()),
            Kind::CommandEnd(end) if end.recorded.is_some() => kinds.push(record.kind.clone()),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    scanned.map_err(error::of_store)?;
    let events = kinds.into_iter().filter_map(|kind| event(log, kind).transpose());
    events.collect::<Result<_>>().map(Some)
}

fn event(log: &SessionLog, kind: Kind) -> Result<Option<RecordingEvent>> {
    Ok(Some(match kind {
        Kind::RecordingStarted(started) => RecordingEvent::Started(*started),
        Kind::RepairStarted(repair) => {
            let RepairStarted { file, text: script, to, line, keeps_line, pass } = *repair;
            let pass = pass.map(|pass| text(log, &pass)).transpose()?;
            let text = text(log, &script)?;
            RecordingEvent::RepairStarted(RepairedLine { file, text, to, line, keeps_line, pass })
        }
        Kind::CommandEnd(end) => match end.recorded {
            Some(RecordedStep::Lines(lines)) => RecordingEvent::Step(text(log, &lines)?),
            Some(RecordedStep::ScriptResumed) => RecordingEvent::ScriptResumed,
            None => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

/// Returns a text from a record, or from the text's blob if the text was too long for the record.
fn text(log: &SessionLog, text: &Redacted) -> Result<String> {
    let Some(blob) = text.blob() else { return Ok(text.text().unwrap_or_default().to_owned()) };
    let bytes = log.blob(blob).map_err(error::of_store)?;
    String::from_utf8(bytes).map_err(|e| {
        Error::new(ErrorCode::LogCorrupt, format!("the blob {} is not text: {e}", blob.blob)).caused_by(e)
    })
}
