//! The provider of simulated apps, with probes for tests.

use crate::app::expr::Expr;
use crate::app::nav::HistoryChange;
use crate::app::sim::Sim;
use crate::device::SimDevice;
use crate::input_log::{InputLog, ReceivedInput};
use crate::library;
use crate::options::Options;
use crate::shared_app::{SharedApp, millis};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use stickpin_device::{
    Capability, Check, Device, DeviceEntry, DeviceInfo, Error, FieldSchema, OpenRequest, Provider, Result,
    SettleRequest, Viewport,
};
use stickpin_tree::Handle;

/// Opens apps that are written as data: `sim:shop`, `sim:/path/to/app.toml`.
#[derive(Debug, Default)]
pub struct SimProvider {
    /// The running apps, by session.
    running: Mutex<HashMap<String, Weak<SharedApp>>>,
}

/// The capabilities of the device.
pub(crate) const CAPABILITIES: &[Capability] = &[
    Capability::Capture,
    Capability::Locate,
    Capability::Press,
    Capability::LongPress,
    Capability::Hover,
    Capability::Drag,
    Capability::Fill,
    Capability::Type,
    Capability::Key,
    Capability::Select,
    Capability::Scroll,
    Capability::History,
    Capability::Reload,
    Capability::Navigate,
    Capability::Screenshot,
    Capability::Dialogs,
    Capability::Html,
    Capability::Attrs,
    Capability::Settle,
    Capability::Tabs,
    Capability::GuardContext,
];

/// The default viewport.
const VIEWPORT: (u32, u32) = (1280, 800);

/// The options of `open` on a simulated device.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SimOptions {
    /// The size of the viewport; 1280x800 by default.
    viewport: Option<Viewport>,
}

impl SimProvider {
    /// Creates a provider with nothing open.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn register_app(&self, session: String, shared: &Arc<SharedApp>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|_, shared| shared.strong_count() > 0);
        running.insert(session, Arc::downgrade(shared));
    }

    /// Returns a probe of the app that a session drives; `None` if the session drives no simulated
    /// app. Tests use a probe because they must not rely on the device's own responses.
    #[must_use]
    pub fn probe(&self, session: &str) -> Option<Probe> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Probe { shared: running.get(session)?.upgrade()? })
    }
}

/// A side channel into a running app.
#[derive(Debug, Clone)]
pub struct Probe {
    shared: Arc<SharedApp>,
}

impl Probe {
    /// Returns the inputs that the app received, oldest first.
    #[must_use]
    pub fn received(&self) -> Vec<ReceivedInput> {
        self.shared.lock().input_log.received.clone()
    }

    /// Returns what the app currently considers a handle's element to be, as its control and
    /// record. Returns `None` if the element is gone, or if handles are valid only for one capture.
    #[must_use]
    pub fn truth_of(&self, handle: Handle) -> Option<String> {
        let sim = self.shared.lock();
        let at = crate::capture::find(&sim, &crate::capture::Addresses::default(), handle)?;
        Some(sim.dom().nodes[sim.control(at)].truth.clone())
    }

    /// Returns the value of a variable of the app as text; empty if it is not set.
    #[must_use]
    pub fn variable(&self, name: &str) -> String {
        self.shared.lock().state.vars.get(name).map(ToString::to_string).unwrap_or_default()
    }

    /// Returns the milliseconds since the app was opened.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.shared.lock().state.now_ms
    }

    /// Advances a virtual clock.
    pub fn advance(&self, by: Duration) {
        let mut sim = self.shared.lock();
        let to = sim.state.now_ms + millis(by);
        sim.advance_to(to);
        drop(sim);
        self.shared.changed.notify_waiters();
    }

    /// Runs statements of the app language as if the app had run them: `shuffle`, `remove(rows,
    /// it.id == 'a')`.
    ///
    /// # Errors
    /// Returns a description of the error in the statements.
    pub fn run(&self, statements: &str) -> std::result::Result<(), String> {
        let script = Expr::script(statements)?;
        let mut sim = self.shared.lock();
        sim.run(&script, &[].into());
        sim.refresh();
        drop(sim);
        self.shared.changed.notify_waiters();
        Ok(())
    }
}

#[async_trait]
impl Provider for SimProvider {
    fn kind(&self) -> &'static str {
        "sim"
    }

    fn open_options(&self) -> &'static FieldSchema {
        static OPTIONS: FieldSchema = FieldSchema::of::<SimOptions>();
        &OPTIONS
    }

    fn claims(&self, what: &str) -> bool {
        what.starts_with("sim:")
    }

    async fn open(&self, request: OpenRequest) -> Result<Box<dyn Device>> {
        let request = request.read_options::<SimOptions>()?;
        let options = Options::parse(&request.what)
            .map_err(|e| Error::invalid_args(e).hint("run, for example, `stickpin open sim:shop`"))?;
        options.check_reachable(request.file_roots.as_deref())?;
        let app = library::load(&options.app)?;
        let truth = InputLog::to_file(options.log.as_deref())
            .map_err(|e| Error::io(format!("cannot write the log of {}: {e}", request.what)))?;
        let path = options.path.clone().unwrap_or_else(|| app.start.clone());
        let info = DeviceInfo::new("sim", format!("sim:{}", app.name), options.grade);
        let viewport = request.options.viewport.map_or(VIEWPORT, Into::into);
        tracing::debug!(app = app.name, grade = ?options.grade, "opening");
        let mut sim = Sim::new(app, options, viewport, truth);
        sim.navigator().request_navigation(&path, HistoryChange::Push)?;
        let shared = Arc::new(SharedApp::new(sim));
        self.register_app(request.session, &shared);
        let mut device = SimDevice::new(info, shared, request.file_roots);
        let arrival = SettleRequest::new(Duration::from_millis(150), request.ready_timeout);
        device.info.arrival = device.settle(arrival, &request.cancel).await?;
        Ok(Box::new(device))
    }

    fn installed_apps(&self) -> Vec<String> {
        library::names().map(|name| format!("sim:{name}")).collect()
    }

    async fn devices(&self) -> Result<Vec<DeviceEntry>> {
        library::names()
            .map(|name| {
                let app = library::load(name)?;
                let title = if app.about.is_empty() { app.title.clone() } else { app.about.clone() };
                Ok(DeviceEntry::new(format!("sim:{name}"), title))
            })
            .collect()
    }

    fn capabilities(&self) -> &'static [Capability] {
        CAPABILITIES
    }

    async fn doctor(&self) -> Vec<Check> {
        library::names()
            .map(|name| {
                let loaded = library::load(name);
                let found = loaded.as_ref().map_or_else(ToString::to_string, |a| a.about.clone());
                Check::new(format!("sim:{name}"), loaded.is_ok(), found, "")
            })
            .collect()
    }

    async fn sweep(&self, _state_dir: &Path) -> Result<Vec<String>> {
        // Nothing outlives the process that runs an app.
        Ok(Vec::new())
    }
}
