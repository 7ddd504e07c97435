//! Finding, starting and attaching to apps.

use crate::app::{LinuxDevice, lost};
use crate::app_dirs::AppDirs;
use crate::apps::{self, Launch, Places};
use crate::bus::fault::Fault;
use crate::bus::{Addresses, Desktop, Link, Listener, Running};
use crate::desktop;
use crate::events::Heard;
use crate::launch::Launched;
use crate::opening::{Opening, runs, unsaid};
use crate::screen::Screen;
use async_trait::async_trait;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{
    Capability, Check, Device, DeviceEntry, Error, ErrorCode, OpenOption, OpenRequest, Provider, Result,
    SettleRequest,
};
use stickpin_tree::quote;
use stickpin_x11desk::Private;
use tokio::process::Child;
use tokio::time::Instant;

/// How long the registry of a desktop may take to say what runs.
pub(crate) const RUNNING: Duration = Duration::from_secs(10);

/// How long nothing may move until an app counts as opened.
pub(crate) const QUIET: Duration = Duration::from_millis(150);

/// What to do about an app that runs and says nothing.
const UNHEARD: &str = "Qt apps and browsers that were started while accessibility was off say nothing until they are \
                       started again: end it, then stickpin open linux:APP; stickpin doctor says whether it is on";

/// The word before the colon.
const PREFIX: &str = "linux:";

/// What the binary says about the desktop; nothing here reads the environment.
#[derive(Debug, Clone, Default)]
pub struct LinuxConfig {
    /// `DBUS_SESSION_BUS_ADDRESS`.
    pub session_bus: Option<String>,
    /// `AT_SPI_BUS_ADDRESS`.
    pub accessibility_bus: Option<String>,
    /// `DISPLAY`.
    pub display: Option<String>,
    /// `WAYLAND_DISPLAY`.
    pub wayland: Option<String>,
    /// `NO_AT_BRIDGE`.
    pub no_at_bridge: Option<String>,
    /// `GTK_A11Y`.
    pub gtk_a11y: Option<String>,
    /// `QT_ACCESSIBILITY`.
    pub qt_accessibility: Option<String>,
    /// `PATH`.
    pub path: Option<OsString>,
    /// The home folder of this process, which the rest of its environment fits.
    pub home: Option<PathBuf>,
    /// `XDG_DATA_HOME` and `XDG_DATA_DIRS`, the first first.
    pub data: Vec<PathBuf>,
}

/// The apps of a Linux desktop.
#[derive(Debug, Clone, Default)]
pub struct LinuxProvider {
    pub(crate) config: LinuxConfig,
}

/// An app that answers.
#[derive(Debug)]
struct Reached {
    desktop: Desktop,
    link: Link,
    app: Running,
    child: Option<Child>,
}

impl LinuxProvider {
    /// A provider of the desktop that `config` describes.
    #[must_use]
    pub fn new(config: LinuxConfig) -> Self {
        Self { config }
    }

    pub(crate) fn addresses(&self) -> Addresses {
        Addresses {
            accessibility: self.config.accessibility_bus.clone(),
            session: self.config.session_bus.clone(),
            display: self.config.display.clone(),
        }
    }

    /// Where the buses of a screen are.
    pub(crate) fn addresses_on(&self, screen: &Screen) -> Addresses {
        match screen.private() {
            Some(private) => Addresses { session: Some(private.bus.clone()), ..Addresses::default() },
            None => self.addresses(),
        }
    }

    /// What the app is to be shown on: a display of its own where one was asked for or there is no other.
    pub(crate) async fn screen(&self, request: &OpenRequest, opening: &Opening) -> Result<Screen> {
        let none = self.config.display.is_none() && self.config.wayland.is_none();
        if request.attach && request.private {
            return Err(Error::new(
                ErrorCode::InvalidArgs,
                "an app that runs already is on a display already: --attach and --private exclude one another",
            )
            .hint("without --attach it is started on a display of its own"));
        }
        if !request.private && (request.attach || !none) {
            return Ok(Screen::shared(self.config.display.as_deref(), self.config.wayland.is_some()));
        }
        let (dirs, size, path) = (self.dirs(request)?, request.viewport, self.config.path.as_deref());
        let (until, cancel) = (opening.until, &opening.cancel);
        let private = Private::start(&request.dir, dirs.home, size, path, until, cancel).await?;
        Screen::own(private, opening).await
    }

    /// Home and working directory of what is started.
    pub(crate) fn dirs(&self, request: &OpenRequest) -> Result<AppDirs> {
        AppDirs::of(request, self.config.home.as_deref())
    }

