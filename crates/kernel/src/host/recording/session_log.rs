//! The session log that a recording is a part of. A host without a coordinator logs nothing else,
//! and keeps the logs of its recorded sessions in its own state directory.

use crate::host::HostInner;
use std::sync::Arc;
use std::time::Instant;
use stickpin_coordinator::{Coordinator, Environment, RecordingLog, Start};
use stickpin_device::{ErrorCode, Result};
use stickpin_session::log::{Arguments, StartReason};
use stickpin_session::turn::{BaseScope, Liveness, Now, Policy};

impl HostInner {
    /// Returns a session's log, as recordings use it; `None` if the session has no log.
    ///
    /// # Errors
    /// Returns errors from the log.
    pub(crate) fn recording_log(&self, name: &str) -> Result<Option<RecordingLog>> {
        if self.config.coordinator.is_none() && !Coordinator::has_session(&self.config.state_dir, name) {
            return Ok(None);
        }
        match self.log_coordinator()?.session(name) {
            Ok(session) => Ok(Some(RecordingLog::new(session))),
            Err(e) if e.code == ErrorCode::SessionNotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Returns a session's log, as recordings use it. Creates the log if the session has none.
    ///
    /// # Errors
    /// Returns errors from the log.
    pub(crate) fn recording_log_or_new(&self, name: &str, platform: &str) -> Result<RecordingLog> {
        if let Some(log) = self.recording_log(name)? {
            return Ok(log);
        }
        let start = Start {
            platform: platform.to_owned(),
            manifest: Arguments::default(),
            policy: Policy::default(),
            targets: Vec::new(),
            base_scope: BaseScope::default(),
        };
        self.log_coordinator()?.begin_lifetime(name, start, StartReason::Open, None).map(RecordingLog::new)
    }

    /// Returns the coordinator that keeps the logs: the configured one, or else one of the host's
    /// own, which does not decide who may act.
    fn log_coordinator(&self) -> Result<&Coordinator> {
        if let Some(coordinator) = self.config.coordinator.as_ref().or_else(|| self.own_coordinator.get()) {
            return Ok(coordinator);
        }
        let (clock, random) = (Arc::clone(&self.config.clock), Arc::clone(&self.config.random));
        let began = Instant::now();
        let now = move || Now {
            mono_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            boot_id: String::new(),
            wall: clock().into(),
        };
        let environment = Environment {
            now: Arc::new(now),
            random: Arc::new(move || (u128::from(random()) << 64) | u128::from(random())),
            liveness: Arc::new(|_| Liveness::Unknown),
            pid: std::process::id(),
        };
        let opened = Coordinator::open(&self.config.state_dir, 0, environment)?;
        Ok(self.own_coordinator.get_or_init(|| opened))
    }
}
