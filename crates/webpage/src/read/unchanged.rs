//! What the page reads as: the last walk where it is proven to hold still, else a new one.
//!
//! In sequence, because the browser answers a question for its counts while a script of the page runs: every document
//! is asked whether it changed, which brings its style and layout up to date; then the counts of style recalculations
//! and layouts are read; only then, if anything differs, the documents are walked. The counts that are kept are those
//! from before the walk: what changes during or after it makes the next check fail, never pass.
//! `agent/script/read/unchanged.js` says what is compared inside, and why nothing else is needed.

use crate::agent::{Aimed, GLOBAL};
use crate::capture::{Columns, Part, assemble};
use crate::read::guard::ranges;
use crate::read::page::{Page, corrupt};
use crate::read::together::Momentary;
use crate::state::{TabState, World as Known};
use crate::tab::{Asked, Fault, World, expression};
use crate::unseen::Listening;
use hashbrown::{HashMap, HashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use stickpin_device::Result;
use stickpin_devtools::Reply;
use stickpin_devtools::protocol as cdp;
use stickpin_tree::{Handle, NodeId, SurfaceId, Tree};

/// What the browser counted in each session; `None` where the session is gone.
type Counts = BTreeMap<String, Option<Count>>;

/// What the browser counted in one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Count {
    /// Style recalculations and layouts.
    drawn: [u64; 2],
    /// Event listeners: one more for each that is added. Collected garbage lowers it, so that two counts could be
    /// equal by chance; `uncollected` of the script tells. Then the listeners themselves are asked for.
    listeners: u64,
}

/// A document that was walked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sealed {
    scope: u64,
    /// Which frame showed it.
    place: String,
    /// 0: nothing can be proven.
    seal: u32,
    /// How often it had changed.
    changes: u64,
}

/// The last walk of a tab.
#[derive(Debug)]
pub(crate) struct Walked {
    /// The session of the tab.
    tab: String,
    tree: Arc<Tree>,
    index: OnceLock<HashMap<Handle, NodeId>>,
    /// The documents that answered, in the order of the frames.
    documents: Vec<Sealed>,
    /// What the browser counted at the last check.
    counts: Counts,
    /// Whether what listens is still what was known of it when listeners were counted: not once garbage was collected
    /// and nobody asked since.
    listening: bool,
    /// Whether everything was asked that belongs to a capture; to locate an element less will do.
    whole: bool,
    /// The handles that the walk was asked about.
    asked: HashSet<Handle>,
}

impl Walked {
    pub(crate) fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    pub(crate) fn find(&self, handle: Handle) -> Option<NodeId> {
        self.index.get_or_init(|| self.tree.handle_index()).get(&handle).copied()
    }

    /// Whether a later look can prove that nothing changed since.
    pub(crate) fn is_provable(&self) -> bool {
        self.documents.iter().all(|d| d.seal != 0)
    }

    /// Whether these are the documents that were walked, and all of them can be compared.
    fn shows(&self, worlds: &[World]) -> bool {
        self.documents.len() == worlds.len()
            && self
                .documents
                .iter()
                .zip(worlds)
                .all(|(d, w)| d.scope == w.scope && d.place == w.path && d.seal != 0)
    }

    /// Whether some document has told of a change since.
    pub(crate) fn is_outdated(&self, tab: &TabState) -> bool {
        let mut told = tab.frames.values().filter_map(|f| f.world.as_ref());
        let later = |w: &Known| self.documents.iter().any(|d| d.scope == w.scope && w.changes > d.changes);
        told.any(later)
    }

    /// Whether the tree tells of all these what became of them.
    pub(crate) fn answers(&self, watch: &[Handle]) -> bool {
        watch.iter().all(|h| self.asked.contains(h) || self.find(*h).is_some())
    }

    fn seal(&self, world: &World) -> u32 {
        self.documents.iter().find(|d| d.scope == world.scope).map_or(0, |d| d.seal)
    }
}

