//! One page, and its state between requests.

use crate::read::ahead::Ahead;
use crate::read::evaluate::Evaluating;
use crate::read::guard::Guards;
use crate::read::together::{self, After, Arrived, Glimpse};
use crate::read::unchanged::{self, Current, Walked, Wanted};
use crate::state::TabState;
use crate::tab::{Fault, Tab, World};
use crate::unseen::Unseen;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{CaptureRequest, Captured, Error, ErrorCode, Located, Result, Ticket};
use stickpin_tree::Handle;
use tokio::time::timeout;

/// Timeout for a pending navigation to be committed before an act.
const COMMIT: Duration = Duration::from_secs(5);

/// Timeout for a committed document to load, after which a capture takes it as it is.
const ARRIVAL: Duration = Duration::from_millis(500);

/// The number of attempts at a capture whose document is replaced meanwhile.
const ATTEMPTS: usize = 5;

/// The first attempt in which a frame that is being replaced no longer causes a retry.
const PATIENT: usize = 3;

/// The page of one tab.
#[derive(Debug)]
pub struct Page {
    /// The tab that shows the page.
    pub tab: Tab,
    /// The number of the tab, also the surface id of its trees.
    pub number: u64,
    /// The activity counter of the tab at the last capture.
    pub seen: u64,
    /// The counter of visible changes when notices were last taken.
    pub told: u64,
    /// When the last input was sent.
    pub acted: Option<Instant>,
    /// When the last act began.
    pub begun: Instant,
    /// The number of walks skipped because nothing had changed since the last one.
    pub proven: u64,
    /// The last walk, reused if nothing changes.
    pub(crate) walked: Option<Walked>,
    /// The state of reading ahead.
    pub(crate) ahead: Ahead,
    /// The last event that a wait reported.
    pub(crate) heard: u64,
    /// An evaluated expression whose promise has not settled.
    pub(crate) evaluating: Option<Evaluating>,
    /// Knowledge about documents that their scripts cannot see.
    pub(crate) unseen: Unseen,
    /// The number of nodes in the last walk.
    pub(crate) extent: usize,
    pub(crate) guards: Guards,
    /// The input whose file chooser a press opened last. The input need not be in the document.
    pub chooser: Option<Handle>,
}

/// An element in a document that still exists.
#[derive(Debug, Clone)]
pub struct Place {
    /// Our world in the document.
    pub world: World,
    /// The id of the element in the document.
    pub id: u64,
}

impl Page {
    /// Creates the page of a tab.
    #[must_use]
    pub fn new(tab: Tab) -> Self {
        let number = tab.read(|tab| tab.number).unwrap_or(1);
        Self {
            tab,
            number,
            seen: 0,
            told: 0,
            acted: None,
            begun: Instant::now(),
            proven: 0,
            walked: None,
            ahead: Ahead::default(),
            heard: 0,
            evaluating: None,
            unseen: Unseen::default(),
            extent: 0,
            guards: Guards::default(),
            chooser: None,
        }
    }

    /// Returns the place of an element; `None` when its document is gone.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the tab is gone.
    pub fn place(&self, handle: Handle) -> Result<Option<Place>> {
        Ok(self.tab.world(handle.scope)?.map(|world| Place { world, id: handle.id }))
    }

    /// Returns the place of an element that was located a moment ago.
    ///
    /// # Errors
    /// Returns `ELEMENT_NOT_FOUND` when the document is gone, and otherwise the errors of
    /// [`Page::place`].
    pub fn placed(&self, handle: Handle) -> Result<Place> {
        self.place(handle)?.ok_or_else(gone)
    }

    /// Waits until recently committed documents are parsed: half a document looks like another
    /// page.
    async fn arrived(&self) -> Result<()> {
        let Some(until) = self.tab.read(|tab| tab.arriving(ARRIVAL))? else { return Ok(()) };
        let done =
            self.tab.until(|tab| (tab.dialog.is_some() || tab.arriving(ARRIVAL).is_none()).then_some(()));
        // A document that takes longer is read as it is.
        tokio::time::timeout_at(until.into(), done).await.unwrap_or(Ok(()))
    }

    /// Waits until pending navigations of the page, or of the frames around an element, are
    /// committed: the current content is about to go away.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the tab is gone.
    pub async fn commit(&self, around: Option<Handle>) -> Result<()> {
        let leaving = |tab: &TabState| tab.leaves(around.map(|h| h.scope));
        if !self.tab.read(leaving)? {
            return Ok(());
        }
        let done = self.tab.until(|tab| (!leaving(tab) || tab.dialog.is_some()).then_some(()));
        // A slower server does not keep anyone from using the current page.
        timeout(COMMIT, done).await.unwrap_or(Ok(()))
    }

