//! The current content of a page: the last walk if it is proven to still hold, otherwise a new one.
//!
//! The order matters, because the browser answers a request for its counts even while a script on
//! the page is running. First, every document checks whether it changed, and thereby updates its
//! style and layout. Then the counts of style recalculations and layouts are read. Only then, if
//! anything differs, are the documents walked.
//!
//! The counts kept are those from before the walk. A change during or after the walk makes the next
//! check fail, never pass. `agent/script/read/unchanged.js` explains what is compared inside a
//! document, and why nothing else is needed.

use crate::agent::{AimAnswer, GLOBAL};
use crate::capture::{Columns, DocumentCapture, assemble};
use crate::debugger_probes::PendingListeners;
use crate::read::guard::ranges;
use crate::read::page::{Page, corrupt};
use crate::read::prefetch::FreshAnswer;
use crate::state::{TabState, World as Known};
use crate::tab::{PendingRequest, TabError, World, expression};
use hashbrown::{HashMap, HashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use stickpin_device::Result;
use stickpin_devtools::Reply;
use stickpin_devtools::protocol as cdp;
use stickpin_tree::{Handle, NodeId, SurfaceId, Tree};

/// The browser's counts per session; `None` if the session is gone or does not report them.
type Counts = BTreeMap<String, Option<SessionCounts>>;

/// The browser's counts in one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SessionCounts {
    /// Style recalculations and layouts.
    renderings: [u64; 2],
    /// Event listeners; each added listener increases the count. Garbage collection lowers it, so
    /// two counts could be equal by chance. The script's `uncollected` detects a collection; the
    /// listeners themselves are then compared.
    listeners: u64,
}

/// A walked document.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SealedDocument {
    scope: u64,
    /// The path of the frame that showed the document.
    frame_path: String,
    /// The script's token for this walk; 0 if nothing can be proven.
    seal: u32,
    /// The document's change count at the walk.
    changes: u64,
}

/// The last walk of a tab.
#[derive(Debug)]
pub(crate) struct PageWalk {
    /// The session of the tab.
    tab: String,
    tree: Arc<Tree>,
    index: OnceLock<HashMap<Handle, NodeId>>,
    /// The documents that answered, in frame order.
    documents: Vec<SealedDocument>,
    /// The browser's counts at the last check.
    counts: Counts,
    /// False if a garbage collection since the last count may have changed the listener count.
    has_valid_listener_count: bool,
    /// Whether the walk requested everything that belongs to a capture; locating an element needs
    /// less.
    is_complete: bool,
    /// The handles in the request for the walk.
    asked_handles: HashSet<Handle>,
}

impl PageWalk {
    pub(crate) fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    pub(crate) fn find(&self, handle: Handle) -> Option<NodeId> {
        self.index.get_or_init(|| self.tree.handle_index()).get(&handle).copied()
    }

    /// Returns whether a later check can prove that nothing has changed since the walk.
    pub(crate) fn can_be_proven(&self) -> bool {
        self.documents.iter().all(|d| d.seal != 0)
    }

    /// Returns whether these are the walked documents and all of them can be compared.
    fn has_documents(&self, worlds: &[World]) -> bool {
        self.documents.len() == worlds.len()
            && self
                .documents
                .iter()
                .zip(worlds)
                .all(|(d, w)| d.scope == w.scope && d.frame_path == w.path && d.seal != 0)
    }

    /// Returns whether a document has reported a change since the walk.
    pub(crate) fn is_outdated(&self, tab: &TabState) -> bool {
        let mut known_worlds = tab.frames.values().filter_map(|f| f.world.as_ref());
        let later = |w: &Known| self.documents.iter().any(|d| d.scope == w.scope && w.changes > d.changes);
        known_worlds.any(later)
    }

    /// Returns whether the walk determines the state of all these elements.
    pub(crate) fn covers(&self, watch: &[Handle]) -> bool {
        watch.iter().all(|h| self.asked_handles.contains(h) || self.find(*h).is_some())
    }

    fn seal(&self, world: &World) -> u32 {
        self.documents.iter().find(|d| d.scope == world.scope).map_or(0, |d| d.seal)
    }
}

/// What the caller of a walk requires.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WalkRequest<'a> {
    /// Elements to report as hidden rather than gone.
    pub(crate) watch: &'a [Handle],
    /// If set, the walk is needed only if this element is connected.
    pub(crate) target: Option<Handle>,
    /// Whether the walk fails, to be retried, if a frame is replaced in the meantime.
    pub(crate) strict: bool,
}

