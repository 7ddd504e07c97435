//! `upload`: gives files to a file input, a file chooser or a drop target.

use crate::act::input::{FailedAttempts, InputPosition};
use crate::commands::prelude::*;
use std::path::{Path, PathBuf};
use stickpin_device::{Action, Dispatched, FileInput, InputFile, InputOutcome};
use stickpin_session::Timestamp;
use stickpin_tree::{Handle, escape};

/// The maximum length of an input's `accept` in a message, in characters.
const MAX_ACCEPT_CHARS: usize = 200;

acting! {
    /// Give files to the app: to a file input or chooser, or by dropping them onto an element.
    ///
    /// The target may be the input, its label, an element with one file input in it, a button that
    /// opens a file chooser, or a drop zone. Does nothing if the input already holds these files.
    pub struct Upload {
        /// Ref or selector.
        #[schemars(extend("x-positional" = 0))]
        target: Target,
        /// The files, in this order; they replace the files of the input.
        #[schemars(length(min = 1), extend("x-positional" = 1, "x-trailing" = true, "x-placeholder" = "FILE"))]
        files: Vec<PathArg>,
    }
}

impl TargetedAction for Upload {
    const SPEC: Spec = Spec {
        name: "upload",
        effect: Effect::Mutates,
        needs: &[Capability::Upload],
        examples: &["stickpin upload @e5 ~/cv.pdf", "stickpin upload 'label=Photos' a.png b.png --settle"],
        ..Spec::SESSION
    };

    async fn act(self, cx: &mut Cx, opts: ActionOptions) -> Result<(ActionTarget, ActionOutput)> {
        let files = read(cx, &self.files)?;
        let (mut found, mut attempts) = (None, FailedAttempts::default());
        while found.is_none() {
            // The input itself is often hidden behind a styled element.
            let ready = act::wait_actionable(cx, &self.target, Actionability::Enabled, opts).await?;
            let input = match facets::files(cx.device()?, NEED)?.file_input(ready.element_handle()?).await {
                Ok(Some(input)) => input,
                Ok(None) => break,
                Err(e) => {
                    attempts.count_vanished(e)?;
                    continue;
                }
            };
            match upload_to_input(cx, &input, &files, &ready, Some(&ready)).await {
                Err(e) => attempts.count_vanished(e)?,
                Ok(acted) => found = Some((ready, acted)),
            }
        }
        let (ready, mut acted) = match found {
            Some(found) => found,
            None => choose_or_drop(cx, &self.target, &files, opts).await?,
        };
        acted.target = ready.description.clone();
        Ok((ready, acted))
    }
}

/// What an upload needs from a device, for error messages.
const NEED: &str = "accept files";

/// A file to upload.
struct LocalFile {
    path: PathBuf,
    held: InputFile,
}

/// Checks, before anything is sent, that every path names a readable file.
fn read(cx: &Cx, files: &[PathArg]) -> Result<Vec<LocalFile>> {
    if files.is_empty() {
        return Err(Error::invalid_args("`upload` needs at least one file")
            .hint("for example: `stickpin upload @e5 ~/cv.pdf`"));
    }
    files.iter().map(|file| one(cx.resolve_path(file)?)).collect()
}

fn one(path: ResolvedPath) -> Result<LocalFile> {
    let about = std::fs::metadata(&*path).map_err(|e| path.io_error("read", &e))?;
    if about.is_dir() {
        let message = format!("`{}` is a folder, not a file", path.display());
        return Err(Error::invalid_args(message).hint("pass the files in it instead"));
    }
    // Only opening the file shows whether it is readable.
    std::fs::File::open(&*path).map_err(|e| path.io_error("read", &e))?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let modified = about.modified().map_or(0, |time| Timestamp::from(time).millis());
    Ok(LocalFile { held: InputFile::new(name, about.len(), modified), path: path.into_path_buf() })
}

