//! The apps of a desktop: they come and go while it is open, and one that does not answer keeps no other waiting.

use super::Desk;
use super::merge::{Part, inner, of_app, outer};
use crate::app::{LinuxDevice, lost};
use crate::at_once::all;
use crate::bus::fault::Fault;
use crate::bus::limits::BUS;
use crate::bus::{Desktop, Link, Message, Registered, Running};
use crate::events::Heard;
use crate::provider::no_registry;
use crate::screen::Screen;
use crate::states as s;
use hashbrown::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stickpin_device::{ErrorCode, Lifecycle, Notice, Result, Thing};
use stickpin_tree::{Handle, Tree, quote};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// How long the registry may take to say who is there, once everything runs. One that takes longer is asked nothing more
/// until it has answered; the bus itself is asked meanwhile.
const REGISTRY: Duration = Duration::from_secs(1);

/// What is said of a registry that hangs.
const HANGS: &str =
    "the accessibility registry does not answer; which apps there are the bus itself is asked";

/// How many apps that have left are remembered by their names.
const LEFT: usize = 256;

/// How long one app may take to be got to know.
const ONE: Duration = Duration::from_secs(4);

/// Tells each app what it signalled itself, over the one connection to the bus.
#[derive(Debug, Default)]
pub(super) struct Hub(Mutex<Vec<Arc<Heard>>>);

impl Hub {
    fn all(&self) -> MutexGuard<'_, Vec<Arc<Heard>>> {
        // Nothing panics while it is held; if something did, the list would still be whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in one signal. Each knows what is its own.
    pub(super) fn hear(&self, message: &Message) {
        self.all().iter().for_each(|heard| heard.hear(message));
    }

    /// Somebody who is to hear what a name on the bus signals.
    pub(super) fn listener(&self, name: &str) -> Arc<Heard> {
        let heard = Arc::new(Heard::new());
        name.clone_into(&mut heard.state().app);
        self.all().push(Arc::clone(&heard));
        heard
    }

    fn forget(&self, heard: &Arc<Heard>) {
        self.all().retain(|known| !Arc::ptr_eq(known, heard));
    }
}

/// One run of one app.
#[derive(Debug)]
pub(super) struct App {
    /// Given to no other run.
    pub(super) number: u64,
    /// Its name on the bus, which the bus gives to nobody else.
    pub(super) bus: String,
    /// What it is called, and no other beside it.
    pub(super) name: String,
    pub(super) pid: Option<u32>,
    /// The way to it; none before it has answered for the first time.
    pub(super) device: Option<Box<LinuxDevice>>,
    /// Waits for it to answer, where it did not when it was asked last.
    waking: Option<Waking>,
    /// It has left.
    pub(super) gone: bool,
    /// What it showed when it was read last; none while it does not answer.
    tree: Option<Arc<Tree>>,
}

/// A question that an app has not answered yet. Nobody else asks it anything meanwhile, so that nobody waits for it.
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

impl App {
    /// Whether it did not answer when it was asked last, and has not since.
    pub(super) fn is_silent(&self) -> bool {
        self.waking.as_ref().is_some_and(Waking::goes_on)
    }

    /// The device, where it can be asked without much waiting.
    pub(super) fn answering(&mut self) -> Option<&mut LinuxDevice> {
        let asked = !self.is_silent() && !self.gone;
        self.device.as_deref_mut().filter(|_| asked)
    }

    /// It does not answer.
    fn falls_silent(&mut self) {
        if let Some(device) = &self.device {
            self.waking = Some(Waking::of(&device.desktop, &self.bus));
        }
    }

    /// Reads it. `watch` is in its own handles.
    ///
    /// # Errors
    /// What is wrong with more than this app.
    async fn read(&mut self, watch: &[Handle]) -> Result<()> {
        self.tree = None;
        let Some(device) = self.answering() else { return Ok(()) };
        match device.look(watch).await {
            Ok(tree) => {
                self.waking = None;
                self.tree = Some(tree);
                Ok(())
            }
            Err(e) if e.code == ErrorCode::BackendLost => {
                self.gone = true;
                Ok(())
            }
            Err(e) if e.code == ErrorCode::Timeout => {
                self.falls_silent();
                Ok(())
            }
            Err(e) => Err(e),
        }
    }

    /// It as a part of the desktop; none where it shows no window.
    fn part(&self) -> Option<Part> {
        let shows = self.tree.as_ref().is_none_or(|tree| tree.root().children().next().is_some());
        let (number, name, tree) = (self.number, self.name.clone(), self.tree.clone());
        shows.then_some(Part { number, name, tree })
    }

