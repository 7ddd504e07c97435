//! `session restore`: reopens a session that lost its app.

use crate::commands::prelude::*;
use crate::commands::read::get::page;
use crate::commands::session::open::{Open, OpenOutput, options};
use crate::host::SessionSlot;
use crate::host::queue::Position;
use std::sync::Arc;
use stickpin_coordinator::{ListedChild, ListedSession};
use stickpin_device::{LeavePolicy, Navigation};
use stickpin_session::log::{SessionMeta, StartReason};
use stickpin_tree::bare_url;

/// The maximum time that the app may take to start.
const LIMIT: Duration = Duration::from_secs(20);

/// The maximum time to wait for an open app to respond. A slower app does not count as lost.
const PROBE: Duration = Duration::from_millis(500);

/// Reopen a session whose app was lost to a kill, a crash or a reboot.
///
/// Starts the same app with the same options, at the last address. Members, the turn and the log
/// are kept. Earlier refs have ended.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionRestore {
    /// The session; by default that of the caller.
    #[schemars(extend("x-positional" = 0))]
    pub name: Option<String>,
}

/// The outcome of restoring a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRestoreOutput {
    /// Either `already_live`, if the app was open, or `restored`.
    pub action: String,
    /// The name of the session.
    pub session: String,
    /// The number of the lifetime, from 1.
    pub lifetime: u32,
    /// The app that was started, or `None` if the app was open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<OpenOutput>,
    /// What could not be restored from the previous lifetime.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// The child sessions that the session spawned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ListedChild>,
}

impl Command for SessionRestore {
    const SPEC: Spec = Spec {
        name: "session restore",
        effect: Effect::Mutates,
        idempotent: true,
        deadline: Duration::from_secs(60),
        examples: &["stickpin session restore", "stickpin session restore checkout"],
        ..Spec::HOST
    };
    type Output = SessionRestoreOutput;

    async fn run(self, cx: &mut Cx) -> Result<SessionRestoreOutput> {
        cx.select_session(self.name)?;
        let (session, who) = authority::require(cx)?;
        session.touch(&who);
        let (slot, new) = cx.host.slot_or_new(&cx.session_name, &cx.caller.key);
        // A running command proves that the app is alive.
        if !new && slot.status.borrow().running.is_some() {
            return Ok(answer(cx, "already_live", &session.meta()));
        }
        let restored = restore(cx, &slot, &session.meta()).await;
        if cx.open_session().is_err() {
            cx.host.remove(&slot);
        }
        let (opened, lost) = restored?;
        let action = if opened.is_some() { "restored" } else { "already_live" };
        Ok(SessionRestoreOutput { opened, lost, ..answer(cx, action, &session.meta()) })
    }
}

/// Reopens the app of a session, unless the app is still open. Returns the app if it was opened,
/// and what was lost.
async fn restore(
    cx: &mut Cx,
    slot: &Arc<SessionSlot>,
    meta: &SessionMeta,
) -> Result<(Option<OpenOutput>, Vec<String>)> {
    cx.check_out(Arc::clone(slot), Position::Next).await?;
    if is_live(cx).await {
        return Ok((None, Vec::new()));
    }
    let parameters = meta.restorable().map_err(|why| {
        let hint = match &meta.parent {
            Some(parent) => format!("run `stickpin session restore {}`", parent.session),
            None => "open it again with `stickpin open URL`".to_owned(),
        };
        Error::not_restorable(format!("session `{}` cannot be restored: {why}", meta.name))
            .hint(hint)
            .caused_by(why)
    })?;
    let (open, cwd) = Open::of_manifest(parameters)?;
    if let Some(cwd) = cwd {
        cx.caller.cwd = cwd;
    }
    open.check_program(cx)?;
    let options = open.device_options(cx)?;
    let log_is_missing = listed_session(cx, meta)
        .is_some_and(|listed| listed.diagnostics.iter().any(|found| found == "LOG_MISSING"));
    let opened = open.launch(cx, &open.arguments()?, options, StartReason::Restore, Some(LIMIT)).await?;
    let mut lost = vec!["the earlier refs".to_owned(), "unsaved changes in the app".to_owned()];
    if log_is_missing {
        lost.push("the log of the earlier lifetimes, which can no longer be read or replayed".to_owned());
    }
    let provider = cx.host.provider(&open.what)?;
    if open.profile.is_none()
        && !open.attach
        && options::declared_options(&**provider).iter().any(|option| option.name == "profile")
    {
        lost.push("cookies and logins from the temporary profile".to_owned());
    }
    let last = meta.address().filter(|address| *address != open.what && !open.attach);
    if let Some(address) = last
        && let Err(e) = go_back(cx, address).await
    {
        lost.push(format!("the address {}: {}", bare_url(address), e.message));
    }
    Ok((Some(opened), lost))
}

/// Navigates to the last address of the app, if the app is elsewhere and the device can navigate.
async fn go_back(cx: &mut Cx, address: &str) -> Result<()> {
    if !cx.device()?.capabilities().contains(&Capability::Navigate) || page(cx).await?.url == address {
        return Ok(());
    }
    let to = Navigation::To(address.to_owned());
    navigation::navigate(cx, &to, LeavePolicy::Discard).await.map(drop)
}

/// Returns whether the app of the session is open. An app that responds slowly counts as open.
async fn is_live(cx: &mut Cx) -> bool {
    let Ok(live) = cx.open_session() else { return false };
    if live.lost || live.exit_reason().await.is_some() {
        return false;
    }
    match tokio::time::timeout(PROBE, live.device.url()).await {
        Ok(Err(e)) => e.code != ErrorCode::BackendLost,
        // A slow app is not gone.
        Ok(Ok(_)) | Err(_) => true,
    }
}

/// Returns the session as session lists show it; `None` on a host without a coordinator.
fn listed_session(cx: &Cx, meta: &SessionMeta) -> Option<ListedSession> {
    let coordinator = cx.host.config.coordinator.as_ref();
    coordinator.map(|coordinator| coordinator.listed(&meta.name, None, &[meta.name.clone()].into()))
}

fn answer(cx: &Cx, action: &str, meta: &SessionMeta) -> SessionRestoreOutput {
    SessionRestoreOutput {
        action: action.to_owned(),
        session: meta.name.clone(),
        lifetime: meta.lifetime,
        opened: None,
        lost: Vec::new(),
        children: listed_session(cx, meta).map(|listed| listed.children.sessions).unwrap_or_default(),
    }
}

impl Show for SessionRestoreOutput {
    fn show(&self, text: &mut Text) {
        match &self.opened {
            None => text.line(format_args!("session {} is open", self.session)),
            Some(opened) => {
                text.line(format_args!("restored {} · session {}", opened.label, self.session));
                text.line(format_args!("lost: {}", self.lost.join("; ")));
            }
        }
    }
}