fn names(files: &[LocalFile]) -> String {
    files.iter().map(|f| f.held.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Gives files to an input. `ready` is the target that the command named. `target` is the same
/// target if it represents the input, so that a vanished input is reported as a vanished target.
async fn upload_to_input(
    cx: &mut Cx,
    input: &FileInput,
    files: &[LocalFile],
    ready: &ActionTarget,
    target: Option<&ActionTarget>,
) -> Result<ActionOutput> {
    check_accepted(input, files, &ready.description)?;
    if input.files.iter().eq(files.iter().map(|f| &f.held)) {
        return Ok(ActionOutput { value: Some(names(files)), ..ActionOutput::new("already uploaded", "") });
    }
    let action =
        Action::Upload { target: input.input, files: files.iter().map(|f| f.path.clone()).collect() };
    let performed = match target {
        Some(ready) => {
            outcome::begin_action(cx, ready).await?;
            input::send_to_target(cx, &action, ready).await?
        }
        None => input::send_untargeted(cx, &action, &ready.description).await?,
    };
    Ok(ActionOutput { value: performed.value, ..ActionOutput::new("uploaded", "") })
}

/// Uploads to a target without a known input. A pressable element is pressed, which may open a file
/// chooser. Otherwise, or if no chooser takes the files, they are dropped onto the element.
async fn choose_or_drop(
    cx: &mut Cx,
    target: &Target,
    files: &[LocalFile],
    opts: ActionOptions,
) -> Result<(ActionTarget, ActionOutput)> {
    let drop = |ready: &ActionTarget| {
        let files = files.iter().map(|f| f.path.clone()).collect();
        Ok(Action::Drop { point: ready.point, target: ready.element_handle()?, files })
    };
    let first = |ready: &ActionTarget| match ready.actionable {
        true => Ok(Some(Action::Choose { point: ready.point, target: ready.element_handle()? })),
        false => drop(ready).map(Some),
    };
    let unanswered =
        match input::aim_and_send_if(cx, target, Actionability::Pointer, opts, InputPosition::First, first)
            .await
        {
            Ok((ready, performed)) if !ready.actionable => {
                return drop_outcome(cx, ready, &performed.unwrap_or_default(), files, None);
            }
            Ok((ready, performed)) => match performed.unwrap_or_default().chooser {
                Some(chooser) => {
                    let gone =
                        || Error::element_not_found("the file chooser closed before it received a file");
                    let input =
                        facets::files(cx.device()?, NEED)?.file_input(chooser).await?.ok_or_else(gone)?;
                    if let Err(e) = check_accepted(&input, files, &ready.description) {
                        return Err(close_refused_chooser(cx, chooser, e).await?);
                    }
                    let acted = upload_to_input(cx, &input, files, &ready, None).await?;
                    return Ok((ready, acted));
                }
                // The app asks for confirmation first; the upload can continue after the dialog has
                // been answered.
                None if cx.device()?.dialog().is_some() => {
                    return Ok((ready, ActionOutput::new("gave no files yet to", "")));
                }
                None => None,
            },
            // The chooser cannot be given files, but its opener may still accept drops.
            Err(e) if e.code == ErrorCode::Unsupported && e.dispatched == Dispatched::Unknown => Some(e),
            Err(e) => return Err(e),
        };
    // The press may have moved the element.
    let then = |ready: &ActionTarget| drop(ready).map(Some);
    match input::aim_and_send_if(cx, target, Actionability::Pointer, opts, InputPosition::Further, then).await
    {
        Ok((ready, performed)) => drop_outcome(cx, ready, &performed.unwrap_or_default(), files, unanswered),
        // The chooser that the press opened blocks the drop, so its error is the useful one.
        Err(e) => Err(unanswered.map_or(e, |why| why.dispatched(cx.dispatched()))),
    }
}

/// Returns the outcome of a drop. `unanswered` is the error of the chooser that an earlier press
/// opened.
fn drop_outcome(
    cx: &Cx,
    ready: ActionTarget,
    performed: &InputOutcome,
    files: &[LocalFile],
    unanswered: Option<Error>,
) -> Result<(ActionTarget, ActionOutput)> {
    if !performed.handled {
        if let Some(unanswered) = unanswered {
            return Err(unanswered.dispatched(cx.dispatched()));
        }
        let message = format!(
            "{} has no file input, opens no file chooser and accepts no dropped files",
            ready.description
        );
        return Err(Error::invalid_args(message)
            .hint("run `stickpin snapshot -i` to list the elements, then upload to the input, its label or its button")
            .dispatched(cx.dispatched()));
    }
    Ok((ready, ActionOutput { value: Some(names(files)), ..ActionOutput::new("dropped", "") }))
}

/// Closes a chooser that does not accept the files, and returns the error. If the device shows a
/// window for the chooser, the error also says whether that window is still open.
async fn close_refused_chooser(cx: &mut Cx, chooser: Handle, e: Error) -> Result<Error> {
    let under_way = cx.begin_operation();
    let closed = facets::files(cx.device()?, NEED)?.close_chooser(chooser).await;
    drop(under_way);
    if let Err(why) = &closed {
        tracing::debug!("a file chooser was not closed: {why}");
    }
    Ok(match closed {
        Ok(None) => e,
        Ok(Some(true)) => {
            let message = format!("{}; the file chooser was closed again", e.message);
            Error { message, ..e }
        }
        Ok(Some(false)) | Err(_) => {
            let message = format!("{}; the file chooser is still open", e.message);
            Error { message, ..e }
                .hint("run `stickpin snapshot -i` to see it, or `stickpin key Escape` to close it")
        }
    })
}

/// Checks that an input accepts these files.
fn check_accepted(input: &FileInput, files: &[LocalFile], words: &str) -> Result<()> {
    let bad = |message: String| Error::invalid_args(message);
    if input.directory {
        let message = format!("{words} accepts only a folder, but folders cannot be uploaded");
        return Err(Error::unsupported(message));
    }
    if files.len() > 1 && !input.multiple {
        return Err(match &input.one_by_one {
            Some(opts) => bad(format!("{words} accepts one file at a time, not {}", files.len())).hint(opts),
            None => bad(format!("{words} accepts one file, not {}", files.len()))
                .hint("name one file; each upload replaces the previous file"),
        });
    }
    match files.iter().find(|f| !accepts(&input.accept, &f.path)) {
        None => Ok(()),
        Some(file) => Err(bad(format!(
            "{words} accepts {}, not {}",
            escape(input.accept.trim(), MAX_ACCEPT_CHARS),
            quote(&file.held.name)
        ))
        .hint("choose a file of an accepted type")),
    }
}

/// Returns whether an `accept` value allows a file, following section 4.10.5.1.17 of the HTML
/// standard. An empty value allows every file.
///
/// A media type allows every file with an unknown extension, and an unknown media type allows every
/// file.
fn accepts(accept: &str, file: &Path) -> bool {
    let mut tokens =
        accept.split(',').map(|t| t.trim().to_ascii_lowercase()).filter(|t| !t.is_empty()).peekable();
    if tokens.peek().is_none() {
        return true;
    }
    let name = file.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let known = media_types().find(|(_, extensions)| extensions.split(' ').any(|e| e == extension));
    tokens.any(|token| {
        if token.starts_with('.') {
            return name.ends_with(&token);
        }
        let Some((kind, _)) = known else { return true };
        match token.strip_suffix("/*") {
            Some(group) => group == "*" || kind.split('/').next() == Some(group),
            None => kind == token || !media_types().any(|(known, _)| known == token),
        }
    })
}

fn media_types() -> impl Iterator<Item = (&'static str, &'static str)> {
    MEDIA_TYPES.lines().filter_map(|line| line.split_once(' '))
}

/// The known media types, one per line: the type, then its file extensions.
const MEDIA_TYPES: &str = include_str!("media_types.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_to_be_of_another_kind_is_refused() {
        let takes = |accept, name: &str| accepts(accept, Path::new(name));
        for (accept, name) in [
            ("", "a.exe"),
            (" , ", "a.exe"),
            (".PDF, .doc", "/x/A.pdf"),
            ("image/*", "a.JPG"),
            ("image/png,application/pdf", "b.pdf"),
            ("*/*", "a.png"),
            // Media types and extensions that are not in the table.
            ("image/*", "a.q3x"),
            ("application/x-own", "a.png"),
            ("image/*", "noextension"),
        ] {
            assert!(takes(accept, name), "{accept:?} {name}");
        }
        for (accept, name) in
            [(".pdf", "a.pdf.png"), ("image/*", "a.pdf"), ("image/png", "a.jpg"), ("video/*,.srt", "a.txt")]
        {
            assert!(!takes(accept, name), "{accept:?} {name}");
        }
    }
}