    /// Opens an app on a screen; ends the screen when that fails.
    async fn open_on(
        &self,
        screen: Screen,
        name: &str,
        launch: Option<&Launch>,
        request: &OpenRequest,
        opening: &Opening,
    ) -> Result<Box<dyn Device>> {
        let heard = Arc::new(Heard::new());
        let mut screen = screen;
        let folders = if request.attach { None } else { self.dirs(request)?.folders() };
        let reach = self.reach(&screen, &heard, name, launch, request, opening);
        let reached = match opening.part(reach, screen.fallen()).await {
            Ok(reached) => reached,
            Err(e) => {
                unsaid(screen.end().await);
                return Err(e);
            }
        };
        let Reached { desktop, link, app, child } = reached;
        let screen = screen.of_process(app.pid);
        let label = if app.title.is_empty() { name.to_owned() } else { app.title.clone() };
        let mut device = LinuxDevice::new(desktop, link, heard, screen, label, &request.what);
        device.info.pid = app.pid;
        device.child = child;
        device.folders = folders;
        let arrival = SettleRequest { quiet: QUIET, cap: request.ready_timeout };
        let ready = async {
            // A busy machine may let it come to nothing else for a while, also when it is first asked for all that it shows.
            loop {
                let arrived = async {
                    device.settle(arrival, &request.cancel).await?;
                    device.look(&[]).await
                };
                match arrived.await {
                    Err(e) if e.code == ErrorCode::Timeout && opening.goes_on() => {}
                    arrived => break drop(arrived?),
                }
            }
            match request.viewport {
                Some((width, height)) => device.resize(width, height).await,
                None => Ok(()),
            }
        };
        if let Err(e) = ready.await {
            unsaid(device.close().await);
            return Err(e);
        }
        Ok(Box::new(device))
    }

    /// Finds or starts the app, and the way to it.
    async fn reach(
        &self,
        screen: &Screen,
        heard: &Arc<Heard>,
        name: &str,
        launch: Option<&Launch>,
        request: &OpenRequest,
        opening: &Opening,
    ) -> Result<Reached> {
        let until = opening.until;
        let desktop = self.desktop(&self.addresses_on(screen), heard, until).await?;
        let (app, child) = match launch {
            None => (self.running(&desktop, name, until).await?, None),
            Some(launch) => match self.launch(&desktop, screen, launch, request, until).await? {
                Launched::Registered(app, child) => (app, Some(child)),
                Launched::Inaccessible(app) => return Err(app.error(&request.what, screen.is_own())),
            },
        };
        let silent = |fault: Fault| lost(&format!("{} does not answer: {fault}", quote(&app.title)));
        heard.state().app.clone_from(&app.bus);
        desktop.listen(&app.bus, until).await.map_err(silent)?;
        let link = Link::to(&desktop, &app.bus, until).await.map_err(silent)?;
        Ok(Reached { desktop, link, app, child })
    }

    /// The command of what is opened as `linux:NAME`.
    ///
    /// # Errors
    /// As [`apps::find`].
    pub(crate) fn launch_of(&self, what: &str, cwd: &Path) -> Result<Launch> {
        let (data, path) = (self.config.data.clone(), self.config.path.clone());
        apps::find(named(what), &Places { data, path, cwd: cwd.to_owned() })
    }

    /// Connects to the accessibility bus; what it signals goes to `heard`.
    async fn desktop(&self, addresses: &Addresses, heard: &Arc<Heard>, until: Instant) -> Result<Desktop> {
        let listener = Arc::clone(heard);
        self.bus(addresses, Box::new(move |message| listener.hear(message)), until).await
    }

    /// The same, where what it signals goes to `listener`.
    pub(crate) async fn bus(
        &self,
        addresses: &Addresses,
        listener: Listener,
        until: Instant,
    ) -> Result<Desktop> {
        Desktop::connect(addresses, listener, until).await.map_err(|e| {
            Error::new(ErrorCode::ToolMissing, format!("there is no accessibility bus: {e}"))
                .hint("apt install at-spi2-core, and run in a desktop session; stickpin doctor says what is missing")
        })
    }

