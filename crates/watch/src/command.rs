//! The `watch` command, from its arguments to its end.

use crate::acts;
use crate::board::Board;
use crate::feed;
use crate::gate::{Gate, Role};
use crate::remote::Remote;
use crate::routes::Site;
use crate::server;
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use stickpin_client::{Call, ClientCommand, Progress};
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::{Effect, Response, Result, Show, Spec, Text};
use tokio::net::TcpListener;

/// Show a session on a page in your browser: picture, refs, outline, calls and past steps.
///
/// Prints a link that works once, and serves the page until you interrupt the command. You can only
/// watch until you take the session on the page; then you can press and type on the picture, with
/// the same checks as an agent's commands.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The session; by default your own.
    #[schemars(extend("x-positional" = 0, "x-placeholder" = "NAME"))]
    name: Option<String>,
    /// The port on 127.0.0.1; by default a free one.
    #[schemars(extend("x-placeholder" = "PORT"))]
    port: Option<u16>,
}

static DEFINITION: CommandDefinition = CommandDefinition::of::<Arguments>(Spec {
    name: "watch",
    effect: Effect::Reads,
    examples: &["stickpin watch", "stickpin watch shop --port 8090"],
    ..Spec::HOST
});

#[derive(Debug)]
pub(crate) struct Watch;

/// A session that was watched.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Watched {
    /// The session.
    session: String,
}

impl Show for Watched {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("the page for session {} is closed", self.session));
    }
}

#[async_trait]
impl ClientCommand for Watch {
    fn definition(&self) -> &'static CommandDefinition {
        &DEFINITION
    }

    fn serves(&self) -> bool {
        true
    }

    async fn run(&self, input: Map<String, Value>, call: Call) -> Response {
        let watched = watch(input, &call).await;
        Response::outside_host(&DEFINITION, &call.render, watched)
    }
}

async fn watch(input: Map<String, Value>, call: &Call) -> Result<Watched> {
    let Arguments { name, port } = DEFINITION.read(input)?;
    let remote = Remote::new(call, name);
    let board = Arc::new(Board::new(&remote.session));
    let cursor = feed::begin(&board, &remote).await?;

    let port = port.unwrap_or(0);
    let failed = |e: std::io::Error| feed::cannot_listen(port, &e);
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.map_err(failed)?;
    let gate = Arc::new(Gate::new(listener.local_addr().map_err(failed)?));
    let link = gate.invite(Role::Operator);
    let line = format!("session {}: {link}", remote.session);
    // The send fails only if nobody is listening.
    let _ = call.progress.send(Progress { done: 0, total: 0, line, lasting: true, part: None });

    let site = Site { gate, board: Arc::clone(&board), remote: remote.parallel() };
    let (frames, events) = (remote.parallel(), remote.parallel());
    tokio::select! {
        () = server::serve(&listener, move |request| site.clone().answer(request)) => {}
        () = feed::take_frames(&board, &frames) => {}
        () = feed::follow_events(&board, &events, cursor) => {}
        () = call.cancel.cancelled() => {}
    }
    if board.session().mine {
        let released = acts::release(&remote.until_the_end(), "the watch page was closed", "").await;
        if let Some(error) = released.error {
            return Err(error);
        }
    }
    Ok(Watched { session: remote.session })
}