    /// Records that an act begins: later guards and effects belong to it.
    pub fn act_begins(&mut self) {
        self.guards.clear();
        self.begun = Instant::now();
    }

    /// Records that an input was sent or kept back.
    pub fn input_sent(&mut self) {
        self.acted = Some(Instant::now());
        self.guards.clear();
    }
}

/// Captures the whole page.
///
/// # Errors
/// Returns `DIALOG_OPEN` when a dialog is open, `BACKEND_LOST`, or `TIMEOUT`.
pub async fn capture(page: &mut Page, request: CaptureRequest<'_>) -> Result<Captured> {
    page.ahead.asked();
    let mut attempt = 1;
    loop {
        page.arrived().await?;
        // Read the counter first, so that a change during the walk counts as a change since.
        let activity = page.tab.read(|tab| tab.activity)?;
        // Retry when a frame is replaced during the walk, but do not let a frame that never rests
        // block the capture.
        let patient = attempt < PATIENT;
        let wanted = Wanted { watch: request.watch, only: None, patient };
        let tree = match unchanged::current(page, wanted).await {
            Ok(current) => current.walked.map(|walked| Arc::clone(walked.tree())),
            Err(Fault::WorldGone) if attempt < ATTEMPTS => None,
            Err(fault) => return Err(fault.into()),
        };
        if let Some(tree) = tree {
            page.seen = activity;
            let stored = request.stored.is_some_and(|stored| Arc::ptr_eq(stored, &tree));
            return Ok(if stored { Captured::Unchanged } else { Captured::Tree(tree) });
        }
        attempt += 1;
    }
}

/// Locates one element, with the context by which to judge it.
///
/// # Errors
/// Returns the same errors as [`capture`].
pub async fn locate(page: &mut Page, handle: Handle, context: &[Handle]) -> Result<Option<Located>> {
    page.ahead.asked();
    page.commit(Some(handle)).await?;
    if page.place(handle)?.is_none() {
        return Ok(None);
    }
    match together::find_in_small(page, handle, context).await {
        Err(Fault::WorldGone) => Ok(None),
        found => match found? {
            Some(found) => Ok(found),
            None => find(page, handle, context).await,
        },
    }
}

/// Locates an element at which the pointer has arrived. The ticket is for the announced press. If
/// the look that came with the arrival is outdated, the announcement is cancelled.
pub(crate) async fn locate_arrived(
    page: &mut Page,
    handle: Handle,
    context: &[Handle],
    arrived: Arrived,
) -> Result<(Option<Located>, Ticket)> {
    page.ahead.asked();
    page.commit(Some(handle)).await?;
    let Arrived { seen, press } = arrived;
    let seen = seen.map(|seen| seen.still(page)).transpose()?.flatten();
    let located = match seen {
        Some(walked) if walked.answers(context) => walked.located(handle, Ticket::default()),
        _ => {
            drop(press);
            return Ok((locate(page, handle, context).await?, Ticket::default()));
        }
    };
    Ok((located, Ticket::of(press)))
}

async fn find(page: &mut Page, handle: Handle, context: &[Handle]) -> Result<Option<Located>> {
    let wanted = Wanted { watch: context, only: Some(handle), patient: false };
    match unchanged::current(page, wanted).await {
        Err(Fault::WorldGone) => Ok(None),
        current => {
            let Current { walked, aimed } = current?;
            Ok(walked.and_then(|walked| walked.located(handle, Glimpse::of(handle, aimed))))
        }
    }
}

/// Locates a target after its input, as it was when the input arrived if the input asked for that.
///
/// # Errors
/// Returns the same errors as [`capture`].
pub async fn outcome(page: &mut Page, handle: Handle, performed: &Ticket) -> Result<Option<Located>> {
    let told = match performed.redeem::<After>() {
        Some(after) => together::seen_after(page, handle, after).await,
        None => Ok(None),
    };
    match told {
        Ok(Some(told)) => Ok(Some(told)),
        // Locate the element again to see its state.
        Ok(None) | Err(Fault::WorldGone) => locate(page, handle, &[]).await,
        Err(fault) => Err(fault.into()),
    }
}

/// The error for an element that vanished between being located and being acted on.
#[must_use]
pub fn gone() -> Error {
    Error::new(ErrorCode::ElementNotFound, "the element is no longer on the page")
        .hint("run `stickpin snapshot -i`")
}

/// The error for an answer that cannot be parsed.
pub fn corrupt(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::Internal, error.to_string())
}
