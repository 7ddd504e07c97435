//! The result of a line.

/// A response as the command line prints it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Printed {
    /// The text for stdout.
    pub out: String,
    /// The text for stderr: errors and warnings.
    pub err: String,
}

/// The result of a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Outcome {
    /// The output of the line.
    pub(crate) printed: Printed,
    /// The exit code that the command line would return.
    pub(crate) exit: u8,
    /// Whether the line ends the console.
    pub(crate) quit: bool,
    /// Whether a command ran, so that the session may have changed.
    pub(crate) ran: bool,
}
