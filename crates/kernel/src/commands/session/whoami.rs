//! `whoami`: identifies the agent behind a command.

use crate::commands::prelude::*;
use stickpin_session::agent::{AgentKind, Attempt};

/// Show which agent this command comes from.
///
/// An agent has one id, whether it uses the shell or MCP. Set `STICKPIN_AGENT_ID` to choose the id.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Whoami {
    /// List every source of the identity, and which one was used.
    pub explain: bool,
}

/// The agent behind a command.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The id of the agent.
    pub agent_id: String,
    /// The name that the other members of the caller's session see, or the id of an agent that is
    /// not a member.
    pub display: String,
    /// The rank of the source that the id comes from, as in `explain`.
    pub rank: String,
    /// The harness family; `human` or `terminal` for a person.
    pub harness: String,
    /// Whether the agent runs in a harness, is a person or is a console of a person.
    pub kind: AgentKind,
    /// Whether the session id of the harness is still unknown.
    pub provisional: bool,
    /// The identifiers that the agent is known by.
    pub aliases: Vec<String>,
    /// The id of the harness's root process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Other agents that the caller could be. If there are any, only commands that read are
    /// allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ambiguous: Vec<String>,
    /// All sources in order of precedence, with `explain`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explain: Vec<Attempt>,
}

impl Command for Whoami {
    const SPEC: Spec =
        Spec { name: "whoami", examples: &["stickpin whoami", "stickpin whoami --explain"], ..Spec::HOST };
    type Output = Agent;

    async fn run(self, cx: &mut Cx) -> Result<Agent> {
        let agent = cx.caller.agent.clone();
        let agent = agent.ok_or_else(|| Error::unsupported("this host does not identify agents"))?;
        let joined = cx.host.config.coordinator.as_ref().and_then(|coordinator| {
            let (meta, _) = coordinator.meta(cx.session_name()).ok()?;
            meta.members.into_iter().find(|member| member.agent_id == agent.agent_id)
        });
        let used = agent.attempts.iter().find(|attempt| attempt.used);
        Ok(Agent {
            display: joined.map_or_else(|| agent.agent_id.to_string(), |member| member.display),
            rank: used.map(|attempt| attempt.rank.to_string()).unwrap_or_default(),
            agent_id: agent.agent_id.to_string(),
            harness: agent.harness,
            kind: agent.kind,
            provisional: agent.provisional,
            aliases: agent.aliases,
            pid: agent.anchor.map(|anchor| anchor.pid),
            ambiguous: agent.ambiguous.iter().map(ToString::to_string).collect(),
            explain: if self.explain { agent.attempts } else { Vec::new() },
        })
    }
}

impl Show for Agent {
    fn show(&self, text: &mut Text) {
        let provisional = if self.provisional { " (the harness session id is not known yet)" } else { "" };
        text.line(format_args!("{}{provisional}", self.agent_id));
        if !self.ambiguous.is_empty() {
            text.line(format_args!("could also be {}", self.ambiguous.join(", ")));
        }
        for Attempt { rank, source, found, used } in &self.explain {
            let found = found.as_ref().map_or_else(|| "-".to_owned(), |found| quote(found));
            let used = if *used { "  <- used" } else { "" };
            text.line(format_args!("{rank:<2} {source}: {found}{used}"));
        }
    }
}
