//! One page, and its state between requests.

use crate::debugger_probes::DebuggerProbes;
use crate::read::evaluate::PendingEvaluation;
use crate::read::guard::Guards;
use crate::read::prefetch::{self, OutcomeRequest, PointerArrival, PrefetchedAim};
use crate::read::read_ahead::ReadAhead;
use crate::read::walk_cache::{self, CurrentPage, PageWalk, WalkRequest};
use crate::state::TabState;
use crate::tab::{Tab, TabError, World};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{CaptureRequest, CaptureResult, Error, ErrorCode, LocatedElement, Result, Ticket};
use stickpin_tree::Handle;
use tokio::time::timeout;

/// Timeout for a pending navigation to be committed before an action.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout for a committed document to be parsed, after which a capture reads it as it is.
const PARSE_TIMEOUT: Duration = Duration::from_millis(500);

/// The maximum number of attempts at a capture whose document is replaced during the walk.
const MAX_ATTEMPTS: usize = 5;

/// The first attempt in which a frame that is being replaced no longer causes a retry.
const FIRST_LENIENT_ATTEMPT: usize = 3;

/// The page of one tab.
#[derive(Debug)]
pub struct Page {
    /// The tab that shows the page.
    pub tab: Tab,
    /// The number of the tab, which is also the surface id of its trees.
    pub number: u64,
    /// The activity counter of the tab at the last capture.
    pub seen: u64,
    /// The counter of visible changes when notices were last taken.
    pub changes_reported: u64,
    /// When the last input was sent or withheld.
    pub last_input: Option<Instant>,
    /// When the last action began.
    pub action_began: Instant,
    /// The number of walks skipped because nothing had changed since the last one.
    pub walks_skipped: u64,
    /// The last walk, reused if nothing changes.
    pub(crate) last_walk: Option<PageWalk>,
    /// The state of reading ahead.
    pub(crate) read_ahead: ReadAhead,
    /// The version of the last event that a wait reported.
    pub(crate) last_event_reported: u64,
    /// An evaluated expression whose promise has not settled.
    pub(crate) pending_evaluation: Option<PendingEvaluation>,
    /// What our script in a document cannot see, as reported by the browser.
    pub(crate) probes: DebuggerProbes,
    /// The number of nodes in the last walk.
    pub(crate) node_count: usize,
    pub(crate) guards: Guards,
    /// The input whose file chooser a press opened last. The input need not be in the document.
    pub chooser: Option<Handle>,
}

/// An element in a document that still exists.
#[derive(Debug, Clone)]
pub struct DocumentElement {
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
            changes_reported: 0,
            last_input: None,
            action_began: Instant::now(),
            walks_skipped: 0,
            last_walk: None,
            read_ahead: ReadAhead::default(),
            last_event_reported: 0,
            pending_evaluation: None,
            probes: DebuggerProbes::default(),
            node_count: 0,
            guards: Guards::default(),
            chooser: None,
        }
    }

    /// Returns the document and the id of an element; `None` when its document is gone.
    ///
    /// # Errors
    /// Returns the errors of [`Tab::read`].
    pub fn element(&self, handle: Handle) -> Result<Option<DocumentElement>> {
        Ok(self.tab.world(handle.scope)?.map(|world| DocumentElement { world, id: handle.id }))
    }

    /// Returns the document and the id of an element that was located a moment ago.
    ///
    /// # Errors
    /// Returns `ELEMENT_NOT_FOUND` when the document is gone, and otherwise the errors of
    /// [`Page::element`].
    pub fn located_element(&self, handle: Handle) -> Result<DocumentElement> {
        self.element(handle)?.ok_or_else(element_gone)
    }

    /// Waits until recently committed documents are parsed: half a document looks like another
    /// page.
    async fn wait_until_parsed(&self) -> Result<()> {
        let Some(until) = self.tab.read(|tab| tab.parse_deadline(PARSE_TIMEOUT))? else { return Ok(()) };
        let parsed = self
            .tab
            .until(|tab| (tab.dialog.is_some() || tab.parse_deadline(PARSE_TIMEOUT).is_none()).then_some(()));
        // A document that takes longer is read as it is.
        tokio::time::timeout_at(until.into(), parsed).await.unwrap_or(Ok(()))
    }

    /// Waits until pending navigations of the page, and of the frames around an element, are
    /// committed, because the current content is about to go away. Waits for at most
    /// `COMMIT_TIMEOUT`.
    ///
    /// # Errors
    /// Returns the errors of [`Tab::read`].
    pub async fn commit(&self, target: Option<Handle>) -> Result<()> {
        let is_leaving = |tab: &TabState| tab.is_leaving(target.map(|h| h.scope));
        if !self.tab.read(is_leaving)? {
            return Ok(());
        }
        let done = self.tab.until(|tab| (!is_leaving(tab) || tab.dialog.is_some()).then_some(()));
        // A slower server must not block the use of the current page.
        timeout(COMMIT_TIMEOUT, done).await.unwrap_or(Ok(()))
    }

    /// Records that an action begins: later guards and effects belong to it.
    pub fn begin_action(&mut self) {
        self.guards.clear();
        self.action_began = Instant::now();
    }

    /// Records that an input was sent or withheld.
    pub fn input_sent(&mut self) {
        self.last_input = Some(Instant::now());
        self.guards.clear();
    }
}