impl WalkRequest<'_> {
    /// Returns the ids of the wanted handles in a document, as ranges: first and last, flattened.
    /// Ranges may include some other ids, so that thousands of elements fit into a short request.
    pub(crate) fn ranges(&self, world: &World) -> Vec<u64> {
        let handles = self.watch.iter().chain(&self.target).filter(|h| h.scope == world.scope);
        ranges(handles.map(|h| h.id), MAX_RANGE_GAP)
    }

    fn walk_expression(&self, world: &World) -> Result<String> {
        if let Some(target) = self.target.filter(|h| h.scope == world.scope) {
            return expression("locate", (target.id, self.ranges(world)));
        }
        // A record may be read across documents (as for the opener of a popup), and the tree needs
        // its root.
        let watch = serde_json::to_string(&self.ranges(world)).map_err(corrupt)?;
        Ok(format!("{GLOBAL}.capture({{watch:{watch}}})"))
    }
}

/// A requested walk.
#[derive(Debug)]
struct PendingWalk {
    /// The pending columns, per document.
    columns: Vec<PendingRequest>,
    listening: Option<PendingListeners>,
}

/// The largest distance between two watched ids in one range.
const MAX_RANGE_GAP: u64 = 16;

/// The page as it is now.
#[derive(Debug)]
pub(crate) struct CurrentPage<'a> {
    /// The walk; `None` when the one wanted element is gone.
    pub(crate) walked: Option<&'a PageWalk>,
    /// The point to aim at in that element, if the answer included it.
    pub(crate) aimed: Option<FreshAnswer<AimAnswer>>,
}

/// Reads the page: reuses the last walk if it still holds, otherwise walks again.
pub(crate) async fn current_page<'a>(
    page: &'a mut Page,
    walk_request: WalkRequest<'_>,
) -> Result<CurrentPage<'a>, TabError> {
    // Read the counter before the walk: a change during the walk is a change since then.
    page.read_ahead.note_capture(page.tab.read(|tab| tab.activity)?);
    let worlds = page.tab.worlds().await?;
    page.probes.retain_documents(&worlds);
    let is_full_walk = walk_request.target.is_none();
    let mut last = page.last_walk.take().filter(|w| {
        w.tab == page.tab.session && w.has_documents(&worlds) && (w.is_complete || !is_full_walk)
    });
    if let Some(walked) = &last
        && page.tab.read(|tab| walked.is_outdated(tab))?
    {
        last = None;
    }
    let question = |world: &World| {
        let seal = last.as_ref().map_or(0, |w| w.seal(world));
        // Also ask where to aim at the element; a caller that does not aim ignores the answer.
        let aim = walk_request.target.filter(|target| target.scope == world.scope);
        let aim = aim.map_or(Ok("null".to_owned()), |target| expression("glimpse", (target.id,)))?;
        Ok(format!("[{},{GLOBAL}.uncollected(),{aim}]", expression("unchanged", (seal,))?))
    };
    let pending_checks = page.tab.send_requests(&worlds, question)?;
    let Some(mut last) = last else {
        // The page will be walked in any case, so send all requests at once. Counts that the
        // browser reads too early make the next check fail, never pass.
        let counts = request_counts(page, &worlds);
        let walk = request_walk(page, &worlds, walk_request).await?;
        let (_, aimed) = checks(page, &worlds, pending_checks).await?;
        return read_walk(page, walk, &worlds, counts, walk_request, aimed).await;
    };
    let (answers, aimed) = checks(page, &worlds, pending_checks).await?;
    let pending_counts = request_counts(page, &worlds);
    if !answers.iter().all(|a| a.is_some_and(|(same, _)| same)) {
        tracing::debug!(?answers, "walked: a document changed, or nothing can be proven");
        // The walk is sent after the request for the counts and cannot overtake it.
        let walk = request_walk(page, &worlds, walk_request).await?;
        return read_walk(page, walk, &worlds, pending_counts, walk_request, aimed).await;
    }
    let counts = read_counts(page, pending_counts).await?;
    let mut same = equal(&last.counts, &counts) && last.covers(walk_request.watch);
    if same {
        let none_collected = answers.iter().all(|a| a.is_some_and(|(_, kept)| kept));
        last.has_valid_listener_count &= none_collected && listeners(&last.counts).eq(listeners(&counts));
        if is_full_walk {
            same = page.probes.has_same_listeners(&page.tab, &worlds, last.has_valid_listener_count).await?;
            last.has_valid_listener_count = same;
        }
        last.counts.clone_from(&counts);
    }
    if same {
        page.walks_skipped += 1;
        return Ok(CurrentPage { walked: Some(page.last_walk.insert(last)), aimed });
    }
    tracing::debug!("walked: style, layout, listeners or the requested elements differ");
    let pending_walk = request_walk(page, &worlds, walk_request).await?;
    page.last_walk = walk(page, pending_walk, &worlds, counts, walk_request).await?;
    Ok(CurrentPage { walked: page.last_walk.as_ref(), aimed })
}

