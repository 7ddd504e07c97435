//! Finding, starting and attaching to apps.

mod app_dirs;
pub(crate) mod config;
mod desktop;
mod doctor;
mod installed;
mod launch;

use crate::app::{LinuxDevice, app_lost, capture};
use crate::bus::{AccessibilityBus, BusError, Link, RegisteredApp};
use crate::events::AppEvents;
use crate::opening::{Opening, log_cleanup_error};
use crate::screen::Screen;
use async_trait::async_trait;
use config::{LinuxOptions, PREFIX, QUIET, RUNNING, Request, app_name, no_registry};
use installed::Launch;
use launch::Launched;
use std::path::Path;
use std::sync::Arc;
use stickpin_device::{
    Capability, Check, Device, DeviceEntry, Error, ErrorCode, FieldSchema, Geometry, OpenRequest, Provider,
    Result, SettleRequest, Viewport,
};
use stickpin_process::{DesktopEntry, find_running};
use stickpin_tree::{format_count, quote};
use tokio::process::Child;
use tokio::sync::Mutex;
use tokio::time::Instant;

pub use config::{LinuxConfig, LinuxProvider};

/// The hint for an app that is running but not registered.
const UNHEARD: &str = "Qt apps and browsers that were started while accessibility was off stay unreadable \
                       until they are restarted: close the app, then run `stickpin open linux:APP`; run \
                       `stickpin doctor` to check whether accessibility is on";

impl LinuxProvider {
    /// Opens an app on a screen; ends the screen on failure.
    async fn open_on(
        &self,
        mut screen: Screen,
        launch: Option<&Launch>,
        request: &Request,
        opening: &Opening,
    ) -> Result<Box<dyn Device>> {
        let heard = Arc::new(AppEvents::default());
        let folders = if request.options.attach { None } else { self.dirs(request)?.folders() };
        let reach = self.reach(&screen, &heard, launch, request, opening);
        let (desktop, link, app, child) = match opening.run_step(reach, screen.wait_for_failure()).await {
            Ok(reached) => reached,
            Err(e) => {
                log_cleanup_error(screen.end().await);
                return Err(e);
            }
        };
        let screen = screen.of_process(app.pid);
        let label = if app.title.is_empty() { app_name(&request.what).to_owned() } else { app.title.clone() };
        let mut device =
            LinuxDevice::new(desktop, link, heard, screen, (label, app.pid), Some(&request.what));
        device.app.child = Mutex::new(child);
        device.app.folders = folders;
        let arrival = SettleRequest::new(QUIET, request.ready_timeout);
        let ready = async {
            // On a busy machine, the app may not respond for a while; even the first capture may
            // time out.
            loop {
                let arrived = async {
                    device.app.info.arrival = device.settle(arrival, &request.cancel).await?;
                    capture::capture_app(&mut device, &[]).await
                };
                match arrived.await {
                    Err(e) if e.code == ErrorCode::Timeout && opening.is_in_time() => {}
                    arrived => break drop(arrived?),
                }
            }
            let Some(Viewport(width, height)) = request.options.viewport else { return Ok(()) };
            device.resize(width, height).await
        };
        if let Err(e) = ready.await {
            log_cleanup_error(device.close().await);
            return Err(e);
        }
        Ok(Box::new(device))
    }

    /// Finds or starts the app and connects to it. Returns its process if it was started.
    async fn reach(
        &self,
        screen: &Screen,
        heard: &Arc<AppEvents>,
        launch: Option<&Launch>,
        request: &Request,
        opening: &Opening,
    ) -> Result<(AccessibilityBus, Link, RegisteredApp, Option<Child>)> {
        let until = opening.until;
        let listener = Arc::clone(heard);
        let hear = Box::new(move |message: &_| listener.handle_signal(message));
        let desktop = self.bus(&self.addresses_on(screen), hear, until).await?;
        let (app, child) = match launch {
            None => (self.running(&desktop, app_name(&request.what), until).await?, None),
            Some(launch) => match self.launch(&desktop, screen, launch, request, until).await? {
                Launched::Registered(app, child) => (app, Some(child)),
                Launched::Inaccessible(app) => return Err(app.error(&request.what, screen.own)),
            },
        };
        let silent = |fault: BusError| app_lost(&format!("{} does not respond: {fault}", quote(&app.title)));
        heard.state().app.clone_from(&app.bus);
        desktop.listen(&app.bus, until).await.map_err(silent)?;
        let link = Link::to(&desktop, &app.bus, until).await.map_err(silent)?;
        Ok((desktop, link, app, child))
    }

