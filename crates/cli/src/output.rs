//! A response on the terminal: the answer on stdout, what is said about it on stderr.

use std::io::{self, Write};
use stickpin_kernel::{Error, Response};
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

    fn json(&mut self, response: &Response) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(response)?;
        bytes.push(b'\n');
        self.out.write_all(&bytes)
    }

    fn text(&mut self, response: &Response) -> io::Result<()> {
        match &response.error {
            Some(error) => {
                line(self.err, &format!("{}: {}", error.code.name(), error.message))?;
                line(self.err, &error.hint)?;
            }
            None => line(self.out, response.text.as_deref().unwrap_or_default())?,
        }
        if let Some(warning) = &response.warning {
            line(self.err, &format!("warning: {warning}"))?;
        }
        Ok(())
    }
}

fn line(to: &mut dyn Write, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let end = if text.ends_with('\n') { "" } else { "\n" };
    to.write_all([text, end].concat().as_bytes())
}
