//! Finds a browser and opens pages in it.

use crate::browser_state::SharedBrowserState;
use crate::device::WebDevice;
use crate::events::Recorder;
use crate::find::{check_version, install_hint};
use crate::launch::{Browser, Launch};
use crate::{address, file_gate, tabs};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{
    Capability, Check, Device, DeviceEntry, Error, ErrorCode, FieldSchema, LeavePolicy, Navigation,
    Navigator, OpenRequest, Provider, Result, Viewport,
};
use stickpin_devtools::protocol as cdp;
use stickpin_webpage::state::SharedState;
use stickpin_webpage::tab::{Tab, browser_lost};
use stickpin_webpage::text::clip;
use tokio::time::timeout;

/// Timeout for a new browser to show its first, empty tab.
const FIRST_TAB_TIMEOUT: Duration = Duration::from_secs(20);

/// The default viewport: width and height in CSS pixels.
const VIEWPORT: (u32, u32) = (1280, 800);

/// Timeout for a browser to print its version.
const VERSION: Duration = Duration::from_secs(10);

/// The configuration of the provider, passed by the binary; this crate never reads the environment.
#[derive(Debug, Clone, Default)]
pub struct WebConfig {
    /// The only program to start, from `STICKPIN_CHROMIUM`, if set.
    pub chromium: Option<PathBuf>,
    /// The value of `PATH`, which is searched for a browser if `chromium` is `None`.
    pub path: Option<OsString>,
    /// Whether to start the browser without its sandbox even if we are not root.
    pub no_sandbox: bool,
}

/// The options of `open` on the web.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct WebOptions {
    /// Show the browser's window.
    pub headed: bool,
    /// The size of the viewport; 1280x800 by default.
    pub viewport: Option<Viewport>,
    /// A folder that keeps cookies and logins.
    #[schemars(extend("x-path" = "written"))]
    pub profile: Option<PathBuf>,
}

/// The provider for Chromium and related browsers.
#[derive(Debug, Clone, Default)]
pub struct WebProvider {
    pub(crate) config: WebConfig,
}

impl WebProvider {
    /// Creates a provider that starts browsers according to `config`.
    #[must_use]
    pub fn new(config: WebConfig) -> Self {
        Self { config }
    }

    fn program(&self) -> Result<PathBuf> {
        crate::find::find_chromium(self.config.chromium.as_deref(), self.config.path.as_deref())
    }

    /// Starts a browser that shows an empty tab.
    ///
    /// # Errors
    /// Returns `TOOL_MISSING` when no suitable browser is found, and `BACKEND_LOST` when the
    /// browser does not start or show a tab. Returns `TIMEOUT` when the request is cancelled, and
    /// `IO` when the browser's directories or pipes fail.
    pub async fn start(&self, request: &OpenRequest<WebOptions>) -> Result<WebDevice> {
        let program = self.program()?;
        let shared = Arc::new(SharedState::default());
        let launch = Launch {
            program: &program,
            dir: &request.dir,
            profile: request.options.profile.as_deref(),
            headed: request.options.headed,
            window: request.options.viewport.map(Into::into),
            no_sandbox: self.config.no_sandbox,
        };
        let browser_state = Arc::new(SharedBrowserState::default());
        let recorder = Recorder {
            shared: Arc::clone(&shared),
            browser_state: Arc::clone(&browser_state),
            downloads: request.dir.join("downloads"),
        };
        let mut browser = launch.start(recorder).await?;
        let first = timeout(FIRST_TAB_TIMEOUT, first_tab(&browser, &shared, &browser_state, request));
        let failed = match first.await {
            Ok(Ok(tab)) => return Ok(WebDevice::new(browser, browser_state, tab)),
            Ok(Err(e)) => e,
            Err(_) => {
                browser_lost(&format!("the browser showed no tab within {} s", FIRST_TAB_TIMEOUT.as_secs()))
            }
        };
        browser.end().await?;
        Err(failed)
    }
}

