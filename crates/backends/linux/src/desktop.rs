//! The whole desktop as one device: it holds a device per running app, shows their trees as one, and hands every question
//! and act to the app whose element it is about (ADR 38).
//!
//! `apps` is who is there, `merge` their trees, `route` which of them an input is for, `device` what the kernel asks.

mod apps;
mod device;
mod inaccessible;
mod merge;
mod route;

use crate::app::{LinuxDevice, gone};
use crate::bus::Desktop;
use crate::events::Heard;
use crate::extents::has;
use crate::launch::Launched;
use crate::opening::{Opening, unsaid};
use crate::provider::{LinuxProvider, QUIET, no_registry};
use crate::screen::Screen;
use apps::{App, Hub, Waking};
use hashbrown::HashSet;
use merge::{Attention, Merged, Part, app_of, inner, outer};
use route::{Way, ends_elsewhere, for_app};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{
    Action, AimOptions, Arrived, CancellationToken, Device, DeviceInfo, Error, ErrorCode, Hit, Landed,
    Located, Notice, OpenRequest, Performed, Result, SettleRequest, unsupported,
};
use stickpin_tree::{Handle, IdentityGrade, NodeId};
use stickpin_x11desk::Window;
use tokio::process::Child;

/// What it is opened as: `linux:desktop`.
pub(crate) const NAME: &str = "desktop";

/// How long a wait for a change goes on without looking: not everything is signalled.
const NET: Duration = Duration::from_millis(500);

/// Notices that are kept until they are asked for.
const NOTICES: usize = 64;

/// The desktop.
#[derive(Debug)]
pub(crate) struct Desk {
    info: DeviceInfo,
    /// What was opened: `linux:desktop`.
    url: String,
    provider: LinuxProvider,
    /// The accessibility bus, over which all apps are asked.
    bus: Desktop,
    hub: Arc<Hub>,
    /// What the registry signals: apps that come and go.
    registry: Arc<Heard>,
    /// How often it had when the apps were looked for last.
    known: u64,
    screen: Screen,
    /// How the desktop was opened; apps are started in the folders that it names.
    request: OpenRequest,
    apps: Vec<App>,
    /// Apps so far.
    count: u64,
    /// Those that have left last, by number and name.
    left: VecDeque<(u64, String)>,
    /// What became of the desktop that nobody was told yet.
    asides: Vec<Notice>,
    /// Waits for the registry, where it did not answer when it was asked last.
    hangs: Option<Waking>,
    /// Names on the bus that said nothing while it hung.
    mute: HashSet<String>,
    /// Apps that this session started, with what started them.
    started: Vec<(Child, String)>,
    merged: Option<Merged>,
    /// The apps that the command that runs has acted on.
    acted: Vec<u64>,
    /// The app that was acted on last.
    keys: Option<u64>,
    /// The window of an app that is not on the accessibility bus, where that was pressed last.
    inaccessible_keys: Option<u32>,
    notices: Vec<Notice>,
}

impl Desk {
    /// Takes the desktop that the person uses, or begins an empty one of the session's own.
    ///
    /// # Errors
    /// As [`stickpin_device::Provider::open`].
    pub(crate) async fn open(provider: &LinuxProvider, request: &OpenRequest) -> Result<Self> {
        let opening = Opening::begin(&request.cancel);
        // Before anything is started for options that exclude one another.
        provider.dirs(request)?;
        let mut screen = provider.screen(request, &opening).await?;
        let connect = Self::connect(provider, &screen, &opening);
        let connected = match opening.part(connect, screen.fallen()).await {
            Ok(connected) => connected,
            Err(e) => {
                unsaid(screen.end().await);
                return Err(e);
            }
        };
        let (bus, hub, registry) = connected;
        let label = if screen.is_own() { "a desktop of its own" } else { "the desktop" };
        let (kind, grade) = ("linux", IdentityGrade::WhileAlive);
        let mut desk = Self {
            info: DeviceInfo { kind, label: label.to_owned(), grade, pid: None },
            url: request.what.clone(),
            provider: provider.clone(),
            bus,
            hub,
            registry,
            known: 0,
            screen,
            request: request.clone(),
            apps: Vec::new(),
            count: 0,
            left: VecDeque::new(),
            asides: Vec::new(),
            hangs: None,
            mute: HashSet::new(),
            started: Vec::new(),
            merged: None,
            acted: Vec::new(),
            keys: None,
            inaccessible_keys: None,
            notices: Vec::new(),
        };
        let ready = async {
            if request.viewport.is_some() && !desk.screen.is_own() {
                return Err(unsupported("linux desktop", "change the size of its screen"));
            }
            desk.refresh().await?;
            // What was there before is no news.
            desk.notices.clear();
            desk.asides.clear();
            Ok(())
        };
        if let Err(e) = ready.await {
            unsaid(desk.close().await);
            return Err(e);
        }
        Ok(desk)
    }

