//! Gives files to the page: through a file input, the chooser that a press opens, or a drop.

use crate::act::{ignore_gone_document, is_dialog_open, mouse, unknown};
use crate::read::guard;
use crate::read::guard::stopped_outcome;
use crate::read::page::{DocumentElement, Page, element_gone};
use crate::state::Chooser;
use crate::tab::frames::{self, from_tab};
use crate::tab::{NONE, TabError, expression};
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;
use stickpin_device::{
    Action, CancellationToken, Delivery, Error, ErrorCode, FileInput, InputFile, InputOutcome, Result,
};
use stickpin_devtools::protocol::{DragEvent, InterceptFileChooser, ReleaseObject, SetFiles};
use stickpin_tree::Handle;
use tokio::time::timeout;

/// Timeout for a press to open a file chooser: some apps ask their server first.
const CHOOSER_TIMEOUT: Duration = Duration::from_millis(1500);

/// The number of frames for which files hover over an element that does not accept them. Some apps
/// reveal their drop zone only then.
const DROP_HOVER_FRAMES: usize = 6;

/// The answer to `fileInput(id, loose)`. Its own `id` names the file input, and is 0 when the
/// element accepts no files.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FileInputAnswer {
    id: u64,
    multiple: bool,
    directory: bool,
    accept: String,
    holds: Vec<InputFile>,
}

/// The answer to `dropVerdict()`: whether the files that are held over the page reached the target,
/// and whether the page accepts them.
#[derive(Debug, Deserialize)]
struct DropVerdict {
    landed: bool,
    taken: bool,
    what: String,
    changed: bool,
}

fn paths(files: &[PathBuf]) -> Result<Vec<String>> {
    let text = |file: &PathBuf| {
        file.to_str().map(str::to_owned).ok_or_else(|| {
            let message =
                format!("`{}` cannot be passed to the browser: the path is not UTF-8", file.display());
            Error::new(ErrorCode::InvalidArgs, message)
        })
    };
    files.iter().map(text).collect()
}

/// Returns the error for an input that was replaced while it was receiving files. Whether the files
/// arrived is unknown: the old input may have notified its page.
fn input_rerendered() -> Error {
    Error::new(ErrorCode::ElementNotFound, "the file input was re-rendered while it was receiving the files")
        .hint("run `stickpin snapshot -i` to see whether the files arrived; if not, upload them again")
}

/// Returns the file input for an element, with the files that it accepts and contains; `None` if
/// the element accepts no files.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND` when the element is gone, or an error from the tab.
pub async fn file_input_of(page: &Page, handle: Handle) -> Result<Option<FileInput>> {
    let DocumentElement { world, id } = page.located_element(handle)?;
    let file_input: Option<FileInputAnswer> =
        page.tab.call(&world, "fileInput", (id, may_be_detached(page, handle))).await?;
    let FileInputAnswer { id, multiple, directory, accept, holds } = file_input.ok_or_else(element_gone)?;
    let input = Handle { scope: world.scope, id };
    Ok((id != 0)
        .then_some(FileInput::new(input).multiple(multiple).directory(directory).accept(accept).files(holds)))
}

/// Returns whether an input may be outside the document and held only by a script. True for the
/// input whose file chooser was opened; any other detached input was replaced.
fn may_be_detached(page: &Page, input: Handle) -> bool {
    page.chooser == Some(input)
}

pub(crate) async fn upload(page: &mut Page, target: Handle, files: &[PathBuf]) -> Result<InputOutcome> {
    let files = paths(files)?;
    let DocumentElement { world, id } = page.located_element(target)?;
    if !page.tab.call::<bool>(&world, "expectFiles", (id, may_be_detached(page, target))).await? {
        return Err(element_gone());
    }
    let object = page.tab.object(&world, expression("nodeOf", (id,))?).await?;
    let object_id = object.ok_or_else(element_gone)?;
    let set = SetFiles { files, object_id: object_id.clone() };
    let answer = page.tab.query(&world.session, &set).await;
    // Ignore the answer: the page that has the object may be gone.
    drop(page.tab.client.send(Some(&world.session), &ReleaseObject { object_id }));
    if is_dialog_open(answer.map(drop))? {
        // The page opened a dialog as soon as it had the files.
        return Ok(InputOutcome::done());
    }
    if ignore_gone_document(page.tab.call(&world, "filesTaken", NONE).await)? == Some(false) {
        return Err(unknown(input_rerendered()));
    }
    let file_input = ignore_gone_document(
        page.tab.call::<Option<FileInputAnswer>>(&world, "fileInput", (id, true)).await,
    )?
    .flatten();
    let names = |t: FileInputAnswer| t.holds.into_iter().map(|f| f.name).collect::<Vec<_>>().join(", ");
    // Apps that remove the files at once leave nothing to read back.
    let value = file_input.filter(|t| !t.holds.is_empty()).map(names);
    Ok(InputOutcome::done().delivery(Delivery::Confirmed).value(value))
}

