//! `close`: ends a session.

use crate::command::{Command, Effect, Spec};
use crate::cx::Cx;
use crate::error::Result;
use crate::render::{Show, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Close the session and its app.
///
/// What was started for the session ends with it: browser, profile, refs. Does not wait for other commands.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Close {
    /// Close all sessions of this state folder, other callers' too.
    #[serde(default)]
    all: bool,
}

/// What was closed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Closed {
    sessions: Vec<String>,
}

impl Command for Close {
    const SPEC: Spec = Spec {
        name: "close",
        effect: Effect::Mutates,
        examples: &["stickpin close", "stickpin close --all"],
        ..Spec::HOST
    };
    type Output = Closed;

    async fn run(self, cx: &mut Cx) -> Result<Closed> {
        let desks = if self.all { cx.host().all_desks() } else { vec![cx.host().desk(cx.session_name())?] };
        let mut sessions = Vec::new();
        for desk in desks {
            if let Err(e) = cx.host().close(&desk).await {
                cx.warn(format!("{}: {e}.", desk.name));
            }
            sessions.push(desk.name.clone());
            if !self.all {
                cx.desk = Some(desk);
            }
        }
        Ok(Closed { sessions })
    }
}

impl Show for Closed {
    fn show(&self, text: &mut Text) {
        match self.sessions.as_slice() {
            [] => text.line("no session is open"),
            names => text.line(format_args!("closed {}", names.join(", "))),
        }
    }
}
