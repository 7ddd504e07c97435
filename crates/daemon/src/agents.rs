//! Resolves which agent a call comes from, and keeps the directory of agents on disk.

use crate::authority::liveness;
use crate::files;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use stickpin_kernel::{Connected, Error, ErrorCode, Identities, IssuedCode, Result, io_error};
use stickpin_session::Timestamp;
use stickpin_session::agent::{Directory, Evidence, LinkCodes, Place, Process, Resolution};
use stickpin_session::turn::{AgentId, Anchor, Liveness};

/// The maximum number of processes that are read: the client and its ancestors.
const MAX_ANCESTORS: usize = 20;

/// How long the record of an agent whose processes have all ended is kept, in milliseconds.
const KEPT_MS: u64 = 30 * 86_400_000;

/// The content of `host.json` in the state directory: the random id of the host.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HostId {
    host_id: String,
}

/// The agents that called this daemon or an earlier daemon of the state directory, except those
/// that ended long ago.
#[derive(Debug)]
pub struct Agents {
    place: Place,
    file: PathBuf,
    directory: Mutex<Directory>,
    codes: Mutex<LinkCodes>,
    /// The open connections of MCP servers, by their names.
    connections: Mutex<BTreeMap<String, Connection>>,
}

/// An open connection of an MCP server, as its last request showed it.
#[derive(Debug, Clone)]
struct Connection {
    ancestry: Vec<Process>,
    evidence: Evidence,
}

impl Agents {
    /// Reads the directory of agents. A directory that cannot be parsed is replaced by an empty
    /// one, which the next calls fill.
    ///
    /// # Errors
    /// Returns `IO` or `STORAGE_FULL` when the folder or a file in it cannot be read or written.
    pub fn read(state_dir: &Path) -> Result<Self> {
        let folder = state_dir.join("identity");
        std::fs::create_dir_all(&folder).map_err(|e| io_error("create", &folder, &e))?;
        let uid = rustix::process::getuid().as_raw();
        let place = Place { host_id: host_id(&folder)?, boot_id: boot_id(), uid, user: user_name(uid) };
        let file = folder.join("agents.json");
        let mut directory = match std::fs::read(&file) {
            Ok(json) => serde_json::from_slice::<Directory>(&json).unwrap_or_else(|e| {
                tracing::warn!("{} is not a list of agents; a new list is started: {e}", file.display());
                Directory::default()
            }),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Directory::default(),
            Err(e) => return Err(io_error("read", &file, &e)),
        };
        let before = Timestamp::from_millis(now().millis().saturating_sub(KEPT_MS));
        directory.drop_unused(before, |anchor| liveness(anchor, &place.boot_id) == Liveness::Alive);
        let directory = Mutex::new(directory);
        Ok(Self { place, file, directory, codes: Mutex::default(), connections: Mutex::default() })
    }

    /// Returns the agent behind a call from this process.
    ///
    /// # Errors
    /// Returns `IDENTITY_INVALID` when the caller gives itself an invalid name.
    pub fn identify_in_process(&self, evidence: &Evidence) -> Result<Resolution> {
        self.identify(&ancestry(Some(std::process::id())), evidence)
    }

    /// Returns the agent behind a call. `ancestry` is that of the client's process.
    ///
    /// # Errors
    /// Returns `IDENTITY_INVALID` when the caller gives itself an invalid name.
    pub(crate) fn identify(&self, ancestry: &[Process], evidence: &Evidence) -> Result<Resolution> {
        if let Some(connection) = &evidence.connection {
            let mut connections = self.connections.lock();
            if connections.get(connection).is_none_or(|known| known.evidence != *evidence) {
                let shown = Connection { ancestry: ancestry.to_vec(), evidence: evidence.clone() };
                connections.insert(connection.clone(), shown);
            }
        }
        let resolved = self.change(|directory| directory.resolve(evidence, ancestry, &self.place, now()));
        resolved.map_err(|e| {
            Error::new(ErrorCode::IdentityInvalid, e.to_string())
                .hint("set STICKPIN_AGENT_ID to a name such as `claude:reviewer`, or unset it")
        })
    }

