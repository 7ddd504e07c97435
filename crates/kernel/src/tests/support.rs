//! Shared test support: a host with one fake app, and callers.

use crate::tests::fake::Fake;
use crate::{Caller, Format, Host, Render, Request, Response};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stickpin_session::agent::{AgentKind, Resolution};
use stickpin_session::turn::AgentId;
use tokio_util::sync::CancellationToken;

/// A host, a fake, and one caller.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) host: Host,
    pub(crate) fake: Fake,
    pub(crate) caller: Caller,
    _dir: Arc<TempDir>,
}

struct TempDir(std::path::PathBuf);

impl Drop for TempDir {
    fn drop(&mut self) {
        // A test that left nothing behind has nothing to remove.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

static COUNT: AtomicU64 = AtomicU64::new(0);

impl Bench {
    pub(crate) fn new(outline: &str) -> Self {
        let fake = Fake::new(outline);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("stickpin-kernel-{}-{n}", std::process::id()));
        let seed = AtomicU64::new(7);
        let host = Host::builder(&dir)
            .provider(fake.clone())
            .random(move || seed.fetch_add(1, Ordering::Relaxed))
            .build()
            .expect("a host");
        let caller = Caller {
            cwd: dir.clone(),
            home: None,
            key: "me".into(),
            own_session: "mine".into(),
            client: None,
            ..Caller::default()
        };
        Self { host, fake, caller, _dir: Arc::new(TempDir(dir)) }
    }

    /// Opens the app and takes a first snapshot.
    pub(crate) async fn open(outline: &str) -> Self {
        let bench = Self::new(outline);
        bench.ok("open", json!({ "what": "fake:/" })).await;
        bench.ok("snapshot", json!({ "interactive": true })).await;
        bench
    }

    pub(crate) fn request(&self, command: &str, input: Value) -> Request {
        Request {
            input: input.as_object().cloned().unwrap_or_default(),
            render: Render { format: Format::Both, ..Render::default() },
            ..Request::new(command, self.caller.clone())
        }
    }

    pub(crate) async fn call(&self, command: &str, input: Value) -> Response {
        self.host.call(self.request(command, input), CancellationToken::new()).await
    }

    #[track_caller]
    pub(crate) fn ok(&self, command: &str, input: Value) -> impl Future<Output = Response> {
        let at = std::panic::Location::caller();
        async move {
            let response = self.call(command, input).await;
            assert!(response.ok, "{at}: {response:#?}");
            response
        }
    }

    /// Returns the code and the text of a failure.
    #[track_caller]
    pub(crate) fn fails(
        &self,
        command: &str,
        input: Value,
    ) -> impl Future<Output = (&'static str, Response)> {
        let at = std::panic::Location::caller();
        async move {
            let response = self.call(command, input).await;
            let code = response.error.as_ref().map(|e| e.code.name());
            (code.unwrap_or_else(|| panic!("{at}: {response:#?}")), response)
        }
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.fake.world().log.clone()
    }
}

/// Returns an agent that the host knows.
pub(crate) fn agent(id: &str) -> Resolution {
    Resolution {
        agent_id: AgentId::new(id),
        harness: id.split(':').next().unwrap_or_default().to_owned(),
        kind: AgentKind::Harness,
        provisional: false,
        aliases: Vec::new(),
        anchor: None,
        ambiguous: Vec::new(),
        replaces: Vec::new(),
        attempts: Vec::new(),
    }
}

/// Returns the text of a response.
pub(crate) fn text(response: &Response) -> &str {
    response.text.as_deref().unwrap_or("")
}