    async fn connect(
        provider: &LinuxProvider,
        screen: &Screen,
        opening: &Opening,
    ) -> Result<(Desktop, Arc<Hub>, Arc<Heard>)> {
        let (until, hub) = (opening.until, Arc::new(Hub::default()));
        let addresses = provider.addresses_on(screen);
        let hear = {
            let hub = Arc::clone(&hub);
            Box::new(move |message: &crate::bus::Message| hub.hear(message))
        };
        let bus = provider.bus(&addresses, hear, until).await?;
        // Toolkits that wait for somebody to listen register only then.
        if let Err(e) = Desktop::switch_on(&addresses, until).await {
            tracing::debug!("accessibility could not be switched on: {e}");
        }
        let registry = bus.registered(until).await.map_err(no_registry)?.registry;
        let heard = hub.listener(&registry);
        bus.listen(&registry, until).await.map_err(no_registry)?;
        Ok((bus, hub, heard))
    }

    fn notice(&mut self, notice: Notice) {
        keep(&mut self.notices, notice);
    }

    /// Notes what is said whatever comes next.
    fn aside(&mut self, notice: Notice) {
        keep(&mut self.asides, notice);
    }

    /// Whether the registry has signalled since the apps were looked for last.
    fn has_news(&self) -> bool {
        self.registry.state().changes != self.known
    }

    /// The device of an app.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND` when it has left, `TIMEOUT` when it has never answered.
    fn device(&mut self, number: u64) -> Result<&mut LinuxDevice> {
        let app = self.app(number).ok_or_else(gone)?;
        let silent = format!("{} does not answer; it may hang", stickpin_tree::quote(&app.name));
        app.answering().ok_or_else(|| {
            Error::new(ErrorCode::Timeout, silent)
                .hint("wait and try again; the other apps of the desktop go on")
        })
    }

    /// The windows of the screen, the lowest first; none where there is no display.
    async fn windows(&mut self) -> Result<Option<Vec<Window>>> {
        match self.screen.x11_if_any().await? {
            Some(x11) => x11.run(|d| d.windows()).await.map(Some),
            None => Ok(None),
        }
    }

    /// The app that a window is of.
    fn app_with(&self, window: &Window) -> Option<u64> {
        let of = |app: &&App| !app.gone && app.pid.is_some() && app.pid == window.pid;
        self.apps.iter().find(of).map(|app| app.number)
    }

    /// The app whose window an input at a point of the screen goes to, and that window.
    async fn app_at(&mut self, (x, y): (f64, f64), to: &str) -> Result<Option<(u64, Window)>> {
        let x11 = self.screen.x11(to).await?;
        let (top, windows) = x11.run(move |d| Ok((d.top_at(x, y)?, d.windows()?))).await?;
        let there = windows.into_iter().find(|w| top == Some(w.frame) || top == Some(w.id));
        Ok(there.and_then(|window| Some((self.app_with(&window)?, window))))
    }

    /// The one active window of the screen. Apps say so themselves; where not exactly one does, the display is asked.
    async fn active(&mut self) -> Result<Option<(u64, Handle)>> {
        let all: Vec<(u64, Handle, bool)> = self
            .apps
            .iter_mut()
            .filter_map(|app| app.active().map(|(window, says)| (app.number, window, says)))
            .collect();
        let mut say = all.iter().filter(|(_, _, says)| *says);
        if let (Some(&(number, window, _)), None) = (say.next(), say.next()) {
            return Ok(Some((number, window)));
        }
        let Some(windows) = self.windows().await? else { return Ok(None) };
        let app = windows.iter().find(|w| w.active).and_then(|window| self.app_with(window));
        let of = |(number, ..): &&(u64, Handle, bool)| Some(*number) == app;
        Ok(all.iter().find(of).map(|&(number, window, _)| (number, window)))
    }

