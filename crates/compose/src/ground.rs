//! What the members of a composed device share.

use crate::parts::{Member, Parts};
use async_trait::async_trait;
use std::fmt;
use std::time::Duration;
use stickpin_device::{
    Action, AppFolders, CancellationToken, Capability, Clipboard, DeviceInfo, Performed, Result, Shot,
    ShotRequest,
};
use stickpin_tree::Rect;

/// The window of a member that takes the input at a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Beneath {
    /// Number of the member.
    pub part: u64,
    /// Area of the window in pixels of the viewport.
    pub area: Rect,
    /// The window in words.
    pub words: String,
}

/// The platform below the members: who is there, and what there is only one of.
///
/// The methods get the members as an argument: [`Composed`] owns both.
#[async_trait]
pub trait Ground: Send + fmt::Debug {
    /// One device among several.
    type Member: Member;

    /// Word for the whole in messages: `desktop`.
    const NAME: &'static str;

    /// What the tree says where there is no member.
    const EMPTY: &'static str;

    /// Returns what the whole says of itself.
    fn info(&self) -> &DeviceInfo;

    /// Returns what the whole can do.
    fn capabilities(&self) -> &'static [Capability];

    /// Returns the address that the whole was opened by.
    fn url(&self) -> &str;

    /// Fails when that is gone through which all members are reached.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    fn alive(&self) -> Result<()>;

    /// Takes note of the members that came and went.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    async fn refresh(&mut self, parts: &mut Parts<Self::Member>) -> Result<()>;

    /// Whether members may have come or gone since [`Ground::refresh`].
    fn has_news(&self) -> bool;

    /// Waits until members may have come or gone.
    async fn news(&mut self);

    /// Returns the numbers of the members that are read within another one, and so not by
    /// themselves.
    fn inside_others(&self, _parts: &Parts<Self::Member>) -> Vec<u64> {
        Vec::new()
    }

    /// Returns the member that has the active window, where the members do not say it themselves.
    ///
    /// # Errors
    /// As [`Device::capture`](stickpin_device::Device::capture).
    async fn active(&mut self, parts: &Parts<Self::Member>) -> Result<Option<u64>>;

    /// Returns the window of a member that takes the input at a point; `to` names what for.
    ///
    /// # Errors
    /// `UNSUPPORTED` where input has no place.
    async fn beneath(
        &mut self,
        parts: &Parts<Self::Member>,
        point: (f64, f64),
        to: &str,
    ) -> Result<Option<Beneath>>;

    /// Moves the pointer to a point.
    ///
    /// # Errors
    /// As [`Geometry::move_pointer`](stickpin_device::Geometry::move_pointer).
    async fn point_at(&mut self, parts: &Parts<Self::Member>, x: f64, y: f64) -> Result<()>;

    /// Sends an input that is for something which is no member; none where it is for a member.
    ///
    /// # Errors
    /// As [`Device::perform`](stickpin_device::Device::perform).
    async fn perform_apart(
        &mut self,
        _parts: &mut Parts<Self::Member>,
        _action: &Action,
        _cancel: &CancellationToken,
    ) -> Result<Option<Performed>> {
        Ok(None)
    }

    /// Starts another member. Returns how long nothing may move until it counts as ready; none
    /// where that cannot be told.
    ///
    /// # Errors
    /// As [`Navigator::navigate`](stickpin_device::Navigator::navigate).
    async fn start(
        &mut self,
        parts: &mut Parts<Self::Member>,
        what: &str,
        ready: Duration,
        cancel: &CancellationToken,
    ) -> Result<Option<Duration>>;

    /// Takes a picture of the whole, or of `element` where the request names one, which may have no
    /// place.
    ///
    /// # Errors
    /// As [`Pictures::screenshot`](stickpin_device::Pictures::screenshot).
    async fn picture(&mut self, request: &ShotRequest, element: Option<Rect>) -> Result<Shot>;

    /// Returns the clipboard that the members share.
    fn clipboard(&mut self) -> Option<&mut dyn Clipboard> {
        None
    }

    /// Ends what was started for the whole.
    ///
    /// # Errors
    /// As [`Device::close`](stickpin_device::Device::close).
    async fn close(&mut self) -> Result<()>;
}

/// Several devices as one.
#[derive(Debug)]
pub struct Composed<G: Ground> {
    pub(crate) ground: G,
    pub(crate) parts: Parts<G::Member>,
}

impl<G: Ground> Composed<G> {
    /// Composes the members of `ground`; none is there before [`Composed::meet`]. `folders` are
    /// those in which members are started.
    pub fn new(ground: G, folders: Option<AppFolders>) -> Self {
        Self { ground, parts: Parts::new(folders) }
    }

    /// Takes note of the members that are there, which is no news.
    ///
    /// # Errors
    /// As [`Ground::refresh`].
    pub async fn meet(&mut self) -> Result<()> {
        self.ground.refresh(&mut self.parts).await?;
        self.parts.notices.clear();
        self.parts.asides.clear();
        Ok(())
    }
}
