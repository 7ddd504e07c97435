//! Commands that no host knows: the process of the front end runs them, through a [`Client`] like everybody else.
//!
//! They have a [`Form`] like those of the registry, so that a command line and a list of tools show them in the same way.
//! Front ends are given them by the program that knows both.

use crate::Client;
use async_trait::async_trait;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use stickpin_kernel::device::CancellationToken;
use stickpin_kernel::registry::Form;
use stickpin_kernel::{Caller, Render, Response, Result};
use tokio::sync::mpsc::UnboundedSender;

/// One of them.
#[async_trait]
pub trait Apart: fmt::Debug + Send + Sync {
    /// Its name, its arguments, its help.
    fn form(&self) -> &'static Form;

    /// Runs it. The input is not checked yet.
    async fn run(&self, input: Map<String, Value>, call: Call) -> Response;
}

/// Who runs it, and through what.
#[derive(Clone)]
pub struct Call {
    /// What runs the commands that it is made of.
    pub client: Arc<dyn Client>,
    /// Who asks.
    pub caller: Caller,
    /// The session; else the caller's own.
    pub session: Option<String>,
    /// How the answer should be rendered.
    pub render: Render,
    /// Variables of the surroundings, by the name that a script has for them.
    pub variables: BTreeMap<String, String>,
    /// Hears how far it is.
    pub progress: UnboundedSender<Progress>,
    /// What this caller may do.
    pub policy: Arc<dyn Policy>,
    /// Set when it should end: what was begun is closed, and it still answers.
    pub cancel: CancellationToken,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("caller", &self.caller)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// How far a long command is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// How many of its parts are done.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// What just happened, in a line.
    pub line: String,
    /// Whether the line is worth keeping, not only while nothing newer is known.
    pub lasting: bool,
}

/// What a caller may do. A command that is made of others asks for each of them, before the first is sent.
pub trait Policy: Send + Sync {
    /// Whether this command may be run; its paths are made whole.
    ///
    /// # Errors
    /// `POLICY_DENIED`.
    fn command(&self, form: &Form, input: &mut Map<String, Value>) -> Result<()>;

    /// Whether this file may be read or written.
    ///
    /// # Errors
    /// `POLICY_DENIED`.
    fn path(&self, path: &Path) -> Result<()>;
}

/// For a person at a terminal, who may do what the terminal may.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anything;

impl Policy for Anything {
    fn command(&self, _: &Form, _: &mut Map<String, Value>) -> Result<()> {
        Ok(())
    }

    fn path(&self, _: &Path) -> Result<()> {
        Ok(())
    }
}
