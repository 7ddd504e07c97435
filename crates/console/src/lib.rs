//! The interactive console: a person's interface to a session with agents.
//!
//! [`run`] shows one session in full-screen mode: the tree of its app, the log of calls as they
//! happen, and a prompt that accepts the commands of the command line. [`Mode::Plain`] shows the
//! prompt line by line, for pipes and screen readers. A console is a client of the daemon like any
//! other: it joins its session as an observer and acts through the same commands as an agent.
//!
//! `model` contains the state and its changes, without input or output; `view` draws it; `context`
//! stores what a prompt can refer to; `run` connects the terminal and the daemon.
//!
//! ```
//! use stickpin_console::{ContextStore as _, Entry, Memory};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let store = Memory::default();
//! let prompt = "press @e3".to_owned();
//! store.append(Entry { prompt, target: Some("@e3".to_owned()), ..Entry::default() }).await?;
//! // A later prompt may refer to the element as `it`.
//! assert_eq!(store.snapshot().await?.target().as_deref(), Some("@e3"));
//! # Ok::<(), stickpin_kernel::Error>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod context;
mod model;
mod run;
mod setup;
mod view;

pub use context::{ContextStore, Conversation, Entry, LogBacked, Memory};
pub use model::outcome::Printed;
pub use run::plain::Terminal;
pub use setup::{Help, Setup};

use stickpin_kernel::Result;

/// The default name of a session's conversation.
pub const MAIN_CONTEXT: &str = "main";

/// How the console is displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// In full-screen mode on a terminal.
    Screen,
    /// Line by line.
    Plain,
}

/// Runs a console until the person leaves it. Returns the exit code: that of the last command if
/// the input or output of a plain console ended, 130 if a plain console was interrupted, and
/// otherwise 0.
///
/// # Errors
/// Returns `IO` when the terminal cannot be used, and the errors of joining the session and of
/// finding or starting the daemon. In full-screen mode, also returns the errors of leaving the
/// session and of reading its conversation.
pub async fn run(setup: Setup, mode: Mode, terminal: Terminal<'_>) -> Result<u8> {
    match mode {
        Mode::Plain => run::plain::run(setup, terminal).await,
        Mode::Screen => run::screen::run(setup).await,
    }
}
