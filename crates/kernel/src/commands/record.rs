//! `record start`, `record stop`: what a session does, as a script.

use crate::command::{Command, Effect, Spec};
use crate::cx::Cx;
use crate::error::{Error, ErrorCode, Result, io_error};
use crate::files;
use crate::recording::{Gap, Mending, Recording};
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
    #[schemars(extend("x-positional" = 0, "x-path" = true))]
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
}

/// End the recording and write the script.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RecordStop {
    /// Where the script goes, instead of what was said at the beginning.
    #[serde(default)]
    #[schemars(extend("x-positional" = 0, "x-path" = true))]
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
    /// The script; none if it was discarded.
    path: Option<PathBuf>,
    steps: usize,
    /// What is different in a script that was mended, as a patch, and where that is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<Patch>,
}

/// What is different.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Patch {
    path: PathBuf,
    text: String,
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
                let script = cx.path(script);
                mend(cx, path, script, line, self.keep_line)?;
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
        recorded: false,
        examples: &["stickpin record stop"],
        ..Spec::SESSION
    };
    type Output = Saved;

    async fn run(self, cx: &mut Cx) -> Result<Saved> {
        let path = self.file.as_deref().map(|file| cx.path(file));
        if self.discard {
            let recording = cx.live()?.recording.take().ok_or_else(none)?;
            return Ok(Saved { path: None, steps: recording.len(), patch: None });
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
fn mend(cx: &mut Cx, path: Option<PathBuf>, script: PathBuf, line: u32, keeps: bool) -> Result<()> {
    let known = cx.live()?.recording.as_ref().and_then(|r| r.mending.as_ref());
    if known.is_none_or(|mending| mending.file != script) {
        let text = std::fs::read_to_string(&script).map_err(|e| io_error("read", &script, &e))?;
        begin(cx, Some(path.unwrap_or_else(|| script.with_extension("healed.ad"))), false)?;
        if let Some(recording) = &mut cx.live()?.recording {
            recording.mending = Some(Mending { file: script.clone(), text, gaps: Vec::new(), open: false });
        }
    }
    let Some(mending) = cx.live()?.recording.as_mut().and_then(|r| r.mending.as_mut()) else { return Ok(()) };
    let lines = mending.text.lines().count();
    if line == 0 || usize::try_from(line).is_ok_and(|line| line > lines) {
        let message = format!("`{}` has {lines} lines; there is no line {line}", script.display());
        return Err(Error::new(ErrorCode::InvalidArgs, message));
    }
    mending.open = true;
    match mending.gaps.iter().position(|gap| gap.line == line) {
        // The last one is where commands go.
        Some(at) => {
            let mut gap = mending.gaps.remove(at);
            gap.keeps = keeps;
            mending.gaps.push(gap);
        }
        None => mending.gaps.push(Gap { line, keeps, steps: Vec::new() }),
    }
    Ok(())
}

/// Whether the session mends a script, and something was recorded for it.
///
/// # Errors
/// `SESSION_NOT_FOUND`.
pub(crate) fn mended(cx: &mut Cx) -> Result<bool> {
    let recording = cx.live()?.recording.as_ref();
    Ok(recording.and_then(|r| r.mending.as_ref()).is_some_and(|mending| mending.steps() > 0))
}

/// Writes the script and ends the recording; what cannot be written goes on.
///
/// # Errors
/// `IO`, `STORAGE_FULL`, `INVALID_ARGS` when nothing is recorded.
pub(crate) fn save(cx: &mut Cx, path: Option<PathBuf>) -> Result<Saved> {
    let scribe = cx.host.config.scribe.clone();
    let recording = cx.live()?.recording.as_ref().ok_or_else(none)?.clone();
    let (script, patch) = match &recording.mending {
        None => (scribe.script(&recording)?, None),
        Some(mending) => scribe.mended(mending).map(|(script, patch)| (script, Some(patch)))?,
    };
    let steps = recording.len();
    let path = match path.or(recording.path) {
        Some(path) => path,
        None => free(&cx.caller.cwd, cx.session_name()),
    };
    files::write(&path, script.as_bytes())?;
    let patch = patch.map(|text| Patch { path: path.with_extension("diff"), text });
    if let Some(patch) = &patch {
        files::write(&patch.path, patch.text.as_bytes())?;
    }
    cx.live()?.recording = None;
    Ok(Saved { path: Some(path), steps, patch })
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
            None => text.line(format_args!("forgot {steps}")),
        }
        if let Some(patch) = &self.patch {
            text.plain(&patch.text);
        }
    }
}
