//! `record start`, `record stop`: records a session as a script.

use crate::api::command_definition::CommandDefinition;
use crate::api::files;
use crate::commands::prelude::*;
use crate::commands::session::close::Close;
use crate::host::private_dir;
use crate::host::queue::Position;
use crate::host::recording::{RecordedCommand, Recorder, Recording, ScriptRepair, ScriptWriter};
use serde_json::Map;
use std::path::{Path, PathBuf};
use stickpin_session::log::{RecordingStarted, Redacted, RepairStarted};
use stickpin_tree::format_count;

/// Record the commands of this session as a script for `replay`.
///
/// Targets become selectors; a target that no selector distinguishes is refused while recording.
/// Checks that passed (`is`, `wait`) are recorded; other commands that only read are not. With
/// `open --record`, the recording begins with the first command.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RecordStart {
    /// Where to write the script; by default SESSION.ad in your working directory.
    #[schemars(extend("x-positional" = 0, "x-path" = "written"))]
    pub file: Option<PathArg>,
    /// Also record commands that only read.
    pub keep_reads: bool,
    /// Repair this script: the recording replaces the line named by `--line`, and `record stop` or
    /// `close` writes the repaired script.
    #[schemars(extend("x-placeholder" = "SCRIPT"))]
    pub repair: Option<PathArg>,
    /// The line to replace, from 1.
    #[schemars(extend("x-placeholder" = "N"))]
    pub line: Option<u32>,
    /// Insert the recording before the line, and keep the line.
    pub keep_line: bool,
    /// Which pass over the line this is, if the line runs several times: in a repeated block, or in
    /// a file that is included twice. A later recording for the line replaces an earlier one.
    #[schemars(extend("x-placeholder" = "WORD"))]
    pub pass: Option<String>,
}

/// End the recording and write the script.
///
/// Works even after the app, the session or the daemon was lost: each recorded command is written
/// to disk before its response is sent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RecordStop {
    /// Where to write the script, instead of the file named at the start.
    #[schemars(extend("x-positional" = 0, "x-path" = "written"))]
    pub file: Option<PathArg>,
    /// Discard the recording.
    pub discard: bool,
}

/// The output of `record start`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordStartOutput {
    /// The name of the session.
    pub session: String,
}

/// The result of ending a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordStopOutput {
    /// The path of the script; `None` if the recording was discarded or if it repaired scripts.
    pub path: Option<PathBuf>,
    /// The number of steps in the recording.
    pub steps: usize,
    /// The repaired scripts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<RepairedScript>,
}

/// A repaired script.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RepairedScript {
    /// The path of the repaired script.
    pub path: PathBuf,
    /// The changes as a patch.
    pub patch: String,
    /// The path of the patch.
    pub patch_path: PathBuf,
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
    type Output = RecordStartOutput;

    async fn run(self, cx: &mut Cx) -> Result<RecordStartOutput> {
        let path = cx.resolve_optional_path(self.file.as_ref())?;
        let example = "for example: `stickpin record start --repair flow.ad --line 12`";
        match (&self.repair, self.line) {
            (None, None) if self.keep_line || self.pass.is_some() => {
                let option = if self.keep_line { "keep-line" } else { "pass" };
                let message = format!("`{option}` cannot be given without `repair` and `line`");
                return Err(Error::invalid_args(message).hint(example));
            }
            (None, None) => start_recording(cx, path, self.keep_reads)?,
            (Some(_), _) if self.keep_reads => {
                let message = "`keep-reads` cannot be combined with `repair`, which keeps no reads";
                return Err(Error::invalid_args(message));
            }
            (Some(script), Some(line)) => {
                let file = cx.resolve_path(script)?;
                let text = std::fs::read_to_string(&*file).map_err(|e| file.io_error("read", &e))?;
                let file = file.into_path_buf();
                let to = path.unwrap_or_else(|| file.with_extension("repaired.ad"));
                let redactor = authority::redactor(cx);
                let repair = RepairStarted {
                    file: utf8(&file)?,
                    text: Redacted::new(text.clone(), &redactor),
                    to: utf8(&to)?,
                    line,
                    keeps_line: self.keep_line,
                    pass: self.pass.clone().map(|pass| Redacted::new(pass, &redactor)),
                };
                start_repair(cx, &file, &text, repair)?;
            }
            _ => {
                return Err(Error::invalid_args("`repair` and `line` must be given together").hint(example));
            }
        }
        Ok(RecordStartOutput { session: cx.session_name().to_owned() })
    }
}