    /// Returns the running app with this title, process id or bus name.
    async fn running(&self, desktop: &AccessibilityBus, name: &str, until: Instant) -> Result<RegisteredApp> {
        let running = desktop.running(until).await.map_err(no_registry)?;
        let is = |app: &&RegisteredApp| {
            app.bus == name
                || app.pid.is_some_and(|pid| pid.to_string() == name)
                || app.title.eq_ignore_ascii_case(name)
        };
        let found: Vec<&RegisteredApp> = running.iter().filter(is).collect();
        if let [app] = found[..] {
            return Ok(app.clone());
        }
        if !found.is_empty() {
            let attach = |app: &&RegisteredApp| {
                let app = app.pid.map_or_else(|| app.bus.clone(), |pid| pid.to_string());
                format!("`stickpin open --attach {PREFIX}{app}`")
            };
            let all: Vec<String> = found.iter().map(attach).collect();
            return Err(Error::ambiguous_match(format!("several apps are named {}", quote(name)))
                .hint(format!("run {}", all.join(" or "))));
        }
        Err(match find_running(name).map(|(pid, program)| (pid, quote(&program))) {
            Some((pid, program)) => Error::device_not_found(format!(
                "process {pid} ({program}) is running, but is not on the accessibility bus"
            ))
            .hint(UNHEARD),
            None => Error::device_not_found(format!(
                "no running app has the name or process id {}",
                quote(name)
            ))
            .hint("run `stickpin devices` to list the running apps, or omit `--attach` to start the app"),
        })
    }
}

#[async_trait]
impl Provider for LinuxProvider {
    fn kind(&self) -> &'static str {
        "linux"
    }

    fn open_options(&self) -> &'static FieldSchema {
        static OPTIONS: FieldSchema = FieldSchema::of::<LinuxOptions>();
        &OPTIONS
    }

    fn claims(&self, what: &str) -> bool {
        what.starts_with(PREFIX)
    }

    fn starts_program(&self, what: &str) -> bool {
        let name = app_name(what);
        name != desktop::NAME && !installed::is_installed(name, &self.config.data)
    }

    fn installed_apps(&self) -> Vec<String> {
        DesktopEntry::ids(&self.config.data).into_iter().map(|id| format!("{PREFIX}{id}")).collect()
    }

    async fn open(&self, request: OpenRequest) -> Result<Box<dyn Device>> {
        let request = request.read_options()?;
        if app_name(&request.what) == desktop::NAME {
            return desktop::open(self, &request).await;
        }
        // Check the folders before anything is started.
        let dirs = self.dirs(&request)?;
        let find = || installed::find(app_name(&request.what), &self.config, &dirs.cwd);
        let launch = (!request.options.attach).then(find).transpose()?;
        let opening = Opening::begin(&request.cancel);
        let screen = self.screen(&request, &opening).await?;
        self.open_on(screen, launch.as_ref(), &request, &opening).await
    }

    async fn devices(&self) -> Result<Vec<DeviceEntry>> {
        // Without a desktop, there is nothing to open.
        let until = Instant::now() + RUNNING;
        let desktop = self.bus(&self.addresses(), Box::new(|_| {}), until).await;
        let Ok(desktop) = desktop else { return Ok(Vec::new()) };
        let running = desktop.running(until).await.map_err(no_registry)?;
        let shown: Vec<RegisteredApp> = running.into_iter().filter(|app| app.windows != Some(0)).collect();
        let all = match shown.len() {
            0 => "the whole desktop, with no app windows".to_owned(),
            count => format!("the whole desktop, with {}", format_count(count, "app")),
        };
        let desktop = DeviceEntry::new(format!("{PREFIX}{}", desktop::NAME), all);
        let apps = shown.into_iter().map(|app| {
            let windows = match app.windows {
                Some(count) => format_count(count, "window"),
                None => "does not respond".to_owned(),
            };
            let name = app.pid.map_or_else(|| app.bus.clone(), |pid| pid.to_string());
            DeviceEntry::new(format!("--attach {PREFIX}{name}"), format!("{} ({windows})", app.title))
        });
        Ok(std::iter::once(desktop).chain(apps).collect())
    }

    fn capabilities(&self) -> &'static [Capability] {
        crate::limits::CAPABILITIES
    }

    async fn doctor(&self) -> Vec<Check> {
        doctor::checks(self).await
    }

    async fn sweep(&self, state_dir: &Path) -> Result<Vec<String>> {
        let dir = state_dir.to_owned();
        let swept = tokio::task::spawn_blocking(move || stickpin_process::sweep(&dir)).await;
        let swept = swept.map_err(|e| Error::internal(e.to_string()))?;
        swept.map_err(|e| stickpin_device::io_error("sweep", state_dir, &e))
    }
}