/// Attaches to all current and future page and iframe targets, and opens the first tab.
async fn first_tab(
    browser: &Browser,
    shared: &Arc<SharedState>,
    browser_state: &SharedBrowserState,
    request: &OpenRequest<WebOptions>,
) -> Result<Tab> {
    let client = &browser.client;
    let refused =
        |e: stickpin_devtools::CallError| browser_lost(&format!("the browser could not be set up: {e}"));
    let downloads = cdp::SetDownloadBehavior {
        // Store downloads under their ids: the names that pages suggest are checked first.
        behavior: "allowAndName",
        download_path: browser.downloads.display().to_string(),
        events_enabled: true,
    };
    let attach = cdp::SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: true,
        filter: Some(vec![json!({"type": "page"}), json!({"type": "iframe"})]),
    };
    // Set this before the first target exists, so that no target is ever without its gate.
    browser_state.lock().file_roots.clone_from(&request.file_roots);
    let (downloads, attach) = (client.send(None, &downloads), client.send(None, &attach));
    if !request.options.headed {
        browser_state.lock().viewport = Some(request.options.viewport.map_or(VIEWPORT, Into::into));
    }
    downloads.await.map_err(refused)?;
    attach.await.map_err(refused)?;
    let session = tabs::create(client, shared).await?;
    shared.state().active.clone_from(&session);
    let tab = Tab { client: client.clone(), shared: Arc::clone(shared), session };
    tab.top_world().await?;
    tab.write(|tab| tab.driven = true)?;
    if request.cancel.is_cancelled() {
        return Err(Error::new(ErrorCode::Timeout, "opening the page was cancelled"));
    }
    Ok(tab)
}

/// The capabilities of pages: all of them. This device is the reference for the others.
pub(crate) const CAPABILITIES: &[Capability] = Capability::ALL;

#[async_trait]
impl Provider for WebProvider {
    fn kind(&self) -> &'static str {
        "web"
    }

    fn open_options(&self) -> &'static FieldSchema {
        static OPTIONS: FieldSchema = FieldSchema::of::<WebOptions>();
        &OPTIONS
    }

    fn claims(&self, what: &str) -> bool {
        address::claims(what)
    }

    async fn open(&self, request: OpenRequest) -> Result<Box<dyn Device>> {
        // Parse first: nothing is started for an invalid address.
        let request = request.read_options::<WebOptions>()?;
        file_gate::parse_allowed(&request.what, request.file_roots.as_deref())?;
        let mut device = self.start(&request).await?;
        let to = Navigation::To(request.what.clone());
        match device.web.navigate(&to, LeavePolicy::Discard, request.ready_timeout, &request.cancel).await {
            Ok(arrived) => {
                device.info.arrival = arrived.quiet;
                Ok(Box::new(device))
            }
            Err(error) => {
                device.close().await?;
                Err(error)
            }
        }
    }

    async fn devices(&self) -> Result<Vec<DeviceEntry>> {
        Ok(match self.program() {
            Ok(program) => vec![DeviceEntry::new(
                "http://127.0.0.1:8000/".to_owned(),
                format!("any URL or .html file, opened in {}", program.display()),
            )],
            Err(_) => Vec::new(),
        })
    }

    fn capabilities(&self) -> &'static [Capability] {
        CAPABILITIES
    }

    async fn doctor(&self) -> Vec<Check> {
        let name = "web browser".to_owned();
        let program = match self.program() {
            Ok(program) => program,
            Err(e) => return vec![Check::new(name, false, e.message, e.hint)],
        };
        let mut command = tokio::process::Command::new(&program);
        let version = timeout(VERSION, command.arg("--version").kill_on_drop(true).output()).await;
        let said = match &version {
            Ok(Ok(output)) if output.status.success() => {
                Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
            }
            Ok(Ok(output)) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Ok(Err(e)) => Err(e.to_string()),
            Err(_) => Err(format!("it did not report its version within {} s", VERSION.as_secs())),
        };
        let (ok, said) = match said {
            Ok(said) => match check_version(&said) {
                Ok(()) => (true, said),
                Err(too_old) => (false, too_old.message),
            },
            Err(said) => (false, said),
        };
        let fix = if ok { String::new() } else { install_hint().to_owned() };
        let browser = Check::new(name, ok, format!("{}: {}", program.display(), clip(&said)), fix);
        let root = rustix::process::geteuid().is_root();
        let found = match (root, self.config.no_sandbox) {
            (true, _) => "off: a browser started by root has none",
            (_, true) => "off, as requested",
            _ => "on",
        };
        let sandbox = Check::new("web sandbox", true, found, "");
        vec![browser, sandbox]
    }

    async fn sweep(&self, state_dir: &Path) -> Result<Vec<String>> {
        let state_dir = state_dir.to_owned();
        let swept =
            tokio::task::spawn_blocking(move || (stickpin_process::sweep(&state_dir), state_dir)).await;
        let (swept, state_dir) = swept.map_err(|e| Error::new(ErrorCode::Internal, e.to_string()))?;
        swept.map_err(|e| Error::new(ErrorCode::Io, format!("cannot clean up {}: {e}", state_dir.display())))
    }
}
