//! An open app: its connections, its last capture, and the interpretation of its errors.

pub(crate) mod ask;
pub(crate) mod capture;
pub(crate) mod lifecycle;
pub(crate) mod pointer;
pub(crate) mod query;
pub(crate) mod readahead;
pub(crate) mod settle;
pub(crate) mod window_stack;

pub(crate) use window_stack::{ActionPrefetch, ElementPosition, WindowStack};

use crate::app::readahead::Readahead;
use crate::bus::{AccessibilityBus, Link};
use crate::capture::tables::Cells;
use crate::events::AppEvents;
use crate::limits::ACTIVATION;
use crate::model::{Object, ObjectTree, PathNumbers, Point, ROW, parents};
use crate::screen::Screen;
use crate::toolkit::profile::{Profile, Toolkit};
use hashbrown::HashMap;
use std::ops::Index;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{AppFolders, DeviceInfo, Dispatched, Error, Result, element_gone};
use stickpin_process::{kill_group, terminate_group};
use stickpin_tree::{Handle, IdentityGrade, NodeRef, Tree, quote};
use stickpin_x11desk::Window;
use tokio::process::Child;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// The connections to an open app, and its description.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) info: DeviceInfo,
    pub(crate) desktop: AccessibilityBus,
    pub(crate) link: Link,
    pub(crate) events: Arc<AppEvents>,
    pub(crate) ids: Arc<PathNumbers>,
    /// The address that was opened, such as `linux:gedit`.
    pub(crate) url: String,
    /// The display that shows the app's windows.
    pub(crate) screen: Screen,
    /// Whether the app belongs to a desktop session, which also reaches other apps.
    pub(crate) is_on_desktop: bool,
    /// The app's process, if we started the app.
    pub(crate) child: Mutex<Option<Child>>,
    /// The app's home and working directory, if we started the app.
    pub(crate) folders: Option<AppFolders>,
}

/// An app driven by a session, with its last capture and its last actions.
#[derive(Debug)]
pub(crate) struct LinuxDevice {
    pub(crate) app: App,
    /// The last capture.
    pub(crate) last: LastCapture,
    /// The cells of spreadsheets and trees, which are kept between captures.
    pub(crate) cells: Cells,
    /// The state of reading ahead.
    pub(crate) readahead: Readahead,
    /// The app's change count when notices were last requested.
    pub(crate) changes_reported: u64,
    /// The path of the object whose activation was last requested from GTK 4, and the time of the
    /// request. GTK 4 acts after a delay.
    pub(crate) activated: Option<(String, Instant)>,
    /// The time and position of the last press of the pointer.
    pub(crate) last_press: Option<(Instant, Point)>,
    /// The app's windows on the screen, if the app is known not to list all of them.
    pub(crate) unlisted: Vec<u32>,
    /// Whether the process is known to work constantly without signaling anything.
    pub(crate) always_busy: bool,
    /// The file chooser that a press opened, until it has its files.
    pub(crate) chooser: Option<Chooser>,
    /// A file chooser of another process.
    pub(crate) foreign: Option<ForeignChooser>,
    /// The number of choosers of other processes so far.
    pub(crate) choosers_met: u64,
    /// The windows of other processes for which notices were sent: ids and titles.
    pub(crate) foreign_windows: Vec<(u32, String)>,
    /// The windows that were listed while an action was prepared, and the time of the list, for the
    /// notices that are discarded before the action's input. Valid until the input is sent, or
    /// [`window_stack::FRESH`] has passed.
    pub(crate) listed: Option<(Instant, Vec<Window>)>,
}

