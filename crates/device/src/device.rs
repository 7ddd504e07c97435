//! An open app, as its platform perceives it and acts on it.

use crate::capability::Capability;
use crate::capture::{CaptureRequest, Captured, Located, Page, Query};
use crate::error::{Error, Result};
use crate::facets::{
    Clipboard, Dialogs, Events, Files, Geometry, Lifecycle, Navigator, Pictures, Popups, Script, Tabs,
    Traffic,
};
use crate::input::{Action, Aim, AimOptions, Performed, Prepared};
use crate::navigation::{SettleRequest, Settled};
use crate::notice::Notice;
use crate::ticket::Ticket;
use async_trait::async_trait;
use std::fmt;
use std::time::Duration;
use stickpin_tree::{Handle, IdentityGrade, Rect};
use tokio_util::sync::CancellationToken;

/// What a device says of itself; constant while it is open.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The provider's kind.
    pub kind: &'static str,
    /// What was opened, for people: `Chromium 156`, `sim:shop`.
    pub label: String,
    /// What its handles promise.
    pub grade: IdentityGrade,
    /// Process id of the child that is the device, if there is one.
    pub pid: Option<u32>,
    /// Whether reading the whole app costs so much more than an act that what became of a target is told by the target
    /// alone: what [`Device::locate`] and [`Device::outcome`] have around it may be older.
    pub partial: bool,
    /// Whether a call can be dropped at any moment without harm, also one that sends an input: one request to somebody
    /// else, as over HTTP. Then an act that takes too long ends in `TIMEOUT`, and not its session with it.
    pub drop_safe: bool,
}

impl DeviceInfo {
    /// A device that tells of the whole app, in this process.
    #[must_use]
    pub fn new(kind: &'static str, label: impl Into<String>, grade: IdentityGrade) -> Self {
        Self { kind, label: label.into(), grade, pid: None, partial: false, drop_safe: false }
    }
}

/// An open app.
///
/// Calls come one at a time. A call that is cancelled by its token ends at a point where nothing is half done: a
/// pressed button or key is always released. No method looks at a ref, a pin or a session.
#[async_trait]
pub trait Device: Send + fmt::Debug {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// What it can do; what is missing here it cannot. Commands that need that answer `UNSUPPORTED`.
    fn capabilities(&self) -> &'static [Capability];

    /// The whole UI, bounded by limits that set `truncated`. Without rects, without views.
    ///
    /// # Errors
    /// `BACKEND_LOST`, `TIMEOUT`, `DIALOG_OPEN` where a dialog stops the app from answering.
    async fn capture(&mut self, request: CaptureRequest<'_>) -> Result<Captured>;

    /// Where the app is, when the device knows it without a capture (from events, or by one cheap question);
    /// `None`: capture to find out.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    async fn page(&mut self) -> Result<Option<Page>> {
        Ok(None)
    }

