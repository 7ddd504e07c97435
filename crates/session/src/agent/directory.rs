//! The directory of agents: which agents exist, how they are identified, and which agent a request
//! comes from.

use super::ancestry::{HarnessRoot, Process, harness_root};
use super::bindings::Bindings;
use super::evidence::{AgentKind, AgentRecord, Attempt, EnvAge, Evidence, IdentityError, Place, Resolution};
use super::harnesses::{AGENT_VARIABLE, HARNESSES, Harness, TERMINAL_VARIABLES};
use super::stored::StoredDirectory;
use crate::timestamp::Timestamp;
use crate::turn::{AgentId, Anchor};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// How old the times of the stored directory may become, in milliseconds.
const STORED_EVERY_MS: u64 = 600_000;

/// All known agents of a state directory, and the root processes that they were seen under.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "StoredDirectory", from = "StoredDirectory")]
pub struct Directory {
    pub(super) agents: Vec<AgentRecord>,
    pub(super) bindings: BTreeMap<Anchor, Bindings>,
    revision: u64,
    /// When a request last increased the revision.
    revised_at: Timestamp,
}

/// The id of a harness session, with the rank of its source.
struct Named {
    rank: &'static str,
    component: String,
    is_recent: bool,
}

impl Directory {
    pub(super) fn from_stored(agents: Vec<AgentRecord>, bindings: BTreeMap<Anchor, Bindings>) -> Self {
        Self { agents, bindings, ..Self::default() }
    }

    /// Returns all agents.
    #[must_use]
    pub fn agents(&self) -> &[AgentRecord] {
        &self.agents
    }

    /// Returns a number that grows with each change that is worth storing. A change to nothing but
    /// the time of a request counts at most once every ten minutes.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the agent with this id.
    #[must_use]
    pub fn agent(&self, id: &AgentId) -> Option<&AgentRecord> {
        self.agents.iter().find(|agent| agent.agent_id == *id)
    }

    /// Attributes all requests of a connection to an agent that proved its identity elsewhere.
    /// Returns whether there is such an agent.
    pub fn link(&mut self, connection: &str, agent: &AgentId) -> bool {
        self.unlink(connection);
        let Some(agent) = self.agents.iter_mut().find(|known| known.agent_id == *agent) else { return false };
        agent.aliases.push(connection_component(connection));
        self.revision += 1;
        true
    }

    /// Forgets the link of a connection that ended.
    pub fn unlink(&mut self, connection: &str) {
        let component = connection_component(connection);
        if let Some(at) = self.position(&component) {
            self.agents[at].aliases.retain(|alias| *alias != component);
            self.revision += 1;
        }
    }

    /// Removes agents without a request since `before` whose processes have all ended, and the
    /// session bindings of ended processes.
    pub fn drop_unused(&mut self, before: Timestamp, is_alive: impl Fn(&Anchor) -> bool) {
        self.agents.retain(|agent| agent.last_seen_at >= before || agent.anchors.iter().any(&is_alive));
        self.bindings.retain(|anchor, _| is_alive(anchor));
    }

    /// Returns the agent that a request comes from, and records what the request reveals.
    /// `ancestry` starts with the calling process.
    ///
    /// # Errors
    /// Returns [`IdentityError`] if the caller gives itself an invalid id.
    pub fn resolve(
        &mut self,
        evidence: &Evidence,
        ancestry: &[Process],
        place: &Place,
        now: Timestamp,
    ) -> Result<Resolution, IdentityError> {
        let before = self.revision;
        let resolved = self.resolve_at(evidence, ancestry, place, now);
        let age = now.millis().saturating_sub(self.revised_at.millis());
        if self.revision == before && age >= STORED_EVERY_MS {
            self.revision += 1;
        }
        if self.revision != before {
            self.revised_at = now;
        }
        resolved
    }

