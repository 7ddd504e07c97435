//! An open app: what the device trait promises, each part in a file of its own.

mod life;
mod reading;

pub(crate) use life::{end_child, lost};
pub(crate) use reading::Last;

use crate::ahead::Ahead;
use crate::bus::{Desktop, Link};
use crate::capture::Known;
use crate::display::Window;
use crate::events::Heard;
use crate::ids::{Ids, Where};
use crate::looked::{Glance, Looked};
use crate::model::rows;
use crate::mouse::Pressed;
use crate::screen::Screen;
use crate::upload::{Chooser, Foreign, is_foreign};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{
    Action, Aim, AimOptions, AppFolders, Arrived, CancellationToken, Capability, CaptureRequest, Captured,
    Clipboard, Device, DeviceInfo, Dialog, DialogAnswer, Error, ErrorCode, FileInput, Files, Leave,
    Lifecycle, Located, Navigation, Notice, Page, Performed, Query, Result, SettleRequest, Settled, Shot,
    ShotRequest, unsupported,
};
use stickpin_tree::{Handle, IdentityGrade, Rect, Tree, quote};
use tokio::process::Child;

/// A running app.
#[derive(Debug)]
pub(crate) struct LinuxDevice {
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
    pub(crate) child: Option<Child>,
    /// Its home and working directory, where we started it.
    pub(crate) folders: Option<AppFolders>,
    /// What was read last, and the tree that it made.
    pub(crate) last: Option<Last>,
    /// What is known of its spreadsheets and trees.
    pub(crate) known: Known,
    /// How often the app had changed when that began.
    pub(crate) seen: u64,
    /// How often it had changed when notices were last asked for.
    pub(crate) told: u64,
    /// What GTK 4 was last told to activate, and when: it does so a moment later.
    pub(crate) activated: Option<(String, Instant)>,
    /// When and where the pointer pressed last.
    pub(crate) pressed: Option<Pressed>,
    /// The actions that an element listed when it was asked for last: its path and their names. A press takes them.
    pub(crate) listed: Option<(String, Vec<String>)>,
    /// Windows on the screen of which the app has been found not to list all.
    pub(crate) unlisted: Vec<u32>,
    /// The look at what is about to be pressed.
    pub(crate) looked: Option<Looked>,
    /// The windows of the display as that look found them, until something is done.
    pub(crate) sighted: Option<Vec<Window>>,
    /// A look at a target right behind the act on it.
    pub(crate) glance: Option<Glance>,
    /// Whether its process works all the time without a word.
    pub(crate) always_busy: bool,
    /// How long the last reading took.
    pub(crate) took: Duration,
    /// A reading after an act, for what comes next.
    pub(crate) ahead: Option<Ahead>,
    /// The file chooser that a press has opened, until it has its files.
    pub(crate) chooser: Option<Chooser>,
    /// That of another process.
    pub(crate) foreign: Option<Foreign>,
    /// Such choosers so far.
    pub(crate) choosers_met: u64,
    /// The windows of other processes that belong to the app and were told of: their ids and titles.
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
        let info = DeviceInfo { kind: "linux", label, grade: IdentityGrade::WhileAlive, pid: None };
        Self {
            info,
            desktop,
            link,
            heard,
            ids: Arc::default(),
            at: Where { url: what.to_owned() },
            screen,
            among: false,
            child: None,
            folders: None,
            last: None,
            known: Known::default(),
            seen: 0,
            told: 0,
            activated: None,
            pressed: None,
            listed: None,
            unlisted: Vec::new(),
            looked: None,
            sighted: None,
            glance: None,
            always_busy: false,
            took: Duration::ZERO,
            ahead: None,
            chooser: None,
            foreign: None,
            choosers_met: 0,
            beside: Vec::new(),
        }
    }

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
    fn called(&self) -> String {
        quote(&self.info.label)
    }
}

/// An element in a tree.
fn within(tree: Arc<Tree>, handle: Handle) -> Option<Located> {
    let node = tree.find_handle(handle).map(|node| node.id());
    node.map(|node| Located { tree, node })
}

/// The error of an element that vanished between being located and being acted on.
pub(crate) fn gone() -> Error {
    Error::new(ErrorCode::ElementNotFound, "the element is no longer in the app").hint("stickpin snapshot -i")
}

/// The error of who answers a dialog as of a browser.
pub(crate) fn no_dialog() -> Error {
    Error::new(ErrorCode::ElementNotFound, "no dialog is open")
        .hint("the dialogs of an app are in its tree: press their buttons")
}