/// Presses and waits for the file chooser that the press opens.
pub(crate) async fn choose_files(
    page: &mut Page,
    point: (f64, f64),
    target: Handle,
    cancel: &CancellationToken,
) -> Result<InputOutcome> {
    page.tab.write(|tab| tab.chooser = Chooser::Expected)?;
    let outcome = choose_expected(page, point, target, cancel).await;
    // In every case, the next chooser is unexpected again. A tab that is gone expects nothing.
    page.tab.write(|tab| tab.chooser = Chooser::Unexpected).unwrap_or_default();
    intercept(page, true).await?;
    outcome
}

async fn choose_expected(
    page: &mut Page,
    point: (f64, f64),
    target: Handle,
    cancel: &CancellationToken,
) -> Result<InputOutcome> {
    // The page must not be notified that nothing was chosen: files will follow.
    intercept(page, false).await?;
    let press = Action::press(point, Some(target));
    let outcome = mouse::press(page, &press, None, cancel).await?;
    if matches!(outcome.delivery, Delivery::Elsewhere { .. } | Delivery::Changed { .. }) {
        return Ok(outcome);
    }
    let opened = page.tab.until(|tab| match &tab.chooser {
        Chooser::Opened(frame, node) => Some(Some((frame.clone(), *node))),
        _ if tab.dialog.is_some() => Some(None),
        _ => None,
    });
    let opened = tokio::select! {
        opened = timeout(CHOOSER_TIMEOUT, opened) => match opened {
            Ok(opened) => opened.map_err(unknown)?,
            Err(_) => None,
        },
        () = cancel.cancelled() => None,
    };
    let Some((frame, node)) = opened else { return Ok(outcome) };
    let Some(node) = node else {
        let message = "the page opened a file picker without a file input (`showOpenFilePicker`), which is not supported";
        return Err(unknown(Error::new(ErrorCode::Unsupported, message)));
    };
    let worlds = page.tab.worlds().await.map_err(unknown)?;
    let world = worlds.into_iter().find(|w| w.frame == frame).ok_or_else(|| unknown(element_gone()))?;
    let id = page.tab.number(&world, node).await.map_err(unknown)?;
    page.chooser = Some(Handle { scope: world.scope, id });
    Ok(outcome.chooser(page.chooser))
}

/// Suppresses file choosers in every document. With `cancel`, the page is notified that nothing was
/// chosen.
async fn intercept(page: &Page, cancel: bool) -> Result<()> {
    let intercept = InterceptFileChooser { enabled: true, cancel };
    let sessions = page.tab.sessions()?;
    let sent = sessions.iter().map(|session| page.tab.client.send(Some(session), &intercept)).collect();
    // A frame that has gone away needs no setting; an open dialog must be answered first.
    match page.tab.deliver(sent).await {
        Ok(()) | Err(TabError::Dialog(_)) => Ok(()),
        Err(fault) => Err(fault.into()),
    }
}

pub(crate) async fn drop_files(
    page: &mut Page,
    (x, y): (f64, f64),
    target: Handle,
    files: &[PathBuf],
) -> Result<InputOutcome> {
    let DocumentElement { world, id } = page.located_element(target)?;
    let data = json!({ "items": [], "files": paths(files)?, "dragOperationsMask": 1 });
    let event = |kind| DragEvent { r#type: kind, x, y, data: data.clone() };
    let (inside_x, inside_y) = from_tab((x, y), &frames::frame_steps(&page.tab, &world).await?);
    let arguments = (id, inside_x, inside_y, page.guards.for_input(target));
    if !page.tab.call::<bool>(&world, "expectDrop", arguments).await? {
        return Err(element_gone());
    }
    if is_dialog_open(page.tab.deliver(vec![page.tab.send(&event("dragEnter"))]).await)? {
        return Ok(InputOutcome::done());
    }
    let mut frames = 0;
    let verdict = loop {
        if is_dialog_open(page.tab.deliver(vec![page.tab.send(&event("dragOver"))]).await)? {
            return Ok(InputOutcome::done());
        }
        let verdict: DropVerdict = page.tab.call(&world, "dropVerdict", NONE).await.map_err(unknown)?;
        if verdict.taken || verdict.changed || frames >= DROP_HOVER_FRAMES {
            break verdict;
        }
        frames += 1;
        page.tab.wait_frame(&world).await.map_err(unknown)?;
    };
    let changed = verdict.changed || !guard::are_outer_guards_intact(page, target).await.map_err(unknown)?;
    // If the page refused the drop, the browser would open the file itself.
    let kind = if verdict.landed && verdict.taken && !changed { "drop" } else { "dragCancel" };
    let has_dialog = is_dialog_open(page.tab.deliver(vec![page.tab.send(&event(kind))]).await)?;
    // Check whether the agent stopped the drop because guarded content changed at the last moment.
    // A document that went away saw the drop and acted on it.
    let stopped = !changed
        && !has_dialog
        && ignore_gone_document(page.tab.call(&world, "dropStopped", NONE).await)? == Some(true);
    if changed || stopped {
        return Ok(stopped_outcome(true));
    }
    if !verdict.landed && !verdict.what.is_empty() {
        let delivery = Delivery::Elsewhere { what: verdict.what, stopped: true };
        return Ok(InputOutcome::done().delivery(delivery));
    }
    Ok(InputOutcome::default().handled(verdict.taken).delivery(Delivery::Confirmed))
}