    fn resolve_at(
        &mut self,
        evidence: &Evidence,
        ancestry: &[Process],
        place: &Place,
        now: Timestamp,
    ) -> Result<Resolution, IdentityError> {
        let root = harness_root(ancestry);
        let harness = root.map(|root| root.harness).or_else(|| harness_by_marker(&evidence.env));
        let anchor = root.map(|root| anchor_of(&root, place));
        let mut attempts = Vec::new();

        let explicit = evidence.env.get(AGENT_VARIABLE).filter(|name| !name.is_empty());
        attempts.push(Attempt::new("1", "STICKPIN_AGENT_ID", explicit.cloned()));
        if let Some(name) = explicit {
            let id = explicit_id(name).ok_or_else(|| IdentityError::InvalidAgentId(name.clone()))?;
            let family = id.as_str().split(':').next().unwrap_or_default().to_owned();
            let kind = if family == "human" { AgentKind::Human } else { AgentKind::Harness };
            let seen = Seen { family, kind, component: name.clone(), anchor, provisional: false };
            let at = self.record(seen, place, now, Some(id));
            return Ok(self.resolution(at, "1", Vec::new(), attempts, root, place));
        }
        let linked = evidence.connection.as_deref().map(connection_component);
        if let Some(at) = linked.and_then(|component| self.position(&component)) {
            let id = self.agents[at].agent_id.to_string();
            attempts.push(Attempt::new("1", "identity link", Some(id)));
            self.agents[at].last_seen_at = now;
            return Ok(self.resolution(at, "1", Vec::new(), attempts, root, place));
        }
        let many = root.is_some_and(|root| root.serves_many());
        let named = harness
            .map(|harness| self.named_session(harness, evidence, anchor.as_ref(), many, now, &mut attempts));
        let (named, ambiguous) = named.unwrap_or_default();
        let (rank, seen) = match named.zip(harness) {
            Some((named, harness)) => {
                if let Some(anchor) = anchor.as_ref().filter(|_| named.is_recent) {
                    self.bind(anchor, &named.component, many, place, now);
                }
                (named.rank, seen_session(harness, named.component, anchor, false))
            }
            None => without_session(harness, evidence, anchor, place, &mut attempts),
        };
        let at = self.record(seen, place, now, None);
        Ok(self.resolution(at, rank, ambiguous, attempts, root, place))
    }

    /// Returns the harness session that a request names, or that its process is known to serve. If
    /// the request names no session and the process serves several sessions, returns the agents of
    /// these sessions instead.
    fn named_session(
        &self,
        harness: &'static Harness,
        evidence: &Evidence,
        anchor: Option<&Anchor>,
        many: bool,
        now: Timestamp,
        attempts: &mut Vec<Attempt>,
    ) -> (Option<Named>, Vec<AgentId>) {
        let component = |id: &String| format!("sid:{}:{id}", harness.name);
        let first = |values: &BTreeMap<String, String>, names: &[&str]| {
            names.iter().find_map(|name| values.get(*name)).filter(|id| !id.is_empty()).map(component)
        };
        let metadata = first(&evidence.metadata, harness.metadata);
        attempts.push(Attempt::new("2a", "MCP request metadata", metadata.clone()));
        let env = first(&evidence.env, harness.session_variables);
        let by_request = env.clone().filter(|_| evidence.env_age == EnvAge::Request);
        attempts.push(Attempt::new("2b", "session variable in the request", by_request.clone()));
        let bound = anchor.and_then(|anchor| self.bindings.get(anchor));
        let current = bound.map(|bound| bound.current(many, now)).unwrap_or_default();
        let words = (!current.is_empty()).then(|| current.join(", "));
        attempts.push(Attempt::new("2c", "session bound to the harness process", words));
        let by_spawn = env.filter(|_| evidence.env_age == EnvAge::Spawn);
        attempts.push(Attempt::new("2d", "session variable at server start", by_spawn.clone()));
        let named = |rank, component, is_recent| (Some(Named { rank, component, is_recent }), Vec::new());
        if let Some(component) = metadata {
            return named("2a", component, true);
        }
        if let Some(component) = by_request {
            return named("2b", component, true);
        }
        match current.as_slice() {
            [] => by_spawn.map(|component| named("2d", component, false)).unwrap_or_default(),
            [one] => named("2c", (*one).to_owned(), true),
            several => {
                let id_of =
                    |component: &&str| self.position(component).map(|at| self.agents[at].agent_id.clone());
                (None, several.iter().filter_map(id_of).collect())
            }
        }
    }

