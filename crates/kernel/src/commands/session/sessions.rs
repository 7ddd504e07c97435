//! `session list`, `session show`: shows sessions, open or not, without waiting for them.

use crate::api::render::json_name;
use crate::commands::prelude::*;
use crate::host::SessionSlot;
use crate::run::authority;
use std::collections::BTreeSet;
use std::time::SystemTime;
use stickpin_coordinator::{
    ListedChildren, ListedSession, ListedState, LogPosition, Participant, Restorability, SessionEvidence,
    TurnSummary, Visibility,
};
use stickpin_process::Process;
use stickpin_session::Timestamp;
use stickpin_session::log::SessionMeta;
use stickpin_tree::quote;

/// List the sessions of this state directory: app, owner, age, idle time and memory.
///
/// Open sessions come first, then those that lost their app and have you as a member;
/// `session restore` opens them again. An agent sees its own sessions, their children and their
/// peers; with `--all`, it also sees the names, platforms and turns of the others.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SessionList {
    /// Also list closed sessions, and those of other agents.
    pub all: bool,
}

/// Show one session: its app, the running command and any open dialog. Never waits.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SessionShow {
    /// The session; by default that of the caller.
    #[schemars(extend("x-positional" = 0))]
    pub name: Option<String>,
    /// Also show the end of its log, the last command and snapshot, and what is unfinished.
    pub evidence: bool,
}

/// The sessions that a list shows, and the number of those that it omits.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionListOutput {
    /// The open sessions, oldest first, then the others by name.
    pub sessions: Vec<SessionEntry>,
    /// The number of sessions that only `--all` lists.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: usize,
}

/// A session as `session list` and `session show` describe it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEntry {
    /// The name of the session.
    pub name: String,
    /// The key of the caller that opened the session; empty if the session is not open or the
    /// current caller must not see the key.
    pub owner: String,
    /// Whether the current caller is the owner or, if the session is not open, a member.
    pub yours: bool,
    /// The kind of device, the word before the colon in `open`.
    pub kind: String,
    /// The display name of the app.
    pub label: String,
    /// The current or last address of the page; empty if unknown or not visible to the caller.
    pub url: String,
    /// The title of the page; empty if unknown or not visible to the caller.
    pub title: String,
    /// The number of the stored tree, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// Seconds since the lifetime began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<u64>,
    /// Seconds since the last command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<u64>,
    /// The idle timeout in seconds, if the session has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closes_after_idle: Option<u64>,
    /// The resident memory of the device's main process, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The command that is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<String>,
    /// A description of the pending dialog, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<String>,
    /// Whether the session can be used, and how.
    pub state: ListedState,
    /// What is known about the app right now. Only a hint.
    pub live: Reachability,
    /// The reason why the caller sees the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    /// The number of the lifetime, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<u32>,
    /// The turn, with its holder or the agent that may claim it next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnSummary>,
    /// The session whose app this session shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The child sessions that the session spawned.
    #[serde(default, skip_serializing_if = "ListedChildren::is_empty")]
    pub children: ListedChildren,
    /// The rules of the scope that the session has lent to its children.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope_delegated: Vec<String>,
    /// The other sessions that this session sees.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub peers: BTreeSet<String>,
    /// Whether the session can be reopened, if it is not open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<Restorability>,
    /// Problems with the session's files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<String>,
    /// All metadata of the session, such as its parameters, members, turn, loans and limits; only
    /// in `session show`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<SessionMeta>>,
    /// The end of the log, the last command and snapshot, and what is unfinished, if `--evidence`
    /// was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<SessionEvidence>,
}

