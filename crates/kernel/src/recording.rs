//! What a session writes down while it is recorded: commands that succeeded, with their targets as selectors.
//!
//! A ref means nothing to another run, so each target is named before the act by the strongest selector that is unique
//! then; where there is none the act is refused, because a script that plays it could take another element. What the
//! element was is kept beside it: a replay asks for exactly that. How a script looks is a [`Scribe`]'s business.

use crate::act::How;
use crate::command::Effect;
use crate::cx::Cx;
use crate::error::{Error, ErrorCode, Result};
use crate::registry::{self, Entry};
use crate::resolve::Found;
use crate::target::Target;
use serde_json::{Map, Value};
use std::fmt;
use std::path::PathBuf;
use stickpin_session::Origin;
use stickpin_tree::{Selector, States};

/// Writes recordings as scripts. The host is given one by whoever builds it.
pub trait Scribe: Send + Sync + fmt::Debug {
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
    /// What was done.
    pub steps: Vec<Recorded>,
    /// Which time the line was met, as the replay calls it.
    pub(crate) meeting: Option<String>,
    /// It was met another time, in another round of a block: what is done now takes the place of what was done then, and
    /// this says whether the line is kept.
    pub(crate) again: Option<bool>,
}

impl Gap {
    fn push(&mut self, step: Recorded) {
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

/// What was recorded so far.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The kind of the device: `web`, `sim`.
    pub platform: &'static str,
    /// Commands in their order.
    pub steps: Vec<Recorded>,
    /// The scripts that are mended, if this is no new one: one, and those that it includes. `steps` are then in their gaps.
    pub mendings: Vec<Mending>,
    /// Where the script goes, if that was said at the beginning.
    pub(crate) path: Option<PathBuf>,
    /// Whether commands that only read are kept too.
    pub(crate) keep_reads: bool,
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
    /// What it was: `button "Delete" in row "Mail 1"`.
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
    pub(crate) fn new(platform: &'static str, path: Option<PathBuf>, keep_reads: bool) -> Self {
        Self { platform, steps: Vec::new(), mendings: Vec::new(), path, keep_reads }
    }

    /// How many commands were recorded.
    pub(crate) fn len(&self) -> usize {
        self.steps.len() + self.mendings.iter().map(Mending::steps).sum::<usize>()
    }

    fn push(&mut self, step: Recorded) {
        if self.mendings.is_empty() {
            self.steps.push(step);
            return;
        }
        let open = self.mendings.iter_mut().find(|mending| mending.open);
        if let Some(gap) = open.and_then(|mending| mending.gaps.last_mut()) {
            gap.push(step);
        }
    }

    /// Whether a command is written down.
    fn takes(&self, replayed: bool) -> bool {
        self.mendings.is_empty() || (!replayed && self.mendings.iter().any(|mending| mending.open))
    }
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
        if self.live()?.recording.as_ref().is_none_or(|r| !r.takes(replayed)) {
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

    /// Whether text that is typed where the focus is goes into a field that hides it, as far as the last capture knows.
    fn focus_is_secret(&mut self) -> bool {
        let tree = self.tree().ok();
        tree.is_some_and(|tree| tree.nodes().any(|n| n.is(States::FOCUSED) && n.is(States::PROTECTED)))
    }

    /// The recording ends with the end of its session.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`.
    pub(crate) fn record_end(&mut self) -> Result<()> {
        let close = registry::lookup("close")?;
        // A script that is mended has an end of its own.
        if let Some(recording) = self.live()?.recording.as_mut().filter(|r| r.mendings.is_empty()) {
            recording.push(Recorded {
                entry: close,
                input: Map::new(),
                targets: Vec::new(),
                secret: false,
                variable: None,
            });
        }
        Ok(())
    }

    /// Writes down a command that succeeded, if the session is recorded.
    pub(crate) fn record(&mut self, entry: &'static Entry, effect: Effect, mut input: Map<String, Value>) {
        let seen = std::mem::take(&mut self.envelope.witnesses);
        let replayed = self.replayed;
        let Ok(live) = self.live() else { return };
        // The script runs on.
        for mending in live.recording.iter_mut().flat_map(|r| &mut r.mendings) {
            mending.open &= !replayed || effect == Effect::Reads;
        }
        let Some(recording) = live.recording.as_ref().filter(|r| r.takes(replayed)) else { return };
        if !entry.spec.recorded || (effect == Effect::Reads && !recording.keep_reads) {
            return;
        }
        // In the order of the input; by other names a command may have held them for itself.
        let mut targets = Vec::new();
        crate::targets::change(entry, &mut input, &mut |target| {
            let plain = stickpin_refs::strip(target).to_owned();
            let as_kept = plain.parse::<Target>().map_or_else(|_| plain.clone(), |t| t.to_string());
            let same = |w: &&Witness| w.target == plain || w.target == as_kept;
            targets.extend(seen.iter().find(same).map(|w| Witness { target: plain.clone(), ..w.clone() }));
            Some(plain)
        });
        let typed = entry.fields().iter().any(|f| f.text) && targets.is_empty();
        let secret = targets.iter().any(|w| w.secret) || (typed && self.focus_is_secret());
        let variable = input.get("recordAs").and_then(Value::as_str).map(str::to_owned);
        input.retain(|name, _| !entry.fields().iter().any(|f| f.unrecorded && f.name == *name));
        if let Ok(live) = self.live()
            && let Some(recording) = &mut live.recording
        {
            recording.push(Recorded { entry, input, targets, secret, variable });
        }
    }
}