    /// Records that a harness session runs under a root process. In a process that serves a single
    /// session, an agent that was known only by this process keeps its id and is identified by the
    /// session from now on, and the older session is superseded.
    fn bind(&mut self, anchor: &Anchor, component: &str, many: bool, place: &Place, now: Timestamp) {
        let bindings = self.bindings.entry(anchor.clone()).or_default();
        if bindings.is_changed_by(component, many) {
            self.revision += 1;
        }
        let replaced = bindings.see(component, now);
        if self.position(component).is_none() && !many {
            let by_process = anchor_component(anchor);
            if let Some(at) = self.position(&by_process).filter(|&at| self.agents[at].provisional) {
                let agent = &mut self.agents[at];
                agent.aliases.push(component.to_owned());
                agent.provisional = false;
                self.revision += 1;
            }
        }
        // A session that its harness returns to is current again.
        if let Some(at) = self.position(component).filter(|&at| self.agents[at].superseded_by.is_some()) {
            self.agents[at].superseded_by = None;
            self.revision += 1;
        }
        let Some(older) = replaced.filter(|_| !many).and_then(|older| self.position(&older)) else { return };
        let newer = self.position(component).map_or_else(
            || agent_id(&anchor.harness, component, place),
            |at| self.agents[at].agent_id.clone(),
        );
        let older = &mut self.agents[older];
        if older.agent_id != newer && older.superseded_by.as_ref() != Some(&newer) {
            older.superseded_by = Some(newer);
            self.revision += 1;
        }
    }

    /// Returns the agents that an agent replaced, directly or through others.
    fn replaced_by(&self, agent: &AgentId) -> Vec<AgentId> {
        let mut replaced: Vec<AgentId> = Vec::new();
        let mut newer = vec![agent];
        while let Some(by) = newer.pop() {
            for older in self.agents.iter().filter(|older| older.superseded_by.as_ref() == Some(by)) {
                if older.agent_id != *agent && !replaced.contains(&older.agent_id) {
                    replaced.push(older.agent_id.clone());
                    newer.push(&older.agent_id);
                }
            }
        }
        replaced
    }

    fn position(&self, component: &str) -> Option<usize> {
        self.agents.iter().position(|agent| agent.aliases.iter().any(|alias| alias == component))
    }

    /// Finds or creates the agent and updates when and where the agent was seen. Returns the
    /// agent's position.
    fn record(&mut self, seen: Seen, place: &Place, now: Timestamp, explicit: Option<AgentId>) -> usize {
        let at = self.position(&seen.component).unwrap_or_else(|| {
            let id = explicit.unwrap_or_else(|| agent_id(&seen.family, &seen.component, place));
            self.agents.push(AgentRecord {
                agent_id: id,
                harness: seen.family,
                kind: seen.kind,
                aliases: vec![seen.component],
                anchors: Vec::new(),
                provisional: seen.provisional,
                created_at: now,
                last_seen_at: now,
                superseded_by: None,
            });
            self.revision += 1;
            self.agents.len() - 1
        });
        let agent = &mut self.agents[at];
        agent.last_seen_at = now;
        if let Some(anchor) = seen.anchor.filter(|anchor| !agent.anchors.contains(anchor)) {
            agent.anchors.push(anchor);
            self.revision += 1;
        }
        at
    }

    fn resolution(
        &self,
        at: usize,
        rank: &'static str,
        ambiguous: Vec<AgentId>,
        mut attempts: Vec<Attempt>,
        root: Option<HarnessRoot<'_>>,
        place: &Place,
    ) -> Resolution {
        if let Some(used) = attempts.iter_mut().rfind(|attempt| attempt.rank == rank) {
            used.used = true;
        }
        let agent = &self.agents[at];
        Resolution {
            agent_id: agent.agent_id.clone(),
            harness: agent.harness.clone(),
            kind: agent.kind,
            provisional: agent.provisional,
            aliases: agent.aliases.clone(),
            anchor: root.map(|root| anchor_of(&root, place)),
            ambiguous,
            replaces: self.replaced_by(&agent.agent_id),
            attempts,
        }
    }
}

/// An agent as seen by one request.
struct Seen {
    family: String,
    kind: AgentKind,
    component: String,
    anchor: Option<Anchor>,
    provisional: bool,
}

fn seen_session(harness: &Harness, component: String, anchor: Option<Anchor>, provisional: bool) -> Seen {
    Seen { family: harness.name.to_owned(), kind: AgentKind::Harness, component, anchor, provisional }
}

