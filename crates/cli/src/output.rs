//! A response on the terminal: the answer goes to stdout, warnings and errors to stderr.

use crate::color;
use std::io::{self, Write};
use std::path::Path;
use stickpin_client::failed_response;
use stickpin_kernel::{Error, Response, Text, io_error};

/// The output streams of a call.
pub struct Streams<'a> {
    /// Receives the answer: text, or one JSON value.
    pub out: &'a mut dyn Write,
    /// Receives warnings and errors.
    pub err: &'a mut dyn Write,
    /// Which streams show colors.
    colors: Colors,
    /// Why a part of the answer could not be written.
    write_error: Option<io::Error>,
}

/// Which streams show colors.
#[derive(Debug, Clone, Copy, Default)]
pub struct Colors {
    /// Whether stdout shows colors.
    pub out: bool,
    /// Whether stderr shows colors.
    pub err: bool,
}

impl std::fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

impl<'a> Streams<'a> {
    /// Creates streams without colors.
    pub fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { out, err, colors: Colors::default(), write_error: None }
    }

    /// Sets which streams show colors from now on.
    pub(crate) fn set_colors(&mut self, colors: Colors) {
        self.colors = colors;
    }

    /// Flushes stdout and returns the exit code. An answer that could not be written, for example
    /// to a full disk, is a failure even if the command succeeded. A pipe that its reader has
    /// closed, as in `| head`, is not a failure.
    #[must_use]
    pub fn finish(mut self, code: u8) -> u8 {
        let flushed = self.out.flush();
        self.note_write_error(flushed);
        let Some(e) = self.write_error.filter(|e| e.kind() != io::ErrorKind::BrokenPipe) else { return code };
        let error = io_error("write to", Path::new("stdout"), &e)
            .hint("only the output was lost, not the command's effects");
        // If stderr also fails, the exit code still reports the failure.
        let _ = line(self.err, &Text::of_error(&error));
        if code == 0 { error.code.exit() } else { code }
    }

    /// Flushes stdout. Returns whether everything that was printed has reached the reader.
    pub(crate) fn is_delivered(&mut self) -> bool {
        let flushed = self.out.flush();
        self.note_write_error(flushed);
        self.write_error.is_none()
    }

    /// Keeps the first failure of stdout.
    pub(crate) fn note_write_error(&mut self, result: io::Result<()>) {
        self.write_error = self.write_error.take().or(result.err());
    }

    /// Prints a response and returns its exit code.
    pub(crate) fn respond(&mut self, response: &Response, json: bool) -> u8 {
        let result = if json { self.json(response) } else { self.text(response) };
        self.note_write_error(result);
        response.exit
    }

    /// Prints an error that did not come from a command, in the format of a response.
    pub(crate) fn fail(&mut self, command: &str, error: Error, json: bool) -> u8 {
        self.respond(&failed_response(command, None, error), json)
    }

    /// Prints to stdout text that is not a response, such as help or a list.
    pub(crate) fn print(&mut self, text: &str) {
        let result = line(self.out, text);
        self.note_write_error(result);
    }

    /// Prints lines of an answer that continues, and flushes them to the reader immediately.
    ///
    /// # Errors
    /// Returns an error if the reader does not accept them.
    pub(crate) fn print_line(&mut self, text: &str) -> io::Result<()> {
        line(self.out, text)?;
        self.out.flush()
    }

    /// Flushes the output to the reader.
    ///
    /// # Errors
    /// Returns an error if the reader does not accept it.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Prints to stderr text that is not a response.
    pub(crate) fn print_error(&mut self, text: &str) {
        // A caller that closed stderr does not want the text.
        let _ = line(self.err, text);
    }

    /// Prints text to stderr without adding a newline.
    pub(crate) fn print_to_stderr(&mut self, text: &str) {
        // Failures are ignored, as in `print_error`. The flush makes a moving progress bar visible.
        let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
    }

    fn json(&mut self, response: &Response) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(response)?;
        bytes.push(b'\n');
        self.out.write_all(&bytes)
    }

    fn text(&mut self, response: &Response) -> io::Result<()> {
        let text = response.text.as_deref().unwrap_or_default();
        let message = response.error.as_ref().map(Text::of_error);
        // Text that begins with the error is printed with the error. Any other text, such as the
        // steps of a failed batch, is printed before the error.
        let partial = message.as_ref().and_then(|message| text.strip_prefix(message.as_str()));
        if partial.is_none() {
            self.print_response(text, response)?;
        }
        if let Some(message) = &message {
            self.error(message, partial.unwrap_or_default())?;
        }
        for seen in response.app_errors() {
            line(self.err, seen)?;
        }
        match &response.warning {
            Some(warning) if self.colors.err => line(self.err, &color::color_warning(warning)),
            Some(warning) => line(self.err, &format!("warning: {warning}")),
            None => Ok(()),
        }
    }

    fn print_response(&mut self, text: &str, response: &Response) -> io::Result<()> {
        if !self.colors.out {
            return line(self.out, text);
        }
        let issued = response.refs.as_ref().map(|refs| &*refs.issued).unwrap_or_default();
        line(self.out, &color::color_refs(text, issued))
    }

    fn error(&mut self, error: &str, rest: &str) -> io::Result<()> {
        let error = if self.colors.err { color::color_error(error) } else { error.to_owned() };
        line(self.err, &(error + rest))
    }
}

