//! An open app: what is known of it, and what its errors mean.

pub(crate) mod ask;
pub(crate) mod life;
pub(crate) mod look;
pub(crate) mod pointer;
pub(crate) mod query;
pub(crate) mod readahead;
pub(crate) mod reading;
pub(crate) mod settle;

use crate::app::pointer::Pressed;
use crate::app::readahead::Readahead;
use crate::bus::{Desktop, Link};
use crate::capture::Known;
use crate::events::Heard;
use crate::limits::ACTIVATION;
use crate::model::ids::{Ids, Where};
use crate::model::{Object, Picture, parents, rows};
use crate::screen::Screen;
use crate::toolkit::Toolkit;
use hashbrown::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{AppFolders, DeviceInfo, Dispatched, Error, Result};
use stickpin_tree::{Handle, IdentityGrade, NodeRef, Tree, quote};
use stickpin_x11desk::Window;
use tokio::process::Child;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// An open app: the ways to it, and what it is called.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) info: DeviceInfo,
    pub(crate) desktop: Desktop,
    pub(crate) link: Link,
    pub(crate) heard: Arc<Heard>,
    pub(crate) ids: Arc<Ids>,
    pub(crate) at: Where,
    /// What it shows its windows on.
    pub(crate) screen: Screen,
    /// Whether it is one of the apps of a desktop, where the session reaches the others, too.
    pub(crate) among: bool,
    /// The app, where we started it.
    pub(crate) child: Mutex<Option<Child>>,
    /// Its home and working directory, where we started it.
    pub(crate) folders: Option<AppFolders>,
}

/// An app as a session drives it: the app, what was read of it, and what was done to it last.
#[derive(Debug)]
pub(crate) struct LinuxDevice {
    pub(crate) app: App,
    /// What was read last.
    pub(crate) last: Last,
    /// What is known of its spreadsheets and trees.
    pub(crate) known: Known,
    /// The readings that no command asked for.
    pub(crate) readahead: Readahead,
    /// How often it had changed when notices were last asked for.
    pub(crate) told: u64,
    /// What GTK 4 was last told to activate, and when: it does so a moment later.
    pub(crate) activated: Option<(String, Instant)>,
    /// When and where the pointer pressed last.
    pub(crate) pressed: Option<Pressed>,
    /// Windows on the screen of which the app has been found not to list all.
    pub(crate) unlisted: Vec<u32>,
    /// Whether its process works all the time without a word.
    pub(crate) always_busy: bool,
    /// The file chooser that a press has opened, until it has its files.
    pub(crate) chooser: Option<Chooser>,
    /// That of another process.
    pub(crate) foreign: Option<Foreign>,
    /// Such choosers so far.
    pub(crate) choosers_met: u64,
    /// The windows of other processes that belong to the app and were told of: their ids and
    /// titles.
    pub(crate) beside: Vec<(u32, String)>,
}

impl LinuxDevice {
    pub(crate) fn new(
        desktop: Desktop,
        link: Link,
        heard: Arc<Heard>,
        screen: Screen,
        label: String,
        what: &str,
    ) -> Self {
        let mut info = DeviceInfo::new("linux", label, IdentityGrade::WhileAlive);
        info.partial = true;
        let app = App {
            info,
            desktop,
            link,
            heard,
            ids: Arc::default(),
            at: Where { url: what.to_owned() },
            screen,
            among: false,
            child: Mutex::default(),
            folders: None,
        };
        Self {
            app,
            last: Last::default(),
            known: Known::default(),
            readahead: Readahead::default(),
            told: 0,
            activated: None,
            pressed: None,
            unlisted: Vec::new(),
            always_busy: false,
            chooser: None,
            foreign: None,
            choosers_met: 0,
            beside: Vec::new(),
        }
    }

    /// The app, and what was read of it last.
    pub(crate) fn view(&self) -> View<'_> {
        View { app: &self.app, last: &self.last }
    }
}

/// A file chooser that is open.
#[derive(Debug, Clone)]
pub(crate) struct Chooser {
    /// The path of its window on the bus.
    pub(crate) top: String,
    /// That window on the display.
    pub(crate) window: Window,
}

/// A chooser of another process that is open.
#[derive(Debug)]
pub(crate) struct Foreign {
    pub(crate) handle: Handle,
    pub(crate) chooser: Chooser,
    /// Its process.
    pub(crate) device: Box<LinuxDevice>,
}

/// Whether a handle stands for such a chooser, and for no element.
pub(crate) fn is_foreign(handle: Handle) -> bool {
    handle.scope == FOREIGN
}

/// The scope of the handle of such a chooser, which no element has.
pub(crate) const FOREIGN: u64 = u32::MAX as u64;

/// An app, and what was read of it last: what asks it and judges by that borrows both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'d> {
    pub(crate) app: &'d App,
    pub(crate) last: &'d Last,
}

impl View<'_> {
    /// What was read last of the object behind a handle, by its index.
    pub(crate) fn index(&self, handle: Handle) -> Option<usize> {
        self.last.at(&self.app.path(handle).ok()?)
    }

    /// What was read last of the object behind a handle.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND`.
    pub(crate) fn object(&self, handle: Handle) -> Result<Object> {
        self.last.object(&self.app.path(handle)?).cloned().ok_or_else(gone)
    }
}