/// What is wanted of the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// Elements that are asked about: hidden is not gone.
    pub(crate) watch: &'a [Handle],
    /// Nothing is wanted unless this element is connected.
    pub(crate) only: Option<Handle>,
    /// Whether a frame that is replaced meanwhile fails it, so that it is tried again.
    pub(crate) patient: bool,
}

impl Wanted<'_> {
    /// The numbers in a document of the handles that belong to it, as ranges: first and last in turns. A few numbers
    /// that nobody asked for lie between them, so that thousands of elements are asked about in a few words.
    pub(crate) fn ranges(&self, world: &World) -> Vec<u64> {
        let asked = self.watch.iter().chain(&self.only).filter(|h| h.scope == world.scope);
        ranges(asked.map(|h| h.id), BETWEEN)
    }

    fn question(&self, world: &World) -> Result<String> {
        if let Some(only) = self.only.filter(|h| h.scope == world.scope) {
            return expression("locate", (only.id, self.ranges(world)));
        }
        // A record may be read across documents (the opener of a popup), and the tree needs its root.
        let watch = serde_json::to_string(&self.ranges(world)).map_err(corrupt)?;
        Ok(format!("{GLOBAL}.capture({{watch:{watch}}})"))
    }
}

/// A walk that was asked for.
#[derive(Debug)]
struct AskedWalk {
    /// Of each document.
    columns: Vec<Asked>,
    listening: Option<Listening>,
}

/// How far apart two numbers may be in one range of what is watched.
const BETWEEN: u64 = 16;

/// The page as it is now.
#[derive(Debug)]
pub(crate) struct Current<'a> {
    /// None when the one element that is wanted is gone.
    pub(crate) walked: Option<&'a Walked>,
    /// Where that element would be aimed at, if it came along.
    pub(crate) aimed: Option<Momentary<Aimed>>,
}

/// Reads the page.
pub(crate) async fn current<'a>(page: &'a mut Page, wanted: Wanted<'_>) -> Result<Current<'a>, Fault> {
    // Before the walk: what changes meanwhile is a change since.
    page.ahead.begins(page.tab.read(|tab| tab.activity)?);
    let worlds = page.tab.worlds().await?;
    page.unseen.keep(&worlds);
    let whole = wanted.only.is_none();
    let mut last =
        page.walked.take().filter(|w| w.tab == page.tab.session && w.shows(&worlds) && (w.whole || !whole));
    if let Some(walked) = &last
        && page.tab.read(|tab| walked.is_outdated(tab))?
    {
        last = None;
    }
    let question = |world: &World| {
        let seal = last.as_ref().map_or(0, |w| w.seal(world));
        // Where the element would be aimed at comes along; whoever does not aim does not look at it.
        let aim = wanted.only.filter(|only| only.scope == world.scope);
        let aim = aim.map_or(Ok("null".to_owned()), |only| expression("glimpse", (only.id,)))?;
        Ok(format!("[{},{GLOBAL}.uncollected(),{aim}]", expression("unchanged", (seal,))?))
    };
    let asked = page.tab.ask_all(&worlds, question)?;
    let Some(mut last) = last else {
        // It will be walked whatever the answers are, so all is asked at once. Counts that the browser gives too
        // early make the next check fail, never pass.
        let counts = ask_counts(page, &worlds);
        let walk = ask_walk(page, &worlds, wanted).await?;
        let (_, aimed) = checks(page, &worlds, asked).await?;
        return read_walk(page, walk, &worlds, counts, wanted, aimed).await;
    };
    let (answers, aimed) = checks(page, &worlds, asked).await?;
    let asked = ask_counts(page, &worlds);
    if !answers.iter().all(|a| a.is_some_and(|(same, _)| same)) {
        tracing::debug!(?answers, "walked: a document changed, or nothing can be proven");
        // The walk is sent behind the question for the counts, which it cannot overtake.
        let walk = ask_walk(page, &worlds, wanted).await?;
        return read_walk(page, walk, &worlds, asked, wanted, aimed).await;
    }
    let counts = read_counts(page, asked).await?;
    let mut same = equal(&last.counts, &counts) && last.answers(wanted.watch);
    if same {
        let kept = answers.iter().all(|a| a.is_some_and(|(_, kept)| kept));
        last.listening &= kept && listeners(&last.counts).eq(listeners(&counts));
        if whole {
            same = page.unseen.still_listens(&page.tab, &worlds, last.listening).await?;
            last.listening = same;
        }
        last.counts.clone_from(&counts);
    }
    if same {
        page.proven += 1;
        return Ok(Current { walked: Some(page.walked.insert(last)), aimed });
    }
    tracing::debug!("walked: style, layout, listeners, or what is asked about");
    let asked = ask_walk(page, &worlds, wanted).await?;
    page.walked = walk(page, asked, &worlds, counts, wanted).await?;
    Ok(Current { walked: page.walked.as_ref(), aimed })
}

