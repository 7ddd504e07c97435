//! What a session writes down while it is recorded: commands that succeeded, with their targets as selectors.
//!
//! A ref means nothing to another run, so each target is named before the act by the strongest selector that is unique
//! then; where there is none the act is refused, because a script that plays it could take another element. What the
//! element was is kept beside it: a replay asks for exactly that. How a script looks is a [`Scribe`]'s business.
//!
//! A recording outlives its session: each command is on disk before it is answered ([`log`]).

mod log;

pub(crate) use log::Event;

use crate::api::form::Form;
use crate::api::spec::Effect;
use crate::host::recording::log::Log;
use serde_json::{Map, Value};
use std::fmt;
use std::path::{Path, PathBuf};
use stickpin_device::{Error, Result};

/// Writes recordings as scripts. The host is given one by whoever builds it.
pub trait Scribe: Send + Sync + fmt::Debug {
    /// The lines of one command, with what its targets were; secrets as variables.
    ///
    /// # Errors
    /// `UNSUPPORTED` where there is none.
    fn lines(&self, _step: &Recorded) -> Result<String> {
        Err(no_scripts())
    }

    /// The text of the script.
    ///
    /// # Errors
    /// `UNSUPPORTED` where there is none.
    fn script(&self, _recording: &Recording) -> Result<String> {
        Err(no_scripts())
    }

    /// The text of a script that was mended, and what is different in it.
    ///
    /// # Errors
    /// `UNSUPPORTED` where there is none.
    fn mended(&self, _mending: &Mending) -> Result<(String, String)> {
        Err(no_scripts())
    }
}

/// For hosts that write no scripts.
#[derive(Debug, Clone, Copy)]
pub struct NoScribe;

impl Scribe for NoScribe {}

fn no_scripts() -> Error {
    Error::unsupported("this host writes no scripts")
}

/// A script that is mended: some of its lines did not find what they name, and what was done instead takes their place.
#[derive(Debug, Clone)]
pub struct Mending {
    /// The script's file.
    pub file: PathBuf,
    /// What stood in it.
    pub text: String,
    /// In the order in which they were met; their lines are those of `text`.
    pub gaps: Vec<Gap>,
    /// Where the mended script goes.
    pub(crate) to: PathBuf,
    /// Whether commands go into the last gap: until the script runs on.
    pub(crate) open: bool,
}

/// A line that did not find what it names.
#[derive(Debug, Clone)]
pub struct Gap {
    /// From 1.
    pub line: u32,
    /// What was done stands before the line, not in its place: the line itself ran later.
    pub keeps: bool,
    /// What was done, as [`Scribe::lines`] writes it.
    pub steps: Vec<String>,
    /// Which time the line was met, as the replay calls it.
    meeting: Option<String>,
    /// It was met another time, in another round of a block: what is done now takes the place of what was done then, and
    /// this says whether the line is kept.
    again: Option<bool>,
}

impl Gap {
    fn push(&mut self, step: String) {
        if let Some(keeps) = self.again.take() {
            self.keeps = keeps;
            self.steps.clear();
        }
        self.steps.push(step);
    }
}

impl Mending {
    /// How many commands were recorded.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.gaps.iter().map(|gap| gap.steps.len()).sum()
    }
}

/// The line of a script that is mended from here on.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Mend {
    /// The script's file.
    pub(crate) file: PathBuf,
    /// What stands in it.
    pub(crate) text: String,
    /// Where the mended script goes.
    pub(crate) to: PathBuf,
    /// From 1.
    pub(crate) line: u32,
    /// Whether the line is kept, behind what is done.
    pub(crate) keeps: bool,
    /// Which time the line is met.
    pub(crate) meeting: Option<String>,
}

/// What was recorded so far.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The kind of the device: `web`, `sim`.
    pub platform: String,
    /// Commands in their order, as [`Scribe::lines`] writes them.
    pub steps: Vec<String>,
    /// The scripts that are mended, if this is no new one: one, and those that it includes. `steps` are then in their gaps.
    pub mendings: Vec<Mending>,
    /// Where the script goes, if that was said at the beginning.
    pub(crate) path: Option<PathBuf>,
    /// Whether commands that only read are kept too.
    keep_reads: bool,
}

/// A command that succeeded.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The command.
    pub form: &'static Form,
    /// Its input as it was given, pins aside.
    pub input: Map<String, Value>,
    /// Its targets.
    pub targets: Vec<Witness>,
    /// Whether text of it went into a field that hides what is in it.
    pub secret: bool,
    /// The variable that stands for its text, if the caller named one.
    pub variable: Option<String>,
}