    /// The app that keys without a target go to: the one that was acted on last, else that of the active window.
    async fn keyboard(&mut self) -> Result<Option<u64>> {
        match self.keys.filter(|&number| self.has(number)) {
            Some(number) => Ok(Some(number)),
            None => Ok(self.active().await?.map(|(number, _)| number)),
        }
    }

    /// The app that an input is for.
    async fn receiver(&mut self, action: &Action) -> Result<u64> {
        match Way::of(action) {
            Way::Element(handle) => Ok(inner(handle).0),
            Way::Point(point) => match self.app_at(point, "press with the pointer").await? {
                Some((number, _)) => Ok(number),
                None => Err(Error::new(
                    ErrorCode::ElementOffscreen,
                    format!("no window of an app is at {:.0},{:.0}", point.0, point.1),
                )
                .hint("stickpin screenshot shows what is there")),
            },
            Way::Keys => self.keyboard().await?.ok_or_else(|| {
                Error::new(ErrorCode::ElementNotFound, "no app of the desktop has the keyboard")
                    .hint("name the element: stickpin type TARGET TEXT; stickpin snapshot -i lists them")
            }),
        }
    }

    /// What an app found, on the desktop.
    fn on_desktop(&self, number: u64, found: Located) -> Result<Located> {
        let merged = self.merged.as_ref();
        if let Some((merged, node)) =
            merged.and_then(|merged| Some((merged, merged.place(number, &found.tree, found.node)?)))
        {
            return Ok(Located { tree: Arc::clone(&merged.tree), node });
        }
        // Nothing of another app tells what an element is: they need not be there.
        let name = self.apps.iter().find(|app| app.number == number).map(|app| app.name.clone());
        let part = Part { number, name: name.unwrap_or_default(), tree: Some(Arc::clone(&found.tree)) };
        let attention = merged.map_or_else(Attention::default, Merged::attention);
        let alone = self.merge(vec![part], attention, Vec::new())?;
        let node = alone.place(number, &found.tree, found.node).ok_or_else(gone)?;
        Ok(Located { tree: alone.tree, node })
    }

    fn merge(&self, parts: Vec<Part>, attention: Attention, hidden: Vec<Handle>) -> Result<Merged> {
        Merged::of(parts, attention, &self.url, hidden)
            .map_err(|e| Error::new(ErrorCode::Internal, format!("the desktop made no tree: {e}")))
    }

    /// A node of the desktop itself: that of an app which is there.
    fn own_node(&self, handle: Handle) -> Option<Located> {
        app_of(handle).filter(|&number| self.has(number))?;
        let tree = Arc::clone(&self.merged.as_ref()?.tree);
        let node: NodeId = tree.find_handle(handle)?.id();
        Some(Located { tree, node })
    }

