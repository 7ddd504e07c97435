//! What a platform has to offer. A backend implements [`Provider`] and [`Device`], and knows nothing of sessions,
//! refs or pins; the kernel judges, the device perceives and acts.

use crate::error::{Error, Result};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use stickpin_tree::{Handle, IdentityGrade, NodeId, Rect, Tree};
pub use tokio_util::sync::CancellationToken;

/// A platform: finds, opens and describes devices.
#[async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// The word before the colon in `open WHAT` and in `devices`: `web`, `sim`, `linux`.
    fn kind(&self) -> &'static str;

    /// Whether `open WHAT` is meant for this provider. The first provider that claims it opens it.
    fn claims(&self, what: &str) -> bool;

    /// Starts or finds what `request.what` names and returns when it is ready to be captured.
    ///
    /// # Errors
    /// `DEVICE_NOT_FOUND`, `TOOL_MISSING` with the install command, `BACKEND_LOST`, `TIMEOUT`, `INVALID_ARGS`.
    async fn open(&self, request: OpenRequest) -> Result<Box<dyn Device>>;

    /// What could be opened here: apps, browsers.
    ///
    /// # Errors
    /// As `open`.
    async fn devices(&self) -> Result<Vec<DeviceEntry>>;

    /// What its devices can do. A test compares it with what they answer.
    fn capabilities(&self) -> &'static [(Capability, Support)];

    /// Looks at everything that this platform needs, for `doctor`.
    async fn doctor(&self) -> Vec<Check>;

    /// Removes what a killed process of ours left behind (profile folders, child processes recorded in
    /// `state_dir`). Called once when a host starts. Returns what was removed, for the log.
    ///
    /// # Errors
    /// `IO`.
    async fn sweep(&self, state_dir: &std::path::Path) -> Result<Vec<String>>;
}

/// What `open` was asked for.
#[derive(Debug, Clone)]
pub struct OpenRequest {
    /// What the user typed: a URL, `sim:shop`.
    pub what: String,
    /// The session that will drive it.
    pub session: String,
    /// A folder of this session's own that exists, is private, and is removed at close: profiles, downloads.
    pub dir: PathBuf,
    /// Show a window.
    pub headed: bool,
    /// Width and height of the viewport in CSS pixels.
    pub viewport: Option<(u32, u32)>,
    /// A profile folder to keep, instead of a fresh one.
    pub profile: Option<PathBuf>,
    /// How long the page may take until it is ready.
    pub ready_timeout: Duration,
    /// Stops the opening.
    pub cancel: CancellationToken,
}

/// What a device says of itself; constant while it is open.
#[derive(Debug, Clone)]
pub struct DeviceInfo {
    /// The provider's kind.
    pub kind: &'static str,
    /// What was opened, for people: `Chromium 156`, `sim:shop`.
    pub label: String,
    /// What its handles promise.
    pub grade: IdentityGrade,
    /// Process id of the child that is the device, if there is one.
    pub pid: Option<u32>,
}

/// One line of `devices`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceEntry {
    /// What to type after `open`.
    pub open: String,
    /// For people.
    pub title: String,
}

/// Something a device may be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named after the commands that need them")]
pub enum Capability {
    Capture,
    Locate,
    Press,
    LongPress,
    Hover,
    Drag,
    Fill,
    Type,
    Key,
    Select,
    Scroll,
    History,
    Reload,
    Navigate,
    Screenshot,
    Dialogs,
    Html,
    Attrs,
    Settle,
}

/// How far a capability goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Support {
    /// It works.
    Yes,
    /// It does not; commands that need it answer `UNSUPPORTED`.
    No,
}

/// One finding of `doctor`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was found.
    pub found: String,
    /// The command that mends it; empty if none is needed.
    pub fix: String,
}

/// An open app.
///
/// Calls come one at a time. A call that is cancelled by its token ends at a point where nothing is half done: a
/// pressed button or key is always released. No method looks at a ref, a pin or a session.
#[async_trait]
pub trait Device: Send + fmt::Debug {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

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
    async fn aim(&mut self, handle: Handle, options: AimOptions) -> Result<Aim>;

    /// The innermost element at a point of the viewport; `None` outside or where nothing is.
    ///
    /// # Errors
    /// As `capture`.
    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>>;

    /// Does one thing to the app by the platform's real input. Returns when the app has received it, or as soon as
    /// a dialog opened.
    ///
    /// # Errors
    /// `UNSUPPORTED`, `BACKEND_LOST`, `TIMEOUT`; `dispatched` says whether the first input event was written.
    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<Performed>;

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