impl LinuxDevice {
    /// Creates a device for the app of a process. `what` is the address that was opened; `None` if
    /// the device reads one of several apps, as in a desktop session.
    pub(crate) fn new(
        desktop: AccessibilityBus,
        link: Link,
        heard: Arc<AppEvents>,
        screen: Screen,
        (label, pid): (String, Option<u32>),
        what: Option<&str>,
    ) -> Self {
        let url = || format!("linux:{}", pid.map_or_else(|| link.name.clone(), |pid| pid.to_string()));
        let url = what.map_or_else(url, str::to_owned);
        let mut info = DeviceInfo::new("linux", label, IdentityGrade::WhileAlive);
        (info.partial, info.pid) = (true, pid);
        let app = App {
            info,
            desktop,
            link,
            events: heard,
            ids: Arc::default(),
            url,
            screen,
            is_on_desktop: what.is_none(),
            child: Mutex::default(),
            folders: None,
        };
        Self {
            app,
            last: LastCapture::default(),
            cells: Cells::default(),
            readahead: Readahead::default(),
            changes_reported: 0,
            activated: None,
            last_press: None,
            unlisted: Vec::new(),
            always_busy: false,
            chooser: None,
            foreign: None,
            choosers_met: 0,
            foreign_windows: Vec::new(),
            listed: None,
        }
    }

    /// Borrows the app and its last capture.
    pub(crate) fn view(&self) -> AppView<'_> {
        AppView { app: &self.app, last: &self.last }
    }
}

/// An open file chooser.
#[derive(Debug, Clone)]
pub(crate) struct Chooser {
    /// The path of the chooser's window on the bus.
    pub(crate) top: String,
    /// The chooser's window on the display.
    pub(crate) window: Window,
}

/// An open file chooser of another process.
#[derive(Debug)]
pub(crate) struct ForeignChooser {
    pub(crate) handle: Handle,
    pub(crate) chooser: Chooser,
    /// The device of the process that shows the chooser.
    pub(crate) device: Box<LinuxDevice>,
}

/// Returns whether a handle denotes a chooser of another process rather than an element.
pub(crate) fn is_foreign(handle: Handle) -> bool {
    handle.scope == FOREIGN
}

/// The scope of handles that denote choosers of other processes. No element has this scope.
pub(crate) const FOREIGN: u64 = u32::MAX as u64;

/// A borrowed app and its last capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AppView<'d> {
    pub(crate) app: &'d App,
    pub(crate) last: &'d LastCapture,
}

impl AppView<'_> {
    /// Returns the index of a handle's object in the last capture; `None` if the capture lacks it.
    pub(crate) fn index(&self, handle: Handle) -> Option<usize> {
        self.last.at(&self.app.path(handle).ok()?)
    }

    /// Returns the object of a handle from the last capture.
    ///
    /// # Errors
    /// Returns `ELEMENT_NOT_FOUND` if the capture lacks it.
    pub(crate) fn object(&self, handle: Handle) -> Result<Object> {
        self.last.object(&self.app.path(handle)?).cloned().ok_or_else(element_gone)
    }
}

impl App {
    /// Returns the path of a handle.
    ///
    /// # Errors
    /// Returns `ELEMENT_NOT_FOUND` for an unknown handle.
    pub(crate) fn path(&self, handle: Handle) -> Result<Arc<str>> {
        let path = self.ids.path(handle.id).filter(|_| !is_foreign(handle)).ok_or_else(element_gone)?;
        // A row without its own object is located at its first cell.
        Ok(path.strip_suffix(ROW).map(Into::into).unwrap_or(path))
    }

    /// Returns the app's name for messages. It is quoted, because the app chose it.
    pub(crate) fn app_name(&self) -> String {
        quote(&self.info.label)
    }

    /// Returns the facts about the app's toolkit.
    pub(crate) fn profile(&self) -> Profile {
        self.link.toolkit.profile()
    }

    /// Returns whether all windows of the display belong to the app or were opened because of it.
    pub(crate) fn is_alone(&self) -> bool {
        self.screen.own && !self.is_on_desktop
    }
}

/// The last capture of the app, with an index of its objects. Empty before the first capture.
#[derive(Debug)]
pub(crate) struct LastCapture {
    pub(crate) picture: ObjectTree,
    /// The tree built from the capture.
    pub(crate) tree: Option<Arc<Tree>>,
    /// The app's change count when the capture began.
    pub(crate) changes_when_read: u64,
    by_path: HashMap<String, usize>,
    /// The parent of each object.
    pub(crate) parents: Vec<usize>,
}