    /// Its active window, and whether that says so itself.
    pub(super) fn active(&mut self) -> Option<(Handle, bool)> {
        let device = self.device.as_deref_mut().filter(|_| self.tree.is_some())?;
        let last = device.last.as_ref()?;
        let window = &last.picture.objects[last.picture.active()?];
        Some((device.ids.handle(&window.path), window.is(s::ACTIVE)))
    }
}

/// The first of `NAME`, `NAME 2`, `NAME 3` that nobody has.
fn unlike<'a>(name: &str, others: impl Iterator<Item = &'a str>) -> String {
    let taken: HashSet<&str> = others.collect();
    let numbered = (2_u32..).map(|n| format!("{name} {n}"));
    let mut free = std::iter::once(name.to_owned()).chain(numbered).filter(|n| !taken.contains(n.as_str()));
    // As many as there are others are tried at most.
    free.next().unwrap_or_default()
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
    if running.windows == Some(0) {
        return None;
    }
    if running.windows.is_none() {
        return Some((running, None));
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
            device.info.pid = running.pid;
            device.among = true;
            Some((running, Some(device)))
        }
        Err(fault) => {
            hub.forget(&heard);
            (!fault.is_final()).then_some((running, None))
        }
    }
}

impl Desk {
    /// Takes note of the apps that came and went.
    ///
    /// # Errors
    /// `BACKEND_LOST` when the accessibility bus is gone.
    pub(super) async fn refresh(&mut self) -> Result<()> {
        self.alive()?;
        // The counter first: who registers meanwhile shows as a change since.
        self.known = self.registry.state().changes;
        let listed = self.listed().await?;
        for app in &mut self.apps {
            let left = app.device.as_ref().is_some_and(|device| device.heard.state().gone);
            app.gone |= left || listed.as_ref().is_some_and(|apps| !apps.contains(&app.bus));
        }
        self.drop_gone();
        // Those that have ended by themselves; what keeps it from being known is said when they are to be ended.
        self.started.retain_mut(|(child, _)| !matches!(child.try_wait(), Ok(Some(_))));
        let met = |bus: &String| {
            self.apps.iter().any(|app| (app.device.is_some() || app.is_silent()) && app.bus == *bus)
        };
        let strangers: Vec<String> = match listed {
            Some(apps) => {
                self.mute.clear();
                apps.into_iter().filter(|bus| !met(bus)).collect()
            }
            None => self.beside_registry().await?.into_iter().filter(|bus| !met(bus)).collect(),
        };
        let (bus, screen, hub, sure) = (&self.bus, &self.screen, &*self.hub, !self.registry_hangs());
        let met = all(strangers.into_iter().map(|name| meet(bus, screen, hub, name))).await;
        for (running, device) in met.into_iter().flatten() {
            if sure || device.is_some() {
                self.adopt(running, device);
            } else {
                // Whoever is on the bus and says nothing need not be an app.
                self.mute.insert(running.bus);
            }
        }
        Ok(())
    }

    fn registry_hangs(&self) -> bool {
        self.hangs.as_ref().is_some_and(Waking::goes_on)
    }

