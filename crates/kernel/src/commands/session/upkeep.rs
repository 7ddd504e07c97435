//! `session policy`, `session adopt`, `log verify`, `log repair`: the limits and the files of a
//! session.

use crate::commands::prelude::*;
use serde_json::Value;
use stickpin_session::turn::Policy;

/// Show or change the limits of a session and what it must not do.
///
/// Only a person, the owner of the session's turn or the session's only driver can make changes,
/// and only a person can remove a denial. Denials outlive lifetimes and apply to child sessions
/// too. Times are in milliseconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionPolicy {
    /// The session.
    #[schemars(extend("x-positional" = 0))]
    pub name: String,
    /// New values: `leaseTtlMs=60000`, `implicitTurns=never`. `deny+=RULE` adds a denial, such as
    /// `deny+=act:*,origins=https://bank.test`, and `deny-=RULE` removes it.
    #[serde(default)]
    #[schemars(extend("x-positional" = 1, "x-trailing" = true, "x-placeholder" = "KEY=VALUE"))]
    pub set: Vec<String>,
}

/// Rebuild the metadata of a session from its log. Only a person can run it.
///
/// Use this for a session whose metadata was removed or is damaged. The session's turn is idle
/// afterwards, unless the daemon still has the session in memory.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionAdopt {
    /// The session.
    #[schemars(extend("x-positional" = 0))]
    pub name: String,
}

/// Check every record of the log of a session. Changes nothing.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogVerify {
    /// The session.
    #[schemars(extend("x-positional" = 0))]
    pub name: String,
}

/// Discard a damaged line so that a session's log can be used again. Only a person can run it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogRepair {
    /// The session.
    #[schemars(extend("x-positional" = 0))]
    pub name: String,
    /// The damaged line, as named in the error.
    #[schemars(extend("x-placeholder" = "N"))]
    pub at_line: u64,
    /// Keep the bytes of the line in the quarantine of the state directory. Required.
    #[serde(default)]
    pub quarantine: bool,
}

/// The limits and denials of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionPolicyOutput {
    /// The name of the session.
    pub session: String,
    /// The limits in effect.
    pub policy: Policy,
    /// The denials in effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

/// A session whose metadata was rebuilt.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionAdoptOutput {
    /// Always `adopted`.
    pub status: String,
    /// The name of the session.
    pub session: String,
}

/// The result of a log check.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogVerifyOutput {
    /// The name of the session.
    pub session: String,
    /// The number of segments of the log.
    pub segments: u64,
    /// The number of records in the log.
    pub records: u64,
    /// The number of bytes checked.
    pub bytes: u64,
    /// The number of uncommitted bytes after the last record.
    pub torn_bytes: u64,
    /// The rules that the log breaks, up to a maximum number.
    pub findings: Vec<String>,
}

/// What a repair of a log replaced.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogRepairOutput {
    /// The name of the session.
    pub session: String,
    /// The path of the repaired segment.
    pub path: String,
    /// The number of lost records, each of which was replaced by a placeholder.
    pub lost_records: u64,
    /// The number of bytes that were moved to the quarantine.
    pub dropped_bytes: u64,
    /// The SHA-256 digest of these bytes.
    pub sha256: String,
}

impl Command for SessionPolicy {
    const SPEC: Spec = Spec {
        name: "session policy",
        examples: &[
            "stickpin session policy checkout",
            "stickpin session policy checkout leaseTtlMs=60000 renewMs=5000",
            "stickpin session policy checkout 'deny+=act:*,origins=https://bank.test'",
        ],
        ..Spec::COORDINATION
    };
    type Output = SessionPolicyOutput;

    async fn run(self, cx: &mut Cx) -> Result<SessionPolicyOutput> {
        cx.select_session(self.name)?;
        let (session, who) = authority::require(cx)?;
        let mut changes = Vec::new();
        for change in &self.set {
            let (key, value) = change.split_once('=').ok_or_else(|| {
                Error::invalid_args(format!("{} is not of the form `KEY=VALUE`", quote(change)))
                    .hint("write the name of a limit, `=` and its value, such as `leaseTtlMs=60000`")
            })?;
            changes.push((key.to_owned(), value.to_owned()));
        }
        let policy = match changes.is_empty() {
            true => session.meta().policy,
            false => authority::coordinator(cx)?.0.set_policy(session.name(), &who, &changes)?,
        };
        let deny = session.meta().base_scope.deny.iter().map(ToString::to_string).collect();
        Ok(SessionPolicyOutput { session: session.name().to_owned(), policy, deny })
    }
}

