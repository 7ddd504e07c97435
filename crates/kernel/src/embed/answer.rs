//! [`Answer`]: the output of a command with its envelope.

use crate::api::request::{RefDetail, Response};
use crate::command::definition::Command;
use std::fmt;
use std::ops::Deref;
use stickpin_device::Result;

/// The result of a successful command: its output, and the envelope that every front end shows.
///
/// Dereferences to the output. `Display` writes the text for a reader, such as an agent: quoted,
/// bounded, and with refs that [`find`](Self::find) and commands accept.
#[non_exhaustive]
pub struct Answer<C: Command> {
    /// The output of the command.
    pub output: C::Output,
    /// The response around the output: changes to refs, the receipt, a pending dialog.
    pub response: Response,
}

impl<C: Command> Answer<C> {
    /// Separates a response from its output.
    ///
    /// # Errors
    /// Returns the error of the response.
    pub(crate) fn of(mut response: Response) -> Result<Self> {
        let output = response.take_output()?;
        Ok(Self { output, response })
    }

    /// Returns the observations of the app since the action, in at most five lines, such as
    /// messages, failed requests or a navigation.
    #[must_use]
    pub fn receipt(&self) -> &[String] {
        &self.response.receipt
    }

    /// Returns the warning of the response, if any: for example, that the client had not seen the
    /// latest state around a ref, or that something else has changed.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.response.warning.as_deref()
    }

    /// Returns the standing that the target's ref had when it was used; `None` if no target was a
    /// ref.
    #[must_use]
    pub fn standing(&self) -> Option<&RefDetail> {
        self.response.reference.as_ref()
    }
}

impl<C: Command> Deref for Answer<C> {
    type Target = C::Output;

    fn deref(&self) -> &C::Output {
        &self.output
    }
}

impl<C: Command> fmt::Display for Answer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.response.text.as_deref().unwrap_or_default())
    }
}

impl<C: Command<Output: fmt::Debug>> fmt::Debug for Answer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("output", &self.output).field("response", &self.response).finish()
    }
}
