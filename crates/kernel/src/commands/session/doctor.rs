//! `doctor`, `doctor state`: what is missing or damaged here, and the command that fixes it.

use crate::commands::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use stickpin_coordinator::{Coordinator, ListedState};
use stickpin_device::Check;
use stickpin_tree::format_count;

/// Check everything that `open` needs on this machine, and print how to fix what is missing.
///
/// Exits with 1 if a check fails.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Doctor {}

/// Check the state directory: its disk, and the metadata and every record of all sessions.
///
/// Changes nothing. Exits with 1 if a check fails.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DoctorState {}

/// The findings about one part of the installation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Findings {
    /// Either `ok`, or `findings` if a check failed.
    pub status: String,
    /// The checks, in order.
    pub checks: Vec<Check>,
}

impl Findings {
    /// Creates the findings from checks.
    #[must_use]
    pub fn new(checks: Vec<Check>) -> Self {
        let status = if checks.iter().all(|check| check.ok) { "ok" } else { "findings" };
        Self { status: status.to_owned(), checks }
    }
}

/// The findings by platform.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorOutput {
    /// The platforms of the host, each with its checks.
    pub platforms: Vec<PlatformChecks>,
}

/// The checks of one platform.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlatformChecks {
    /// The kind of device, the word before the colon in `open`.
    pub kind: String,
    /// The checks, in order.
    pub checks: Vec<Check>,
}

impl Command for Doctor {
    const SPEC: Spec = Spec {
        name: "doctor",
        deadline: Duration::from_secs(60),
        examples: &["stickpin doctor"],
        ..Spec::HOST
    };
    type Output = DoctorOutput;

    async fn run(self, cx: &mut Cx) -> Result<DoctorOutput> {
        let mut platforms = Vec::new();
        for provider in cx.host.config.providers.clone() {
            platforms
                .push(PlatformChecks { kind: provider.kind().to_owned(), checks: provider.doctor().await });
        }
        Ok(DoctorOutput { platforms })
    }
}

impl Command for DoctorState {
    const SPEC: Spec = Spec {
        name: "doctor state",
        deadline: Duration::from_secs(600),
        examples: &["stickpin doctor state"],
        ..Spec::HOST
    };
    type Output = Findings;

    async fn run(self, cx: &mut Cx) -> Result<Findings> {
        let (coordinator, _) = authority::coordinator(cx)?;
        let state_dir = cx.host.config.state_dir.display().to_string();
        let full = coordinator.store().is_emergency();
        let (found, fix) = match full {
            true => (
                format!("{state_dir}: the disk is full or its quota is used up"),
                "df -h or quota, then free space there",
            ),
            false => (state_dir, ""),
        };
        let mut checks = vec![Check::new("state directory", !full, found, fix)];
        // Reads every log.
        let sessions = tokio::task::spawn_blocking(move || check_sessions(&coordinator)).await;
        checks.extend(sessions.map_err(|e| Error::internal(format!("the session check failed: {e}")))??);
        Ok(Findings::new(checks))
    }
}

/// Checks all sessions. Returns one check for all sound sessions, and one for each damaged session.
fn check_sessions(coordinator: &Coordinator) -> Result<Vec<Check>> {
    let (mut checks, mut sound, mut records) = (Vec::new(), 0, 0);
    for name in coordinator.names()? {
        let listed = coordinator.listed(&name, None, &BTreeSet::new());
        let unreadable = matches!(listed.state, ListedState::Corrupt | ListedState::Missing);
        // A log that is known to be damaged is checked again, which yields the line to repair.
        let is_damaged = listed.diagnostics.iter().any(|found| found == ErrorCode::LogCorrupt.name());
        if !is_damaged && (unreadable || !listed.diagnostics.is_empty()) {
            let found = match listed.restore.and_then(|restore| restore.reason) {
                Some(reason) if unreadable => reason,
                _ => listed.diagnostics.join(", "),
            };
            let fix = match unreadable {
                true => format!("stickpin session adopt {name}"),
                false => format!("stickpin session restore {name}"),
            };
            checks.push(Check::new(format!("session {name}"), false, found, fix));
            continue;
        }
        if listed.state == ListedState::Pending {
            sound += 1;
            continue;
        }
        match coordinator.verify(&name) {
            Ok(verified) => match verified.findings.first() {
                None => {
                    sound += 1;
                    records += verified.summary.records;
                }
                Some(finding) => {
                    let found = match verified.findings.len() {
                        1 => format!("its log breaks a rule: {finding}"),
                        n => format!("its log breaks rules; the first of {n} findings: {finding}"),
                    };
                    let fix = format!("stickpin log verify {name}");
                    checks.push(Check::new(format!("session {name}"), false, found, fix));
                }
            },
            Err(e) => {
                let fix = match &e.details["line"] {
                    Value::Number(line) => {
                        format!("stickpin log repair {name} --at-line {line} --quarantine")
                    }
                    _ => e.hint,
                };
                checks.push(Check::new(format!("session {name}"), false, e.message, fix));
            }
        }
    }
    let (sessions, records) = (format_count(sound, "session"), format_count(records, "record"));
    let found = format!("{sessions} with {records}, no damage");
    checks.insert(0, Check::new("sessions", true, found, ""));
    Ok(checks)
}

/// Writes a check and, if it failed, the command that fixes what it found. `lead` precedes the name
/// of the check.
pub(super) fn show_check(lead: &str, check: &Check, text: &mut Text) {
    let word = if check.ok { "ok  " } else { "FAIL" };
    text.line(format_args!("{word} {lead}{}: {}", check.name, check.found));
    if !check.ok && !check.fix.is_empty() {
        text.line(format_args!("     fix: {}", check.fix));
    }
}

impl Show for Findings {
    fn show(&self, text: &mut Text) {
        for check in &self.checks {
            show_check("", check, text);
        }
    }

    fn exit(&self) -> u8 {
        u8::from(self.checks.iter().any(|check| !check.ok))
    }
}

impl Show for DoctorOutput {
    fn show(&self, text: &mut Text) {
        for platform in &self.platforms {
            for check in &platform.checks {
                show_check(&format!("{} ", platform.kind), check, text);
            }
        }
    }

    fn exit(&self) -> u8 {
        u8::from(self.platforms.iter().flat_map(|p| &p.checks).any(|c| !c.ok))
    }
}