/// What documents say to whether they changed, and where the element that is wanted would be aimed at, which one of them
/// says.
async fn checks(page: &Page, worlds: &[World], asked: Vec<Asked>) -> Result<(Vec<Check>, Aim), Fault> {
    let answers: Vec<Option<(bool, bool, Option<Aimed>)>> = page.tab.finish_all(worlds, asked).await?;
    let mut aim = None;
    let checks = answers.into_iter().map(|answer| {
        let (same, kept, aimed) = answer?;
        aim = aim.take().or(aimed);
        Some((same, kept))
    });
    let checks = checks.collect();
    Ok((checks, aim.map(|aimed| Momentary::now(page, aimed)).transpose()?))
}

/// What `unchanged` and `uncollected` of the script say; none of a frame that is being replaced.
type Check = Option<(bool, bool)>;

type Aim = Option<Momentary<Aimed>>;

/// Reads the counts and the answers to a walk that was asked for behind them.
async fn read_walk<'a>(
    page: &'a mut Page,
    asked: AskedWalk,
    worlds: &[World],
    counts: AskedCounts,
    wanted: Wanted<'_>,
    aimed: Aim,
) -> Result<Current<'a>, Fault> {
    let counts = read_counts(page, counts).await?;
    page.walked = walk(page, asked, worlds, counts, wanted).await?;
    Ok(Current { walked: page.walked.as_ref(), aimed })
}

/// Asks for a walk of every document, and for what listens: the browser answers that while the columns are read.
async fn ask_walk(page: &mut Page, worlds: &[World], wanted: Wanted<'_>) -> Result<AskedWalk, Fault> {
    let columns = page.tab.ask_all(worlds, |world| wanted.question(world))?;
    let listening = match wanted.only {
        None => Some(page.unseen.listen(&page.tab, worlds).await?),
        Some(_) => None,
    };
    Ok(AskedWalk { columns, listening })
}

/// Reads the answers to a walk, completes them with what the scripts cannot see, and puts them together.
async fn walk(
    page: &mut Page,
    walk: AskedWalk,
    worlds: &[World],
    counts: Counts,
    wanted: Wanted<'_>,
) -> Result<Option<Walked>, Fault> {
    let AskedWalk { columns: asked, listening } = walk;
    let mut read = Vec::with_capacity(worlds.len());
    for (world, asking) in worlds.iter().zip(asked) {
        let completed = async {
            let json: Option<String> = page.tab.finish(asking).await?;
            let Some(json) = json else { return Ok(None) };
            let columns = Columns::parse(&json).map_err(corrupt)?;
            complete(page, world, columns, wanted).await.map(Some)
        };
        match completed.await {
            // A frame that is being replaced is empty for a moment.
            Err(Fault::WorldGone) if world.parent.is_some() && !wanted.patient => {}
            answer => match answer? {
                Some(columns) => read.push((world, columns)),
                None => return Ok(None),
            },
        }
    }
    if let Some(listening) = listening {
        for left_out in page.unseen.heard(&page.tab, listening).await? {
            let Some((world, columns)) = read.iter_mut().find(|(world, _)| **world == left_out) else {
                continue;
            };
            let json: Option<String> = page.tab.evaluate(world, wanted.question(world)?).await?;
            let Some(json) = json else { return Ok(None) };
            *columns = complete(page, world, Columns::parse(&json).map_err(corrupt)?, wanted).await?;
        }
    }
    let walked = put_together(page, read, wanted).await?;
    Ok(Some(Walked { counts, ..walked }))
}

