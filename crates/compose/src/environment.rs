//! The resources that the members of a composite device share.

use crate::members::{Member, Members};
use async_trait::async_trait;
use std::fmt;
use std::time::Duration;
use stickpin_device::{
    Action, AppFolders, CancellationToken, Capability, Clipboard, DeviceInfo, InputOutcome, Result,
    ScreenshotImage, ScreenshotRequest,
};
use stickpin_tree::Rect;

/// The window of a member that receives input at a point.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowAtPoint {
    /// The number of the member.
    pub part: u64,
    /// The area of the window in viewport pixels.
    pub area: Rect,
    /// A description of the window.
    pub description: String,
}

/// The platform below the members: it knows which members exist, and owns what they share.
///
/// Its methods receive the members as an argument, because [`CompositeDevice`] owns them.
#[async_trait]
pub trait Environment: Send + fmt::Debug {
    /// One device among several.
    type Member: Member;

    /// The word for the composite device in messages, such as `desktop`.
    const NAME: &'static str;

    /// The text of a tree without members.
    const EMPTY: &'static str;

    /// The capabilities of the composite device.
    const CAPABILITIES: &'static [Capability];

    /// Fails when the connection through which all members are reached is lost.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST`.
    fn check_alive(&self) -> Result<()>;

    /// Updates the members: adds those that have joined, and removes those that have left.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST`.
    async fn refresh(&mut self, parts: &mut Members<Self::Member>) -> Result<()>;

    /// Returns whether members may have joined or left since the last [`Environment::refresh`].
    fn has_membership_changes(&self) -> bool;

    /// Waits until members may have joined or left.
    async fn wait_membership_change(&mut self);

    /// Returns the numbers of the members that are read as part of another member, and therefore
    /// not separately.
    fn nested_members(&self, parts: &Members<Self::Member>) -> Vec<u64>;

    /// Returns the member with the active window, if any; called only if the members themselves do
    /// not report exactly one.
    ///
    /// # Errors
    /// Returns the errors of [`Device::capture`](stickpin_device::Device::capture).
    async fn active_member(&mut self, parts: &Members<Self::Member>) -> Result<Option<u64>>;

    /// Returns the window of a member that receives input at a point, if any. `to` names the
    /// purpose for messages.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` if input by position is not supported.
    async fn window_at(
        &mut self,
        parts: &Members<Self::Member>,
        point: (f64, f64),
        to: &str,
    ) -> Result<Option<WindowAtPoint>>;

    /// Moves the pointer to a point.
    ///
    /// # Errors
    /// Returns the errors of [`Geometry::move_pointer`](stickpin_device::Geometry::move_pointer).
    async fn move_pointer_to(&mut self, parts: &Members<Self::Member>, x: f64, y: f64) -> Result<()>;

    /// Sends an input to a window that belongs to no member. Returns `None` if the input is for a
    /// member.
    ///
    /// # Errors
    /// Returns the errors of [`Device::perform`](stickpin_device::Device::perform).
    async fn perform_outside_members(
        &mut self,
        parts: &mut Members<Self::Member>,
        action: &Action,
        cancel: &CancellationToken,
    ) -> Result<Option<InputOutcome>>;

    /// Starts another member. Returns how long it must be quiet to count as ready; `None` if that
    /// cannot be determined.
    ///
    /// # Errors
    /// Returns the errors of [`Navigator::navigate`](stickpin_device::Navigator::navigate).
    async fn start_member(
        &mut self,
        parts: &mut Members<Self::Member>,
        what: &str,
        ready: Duration,
        cancel: &CancellationToken,
    ) -> Result<Option<Duration>>;

    /// Takes a screenshot of the composite device, or of the element that the request names.
    /// `element` is the position of that element; `None` if there is no such element or position.
    ///
    /// # Errors
    /// Returns the errors of [`Screenshots::screenshot`](stickpin_device::Screenshots::screenshot).
    async fn screenshot(
        &mut self,
        request: &ScreenshotRequest,
        element: Option<Rect>,
    ) -> Result<ScreenshotImage>;

    /// Returns the clipboard that the members share, if there is one.
    fn clipboard(&mut self) -> Option<&mut dyn Clipboard>;

    /// Ends everything that was started for the composite device, including its apps.
    ///
    /// # Errors
    /// Returns the errors of [`Device::close`](stickpin_device::Device::close).
    async fn close(&mut self) -> Result<()>;
}

/// Several devices as one.
#[derive(Debug)]
pub struct CompositeDevice<G: Environment> {
    pub(crate) info: DeviceInfo,
    /// The address with which the composite device was opened.
    pub(crate) url: String,
    pub(crate) ground: G,
    pub(crate) parts: Members<G::Member>,
}

impl<G: Environment> CompositeDevice<G> {
    /// Composes the members of `ground`. There are none until [`CompositeDevice::discover_members`]
    /// is called. `info` describes the composite device, and `url` is the address with which it was
    /// opened. `folders` are the folders that members are started with.
    pub fn new(info: DeviceInfo, url: String, ground: G, folders: Option<AppFolders>) -> Self {
        Self { info, url, ground, parts: Members::new(folders) }
    }
}
