//! A response on the terminal: the answer on stdout, what is said about it on stderr.

use std::io::{self, Write};
use stickpin_kernel::{Error, Response, receipt_is_error};
use stickpin_wire::failed;

/// Where it goes.
pub struct Streams<'a> {
    /// The answer: text, or one JSON value.
    pub out: &'a mut dyn Write,
    /// Warnings and errors.
    pub err: &'a mut dyn Write,
}

impl std::fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

impl Streams<'_> {
    /// Prints a response and says what to exit with.
    pub(crate) fn respond(&mut self, response: &Response, json: bool) -> u8 {
        // A reader that has gone away (`| head`) wants no more, and is no failure of the command.
        let _ = if json { self.json(response) } else { self.text(response) };
        response.exit
    }

    /// Prints an error that did not come from a command, in the same forms.
    pub(crate) fn fail(&mut self, command: &str, error: Error, json: bool) -> u8 {
        self.respond(&failed(command, None, error), json)
    }

    /// Prints something of our own: help, a list.
    pub(crate) fn say(&mut self, text: &str) {
        // As in `respond`.
        let _ = line(self.out, text);
    }

    /// Prints the same where errors go.
    pub(crate) fn complain(&mut self, text: &str) {
        // As in `respond`.
        let _ = line(self.err, text);
    }

    /// Prints something where errors go, as it is.
    pub(crate) fn beside(&mut self, text: &str) {
        // As in `respond`. Not buffered, so a bar is seen while it moves.
        let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
    }

    fn json(&mut self, response: &Response) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(response)?;
        bytes.push(b'\n');
        self.out.write_all(&bytes)
    }

    fn text(&mut self, response: &Response) -> io::Result<()> {
        let text = response.text.as_deref().unwrap_or_default();
        match &response.error {
            Some(error) => {
                let said = error_text(error);
                match text.strip_prefix(&*said) {
                    // What was done all the same goes with the error.
                    Some(_) => line(self.err, text)?,
                    // A batch that failed tells of its steps as well.
                    None => {
                        line(self.out, text)?;
                        line(self.err, &said)?;
                    }
                }
            }
            None => line(self.out, text)?,
        }
        for seen in response.receipt.iter().filter(|seen| receipt_is_error(seen)) {
            line(self.err, seen)?;
        }
        match &response.warning {
            Some(warning) => line(self.err, &format!("warning: {warning}")),
            None => Ok(()),
        }
    }
}

/// An error as text: its line, then the hint.
fn error_text(error: &Error) -> String {
    let hint = if error.hint.is_empty() { "" } else { "\n" };
    format!("{}: {}{hint}{}", error.code.name(), error.message, error.hint)
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
    use stickpin_kernel::ErrorCode;

    fn printed(response: &Response, json: bool) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = Streams { out: &mut out, err: &mut err }.respond(response, json);
        (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    fn stale() -> Error {
        Error::new(ErrorCode::StaleRef, "@e1 is gone").hint("stickpin snapshot -i")
    }

    #[test]
    fn the_answer_goes_to_stdout_and_what_is_said_about_it_to_stderr() {
        let response = Response {
            ok: true,
            text: Some("pressed\nchanged".into()),
            receipt: vec!["POST /a -> 500".into(), "changed".into()],
            warning: Some("The tree changed.".into()),
            ..Response::default()
        };
        let expected =
            (0, "pressed\nchanged\n".into(), "POST /a -> 500\nwarning: The tree changed.\n".into());
        assert_eq!(printed(&response, false), expected);
        let (_, out, err) = printed(&response, true);
        assert_eq!((serde_json::from_str::<Response>(&out).unwrap(), err.as_str()), (response, ""));
    }

    #[test]
    fn an_error_is_its_line_and_its_hint() {
        let response = failed("press", None, stale());
        let expected = (1, String::new(), "STALE_REF: @e1 is gone\nstickpin snapshot -i\n".into());
        assert_eq!(printed(&response, false), expected);
        let rendered = Response { text: Some(error_text(&stale())), ..response };
        assert_eq!(printed(&rendered, false), expected);
    }

    #[test]
    fn what_a_failed_act_replaced_stands_below_its_error() {
        let text = format!("{}\n\"Ada\" is now \"Eve\"", error_text(&stale()));
        let response = Response { text: Some(text), ..failed("press", None, stale()) };
        let err = "STALE_REF: @e1 is gone\nstickpin snapshot -i\n\"Ada\" is now \"Eve\"\n";
        assert_eq!(printed(&response, false), (1, String::new(), err.into()));
    }

    #[test]
    fn a_failure_with_an_account_prints_both() {
        let response = Response { text: Some("1 pressed".into()), ..failed("batch", None, stale()) };
        let (code, out, err) = printed(&response, false);
        assert_eq!((code, out.as_str()), (1, "1 pressed\n"));
        assert!(err.starts_with("STALE_REF: "), "{err}");
    }
}