/// What is known about the app of a session without querying the app.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reachability {
    /// Whether the app is open and not closing, and its process, if it has one, is running.
    pub reachable: bool,
    /// When this was checked; absent if the app is not open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probed_at: Option<Timestamp>,
    /// Whether the app is `idle`, `busy` with a command, or `closing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Why the app cannot be reached, if its process has exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Reachability {
    fn of(slot: &SessionSlot, pid: Option<u32>, is_busy: bool, now: SystemTime) -> Self {
        let closing = slot.closing.is_cancelled();
        let ended = pid.filter(|pid| Process::find(*pid).is_none());
        let status = if closing {
            "closing"
        } else if is_busy {
            "busy"
        } else {
            "idle"
        };
        Self {
            reachable: !closing && ended.is_none(),
            probed_at: Some(now.into()),
            status: Some(status.to_owned()),
            error: ended.map(|pid| format!("its process {pid} has exited")),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Command for SessionList {
    const SPEC: Spec = Spec {
        name: "session list",
        examples: &["stickpin session list", "stickpin session list --all"],
        ..Spec::HOST
    };
    type Output = SessionListOutput;

    async fn run(self, cx: &mut Cx) -> Result<SessionListOutput> {
        let mut sessions: Vec<_> =
            cx.host.all_slots().iter().map(|slot| SessionEntry::of(slot, cx)).collect();
        let Some(coordinator) = &cx.host.config.coordinator else {
            return Ok(SessionListOutput { sessions, hidden: 0 });
        };
        let open = sessions.iter().map(|session| session.name.clone()).collect();
        let who = authority::participant(cx);
        let listing = coordinator.list(who.as_ref(), &open, self.all)?;
        let slots = sessions.len();
        for listed in listing.sessions {
            match sessions.iter_mut().take(slots).find(|session| session.name == listed.name) {
                Some(session) => session.add(listed, who.as_ref()),
                None => sessions.push(SessionEntry::not_open(listed)),
            }
        }
        sessions.retain(|session| !listing.hidden.contains(&session.name));
        Ok(SessionListOutput { sessions, hidden: listing.hidden.len() })
    }
}

impl Command for SessionShow {
    const SPEC: Spec = Spec {
        name: "session show",
        examples: &[
            "stickpin session show",
            "stickpin session show checkout",
            "stickpin session show checkout --evidence",
        ],
        ..Spec::HOST
    };
    type Output = SessionEntry;

    async fn run(self, cx: &mut Cx) -> Result<SessionEntry> {
        cx.select_session(self.name)?;
        let name = cx.session_name();
        let slot = cx.host.slot(name);
        let coordinator = cx.host.config.coordinator.as_ref();
        let who = authority::participant(cx);
        let listed =
            coordinator.map(|coordinator| coordinator.listed(name, who.as_ref(), &cx.host.open_names()));
        if let (Some(listed), Some(who)) = (&listed, &who) {
            require_visible(listed, who)?;
        }
        let mut entry = match (slot, listed) {
            (Ok(slot), listed) => {
                let mut entry = SessionEntry::of(&slot, cx);
                listed.into_iter().for_each(|listed| entry.add(listed, who.as_ref()));
                entry
            }
            (Err(_), Some(listed)) if listed.state != ListedState::Missing => SessionEntry::not_open(listed),
            (Err(e), _) => return Err(e),
        };
        if let Some(Ok((mut meta, _))) = coordinator.map(|coordinator| coordinator.meta(cx.session_name())) {
            // Only the owner of a grant may know the fence of that grant.
            meta.turn.lease_id = None;
            entry.meta = Some(Box::new(meta));
        }
        if self.evidence
            && let Some(coordinator) = &cx.host.config.coordinator
        {
            let session = coordinator.session(cx.session_name())?;
            entry.evidence = Some(SessionEvidence::of(&session));
        }
        Ok(entry)
    }
}

/// Refuses an agent that is not a member of the session, of its parent or of one of its peers.
fn require_visible(listed: &ListedSession, who: &Participant) -> Result<()> {
    if who.is_person() || listed.visibility != Visibility::Host || listed.state == ListedState::Missing {
        return Ok(());
    }
    let name = &listed.name;
    let message = format!("session `{name}` is not visible to {}, which is not a member of it", who.agent);
    Err(Error::new(ErrorCode::SessionNotVisible, message).hint(format!(
        "run `stickpin session list --all` to see its turn, or `stickpin --session {name} turn join` to join it"
    )))
}

impl SessionEntry {
    fn of(slot: &SessionSlot, cx: &Cx) -> Self {
        let now = (cx.host.config.clock)();
        let since =
            |then: Option<SystemTime>| then.and_then(|t| now.duration_since(t).ok()).map(|d| d.as_secs());
        let status = slot.status.borrow().clone();
        let running = status.running.filter(|&r| r != SessionShow::SPEC.name);
        let live = Reachability::of(slot, status.pid, running.is_some(), now);
        Self {
            name: slot.name.clone(),
            owner: slot.owner.clone(),
            yours: slot.owner == cx.caller.key,
            kind: status.kind.to_owned(),
            label: status.label,
            url: status.url,
            title: status.title,
            generation: status.generation,
            age: since(status.opened),
            idle: since(status.used),
            closes_after_idle: status.idle_timeout.map(|d| d.as_secs()),
            memory: status.pid.and_then(resident),
            running: running.map(str::to_owned),
            dialog: status.dialog.map(|d| d.describe()),
            state: ListedState::Live,
            live,
            ..Self::default()
        }
    }

    /// Adds the metadata of the session, and omits what an agent must not see of other agents'
    /// sessions.
    fn add(&mut self, listed: ListedSession, who: Option<&Participant>) {
        let is_agent = who.is_some_and(|who| !who.is_person());
        if is_agent && listed.visibility == Visibility::Host {
            self.yours = false;
            for text in [&mut self.owner, &mut self.url, &mut self.title] {
                text.clear();
            }
            self.label.clone_from(&self.kind);
            (self.generation, self.memory) = (None, None);
            (self.running, self.dialog) = (None, None);
        }
        self.visibility = Some(listed.visibility);
        self.lifetime = listed.lifetime;
        self.turn = listed.turn;
        self.parent = listed.parent;
        self.children = listed.children;
        self.scope_delegated = listed.scope_delegated;
        self.peers = listed.peers;
        self.diagnostics = listed.diagnostics;
    }

    /// Describes a session that is not open, from its metadata alone.
    fn not_open(mut listed: ListedSession) -> Self {
        let mut entry = Self {
            name: std::mem::take(&mut listed.name),
            yours: listed.visibility == Visibility::Own,
            kind: std::mem::take(&mut listed.platform),
            url: listed.address.take().unwrap_or_default(),
            state: listed.state,
            restore: listed.restore.take(),
            ..Self::default()
        };
        entry.add(listed, None);
        entry
    }

    /// Describes the state of a session that is not open.
    fn standing(&self) -> String {
        let why = || self.restore.as_ref().and_then(|restore| restore.reason.clone()).unwrap_or_default();
        match self.state {
            ListedState::Live => String::new(),
            ListedState::Pending => "not begun".to_owned(),
            ListedState::Restorable => "lost its app; use `session restore` to open it again".to_owned(),
            ListedState::Stopped if self.restore.as_ref().is_some_and(|restore| restore.possible) => {
                "closed".to_owned()
            }
            ListedState::Stopped => format!("cannot be restored: {}", why()),
            ListedState::Corrupt => format!("damaged: {}", why()),
            ListedState::Missing => "has no metadata".to_owned(),
        }
    }
}

/// Returns the resident memory of a process in bytes, if `/proc` provides it.
fn resident(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib: u64 = status
        .lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))?
        .trim()
        .strip_suffix("kB")?
        .trim()
        .parse()
        .ok()?;
    Some(kib * 1024)
}

