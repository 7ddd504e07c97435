//! The directory of agents: which ids exist, what they are known by, and which one a request means.

use super::ancestry::{HarnessRoot, Process, harness_root};
use super::harnesses::{AGENT_VARIABLE, HARNESSES, Harness, TERMINAL_VARIABLES};
use crate::timestamp::Timestamp;
use crate::turn::{AgentId, Anchor};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How long a session of a process that serves several stays current without a request.
const MANY_CURRENT_MS: u64 = 3_600_000;

/// When the environment of a front end was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EnvAge {
    /// For this request, as by a shell command.
    #[default]
    Request,
    /// When the front end started, as by an MCP server. The values may be outdated.
    Spawn,
}

/// What a front end knows about its caller. The variables are limited to those of
/// [`evidence_variables`](super::evidence_variables).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    /// Variables that are set, by name.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// When they were read.
    #[serde(default)]
    pub env_age: EnvAge,
    /// Metadata of the MCP request that are texts, by key.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// The connection, where the front end keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
}

impl Evidence {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.env.is_empty() && self.metadata.is_empty() && self.connection.is_none()
    }
}

/// Where requests are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The random id of the host.
    pub host_id: String,
    /// The running boot.
    pub boot_id: String,
    /// The user id of the daemon and of its callers.
    pub uid: u32,
    /// The name of that user.
    pub user: String,
}

/// Whether an agent is a program or a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentKind {
    /// An agent in a harness.
    Harness,
    /// A person at a terminal.
    Human,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentRecord {
    /// The id. An agent keeps it, whatever else becomes known about it.
    pub agent_id: AgentId,
    /// The family of the harness; `human` or `terminal` for a person.
    pub harness: String,
    /// Whether the agent is a person.
    pub kind: AgentKind,
    /// What the agent is known by.
    pub aliases: Vec<String>,
    /// The root processes that it was seen under.
    pub anchors: Vec<Anchor>,
    /// Whether no session id of the harness is known yet.
    pub provisional: bool,
    /// When the id was made.
    pub created_at: Timestamp,
    /// When the last request came.
    pub last_seen_at: Timestamp,
    /// The agent that replaced it in the same harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<AgentId>,
}

/// The sessions that were seen under one root process, the newest last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bindings(Vec<Binding>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Binding {
    component: String,
    last_seen: Timestamp,
}

/// One source of an identity that was considered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attempt {
    /// The rank of the source, `1` to `5`.
    pub rank: Cow<'static, str>,
    /// The source in words.
    pub source: Cow<'static, str>,
    /// What it said, if anything.
    pub found: Option<String>,
    /// Whether the identity comes from it.
    pub used: bool,
}

/// The agent that a request comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolution {
    /// The agent.
    pub agent_id: AgentId,
    /// The family of the harness; `human` or `terminal` for a person.
    pub harness: String,
    /// Whether the agent is a person.
    pub kind: AgentKind,
    /// Whether no session id of the harness is known yet.
    pub provisional: bool,
    /// What the agent is known by.
    pub aliases: Vec<String>,
    /// The root process of the harness.
    pub anchor: Option<Anchor>,
    /// Agents that it could also be. With any, the request may read but not change anything.
    pub ambiguous: Vec<AgentId>,
    /// All sources in order.
    pub attempts: Vec<Attempt>,
}

/// A request names an agent in a way that cannot be an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// The variable of the caller holds something else than an id.
    #[error("{AGENT_VARIABLE} is {0:?}; an agent id is written `harness:name`")]
    InvalidAgentId(String),
}

/// All known agents of a state dir.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directory {
    agents: Vec<AgentRecord>,
    bindings: BTreeMap<Anchor, Bindings>,
    links: BTreeMap<String, AgentId>,
}

/// A session id, with the rank of its source.
struct Named {
    rank: &'static str,
    component: String,
    is_recent: bool,
}

impl Directory {
    /// Creates a directory from stored records. Bindings are found anew by requests.
    #[must_use]
    pub fn new(agents: Vec<AgentRecord>) -> Self {
        Self { agents, ..Self::default() }
    }

    /// Returns the agents for storage.
    #[must_use]
    pub fn agents(&self) -> &[AgentRecord] {
        &self.agents
    }

    /// Returns the agent with this id.
    #[must_use]
    pub fn agent(&self, id: &AgentId) -> Option<&AgentRecord> {
        self.agents.iter().find(|agent| agent.agent_id == *id)
    }

    /// Makes all requests over a connection come from an agent that proved itself elsewhere.
    pub fn link(&mut self, connection: impl Into<String>, agent: AgentId) {
        self.links.insert(connection.into(), agent);
    }

    /// Forgets the link of a connection that ended.
    pub fn unlink(&mut self, connection: &str) {
        self.links.remove(connection);
    }

    /// Drops agents without a request since `before` whose processes have all ended.
    pub fn drop_unused(&mut self, before: Timestamp, is_alive: impl Fn(&Anchor) -> bool) {
        self.agents.retain(|agent| agent.last_seen_at >= before || agent.anchors.iter().any(&is_alive));
        self.bindings.retain(|anchor, _| is_alive(anchor));
    }