/// Returns what a response prints on stdout and on stderr.
#[must_use]
pub fn printed(response: &Response, json: bool, colors: Colors) -> (String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams::new(&mut out, &mut err);
    streams.set_colors(colors);
    streams.respond(response, json);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&out), text(&err))
}

fn line(to: &mut dyn Write, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let end = if text.ends_with('\n') { "" } else { "\n" };
    to.write_all([text, end].concat().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print_captured(response: &Response, json: bool) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = Streams::new(&mut out, &mut err).respond(response, json);
        (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    fn stale() -> Error {
        Error::stale_ref("@e1 is gone").hint("stickpin snapshot -i")
    }

    #[test]
    fn answer_goes_to_stdout_and_warnings_to_stderr() {
        let response = Response {
            ok: true,
            text: Some("pressed\nchanged".into()),
            receipt: vec!["POST /a -> 500".into(), "changed".into()],
            receipt_errors: vec![0],
            warning: Some("The tree changed.".into()),
            ..Response::default()
        };
        let expected =
            (0, "pressed\nchanged\n".into(), "POST /a -> 500\nwarning: The tree changed.\n".into());
        assert_eq!(print_captured(&response, false), expected);
        let (_, out, err) = print_captured(&response, true);
        assert_eq!((serde_json::from_str::<Response>(&out).unwrap(), err.as_str()), (response, ""));
    }

    #[test]
    fn error_is_printed_with_its_hint() {
        let response = failed_response("press", None, stale());
        let expected = (1, String::new(), "STALE_REF: @e1 is gone\nstickpin snapshot -i\n".into());
        assert_eq!(print_captured(&response, false), expected);
        let rendered = Response { text: Some(Text::of_error(&stale())), ..response };
        assert_eq!(print_captured(&rendered, false), expected);
    }

    #[test]
    fn changes_of_failed_action_stand_below_the_error() {
        let text = format!("{}\n\"Ada\" is now \"Eve\"", Text::of_error(&stale()));
        let response = Response { text: Some(text), ..failed_response("press", None, stale()) };
        let err = "STALE_REF: @e1 is gone\nstickpin snapshot -i\n\"Ada\" is now \"Eve\"\n";
        assert_eq!(print_captured(&response, false), (1, String::new(), err.into()));
    }

    #[test]
    fn failure_with_output_prints_both() {
        let response = Response { text: Some("1 pressed".into()), ..failed_response("batch", None, stale()) };
        let (code, out, err) = print_captured(&response, false);
        assert_eq!((code, out.as_str()), (1, "1 pressed\n"));
        assert!(err.starts_with("STALE_REF: "), "{err}");
    }
}
