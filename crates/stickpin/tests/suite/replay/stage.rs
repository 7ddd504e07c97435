//! A host with the simulated device, a folder, and scripts in it.

use std::path::PathBuf;
use std::sync::Arc;
use stickpin_backend_sim::SimProvider;
use stickpin_device::Provider;
use stickpin_kernel::{Caller, CancellationToken, Format, Host, Render, Request, Response};
use stickpin_replay::{AdScriptWriter, Plan, RunOptions, RunResult, Vars, read_script};

pub(crate) struct Stage {
    runtime: tokio::runtime::Runtime,
    host: Host,
    sim: Arc<SimProvider>,
    folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(Vec::new())
    }

    /// Creates a host with additional devices.
    pub(crate) fn with(mut others: Vec<Arc<dyn Provider>>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let sim = Arc::new(SimProvider::new());
        others.insert(0, sim.clone());
        let host = Host::builder(folder.path().join("state"))
            .providers(others)
            .script_writer(Arc::new(AdScriptWriter));
        let host = host.build().expect("a host");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { runtime, host, sim, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("it can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("it can be read")
    }

    fn caller(&self) -> Caller {
        Caller {
            cwd: self.folder.path().to_owned(),
            key: "test".to_owned(),
            own_session: "flow".to_owned(),
            ..Caller::default()
        }
    }

    /// Runs a command line.
    pub(crate) fn call(&self, line: &str) -> Response {
        let words = split(line);
        let read = stickpin_cmdline::parse(&words).unwrap_or_else(|e| panic!("{line}: {e}"));
        let request = Request {
            command: read.entry.spec.name.to_owned(),
            input: read.input,
            session: None,
            caller: self.caller(),
            render: Render { format: Format::Both, ..Render::default() },
            ..Request::default()
        };
        self.runtime.block_on(self.host.call(request, CancellationToken::new()))
    }

    pub(crate) fn ok(&self, line: &str) -> Response {
        let response = self.call(line);
        assert!(response.ok, "{line}: {:?}", response.error);
        response
    }

    pub(crate) fn replay(&self, file: &str) -> RunResult {
        self.replay_with(file, &Vars::default(), false)
    }

    /// Replays a script without a `close` at its end, so that the app's log can be read.
    pub(crate) fn replay_keeping(&self, file: &str) -> RunResult {
        self.replay_with(file, &Vars::default(), true)
    }

    pub(crate) fn replay_with(&self, file: &str, vars: &Vars, keep_session: bool) -> RunResult {
        let plan = Plan::read(&self.path(file), vars, &read_script).unwrap_or_else(|e| panic!("{file}: {e}"));
        let options = RunOptions {
            wait: std::time::Duration::from_millis(300),
            keep_session,
            ..RunOptions::new(self.caller())
        };
        self.runtime.block_on(stickpin_replay::run(&plan, &self.host, &options, &mut |_| {}))
    }

    /// Returns the input that the app received: event and element.
    pub(crate) fn received(&self) -> Vec<(String, String)> {
        let probe = self.sim.probe("flow");
        let all = probe.map(|probe| probe.received()).unwrap_or_default();
        all.into_iter().map(|r| (r.event.to_string(), r.element.to_string())).collect()
    }
}

/// Splits a line into words; single quotes enclose words that contain spaces.
fn split(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .map(str::to_owned)
        .collect()
}
