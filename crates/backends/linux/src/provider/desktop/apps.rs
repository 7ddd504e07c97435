//! The apps of a desktop: how they are found, met and asked whether they answer.

use super::Desk;
use crate::act::focus;
use crate::app::LinuxDevice;
use crate::bus::fault::Fault;
use crate::bus::limits::BUS;
use crate::bus::{Desktop, Link, Message, Running};
use crate::events::Heard;
use crate::model::states as s;
use crate::provider::config::no_registry;
use crate::screen::Screen;
use async_trait::async_trait;
use futures_util::future::join_all;
use hashbrown::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use stickpin_compose::{Ground, Member, Parts};
use stickpin_device::{Device, Notice, Result};
use stickpin_tree::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// How long the registry may take to say who is there, once everything runs. One that takes longer
/// is asked nothing more until it has answered; the bus itself is asked meanwhile.
const REGISTRY: Duration = Duration::from_secs(1);

/// What is said of a registry that hangs.
const HANGS: &str =
    "the accessibility registry does not answer; which apps there are the bus itself is asked";

/// How long one app may take to be got to know.
const ONE: Duration = Duration::from_secs(4);

/// Tells each app what it signalled itself, over the one connection to the bus.
#[derive(Debug, Default)]
pub(super) struct Hub(Mutex<Vec<Weak<Heard>>>);

impl Hub {
    fn all(&self) -> MutexGuard<'_, Vec<Weak<Heard>>> {
        // Nothing panics while it is held; if something did, the list would still be whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in one signal. Each knows what is its own.
    pub(super) fn hear(&self, message: &Message) {
        self.all().retain(|heard| heard.upgrade().inspect(|heard| heard.hear(message)).is_some());
    }

    /// Somebody who is to hear what a name on the bus signals.
    pub(super) fn listener(&self, name: &str) -> Arc<Heard> {
        let heard = Arc::new(Heard::new());
        name.clone_into(&mut heard.state().app);
        self.all().push(Arc::downgrade(&heard));
        heard
    }
}

/// What the accessibility registry says of who is there.
#[derive(Debug)]
pub(super) struct Registry {
    /// What it signals: apps that come and go.
    pub(super) heard: Arc<Heard>,
    /// How often it had when the apps were looked for last.
    pub(super) known: u64,
    /// Waits for it, where it did not answer when it was asked last.
    hangs: Option<Waking>,
    /// Names on the bus that said nothing while it hung.
    mute: HashSet<String>,
}

impl Registry {
    pub(super) fn new(heard: Arc<Heard>) -> Self {
        Self { heard, known: 0, hangs: None, mute: HashSet::new() }
    }

    fn hangs(&self) -> bool {
        self.hangs.as_ref().is_some_and(Waking::goes_on)
    }
}

/// One run of one app.
#[derive(Debug)]
pub(crate) struct App {
    /// Its name on the bus, which the bus gives to nobody else.
    pub(super) bus: String,
    pub(super) pid: Option<u32>,
    /// The way to it; none before it has answered for the first time.
    pub(super) device: Option<Box<LinuxDevice>>,
    /// Waits for it to answer, where it did not when it was asked last.
    waking: Option<Waking>,
}

/// A question that an app has not answered yet. Nobody else asks it anything meanwhile, so that
/// nobody waits for it.
#[derive(Debug)]
pub(super) struct Waking(JoinHandle<()>);

impl Waking {
    fn of(bus: &Desktop, app: &str) -> Self {
        let (bus, app) = (bus.clone(), app.to_owned());
        Self(tokio::spawn(async move { bus.wakes(&app).await }))
    }

    fn goes_on(&self) -> bool {
        !self.0.is_finished()
    }
}

impl Drop for Waking {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[async_trait]
impl Member for App {
    fn device(&mut self) -> Option<&mut dyn Device> {
        self.device.as_deref_mut().map(|device| device as &mut dyn Device)
    }

    fn is_silent(&self) -> bool {
        self.waking.as_ref().is_some_and(Waking::goes_on)
    }

    fn falls_silent(&mut self) {
        if let Some(device) = &self.device {
            self.waking = Some(Waking::of(&device.app.desktop, &self.bus));
        }
    }

    fn active_window(&mut self) -> Option<(Handle, bool)> {
        let device = self.device.as_deref()?;
        let picture = &device.last.picture;
        let window = &picture.objects[picture.active()?];
        Some((device.app.ids.handle(&window.path), window.is(s::ACTIVE)))
    }

    async fn take_keyboard(&mut self, element: Handle) -> Result<()> {
        let Some(device) = &self.device else { return Ok(()) };
        focus::take_keyboard(device.view(), element).await
    }

