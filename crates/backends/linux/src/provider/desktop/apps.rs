//! The apps of a desktop: finding them, connecting to them, and waiting for those that hang.

use super::DesktopEnvironment;
use crate::act::focus;
use crate::app::LinuxDevice;
use crate::bus::{AccessibilityBus, Link, Message, RegisteredApp};
use crate::events::AppEvents;
use crate::limits::BUS;
use crate::model::states as s;
use crate::provider::config::no_registry;
use crate::screen::Screen;
use async_trait::async_trait;
use futures_util::future::join_all;
use hashbrown::HashSet;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;
use stickpin_compose::{Environment, Member, Members};
use stickpin_device::{Device, Notice, Result};
use stickpin_process::ancestry;
use stickpin_tree::Handle;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// Timeout for a running registry to list the apps. After a timeout, the registry is queried again
/// only after it has answered a probe; meanwhile, the bus itself is queried.
const REGISTRY: Duration = Duration::from_secs(1);

/// The notice about a registry that hangs.
const REGISTRY_HANGS: &str =
    "the accessibility registry does not respond; the list of apps comes from the bus itself";

/// Timeout for connecting to one app.
const INTRODUCTION_TIMEOUT: Duration = Duration::from_secs(4);

/// Distributes the signals of the one bus connection among the listeners for the apps.
#[derive(Debug, Default)]
pub(super) struct EventHub(Mutex<Vec<Weak<AppEvents>>>);

impl EventHub {
    /// Passes one signal to all listeners, each of which filters by sender.
    pub(super) fn distribute(&self, message: &Message) {
        self.0.lock().retain(|heard| heard.upgrade().inspect(|heard| heard.handle_signal(message)).is_some());
    }

    /// Adds a listener for the signals of a bus name.
    pub(super) fn listener(&self, name: &str) -> Arc<AppEvents> {
        let heard = Arc::new(AppEvents::default());
        name.clone_into(&mut heard.state().app);
        self.0.lock().push(Arc::downgrade(&heard));
        heard
    }
}

/// The state of the accessibility registry.
#[derive(Debug, Default)]
pub(super) struct Registry {
    /// The signals of the registry: apps that come and go.
    pub(super) events: Arc<AppEvents>,
    /// The registry's change count when the apps were last searched for.
    pub(super) known: u64,
    /// A probe of the registry, if it did not answer the last request.
    pub(super) hangs: Option<ResponseProbe>,
    /// Bus names that did not answer while the registry was hanging.
    pub(super) mute: HashSet<String>,
}

impl Registry {
    fn hangs(&self) -> bool {
        self.hangs.as_ref().is_some_and(|probe| !probe.is_finished())
    }
}

/// One run of an app of the desktop.
#[derive(Debug)]
pub(crate) struct DesktopApp {
    /// The bus name, which is never reused.
    pub(super) bus: String,
    pub(super) pid: Option<u32>,
    /// The connection; `None` until the app has answered for the first time.
    pub(super) device: Option<Box<LinuxDevice>>,
    /// A probe of the app, if it did not answer the last request.
    waking: Option<ResponseProbe>,
}

/// The apps of the desktop, which come and go.
pub(super) type Apps = Members<DesktopApp>;

/// A pending request to an app that hangs. No other requests are sent to the app meanwhile, so that
/// no command waits for it. Dropping the probe cancels the request.
pub(super) type ResponseProbe = AbortOnDropHandle<()>;

fn probe(bus: &AccessibilityBus, app: &str) -> ResponseProbe {
    let (bus, app) = (bus.clone(), app.to_owned());
    AbortOnDropHandle::new(tokio::spawn(async move { bus.wait_until_responsive(&app).await }))
}

#[async_trait]
impl Member for DesktopApp {
    fn device(&mut self) -> Option<&mut dyn Device> {
        self.device.as_deref_mut().map(|device| device as &mut dyn Device)
    }

    fn is_silent(&self) -> bool {
        self.waking.as_ref().is_some_and(|probe| !probe.is_finished())
    }

    fn mark_silent(&mut self) {
        if let Some(device) = &self.device {
            self.waking = Some(probe(&device.app.desktop, &self.bus));
        }
    }

    fn active_window(&mut self) -> Option<(Handle, bool)> {
        let device = self.device.as_deref()?;
        let picture = &device.last.picture;
        let window = &picture[picture.active()?];
        Some((device.app.ids.handle(&window.path), window.is(s::ACTIVE)))
    }

    async fn take_keyboard(&mut self, element: Handle) -> Result<()> {
        let Some(device) = &self.device else { return Ok(()) };
        focus::take_keyboard(device.view(), element).await
    }

    fn attrs(&self) -> serde_json::Map<String, serde_json::Value> {
        let (pid, bus) = (self.pid.into(), self.bus.as_str().into());
        serde_json::Map::from_iter([("pid".to_owned(), pid), ("bus".to_owned(), bus)])
    }
}

