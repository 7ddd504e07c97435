//! `session spawn`, `session stop`, `session reclaim`, `session prune`: child sessions and their
//! loans.

use crate::api::session_name;
use crate::commands::prelude::*;
use stickpin_coordinator::{ReturnedLoans, Spawn, Spawned};
use stickpin_session::turn::{AgentId, Verb};

/// Lend the device of a session, or a part of it, to a child session.
///
/// Members of the child run their commands in the session that has the device. Anything lent with
/// `act` or `admin` is theirs alone until the loan ends. The child keeps its own members, notes and
/// log.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionSpawn {
    /// The session that lends.
    #[schemars(extend("x-positional" = 0))]
    pub parent: String,
    /// The name of the child.
    #[schemars(extend("x-positional" = 1))]
    pub child: String,
    /// What to lend: `act:*`, `observe:target=checkout`, `act:*,origins=https://shop.test`.
    #[schemars(length(min = 1), extend("x-placeholder" = "RULE"))]
    pub lend: Vec<String>,
    /// The agent that becomes the child's first member.
    #[schemars(extend("x-placeholder" = "ID"))]
    pub agent: Option<String>,
    /// Seconds after which the loan ends automatically.
    #[schemars(extend("x-placeholder" = "SECONDS"))]
    pub ttl: Option<u64>,
}

/// End a child session: what it borrowed returns to its lender.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionStop {
    /// The child.
    #[schemars(extend("x-positional" = 0))]
    pub child: String,
}

/// Take back a loan; the child remains.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionReclaim {
    /// The loan.
    #[schemars(extend("x-positional" = 0))]
    pub loan: String,
    /// Also end the loans made from it, which otherwise pass to the lender.
    #[serde(default)]
    pub cascade: bool,
}

/// Prune the ended children of a session: they can no longer act, and are listed as pruned.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionPrune {
    /// The parent; by default the session of the caller.
    #[schemars(extend("x-positional" = 0))]
    pub parent: Option<String>,
}

/// A child session and what it may do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSpawnOutput {
    /// Always `spawned`.
    pub status: String,
    /// The child and its loan.
    #[serde(flatten)]
    pub spawned: Spawned,
}

/// Loans that ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoansOutput {
    /// What was done: `stopped`, `reclaimed` or `pruned`.
    pub status: String,
    /// The child sessions that were stopped or pruned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<String>,
    /// The loans that ended, and what their lender may do now.
    #[serde(flatten)]
    pub returned: ReturnedLoans,
}

impl Command for SessionSpawn {
    const SPEC: Spec = Spec {
        name: "session spawn",
        examples: &[
            "stickpin session spawn checkout payments --lend 'act:*' --agent codex:d4bc2492",
            "stickpin session spawn checkout reader --lend 'observe:*' --ttl 600",
        ],
        ..Spec::COORDINATION
    };
    type Output = SessionSpawnOutput;

    async fn run(self, cx: &mut Cx) -> Result<SessionSpawnOutput> {
        session_name::check(&self.child)?;
        cx.select_session(self.parent)?;
        let (coordinator, who) = authority::coordinator(cx)?;
        let spawn = Spawn {
            rules: self.lend,
            agent: self.agent.map(AgentId::new),
            ttl: self.ttl.map(Duration::from_secs),
        };
        let spawned = coordinator.loans().spawn(&cx.session_name, &self.child, &who, spawn).await?;
        Ok(SessionSpawnOutput { status: "spawned".to_owned(), spawned })
    }
}

impl Command for SessionStop {
    const SPEC: Spec =
        Spec { name: "session stop", examples: &["stickpin session stop payments"], ..Spec::COORDINATION };
    type Output = LoansOutput;

    async fn run(self, cx: &mut Cx) -> Result<LoansOutput> {
        cx.select_session(self.child)?;
        let (coordinator, who) = authority::coordinator(cx)?;
        let returned = coordinator.loans().stop_child(&cx.session_name, &who).await?;
        Ok(LoansOutput { status: "stopped".to_owned(), children: vec![cx.session_name.clone()], returned })
    }
}

impl Command for SessionReclaim {
    const SPEC: Spec = Spec {
        name: "session reclaim",
        idempotent: true,
        examples: &["stickpin session reclaim loan-5f0a --cascade"],
        ..Spec::COORDINATION
    };
    type Output = LoansOutput;

    async fn run(self, cx: &mut Cx) -> Result<LoansOutput> {
        let (coordinator, who) = authority::coordinator(cx)?;
        let returned = coordinator.loans().reclaim(&self.loan, self.cascade, &who).await?;
        Ok(LoansOutput { status: "reclaimed".to_owned(), children: Vec::new(), returned })
    }
}

impl Command for SessionPrune {
    const SPEC: Spec =
        Spec { name: "session prune", examples: &["stickpin session prune checkout"], ..Spec::COORDINATION };
    type Output = LoansOutput;

    async fn run(self, cx: &mut Cx) -> Result<LoansOutput> {
        cx.select_session(self.parent)?;
        let (coordinator, who) = authority::coordinator(cx)?;
        let (children, returned) = coordinator.loans().prune(&cx.session_name, &who).await?;
        Ok(LoansOutput { status: "pruned".to_owned(), children, returned })
    }
}

impl Show for SessionSpawnOutput {
    fn show(&self, text: &mut Text) {
        let Spawned { child, device, loan_id, effective_parent, effective_child } = &self.spawned;
        text.line(format_args!(
            "spawned {child}, which may {} · {}",
            verbs(effective_child),
            loan_id.as_str()
        ));
        text.line(format_args!("its members run commands with `--session {device}`"));
        text.line(format_args!("the lender may still {}", verbs(effective_parent)));
    }
}

impl Show for LoansOutput {
    fn show(&self, text: &mut Text) {
        let names =
            if self.children.is_empty() { String::new() } else { format!(" {}", self.children.join(", ")) };
        text.line(format_args!("{}{names}", self.status));
        for loan in &self.returned.loans {
            let late = if loan.late_command.is_some() { ", while a command was still running" } else { "" };
            text.line(format_args!(
                "{} returned to {} from {}{late}",
                loan.loan_id.as_str(),
                loan.lender,
                loan.borrower
            ));
            for moved in &loan.reparented {
                text.line(format_args!("{} continues as a loan from {}", moved.as_str(), loan.lender));
            }
        }
        if !self.returned.loans.is_empty() {
            text.line(format_args!("the lender may now {}", verbs(&self.returned.effective_parent)));
        }
    }
}

fn verbs(verbs: &[Verb]) -> String {
    let word = |verb: &Verb| match verb {
        Verb::Observe => "observe",
        Verb::Act => "act",
        Verb::Admin => "administer",
    };
    match verbs {
        [] => "do nothing".to_owned(),
        verbs => verbs.iter().map(word).collect::<Vec<_>>().join(", "),
    }
}
