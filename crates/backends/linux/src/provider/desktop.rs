//! The whole desktop as one device, with one member per running app (ADR 38). `stickpin-compose`
//! merges their answers and routes inputs. This module finds the apps (`apps`), starts them, and
//! provides what they share.

mod apps;
mod inaccessible;

use crate::act::screenshot::not_visible;
use crate::app::pointer::move_pointer;
use crate::app::{WindowStack, app_lost, end_child};
use crate::bus::AccessibilityBus;
use crate::model::Point;
use crate::provider::config::{LinuxConfig, QUIET, Request, app_name, no_registry};
use crate::provider::installed;
use crate::provider::opening::{Opening, or_clean_up};
use crate::screen::Screen;
use apps::{Apps, DesktopApp, EventHub, Registry};
use async_trait::async_trait;
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use stickpin_compose::{CompositeDevice, Environment, WindowAtPoint};
use stickpin_device::{
    Action, CancellationToken, Capability, Clipboard, Device, DeviceInfo, Error, ErrorCode, InputOutcome,
    Notice, Result, ScreenshotImage, ScreenshotRequest, SettleRequest, unsupported,
};
use stickpin_tree::{IdentityGrade, Rect};
use stickpin_x11desk::{Window, windows};
use tokio::process::Child;

/// The name of the desktop in its address, `linux:desktop`.
pub(crate) const NAME: &str = "desktop";

/// The desktop that the apps share.
#[derive(Debug)]
pub(crate) struct DesktopEnvironment {
    config: LinuxConfig,
    /// The accessibility bus, over which all apps are queried.
    bus: AccessibilityBus,
    hub: Arc<EventHub>,
    registry: Registry,
    screen: Screen,
    /// The request that opened the desktop. Apps are started in its folders.
    request: Request,
    /// The processes that this session started, with the addresses of their apps.
    started: Vec<(Child, String)>,
    /// The window that received the last press, if that is the window of an inaccessible app.
    inaccessible_keys: Option<u32>,
}

/// Opens the person's desktop or an empty private one.
///
/// # Errors
/// Returns the errors of [`stickpin_device::Provider::open`].
pub(crate) async fn open(opening: &Opening<'_>) -> Result<Box<dyn Device>> {
    let request = opening.request;
    let mut screen = opening.screen().await?;
    if request.options.viewport.is_some() && !screen.own {
        return Err(unsupported("linux desktop", "change the size of its screen"));
    }
    let connected = opening.run_step(connect(opening, &screen), screen.wait_for_failure()).await;
    let mut desk = or_clean_up(connected, screen.end()).await?;
    let label = if screen.own { "a private desktop" } else { "the desktop" };
    desk.screen = screen;
    let mut info = DeviceInfo::new("linux", label, IdentityGrade::WhileAlive);
    info.partial = true;
    let mut desk = CompositeDevice::new(info, request.what.clone(), desk, opening.folders());
    let arrival = SettleRequest::new(QUIET, request.ready_timeout);
    let met = desk.discover_members(arrival, &request.cancel).await;
    or_clean_up(met, desk.close()).await?;
    Ok(Box::new(desk))
}

/// Connects to the registry of the apps. The desktop has no screen yet.
async fn connect(opening: &Opening<'_>, screen: &Screen) -> Result<DesktopEnvironment> {
    let until = opening.until;
    let private = screen.private.as_ref();
    let hub = Arc::new(EventHub::default());
    let listener = Arc::clone(&hub);
    let listener = Box::new(move |message: &_| listener.distribute(message));
    let bus = opening.config.bus(private, listener, until).await?;
    AccessibilityBus::switch_on(&opening.config.addresses(private), until).await;
    let (registry, _) = bus.registered(until).await.map_err(no_registry)?;
    let events = hub.listener(&registry);
    bus.listen(&registry, until).await.map_err(no_registry)?;
    Ok(DesktopEnvironment {
        config: opening.config.clone(),
        bus,
        hub,
        registry: Registry { events, ..Registry::default() },
        screen: Screen::default(),
        request: opening.request.clone(),
        started: Vec::new(),
        inaccessible_keys: None,
    })
}

impl DesktopEnvironment {
    /// Returns the window that receives input at a point of the screen.
    async fn top_at(&mut self, point: Point, to: &str) -> Result<Option<Window>> {
        let stack = WindowStack::read(self.screen.x11(to).await?).await?;
        Ok(stack.at(point).await?.cloned())
    }

    /// Returns the window that receives input at a point, and its app.
    async fn app_at(&mut self, apps: &Apps, point: Point, to: &str) -> Result<Option<(u64, Window)>> {
        let window = self.top_at(point, to).await?;
        Ok(window.and_then(|window| Some((app_with(apps, &window)?, window))))
    }
}

/// Returns the app that owns a window.
fn app_with(apps: &Apps, window: &Window) -> Option<u64> {
    let mut there = apps.iter().filter(|app| !app.gone && app.member.pid.is_some());
    there.find(|app| app.member.pid == window.pid).map(|app| app.number)
}

#[async_trait]
impl Environment for DesktopEnvironment {
    type Member = DesktopApp;

    const NAME: &'static str = NAME;

    const EMPTY: &'static str = "no app shows a window here: run `stickpin open linux:APP` to start one, or \
                                 `stickpin doctor` to see why a running app may be missing";

