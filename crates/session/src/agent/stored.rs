//! The directory of agents as its host stores it.

use super::bindings::Bindings;
use super::directory::Directory;
use super::evidence::AgentRecord;
use crate::turn::Anchor;
use serde::{Deserialize, Serialize};

/// What a directory keeps while no host is running: the agents, and which sessions each root
/// process serves. Without the latter, an MCP server would count as another agent after a restart,
/// until a shell command from its harness names the session again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StoredDirectory {
    agents: Vec<AgentRecord>,
    bindings: Vec<BoundProcess>,
}

/// The sessions that were seen under one root process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BoundProcess {
    anchor: Anchor,
    sessions: Bindings,
}

impl From<Directory> for StoredDirectory {
    fn from(directory: Directory) -> Self {
        let bound = |(anchor, sessions)| BoundProcess { anchor, sessions };
        Self { agents: directory.agents, bindings: directory.bindings.into_iter().map(bound).collect() }
    }
}

impl From<StoredDirectory> for Directory {
    fn from(stored: StoredDirectory) -> Self {
        let bindings = stored.bindings.into_iter().map(|bound| (bound.anchor, bound.sessions)).collect();
        Self::from_stored(stored.agents, bindings)
    }
}
