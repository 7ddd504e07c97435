//! `record start`, `record stop`: what a session does, as a script.

use crate::command::{Command, Effect, Spec};
use crate::cx::Cx;
use crate::error::{Error, ErrorCode, Result, io_error};
use crate::recording::{Gap, Mending, Recording, Scribe};
use crate::render::{Show, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Write down what this session does from now on, to be replayed.
///
/// Targets become selectors; a target that nothing tells from its likes is refused while recording. Commands that only
/// read are left out. `open --record` begins with the first command.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RecordStart {
    /// Where the script goes at the end; else NAME.ad in your working directory.
    #[serde(default)]
    #[schemars(extend("x-positional" = 0, "x-path" = "written"))]
    file: Option<String>,
    /// Keep commands that only read, too.
    #[serde(default)]
    keep_reads: bool,
    /// Mend this script: what is recorded goes in the place of `--line`, and the whole is written at close.
    #[schemars(extend("x-path" = true, "x-placeholder" = "SCRIPT"))]
    mends: Option<String>,
    /// Which line of it, from 1.
    #[schemars(extend("x-placeholder" = "N"))]
    line: Option<u32>,
    /// Put what is recorded before the line, and keep the line.
    #[serde(default)]
    keep_line: bool,
    /// Which time the line is met, if that is several times (in a block, in a file that is included twice): what is done
    /// another time takes the place of what was done this time.
    #[schemars(extend("x-placeholder" = "WORD"))]
    meeting: Option<String>,
}

/// End the recording and write the script.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RecordStop {
    /// Where the script goes, instead of what was said at the beginning.
    #[serde(default)]
    #[schemars(extend("x-positional" = 0, "x-path" = "written"))]
    file: Option<String>,
    /// Forget what was recorded.
    #[serde(default)]
    discard: bool,
}

/// A recording began.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Started {
    session: String,
}

/// A recording ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Saved {
    /// The script; none if it was discarded, or if scripts were mended.
    path: Option<PathBuf>,
    steps: usize,
    /// The scripts that were mended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    healed: Vec<Healed>,
}

/// A script that was mended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Healed {
    path: PathBuf,
    /// What is different in it.
    patch: String,
    /// Where that is written.
    patch_path: PathBuf,
}

impl Command for RecordStart {
    const SPEC: Spec = Spec {
        name: "record start",
        effect: Effect::Reads,
        despite_dialog: true,
        recorded: false,
        examples: &["stickpin record start flows/login.ad"],
        ..Spec::SESSION
    };
    type Output = Started;

    async fn run(self, cx: &mut Cx) -> Result<Started> {
        let path = self.file.as_deref().map(|file| cx.path(file));
        match (&self.mends, self.line) {
            (None, None) => begin(cx, path, self.keep_reads)?,
            (Some(script), Some(line)) => {
                let script = cx.reach(script)?;
                let gap = Gap {
                    line,
                    keeps: self.keep_line,
                    steps: Vec::new(),
                    meeting: self.meeting.clone(),
                    again: None,
                };
                mend(cx, path, script, gap)?;
            }
            _ => {
                return Err(Error::new(ErrorCode::InvalidArgs, "`mends` and `line` belong together")
                    .hint("stickpin record start --mends flow.ad --line 12"));
            }
        }
        Ok(Started { session: cx.session_name().to_owned() })
    }
}

impl Command for RecordStop {
    const SPEC: Spec = Spec {
        name: "record stop",
        effect: Effect::Reads,
        despite_dialog: true,
        writes: true,
        recorded: false,
        examples: &["stickpin record stop"],
        ..Spec::SESSION
    };
    type Output = Saved;

    async fn run(self, cx: &mut Cx) -> Result<Saved> {
        let path = self.file.as_deref().map(|file| cx.path(file));
        if self.discard {
            let recording = cx.live()?.recording.take().ok_or_else(none)?;
            return Ok(Saved { path: None, steps: recording.len(), healed: Vec::new() });
        }
        save(cx, path)
    }
}

/// Begins to record.
///
/// # Errors
/// `INVALID_ARGS` when it is recorded already.
pub(crate) fn begin(cx: &mut Cx, path: Option<PathBuf>, keep_reads: bool) -> Result<()> {
    let live = cx.live()?;
    if live.recording.is_some() {
        return Err(Error::new(ErrorCode::InvalidArgs, "this session is being recorded already")
            .hint("stickpin record stop writes the script"));
    }
    live.recording = Some(Recording::new(live.device.info().kind, path, keep_reads));
    Ok(())
}

