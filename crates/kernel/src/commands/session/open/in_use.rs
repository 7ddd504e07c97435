//! Checks whether another session drives the app that `open` would attach to, or uses the profile
//! that `open` names.

use super::Open;
use crate::commands::prelude::*;
use crate::host::SessionSlot;
use serde_json::json;
use std::sync::Arc;
use stickpin_session::log::Status;
use stickpin_session::turn::AgentId;

impl Open {
    /// Refuses an app or a profile that another open session is using. A session that starts an app
    /// of its own does not share that app with any other session.
    ///
    /// # Errors
    /// Returns `DEVICE_IN_USE`, which names the session and the owner of its turn, and the errors
    /// of [`Cx::resolve_path`].
    pub(super) fn refuse_device_in_use(&self, cx: &Cx) -> Result<()> {
        let Some(coordinator) = &cx.host.config.coordinator else { return Ok(()) };
        let profile = cx.resolve_optional_path(self.profile.as_ref())?;
        if !self.attach && profile.is_none() {
            return Ok(());
        }
        for other in cx.host.all_slots().iter().filter(|other| other.name != cx.session_name) {
            let Ok((meta, _)) = coordinator.meta(&other.name) else { continue };
            let Some((theirs, _)) =
                meta.restorable().ok().and_then(|manifest| Self::of_manifest(manifest).ok())
            else {
                continue;
            };
            let has_app = self.attach && theirs.attach && self.what.eq_ignore_ascii_case(&theirs.what);
            let their_profile = theirs.profile.as_ref().map(PathArg::as_written);
            let has_profile = profile.as_ref().is_some_and(|profile| their_profile == profile.to_str());
            if meta.status != Status::Open || !(has_app || has_profile) {
                continue;
            }
            let what = if has_app { quote(&self.what).to_string() } else { "this profile".to_owned() };
            return Err(in_use(&what, &other.name, meta.turn.owner.as_ref()));
        }
        Ok(())
    }

    /// Refuses to attach to an app that another session is using. The app is identified by its
    /// process, because app names are not unique.
    pub(super) fn refuse_process_in_use(&self, cx: &Cx, pid: Option<u32>) -> Result<()> {
        let Some(coordinator) = &cx.host.config.coordinator else { return Ok(()) };
        let Some(pid) = pid.filter(|_| self.attach) else { return Ok(()) };
        let others = cx.host.all_slots();
        let has_it = |other: &&Arc<SessionSlot>| {
            other.name != cx.session_name && other.status.borrow().pid == Some(pid)
        };
        let Some(other) = others.iter().find(has_it) else { return Ok(()) };
        let holder = coordinator.meta(&other.name).ok().and_then(|(meta, _)| meta.turn.owner);
        Err(in_use(&format!("process {pid}"), &other.name, holder.as_ref()))
    }
}

fn in_use(what: &str, session: &str, holder: Option<&AgentId>) -> Error {
    let held = holder.map_or_else(String::new, |holder| format!(" (its turn is held by {holder})"));
    Error::device_in_use(format!("{what} is in use by session `{session}`{held}; nothing was opened"))
        .hint(format!("use that session, or run `stickpin --session {session} close` first"))
        .details(json!({ "session": session, "holder": holder }))
}