impl Default for LastCapture {
    fn default() -> Self {
        let objects = vec![Object::default()];
        let picture = ObjectTree { toolkit: Toolkit::default(), objects, truncated: false };
        Self { picture, tree: None, changes_when_read: 0, by_path: HashMap::new(), parents: vec![0] }
    }
}

impl LastCapture {
    pub(crate) fn new(picture: ObjectTree, tree: Arc<Tree>, seen: u64) -> Self {
        // The first of two objects with the same path counts.
        let paths = picture.objects.iter().enumerate().rev();
        let by_path = paths.map(|(at, object)| (object.path.clone(), at)).collect();
        let parents = parents::parents(&picture);
        Self { picture, tree: Some(tree), changes_when_read: seen, by_path, parents }
    }

    /// Returns the paths of objects.
    pub(crate) fn paths(&self, of: &[usize]) -> Vec<String> {
        of.iter().map(|&at| self[at].path.clone()).collect()
    }

    /// Returns an element's node in the tree.
    pub(crate) fn node(&self, handle: Handle) -> Option<NodeRef<'_>> {
        self.tree.as_ref()?.find_handle(handle)
    }

    /// Describes an element by its node in the tree.
    pub(crate) fn words(&self, handle: Handle) -> Option<String> {
        self.node(handle).map(node_words)
    }

    /// Returns the index of the object with this path.
    pub(crate) fn at(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Returns the object with this path.
    pub(crate) fn object(&self, path: &str) -> Option<&Object> {
        self.at(path).map(|at| &self[at])
    }

    /// Returns the indices from an object up to its window, starting with the object itself.
    pub(crate) fn chain(&self, at: usize) -> Vec<usize> {
        parents::path_up(&self.parents, at)
    }

    /// Returns the top-level window of an object.
    pub(crate) fn top(&self, at: usize) -> usize {
        self.chain(at).last().copied().unwrap_or(at)
    }
}

impl Index<usize> for LastCapture {
    type Output = Object;

    fn index(&self, at: usize) -> &Object {
        &self.picture[at]
    }
}

/// Describes an element by its role and name.
pub(crate) fn node_words(node: NodeRef<'_>) -> String {
    match node.name() {
        "" => node.role().to_string(),
        name => format!("{} {}", node.role(), quote(name)),
    }
}

/// Ends an app that we started, with its child processes.
///
/// # Errors
/// Returns `IO` when waiting for the app's exit fails.
pub(crate) async fn end_child(mut child: Child, label: &str) -> Result<()> {
    let Some(pid) = child.id() else { return Ok(()) };
    // The app may still need to save its data; it is killed only if it does not end in time.
    terminate_group(pid);
    if timeout(LEAVE, child.wait()).await.is_err() {
        kill_group(pid);
    }
    let waited = child.wait().await.map(drop);
    waited.map_err(|e| Error::io(format!("cannot wait for {} to exit: {e}", quote(label))))
}

/// Returns the error for an app that is gone.
pub(crate) fn app_lost(what: &str) -> Error {
    Error::backend_lost(what.to_owned()).hint("run `stickpin open linux:APP` to start it again")
}

/// Timeout for an app to end on request.
pub(crate) const LEAVE: Duration = Duration::from_secs(2);

pub(crate) fn unknown(e: Error) -> Error {
    e.dispatched(Dispatched::Unknown)
}

/// Waits until an element has performed its last activation. GTK 4 first shows the button as
/// pressed, and drops a second press meanwhile. The action may change the element, so it must be
/// read again afterwards.
pub(crate) async fn until_activated(device: &LinuxDevice, target: Handle) -> Result<()> {
    let (path, pending) = (device.app.path(target)?, pending(device));
    if !pending.is_zero() && device.activated.as_ref().is_some_and(|(at, _)| **at == *path) {
        tokio::time::sleep(pending).await;
    }
    Ok(())
}

/// Returns the time until GTK 4 performs the last activation; zero if no activation is pending.
pub(crate) fn pending(device: &LinuxDevice) -> Duration {
    let activated = device.activated.as_ref();
    activated.map_or(Duration::ZERO, |(_, at)| ACTIVATION.saturating_sub(at.elapsed()))
}