/// Begins to mend a script, or goes on with another line of it.
///
/// # Errors
/// `INVALID_ARGS` when something else is recorded, or the script has no such line; `IO`.
fn mend(cx: &mut Cx, path: Option<PathBuf>, script: PathBuf, new: Gap) -> Result<()> {
    if cx.live()?.recording.as_ref().is_none_or(|r| r.mendings.is_empty()) {
        begin(cx, None, false)?;
    }
    let Some(recording) = cx.live()?.recording.as_mut() else { return Ok(()) };
    let at = match recording.mendings.iter().position(|mending| mending.file == script) {
        Some(at) => at,
        None => {
            let text = std::fs::read_to_string(&script).map_err(|e| io_error("read", &script, &e))?;
            let to = path.unwrap_or_else(|| script.with_extension("healed.ad"));
            let mending = Mending { file: script.clone(), text, gaps: Vec::new(), to, open: false };
            recording.mendings.push(mending);
            recording.mendings.len() - 1
        }
    };
    let mending = &recording.mendings[at];
    let lines = mending.text.lines().count();
    if new.line == 0 || usize::try_from(new.line).is_ok_and(|line| line > lines) {
        let message = format!("`{}` has {lines} lines; there is no line {}", script.display(), new.line);
        return Err(Error::new(ErrorCode::InvalidArgs, message));
    }
    // What is done goes into one gap only.
    for (other, mending) in recording.mendings.iter_mut().enumerate() {
        mending.open &= other == at;
    }
    let mending = &mut recording.mendings[at];
    let ran_on = !std::mem::replace(&mut mending.open, true);
    match mending.gaps.iter().position(|gap| gap.line == new.line) {
        // The last one is where commands go.
        Some(met) => {
            let mut gap = mending.gaps.remove(met);
            if ran_on || gap.again.is_some() || gap.meeting != new.meeting {
                gap.again = Some(new.keeps);
            } else {
                gap.keeps = new.keeps;
            }
            gap.meeting = new.meeting;
            mending.gaps.push(gap);
        }
        None => mending.gaps.push(new),
    }
    Ok(())
}

/// Whether the session mends a script, and something was recorded for it.
///
/// # Errors
/// `SESSION_NOT_FOUND`.
pub(crate) fn mended(cx: &mut Cx) -> Result<bool> {
    let recording = cx.live()?.recording.as_ref();
    Ok(recording.is_some_and(|r| r.mendings.iter().any(|mending| mending.steps() > 0)))
}

/// Writes the script and ends the recording; what cannot be written goes on.
///
/// # Errors
/// `IO`, `STORAGE_FULL`, `INVALID_ARGS` when nothing is recorded.
pub(crate) fn save(cx: &mut Cx, path: Option<PathBuf>) -> Result<Saved> {
    let scribe = cx.host.config.scribe.clone();
    let recording = cx.live()?.recording.as_ref().ok_or_else(none)?.clone();
    let steps = recording.len();
    let saved = if recording.mendings.is_empty() {
        let script = scribe.script(&recording)?;
        let path = match path.or(recording.path) {
            Some(path) => path,
            None => free(&cx.caller.cwd, cx.session_name()),
        };
        cx.write(&path, script.as_bytes())?;
        Saved { path: Some(path), steps, healed: Vec::new() }
    } else {
        Saved { path: None, steps, healed: heal(cx, &*scribe, &recording.mendings, path)? }
    };
    cx.live()?.recording = None;
    Ok(saved)
}

/// Writes the scripts that were mended, each beside itself.
fn heal(cx: &Cx, scribe: &dyn Scribe, mendings: &[Mending], path: Option<PathBuf>) -> Result<Vec<Healed>> {
    let mended: Vec<&Mending> = mendings.iter().filter(|mending| mending.steps() > 0).collect();
    if path.is_some() && mended.len() > 1 {
        let message = format!("{} scripts were mended, and one file was named", mended.len());
        return Err(
            Error::new(ErrorCode::InvalidArgs, message).hint("without a name each is written beside itself")
        );
    }
    let write = |mending: &&Mending| {
        let (script, patch) = scribe.mended(mending)?;
        let path = path.clone().unwrap_or_else(|| mending.to.clone());
        let patch_path = path.with_extension("diff");
        cx.write(&path, script.as_bytes())?;
        cx.write(&patch_path, patch.as_bytes())?;
        Ok(Healed { path, patch, patch_path })
    };
    mended.iter().map(write).collect()
}

fn none() -> Error {
    Error::new(ErrorCode::InvalidArgs, "this session is not being recorded")
        .hint("stickpin record start, or stickpin open WHAT --record")
}

/// A name in a folder that nothing has yet.
fn free(folder: &Path, session: &str) -> PathBuf {
    let plain = folder.join(format!("{session}.ad"));
    let numbered = (2..).map(|n| folder.join(format!("{session}-{n}.ad")));
    std::iter::once(plain)
        .chain(numbered)
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join("script.ad"))
}

impl Show for Started {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("recording {}: stickpin record stop writes the script", self.session));
    }
}

impl Show for Saved {
    fn show(&self, text: &mut Text) {
        let steps = match self.steps {
            1 => "1 step".to_owned(),
            n => format!("{n} steps"),
        };
        match &self.path {
            Some(path) => text.line(format_args!("wrote {steps} to {}", path.display())),
            None if self.healed.is_empty() => text.line(format_args!("forgot {steps}")),
            None => {}
        }
        for healed in &self.healed {
            text.line(format_args!("wrote {}", healed.path.display()));
            text.plain(&healed.patch);
        }
    }
}