    /// The names of the apps on the bus; none where the registry does not say them now: then those that are known go on.
    ///
    /// # Errors
    /// `BACKEND_LOST` when the accessibility bus is gone.
    async fn listed(&mut self) -> Result<Option<Vec<String>>> {
        if self.registry_hangs() {
            return Ok(None);
        }
        match self.bus.registered(Instant::now() + REGISTRY).await {
            Ok(Registered { apps, .. }) => {
                self.hangs = None;
                Ok(Some(apps))
            }
            Err(fault) if self.bus.closed() => Err(no_registry(fault)),
            Err(fault) => {
                tracing::debug!("the apps that were known stay: the registry does not answer: {fault}");
                let registry = self.registry.state().app.clone();
                self.hangs = Some(Waking::of(&self.bus, &registry));
                self.aside(Notice::Lacks { what: HANGS.to_owned() });
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
        let registry = self.registry.state().app.clone();
        names.retain(|name| *name != registry && !self.mute.contains(name));
        Ok(names)
    }

    fn adopt(&mut self, running: Running, device: Option<LinuxDevice>) {
        let Running { bus, title, pid, .. } = running;
        // As the tree has it.
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let called = if title.is_empty() { program(pid) } else { Some(title) };
        let called = called.unwrap_or_else(|| bus.clone());
        let known = self.apps.iter().position(|app| app.bus == bus);
        let others = self.apps.iter().filter(|app| app.bus != bus).map(|app| app.name.as_str());
        let name = unlike(&called, others);
        let waking = device.is_none().then(|| Waking::of(&self.bus, &bus));
        let device = device.map(Box::new);
        if let Some(at) = known {
            // It did not answer before: what it is called is what it says itself.
            let app = &mut self.apps[at];
            if device.is_some() {
                (app.name, app.device) = (name, device);
            }
            app.waking = waking;
            return;
        }
        self.count += 1;
        self.notice(Notice::Came { what: Thing::App, name: name.clone() });
        let number = self.count;
        self.apps.push(App { number, bus, name, pid, device, waking, gone: false, tree: None });
    }

    /// Lets go of those that have left.
    fn drop_gone(&mut self) {
        let (gone, there): (Vec<App>, Vec<App>) =
            std::mem::take(&mut self.apps).into_iter().partition(|app| app.gone);
        self.apps = there;
        for app in gone {
            if let Some(device) = &app.device {
                self.hub.forget(&device.heard);
            }
            let left = Notice::Left { what: Thing::App, name: app.name.clone() };
            self.notice(left.clone());
            self.aside(left);
            if self.left.len() == LEFT {
                self.left.pop_front();
            }
            self.left.push_back((app.number, app.name));
        }
    }

    /// Reads all apps, each on its own. `watch` is in the handles of the desktop; those of them that are there and not
    /// shown come back with what is.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    pub(super) async fn read(&mut self, watch: &[Handle]) -> Result<(Vec<Part>, Vec<Handle>)> {
        self.refresh().await?;
        let reads = self.apps.iter_mut().map(|app| {
            let watch = of_app(watch, app.number);
            async move { app.read(&watch).await }
        });
        for read in all(reads).await {
            read?;
        }
        self.alive()?;
        self.drop_gone();
        // The process of a page stands in the window of its app, and is read there.
        let devices = self.apps.iter().filter_map(|app| app.device.as_ref());
        let guests: HashSet<String> =
            devices.flat_map(|device| device.heard.state().guests.clone()).collect();
        let shown = || self.apps.iter().filter(|app| !guests.contains(&app.bus));
        let mut hidden: Vec<Handle> = Vec::new();
        for app in shown() {
            match &app.tree {
                Some(tree) => hidden.extend(tree.hidden().iter().map(|&own| outer(app.number, own))),
                // It shows them still, and says nothing of them.
                None => hidden.extend(watch.iter().filter(|handle| inner(**handle).0 == app.number)),
            }
        }
        hidden.sort_unstable();
        Ok((shown().filter_map(App::part).collect(), hidden))
    }

    /// An error when the bus is gone, over which everything comes.
    pub(super) fn alive(&self) -> Result<()> {
        if self.bus.closed() {
            return Err(lost("the accessibility bus of the desktop has ended"));
        }
        Ok(())
    }

    /// Whether an app is there.
    pub(super) fn has(&self, number: u64) -> bool {
        self.apps.iter().any(|app| app.number == number && !app.gone)
    }

    /// An app by its number, while it is there.
    pub(super) fn app(&mut self, number: u64) -> Option<&mut App> {
        self.apps.iter_mut().find(|app| app.number == number && !app.gone)
    }

    /// What an answer of one app means for the desktop: one that has left is none of its apps any more, one that does not
    /// answer keeps nobody waiting.
    ///
    /// # Errors
    /// That of the answer; `ELEMENT_NOT_FOUND` where the app has left, because its elements have with it.
    pub(super) async fn judged<T>(&mut self, number: u64, answer: Result<T>) -> Result<T> {
        let Err(mut error) = answer else { return answer };
        let closed = self.bus.closed();
        let Some(app) = self.app(number) else { return Err(error) };
        match error.code {
            ErrorCode::BackendLost if !closed => {
                let left = match &mut app.device {
                    Some(device) => device.ended().await.is_some(),
                    None => true,
                };
                // What is lost may be the display, and everything with it.
                if left {
                    app.gone = true;
                    error.code = ErrorCode::ElementNotFound;
                    error.message = format!("{} has left the desktop", quote(&app.name));
                    error = error.hint("stickpin snapshot -i shows the apps that are there");
                }
            }
            ErrorCode::Timeout => {
                app.falls_silent();
                error = error.hint("wait and try again; the other apps of the desktop go on");
            }
            _ => {}
        }
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_apps_have_one_name() {
        let name = |others: &[&str]| unlike("zenity", others.iter().copied());
        assert_eq!(name(&[]), "zenity");
        assert_eq!(name(&["gedit", "zenity"]), "zenity 2");
        assert_eq!(name(&["zenity", "zenity 2", "zenity 4"]), "zenity 3");
        assert_eq!(name(&["zenity 2"]), "zenity", "the name is free again");
    }

    #[test]
    fn a_process_is_called_after_its_program() {
        let own = program(Some(std::process::id())).unwrap();
        assert!(!own.is_empty() && !own.contains('/'), "{own}");
        assert_eq!(program(None), None);
    }
}
