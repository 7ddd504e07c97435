//! `session list`, `session show`: shows open sessions without waiting for them.

use crate::api::render::Cell;
use crate::commands::prelude::*;
use crate::host::SessionSlot;
use std::time::SystemTime;
use stickpin_tree::quote;

/// List the sessions of this state directory: app, owner, age, idle time and memory.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionList {}

/// Show one session: its app, the running command and an open dialog. Never waits.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionShow {}

/// The open sessions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionListOutput {
    /// The open sessions, oldest first.
    pub sessions: Vec<SessionEntry>,
}

/// A session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEntry {
    /// The name.
    pub name: String,
    /// The key of the caller that opened the session.
    pub owner: String,
    /// Whether that is the current caller.
    pub yours: bool,
    /// The kind of device, the word before the colon in `open`.
    pub kind: String,
    /// The name of the app for a reader.
    pub label: String,
    /// The address.
    pub url: String,
    /// The title.
    pub title: String,
    /// The number of the stored tree, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// Seconds since the session was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<u64>,
    /// Seconds since the last command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<u64>,
    /// The idle timeout in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closes_after_idle: Option<u64>,
    /// The resident memory of the device's main process, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The command that is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<String>,
    /// The pending dialog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<String>,
}

impl Command for SessionList {
    const SPEC: Spec = Spec { name: "session list", examples: &["stickpin session list"], ..Spec::HOST };
    type Output = SessionListOutput;

    async fn run(self, cx: &mut Cx) -> Result<SessionListOutput> {
        let slots = cx.host.all_slots();
        Ok(SessionListOutput { sessions: slots.iter().map(|slot| SessionEntry::of(slot, cx)).collect() })
    }
}

impl Command for SessionShow {
    const SPEC: Spec = Spec {
        name: "session show",
        lane: Lane::Beside,
        despite_dialog: true,
        examples: &["stickpin session show", "stickpin --session checkout session show"],
        ..Spec::SESSION
    };
    type Output = SessionEntry;

    async fn run(self, cx: &mut Cx) -> Result<SessionEntry> {
        let slot = cx.host.slot(cx.session_name())?;
        Ok(SessionEntry::of(&slot, cx))
    }
}

impl SessionEntry {
    fn of(slot: &SessionSlot, cx: &Cx) -> Self {
        let now = (cx.host.config.clock)();
        let since =
            |then: Option<SystemTime>| then.and_then(|t| now.duration_since(t).ok()).map(|d| d.as_secs());
        let status = slot.status.borrow().clone();
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
            running: status.running.filter(|&r| r != SessionShow::SPEC.name).map(str::to_owned),
            dialog: status.dialog.map(|d| d.describe()),
        }
    }
}

/// Returns the resident memory of a process in bytes, where `/proc` provides it.
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
    }
}

impl Show for SessionEntry {
    fn show(&self, text: &mut Text) {
        text.table(&[self.row()], "  ");
    }
}

impl SessionEntry {
    fn row(&self) -> Vec<Cell> {
        let owner = if self.yours { "yours".to_owned() } else { format!("of {}", quote(&self.owner)) };
        let prose = |text: &str| match text {
            "" => Cell::empty(),
            text => Cell::Prose(quote(text).to_string()),
        };
        let word = |text: Option<String>| Cell::Word(text.unwrap_or_default());
        let spanned = |what: &str, seconds: Option<u64>| {
            word(seconds.map(|s| format!("{what} {}", span(Duration::from_secs(s)))))
        };
        vec![
            Cell::Word(self.name.clone()),
            Cell::Word(self.label.clone()),
            Cell::Prose(owner),
            prose(&self.url),
            prose(&self.title),
            spanned("open", self.age),
            spanned("idle", self.idle),
            spanned("closes after", self.closes_after_idle),
            word(self.memory.map(|bytes| format!("{} MB", bytes / 1_000_000))),
            word(self.running.as_ref().map(|running| format!("running {running}"))),
            word(self.dialog.as_ref().map(|dialog| format!("waits for an answer to its {dialog}"))),
        ]
    }
}

/// Formats a time span in the largest unit that fits.
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