/// Captures the whole page.
///
/// # Errors
/// Returns `DIALOG_OPEN` when a dialog is open, `ELEMENT_NOT_FOUND` when the document was replaced
/// in every attempt, or an error from the tab.
pub async fn capture(page: &mut Page, request: CaptureRequest<'_>) -> Result<CaptureResult> {
    page.read_ahead.note_command();
    let mut attempt = 1;
    loop {
        page.wait_until_parsed().await?;
        // Read the counter first, so that a change during the walk counts as a change since then.
        let activity = page.tab.read(|tab| tab.activity)?;
        // Retry when a frame is replaced during the walk, but do not let a frame that never rests
        // block the capture.
        let strict = attempt < FIRST_LENIENT_ATTEMPT;
        let walk_request = WalkRequest { watch: request.watch, target: None, strict };
        let tree = match walk_cache::current_page(page, walk_request).await {
            Ok(current) => current.walked.map(|walked| Arc::clone(walked.tree())),
            Err(TabError::WorldGone) if attempt < MAX_ATTEMPTS => None,
            Err(fault) => return Err(fault.into()),
        };
        if let Some(tree) = tree {
            page.seen = activity;
            return Ok(CaptureResult::of(tree, request.stored));
        }
        attempt += 1;
    }
}

/// Locates one element, with the context by which to judge it.
///
/// # Errors
/// Returns `DIALOG_OPEN` when a dialog is open, or an error from the tab.
pub async fn locate(page: &mut Page, handle: Handle, context: &[Handle]) -> Result<Option<LocatedElement>> {
    page.read_ahead.note_command();
    page.commit(Some(handle)).await?;
    if page.element(handle)?.is_none() {
        return Ok(None);
    }
    match prefetch::locate_in_small_page(page, handle, context).await {
        Err(TabError::WorldGone) => Ok(None),
        found => match found? {
            Some(found) => Ok(found),
            None => find(page, handle, context).await,
        },
    }
}

/// Locates an element at which the pointer has arrived, and returns the ticket for the announced
/// press. If the capture that came with the arrival is outdated or lacks a part of the context, the
/// announcement is cancelled.
pub(crate) async fn locate_under_pointer(
    page: &mut Page,
    handle: Handle,
    context: &[Handle],
    arrived: PointerArrival,
) -> Result<(Option<LocatedElement>, Ticket)> {
    page.read_ahead.note_command();
    page.commit(Some(handle)).await?;
    let PointerArrival { seen, press } = arrived;
    let seen = seen.map(|seen| seen.if_fresh(page)).transpose()?.flatten();
    let located = match seen {
        Some(walked) if walked.covers(context) => walked.located(handle, Ticket::default()),
        _ => {
            drop(press);
            return Ok((locate(page, handle, context).await?, Ticket::default()));
        }
    };
    Ok((located, Ticket::from_option(press)))
}

async fn find(page: &mut Page, handle: Handle, context: &[Handle]) -> Result<Option<LocatedElement>> {
    let walk_request = WalkRequest { watch: context, target: Some(handle), strict: false };
    match walk_cache::current_page(page, walk_request).await {
        Err(TabError::WorldGone) => Ok(None),
        current => {
            let CurrentPage { walked, aimed } = current?;
            Ok(walked.and_then(|walked| walked.located(handle, PrefetchedAim::ticket(handle, aimed))))
        }
    }
}

/// Locates a target after its input. If the input requested the target's state, returns the target
/// in the state that it had when the input arrived.
///
/// # Errors
/// Returns the same errors as [`locate`].
pub async fn outcome(
    page: &mut Page,
    handle: Handle,
    input_ticket: &Ticket,
) -> Result<Option<LocatedElement>> {
    let pending_outcome = match input_ticket.take::<OutcomeRequest>() {
        Some(after) => prefetch::read_outcome(page, handle, after).await,
        None => Ok(None),
    };
    match pending_outcome {
        Ok(Some(told)) => Ok(Some(told)),
        // Locate the element again to see its state.
        Ok(None) | Err(TabError::WorldGone) => locate(page, handle, &[]).await,
        Err(fault) => Err(fault.into()),
    }
}

/// Returns the error for an element that vanished between being located and being acted on.
#[must_use]
pub fn element_gone() -> Error {
    Error::new(ErrorCode::ElementNotFound, "the element is no longer on the page")
        .hint("run `stickpin snapshot -i`")
}

/// Returns the error for an answer that cannot be parsed.
pub fn corrupt(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::Internal, error.to_string())
}