    /// The running app that is meant: by its title, its process or its name on the bus.
    async fn running(&self, desktop: &Desktop, name: &str, until: Instant) -> Result<Running> {
        let running = desktop.running(until).await.map_err(no_registry)?;
        let is = |app: &&Running| {
            app.bus == name
                || app.pid.is_some_and(|pid| pid.to_string() == name)
                || app.title.eq_ignore_ascii_case(name)
        };
        let mut found = running.iter().filter(is);
        match (found.next(), found.next()) {
            (Some(app), None) => Ok(app.clone()),
            (Some(_), Some(_)) => {
                let all: Vec<String> = running
                    .iter()
                    .filter(is)
                    .filter_map(|app| app.pid)
                    .map(|p| format!("linux:{p}"))
                    .collect();
                Err(Error::new(ErrorCode::AmbiguousMatch, format!("several apps are called {}", quote(name)))
                    .hint(format!("say which process: stickpin open --attach {}", all.join(" or "))))
            }
            (None, _) if let Some((pid, program)) = runs(name) => Err(Error::new(
                ErrorCode::DeviceNotFound,
                format!("process {pid} ({}) runs, and is not on the accessibility bus", quote(&program)),
            )
            .hint(UNHEARD)),
            (None, _) => Err(Error::new(
                ErrorCode::DeviceNotFound,
                format!("no running app is called {}", quote(name)),
            )
            .hint("stickpin devices lists what runs; without --attach it is started")),
        }
    }
}

/// The name in `linux:NAME`.
fn named(what: &str) -> &str {
    what.strip_prefix(PREFIX).unwrap_or(what).trim()
}

pub(crate) fn no_registry(fault: Fault) -> Error {
    lost(&format!("the accessibility registry does not answer: {fault}"))
}

#[async_trait]
impl Provider for LinuxProvider {
    fn kind(&self) -> &'static str {
        "linux"
    }

    fn open_options(&self) -> &'static [OpenOption] {
        &[
            OpenOption::Attach,
            OpenOption::Private,
            OpenOption::PrivateHome,
            OpenOption::Viewport,
            OpenOption::Profile,
        ]
    }

    fn claims(&self, what: &str) -> bool {
        what.starts_with(PREFIX)
    }

    fn starts_program(&self, what: &str) -> bool {
        let name = named(what);
        name != desktop::NAME && !apps::is_installed(name, &self.config.data)
    }

    fn installed_apps(&self) -> Vec<String> {
        apps::installed(&self.config.data).into_iter().map(|id| format!("{PREFIX}{id}")).collect()
    }

    async fn open(&self, request: OpenRequest) -> Result<Box<dyn Device>> {
        let name = named(&request.what);
        if name == desktop::NAME {
            return desktop::open(self, &request).await;
        }
        // Before anything is started for an app that there is not.
        let dirs = self.dirs(&request)?;
        let launch = if request.attach { None } else { Some(self.launch_of(&request.what, dirs.cwd())?) };
        let opening = Opening::begin(&request.cancel);
        let screen = self.screen(&request, &opening).await?;
        self.open_on(screen, name, launch.as_ref(), &request, &opening).await
    }

    async fn devices(&self) -> Result<Vec<DeviceEntry>> {
        let heard = Arc::new(Heard::new());
        // Where there is no desktop, nothing of it can be opened.
        let until = Instant::now() + RUNNING;
        let Ok(desktop) = self.desktop(&self.addresses(), &heard, until).await else { return Ok(Vec::new()) };
        let running = desktop.running(until).await.map_err(no_registry)?;
        let shown: Vec<Running> = running.into_iter().filter(|app| app.windows != Some(0)).collect();
        let all = match shown.len() {
            0 => "the whole desktop, on which no app shows a window".to_owned(),
            1 => "the whole desktop, with 1 app".to_owned(),
            count => format!("the whole desktop, with {count} apps"),
        };
        let desktop = DeviceEntry { open: format!("{PREFIX}{}", desktop::NAME), title: all };
        let apps = shown.into_iter().map(|app| {
            let windows = match app.windows {
                Some(1) => "1 window".to_owned(),
                Some(count) => format!("{count} windows"),
                None => "does not answer".to_owned(),
            };
            let name = app.pid.map_or_else(|| app.bus.clone(), |pid| pid.to_string());
            DeviceEntry {
                open: format!("--attach {PREFIX}{name}"),
                title: format!("{} ({windows})", app.title),
            }
        });
        Ok(std::iter::once(desktop).chain(apps).collect())
    }

    fn capabilities(&self) -> &'static [Capability] {
        crate::limits::CAPABILITIES
    }

    async fn doctor(&self) -> Vec<Check> {
        crate::doctor::checks(self).await
    }

    async fn sweep(&self, state_dir: &Path) -> Result<Vec<String>> {
        let state_dir = state_dir.to_owned();
        let swept =
            tokio::task::spawn_blocking(move || (stickpin_process::sweep(&state_dir), state_dir)).await;
        let (swept, state_dir) = swept.map_err(|e| Error::new(ErrorCode::Internal, e.to_string()))?;
        swept.map_err(|e| stickpin_device::io_error("sweep", &state_dir, &e))
    }
}
