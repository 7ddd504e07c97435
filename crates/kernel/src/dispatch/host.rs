//! The public interface of a host: its commands, sessions and shutdown.

use crate::command::entry::Entry;
use crate::command::table::CommandTable;
use crate::dispatch::builder::HostBuilder;
use crate::host::HostInner;
use crate::registry::COMMANDS;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Runs commands in sessions. Cheap to clone; requires a tokio runtime with time enabled.
#[derive(Debug, Clone)]
pub struct Host {
    pub(crate) inner: Arc<HostInner>,
    /// The commands of the registry and those that were added.
    pub(crate) commands: CommandTable,
    /// The added commands.
    pub(crate) added: Arc<[&'static Entry]>,
}

impl Host {
    /// Configures a host that keeps its files in `state_dir`.
    pub fn builder(state_dir: impl Into<PathBuf>) -> HostBuilder {
        HostBuilder::new(state_dir)
    }

    /// Returns the commands of this host, in the order in which help lists them.
    pub fn commands(&self) -> impl Iterator<Item = &'static Entry> {
        COMMANDS.iter().chain(self.added.iter().copied())
    }

    /// Returns the number of sessions that are open or being opened.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.inner.count()
    }

    /// Returns the names of the sessions, oldest first.
    #[must_use]
    pub fn session_names(&self) -> Vec<String> {
        self.inner.all_slots().iter().map(|slot| slot.name.clone()).collect()
    }

    /// Returns the number of running commands.
    #[must_use]
    pub fn running(&self) -> usize {
        self.inner.running.load(Ordering::Relaxed)
    }

    /// Ends what a killed process left running, and returns a description of what was done. Called
    /// once, before the first command.
    pub async fn sweep(&self) -> Vec<String> {
        let mut done = Vec::new();
        for provider in &self.inner.config.providers {
            match provider.sweep(&self.inner.config.state_dir).await {
                Ok(these) => done.extend(these),
                Err(e) => tracing::warn!(provider = provider.kind(), "sweep: {e}"),
            }
        }
        done
    }

    /// Closes all sessions.
    pub async fn shutdown(&self) {
        for slot in self.inner.all_slots() {
            if let Err(e) = self.inner.close(&slot).await {
                tracing::warn!(session = slot.name, "close: {e}");
            }
        }
    }
}