impl App {
    /// The path of a handle.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND` for one that was never given.
    pub(crate) fn path(&self, handle: Handle) -> Result<Arc<str>> {
        let path = self.ids.path(handle.id).filter(|_| !is_foreign(handle)).ok_or_else(gone)?;
        // A row that the app has no object for is where its first cell is.
        Ok(path.strip_suffix(rows::ROW).map(Into::into).unwrap_or(path))
    }

    /// What messages call the app: it chose its title itself.
    pub(crate) fn called(&self) -> String {
        quote(&self.info.label)
    }

    /// Whether all windows of the display belong to the app or came because of it.
    pub(crate) fn is_alone(&self) -> bool {
        self.screen.is_own() && !self.among
    }
}

/// The error of an element that vanished between being located and being acted on.
pub(crate) fn gone() -> Error {
    Error::element_not_found("the element is no longer in the app").hint("stickpin snapshot -i")
}

/// The last reading of the app, with its index. Before the first there is nothing in it.
#[derive(Debug)]
pub(crate) struct Last {
    pub(crate) picture: Picture,
    /// The tree that it made.
    pub(crate) tree: Option<Arc<Tree>>,
    /// How often the app had changed when that began.
    pub(crate) seen: u64,
    by_path: HashMap<String, usize>,
    /// What each object lies in.
    parents: Vec<usize>,
}

impl Default for Last {
    fn default() -> Self {
        let objects = vec![Object::default()];
        let picture = Picture { toolkit: Toolkit::default(), objects, truncated: false };
        Self { picture, tree: None, seen: 0, by_path: HashMap::new(), parents: vec![0] }
    }
}

impl Last {
    pub(crate) fn new(picture: Picture, tree: Arc<Tree>, seen: u64) -> Self {
        // Of two with one path the first counts.
        let paths = picture.objects.iter().enumerate().rev();
        let by_path = paths.map(|(at, object)| (object.path.clone(), at)).collect();
        Self { parents: parents::parents(&picture), by_path, picture, tree: Some(tree), seen }
    }

    /// What was read, the app itself first.
    pub(crate) fn objects(&self) -> &[Object] {
        &self.picture.objects
    }

    /// The paths of some of that.
    pub(crate) fn paths(&self, of: &[usize]) -> Vec<String> {
        of.iter().map(|&at| self.picture.objects[at].path.clone()).collect()
    }

    /// An element as the tree has it.
    pub(crate) fn node(&self, handle: Handle) -> Option<NodeRef<'_>> {
        self.tree.as_ref()?.find_handle(handle)
    }

    /// An element in words, as the tree has it.
    pub(crate) fn words(&self, handle: Handle) -> Option<String> {
        self.node(handle).map(node_words)
    }

    /// The object with a path, by its index.
    pub(crate) fn at(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// The object with a path.
    pub(crate) fn object(&self, path: &str) -> Option<&Object> {
        self.at(path).map(|at| &self.picture.objects[at])
    }

    /// Indices from an object up to its window, itself first.
    pub(crate) fn chain(&self, at: usize) -> Vec<usize> {
        parents::way(&self.parents, at)
    }

    /// The window of the app that an object is or lies in.
    pub(crate) fn top(&self, at: usize) -> usize {
        self.chain(at).last().copied().unwrap_or(at)
    }
}

/// An element in words: its role and its name.
pub(crate) fn node_words(node: NodeRef<'_>) -> String {
    match node.name() {
        "" => node.role().to_string(),
        name => format!("{} {}", node.role(), quote(name)),
    }
}

/// Ends an app that we started, and what it started.
///
/// # Errors
/// `IO`.
pub(crate) async fn end_child(mut child: Child, label: &str) -> Result<()> {
    let Some(pid) = child.id() else { return Ok(()) };
    // It may save what it keeps; an app that does not listen is killed.
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        // It may just have ended by itself.
        rustix::process::kill_process_group(pid, rustix::process::Signal::TERM).ok();
        if timeout(LEAVE, child.wait()).await.is_err() {
            rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).ok();
        }
    }
    let waited = child.wait().await.map(drop);
    waited.map_err(|e| Error::io(format!("{} could not be waited for: {e}", quote(label))))
}

/// The app is gone.
pub(crate) fn lost(what: &str) -> Error {
    Error::backend_lost(what.to_owned()).hint("stickpin open starts it again")
}

/// How long an app that was asked to leave may take.
pub(crate) const LEAVE: Duration = Duration::from_secs(2);

pub(crate) fn unknown(e: Error) -> Error {
    e.dispatched(Dispatched::Unknown)
}

/// Waits until an element has done what it was last told to. GTK 4 shows a button pressed for a
/// moment first, and drops a second press in it. What it does then may make another thing of it: it
/// is to be looked at after that.
pub(crate) async fn until_activated(device: &LinuxDevice, target: Handle) -> Result<()> {
    let (path, pending) = (device.app.path(target)?, pending(device));
    if !pending.is_zero() && device.activated.as_ref().is_some_and(|(at, _)| **at == *path) {
        tokio::time::sleep(pending).await;
    }
    Ok(())
}

/// How long it takes until GTK 4 does what it was told to activate.
pub(crate) fn pending(device: &LinuxDevice) -> Duration {
    let activated = device.activated.as_ref();
    activated.map_or(Duration::ZERO, |(_, at)| ACTIVATION.saturating_sub(at.elapsed()))
}
