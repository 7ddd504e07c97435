//! The [`Device`] trait: one open app, perceived and operated through its platform.

use crate::capability::Capability;
use crate::capture::{CaptureRequest, CaptureResult, LocatedElement, Page, Query};
use crate::error::{Error, Result};
use crate::facets::{
    Clipboard, Dialogs, Events, Files, Geometry, Lifecycle, Navigator, Popups, Screenshots, Script, Tabs,
    Traffic,
};
use crate::input::{Action, Aim, AimOptions, InputOutcome, PreparedInput};
use crate::navigation::{SettleRequest, SettleResult};
use crate::notice::Notice;
use crate::ticket::Ticket;
use async_trait::async_trait;
use std::fmt;
use std::time::Duration;
use stickpin_tree::{Handle, IdentityGrade, Rect};
use tokio_util::sync::CancellationToken;

/// Static information about a device; constant while the device is open.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The kind of the provider that opened the device, such as `web`.
    pub kind: &'static str,
    /// The name of the opened app, for people: `Chromium 156`, `sim:shop`.
    pub label: String,
    /// The identity grade of the device's handles.
    pub grade: IdentityGrade,
    /// The process id of the app or browser behind the device, if known.
    pub pid: Option<u32>,
    /// Whether a full capture costs so much more than an action that effects are judged by the
    /// target alone. For such a device, the surroundings of the target in the results of
    /// [`Device::locate`] and [`Device::outcome`] may be older than the target.
    pub partial: bool,
    /// Whether any call, including one that sends input, can be dropped at any moment without harm.
    /// True if a call is a single request to another process, for example over HTTP. An action that
    /// takes too long then ends in `TIMEOUT` without ending the session.
    pub drop_safe: bool,
    /// Whether the app was quiet after it was opened, and if not, what was still active. Reported
    /// as quiet if opening waits for nothing.
    pub arrival: SettleResult,
}

impl DeviceInfo {
    /// Creates the information for a device in this process, with effects judged by full captures.
    #[must_use]
    pub fn new(kind: &'static str, label: impl Into<String>, grade: IdentityGrade) -> Self {
        Self {
            kind,
            label: label.into(),
            grade,
            pid: None,
            partial: false,
            drop_safe: false,
            arrival: SettleResult::quiet(),
        }
    }
}

/// An open app.
///
/// Calls are made one at a time. A call that is cancelled through its token stops at a point where
/// nothing is half done: a pressed button or key is always released. No method deals with refs,
/// pins or sessions.
#[async_trait]
pub trait Device: Send + fmt::Debug {
    /// Returns static information about the device.
    fn info(&self) -> &DeviceInfo;

    /// Returns what the device supports. Commands that need other capabilities fail with
    /// `UNSUPPORTED`.
    fn capabilities(&self) -> &'static [Capability];

