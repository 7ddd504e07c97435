//! `session peer`, `session unpeer`: sessions that see each other.

use crate::api::session_name;
use crate::commands::prelude::*;
use stickpin_coordinator::{Coordinator, Participant};

/// Make two sessions peers: each sees the other, and the members of each may message the other.
///
/// A peer gets no scope, no turn and no notification of what the other session does.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionPeer {
    /// A session that you are a member of.
    #[schemars(extend("x-positional" = 0))]
    pub session: String,
    /// The other session.
    #[schemars(extend("x-positional" = 1))]
    pub peer: String,
}

/// Stop two sessions from being peers.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionUnpeer {
    /// A session that you are a member of.
    #[schemars(extend("x-positional" = 0))]
    pub session: String,
    /// The other session.
    #[schemars(extend("x-positional" = 1))]
    pub peer: String,
}

/// Two sessions that became peers, or that stopped being peers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PeersOutput {
    /// Either `peered` or `unpeered`.
    pub status: String,
    /// The caller's session.
    pub a: String,
    /// The other session.
    pub b: String,
}

impl Command for SessionPeer {
    const SPEC: Spec = Spec {
        name: "session peer",
        idempotent: true,
        examples: &["stickpin session peer checkout mail"],
        ..Spec::COORDINATION
    };
    type Output = PeersOutput;

    async fn run(self, cx: &mut Cx) -> Result<PeersOutput> {
        change(cx, self.session, self.peer, "peered", Coordinator::peer)
    }
}

impl Command for SessionUnpeer {
    const SPEC: Spec = Spec {
        name: "session unpeer",
        idempotent: true,
        examples: &["stickpin session unpeer checkout mail"],
        ..Spec::COORDINATION
    };
    type Output = PeersOutput;

    async fn run(self, cx: &mut Cx) -> Result<PeersOutput> {
        change(cx, self.session, self.peer, "unpeered", Coordinator::unpeer)
    }
}

/// Makes two sessions peers, or stops them from being peers.
fn change(
    cx: &mut Cx,
    session: String,
    peer: String,
    status: &str,
    to: fn(&Coordinator, &str, &str, &Participant) -> Result<()>,
) -> Result<PeersOutput> {
    session_name::check(&peer)?;
    cx.select_session(session)?;
    let (coordinator, who) = authority::coordinator(cx)?;
    to(&coordinator, &cx.session_name, &peer, &who)?;
    Ok(PeersOutput { status: status.to_owned(), a: cx.session_name.clone(), b: peer })
}

show_line!(PeersOutput: it => "{} {} and {}", it.status, it.a, it.b);