impl Command for RecordStop {
    const SPEC: Spec = Spec {
        name: "record stop",
        effect: Effect::Reads,
        writes: true,
        examples: &["stickpin record stop"],
        ..Spec::HOST
    };
    type Output = RecordStopOutput;

    async fn run(self, cx: &mut Cx) -> Result<RecordStopOutput> {
        let path = cx.resolve_optional_path(self.file.as_ref())?;
        check_out_if_open(cx).await?;
        if self.discard {
            let steps = current_recording(cx)?.len();
            end_recording(cx, false)?;
            return Ok(RecordStopOutput { path: None, steps, repaired: Vec::new() });
        }
        save(cx, path, false)
    }
}

/// Checks the session out if it is still open.
///
/// # Errors
/// Returns the errors of [`Cx::check_out`], except for a session that has been lost in the
/// meantime.
pub(crate) async fn check_out_if_open(cx: &mut Cx) -> Result<()> {
    let Ok(slot) = cx.host.slot(cx.session_name()) else { return Ok(()) };
    match cx.check_out(slot, Position::Next).await {
        // The session has been lost in the meantime, but the log of its recording remains.
        Err(e) if matches!(e.code, ErrorCode::BackendLost | ErrorCode::SessionNotFound) => Ok(()),
        entered => entered,
    }
}

/// Starts a recording. If a lost session of the same name left an unsaved recording, saves that
/// recording first.
///
/// # Errors
/// Returns `INVALID_ARGS` when the session is already being recorded or `path` is not UTF-8, and
/// errors from the log and from saving the earlier recording.
pub(crate) fn start_recording(cx: &mut Cx, path: Option<PathBuf>, keep_reads: bool) -> Result<()> {
    let live = cx.open_session()?;
    if live.recorder.is_some() {
        return Err(Error::invalid_args("this session is already being recorded")
            .hint("run `stickpin record stop` to write the script"));
    }
    let platform = live.device.info().kind;
    let path = path.as_deref().map(utf8).transpose()?;
    put_aside(cx)?;
    let log = cx.host.recording_log_or_new(cx.session_name(), platform)?;
    let start = RecordingStarted { platform: platform.to_owned(), path, keep_reads };
    log.start(authority::participant(cx).as_ref(), start)?;
    cx.open_session()?.recorder = Some(Recorder::new(log, keep_reads));
    Ok(())
}

/// Returns a path as UTF-8 text, the form in which the log stores it.
fn utf8(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::invalid_args(format!("the path `{}` is not UTF-8", path.display()))
            .hint("name a file whose path is UTF-8")
    })
}

/// Reads the recording in progress from the log, including that of a lost session.
fn read_recording(cx: &Cx) -> Result<Option<Recording>> {
    let Some(log) = cx.host.recording_log(cx.session_name())? else { return Ok(None) };
    Ok(log.read()?.map(Recording::of))
}

/// Ends the unsaved recording of a lost session, if there is one. A recording with steps is first
/// written as a script into the state directory. If it repaired scripts, each of them is written to
/// the path chosen when its repair began.
fn put_aside(cx: &mut Cx) -> Result<()> {
    let Some(old) = read_recording(cx)? else { return Ok(()) };
    if old.len() > 0 {
        let script_writer = cx.host.config.script_writer.clone();
        let written = if old.repairs.is_empty() {
            let folder = cx.host.config.state_dir.join("recordings");
            private_dir(&folder)?;
            let path = unused_path(&folder, cx.session_name());
            files::write_within(None, &path, script_writer.script(&old)?.as_bytes())?;
            vec![path]
        } else {
            write_repaired(cx, &*script_writer, &old.repairs, None)?
                .into_iter()
                .map(|script| script.path)
                .collect()
        };
        let written: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        cx.warn(format!("The recording of the lost session was saved to {}.", written.join(", ")));
    }
    end_recording(cx, true)
}