    /// Captures the whole UI; a tree that was cut short by a limit is marked as truncated. The tree
    /// contains no bounding boxes.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST`, `TIMEOUT`, or `DIALOG_OPEN` when a dialog keeps the app from
    /// answering.
    async fn capture(&mut self, request: CaptureRequest<'_>) -> Result<CaptureResult>;

    /// Returns the current address and title when the device knows them without a capture, from
    /// events or one cheap request. `None` means that a capture is needed to find out.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the app is gone.
    async fn page(&mut self) -> Result<Option<Page>> {
        Ok(None)
    }

    /// Locates one element by its handle, or returns `None` when the element is no longer
    /// connected.
    ///
    /// The returned tree has the format of a capture and may contain the whole UI. It contains at
    /// least what the record rule reads:
    /// - the node and its ancestors,
    /// - its row and dialog with their subtrees and siblings,
    /// - the headings before it,
    /// - the nodes of `context`.
    ///
    /// # Errors
    /// Returns the errors of `capture`.
    async fn locate(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<LocatedElement>>;

    /// Returns the bounding boxes of elements, in CSS pixels of the viewport. An element without a
    /// box yields `None`.
    ///
    /// # Errors
    /// Returns the errors of `capture`.
    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>>;

    /// Brings an element into view and chooses a point in it. Moves the pointer to that point if
    /// requested, lets the app react for one frame, and reports what a press at the point would hit
    /// *now*.
    ///
    /// # Errors
    /// Returns the errors of `capture`, and `ELEMENT_NOT_FOUND` when the element is gone.
    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim>;

    /// Prepares an action: aims at an element and, if an input would reach it, locates it again as
    /// [`Device::locate`] does.
    ///
    /// Nothing is committed: the caller judges the result. `seen` is the ticket of the previous
    /// [`LocatedElement`].
    ///
    /// # Errors
    /// Returns the errors of `capture`, and `ELEMENT_NOT_FOUND` when the element is gone.
    async fn prepare(
        &mut self,
        handle: Handle,
        context: &[Handle],
        options: AimOptions<'_>,
        _seen: Ticket,
    ) -> Result<PreparedInput> {
        let mut prepared = PreparedInput::new(self.aim(handle, options).await?);
        let blocked = self.dialogs().is_some_and(|dialogs| dialogs.dialog().is_some());
        if prepared.aim.hit.allows_input() && self.info().grade != IdentityGrade::None && !blocked {
            prepared.located = self.locate(handle, context).await?;
        }
        Ok(prepared)
    }

    /// Performs one action through the platform's real input. Returns when the app has received the
    /// input, or as soon as a dialog opens.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED`, `BACKEND_LOST`, `TIMEOUT`, or `ELEMENT_NOT_FOUND` when the target is
    /// gone or lacks an option to select. `dispatched` states whether the first input event was
    /// sent.
    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<InputOutcome>;

    /// Commits a prepared action: like [`Device::perform`], but for a target that was judged in the
    /// state that [`Device::prepare`] reported. `prepared` is the ticket of that call.
    ///
    /// # Errors
    /// Returns the errors of [`Device::perform`].
    async fn commit(
        &mut self,
        action: &Action,
        _prepared: Ticket,
        cancel: &CancellationToken,
    ) -> Result<InputOutcome> {
        self.perform(action, cancel).await
    }

    /// Locates the target of an input that was performed, as [`Device::locate`] does, if that is
    /// possible without reading the whole app. `performed` is the ticket of the input.
    ///
    /// Returns `None` if the element is no longer connected, and also if only a capture can show
    /// whether it is. The result need not show that a parent has vanished.
    ///
    /// # Errors
    /// Returns the errors of `capture`.
    async fn outcome(&mut self, target: Handle, _performed: Ticket) -> Result<Option<LocatedElement>> {
        self.locate(target, &[]).await
    }

    /// Waits until the app is quiet or the request's `cap` has elapsed. Returns at once if idleness
    /// can be proved.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the app is gone.
    async fn settle(&mut self, request: SettleRequest, cancel: &CancellationToken) -> Result<SettleResult>;

    /// Waits until something may have changed since the last capture. Returns false when `timeout`
    /// elapses or `cancel` is cancelled first.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the app is gone.
    async fn changed(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool>;

    /// Answers a query about one element, for information that the tree lacks.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED`, `ELEMENT_NOT_FOUND` when the element is gone, and the errors of
    /// `capture`.
    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value>;

    /// Returns the notices since the last call, oldest first. Does not wait.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the app has died since then.
    async fn notices(&mut self) -> Result<Vec<Notice>>;

    /// Returns the facet for bounding boxes, hit tests and the viewport.
    fn geometry(&mut self) -> Option<&mut dyn Geometry> {
        None
    }

    /// Returns the facet for screenshots.
    fn screenshots(&mut self) -> Option<&mut dyn Screenshots> {
        None
    }

    /// Returns the facet for dialogs that block the app; `None` if dialogs are part of the tree.
    fn dialogs(&mut self) -> Option<&mut dyn Dialogs> {
        None
    }

    /// Returns the facet for addresses and history.
    fn navigator(&mut self) -> Option<&mut dyn Navigator> {
        None
    }

    /// Returns the facet for waiting on events other than tree changes, such as requests.
    fn events(&mut self) -> Option<&mut dyn Events> {
        None
    }

    /// Returns the facet for closing popups that a press opened.
    fn popups(&mut self) -> Option<&mut dyn Popups> {
        None
    }

    /// Returns the facet for tabs and windows; `None` if the app always has exactly one of them.
    fn tabs(&mut self) -> Option<&mut dyn Tabs> {
        None
    }

    /// Returns the facet for the clipboard that the device shares with its app.
    fn clipboard(&mut self) -> Option<&mut dyn Clipboard> {
        None
    }

    /// Returns the facet for file inputs and file choosers.
    fn files(&mut self) -> Option<&mut dyn Files> {
        None
    }

    /// Returns the facet for requests and downloads.
    fn traffic(&mut self) -> Option<&mut dyn Traffic> {
        None
    }

    /// Returns the facet for expressions in the app's own language.
    fn script(&mut self) -> Option<&mut dyn Script> {
        None
    }

    /// Returns the facet for what the device does between commands.
    fn lifecycle(&mut self) -> Option<&mut dyn Lifecycle> {
        None
    }

    /// Closes the app and everything that was started for it.
    ///
    /// # Errors
    /// Returns `IO` when something could not be removed.
    async fn close(&mut self) -> Result<()>;
}

/// Creates the error for a device that does not support an operation.
#[must_use]
pub fn unsupported(kind: &str, what: &str) -> Error {
    Error::unsupported(format!("a {kind} device cannot {what}"))
        .hint("run `stickpin capabilities` to see what the device can do")
}