    /// Looks for one element by its handle, now: `None` when it is no longer connected. The tree that comes with it
    /// has the capture's own format and holds at least what the record rule reads: the node, its ancestors, its row
    /// and dialog with their subtrees and siblings, the headings before it, and the nodes of `context`. It may hold
    /// the whole UI.
    ///
    /// # Errors
    /// As `capture`.
    async fn locate(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<Located>>;

    /// Where elements are, in pixels of the viewport; `None` for those without a box. For overlays and `get box`.
    ///
    /// # Errors
    /// As `capture`.
    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>>;

    /// Brings an element into view, moves the pointer there if asked, lets the app react (a frame), and says what a
    /// press at that point would hit *now*.
    ///
    /// # Errors
    /// As `capture`.
    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim>;

    /// The first half of an act: aims at an element, and where an input would reach it says what it is after that, as
    /// [`Device::locate`] would. Nothing is committed: the caller judges what it is told. `seen`: from the last look at it.
    ///
    /// # Errors
    /// As `capture`; `ELEMENT_NOT_FOUND` when it is gone.
    async fn prepare(
        &mut self,
        handle: Handle,
        context: &[Handle],
        options: AimOptions<'_>,
        _seen: Ticket,
    ) -> Result<Prepared> {
        let mut prepared = Prepared::new(self.aim(handle, options).await?);
        let blocked = self.dialogs().is_some_and(|dialogs| dialogs.dialog().is_some());
        if prepared.aim.hit.is_free() && self.info().grade != IdentityGrade::None && !blocked {
            prepared.located = self.locate(handle, context).await?;
        }
        Ok(prepared)
    }

    /// Does one thing to the app by the platform's real input. Returns when the app has received it, or as soon as
    /// a dialog opened.
    ///
    /// # Errors
    /// `UNSUPPORTED`, `BACKEND_LOST`, `TIMEOUT`; `dispatched` says whether the first input event was written.
    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<Performed>;

    /// The second half of an act: as [`Device::perform`], for a target that was judged as it is since [`Device::prepare`],
    /// whose ticket is `prepared`.
    ///
    /// # Errors
    /// As [`Device::perform`].
    async fn commit(
        &mut self,
        action: &Action,
        _prepared: Ticket,
        cancel: &CancellationToken,
    ) -> Result<Performed> {
        self.perform(action, cancel).await
    }

    /// What became of the target of an input whose ticket is `performed`, where the device can tell that without reading
    /// the app anew: as [`Device::locate`], and none also when nothing but a capture can say. A parent that vanished need
    /// not show.
    ///
    /// # Errors
    /// As `capture`.
    async fn outcome(&mut self, target: Handle, _performed: Ticket) -> Result<Option<Located>> {
        self.locate(target, &[]).await
    }

    /// Waits until the app is quiet, or `cap` is over. Ends at once where idleness can be proved.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    async fn settle(&mut self, request: SettleRequest, cancel: &CancellationToken) -> Result<Settled>;

    /// Waits until something may have changed since the last capture; false when `timeout` was over first.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    async fn changed(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool>;

    /// Something about one element that is not in the tree.
    ///
    /// # Errors
    /// `UNSUPPORTED`, `ELEMENT_NOT_FOUND` when it is gone.
    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value>;

    /// What was seen since this was last asked, oldest first. Does not wait.
    ///
    /// # Errors
    /// `BACKEND_LOST` when the app died since.
    async fn notices(&mut self) -> Result<Vec<Notice>>;

    /// Where things are on the surface, and what is at a point.
    fn geometry(&mut self) -> Option<&mut dyn Geometry> {
        None
    }

    /// Pictures of the app.
    fn pictures(&mut self) -> Option<&mut dyn Pictures> {
        None
    }

    /// Dialogs that stop the app; none where its dialogs are in the tree.
    fn dialogs(&mut self) -> Option<&mut dyn Dialogs> {
        None
    }

    /// Addresses and history.
    fn navigator(&mut self) -> Option<&mut dyn Navigator> {
        None
    }

    /// Waits for more than a change of the tree.
    fn events(&mut self) -> Option<&mut dyn Events> {
        None
    }

    /// Closing what a press opened.
    fn popups(&mut self) -> Option<&mut dyn Popups> {
        None
    }

    /// Its tabs and windows; none where it has only one.
    fn tabs(&mut self) -> Option<&mut dyn Tabs> {
        None
    }

    /// The clipboard that it shares with its app.
    fn clipboard(&mut self) -> Option<&mut dyn Clipboard> {
        None
    }

    /// What takes files.
    fn files(&mut self) -> Option<&mut dyn Files> {
        None
    }

    /// What the app exchanges with the world outside.
    fn traffic(&mut self) -> Option<&mut dyn Traffic> {
        None
    }

    /// The app's own language.
    fn script(&mut self) -> Option<&mut dyn Script> {
        None
    }

    /// What the device does and undergoes beside the commands.
    fn lifecycle(&mut self) -> Option<&mut dyn Lifecycle> {
        None
    }

    /// Ends the app and everything that was started for it.
    ///
    /// # Errors
    /// `IO` when something could not be removed.
    async fn close(&mut self) -> Result<()>;
}

/// An error of a device that is not there for this.
#[must_use]
pub fn unsupported(kind: &str, what: &str) -> Error {
    Error::unsupported(format!("a {kind} device cannot {what}")).hint("stickpin capabilities")
}
