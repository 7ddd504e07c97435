//! Finding, starting and attaching to apps.

pub(crate) mod config;
mod desktop;
mod doctor;
mod installed;
mod launch;
mod opening;

use crate::app::{LinuxDevice, app_lost, capture};
use crate::bus::{AccessibilityBus, BusError, Link, RegisteredApp};
use crate::events::AppEvents;
use crate::screen::Screen;
use async_trait::async_trait;
use config::{LinuxOptions, PREFIX, QUIET, RUNNING, app_name, no_registry};
use installed::Launch;
use opening::{Opening, or_clean_up};
use std::path::Path;
use std::sync::Arc;
use stickpin_device::{
    Capability, Check, Device, DeviceEntry, Error, ErrorCode, FieldSchema, Geometry, OpenRequest, Provider,
    Result, SettleRequest, Viewport,
};
use stickpin_process::{DesktopEntry, find_running};
use stickpin_tree::{format_count, quote};
use tokio::sync::Mutex;
use tokio::time::Instant;

pub use config::{LinuxConfig, LinuxProvider};

impl Opening<'_> {
    /// Opens an app on a screen; ends the screen on failure.
    async fn open_on(&self, mut screen: Screen, launch: Option<&Launch>) -> Result<Box<dyn Device>> {
        let request = self.request;
        let reached = self.run_step(self.reach(&screen, launch), screen.wait_for_failure()).await;
        let mut device = or_clean_up(reached, screen.end()).await?;
        device.app.screen = screen.of_process(device.app.info.pid);
        device.app.folders = launch.and_then(|_| self.folders());
        let is_awaited = || Instant::now() < self.until && !request.cancel.is_cancelled();
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
                    Err(e) if e.code == ErrorCode::Timeout && is_awaited() => {}
                    arrived => break drop(arrived?),
                }
            }
            let Some(Viewport(width, height)) = request.options.viewport else { return Ok(()) };
            device.resize(width, height).await
        };
        or_clean_up(ready.await, device.close()).await?;
        Ok(Box::new(device))
    }

    /// Finds or starts the app and connects to it. The device has no screen yet.
    async fn reach(&self, screen: &Screen, launch: Option<&Launch>) -> Result<LinuxDevice> {
        let (until, what) = (self.until, &*self.request.what);
        let heard = Arc::new(AppEvents::default());
        let listener = Arc::clone(&heard);
        let listener = Box::new(move |message: &_| listener.handle_signal(message));
        let desktop = self.config.bus(screen.private.as_ref(), listener, until).await?;
        let (child, app) = match launch {
            None => (None, self.running(&desktop).await?),
            Some(launch) => {
                let (child, app) = self.launch(&desktop, screen, launch).await?;
                (Some(child), app?)
            }
        };
        let silent = |fault: BusError| app_lost(&format!("{} does not respond: {fault}", quote(&app.title)));
        heard.state().app.clone_from(&app.bus);
        desktop.listen(&app.bus, until).await.map_err(silent)?;
        let link = Link::to(&desktop, &app.bus, until).await.map_err(silent)?;
        let label = if app.title.is_empty() { app_name(what).to_owned() } else { app.title };
        let (screen, app) = (Screen::default(), (label, app.pid));
        let mut device = LinuxDevice::new(desktop, link, heard, screen, app, Some(what));
        device.app.child = Mutex::new(child);
        Ok(device)
    }

    /// Returns the running app whose title, process id or bus name was requested.
    async fn running(&self, desktop: &AccessibilityBus) -> Result<RegisteredApp> {
        let name = app_name(&self.request.what);
        let running = desktop.running(self.until).await.map_err(no_registry)?;
        let is = |app: &&RegisteredApp| {
            app.bus == name
                || app.pid.is_some_and(|pid| pid.to_string() == name)
                || app.title.eq_ignore_ascii_case(name)
        };
        let found: Vec<&RegisteredApp> = running.iter().filter(is).collect();
        match &found[..] {
            [app] => Ok((*app).clone()),
            [] => Err(not_registered(name)),
            several => {
                let all: Vec<String> =
                    several.iter().map(|app| format!("`stickpin open {}`", attach_argument(app))).collect();
                Err(Error::ambiguous_match(format!("several apps are named {}", quote(name)))
                    .hint(format!("run {}", all.join(" or "))))
            }
        }
    }
}

/// Returns the error for an app that is not on the accessibility bus.
fn not_registered(name: &str) -> Error {
    match find_running(name) {
        Some((pid, program)) => Error::device_not_found(format!(
            "process {pid} ({}) is running, but is not on the accessibility bus",
            quote(&program)
        ))
        .hint(
            "Qt apps and browsers that were started while accessibility was off stay unreadable until they are \
             restarted: close the app, then run `stickpin open linux:APP`; run `stickpin doctor` to check whether \
             accessibility is on",
        ),
        None => Error::device_not_found(format!("no running app has the name or process id {}", quote(name)))
            .hint("run `stickpin devices` to list the running apps, or omit `--attach` to start the app"),
    }
}

/// Returns the argument of `open` for a running app.
fn attach_argument(app: &RegisteredApp) -> String {
    let name = app.pid.map_or_else(|| app.bus.clone(), |pid| pid.to_string());
    format!("--attach {PREFIX}{name}")
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
        // Check the options before anything is started.
        let opening = Opening::begin(&self.config, &request)?;
        let name = app_name(&request.what);
        if name == desktop::NAME {
            return desktop::open(&opening).await;
        }
        let find = || installed::find(name, &self.config, &opening.cwd);
        let launch = (!request.options.attach).then(find).transpose()?;
        let screen = opening.screen().await?;
        opening.open_on(screen, launch.as_ref()).await
    }

    async fn devices(&self) -> Result<Vec<DeviceEntry>> {
        // Without a desktop, there is nothing to open.
        let until = Instant::now() + RUNNING;
        let Ok(desktop) = self.config.bus(None, Box::new(|_| {}), until).await else { return Ok(Vec::new()) };
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
            DeviceEntry::new(attach_argument(&app), format!("{} ({windows})", app.title))
        });
        Ok(std::iter::once(desktop).chain(apps).collect())
    }

    fn capabilities(&self) -> &'static [Capability] {
        crate::limits::CAPABILITIES
    }

    async fn doctor(&self) -> Vec<Check> {
        doctor::checks(&self.config).await
    }

    async fn sweep(&self, state_dir: &Path) -> Result<Vec<String>> {
        let dir = state_dir.to_owned();
        let swept = tokio::task::spawn_blocking(move || stickpin_process::sweep(&dir)).await;
        let swept = swept.map_err(|e| Error::internal(e.to_string()))?;
        swept.map_err(|e| stickpin_device::io_error("sweep", state_dir, &e))
    }
}
