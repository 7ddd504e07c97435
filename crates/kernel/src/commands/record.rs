//! `record start`, `record stop`: what a session does, as a script.

use crate::command::{Command, Effect, Spec};
use crate::cx::Cx;
use crate::error::{Error, ErrorCode, Result, io_error};
use crate::recording::Recording;
use crate::render::{Show, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
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
        begin(cx, path, self.keep_reads)?;
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
            return Ok(Saved { path: None, steps: recording.steps.len() });
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

/// Writes the script and ends the recording; what cannot be written goes on.
///
/// # Errors
/// `IO`, `STORAGE_FULL`, `INVALID_ARGS` when nothing is recorded.
pub(crate) fn save(cx: &mut Cx, path: Option<PathBuf>) -> Result<Saved> {
    let scribe = cx.host.config.scribe.clone();
    let recording = cx.live()?.recording.as_ref().ok_or_else(none)?.clone();
    let script = scribe.script(&recording)?;
    let path = match path.or(recording.path) {
        Some(path) => path,
        None => free(&cx.caller.cwd, cx.session_name()),
    };
    write(&path, &script)?;
    cx.live()?.recording = None;
    Ok(Saved { path: Some(path), steps: recording.steps.len() })
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

/// Whole or not at all: beside it first, then in its place.
fn write(path: &Path, text: &str) -> Result<()> {
    let failed = |e: &std::io::Error| io_error("write", path, e);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| failed(&e))?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|e| {
        if let Err(left) = std::fs::remove_file(&beside)
            && left.kind() != ErrorKind::NotFound
        {
            tracing::warn!("{}: {left}", beside.display());
        }
        failed(&e)
    })
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
    }
}
