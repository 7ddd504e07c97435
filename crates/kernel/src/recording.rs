//! What a session writes down while it is recorded: commands that succeeded, with their targets as selectors.
//!
//! A ref means nothing to another run, so each target is named before the act by the strongest selector that is unique
//! then; where there is none the act is refused, because a script that plays it could take another element. What the
//! element was is kept beside it: a replay asks for exactly that. How a script looks is a [`Scribe`]'s business.
//!
//! A recording outlives its session: each command is on disk before it is answered ([`log`]).

mod log;

pub(crate) use log::Event;

use crate::act::How;
use crate::command::Effect;
use crate::cx::Cx;
use crate::recording::log::Log;
use crate::registry::Entry;
use crate::resolve::Found;
use crate::target::Target;
use serde_json::{Map, Value};
use std::fmt;
use std::path::{Path, PathBuf};
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::Origin;
use stickpin_tree::{Selector, States};

/// Writes recordings as scripts. The host is given one by whoever builds it.
pub trait Scribe: Send + Sync + fmt::Debug {
    /// The lines of one command, with what its targets were; secrets as variables.
    ///
    /// # Errors
    /// `UNSUPPORTED` where there is none.
    fn lines(&self, step: &Recorded) -> Result<String>;

    /// The text of the script.
    ///
    /// # Errors
    /// `UNSUPPORTED` where there is none.
    fn script(&self, recording: &Recording) -> Result<String>;

    /// The text of a script that was mended, and what is different in it.
    ///
    /// # Errors
    /// `UNSUPPORTED` where there is none.
    fn mended(&self, mending: &Mending) -> Result<(String, String)>;
}

/// For hosts that write no scripts.
#[derive(Debug, Clone, Copy)]
pub struct NoScribe;

impl Scribe for NoScribe {
    fn lines(&self, _: &Recorded) -> Result<String> {
        Err(Error::new(ErrorCode::Unsupported, "this host writes no scripts"))
    }

    fn script(&self, _: &Recording) -> Result<String> {
        Err(Error::new(ErrorCode::Unsupported, "this host writes no scripts"))
    }

    fn mended(&self, _: &Mending) -> Result<(String, String)> {
        Err(Error::new(ErrorCode::Unsupported, "this host writes no scripts"))
    }
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
    pub entry: &'static Entry,
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

/// What a target must be, or nothing is sent: said by a replay.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expectation {
    /// The target as it stands in the input.
    pub target: String,
    /// What it was when it was recorded.
    pub meaning: String,
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
    fn keeps(&self, entry: &Entry, effect: Effect, replayed: bool) -> bool {
        let kept = effect == Effect::Mutates || entry.spec.asserts || self.keep_reads;
        entry.spec.recorded && kept && self.takes(replayed)
    }

    /// Whether a command is written down.
    fn takes(&self, replayed: bool) -> bool {
        self.mendings.is_empty() || (!replayed && self.is_mending())
    }

