//! The builder of a host.

use crate::command::definition::Command;
use crate::command::entry::{Entry, entry};
use crate::command::table::CommandTable;
use crate::dispatch::host::Host;
use crate::host::identities::Identities;
#[cfg(feature = "recording")]
use crate::host::recording::ScriptWriter;
use crate::host::{HostConfig, HostInner};
use crate::registry;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use stickpin_coordinator::Coordinator;
use stickpin_device::{Error, Provider, Result};
use stickpin_session::NumberSource;

/// Configures a [`Host`]: what it can open, and which commands it has in addition to the kernel's.
///
/// Everything but the providers has a default.
#[derive(Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct HostBuilder {
    config: HostConfig,
    added: Vec<&'static Entry>,
}

impl HostBuilder {
    pub(crate) fn new(state_dir: impl Into<PathBuf>) -> Self {
        Self { config: HostConfig::new(state_dir), added: Vec::new() }
    }

    /// Adds a platform. The first platform that claims the argument of `open` handles it.
    pub fn provider(mut self, provider: impl Provider + 'static) -> Self {
        self.config.providers.push(Arc::new(provider));
        self
    }

    /// Adds platforms that are shared with another owner.
    pub fn providers(mut self, providers: impl IntoIterator<Item = Arc<dyn Provider>>) -> Self {
        self.config.providers.extend(providers);
        self
    }

    /// Adds a command, which can then be used like the kernel's commands: by its name, in a batch
    /// and in a recording.
    pub fn command<C: Command>(mut self) -> Self {
        // A command lives as long as the program, like those of the registry.
        self.added.push(Box::leak(Box::new(entry::<C>())));
        self
    }

    /// Sets the function that creates the source of ref numbers for a session name. By default, the
    /// numbers of every lifetime start at 1.
    pub fn numbers(
        mut self,
        numbers: impl Fn(&str) -> Result<Box<dyn NumberSource>> + Send + Sync + 'static,
    ) -> Self {
        self.config.numbers = Arc::new(numbers);
        self
    }

    #[cfg(feature = "recording")]
    /// Sets the converter from recordings to scripts. By default, nothing can be recorded.
    pub fn script_writer(mut self, script_writer: Arc<dyn ScriptWriter>) -> Self {
        self.config.script_writer = script_writer;
        self
    }

    /// Sets the coordinator, which decides who may act on a session and keeps its turns, members
    /// and log. By default, every caller may act at any time, and only recordings are logged.
    pub fn coordinator(mut self, coordinator: Coordinator) -> Self {
        self.config.coordinator = Some(coordinator);
        self
    }

    /// Sets the directory of calling agents, which links connections to agents. By default, the
    /// host identifies no agents.
    pub fn identities(mut self, identities: Arc<dyn Identities>) -> Self {
        self.config.identities = Some(identities);
        self
    }

    /// Sets the source of randomness, for output that is identical in every run.
    pub fn random(mut self, random: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.config.random = Arc::new(random);
        self
    }

    /// Sets how long a session that was opened without `--headed` may stay open without commands.
    /// The default is one hour.
    pub fn idle_timeout(mut self, idle: Duration) -> Self {
        self.config.idle_timeout = idle;
        self
    }

    /// Creates the host, without sessions.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` when two commands have the same name.
    pub fn build(self) -> Result<Host> {
        let commands = CommandTable::new(registry::all().chain(self.added.iter().copied()));
        for entry in &self.added {
            let mut names = std::iter::once(&entry.spec.name).chain(entry.spec.aliases);
            let is_taken =
                |name: &&&str| commands.find(name).is_some_and(|first| !std::ptr::eq(first, *entry));
            if let Some(name) = names.find(is_taken) {
                return Err(Error::invalid_args(format!("two commands are named `{name}`"))
                    .hint("rename the added command"));
            }
        }
        Ok(Host { inner: Arc::new(HostInner::new(self.config)), commands, added: self.added.into() })
    }

    /// Changes the configuration in ways that only tests need.
    #[cfg(test)]
    pub(crate) fn configured(mut self, change: impl FnOnce(&mut HostConfig)) -> Self {
        change(&mut self.config);
        self
    }
}