    /// Removes a connection that ended, and its link.
    pub(crate) fn disconnect(&self, connection: &str) {
        self.connections.lock().remove(connection);
        self.change(|directory| directory.unlink(connection));
    }

    /// Changes the directory, and stores it on disk if its revision changes.
    fn change<T>(&self, with: impl FnOnce(&mut Directory) -> T) -> T {
        let mut directory = self.directory.lock();
        let before = directory.revision();
        let result = with(&mut directory);
        if directory.revision() != before
            && let Err(e) = files::write(&self.file, &*directory)
        {
            tracing::warn!("the list of agents is kept only in memory: {e}");
        }
        result
    }
}

impl Identities for Agents {
    fn issue_code(&self, agent: &AgentId) -> IssuedCode {
        let code = self.codes.lock().issue(agent, rand::random(), crate::authority::monotonic_ms());
        IssuedCode { code, ttl_ms: LinkCodes::TTL_MS }
    }

    fn link(&self, code: &str, connection: &str) -> Result<AgentId> {
        let agent = self.codes.lock().redeem(code, crate::authority::monotonic_ms());
        agent.filter(|agent| self.change(|directory| directory.link(connection, agent))).ok_or_else(|| {
            Error::new(
                ErrorCode::InvalidArgs,
                "the code is wrong, was already used, or is older than two minutes",
            )
            .hint("run `stickpin identity link` in the agent's shell to get a new code")
        })
    }

    fn connections(&self, anchor: &Anchor) -> Vec<Connected> {
        let known: Vec<Connection> = self.connections.lock().values().cloned().collect();
        let resolved = known.into_iter().filter_map(|Connection { ancestry, evidence }| {
            let agent = self.change(|directory| directory.resolve(&evidence, &ancestry, &self.place, now()));
            let pid = ancestry.first().map(|process| process.pid);
            // A request with refused evidence is not served, so its connection has no agent.
            agent.ok().map(|agent| Connected { pid, agent })
        });
        resolved.filter(|connected| connected.agent.anchor.as_ref() == Some(anchor)).collect()
    }
}

/// Returns the ancestry of a process, starting with the process itself; empty if this host cannot
/// see the process.
pub(crate) fn ancestry(pid: Option<u32>) -> Vec<Process> {
    let ancestors = pid.map(|pid| stickpin_process::ancestry(pid, MAX_ANCESTORS)).unwrap_or_default();
    ancestors.into_iter().map(|a| Process { pid: a.pid, start: a.start, args: a.args }).collect()
}