    const CAPABILITIES: &'static [Capability] = crate::limits::CAPABILITIES;

    fn check_alive(&self) -> Result<()> {
        if !self.bus.closed() {
            return Ok(());
        }
        let private = if self.screen.own { " --private" } else { "" };
        let hint = format!("run `stickpin open{private} {}` to open the desktop again", self.request.what);
        Err(app_lost("the accessibility bus of the desktop has closed").hint(hint))
    }

    async fn refresh(&mut self, apps: &mut Apps) -> Result<()> {
        self.look_for_apps(apps).await
    }

    fn has_membership_changes(&self) -> bool {
        self.registry.events.state().changes != self.registry.known
    }

    async fn wait_membership_change(&mut self) {
        self.registry.events.until(|heard| (heard.changes != self.registry.known).then_some(())).await;
    }

    fn nested_members(&self, apps: &Apps) -> Vec<u64> {
        // An embedded page's process is read as a part of the page's host.
        let devices = apps.iter().filter_map(|app| app.member.device.as_ref());
        let guests: Vec<String> =
            devices.flat_map(|device| device.app.events.state().guests.clone()).collect();
        apps.iter().filter(|app| guests.contains(&app.member.bus)).map(|app| app.number).collect()
    }

    async fn active_member(&mut self, apps: &Apps) -> Result<Option<u64>> {
        let Some(x11) = self.screen.x11_if_any().await? else { return Ok(None) };
        let windows = x11.run(windows::list_windows).await?;
        Ok(windows.iter().find(|w| w.active).and_then(|window| app_with(apps, window)))
    }

    async fn window_at(&mut self, apps: &Apps, point: Point, to: &str) -> Result<Option<WindowAtPoint>> {
        let there = self.app_at(apps, point, to).await?;
        Ok(there.map(|(part, window)| WindowAtPoint {
            part,
            area: window.area_with_decoration(),
            description: window.describe(),
        }))
    }

    async fn move_pointer_to(&mut self, apps: &Apps, x: f64, y: f64) -> Result<()> {
        let x11 = self.screen.x11("move the pointer").await?;
        let window = self.app_at(apps, (x, y), "move the pointer").await?.map(|(_, window)| window.id);
        move_pointer(&x11, window, (x, y)).await
    }

    async fn perform_outside_members(
        &mut self,
        apps: &mut Apps,
        action: &Action,
        cancel: &CancellationToken,
    ) -> Result<Option<InputOutcome>> {
        self.send_to_inaccessible(apps, action, cancel).await
    }

    async fn start_member(
        &mut self,
        apps: &mut Apps,
        what: &str,
        ready: Duration,
        cancel: &CancellationToken,
    ) -> Result<Option<Duration>> {
        let mut request = self.request.clone();
        (request.what, request.cancel) = (what.to_owned(), cancel.clone());
        (request.ready_timeout, request.options.attach) = (ready, false);
        let opening = Opening::begin(&self.config, &request)?;
        let launch = installed::find(app_name(what), &self.config, &request.cwd)?;
        let starting = opening.launch(&self.bus, &self.screen, &launch);
        let (child, app) = match opening.run_step(starting, self.screen.wait_for_failure()).await {
            Ok(started) => started,
            Err(e) => {
                // The app that was started has ended, but the desktop continues unless it is gone
                // as well.
                self.check_alive()?;
                return Err(not_started(e));
            }
        };
        self.started.push((child, what.to_owned()));
        let app = match app {
            Ok(app) => app,
            Err(inaccessible) => {
                let drive =
                    format!("{}; use `screenshot`, `press X,Y`, `type` and `key`", inaccessible.message);
                apps.add_device_notice(Notice::ComponentMissing { what: drive });
                return Ok(None);
            }
        };
        self.refresh(apps).await?;
        let number = apps.iter().find(|known| known.member.bus == app.bus).map(|app| app.number);
        if let Some(number) = number {
            apps.note_started(number);
        }
        Ok(Some(QUIET))
    }

    async fn screenshot(
        &mut self,
        request: &ScreenshotRequest,
        element: Option<Rect>,
    ) -> Result<ScreenshotImage> {
        let area = if request.of.is_some() {
            element.ok_or_else(not_visible)?
        } else {
            self.screen.x11("take screenshots").await?.run(|d| Ok(d.area())).await?
        };
        self.screen.x11("take screenshots").await?.screenshot(area).await
    }

    fn clipboard(&mut self) -> Option<&mut dyn Clipboard> {
        Some(&mut self.screen)
    }

    async fn close(&mut self) -> Result<()> {
        // End the started apps concurrently, because each may take time to save its data. The
        // person's own apps keep running.
        let ends = self.started.drain(..).map(|(child, what)| async move { end_child(child, &what).await });
        let ended: Result<()> = join_all(ends).await.into_iter().collect();
        let screen = self.screen.end().await;
        ended.and(screen)
    }
}

/// Converts the error of an app that did not start.
fn not_started(e: Error) -> Error {
    match e.code {
        ErrorCode::BackendLost => Error { code: ErrorCode::DeviceNotFound, ..e }
            .hint("the desktop stays open; run `stickpin devices` to list the running apps"),
        ErrorCode::Timeout => e.hint(
            "run `stickpin snapshot -i` to see whether a running app showed its window instead, or `stickpin doctor` to check the display",
        ),
        _ => e,
    }
}