/// Completes the columns of a document with what its script cannot see.
pub(crate) async fn complete(
    page: &mut Page,
    world: &World,
    columns: Columns,
    wanted: Wanted<'_>,
) -> Result<Columns, Fault> {
    let question = wanted.question(world)?;
    page.unseen.complete(&page.tab, world, columns, &question, wanted.only).await
}

/// A walk from the columns of its documents. Without counts it is compared with nothing later.
pub(crate) async fn put_together(
    page: &mut Page,
    read: Vec<(&World, Columns)>,
    wanted: Wanted<'_>,
) -> Result<Walked, Fault> {
    let asked: HashSet<Handle> = wanted.watch.iter().chain(&wanted.only).copied().collect();
    let (mut top, mut frames, mut documents) = (None, HashMap::new(), Vec::new());
    for (world, mut columns) in read {
        page.unseen.mark(world, &mut columns);
        columns.answer_for(|id| asked.contains(&Handle { scope: world.scope, id }));
        let seal = if page.unseen.wants_more(world) { 0 } else { columns.wire.seal };
        documents.push(Sealed {
            scope: world.scope,
            place: world.path.clone(),
            seal,
            changes: columns.wire.changes,
        });
        let part = Part { columns, scope: world.scope, frame: world.path.clone() };
        if world.parent.is_none() {
            top = Some(part);
            continue;
        }
        match page.tab.owner(world).await {
            Ok(Some((outer, id))) => {
                frames.insert(Handle { scope: outer.scope, id }, part);
            }
            Ok(None) | Err(Fault::WorldGone) => {}
            Err(fault) => return Err(fault),
        }
    }
    let top = top.ok_or(Fault::WorldGone)?;
    let tree = assemble(&top, &frames, SurfaceId(page.number)).map_err(corrupt)?;
    page.extent = tree.len();
    Ok(Walked {
        tab: page.tab.session.clone(),
        tree: Arc::new(tree),
        index: OnceLock::new(),
        documents,
        counts: Counts::new(),
        listening: true,
        whole: wanted.only.is_none(),
        asked,
    })
}

/// Questions for the counts of each session.
type AskedCounts = Vec<(String, Reply<cdp::GetMetrics>)>;

fn ask_counts(page: &Page, worlds: &[World]) -> AskedCounts {
    let sessions: BTreeSet<&str> = worlds.iter().map(|w| w.session.as_str()).collect();
    let ask = |session: &str| (session.to_owned(), page.tab.client.send(Some(session), &cdp::GetMetrics {}));
    sessions.into_iter().map(ask).collect()
}

async fn read_counts(page: &Page, asked: AskedCounts) -> Result<Counts, Fault> {
    let mut counts = Counts::new();
    for (session, reply) in asked {
        let answer = page.tab.unless_dialog(async { Ok::<_, Fault>(reply.await) }).await?;
        let count = match answer {
            Ok(answer) => count(&answer),
            // The frame went away, and its counts with it.
            Err(e) if e.is_gone() => None,
            Err(e) => return Err(page.tab.call_error(&e).into()),
        };
        counts.insert(session, count);
    }
    Ok(counts)
}

fn count(answer: &cdp::Metrics) -> Option<Count> {
    let of =
        |name| answer.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value.to_bits());
    Some(Count { drawn: [of("RecalcStyleCount")?, of("LayoutCount")?], listeners: of("JSEventListeners")? })
}

/// Whether the counts of style and layout are known and the same.
fn equal(then: &Counts, now: &Counts) -> bool {
    let same = |(a, b): (&Option<Count>, &Option<Count>)| match (a, b) {
        (Some(a), Some(b)) => a.drawn == b.drawn,
        _ => false,
    };
    then.keys().eq(now.keys()) && then.values().zip(now.values()).all(same)
}

/// How many listeners there are in each session.
fn listeners(counts: &Counts) -> impl Iterator<Item = Option<u64>> {
    counts.values().map(|count| count.map(|c| c.listeners))
}