/// Returns whether each document is unchanged, and where to aim at the wanted element, as reported
/// by the element's document.
async fn checks(
    page: &Page,
    worlds: &[World],
    requests: Vec<PendingRequest>,
) -> Result<(Vec<Check>, Aim), TabError> {
    let answers: Vec<Option<(bool, bool, Option<AimAnswer>)>> = page.tab.finish_all(worlds, requests).await?;
    let mut aim = None;
    let checks = answers.into_iter().map(|answer| {
        let (same, kept, aimed) = answer?;
        aim = aim.take().or(aimed);
        Some((same, kept))
    });
    let checks = checks.collect();
    Ok((checks, aim.map(|aimed| FreshAnswer::from_now(page, aimed)).transpose()?))
}

/// The answers to the script's `unchanged` and `uncollected`; `None` for a frame that is being
/// replaced.
type Check = Option<(bool, bool)>;

type Aim = Option<FreshAnswer<AimAnswer>>;

/// Reads the counts and the answers to a walk that was requested after the counts.
async fn read_walk<'a>(
    page: &'a mut Page,
    pending_walk: PendingWalk,
    worlds: &[World],
    counts: PendingCounts,
    walk_request: WalkRequest<'_>,
    aimed: Aim,
) -> Result<CurrentPage<'a>, TabError> {
    let counts = read_counts(page, counts).await?;
    page.last_walk = walk(page, pending_walk, worlds, counts, walk_request).await?;
    Ok(CurrentPage { walked: page.last_walk.as_ref(), aimed })
}

/// Requests a walk of every document and, for a whole capture, the list of listeners, which the
/// browser prepares while the columns are being read.
async fn request_walk(
    page: &mut Page,
    worlds: &[World],
    walk_request: WalkRequest<'_>,
) -> Result<PendingWalk, TabError> {
    let columns = page.tab.send_requests(worlds, |world| walk_request.walk_expression(world))?;
    let listening = match walk_request.target {
        None => Some(page.probes.request_listeners(&page.tab, worlds).await?),
        Some(_) => None,
    };
    Ok(PendingWalk { columns, listening })
}

/// Reads the answers to a walk, adds what the scripts cannot see, and assembles the tree.
async fn walk(
    page: &mut Page,
    walk: PendingWalk,
    worlds: &[World],
    counts: Counts,
    walk_request: WalkRequest<'_>,
) -> Result<Option<PageWalk>, TabError> {
    let PendingWalk { columns: asked, listening } = walk;
    let mut read = Vec::with_capacity(worlds.len());
    for (world, asking) in worlds.iter().zip(asked) {
        let completed_columns = async {
            let json: Option<String> = page.tab.receive_answer(asking).await?;
            let Some(json) = json else { return Ok(None) };
            let columns = Columns::parse(&json).map_err(corrupt)?;
            complete(page, world, columns, walk_request).await.map(Some)
        };
        match completed_columns.await {
            // A frame that is being replaced is empty for a moment.
            Err(TabError::WorldGone) if world.parent.is_some() && !walk_request.strict => {}
            answer => match answer? {
                Some(columns) => read.push((world, columns)),
                None => return Ok(None),
            },
        }
    }
    if let Some(listening) = listening {
        for outdated in page.probes.read_listeners(&page.tab, listening).await? {
            let Some((world, columns)) = read.iter_mut().find(|(world, _)| **world == outdated) else {
                continue;
            };
            let json: Option<String> = page.tab.evaluate(world, walk_request.walk_expression(world)?).await?;
            let Some(json) = json else { return Ok(None) };
            *columns = complete(page, world, Columns::parse(&json).map_err(corrupt)?, walk_request).await?;
        }
    }
    let walked = assemble_walk(page, read, walk_request).await?;
    Ok(Some(PageWalk { counts, ..walked }))
}

