//! A response as a tool result: the text of the command line, truncated if necessary, images and
//! errors.

use crate::pins::{Shown, refs_in};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use std::path::{Path, PathBuf};
use stickpin_kernel::{Dispatched, Response, Text};

/// The maximum number of images in one answer.
const MAX_PICTURES: usize = 4;

/// The maximum image file size in bytes that models accept.
const MAX_PICTURE_BYTES: u64 = 3_500_000;

/// An answer that is ready to be sent.
pub(crate) struct ToolResult {
    pub(crate) text: String,
    pub(crate) failed: bool,
    /// How much of the response the text shows.
    pub(crate) shown: Shown,
    /// Image files to send as content, not only by name.
    pub(crate) pictures: Vec<PathBuf>,
}

impl ToolResult {
    /// Converts a response into an answer. Text beyond `max_chars` characters is cut.
    pub(crate) fn new(response: &Response, max_chars: usize) -> Self {
        let mut text = response.text.clone().unwrap_or_default();
        let mut add = |line: &str| {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(line);
        };
        if let Some(error) = &response.error {
            // A failed batch also reports its steps.
            let message = Text::of_error(error);
            if !response.text.as_deref().is_some_and(|text| text.starts_with(message.trim_end())) {
                add(&message);
            }
            add(match error.dispatched {
                Dispatched::No => "dispatched: no",
                Dispatched::Unknown => "dispatched: unknown",
            });
        }
        for seen in response.app_errors() {
            add(seen);
        }
        if let Some(warning) = &response.warning {
            add(&format!("warning: {warning}"));
        }
        let (text, shown) = truncate(text, max_chars);
        Self { text, failed: response.error.is_some(), shown, pictures: pictures(response) }
    }

    /// Converts the answer into the result of the call.
    pub(crate) async fn result(self, structured: Option<Value>) -> CallToolResult {
        let mut content = vec![ContentBlock::text(self.text)];
        for path in self.pictures {
            match picture(&path).await {
                Ok(data) => content.push(ContentBlock::image(data, media_type(&path))),
                Err(why) => content.push(ContentBlock::text(format!("the picture is not included: {why}"))),
            }
        }
        let mut result = match self.failed {
            true => CallToolResult::error(content),
            false => CallToolResult::success(content),
        };
        result.structured_content = structured;
        result
    }
}

/// Returns the MIME type of a screenshot file, by its extension.
fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|e| e.to_str()) {
        Some("jpeg") => "image/jpeg",
        Some("webp") => "image/webp",
        _ => "image/png",
    }
}

/// Truncates a text to `max_chars` characters, at a line end if the second half has one, and
/// appends a line that states how much was cut.
fn truncate(text: String, max_chars: usize) -> (String, Shown) {
    let total = text.chars().count();
    if total <= max_chars {
        return (text, Shown::Whole);
    }
    let end = text.char_indices().nth(max_chars).map_or(text.len(), |(at, _)| at);
    let truncated = match text[..end].rfind('\n') {
        Some(line) if line > end / 2 => &text[..line],
        _ => &text[..end],
    };
    let shown = Shown::Cut(refs_in(truncated));
    let left = total - truncated.chars().count();
    let text = format!(
        "{truncated}\n… {left} of {total} characters were cut; ask for less: use `snapshot` with \
         `scope` or `depth`, `find`, `get` for one element, or fewer steps",
    );
    (text, shown)
}

/// Returns the response's images in the state directory, at most [`MAX_PICTURES`]. A client that
/// named its own file wanted only the file.
fn pictures(response: &Response) -> Vec<PathBuf> {
    let steps = response.output.as_ref().and_then(|output| output["steps"].as_array());
    let step_images =
        steps.into_iter().flatten().filter_map(|step| step["image"].as_str().map(PathBuf::from));
    let all = response.image.iter().cloned().chain(step_images);
    let is_own_file = |path: &PathBuf| match &response.state_dir {
        Some(dir) => path.starts_with(dir),
        // A batch does not name its state directory, but a session's folder of images is always
        // called `pictures`.
        None => path.parent().is_some_and(|dir| dir.ends_with("pictures")),
    };
    all.filter(is_own_file).take(MAX_PICTURES).collect()
}

async fn picture(path: &Path) -> Result<String, String> {
    let path = path.to_owned();
    let read = tokio::task::spawn_blocking(move || {
        let size = std::fs::metadata(&path)?.len();
        if size > MAX_PICTURE_BYTES {
            return Ok(Err(format!("it has {size} bytes; use a smaller `maxPx`, or capture one element")));
        }
        std::fs::read(&path).map(|png| Ok(STANDARD.encode(png)))
    });
    match read.await {
        Ok(Ok(picture)) => picture,
        Ok(Err(e)) => Err(e.to_string()),
        Err(e) => Err(e.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use stickpin_kernel::Error;

    fn result_text(response: &Response) -> String {
        ToolResult::new(response, 25_000).text
    }

    #[test]
    fn error_text_has_code_message_hint_and_dispatched() {
        let error = Error::stale_ref("@e1 is gone").hint("stickpin snapshot -i");
        let response = Response {
            error: Some(error.clone()),
            text: Some(Text::of_error(&error)),
            ..Response::default()
        };
        assert_eq!(result_text(&response), "STALE_REF: @e1 is gone\nstickpin snapshot -i\ndispatched: no");
        let error = error.dispatched(Dispatched::Unknown);
        let text = format!("{}\n\"Ada\" is now \"Eve\"", Text::of_error(&error));
        let response = Response { error: Some(error.clone()), text: Some(text), ..response };
        assert_eq!(
            result_text(&response),
            "STALE_REF: @e1 is gone\nstickpin snapshot -i\n\"Ada\" is now \"Eve\"\ndispatched: unknown"
        );
        let response = Response { text: Some("[1] press\npressed".into()), error: Some(error), ..response };
        assert_eq!(
            result_text(&response),
            "[1] press\npressed\nSTALE_REF: @e1 is gone\nstickpin snapshot -i\ndispatched: unknown"
        );
        assert!(ToolResult::new(&response, 25_000).failed);
    }

    #[test]
    fn warnings_stand_below_the_answer() {
        let response = Response {
            text: Some("pressed\nchanged".into()),
            receipt: vec!["POST /a -> 500".into(), "changed".into()],
            receipt_errors: vec![0],
            warning: Some("The tree changed.".into()),
            ..Response::default()
        };
        assert_eq!(result_text(&response), "pressed\nchanged\nPOST /a -> 500\nwarning: The tree changed.");
    }

    #[test]
    fn long_text_is_cut_at_a_line_with_a_note() {
        let lines: Vec<String> = (1..=100).map(|n| format!("@e{n} button \"ü\"")).collect();
        let response = Response { text: Some(lines.join("\n")), ..Response::default() };
        let said = ToolResult::new(&response, 200);
        let (kept, last) = said.text.rsplit_once('\n').expect("lines");
        assert!(kept.chars().count() <= 200 && kept.ends_with("\"ü\""), "{kept}");
        assert!(last.contains("characters were cut") && last.contains("scope"), "{last}");
        let Shown::Cut(refs) = said.shown else { panic!("not cut") };
        assert!(refs.contains(&1) && !refs.contains(&100), "{refs:?}");
    }
}