    /// Returns the agent that a request comes from, and remembers what the request reveals.
    /// `ancestry` starts with the calling process.
    ///
    /// # Errors
    /// Returns [`IdentityError`] if the caller names itself wrongly.
    pub fn resolve(
        &mut self,
        evidence: &Evidence,
        ancestry: &[Process],
        place: &Place,
        now: Timestamp,
    ) -> Result<Resolution, IdentityError> {
        let root = harness_root(ancestry);
        let harness = root.map(|root| root.harness).or_else(|| marked(&evidence.env));
        let anchor = root.map(|root| anchor_of(&root, place));
        let mut attempts = Vec::new();

        let explicit = evidence.env.get(AGENT_VARIABLE).filter(|name| !name.is_empty());
        attempts.push(attempt("1", "STICKPIN_AGENT_ID", explicit.cloned()));
        if let Some(name) = explicit {
            let id = explicit_id(name).ok_or_else(|| IdentityError::InvalidAgentId(name.clone()))?;
            let family = id.as_str().split(':').next().unwrap_or_default().to_owned();
            let kind = if family == "human" { AgentKind::Human } else { AgentKind::Harness };
            let seen = Seen { family, kind, component: name.clone(), anchor, provisional: false };
            let at = self.record(seen, place, now, Some(id));
            return Ok(self.resolution(at, "1", Vec::new(), attempts, root, place));
        }
        if let Some(id) = evidence.connection.as_ref().and_then(|c| self.links.get(c)).cloned()
            && let Some(at) = self.agents.iter().position(|agent| agent.agent_id == id)
        {
            attempts.push(attempt("1", "identity link", Some(id.to_string())));
            self.agents[at].last_seen_at = now;
            return Ok(self.resolution(at, "1", Vec::new(), attempts, root, place));
        }
        let many = root.is_some_and(|root| root.serves_many());
        let mut ambiguous = Vec::new();
        let named = harness.and_then(|harness| {
            self.named_session(harness, evidence, anchor.as_ref(), many, now, &mut attempts)
        });
        let named = match named {
            Some(Ok(named)) => Some(named),
            Some(Err(candidates)) => {
                ambiguous = candidates;
                None
            }
            None => None,
        };
        let found = named.map(|named| (named, harness));
        let (rank, seen) = match found {
            Some((named, Some(harness))) => {
                if let Some(anchor) = anchor.as_ref().filter(|_| named.is_recent) {
                    self.bind(anchor, &named.component, many, place, now);
                }
                (named.rank, seen_as(harness, named.component, anchor, false))
            }
            _ => without_session(harness, evidence, anchor, place, &mut attempts),
        };
        let at = self.record(seen, place, now, None);
        Ok(self.resolution(at, rank, ambiguous, attempts, root, place))
    }

    /// Returns the session that a request names, or that its process is known to serve. The inner
    /// error holds the candidates if the process serves several.
    fn named_session(
        &self,
        harness: &'static Harness,
        evidence: &Evidence,
        anchor: Option<&Anchor>,
        many: bool,
        now: Timestamp,
        attempts: &mut Vec<Attempt>,
    ) -> Option<Result<Named, Vec<AgentId>>> {
        let component = |id: &String| format!("sid:{}:{id}", harness.name);
        let first = |values: &BTreeMap<String, String>, names: &[&str]| {
            names.iter().find_map(|name| values.get(*name)).filter(|id| !id.is_empty()).map(component)
        };
        let metadata = first(&evidence.metadata, harness.metadata);
        attempts.push(attempt("2a", "metadata of the MCP request", metadata.clone()));
        let env = first(&evidence.env, harness.session_variables);
        let by_request = env.clone().filter(|_| evidence.env_age == EnvAge::Request);
        attempts.push(attempt("2b", "session variable of the request", by_request.clone()));
        let bound = anchor.and_then(|anchor| self.bindings.get(anchor));
        let current = bound.map(|bound| bound.current(many, now)).unwrap_or_default();
        let words = (!current.is_empty()).then(|| current.join(", "));
        attempts.push(attempt("2c", "session bound to the harness process", words));
        let by_spawn = env.filter(|_| evidence.env_age == EnvAge::Spawn);
        attempts.push(attempt("2d", "session variable of the server's start", by_spawn.clone()));
        let named = |rank, component, is_recent| Some(Ok(Named { rank, component, is_recent }));
        if let Some(component) = metadata {
            return named("2a", component, true);
        }
        if let Some(component) = by_request {
            return named("2b", component, true);
        }
        match current.as_slice() {
            [] => by_spawn.and_then(|component| named("2d", component, false)),
            [one] => named("2c", (*one).to_owned(), true),
            several => {
                let id_of =
                    |component: &&str| self.position(component).map(|at| self.agents[at].agent_id.clone());
                Some(Err(several.iter().filter_map(id_of).collect()))
            }
        }
    }

