//! `session gc`, `log migrate`: sessions that are no longer used, and logs from earlier versions.

use crate::commands::prelude::*;
use stickpin_coordinator::Dormant;

/// Remove sessions that nobody has used for a week, with their logs. Only a person can run it.
///
/// Sessions that are open, have an active member or take part in a loan are kept. Nothing else
/// ever removes a session that has begun.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SessionGc {
    /// Seconds without use; by default the `idleSessionRetentionMs` of each session.
    #[schemars(extend("x-placeholder" = "SECONDS"))]
    pub older: Option<u64>,
    /// Only list what would be removed.
    pub print: bool,
}

/// Convert a session log that an earlier version wrote. Keeps the original segments.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogMigrate {
    /// The session.
    #[schemars(extend("x-positional" = 0))]
    pub name: String,
}

/// Sessions that were removed or, with `print`, only listed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionGcOutput {
    /// The removed sessions or, with `print`, the sessions that would be removed.
    pub removed: Vec<Dormant>,
    /// Whether the sessions were only listed and not removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub printed: bool,
}

/// The result of migrating a log.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogMigrateOutput {
    /// The name of the session.
    pub session: String,
    /// The number of segments that were rewritten.
    pub segments: u64,
    /// The number of records that were converted.
    pub records: u64,
    /// The paths of the original segments, which are kept unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub originals: Vec<String>,
}

impl Command for SessionGc {
    const SPEC: Spec = Spec {
        name: "session gc",
        deadline: Duration::from_secs(60),
        examples: &["stickpin session gc --print", "stickpin session gc --older 86400"],
        ..Spec::COORDINATION
    };
    type Output = SessionGcOutput;

    async fn run(self, cx: &mut Cx) -> Result<SessionGcOutput> {
        let (coordinator, who) = authority::coordinator(cx)?;
        let open = cx.host.all_slots().iter().map(|slot| slot.name.clone()).collect();
        let older = self.older.map(Duration::from_secs);
        let removed = match self.print {
            true => coordinator.dormant(&who, &open, older)?,
            false => coordinator.collect(&who, &open, older)?,
        };
        Ok(SessionGcOutput { removed, printed: self.print })
    }
}

impl Command for LogMigrate {
    const SPEC: Spec =
        Spec { name: "log migrate", examples: &["stickpin log migrate checkout"], ..Spec::COORDINATION };
    type Output = LogMigrateOutput;

    async fn run(self, cx: &mut Cx) -> Result<LogMigrateOutput> {
        cx.select_session(self.name)?;
        let (coordinator, _) = authority::coordinator(cx)?;
        let name = cx.session_name.clone();
        let migrated = tokio::task::spawn_blocking(move || coordinator.migrate(&name)).await;
        let migrated =
            migrated.map_err(|e| Error::internal(format!("the migration of the log failed: {e}")))??;
        Ok(LogMigrateOutput {
            session: cx.session_name.clone(),
            segments: migrated.segments,
            records: migrated.records,
            originals: migrated.originals.iter().map(|path| path.display().to_string()).collect(),
        })
    }
}

impl Show for SessionGcOutput {
    fn show(&self, text: &mut Text) {
        if self.removed.is_empty() {
            text.line("no session has been unused long enough to be removed");
            return;
        }
        text.line(if self.printed { "would be removed:" } else { "removed:" });
        let rows = self.removed.iter().map(|dormant| {
            vec![
                Cell::Word(dormant.name.clone()),
                Cell::Word(format!("unused for {} h", dormant.unused_ms / 3_600_000)),
            ]
        });
        text.table(&rows.collect::<Vec<_>>(), "  ");
    }
}

impl Show for LogMigrateOutput {
    fn show(&self, text: &mut Text) {
        if self.segments == 0 {
            text.line(format_args!("the log of {} is already in the current format", self.session));
            return;
        }
        text.line(format_args!(
            "converted {} records in {} segments of {}",
            self.records, self.segments, self.session
        ));
        for original in &self.originals {
            text.line(format_args!("kept {original}"));
        }
    }
}
