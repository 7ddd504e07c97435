//! `identity link`, `doctor identity`: make a shell and an MCP server the same agent, and check
//! that they are.

use crate::commands::prelude::*;
use crate::commands::session::doctor::show_check;
use crate::host::identities::Identities;
use std::sync::Arc;
use stickpin_device::Check;
use stickpin_session::agent::{EnvAge, Resolution};

/// Link an MCP connection to the agent of a shell, with a one-time code.
///
/// Without a code, the command prints one that is valid for two minutes. Pass that code to the same
/// command over MCP. Needed only if one harness process serves several agents, or hides which one
/// is calling.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IdentityLink {
    /// The code that the shell printed.
    #[schemars(extend("x-positional" = 0))]
    pub code: Option<String>,
}

/// The code that was issued, or the agent that was linked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityLinkOutput {
    /// Either `code`, if a code was issued, or `linked`.
    pub status: String,
    /// The id of the agent.
    pub agent_id: String,
    /// The one-time code, if one was issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The time until the code expires, in milliseconds, if a code was issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
}

/// Check that the MCP servers of this harness run as the same agent as this command.
///
/// Exits with 1 if one of them runs, or may run, as another agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DoctorIdentity {}

/// The agent of each connection of a harness.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorIdentityOutput {
    /// The id of the agent that runs this command.
    pub agent_id: String,
    /// One check for each connection.
    pub checks: Vec<Check>,
}

fn identities(cx: &Cx) -> Result<(Arc<dyn Identities>, Resolution)> {
    let found = cx.host.config.identities.clone().zip(cx.caller.agent.clone());
    found.ok_or_else(|| Error::unsupported("this host does not identify agents"))
}

impl Command for IdentityLink {
    const SPEC: Spec = Spec {
        name: "identity link",
        examples: &["stickpin identity link", "stickpin identity link k3v9xa"],
        ..Spec::COORDINATION
    };
    type Output = IdentityLinkOutput;

    async fn run(self, cx: &mut Cx) -> Result<IdentityLinkOutput> {
        let (identities, me) = identities(cx)?;
        let connection = cx.caller.evidence.connection.clone();
        match (self.code, connection) {
            (Some(code), Some(connection)) => {
                let agent = identities.link(&code, &connection)?;
                Ok(IdentityLinkOutput {
                    status: "linked".to_owned(),
                    agent_id: agent.to_string(),
                    code: None,
                    ttl_ms: None,
                })
            }
            (Some(_), None) => Err(Error::invalid_args(
                "a code links an MCP connection, but this command did not come over MCP",
            )
            .hint("run the command over MCP; `stickpin whoami` shows the agent of this shell")),
            (None, _) if cx.caller.evidence.env_age == EnvAge::Spawn => Err(Error::invalid_args(
                "over MCP, `identity link` needs a code from a shell",
            )
            .hint("run `stickpin identity link` in the agent's shell, then pass `identity link` the code that it prints")),
            (None, _) => {
                if !me.ambiguous.is_empty() {
                    let names: Vec<_> = me.ambiguous.iter().map(ToString::to_string).collect();
                    let message = format!("this shell may belong to {}", names.join(" or "));
                    return Err(Error::identity_ambiguous(message)
                        .hint("set STICKPIN_AGENT_ID to the id of the agent in this shell"));
                }
                let issued = identities.issue_code(&me.agent_id);
                Ok(IdentityLinkOutput {
                    status: "code".to_owned(),
                    agent_id: me.agent_id.to_string(),
                    code: Some(issued.code),
                    ttl_ms: Some(issued.ttl_ms),
                })
            }
        }
    }
}

impl Command for DoctorIdentity {
    const SPEC: Spec =
        Spec { name: "doctor identity", examples: &["stickpin doctor identity"], ..Spec::HOST };
    type Output = DoctorIdentityOutput;

    async fn run(self, cx: &mut Cx) -> Result<DoctorIdentityOutput> {
        let (identities, me) = identities(cx)?;
        let checks = match &me.anchor {
            None => Vec::new(),
            Some(anchor) => identities.connections(anchor).into_iter().map(|c| check(&me, c)).collect(),
        };
        Ok(DoctorIdentityOutput { agent_id: me.agent_id.to_string(), checks })
    }
}

/// Compares the agent of a connection with that of the command.
fn check(me: &Resolution, connected: crate::host::identities::Connected) -> Check {
    let agent = connected.agent;
    let name = connected.pid.map_or_else(|| "mcp".to_owned(), |pid| format!("mcp server {pid}"));
    let found = match agent.ambiguous.as_slice() {
        [] => agent.agent_id.to_string(),
        several => several.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "),
    };
    let same = agent.ambiguous.is_empty() && agent.agent_id == me.agent_id;
    let fix = if same {
        String::new()
    } else {
        "stickpin identity link, then the same command over MCP with the code that it prints".to_owned()
    };
    Check::new(name, same, found, fix)
}

impl Show for IdentityLinkOutput {
    fn show(&self, text: &mut Text) {
        match &self.code {
            Some(code) => {
                text.line(format_args!("{code}"));
                text.line(format_args!(
                    "run `identity link {code}` over MCP within two minutes: that connection then belongs to {}",
                    self.agent_id
                ));
            }
            None => text.line(format_args!("this connection is {}", self.agent_id)),
        }
    }
}

impl Show for DoctorIdentityOutput {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("this command is {}", quote(&self.agent_id)));
        if self.checks.is_empty() {
            text.line("no MCP server of this harness is connected");
        }
        for check in &self.checks {
            show_check("", check, text);
        }
    }

    fn exit(&self) -> u8 {
        u8::from(self.checks.iter().any(|check| !check.ok))
    }
}