impl Show for SessionListOutput {
    fn show(&self, text: &mut Text) {
        if self.sessions.is_empty() {
            text.line("no session is open");
        }
        text.table(&self.sessions.iter().map(SessionEntry::row).collect::<Vec<_>>(), "  ");
        if self.hidden > 0 && self.sessions.is_empty() {
            text.line(format_args!("{} more: use `session list --all` to list them", self.hidden));
        }
    }
}

impl Show for SessionEntry {
    fn show(&self, text: &mut Text) {
        text.table(&[self.row()], "  ");
        if let Some(evidence) = &self.evidence {
            show_evidence(evidence, text);
        }
    }
}

fn show_evidence(evidence: &SessionEvidence, text: &mut Text) {
    let LogPosition { segment, last_seq } = evidence.log;
    let segment = segment.map(|segment| format!(", segment {segment}")).unwrap_or_default();
    text.line(format_args!("log: record {last_seq}{segment}"));
    let command = evidence.last_command.map_or_else(|| "none".to_owned(), |command| command.to_string());
    text.line(format_args!("last command: {command}"));
    let snapshot = evidence.last_snapshot_generation;
    let snapshot = snapshot.map_or_else(|| "none".to_owned(), |generation| format!("s{generation}"));
    text.line(format_args!("last snapshot: {snapshot}"));
    for open in &evidence.open_commands {
        text.line(format_args!("unfinished: {} ({})", open.verb, open.cmd_id));
    }
    for note in &evidence.open_notes {
        text.line(format_args!("open note: {note}"));
    }
    for loan in &evidence.dirty_loans {
        let state = json_name(&loan.state);
        text.line(format_args!("loan {} to {}: {state}", loan.loan_id, loan.borrower));
    }
}

impl SessionEntry {
    fn row(&self) -> Vec<Cell> {
        let owner = match (self.yours, self.owner.is_empty()) {
            (true, _) => "yours".to_owned(),
            (false, true) => String::new(),
            (false, false) => format!("of {}", quote(&self.owner)),
        };
        let prose_of = |text: String| if text.is_empty() { Cell::empty() } else { Cell::Prose(text) };
        let prose = |text: &str| prose_of(if text.is_empty() { String::new() } else { quote(text) });
        let word = |text: Option<String>| Cell::Word(text.unwrap_or_default());
        let spanned = |what: &str, seconds: Option<u64>| {
            word(seconds.map(|s| format!("{what} {}", span(Duration::from_secs(s)))))
        };
        vec![
            Cell::Word(self.name.clone()),
            word(Some(if self.state == ListedState::Live { self.label.clone() } else { self.kind.clone() })),
            Cell::Prose(owner),
            prose_of(self.standing()),
            prose(&self.url),
            prose(&self.title),
            spanned("open", self.age),
            spanned("idle", self.idle),
            spanned("closes after", self.closes_after_idle),
            word(self.memory.map(|bytes| format!("{} MB", bytes / 1_000_000))),
            word(self.running.as_ref().map(|running| format!("running {running}"))),
            word(self.dialog.as_ref().map(|dialog| format!("is waiting for an answer to its {dialog}"))),
        ]
    }
}

/// Formats a time span in seconds below two minutes, in minutes below two hours, and otherwise in
/// hours.
fn span(d: Duration) -> String {
    match d.as_secs() {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7_200 => format!("{} min", s / 60),
        s => format!("{} h", s / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_in_the_largest_unit_that_fits() {
        let of = |s| span(Duration::from_secs(s));
        assert_eq!(
            [of(0), of(119), of(120), of(7_199), of(7_200)],
            ["0 s", "119 s", "2 min", "119 min", "2 h"]
        );
    }
}