    /// Goes somewhere else and returns when the new document is ready.
    ///
    /// # Errors
    /// `UNSUPPORTED`, `DEVICE_NOT_FOUND` for an address that cannot be reached, `INVALID_ARGS` for one that is none.
    async fn navigate(
        &mut self,
        to: &Navigation,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Arrived>;

    /// A picture of the viewport, the whole page, or one element.
    ///
    /// # Errors
    /// `UNSUPPORTED` and as `capture`.
    async fn screenshot(&mut self, request: ShotRequest) -> Result<Shot>;

    /// The addresses of all elements that a CSS selector matches, for `css=` terms. They are those of the last
    /// capture.
    ///
    /// # Errors
    /// `UNSUPPORTED` where there is no CSS, `INVALID_ARGS` for a selector that cannot be read.
    async fn css(&mut self, _selector: &str) -> Result<Vec<Handle>> {
        Err(unsupported(self.info().kind, "match `css=`"))
    }

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

    /// The dialog that waits for an answer. From events, never by asking.
    fn dialog(&self) -> Option<Dialog>;

    /// Answers the pending dialog.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND` when none is open.
    async fn answer_dialog(&mut self, answer: DialogAnswer) -> Result<()>;

    /// Ends the app and everything that was started for it.
    ///
    /// # Errors
    /// `IO` when something could not be removed.
    async fn close(&mut self) -> Result<()>;
}

/// The address and title of the top document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The address.
    pub url: String,
    /// The title; empty if it has none.
    pub title: String,
}

/// What a capture should take care of.
#[derive(Debug, Clone, Copy, Default)]
pub struct CaptureRequest<'a> {
    /// Handles that the session holds refs for: those that are connected but not captured come back in
    /// [`Tree::hidden`].
    pub watch: &'a [Handle],
    /// The caller still has the last tree, so `Unchanged` is an answer.
    pub may_be_unchanged: bool,
}

/// What a capture gave.
#[derive(Debug)]
pub enum Captured {
    /// A new tree.
    Tree(Box<Tree>),
    /// Nothing changed since the last capture, which is proven.
    Unchanged,
}

/// An element that was looked for.
#[derive(Debug)]
pub struct Located {
    /// The tree around it.
    pub tree: Tree,
    /// Which node of that tree it is.
    pub node: NodeId,
}

/// How to aim.
#[derive(Debug, Clone, Copy)]
pub struct AimOptions {
    /// Move the pointer to the point (presses, hovers, drags), or only look (fill, select).
    pub pointer: bool,
}

/// Where a press would go.
#[derive(Debug, Clone, PartialEq)]
pub struct Aim {
    /// The element's box after it was brought into view.
    pub rect: Rect,
    /// The point that was chosen in it.
    pub point: (f64, f64),
    /// What is at that point.
    pub hit: Hit,
}

/// What a press at a point would reach.
#[derive(Debug, Clone, PartialEq)]
pub enum Hit {
    /// The element, a descendant, or its label.
    Target,
    /// Another element.
    Covered {
        /// Its handle, if it has one.
        by: Option<Handle>,
        /// It in words: `dialog "Cookies"`.
        what: String,
    },
    /// The element has no box, or could not be brought into view.
    OffScreen,
}

/// Mouse buttons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Button {
    #[default]
    Left,
    Middle,
    Right,
}

/// Keys held during an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs, reason = "the words say it")]
#[allow(clippy::struct_excessive_bools, reason = "four independent keys")]
pub struct Modifiers {
    pub alt: bool,
    pub control: bool,
    pub meta: bool,
    pub shift: bool,
}

/// One input.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Press and release at a point that was aimed at.
    Press {
        /// Where.
        point: (f64, f64),
        /// What must receive it; `None` for a bare point.
        target: Option<Handle>,
        /// Which button.
        button: Button,
        /// 1, 2 for a double click, ...
        count: u8,
        /// Keys held.
        modifiers: Modifiers,
        /// How long the button stays down.
        hold: Duration,
    },
    /// Press at one point, move, release at another.
    Drag {
        /// Where it begins.
        from: (f64, f64),
        /// What must receive the press.
        source: Option<Handle>,
        /// Where it ends.
        to: (f64, f64),
        /// Where the drop is meant to land: looked at before anything is picked up, and nothing is sent when something
        /// else is there (`Landed::Elsewhere`, stopped).
        target: Option<Handle>,
    },
    /// Replace the content of a field by text; the answer carries the value read back.
    Fill {
        /// The field.
        target: Handle,
        /// The new content; empty clears it.
        text: String,
    },
    /// Type text where the focus is, or into an element that is focused first.
    Type {
        /// The element.
        target: Option<Handle>,
        /// The text.
        text: String,
    },
    /// One chord, like `Enter`, `Control+a`, `Shift+Tab`.
    Key {
        /// Modifiers.
        modifiers: Modifiers,
        /// The key by its `KeyboardEvent.key` name.
        key: String,
    },
    /// Choose options of a native list by label or value. `handled: false` when the element is none: the kernel
    /// then opens it and presses the options.
    Select {
        /// The list.
        target: Handle,
        /// The options.
        options: Vec<String>,
    },
    /// Scroll a container, or the page.
    Scroll {
        /// The container.
        target: Option<Handle>,
        /// Right in CSS pixels.
        dx: f64,
        /// Down in CSS pixels.
        dy: f64,
    },
}