/// Identifies a caller without a harness session: by the harness process, a variable that names
/// this process, the console, the terminal or the user.
fn without_session(
    harness: Option<&'static Harness>,
    evidence: &Evidence,
    anchor: Option<Anchor>,
    place: &Place,
    attempts: &mut Vec<Attempt>,
) -> (&'static str, Seen) {
    attempts.push(Attempt::new("3", "harness process", anchor.as_ref().map(anchor_component)));
    if let (Some(harness), Some(anchor)) = (harness, anchor) {
        return ("3", seen_session(harness, anchor_component(&anchor), Some(anchor), true));
    }
    let set = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| Some(format!("{name}={}", evidence.env.get(*name).filter(|v| !v.is_empty())?)))
    };
    if let Some(harness) = harness {
        let process = set(harness.process_variables).map(|id| format!("process:{id}"));
        attempts.push(Attempt::new("3", "process variable of the harness", process.clone()));
        if let Some(component) = process {
            return ("3", seen_session(harness, component, None, true));
        }
    }
    let terminal = set(TERMINAL_VARIABLES).map(|id| format!("term:{id}"));
    attempts.push(Attempt::new("4", "terminal", terminal.clone()));
    // A console belongs to a person, and each console is its own member. A program that starts a
    // console remains its own agent.
    if let (None, Some(console)) = (harness, evidence.console) {
        let component = format!("human:{}:console:{console:04x}", place.user);
        attempts.push(Attempt::new("5", "user's console", Some(component.clone())));
        let (family, kind) = ("human".to_owned(), AgentKind::Console);
        return ("5", Seen { family, kind, component, anchor: None, provisional: false });
    }
    match (harness, terminal) {
        (Some(harness), Some(component)) => ("4", seen_session(harness, component, None, true)),
        (Some(harness), None) => {
            let component = format!("user:{}@{}", place.user, place.host_id);
            attempts.push(Attempt::new("5", "user", Some(place.user.clone())));
            ("5", seen_session(harness, component, None, true))
        }
        // A person or an unknown harness: one agent per terminal.
        (None, Some(component)) => {
            let (family, kind) = ("terminal".to_owned(), AgentKind::Human);
            ("4", Seen { family, kind, component, anchor: None, provisional: false })
        }
        (None, None) => {
            attempts.push(Attempt::new("5", "user", Some(place.user.clone())));
            let component = format!("human:{}", place.user);
            let (family, kind) = ("human".to_owned(), AgentKind::Human);
            ("5", Seen { family, kind, component, anchor: None, provisional: false })
        }
    }
}

fn harness_by_marker(env: &BTreeMap<String, String>) -> Option<&'static Harness> {
    let is_set = |(name, value): &(&str, Option<&str>)| {
        env.get(*name).is_some_and(|found| match value {
            Some(value) => found == value,
            None => !found.is_empty(),
        })
    };
    HARNESSES.iter().find(|harness| harness.markers.iter().any(is_set))
}

fn anchor_of(root: &HarnessRoot<'_>, place: &Place) -> Anchor {
    Anchor {
        host_id: place.host_id.clone(),
        pid: root.process.pid,
        process_start: root.process.start,
        boot_id: place.boot_id.clone(),
        harness: root.harness.name.to_owned(),
    }
}

fn anchor_component(anchor: &Anchor) -> String {
    format!("anchor:{}:{}@{}:{}", anchor.harness, anchor.pid, anchor.process_start, anchor.boot_id)
}

/// Returns the component that identifies a linked connection. The component is stored with the
/// agent, so that it outlives the daemon.
fn connection_component(connection: &str) -> String {
    format!("connection:{connection}")
}

/// Returns an id that a caller chose, if it has the form `[a-z][a-z0-9-]*:[A-Za-z0-9._-]{1,64}`.
fn explicit_id(name: &str) -> Option<AgentId> {
    let (family, rest) = name.split_once(':')?;
    let lower = |c: char| c.is_ascii_lowercase();
    let family_fits =
        family.starts_with(lower) && family.chars().all(|c| lower(c) || c.is_ascii_digit() || c == '-');
    let rest_fits = (1..=64).contains(&rest.len())
        && rest.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    (family_fits && rest_fits).then(|| AgentId::new(name))
}

fn agent_id(family: &str, component: &str, place: &Place) -> AgentId {
    if family == "human" {
        return AgentId::new(component);
    }
    let mut hash = Sha256::new();
    for part in [family, &place.host_id, component, &place.uid.to_string()] {
        hash.update(part);
        hash.update([0]);
    }
    let digest = hash.finalize();
    let hex: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    AgentId::new(format!("{family}:{hex}"))
}