impl Command for SessionAdopt {
    const SPEC: Spec =
        Spec { name: "session adopt", examples: &["stickpin session adopt checkout"], ..Spec::COORDINATION };
    type Output = SessionAdoptOutput;

    async fn run(self, cx: &mut Cx) -> Result<SessionAdoptOutput> {
        cx.select_session(self.name)?;
        let (coordinator, who) = authority::coordinator(cx)?;
        coordinator.adopt(&cx.session_name, &who)?;
        Ok(SessionAdoptOutput { status: "adopted".to_owned(), session: cx.session_name.clone() })
    }
}

impl Command for LogVerify {
    const SPEC: Spec = Spec { name: "log verify", examples: &["stickpin log verify checkout"], ..Spec::HOST };
    type Output = LogVerifyOutput;

    async fn run(self, cx: &mut Cx) -> Result<LogVerifyOutput> {
        cx.select_session(self.name)?;
        let (coordinator, _) = authority::coordinator(cx)?;
        let name = cx.session_name.clone();
        let verified = tokio::task::spawn_blocking(move || coordinator.verify(&name)).await;
        let verified =
            verified.map_err(|e| Error::internal(format!("the log could not be checked: {e}")))??;
        Ok(LogVerifyOutput {
            session: cx.session_name.clone(),
            segments: verified.summary.segments,
            records: verified.summary.records,
            bytes: verified.bytes,
            torn_bytes: verified.torn_bytes,
            findings: verified.findings.iter().map(ToString::to_string).collect(),
        })
    }
}

impl Command for LogRepair {
    const SPEC: Spec = Spec {
        name: "log repair",
        examples: &["stickpin log repair checkout --at-line 17 --quarantine"],
        ..Spec::COORDINATION
    };
    type Output = LogRepairOutput;

    async fn run(self, cx: &mut Cx) -> Result<LogRepairOutput> {
        if !self.quarantine {
            return Err(Error::invalid_args(
                "the repair must be confirmed: it moves the damaged line to the quarantine",
            )
            .hint("add `--quarantine` to confirm"));
        }
        cx.select_session(self.name)?;
        let (coordinator, who) = authority::coordinator(cx)?;
        let repaired = coordinator.repair(&cx.session_name, self.at_line, &who)?;
        Ok(LogRepairOutput {
            session: cx.session_name.clone(),
            path: repaired.path.display().to_string(),
            lost_records: repaired.stubs,
            dropped_bytes: repaired.dropped_bytes,
            sha256: repaired.sha256,
        })
    }
}

impl Show for SessionPolicyOutput {
    fn show(&self, text: &mut Text) {
        let values = serde_json::to_value(&self.policy).unwrap_or_default();
        for (key, value) in values.as_object().into_iter().flatten() {
            match value {
                Value::String(word) => text.line(format_args!("{key}={word}")),
                value => text.line(format_args!("{key}={value}")),
            }
        }
        for rule in &self.deny {
            text.line(format_args!("deny={}", quote(rule)));
        }
    }
}

show_line!(SessionAdoptOutput: it => "adopted {}", it.session);

impl Show for LogVerifyOutput {
    fn show(&self, text: &mut Text) {
        let torn = match self.torn_bytes {
            0 => String::new(),
            bytes => format!(", and {bytes} uncommitted bytes"),
        };
        text.line(format_args!(
            "{} records in {} segments, {} bytes{torn}",
            self.records, self.segments, self.bytes
        ));
        for finding in &self.findings {
            text.line(finding);
        }
        if self.findings.is_empty() {
            text.line("the log is valid");
        }
    }
}

show_line!(LogRepairOutput: it => "replaced {} lost records in {}; {} bytes are in the quarantine", it.lost_records, it.path, it.dropped_bytes);