    /// Whether commands go into a gap.
    fn is_mending(&self) -> bool {
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

impl Cx {
    /// What was found for a target is what was expected; it is written down if the session is recorded. Asked before
    /// anything is sent.
    ///
    /// # Errors
    /// `REPLAY_DIVERGENCE` when it is something else, `AMBIGUOUS_MATCH` when it is recorded and nothing tells it from
    /// its likes.
    pub(crate) async fn witness(&mut self, target: &Target, found: &Found, how: How) -> Result<()> {
        let key = match target {
            Target::Ref(r) => r.plain().to_string(),
            other => other.to_string(),
        };
        if let Some(expected) = self.expect.iter().find(|e| e.target == key)
            && !found.meaning.reads_as(&expected.meaning)
        {
            return Err(Error::new(
                ErrorCode::ReplayDivergence,
                format!("{key} is {}, and was {} when it was recorded", found.meaning, expected.meaning),
            )
            .details(serde_json::json!({
                "target": key, "expected": expected.meaning, "found": found.meaning.to_string()
            })));
        }
        let replayed = self.replayed;
        if self.live()?.recorder.as_ref().is_none_or(|r| !r.recording.takes(replayed)) {
            return Ok(());
        }
        let mut node = found.node;
        if let Target::Ref(r) = target {
            self.look(Origin::Look).await?;
            node = if how.allow_changed { self.resolve_changed(*r)? } else { self.resolve_again(*r)? }.node;
        }
        let tree = self.tree()?;
        let named = node.and_then(|node| {
            let records = self.live().ok()?.session.records(&tree);
            Some((Selector::naming(&records, node)?, tree.node(node).is(States::PROTECTED)))
        });
        let Some((selector, secret)) = named else {
            return Err(Error::new(
                ErrorCode::AmbiguousMatch,
                format!("{} cannot be recorded: nothing tells it from its likes", found.words()),
            )
            .hint(
                "give its row a text or a data-testid, or stickpin record stop, and act without recording",
            ));
        };
        let witness = Witness {
            target: key,
            selector: selector.to_string(),
            meaning: found.meaning.to_string(),
            secret,
        };
        self.envelope.witnesses.retain(|w| w.target != witness.target);
        self.envelope.witnesses.push(witness);
        Ok(())
    }

    /// Names the refs of a question for the recording, before it is asked: what is absent after it has no name any more.
    pub(crate) fn name_asked(
        &mut self,
        entry: &'static Entry,
        effect: Effect,
        input: &mut Map<String, Value>,
    ) {
        let (client, replayed) = (self.client(), self.replayed);
        let Ok(live) = self.live() else { return };
        let kept = live.recorder.as_ref().is_some_and(|r| r.recording.keeps(entry, effect, replayed));
        if !kept || effect == Effect::Mutates {
            return;
        }
        let Ok(tree) = self.tree() else { return };
        let Ok(live) = self.live() else { return };
        let mut named = Vec::new();
        crate::targets::change(entry, input, &mut |target| {
            let Ok(Target::Ref(r)) = target.parse() else { return None };
            let node = live.session.resolve(&client, r.token()).ok()?.node?;
            named.push(Witness {
                target: r.plain().to_string(),
                selector: Selector::naming(&live.session.records(&tree), node)?.to_string(),
                meaning: String::new(),
                secret: false,
            });
            None
        });
        self.envelope.witnesses.extend(named);
    }

    /// Whether a question tells what is in a field that hides it.
    fn tells_secret(&mut self, entry: &'static Entry, input: &Map<String, Value>) -> bool {
        let Ok(tree) = self.tree() else { return false };
        let hidden = tree.nodes().filter(|n| n.is(States::PROTECTED) && !n.value().is_empty());
        let mut told = entry.fields().iter().filter(|f| f.text && entry.spec.asserts);
        let hidden: Vec<&str> = hidden.map(|n| n.value()).collect();
        told.any(|f| input.get(&f.name).and_then(Value::as_str).is_some_and(|text| hidden.contains(&text)))
    }

    /// Whether text that is typed where the focus is goes into a field that hides it, as far as the last capture knows.
    fn focus_is_secret(&mut self) -> bool {
        let tree = self.tree().ok();
        tree.is_some_and(|tree| tree.nodes().any(|n| n.is(States::FOCUSED) && n.is(States::PROTECTED)))
    }

    /// The log of this session's recording.
    pub(crate) fn recording_log(&self) -> PathBuf {
        self.host.config.state_dir.join("recordings").join(format!("{}.jsonl", self.session_name))
    }

    /// Writes down a command that succeeded, if the session is recorded.
    pub(crate) fn record(&mut self, entry: &'static Entry, effect: Effect, mut input: Map<String, Value>) {
        let seen = std::mem::take(&mut self.envelope.witnesses);
        let replayed = self.replayed;
        let Ok(live) = self.live() else { return };
        let Some(recorder) = &mut live.recorder else { return };
        let runs_on = replayed && effect != Effect::Reads && recorder.recording.is_mending();
        let logged = if runs_on { recorder.add(Event::RunsOn) } else { Ok(()) };
        let kept = recorder.recording.keeps(entry, effect, replayed);
        self.say_unlogged(logged);
        if !kept || self.tells_secret(entry, &input) {
            return;
        }
        // In the order of the input; by other names a command may have held them for itself.
        let mut targets = Vec::new();
        let mut unnamed = None;
        crate::targets::change(entry, &mut input, &mut |target| {
            let plain = stickpin_refs::strip(target).to_owned();
            let as_kept = plain.parse::<Target>().map_or_else(|_| plain.clone(), |t| t.to_string());
            let same = |w: &&Witness| w.target == plain || w.target == as_kept;
            match seen.iter().find(same) {
                Some(w) => targets.push(Witness { target: plain.clone(), ..w.clone() }),
                None if matches!(plain.parse(), Ok(Target::Ref(_))) => unnamed = Some(plain.clone()),
                None => {}
            }
            Some(plain)
        });
        if let Some(unnamed) = unnamed.filter(|_| effect == Effect::Reads) {
            self.warn(format!("Not recorded: no selector tells {unnamed} from its likes."));
            return;
        }
        let typed = entry.fields().iter().any(|f| f.text) && targets.is_empty();
        let secret = targets.iter().any(|w| w.secret) || (typed && self.focus_is_secret());
        let variable = input.get("recordAs").and_then(Value::as_str).map(str::to_owned);
        input.retain(|name, _| !entry.fields().iter().any(|f| f.unrecorded && f.name == *name));
        let lines = self.host.config.scribe.lines(&Recorded { entry, input, targets, secret, variable });
        let Ok(live) = self.live() else { return };
        let Some(recorder) = &mut live.recorder else { return };
        let logged = lines.and_then(|lines| recorder.add(Event::Step { lines }));
        self.say_unlogged(logged);
    }

    fn say_unlogged(&mut self, logged: Result<()>) {
        if let Err(e) = logged {
            self.warn(format!(
                "The recording is not on disk: {e}. It is lost if the session is lost before record stop."
            ));
        }
    }
}