/// A target as it was when a command used it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// As it was given, pins aside.
    pub target: String,
    /// The strongest selector that was unique.
    pub selector: String,
    /// What it was: `button "Delete" in row "Mail 1"`; empty for a question, which asks what it is.
    pub meaning: String,
    /// Whether it is a field that hides what is in it.
    pub secret: bool,
}

impl Recording {
    fn new(platform: String, path: Option<PathBuf>, keep_reads: bool) -> Self {
        Self { platform, steps: Vec::new(), mendings: Vec::new(), path, keep_reads }
    }

    /// How many commands were recorded.
    pub(crate) fn len(&self) -> usize {
        self.steps.len() + self.mendings.iter().map(Mending::steps).sum::<usize>()
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Start { platform, path, keep_reads } => *self = Self::new(platform, path, keep_reads),
            Event::Step { lines } => self.push(lines),
            Event::Mend(mend) => self.mend(mend),
            Event::RunsOn => self.mendings.iter_mut().for_each(|mending| mending.open = false),
        }
    }

    fn push(&mut self, step: String) {
        if self.mendings.is_empty() {
            self.steps.push(step);
            return;
        }
        let open = self.mendings.iter_mut().find(|mending| mending.open);
        if let Some(gap) = open.and_then(|mending| mending.gaps.last_mut()) {
            gap.push(step);
        }
    }

    fn mend(&mut self, new: Mend) {
        let Mend { file, text, to, line, keeps, meeting } = new;
        let at = self.mendings.iter().position(|mending| mending.file == file).unwrap_or_else(|| {
            self.mendings.push(Mending { file, text, gaps: Vec::new(), to, open: false });
            self.mendings.len() - 1
        });
        // What is done goes into one gap only.
        for (other, mending) in self.mendings.iter_mut().enumerate() {
            mending.open &= other == at;
        }
        let mending = &mut self.mendings[at];
        let ran_on = !std::mem::replace(&mut mending.open, true);
        match mending.gaps.iter().position(|gap| gap.line == line) {
            // The last one is where commands go.
            Some(met) => {
                let mut gap = mending.gaps.remove(met);
                if ran_on || gap.again.is_some() || gap.meeting != meeting {
                    gap.again = Some(keeps);
                } else {
                    gap.keeps = keeps;
                }
                gap.meeting = meeting;
                mending.gaps.push(gap);
            }
            None => mending.gaps.push(Gap { line, keeps, steps: Vec::new(), meeting, again: None }),
        }
    }

    /// Whether a command is kept: what changes the app, what states what must hold, and with `--keep-reads` what reads.
    pub(crate) fn keeps(&self, entry: &Form, effect: Effect, replayed: bool) -> bool {
        let kept = effect == Effect::Mutates || entry.spec.asserts || self.keep_reads;
        entry.spec.recorded && kept && self.takes(replayed)
    }

    /// Whether a command is written down.
    pub(crate) fn takes(&self, replayed: bool) -> bool {
        self.mendings.is_empty() || (!replayed && self.is_mending())
    }

    /// Whether commands go into a gap.
    pub(crate) fn is_mending(&self) -> bool {
        self.mendings.iter().any(|mending| mending.open)
    }
}

/// A recording that goes on, and its log.
#[derive(Debug)]
pub(crate) struct Recorder {
    recording: Recording,
    log: Log,
}

impl Recorder {
    /// Begins a recording whose log is `path`.
    ///
    /// # Errors
    /// `IO`, `STORAGE_FULL`.
    pub(crate) fn start(path: &Path, platform: &str, to: Option<PathBuf>, keep_reads: bool) -> Result<Self> {
        let start = Event::Start { platform: platform.to_owned(), path: to.clone(), keep_reads };
        let log = Log::create(path, &start)?;
        Ok(Self { recording: Recording::new(platform.to_owned(), to, keep_reads), log })
    }

    /// What was recorded so far.
    pub(crate) fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Adds what happened. It is recorded also where this fails, but only in memory.
    ///
    /// # Errors
    /// `IO`, `STORAGE_FULL`: what could not be written is written with what comes next.
    pub(crate) fn add(&mut self, event: Event) -> Result<()> {
        let logged = self.log.append(&event);
        self.recording.apply(event);
        logged
    }
}

/// The recording that a log holds, also one whose session was lost.
///
/// # Errors
/// `IO`.
pub(crate) fn read(path: &Path) -> Result<Option<Recording>> {
    let Some(events) = log::read(path)? else { return Ok(None) };
    let mut recording = Recording::new(String::new(), None, false);
    events.into_iter().for_each(|event| recording.apply(event));
    // A log that was begun and never acknowledged.
    Ok(Some(recording).filter(|r| !r.platform.is_empty()))
}