/// Adds to the columns of a document what the document's script cannot see.
pub(crate) async fn complete(
    page: &mut Page,
    world: &World,
    columns: Columns,
    walk_request: WalkRequest<'_>,
) -> Result<Columns, TabError> {
    let question = walk_request.walk_expression(world)?;
    page.probes.complete(&page.tab, world, columns, &question, walk_request.target).await
}

/// Assembles a walk from the columns of its documents. The caller adds the counts, without which
/// the walk cannot be proven unchanged later.
pub(crate) async fn assemble_walk(
    page: &mut Page,
    read: Vec<(&World, Columns)>,
    walk_request: WalkRequest<'_>,
) -> Result<PageWalk, TabError> {
    let requested: HashSet<Handle> = walk_request.watch.iter().chain(&walk_request.target).copied().collect();
    let (mut top, mut frames, mut documents) = (None, HashMap::new(), Vec::new());
    for (world, mut columns) in read {
        page.probes.mark_listeners(world, &mut columns);
        columns.retain_hidden(|id| requested.contains(&Handle { scope: world.scope, id }));
        let seal = if page.probes.needs_completion(world) { 0 } else { columns.wire.seal };
        documents.push(SealedDocument {
            scope: world.scope,
            frame_path: world.path.clone(),
            seal,
            changes: columns.wire.changes,
        });
        let part = DocumentCapture { columns, scope: world.scope, frame: world.path.clone() };
        if world.parent.is_none() {
            top = Some(part);
            continue;
        }
        match page.tab.owner(world).await {
            Ok(Some((outer, id))) => {
                frames.insert(Handle { scope: outer.scope, id }, part);
            }
            Ok(None) | Err(TabError::WorldGone) => {}
            Err(fault) => return Err(fault),
        }
    }
    let top = top.ok_or(TabError::WorldGone)?;
    let tree = assemble(&top, &frames, SurfaceId(page.number)).map_err(corrupt)?;
    page.node_count = tree.len();
    Ok(PageWalk {
        tab: page.tab.session.clone(),
        tree: Arc::new(tree),
        index: OnceLock::new(),
        documents,
        counts: Counts::new(),
        has_valid_listener_count: true,
        is_complete: walk_request.target.is_none(),
        asked_handles: requested,
    })
}

/// Pending requests for the counts of each session.
type PendingCounts = Vec<(String, Reply<cdp::GetMetrics>)>;

fn request_counts(page: &Page, worlds: &[World]) -> PendingCounts {
    let sessions: BTreeSet<&str> = worlds.iter().map(|w| w.session.as_str()).collect();
    let send = |session: &str| (session.to_owned(), page.tab.client.send(Some(session), &cdp::GetMetrics {}));
    sessions.into_iter().map(send).collect()
}

async fn read_counts(page: &Page, pending: PendingCounts) -> Result<Counts, TabError> {
    let mut counts = Counts::new();
    for (session, reply) in pending {
        let answer = page.tab.unless_dialog(async { Ok::<_, TabError>(reply.await) }).await?;
        let count = match answer {
            Ok(answer) => count(&answer),
            // The frame went away with its counts.
            Err(e) if e.is_gone() => None,
            Err(e) => return Err(page.tab.call_error(&e).into()),
        };
        counts.insert(session, count);
    }
    Ok(counts)
}

fn count(answer: &cdp::Metrics) -> Option<SessionCounts> {
    let metric_value =
        |name| answer.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value.to_bits());
    Some(SessionCounts {
        renderings: [metric_value("RecalcStyleCount")?, metric_value("LayoutCount")?],
        listeners: metric_value("JSEventListeners")?,
    })
}

/// Returns whether the counts of style and layout are known and equal.
fn equal(before: &Counts, now: &Counts) -> bool {
    let same = |(a, b): (&Option<SessionCounts>, &Option<SessionCounts>)| match (a, b) {
        (Some(a), Some(b)) => a.renderings == b.renderings,
        _ => false,
    };
    before.keys().eq(now.keys()) && before.values().zip(now.values()).all(same)
}

/// Returns the number of listeners in each session.
fn listeners(counts: &Counts) -> impl Iterator<Item = Option<u64>> {
    counts.values().map(|count| count.map(|c| c.listeners))
}
