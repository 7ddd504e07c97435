//! The [`Provider`] trait: what a platform can open, what its devices support, and what it
//! requires.

use crate::capability::Capability;
use crate::device::Device;
use crate::error::Result;
use crate::open::{FieldSchema, OpenRequest};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A platform: finds, opens and describes devices.
#[async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// Returns the platform's name, as in `open sim:shop` and `devices`: `web`, `sim`, `linux`.
    fn kind(&self) -> &'static str;

    /// Returns whether `open WHAT` is meant for this provider. The first provider that claims
    /// `what` opens it.
    fn claims(&self, what: &str) -> bool;

    /// Returns whether opening `what` starts something other than an installed app: a program by
    /// its path, a command line, a terminal. This is refused for callers that may start only
    /// installed apps.
    fn starts_program(&self, _what: &str) -> bool {
        false
    }

    /// Returns the schema of the options that the provider reads, with one field for each option.
    /// `open` refuses any other option, so that no option is silently ignored. A provider without
    /// options need not implement this method.
    fn open_options(&self) -> &'static FieldSchema {
        static NONE: FieldSchema = FieldSchema::of::<NoOptions>();
        &NONE
    }

    /// Starts or finds the app that `request.what` names, and returns when it is ready to be
    /// captured.
    ///
    /// # Errors
    /// Returns `DEVICE_NOT_FOUND`, `TOOL_MISSING` with the install command, `BACKEND_LOST`,
    /// `TIMEOUT` or `INVALID_ARGS`.
    async fn open(&self, request: OpenRequest) -> Result<Box<dyn Device>>;

    /// Returns what can be opened on this machine: apps and browsers.
    ///
    /// # Errors
    /// Returns the errors of `open`.
    async fn devices(&self) -> Result<Vec<DeviceEntry>>;

    /// Returns the names of the apps that are installed on this machine, running or not, as `open`
    /// accepts them. For completions: reads files and starts nothing.
    fn installed_apps(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what the provider's devices support if the machine allows it. Used to list the
    /// capabilities without opening a device. An open device reports its own
    /// ([`Device::capabilities`]).
    fn capabilities(&self) -> &'static [Capability];

    /// Checks everything that the platform requires, for `doctor`.
    async fn doctor(&self) -> Vec<Check>;

    /// Ends processes that a killed stickpin process left running, as recorded in `state_dir`.
    /// Returns the actions taken, for the log.
    ///
    /// Called once when a host starts, before the first session. The session folders are removed
    /// afterwards.
    ///
    /// # Errors
    /// Returns `IO` when a file cannot be read or removed.
    async fn sweep(&self, state_dir: &std::path::Path) -> Result<Vec<String>>;
}

/// The options of a provider that reads none.
#[derive(schemars::JsonSchema)]
struct NoOptions {}

/// An entry of `devices`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeviceEntry {
    /// The argument to type after `open`.
    pub open: String,
    /// The title, for people.
    pub title: String,
}

impl DeviceEntry {
    /// Creates an entry.
    #[must_use]
    pub fn new(open: impl Into<String>, title: impl Into<String>) -> Self {
        Self { open: open.into(), title: title.into() }
    }
}

/// The result of one check of `doctor`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Check {
    /// The subject of the check.
    pub name: String,
    /// Whether the check passed.
    pub ok: bool,
    /// What the check found, such as a path and a version.
    pub found: String,
    /// The command that fixes the problem; empty if there is none.
    pub fix: String,
}

impl Check {
    /// Creates a check. `fix` is the command that fixes the problem; empty if there is none.
    #[must_use]
    pub fn new(name: impl Into<String>, ok: bool, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name: name.into(), ok, found: found.into(), fix: fix.into() }
    }
}
