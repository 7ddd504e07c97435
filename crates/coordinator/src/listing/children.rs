//! The children of a listed session.

use crate::coordinator::Coordinator;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use stickpin_session::log::{SessionMeta, Status};
use stickpin_session::turn::{AgentId, Child, ChildState};

/// A child of a listed session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedChild {
    /// The name of the child.
    pub session: String,
    /// The state of the child.
    pub state: ChildState,
    /// The agent that the child was spawned for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
}

/// The children that a listed session spawned, and how many of them can be used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedChildren {
    /// The number of children.
    pub count: usize,
    /// The number of children that are open and whose device is open.
    pub reachable: usize,
    /// The number of the other children.
    pub unreachable: usize,
    /// The children.
    pub sessions: Vec<ListedChild>,
}

impl ListedChildren {
    /// Returns whether the session has spawned no child.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Describes the children of a session. `open` names the sessions whose app is open.
    pub(super) fn of(coordinator: &Coordinator, meta: &SessionMeta, open: &BTreeSet<String>) -> Self {
        let count = meta.children.len();
        if count == 0 {
            return Self::default();
        }
        let has_device = open.contains(&coordinator.loans().device_of(&meta.name));
        let is_reachable = |child: &&Child| {
            let is_open = |(meta, _): (std::sync::Arc<SessionMeta>, _)| meta.status == Status::Open;
            has_device
                && child.state != ChildState::Pruned
                && coordinator.cached_meta(&child.session).is_ok_and(is_open)
        };
        let reachable = meta.children.iter().filter(is_reachable).count();
        let listed = meta.children.iter().map(|child| ListedChild {
            session: child.session.clone(),
            state: child.state,
            agent_id: child.agent_id.clone(),
        });
        Self { count, reachable, unreachable: count - reachable, sessions: listed.collect() }
    }
}