    /// What a look at an element gave: one whose app has left is not there.
    async fn looked(&mut self, number: u64, answer: Result<Option<Located>>) -> Result<Option<Located>> {
        match self.judged(number, answer).await {
            Ok(Some(found)) => self.on_desktop(number, found).map(Some),
            Ok(None) => Ok(None),
            Err(e) if e.code == ErrorCode::ElementNotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Notes which app an act goes to.
    fn acts_on(&mut self, number: u64) {
        if !self.acted.contains(&number) {
            self.acted.push(number);
        }
        self.keys = Some(number);
        self.inaccessible_keys = None;
    }

    /// What lies where a drag into another app is to end; none where that is the element.
    async fn in_the_way(&mut self, target: Handle) -> Result<Option<String>> {
        match self.aim(target, AimOptions::default()).await?.hit {
            Hit::Target => Ok(None),
            Hit::Covered { what, .. } | Hit::Held { what, .. } => Ok(Some(what)),
            Hit::OffScreen => Ok(Some("nothing that is on the screen".to_owned())),
        }
    }

    /// What becomes of a drag into another app where the window that it begins in lies below its end, too: the press
    /// brings that window to the front.
    async fn covers_the_end(&mut self, action: &Action) -> Result<Option<Landed>> {
        let Action::Drag { from, to, .. } = *action else { return Ok(None) };
        let covers = |(_, window): &(u64, Window)| has(window.whole(), to);
        let window = self.app_at(from, "drag").await?.filter(covers);
        Ok(window.map(|(_, window)| Landed::Elsewhere { what: window.words(), stopped: true }))
    }

    async fn send(
        &mut self,
        action: &Action,
        target: Option<Handle>,
        cancel: &CancellationToken,
    ) -> Result<(Performed, Option<Located>)> {
        self.alive()?;
        if let Some(performed) = self.send_to_inaccessible(action, cancel).await? {
            return Ok((performed, None));
        }
        let number = self.receiver(action).await?;
        let ends_elsewhere = ends_elsewhere(action, number);
        if let Some(end) = ends_elsewhere
            && let Some(what) = self.in_the_way(end).await?
        {
            let landed = Landed::Elsewhere { what, stopped: true };
            return Ok((Performed { handled: true, landed, ..Performed::default() }, None));
        }
        let other = self.keys != Some(number);
        let meant = match Way::of(action) {
            Way::Element(handle) => Some(inner(handle).1).filter(|_| other),
            Way::Point(_) | Way::Keys => None,
        };
        let action = for_app(action, number);
        let device = self.device(number)?;
        if let Some(element) = meant {
            // From here on keys go there, and what has the focus in it is to say so.
            let taken = device.take_keyboard(element).await;
            self.judged(number, taken).await?;
        }
        if ends_elsewhere.is_some()
            && let Some(landed) = self.covers_the_end(&action).await?
        {
            return Ok((Performed { handled: true, landed, ..Performed::default() }, None));
        }
        let device = self.device(number)?;
        let performed = match target.map(inner).filter(|(app, _)| *app == number) {
            Some((_, own)) => device.perform_and_glance(&action, own, cancel).await,
            None => device.perform(&action, cancel).await.map(|performed| (performed, None)),
        };
        self.acts_on(number);
        let (mut performed, behind) = self.judged(number, performed).await?;
        performed.chooser = performed.chooser.map(|own| outer(number, own));
        let behind = behind.map(|found| self.on_desktop(number, found)).transpose()?;
        Ok((performed, behind))
    }

    /// Starts an app on this desktop.
    async fn start(&mut self, what: &str, ready: Duration, cancel: &CancellationToken) -> Result<Arrived> {
        let (opened, opening) = (what, Opening::begin(cancel));
        let request = self.request(what, ready, cancel);
        let launch = self.provider.launch_of(what, &request.cwd)?;
        let (provider, bus, screen) = (&self.provider, &self.bus, &self.screen);
        let starting = provider.launch(bus, screen, &launch, &request, opening.until);
        let started = opening.part(starting, screen.fallen()).await;
        let (app, child) = match started {
            Err(e) => {
                // What was started has ended; the desktop has not, unless it says so itself.
                self.alive()?;
                return Err(not_started(e));
            }
            Ok(Launched::Registered(app, child)) => (app, child),
            Ok(Launched::Inaccessible(app)) => {
                let what = format!("{}; screenshot, press X,Y, type and key drive it", app.what);
                self.aside(Notice::Lacks { what });
                self.started.push((app.child, opened.to_owned()));
                return Ok(Arrived { moved: true, settled: true, ..Arrived::default() });
            }
        };
        self.started.push((child, what.to_owned()));
        self.refresh().await?;
        if let Some(number) = self.apps.iter().find(|known| known.bus == app.bus).map(|app| app.number) {
            self.acted = vec![number];
            self.keys = Some(number);
        }
        let settled = self.settle(SettleRequest { quiet: QUIET, cap: ready }, cancel).await?.settled;
        Ok(Arrived { moved: true, url: String::new(), title: String::new(), settled })
    }

    fn request(&self, what: &str, ready_timeout: Duration, cancel: &CancellationToken) -> OpenRequest {
        let (what, cancel) = (what.to_owned(), cancel.clone());
        OpenRequest { what, ready_timeout, cancel, attach: false, ..self.request.clone() }
    }
}

/// Adds a notice; the oldest goes where there are too many.
fn keep(notices: &mut Vec<Notice>, notice: Notice) {
    if notices.len() == NOTICES {
        notices.remove(0);
    }
    notices.push(notice);
}

/// The error of an app that did not come to the desktop.
fn not_started(e: Error) -> Error {
    match e.code {
        ErrorCode::BackendLost => Error { code: ErrorCode::DeviceNotFound, ..e }.hint(
            "the desktop is open all the same; stickpin devices lists what runs on that of this machine",
        ),
        ErrorCode::Timeout => {
            e.hint("one that runs already shows its window there: stickpin snapshot -i; stickpin doctor")
        }
        _ => e,
    }
}