/// Warns if a lost session left an unsaved recording, or if the log cannot be read.
pub(crate) fn warn_unsaved(cx: &mut Cx) {
    let said = match read_recording(cx) {
        Ok(None) => return,
        Ok(Some(old)) => {
            format!(
                "This session was lost with an unsaved recording of {}; run `stickpin record stop` to write it.",
                format_count(old.len(), "step")
            )
        }
        Err(e) => format!("{e}."),
    };
    cx.warn(said);
}

/// Starts the repair of a line of a script, as part of the repair in progress if there is one.
///
/// # Errors
/// Returns `INVALID_ARGS` when the script has no such line; no recording has started then. Returns
/// the errors of [`start_recording`] and errors from the log.
fn start_repair(cx: &mut Cx, file: &Path, text: &str, repair: RepairStarted) -> Result<()> {
    let earlier = cx.open_session()?.recorder.as_ref().filter(|recorder| recorder.repairs_scripts());
    // Line numbers refer to the version of the script that was read first.
    let lines = earlier.and_then(|recorder| recorder.script_text(file)).unwrap_or(text).lines().count();
    if repair.line == 0 || usize::try_from(repair.line).is_ok_and(|line| line > lines) {
        let (file, lines) = (file.display(), format_count(lines, "line"));
        let message = format!("`{file}` has {lines}, so there is no line {}", repair.line);
        return Err(Error::invalid_args(message));
    }
    if earlier.is_none() {
        start_recording(cx, None, false)?;
    }
    let who = authority::participant(cx);
    let Some(recorder) = cx.open_session()?.recorder.as_mut() else { return Ok(()) };
    recorder.log().start_repair(who.as_ref(), repair)?;
    recorder.start_repair(file, text);
    Ok(())
}

/// Returns whether the session is repairing a script and has recorded steps for it.
///
/// # Errors
/// Returns errors from reading the log.
pub(crate) fn has_repaired(cx: &mut Cx) -> Result<bool> {
    let recorder = cx.open_session().ok().and_then(|live| live.recorder.as_ref());
    if !recorder.is_some_and(Recorder::repairs_scripts) {
        return Ok(false);
    }
    let recording = read_recording(cx)?;
    Ok(recording.is_some_and(|recording| recording.repairs.iter().any(|repair| repair.steps() > 0)))
}

/// Returns the recording of the session that was checked out, or of a lost session of the same
/// name.
fn current_recording(cx: &mut Cx) -> Result<Recording> {
    let Some(mut recording) = read_recording(cx)? else {
        return cx.host.slot(cx.session_name()).and_then(|_| Err(not_recorded_error()));
    };
    if let Ok(live) = cx.open_session()
        && let Some(recorder) = &live.recorder
    {
        // The log stores the texts of scripts with secrets redacted.
        for repair in &mut recording.repairs {
            if let Some(text) = recorder.script_text(&repair.file) {
                text.clone_into(&mut repair.text);
            }
        }
    }
    Ok(recording)
}

/// Ends the recording, if one is in progress. `written` states whether its script was written.
///
/// # Errors
/// Returns errors from the log; the recording then continues.
pub(crate) fn end_recording(cx: &mut Cx, written: bool) -> Result<()> {
    if let Some(log) = cx.host.recording_log(cx.session_name())?
        && log.is_in_progress()
    {
        log.end(authority::participant(cx).as_ref(), written)?;
    }
    if let Ok(live) = cx.open_session() {
        live.recorder = None;
    }
    Ok(())
}

