//! `close`: ends a session.

use crate::command::args::Given;
use crate::commands::prelude::*;
use crate::commands::session::record::{Saved, enter_if_open, forget, mended, save};

/// Close the session and its app.
///
/// Everything started for the session ends with it: browser, profile and refs. Does not wait for
/// other commands.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Close {
    /// Close all sessions of this state directory, including those of other callers.
    #[serde(default)]
    pub all: bool,
    /// Write the recording as a script first.
    #[schemars(extend("x-value" = "optional", "x-path" = "written", "x-placeholder" = "FILE"))]
    pub save: Option<Given<String>>,
}

/// The sessions that were closed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Closed {
    /// The names of the sessions.
    pub sessions: Vec<String>,
    /// The script that was written (`--save`).
    #[serde(flatten)]
    pub saved: Option<Saved>,
}

impl Command for Close {
    const SPEC: Spec = Spec {
        name: "close",
        idempotent: true,
        effect: Effect::Mutates,
        examples: &["stickpin close", "stickpin close --save=login.ad", "stickpin close --all"],
        ..Spec::HOST
    };
    type Output = Closed;

    async fn run(self, cx: &mut Cx) -> Result<Closed> {
        let save_to = self.save.clone().and_then(Given::wanted);
        let recorded =
            !self.all && cx.host.desk(cx.session_name()).is_ok_and(|desk| desk.status.borrow().recorded);
        if self.all && save_to.is_some() {
            return Err(Error::invalid_args(
                "`save` applies to one session and cannot be combined with `all`",
            )
            .hint("close each recorded session with `stickpin close --save`"));
        }
        let mut saved = None;
        if save_to.is_some() || recorded {
            enter_if_open(cx).await?;
            // A repaired script is always written: whoever started the repair asked for it.
            if save_to.is_some() || mended(cx) {
                let path = save_to.flatten().map(|path| cx.path(&path));
                saved = Some(save(cx, path, true)?);
            } else if cx.live().is_ok() {
                forget(cx)?;
                cx.warn(format!("{}: the recording was not written.", cx.session_name()));
            }
            cx.leave();
        }
        let desks = match (self.all, cx.host.desk(cx.session_name())) {
            (true, _) => cx.host.all_desks(),
            (false, Ok(desk)) => vec![desk],
            // The session was lost earlier, but its recording is saved.
            (false, Err(e)) if saved.is_some() => {
                cx.warn(format!("{}.", e.message));
                Vec::new()
            }
            (false, Err(e)) => return Err(e),
        };
        let mut sessions = Vec::new();
        for desk in desks {
            if self.all && desk.status.borrow().recorded {
                let name = &desk.name;
                cx.warn(format!(
                    "{name}: the recording was not written; `stickpin --session {name} record stop` still writes it."
                ));
            }
            if let Err(e) = cx.host.close(&desk).await {
                cx.warn(format!("{}: {e}.", desk.name));
            }
            sessions.push(desk.name.clone());
            if !self.all {
                cx.desk = Some(desk);
            }
        }
        Ok(Closed { sessions, saved })
    }
}

impl Show for Closed {
    fn show(&self, text: &mut Text) {
        match self.sessions.as_slice() {
            [] if self.saved.is_some() => {}
            [] => text.line("no session is open"),
            names => text.line(format_args!("closed {}", names.join(", "))),
        }
        if let Some(saved) = &self.saved {
            saved.show(text);
        }
    }
}
