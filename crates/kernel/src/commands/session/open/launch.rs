//! Starts an app in a new lifetime of the session.

use super::{DEFINITION, Open, OpenOutput, idle};
use crate::commands::prelude::*;
use crate::host::LIVE;
use crate::host::noticed::Noticed;
use crate::host::open_session::{LifetimeFolder, OpenSession};
use crate::host::screenshots::ClientScreenshots;
use crate::host::watch_state::WatchState;
use serde_json::{Map, Value};
use std::sync::PoisonError;
use stickpin_device::{NavigationResult, OpenRequest};
use stickpin_refs::Generation;
use stickpin_session::log::StartReason;
use stickpin_session::{Ladder, Session, SessionConfig};

impl Open {
    /// Starts the app in a new lifetime, whose beginning is logged before the app starts. If
    /// `limit` is given, an app that takes longer to start is ended. `given` contains the arguments
    /// as the caller gave them.
    ///
    /// # Errors
    /// Returns `DEVICE_IN_USE` if another session is using the app or the profile,
    /// `RESTORE_TIMEOUT` after the limit, and errors from the log and the device.
    pub(in crate::commands::session) async fn launch(
        &self,
        cx: &mut Cx,
        given: &Map<String, Value>,
        options: Map<String, Value>,
        reason: StartReason,
        limit: Option<Duration>,
    ) -> Result<OpenOutput> {
        let manifest = self.manifest(cx)?;
        let platform = cx.host.provider(&self.what)?.kind();
        let host = cx.host.clone();
        let lifetime = {
            // Of two sessions that attach to one app at the same time, the second sees the first.
            let _opening = host.opening.lock().unwrap_or_else(PoisonError::into_inner);
            self.refuse_device_in_use(cx)?;
            authority::begin_lifetime(cx, &DEFINITION, &manifest, platform, reason)?
        };
        let admitted = lifetime.as_ref().map(|lifetime| lifetime.admission());
        authority::begin(cx, &DEFINITION, admitted, given)?;
        let is_first = lifetime.as_ref().is_none_or(|lifetime| lifetime.is_first());
        let mut opened = match limit {
            None => self.start(cx, options).await,
            Some(limit) => {
                let started = tokio::time::timeout(limit, self.start(cx, options)).await;
                started.unwrap_or_else(|_| Err(restore_timeout_error(&self.what, limit)))
            }
        };
        if let Ok(opened) = &mut opened {
            opened.created = is_first;
        }
        if let Err(e) = &opened {
            authority::end(cx, Some(e), None);
            if let Some(lifetime) = lifetime {
                authority::give_up_lifetime(cx, lifetime);
            }
        }
        opened
    }

    async fn start(&self, cx: &mut Cx, options: Map<String, Value>) -> Result<OpenOutput> {
        let _under_way = cx.begin_operation();
        if let Some(live) = cx.checkout.as_mut().and_then(|l| l.session.take()) {
            // Even a failed shutdown ends the app.
            if let Err(e) = live.close().await {
                cx.warn(format!("{}.", e.message));
            }
        }
        let host = cx.host.clone();
        let lifetime = format!("{:016x}", (host.config.random)());
        // One folder per lifetime: an earlier session of this name may still be ending, and then
        // removes its own folder.
        let folder = format!("{}.{lifetime}", cx.session_name);
        let dir = LifetimeFolder::create(host.config.state_dir.join(LIVE).join(folder))?;
        let mut request =
            OpenRequest::new(&self.what, &cx.session_name, dir.path()).with_options(options.clone());
        request.home.clone_from(&cx.caller.home);
        request.cwd = match (cx.caller.cwd.is_absolute(), &cx.caller.home) {
            (false, Some(home)) => home.clone(),
            _ => cx.caller.cwd.clone(),
        };
        request.file_roots.clone_from(&cx.caller.file_roots);
        (request.ready_timeout, request.cancel) = (navigation::READY_TIMEOUT, cx.cancel.clone());
        let mut device = host.provider(&self.what)?.open(request).await?;
        if let Err(e) = self.refuse_process_in_use(cx, device.info().pid) {
            // An app that was attached to keeps running.
            if let Err(failed) = device.close().await {
                cx.warn(format!("{failed}."));
            }
            return Err(e);
        }
        let idle_timeout = match self.idle_timeout {
            Some(minutes) => idle(minutes),
            None => (!self.headed).then_some(host.config.idle_timeout),
        };
        let mut session = Session::new(SessionConfig {
            lifetime,
            seed: Generation::new(100_000 + (host.config.random)() % 900_000),
            ladder: self.stale_refs.map_or(host.config.ladder, Ladder::from),
            numbers: (host.config.numbers)(&cx.session_name)?,
        });
        if let Some(rule) = self.context {
            session.set_context_policy(rule.into());
        }
        let live = OpenSession {
            what: self.what.clone(),
            device,
            session,
            captured: None,
            page: None,
            options,
            file_roots: cx.caller.file_roots.clone(),
            screenshots: ClientScreenshots::default(),
            dir,
            idle_timeout,
            recorder: None,
            secrets: Vec::new(),
            unfocused: None,
            noticed: Noticed::default(),
            watch: WatchState::default(),
            lost: false,
        };
        host.forget_ending(&cx.session_name);
        let now = (host.config.clock)();
        if let Some(slot) = &cx.slot {
            slot.status.send_modify(|status| status.opened = Some(now));
        }
        if let Some(checkout) = &mut cx.checkout {
            checkout.session = Some(Box::new(live));
        }
        let arrival = cx.device()?.info().arrival.clone();
        OpenOutput::new(cx, NavigationResult::default().quiet(arrival), true)
    }
}

fn restore_timeout_error(what: &str, limit: Duration) -> Error {
    let message = format!("{} did not reopen within {} s and was closed", quote(what), limit.as_secs());
    Error::restore_timeout(message)
        .hint("run `stickpin open URL --relaunch`, which waits longer, or `stickpin doctor` to check the requirements")
}