/// The definition of `close`, the command that ends the script of a closed session.
static CLOSE_COMMAND: CommandDefinition = CommandDefinition::of::<Close>(Close::SPEC);

/// Writes the script and ends the recording. When writing fails, the recording continues. `closes`
/// states whether the session ends too.
///
/// # Errors
/// Returns `INVALID_ARGS` when nothing is being recorded or `path` is given for several repaired
/// scripts, and `SESSION_NOT_FOUND` when nothing is being recorded and the session is not open.
/// Also returns errors from writing the script and from the log.
pub(crate) fn save(cx: &mut Cx, path: Option<PathBuf>, closes: bool) -> Result<RecordStopOutput> {
    let script_writer = cx.host.config.script_writer.clone();
    let mut recording = current_recording(cx)?;
    // A script under repair has its own last line.
    if closes && recording.repairs.is_empty() {
        let close = RecordedCommand {
            definition: &CLOSE_COMMAND,
            input: Map::new(),
            targets: Vec::new(),
            secret: false,
            variable: None,
        };
        recording.steps.push(script_writer.lines(&close)?);
    }
    let steps = recording.len();
    let saved = if recording.repairs.is_empty() {
        let script = script_writer.script(&recording)?;
        let path = match path.or(recording.path) {
            Some(path) => path,
            None => unused_path(&cx.resolve_path(&PathArg::from("."))?, cx.session_name()),
        };
        cx.write(&path, script.as_bytes())?;
        RecordStopOutput { path: Some(path), steps, repaired: Vec::new() }
    } else {
        let repaired = write_repaired(cx, &*script_writer, &recording.repairs, path)?;
        RecordStopOutput { path: None, steps, repaired }
    };
    end_recording(cx, true)?;
    Ok(saved)
}

/// Writes the repaired script to `path`. Without `path`, writes each repaired script to the path
/// chosen when its repair began, by default next to the original. Also writes a patch next to each
/// script.
fn write_repaired(
    cx: &Cx,
    script_writer: &dyn ScriptWriter,
    repairs: &[ScriptRepair],
    path: Option<PathBuf>,
) -> Result<Vec<RepairedScript>> {
    let repaired: Vec<&ScriptRepair> = repairs.iter().filter(|repair| repair.steps() > 0).collect();
    if path.is_some() && repaired.len() > 1 {
        let message = format!("{} scripts were repaired, but only one output file was named", repaired.len());
        return Err(
            Error::invalid_args(message).hint("omit the file name to write each script to its own file")
        );
    }
    let write = |repair: &&ScriptRepair| {
        let (script, patch) = script_writer.repaired_script(repair)?;
        let path = path.clone().unwrap_or_else(|| repair.to.clone());
        let patch_path = path.with_extension("diff");
        cx.write(&path, script.as_bytes())?;
        cx.write(&patch_path, patch.as_bytes())?;
        Ok(RepairedScript { path, patch, patch_path })
    };
    repaired.iter().map(write).collect()
}

fn not_recorded_error() -> Error {
    Error::invalid_args("this session is not being recorded")
        .hint("run `stickpin record start`, or open the app with `--record`")
}

/// Returns an unused path for a script in a folder.
fn unused_path(folder: &Path, session: &str) -> PathBuf {
    let plain = folder.join(format!("{session}.ad"));
    let numbered = (2..).map(|n| folder.join(format!("{session}-{n}.ad")));
    std::iter::once(plain)
        .chain(numbered)
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join("script.ad"))
}

show_line!(RecordStartOutput: it => "recording {}; `record stop` writes the script", it.session);

impl Show for RecordStopOutput {
    fn show(&self, text: &mut Text) {
        let steps = format_count(self.steps, "step");
        match &self.path {
            Some(path) => text.line(format_args!("wrote {steps} to {}", path.display())),
            None if self.repaired.is_empty() => text.line(format_args!("discarded {steps}")),
            None => {}
        }
        for script in &self.repaired {
            text.line(format_args!("wrote {}", script.path.display()));
            text.app_text(&script.patch);
        }
    }
}