    /// Remembers that a session runs under a root process. An agent that was only known by this
    /// process keeps its id and is known by the session from now on. An older session of a process
    /// that serves one is superseded.
    fn bind(&mut self, anchor: &Anchor, component: &str, many: bool, place: &Place, now: Timestamp) {
        let replaced = self.bindings.entry(anchor.clone()).or_default().see(component, now);
        if self.position(component).is_none() && !many {
            let by_process = anchor_component(anchor);
            if let Some(at) = self.position(&by_process).filter(|&at| self.agents[at].provisional) {
                let agent = &mut self.agents[at];
                agent.aliases.push(component.to_owned());
                agent.provisional = false;
            }
        }
        let Some(older) = replaced.filter(|_| !many).and_then(|older| self.position(&older)) else { return };
        let newer = self.position(component).map_or_else(
            || agent_id(&anchor.harness, component, place),
            |at| self.agents[at].agent_id.clone(),
        );
        if self.agents[older].agent_id != newer {
            self.agents[older].superseded_by = Some(newer);
        }
    }

    fn position(&self, component: &str) -> Option<usize> {
        self.agents.iter().position(|agent| agent.aliases.iter().any(|alias| alias == component))
    }

    /// Finds or creates the agent and updates when and where it was seen. Returns its position.
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
            self.agents.len() - 1
        });
        let agent = &mut self.agents[at];
        agent.last_seen_at = now;
        if let Some(anchor) = seen.anchor.filter(|anchor| !agent.anchors.contains(anchor)) {
            agent.anchors.push(anchor);
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
            attempts,
        }
    }
}

impl Bindings {
    /// Notes a session and returns the one that it follows.
    fn see(&mut self, component: &str, now: Timestamp) -> Option<String> {
        let older = self.0.last().map(|b| b.component.clone()).filter(|older| older != component);
        self.0.retain(|binding| binding.component != component);
        self.0.push(Binding { component: component.to_owned(), last_seen: now });
        older
    }

    /// Returns the current sessions: the newest, or all of the last hour if the process serves
    /// several.
    fn current(&self, many: bool, now: Timestamp) -> Vec<&str> {
        let is_recent = |b: &&Binding| now.millis().saturating_sub(b.last_seen.millis()) <= MANY_CURRENT_MS;
        let sessions = self.0.iter().rev();
        if many {
            sessions.filter(is_recent).map(|b| b.component.as_str()).collect()
        } else {
            sessions.take(1).map(|b| b.component.as_str()).collect()
        }
    }
}

/// An agent as one request shows it.
struct Seen {
    family: String,
    kind: AgentKind,
    component: String,
    anchor: Option<Anchor>,
    provisional: bool,
}

fn seen_as(harness: &Harness, component: String, anchor: Option<Anchor>, provisional: bool) -> Seen {
    Seen { family: harness.name.to_owned(), kind: AgentKind::Harness, component, anchor, provisional }
}

fn attempt(rank: &'static str, source: &'static str, found: Option<String>) -> Attempt {
    Attempt { rank: rank.into(), source: source.into(), found, used: false }
}

/// Identifies a caller without a session id: by the harness process, the terminal or the user.
fn without_session(
    harness: Option<&'static Harness>,
    evidence: &Evidence,
    anchor: Option<Anchor>,
    place: &Place,
    attempts: &mut Vec<Attempt>,
) -> (&'static str, Seen) {
    attempts.push(attempt("3", "harness process", anchor.as_ref().map(anchor_component)));
    if let (Some(harness), Some(anchor)) = (harness, anchor) {
        return ("3", seen_as(harness, anchor_component(&anchor), Some(anchor), true));
    }
    let set = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| Some(format!("{name}={}", evidence.env.get(*name).filter(|v| !v.is_empty())?)))
    };
    if let Some(harness) = harness {
        let process = set(harness.process_variables).map(|id| format!("process:{id}"));
        attempts.push(attempt("3", "process variable of the harness", process.clone()));
        if let Some(component) = process {
            return ("3", seen_as(harness, component, None, true));
        }
    }
    let terminal = set(TERMINAL_VARIABLES).map(|id| format!("term:{id}"));
    attempts.push(attempt("4", "terminal", terminal.clone()));
    match (harness, terminal) {
        (Some(harness), Some(component)) => ("4", seen_as(harness, component, None, true)),
        (Some(harness), None) => {
            let component = format!("user:{}@{}", place.user, place.host_id);
            attempts.push(attempt("5", "user", Some(place.user.clone())));
            ("5", seen_as(harness, component, None, true))
        }
        // A person, or a harness that we do not know: one agent for each terminal.
        (None, Some(component)) => {
            let (family, kind) = ("terminal".to_owned(), AgentKind::Human);
            ("4", Seen { family, kind, component, anchor: None, provisional: false })
        }
        (None, None) => {
            attempts.push(attempt("5", "user", Some(place.user.clone())));
            let component = format!("human:{}", place.user);
            let (family, kind) = ("human".to_owned(), AgentKind::Human);
            ("5", Seen { family, kind, component, anchor: None, provisional: false })
        }
    }
}

fn marked(env: &BTreeMap<String, String>) -> Option<&'static Harness> {
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