pub(crate) fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Returns the random id of the host. Creates one if `folder` contains no valid id.
fn host_id(folder: &Path) -> Result<String> {
    let file = folder.join("host.json");
    match std::fs::read(&file) {
        Ok(json) => {
            if let Ok(HostId { host_id }) = serde_json::from_slice(&json) {
                return Ok(host_id);
            }
            tracing::warn!("{} is not a host id: agents get new ids", file.display());
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(io_error("read", &file, &e)),
    }
    let host_id = format!("{:032x}", rand::random::<u128>());
    files::write(&file, &HostId { host_id: host_id.clone() })?;
    Ok(host_id)
}

/// Returns the id of the current boot; empty if the platform has none.
pub(crate) fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Returns a user's name, or the user's number if the name is not known.
fn user_name(uid: u32) -> String {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id.parse() == Ok(uid)).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| uid.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_session::agent::EnvAge;

    fn evidence(name: &str, value: &str) -> Evidence {
        Evidence { env: [(name.into(), value.into())].into(), ..Evidence::default() }
    }

    #[test]
    fn agents_keep_their_ids_across_daemons() {
        let tmp = tempfile::tempdir().unwrap();
        let agents = Agents::read(tmp.path()).unwrap();
        let by_thread = evidence("CODEX_THREAD_ID", "t1");
        let first = agents.identify(&[], &by_thread).unwrap().agent_id;
        let again = Agents::read(tmp.path()).unwrap();
        assert_eq!(again.directory.lock().agents().len(), 1);
        assert_eq!(again.identify(&[], &by_thread).unwrap().agent_id, first);
        // Another state directory is a different host for its agents.
        let other = tempfile::tempdir().unwrap();
        let other = Agents::read(other.path()).unwrap();
        assert_ne!(other.identify(&[], &by_thread).unwrap().agent_id, first);
    }

    /// Returns the process of this test as a live root process of a harness.
    fn below_codex() -> Vec<Process> {
        let mut processes = ancestry(Some(std::process::id()));
        processes.truncate(1);
        processes[0].args = vec!["codex".into()];
        processes
    }

    #[test]
    fn server_that_asks_the_next_daemon_first_is_the_same_agent() {
        let tmp = tempfile::tempdir().unwrap();
        let by_thread = evidence("CODEX_THREAD_ID", "t1");
        let codex = below_codex();
        let first = Agents::read(tmp.path()).unwrap().identify(&codex, &by_thread).unwrap().agent_id;
        let server =
            Evidence { env_age: EnvAge::Spawn, connection: Some("c1".into()), ..Evidence::default() };
        let next = Agents::read(tmp.path()).unwrap();
        assert_eq!(next.identify(&codex, &server).unwrap().agent_id, first);
        assert_eq!(next.identify(&codex, &by_thread).unwrap().agent_id, first);
        // A process of an earlier boot says nothing about the agents of this one.
        let file = tmp.path().join("identity/agents.json");
        let stored = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, stored.replace(&boot_id(), "an-earlier-boot")).unwrap();
        let rebooted = Agents::read(tmp.path()).unwrap();
        assert_ne!(rebooted.identify(&codex, &server).unwrap().agent_id, first);
    }

    /// Fault 42: the process of a client in a container with its own process namespace is not
    /// visible.
    #[test]
    fn client_without_a_visible_process_is_linked_by_a_code() {
        let tmp = tempfile::tempdir().unwrap();
        let agents = Agents::read(tmp.path()).unwrap();
        let shell = Evidence {
            env: [("CLAUDECODE".into(), "1".into()), ("CLAUDE_CODE_SESSION_ID".into(), "s1".into())].into(),
            ..Evidence::default()
        };
        let ada = agents.identify(&[], &shell).unwrap();
        assert!(ada.anchor.is_none() && !ada.provisional);
        let server =
            Evidence { env_age: EnvAge::Spawn, connection: Some("c1".into()), ..Evidence::default() };
        assert_ne!(agents.identify(&[], &server).unwrap().agent_id, ada.agent_id);
        let issued = agents.issue_code(&ada.agent_id);
        assert_eq!(agents.link(&issued.code, "c1").unwrap(), ada.agent_id);
        let linked = agents.identify(&[], &server).unwrap();
        assert_eq!((&linked.agent_id, &linked.anchor), (&ada.agent_id, &None));
        // The next daemon knows the link until the connection ends.
        let next = Agents::read(tmp.path()).unwrap();
        assert_eq!(next.identify(&[], &server).unwrap().agent_id, ada.agent_id);
        next.disconnect("c1");
        assert_ne!(next.identify(&[], &server).unwrap().agent_id, ada.agent_id);
    }

    #[test]
    fn damaged_files_are_made_again() {
        let tmp = tempfile::tempdir().unwrap();
        let folder = tmp.path().join("identity");
        std::fs::create_dir(&folder).unwrap();
        for file in ["host.json", "agents.json"] {
            std::fs::write(folder.join(file), "{").unwrap();
        }
        let agents = Agents::read(tmp.path()).unwrap();
        agents.identify(&[], &evidence("CLAUDECODE", "1")).unwrap();
        assert_eq!(Agents::read(tmp.path()).unwrap().directory.lock().agents().len(), 1);
    }

    #[test]
    fn wrong_name_is_refused() {
        let tmp = tempfile::tempdir().unwrap();
        let agents = Agents::read(tmp.path()).unwrap();
        let refused = agents.identify(&[], &evidence("STICKPIN_AGENT_ID", "me")).unwrap_err();
        assert_eq!((refused.code, refused.code.exit()), (ErrorCode::IdentityInvalid, 7));
        assert!(refused.message.contains("\"me\""), "{refused}");
    }
}