/// Returns the program name of a process, for an app that gives itself no name.
fn program(pid: Option<u32>) -> Option<String> {
    let command = ancestry(pid?, 1).pop()?.args;
    command.first()?.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Connects to a registered app. Returns `None` if the app shows no window or has left, and no
/// device if the app does not answer.
async fn connect_to_app(
    bus: &AccessibilityBus,
    screen: &Screen,
    hub: &EventHub,
    name: String,
) -> Option<(RegisteredApp, Option<LinuxDevice>)> {
    let running = bus.describe_app(name).await;
    match running.windows {
        Some(0) => return None,
        None => return Some((running, None)),
        Some(_) => {}
    }
    let heard = hub.listener(&running.bus);
    let until = Instant::now() + INTRODUCTION_TIMEOUT;
    let reach = async {
        bus.subscribe(&running.bus, until).await?;
        Link::to(bus, &running.bus, until).await
    };
    match reach.await {
        Ok(link) => {
            let (screen, app) = (screen.for_process(running.pid), (running.title.clone(), running.pid));
            let device = LinuxDevice::new(bus.clone(), link, heard, screen, app, None);
            Some((running, Some(device)))
        }
        Err(fault) => (!fault.is_final()).then_some((running, None)),
    }
}

impl DesktopEnvironment {
    /// Adds the apps that have appeared and removes those that have left.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the accessibility bus is gone or does not respond.
    pub(super) async fn look_for_apps(&mut self, apps: &mut Apps) -> Result<()> {
        self.check_alive()?;
        // The counter is read first, so that apps that register meanwhile count as later changes.
        self.registry.known = self.registry.events.state().changes;
        let listed = self.registered_apps(apps).await?;
        for app in apps.iter_mut() {
            let left = app.member.device.as_ref().is_some_and(|device| device.app.events.state().gone);
            app.gone |= left || listed.as_ref().is_some_and(|listed| !listed.contains(&app.member.bus));
        }
        apps.remove_gone();
        // Removes processes that have exited. Errors are reported when the processes are ended.
        self.started.retain_mut(|(child, _)| !matches!(child.try_wait(), Ok(Some(_))));
        let names = match listed {
            Some(listed) => listed,
            None => self.unregistered_clients().await?,
        };
        let is_met =
            |app: &DesktopApp, bus: &str| app.bus == bus && (app.device.is_some() || app.is_silent());
        let strangers = names.into_iter().filter(|bus| !apps.iter().any(|app| is_met(&app.member, bus)));
        let (bus, screen, hub, sure) = (&self.bus, &self.screen, &*self.hub, !self.registry.hangs());
        let met = join_all(strangers.map(|name| connect_to_app(bus, screen, hub, name))).await;
        for (running, device) in met.into_iter().flatten() {
            if sure || device.is_some() {
                self.adopt(apps, running, device);
            } else {
                // A silent client of the bus need not be an app.
                self.registry.mute.insert(running.bus);
            }
        }
        Ok(())
    }

    /// Returns the bus names of the apps; `None` if the registry does not answer, in which case the
    /// known apps stay.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the accessibility bus is gone.
    async fn registered_apps(&mut self, apps: &mut Apps) -> Result<Option<Vec<String>>> {
        if self.registry.hangs() {
            return Ok(None);
        }
        match self.bus.registered(Instant::now() + REGISTRY).await {
            Ok((_, apps)) => {
                self.registry.hangs = None;
                self.registry.mute.clear();
                Ok(Some(apps))
            }
            Err(fault) if self.bus.closed() => Err(no_registry(fault)),
            Err(fault) => {
                tracing::debug!("the list of apps is kept: the registry does not respond: {fault}");
                self.registry.hangs = Some(probe(&self.bus, &self.registry.events.state().app));
                apps.add_device_notice(Notice::ComponentMissing { what: REGISTRY_HANGS.to_owned() });
                Ok(None)
            }
        }
    }

    /// Returns the other clients of the bus, while the registry does not report which of them are
    /// apps.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the accessibility bus is gone or does not respond.
    async fn unregistered_clients(&self) -> Result<Vec<String>> {
        let mut names = self.bus.names(Instant::now() + BUS).await.map_err(no_registry)?;
        let registry = self.registry.events.state();
        names.retain(|name| *name != registry.app && !self.registry.mute.contains(name));
        Ok(names)
    }

    fn adopt(&self, apps: &mut Apps, running: RegisteredApp, device: Option<LinuxDevice>) {
        let RegisteredApp { bus, title, pid, .. } = running;
        // Use the same form as the tree.
        let title = Some(title.split_whitespace().collect::<Vec<_>>().join(" "));
        let called = title.filter(|title| !title.is_empty()).or_else(|| program(pid));
        let called = called.unwrap_or_else(|| bus.clone());
        let waking = device.is_none().then(|| probe(&self.bus, &bus));
        let device = device.map(Box::new);
        let Some(known) = apps.iter_mut().find(|app| app.member.bus == bus) else {
            apps.add(&called, DesktopApp { bus, pid, device, waking });
            return;
        };
        known.member.waking = waking;
        if device.is_some() {
            // The app did not answer before, so it gets its own name now.
            known.member.device = device;
            let number = known.number;
            apps.rename(number, &called);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_called_after_its_program() {
        let own = program(Some(std::process::id())).unwrap();
        assert!(!own.is_empty() && !own.contains('/'), "{own}");
        assert_eq!(program(None), None);
    }
}