/// What became of an input.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Performed {
    /// Whether the device took the action up at all (see [`Action::Select`]).
    pub handled: bool,
    /// What received it, where the platform can tell.
    pub landed: Landed,
    /// The value of the field afterwards (fill, select).
    pub value: Option<String>,
    /// Whether anything moved (scroll).
    pub moved: bool,
}

/// What received an input.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Landed {
    /// The target, or something inside it.
    Confirmed,
    /// Another element; the event was stopped before the app saw it, if `stopped`.
    Elsewhere {
        /// In words.
        what: String,
        /// Whether the app was kept from seeing it.
        stopped: bool,
    },
    /// The platform cannot tell.
    #[default]
    Unknown,
}

/// When an app counts as quiet.
#[derive(Debug, Clone, Copy)]
pub struct SettleRequest {
    /// How long nothing may move.
    pub quiet: Duration,
    /// When to give up.
    pub cap: Duration,
}

/// How waiting for quiet ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settled {
    /// Whether it became quiet.
    pub settled: bool,
    /// What was still moving: `request GET /api`, `animation on div.spinner`, `mutations of ul#feed`.
    pub still: Vec<String>,
}

/// Where to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Navigation {
    /// An address, or another app of the same kind.
    To(String),
    /// One step back.
    Back,
    /// One step forward.
    Forward,
    /// The same again.
    Reload,
    /// The start screen of the device.
    Home,
}

/// How a navigation ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrived {
    /// Whether there was anywhere to go (history).
    pub moved: bool,
    /// The address now.
    pub url: String,
    /// The title now.
    pub title: String,
    /// Whether the document became ready and quiet in time.
    pub settled: bool,
}

/// What to take a picture of.
#[derive(Debug, Clone, Default)]
pub struct ShotRequest {
    /// One element.
    pub of: Option<Handle>,
    /// The whole page, not only the viewport.
    pub full: bool,
}

/// A picture.
#[derive(Debug, Clone)]
pub struct Shot {
    /// PNG.
    pub png: Vec<u8>,
    /// Which part of the viewport it shows, in CSS pixels (a full page starts at negative scroll offsets).
    pub area: Rect,
    /// Pixels of the picture per CSS pixel.
    pub scale: f64,
}

/// Something about an element that is not in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// All attributes, as an object.
    Attrs,
    /// Its outer HTML or the platform's equivalent.
    Html,
    /// The text that a person sees.
    Text,
}

/// Something that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Notice {
    /// The UI changed.
    Changed,
    /// Another document, or another address of the same one.
    Navigated {
        /// The address.
        url: String,
    },
    /// An error on the console.
    ConsoleError {
        /// Its text.
        text: String,
    },
    /// A request that failed or was answered with an error.
    RequestFailed {
        /// Method.
        method: String,
        /// Address.
        url: String,
        /// Status or reason.
        why: String,
    },
    /// A text in a live region or toast that came (and maybe went).
    Announced {
        /// The text.
        text: String,
    },
    /// Another tab or window opened.
    Opened {
        /// Its id, if it can be switched to.
        id: String,
        /// Its address or title.
        what: String,
    },
    /// A file was downloaded.
    Downloaded {
        /// Where it is.
        path: PathBuf,
    },
    /// A dialog was shown and answered by itself (`alert`).
    DialogShown {
        /// Its text.
        text: String,
    },
}

/// A dialog that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt`, `beforeunload`.
    pub kind: String,
    /// Its text.
    pub message: String,
    /// The proposed answer of a prompt.
    pub default: String,
}

/// How to answer one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogAnswer {
    /// OK, with the text for a prompt.
    Accept(Option<String>),
    /// Cancel.
    Dismiss,
}

/// An error of a device that is not there for this.
#[must_use]
pub fn unsupported(kind: &str, what: &str) -> Error {
    Error::new(crate::ErrorCode::Unsupported, format!("a {kind} device cannot {what}"))
        .hint("stickpin capabilities")
}
