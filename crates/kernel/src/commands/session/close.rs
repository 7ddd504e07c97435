//! `close`: ends a session.

use crate::command::args::OptionalValue;
use crate::commands::prelude::*;
use crate::commands::session::record::{
    RecordStopOutput, check_out_if_open, end_recording, has_repaired, save,
};

/// Close the session and its app.
///
/// Everything started for the session ends with it: browser, temporary profile and refs. Does not
/// wait for other commands, unless the session is being recorded.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Close {
    /// Close all sessions of this state directory, including those of other callers.
    pub all: bool,
    /// Close a session that others hold or drive.
    pub force: bool,
    /// Write the recording as a script first.
    #[schemars(extend("x-value" = "optional", "x-path" = "written", "x-placeholder" = "FILE"))]
    pub save: Option<OptionalValue<PathArg>>,
}

/// The sessions that were closed, and what ended with them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CloseOutput {
    /// The names of the sessions.
    pub sessions: Vec<String>,
    /// The loans that ended with the sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reclaimed: Vec<String>,
    /// The script that was written, for `--save` or because scripts were repaired.
    #[serde(flatten)]
    pub saved: Option<RecordStopOutput>,
}

impl Command for Close {
    const SPEC: Spec = Spec {
        name: "close",
        idempotent: true,
        effect: Effect::Mutates,
        examples: &["stickpin close", "stickpin close --save=login.ad", "stickpin close --all"],
        ..Spec::HOST
    };
    type Output = CloseOutput;

    async fn run(self, cx: &mut Cx) -> Result<CloseOutput> {
        let save_to = self.save.clone().and_then(OptionalValue::requested);
        let recorded =
            !self.all && cx.host.slot(cx.session_name()).is_ok_and(|slot| slot.status.borrow().recorded);
        if self.all && save_to.is_some() {
            return Err(Error::invalid_args(
                "`save` applies to one session and cannot be combined with `all`",
            )
            .hint("close each recorded session with `stickpin close --save`"));
        }
        let path = cx.resolve_optional_path(save_to.as_ref().and_then(Option::as_ref))?;
        let mut saved = None;
        if save_to.is_some() || recorded {
            check_out_if_open(cx).await?;
            // A repaired script is always written: whoever started the repair asked for it.
            if save_to.is_some() || has_repaired(cx)? {
                saved = Some(save(cx, path, true)?);
            } else if cx.open_session().is_ok() {
                end_recording(cx, false)?;
                cx.warn(format!("{}: the recording was not written.", cx.session_name()));
            }
            cx.check_in();
        }
        let slots = match (self.all, cx.host.slot(cx.session_name())) {
            (true, _) => cx.host.all_slots(),
            (false, Ok(slot)) => vec![slot],
            // The session was lost earlier, but its recording is saved.
            (false, Err(e)) if saved.is_some() => {
                cx.warn(format!("{}.", e.message));
                Vec::new()
            }
            (false, Err(e)) if !authority::is_known(cx) => return Err(e),
            (false, Err(_)) => {
                // The app was lost or never started; the session and its turn still end.
                let name = cx.session_name().to_owned();
                let loans = authority::close(cx, &name, self.force).await?;
                let reclaimed = loans.iter().map(ToString::to_string).collect();
                return Ok(CloseOutput { sessions: vec![name], reclaimed, saved });
            }
        };
        let (mut sessions, mut reclaimed) = (Vec::new(), Vec::new());
        let mut refused = None;
        for slot in slots {
            if self.all && slot.status.borrow().recorded {
                let name = &slot.name;
                cx.warn(format!(
                    "{name}: the recording was not written; run `stickpin --session {name} record stop` to write it."
                ));
            }
            let loans = match authority::close(cx, &slot.name, self.force).await {
                Ok(loans) => loans,
                // A session of another caller that may not be closed does not keep this caller's
                // sessions open.
                Err(e) if self.all => {
                    refused.get_or_insert(e);
                    continue;
                }
                Err(e) => return Err(e),
            };
            reclaimed.extend(loans.iter().map(ToString::to_string));
            if let Err(e) = cx.host.close(&slot).await {
                cx.warn(format!("{}: {e}.", slot.name));
            }
            sessions.push(slot.name.clone());
            if !self.all {
                cx.slot = Some(slot);
            }
        }
        match refused {
            Some(e) => {
                if !sessions.is_empty() {
                    cx.warn(format!("Closed {}.", sessions.join(", ")));
                }
                Err(e)
            }
            None => Ok(CloseOutput { sessions, reclaimed, saved }),
        }
    }
}

impl Show for CloseOutput {
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