#[async_trait]
impl Device for LinuxDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn capabilities(&self) -> &'static [Capability] {
        crate::provider::CAPABILITIES
    }

    async fn page(&mut self) -> Result<Option<Page>> {
        self.alive().await?;
        let title = self.title().await?;
        Ok(title.map(|title| Page { url: self.at.url.clone(), title }))
    }

    async fn url(&mut self) -> Result<Option<String>> {
        self.alive().await?;
        // It is what was opened, whatever the app has become.
        Ok(Some(self.at.url.clone()))
    }

    async fn capture(&mut self, request: CaptureRequest<'_>) -> Result<Captured> {
        self.alive().await?;
        let tree = self.look(request.watch).await?;
        let stored = request.stored.is_some_and(|stored| Arc::ptr_eq(stored, &tree));
        Ok(if stored { Captured::Unchanged } else { Captured::Tree(tree) })
    }

    async fn locate(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<Located>> {
        self.alive().await?;
        if self.ids.path(handle.id).is_none() {
            return Ok(None);
        }
        let tree = match self.just_looked(handle, context) {
            Some(tree) => tree,
            None => {
                self.take_ahead().await;
                match self.still(handle, context).await? {
                    Some(tree) => tree,
                    None => self.look(&[]).await?,
                }
            }
        };
        Ok(within(tree, handle))
    }

    async fn glance(&mut self, handle: Handle) -> Result<Option<Located>> {
        self.alive().await?;
        let tree = self.itself_now(handle).await?;
        Ok(tree.and_then(|tree| within(tree, handle)))
    }

    fn glances(&self) -> bool {
        true
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.boxes(handles).await
    }

    async fn rects_in_picture(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.boxes_on_top(handles).await
    }

    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
        self.aim_at(handle, options).await
    }

    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        self.alive().await?;
        self.element_there(x, y).await
    }

    async fn point_at(&mut self, x: f64, y: f64) -> Result<()> {
        self.point_to(x, y).await
    }

    async fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        let x11 = self.screen.x11("change the size of a window").await?;
        let Some((_, window)) = self.active_window().await? else {
            return Err(self.screen.unseen("change the size of a window"));
        };
        if x11.run(move |d| d.resize(&window, width, height)).await? {
            return Ok(());
        }
        Err(Error::new(ErrorCode::Unsupported, format!("the window of {} keeps its own size", self.called()))
            .hint("stickpin screenshot shows how large it is"))
    }

    async fn fold(&mut self, _opener: Handle, _older: &[Handle]) -> Result<bool> {
        self.alive().await?;
        self.fold_popup().await
    }

    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<Performed> {
        self.alive().await?;
        // What is read while it acts is neither what was nor what comes of it.
        self.ahead = None;
        (self.looked, self.sighted) = (None, None);
        let performed = self.act(action, cancel).await;
        self.look_ahead();
        performed
    }

    async fn perform_and_glance(
        &mut self,
        action: &Action,
        target: Handle,
        cancel: &CancellationToken,
    ) -> Result<(Performed, Option<Located>)> {
        self.glance = Some(Glance::Wanted(target));
        let performed = self.perform(action, cancel).await;
        let glance = self.glance.take();
        Ok((performed?, glance.and_then(Glance::seen).and_then(|tree| within(tree, target))))
    }

    async fn settle(&mut self, request: SettleRequest, cancel: &CancellationToken) -> Result<Settled> {
        self.until_quiet(request, cancel).await
    }

    async fn changed(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool> {
        self.until_changed(timeout, cancel).await
    }

    async fn effects(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        self.until_effect(at_most, cancel).await
    }

    async fn navigate(
        &mut self,
        to: &Navigation,
        _leave: Leave,
        _timeout: Duration,
        _cancel: &CancellationToken,
    ) -> Result<Arrived> {
        match to {
            Navigation::To(what) => Err(Error::new(
                ErrorCode::Unsupported,
                format!("{} stays what it is; {what} is another app or another run of it", self.called()),
            )
            .hint(format!("stickpin open {what} --relaunch, or --session NAME to have both"))),
            _ => Err(unsupported("linux", "go back, forward or home")),
        }
    }

    async fn screenshot(&mut self, request: ShotRequest) -> Result<Shot> {
        self.alive().await?;
        self.shot(&request).await
    }

    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value> {
        self.alive().await?;
        self.answer(handle, query).await
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        self.alive().await?;
        let (mut notices, changes) = {
            let mut heard = self.heard.state();
            (heard.notices.drain(..).collect::<Vec<_>>(), heard.changes)
        };
        if std::mem::replace(&mut self.told, changes) != changes {
            notices.insert(0, Notice::Changed);
        }
        notices.extend(self.strangers_told().await);
        Ok(notices)
    }

    fn dialog(&self) -> Option<Dialog> {
        // Dialogs of an app are windows of its tree: nothing keeps it from answering.
        None
    }

    async fn answer_dialog(&mut self, _answer: DialogAnswer) -> Result<()> {
        Err(no_dialog())
    }

    fn clipboard(&mut self) -> Option<&mut dyn Clipboard> {
        Some(self)
    }

    fn files(&mut self) -> Option<&mut dyn Files> {
        Some(self)
    }

    fn lifecycle(&mut self) -> Option<&mut dyn Lifecycle> {
        Some(self)
    }

    async fn close(&mut self) -> Result<()> {
        let ended = self.end_app().await;
        let screen = self.screen.end().await;
        ended.and(screen)
    }
}

#[async_trait]
impl Clipboard for LinuxDevice {
    async fn read_clipboard(&mut self) -> Result<String> {
        self.screen.read_clipboard().await
    }

    async fn write_clipboard(&mut self, text: &str) -> Result<()> {
        self.screen.write_clipboard(text).await
    }
}

#[async_trait]
impl Files for LinuxDevice {
    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>> {
        Ok(self.chooser_of(handle))
    }

    async fn dismiss(&mut self, chooser: Handle) -> Result<Option<bool>> {
        self.alive().await?;
        self.close_chooser(chooser).await.map(Some)
    }
}

#[async_trait]
impl Lifecycle for LinuxDevice {
    fn app_folders(&self) -> Option<AppFolders> {
        self.folders.clone()
    }

    fn act_begins(&mut self) {
        // What another command asked is no look of this one.
        (self.looked, self.sighted) = (None, None);
    }

    async fn ended(&mut self) -> Option<String> {
        self.how_it_ended().await
    }
}
