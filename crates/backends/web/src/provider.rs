//! Finding a browser and opening pages in it.

use crate::cdp::protocol as cdp;
use crate::device::WebDevice;
use crate::events::Recorder;
use crate::launch::{Browser, Launch};
use crate::state::Shared;
use crate::tab::{Tab, lost};
use serde_json::json;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use stickpin_kernel::device::OpenRequest;
use stickpin_kernel::{Error, ErrorCode, Result};
use tokio::time::timeout;

/// How long a fresh browser may take to show its first, empty tab.
const FIRST_TAB: Duration = Duration::from_secs(20);

/// What the binary says about browsers; nothing here reads the environment.
#[derive(Debug, Clone, Default)]
pub struct WebConfig {
    /// The program to start and none other (`STICKPIN_CHROMIUM`).
    pub chromium: Option<PathBuf>,
    /// Where else to look for one: the value of `PATH`.
    pub path: Option<OsString>,
    /// Start it without its sandbox although we are not root.
    pub no_sandbox: bool,
}

/// Chromium and its relatives.
#[derive(Debug, Clone, Default)]
pub struct WebProvider {
    pub(crate) config: WebConfig,
}

impl WebProvider {
    /// A provider that starts browsers as `config` says.
    #[must_use]
    pub fn new(config: WebConfig) -> Self {
        Self { config }
    }

    /// Starts a browser that shows an empty tab.
    ///
    /// # Errors
    /// `TOOL_MISSING`, `BACKEND_LOST`, `IO`.
    pub async fn start(&self, request: &OpenRequest) -> Result<WebDevice> {
        let program = crate::find::chromium(self.config.chromium.as_deref(), self.config.path.as_deref())?;
        let shared = Arc::new(Shared::new());
        let launch = Launch {
            program: &program,
            dir: &request.dir,
            profile: request.profile.as_deref(),
            headed: request.headed,
            window: request.viewport,
            no_sandbox: self.config.no_sandbox,
        };
        let recorder = Recorder { shared: Arc::clone(&shared), downloads: request.dir.join("downloads") };
        let mut browser = launch.start(recorder).await?;
        let first = timeout(FIRST_TAB, first_tab(&browser, &shared, request));
        let failed = match first.await {
            Ok(Ok(tab)) => return Ok(WebDevice::new(browser, tab)),
            Ok(Err(e)) => e,
            Err(_) => lost(&format!("the browser showed no tab within {} s", FIRST_TAB.as_secs())),
        };
        browser.end().await?;
        Err(failed)
    }
}

/// Attaches to everything that there is and will be, and opens the first tab.
async fn first_tab(browser: &Browser, shared: &Arc<Shared>, request: &OpenRequest) -> Result<Tab> {
    let client = &browser.client;
    let refused = |e: crate::cdp::CallError| lost(&format!("the browser refused to be driven: {e}"));
    let downloads = cdp::SetDownloadBehavior {
        behavior: "allow",
        download_path: browser.downloads.display().to_string(),
        events_enabled: true,
    };
    let attach = cdp::SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: true,
        filter: Some(vec![json!({"type": "page"}), json!({"type": "iframe"})]),
    };
    let create = cdp::CreateTarget { url: "about:blank".into(), background: Some(!request.headed) };
    let (downloads, attach) = (client.send(None, &downloads), client.send(None, &attach));
    let create = client.send(None, &create);
    downloads.await.map_err(refused)?;
    attach.await.map_err(refused)?;
    let target = create.await.map_err(refused)?.target_id;
    let session = shared
        .until(|state| {
            if let Some(why) = &state.lost {
                return Some(Err(lost(why)));
            }
            state.tabs.iter().find(|(_, tab)| tab.target == target).map(|(session, _)| Ok(session.clone()))
        })
        .await?;
    let tab = Tab { client: client.clone(), shared: Arc::clone(shared), session };
    if let (Some((width, height)), false) = (request.viewport, request.headed) {
        let metrics = cdp::SetDeviceMetrics { width, height, device_scale_factor: 0.0, mobile: false };
        tab.command(&metrics).await?;
    }
    tab.worlds().await.map_err(Error::from)?;
    if request.cancel.is_cancelled() {
        return Err(Error::new(ErrorCode::Timeout, "opening was cancelled"));
    }
    Ok(tab)
}