    fn attrs(&self) -> serde_json::Map<String, serde_json::Value> {
        let attrs = [("pid", self.pid.into()), ("bus", self.bus.as_str().into())];
        attrs.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
    }
}

/// What a process is called that does not say so itself.
fn program(pid: Option<u32>) -> Option<String> {
    let line = std::fs::read(format!("/proc/{}/cmdline", pid?)).ok()?;
    let first = line.split(|&b| b == 0).next()?;
    let name = String::from_utf8_lossy(first);
    name.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// An app that has registered and shows a window, or does not say.
async fn meet(
    bus: &Desktop,
    screen: &Screen,
    hub: &Hub,
    name: String,
) -> Option<(Running, Option<LinuxDevice>)> {
    let running = bus.one(name).await;
    match running.windows {
        Some(0) => return None,
        None => return Some((running, None)),
        Some(_) => {}
    }
    let heard = hub.listener(&running.bus);
    let until = Instant::now() + ONE;
    let reach = async {
        bus.hear(&running.bus, until).await?;
        Link::to(bus, &running.bus, until).await
    };
    match timeout(ONE, reach).await.unwrap_or(Err(Fault::Silent(ONE.as_millis()))) {
        Ok(link) => {
            let what = running.pid.map_or_else(|| running.bus.clone(), |pid| pid.to_string());
            let (label, what) = (running.title.clone(), format!("linux:{what}"));
            let screen = if running.pid.is_some() { screen.beside() } else { screen.beside_nameless() };
            let mut device = LinuxDevice::new(bus.clone(), link, heard, screen, label, &what);
            device.app.info.pid = running.pid;
            device.app.among = true;
            Some((running, Some(device)))
        }
        Err(fault) => (!fault.is_final()).then_some((running, None)),
    }
}

impl Desk {
    /// Takes note of the apps that came and went.
    ///
    /// # Errors
    /// `BACKEND_LOST` when the accessibility bus is gone.
    pub(super) async fn look_for_apps(&mut self, apps: &mut Parts<App>) -> Result<()> {
        self.alive()?;
        // The counter first: who registers meanwhile shows as a change since.
        self.registry.known = self.registry.heard.state().changes;
        let listed = self.listed(apps).await?;
        for app in apps.iter_mut() {
            let left = app.member.device.as_ref().is_some_and(|device| device.app.heard.state().gone);
            app.gone |= left || listed.as_ref().is_some_and(|listed| !listed.contains(&app.member.bus));
        }
        apps.drop_gone();
        // Those that have ended by themselves; what keeps it from being known is said when they are
        // to be
        // ended.
        self.started.retain_mut(|(child, _)| !matches!(child.try_wait(), Ok(Some(_))));
        let names = match listed {
            Some(listed) => listed,
            None => self.beside_registry().await?,
        };
        let met = |bus: &String| {
            apps.iter()
                .any(|app| (app.member.device.is_some() || app.member.is_silent()) && app.member.bus == *bus)
        };
        let strangers = names.into_iter().filter(|bus| !met(bus));
        let (bus, screen, hub, sure) = (&self.bus, &self.screen, &*self.hub, !self.registry.hangs());
        let met = join_all(strangers.map(|name| meet(bus, screen, hub, name))).await;
        for (running, device) in met.into_iter().flatten() {
            if sure || device.is_some() {
                self.adopt(apps, running, device);
            } else {
                // Whoever is on the bus and says nothing need not be an app.
                self.registry.mute.insert(running.bus);
            }
        }
        Ok(())
    }

    /// The names of the apps on the bus; none where the registry does not say them now: then those
    /// that are known go on.
    ///
    /// # Errors
    /// `BACKEND_LOST` when the accessibility bus is gone.
    async fn listed(&mut self, apps: &mut Parts<App>) -> Result<Option<Vec<String>>> {
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
                tracing::debug!("the apps that were known stay: the registry does not answer: {fault}");
                self.registry.hangs = Some(Waking::of(&self.bus, &self.registry.heard.state().app));
                apps.aside(Notice::Lacks { what: HANGS.to_owned() });
                Ok(None)
            }
        }
    }

    /// Who else is on the bus, while the registry does not say which of them are apps.
    ///
    /// # Errors
    /// `BACKEND_LOST` when the accessibility bus is gone.
    async fn beside_registry(&self) -> Result<Vec<String>> {
        let mut names = self.bus.names(Instant::now() + BUS).await.map_err(no_registry)?;
        let registry = self.registry.heard.state();
        names.retain(|name| *name != registry.app && !self.registry.mute.contains(name));
        Ok(names)
    }

    fn adopt(&self, apps: &mut Parts<App>, running: Running, device: Option<LinuxDevice>) {
        let Running { bus, title, pid, .. } = running;
        // As the tree has it.
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let called = if title.is_empty() { program(pid) } else { Some(title) };
        let called = called.unwrap_or_else(|| bus.clone());
        let waking = device.is_none().then(|| Waking::of(&self.bus, &bus));
        let device = device.map(Box::new);
        let Some(known) = apps.iter_mut().find(|app| app.member.bus == bus) else {
            apps.add(&called, App { bus, pid, device, waking });
            return;
        };
        known.member.waking = waking;
        if device.is_some() {
            // It did not answer before: what it is called is what it says itself.
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
