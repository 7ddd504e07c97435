//! One page, and what is remembered of it between the questions.

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

/// How long an act waits for a navigation under way to be committed.
const COMMIT: Duration = Duration::from_secs(5);

/// How long a document that was committed is given until a capture takes what is there of it.
const ARRIVAL: Duration = Duration::from_millis(500);

/// How often a capture is tried again because its document was replaced meanwhile.
const ATTEMPTS: usize = 5;

/// How many of them a frame may ask for.
const PATIENT: usize = 3;

/// The page of one tab.
#[derive(Debug)]
pub struct Page {
    /// The tab that shows it.
    pub tab: Tab,
    /// The number of the tab, which is that of the surface in trees.
    pub number: u64,
    /// How often it had changed at the last capture.
    pub seen: u64,
    /// How often it had changed to the eye when notices were last asked for.
    pub told: u64,
    /// When the last input was sent.
    pub acted: Option<Instant>,
    /// When the last command that acts began.
    pub begun: Instant,
    /// How often a look was spared a walk, because nothing had changed since the last one.
    pub proven: u64,
    /// The last walk, in case that nothing changes.
    pub(crate) walked: Option<Walked>,
    /// What was walked before anybody asked.
    pub(crate) ahead: Ahead,
    /// The last event that a wait was told of.
    pub(crate) heard: u64,
    /// An expression that was asked for and is not known yet.
    pub(crate) evaluating: Option<Evaluating>,
    /// What is known of documents that their scripts cannot see.
    pub(crate) unseen: Unseen,
    /// Nodes of the last walk.
    pub(crate) extent: usize,
    pub(crate) guards: Guards,
    /// The input whose file chooser a press opened last; it need not be in the document.
    pub chooser: Option<Handle>,
}

/// An element in a document that lives.
#[derive(Debug, Clone)]
pub struct Place {
    /// The document.
    pub world: World,
    /// Its number there.
    pub id: u64,
}

impl Page {
    /// The page that a tab shows.
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

    /// Where an element is numbered; none when its document is gone.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    pub fn place(&self, handle: Handle) -> Result<Option<Place>> {
        Ok(self.tab.world(handle.scope)?.map(|world| Place { world, id: handle.id }))
    }

    /// As [`Page::place`], for what was located a moment ago.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND` besides.
    pub fn placed(&self, handle: Handle) -> Result<Place> {
        self.place(handle)?.ok_or_else(gone)
    }

    /// Waits until documents that came a moment ago are read to their end: half of one looks like another page.
    async fn arrived(&self) -> Result<()> {
        let Some(until) = self.tab.read(|tab| tab.arriving(ARRIVAL))? else { return Ok(()) };
        let done =
            self.tab.until(|tab| (tab.dialog.is_some() || tab.arriving(ARRIVAL).is_none()).then_some(()));
        // One that goes on for longer is looked at as it is.
        tokio::time::timeout_at(until.into(), done).await.unwrap_or(Ok(()))
    }

    /// Waits until a navigation under way is committed, of the page or of the frames around an element: what is there
    /// now will be gone in a moment.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    pub async fn commit(&self, around: Option<Handle>) -> Result<()> {
        let leaving = |tab: &TabState| tab.leaves(around.map(|h| h.scope));
        if !self.tab.read(leaving)? {
            return Ok(());
        }
        let done = self.tab.until(|tab| (!leaving(tab) || tab.dialog.is_some()).then_some(()));
        // A server that takes longer than that does not keep anybody from using the page that is there.
        timeout(COMMIT, done).await.unwrap_or(Ok(()))
    }

    /// An act begins: what is guarded and what happens from here on is of it.
    pub fn act_begins(&mut self) {
        self.guards.clear();
        self.begun = Instant::now();
    }

    /// An input was sent, or was kept back.
    pub fn input_sent(&mut self) {
        self.acted = Some(Instant::now());
        self.guards.clear();
    }
}

/// The whole page.
///
/// # Errors
/// `BACKEND_LOST`, `TIMEOUT`, and that of a dialog.
pub async fn capture(page: &mut Page, request: CaptureRequest<'_>) -> Result<Captured> {
    page.ahead.asked();
    let mut attempt = 1;
    loop {
        page.arrived().await?;
        // The counter first: what changes during the walk shows as a change since.
        let activity = page.tab.read(|tab| tab.activity)?;
        // A frame that is replaced in the middle is looked at again, but one that never rests keeps nobody waiting.
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

/// One element, and what it is judged with.
///
/// # Errors
/// As [`capture`].
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

/// The same when the pointer has arrived at the element. The ticket is for the press that is announced; where the look that
/// came along is none any more, it is not announced either.
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

/// What became of a target: as it was when its input had arrived, where that was asked.
///
/// # Errors
/// As [`capture`].
pub async fn outcome(page: &mut Page, handle: Handle, performed: &Ticket) -> Result<Option<Located>> {
    let told = match performed.redeem::<After>() {
        Some(after) => together::seen_after(page, handle, after).await,
        None => Ok(None),
    };
    match told {
        Ok(Some(told)) => Ok(Some(told)),
        // What became of it shows when it is asked for by itself.
        Ok(None) | Err(Fault::WorldGone) => locate(page, handle, &[]).await,
        Err(fault) => Err(fault.into()),
    }
}

/// The error of an element that vanished between being located and being acted on.
#[must_use]
pub fn gone() -> Error {
    Error::new(ErrorCode::ElementNotFound, "the element is no longer on the page")
        .hint("stickpin snapshot -i")
}

/// The error of an answer that cannot be read.
pub fn corrupt(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::Internal, error.to_string())
}
