//! `watch frame`: what a person who watches the session sees now. Not in the list of commands: the
//! host that serves watchers adds it.

use crate::act::points;
use crate::commands::prelude::*;
use crate::host::screenshots::{ClientScreenshot, PageIdentity, PlacedElement};
use crate::observe::capture;
use crate::observe::traffic::describe_network_request;
use crate::observe::waiting::{self, PauseEnd, WakeOn};
use crate::picture::image::Image;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use stickpin_device::{RequestEnd, ScreenshotImage, ScreenshotRequest};
use stickpin_refs::{Ref, RefToken};
use stickpin_tree::{
    DEFAULT_MAX_BYTES, Handle, IdentityGrade, NodeId, NodeRef, Outline, OutlineQueries, Tree, View,
};
use tokio::time::Instant;

/// The maximum wait for a change, in milliseconds.
const MAX_WAIT: u64 = 10_000;

/// How long the session must be idle after a command before a watcher uses the device, so that the
/// next command of a busy agent does not wait for a screenshot.
const ROOM: Duration = Duration::from_millis(80);

/// The maximum time that a busy agent can keep a watcher waiting for a screenshot.
const MAX_ROOM: Duration = Duration::from_millis(1_500);

/// The maximum number of attempts until nothing moves while the picture is taken.
const MAX_ROUNDS: usize = 3;

/// The maximum number of failed requests.
const MAX_FAILED: usize = 20;

/// Show the app as it is now to a person who watches: a picture, boxes with refs, and the outline.
///
/// Issues no refs and stores no tree. Lets every other command go first.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WatchFrame {
    /// Milliseconds to wait for a change.
    #[serde(default)]
    pub wait: u64,
    /// The `picture` of your last frame: an equal picture is not sent again.
    pub picture: Option<String>,
    /// The `commands` of your last frame.
    pub commands: Option<u64>,
    /// Only receipts of commands behind this record.
    #[serde(default)]
    pub after: u64,
    /// Remember the picture, so that points of later commands are its pixels.
    #[serde(default)]
    pub points: bool,
}

/// The app at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchFrameOutput {
    /// The address.
    pub url: String,
    /// The title.
    pub title: String,
    /// A hash of the screenshot; equal for equal screenshots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// The screenshot as PNG in Base64; absent if the caller already has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub png: Option<String>,
    /// The width of the screenshot in pixels.
    pub width: u32,
    /// The height of the screenshot in pixels.
    pub height: u32,
    /// The actionable elements in the screenshot.
    pub boxes: Vec<FrameBox>,
    /// The outline of the app.
    pub outline: String,
    /// The dialog that the app waits for, in words. There is no screenshot then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<String>,
    /// The number of commands that ran before the frame.
    pub commands: u64,
    /// The record of the begin of the last of these commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_command: Option<u64>,
    /// The receipts of these commands.
    pub receipts: Vec<FrameReceipt>,
    /// The failed requests of the page.
    pub failed_requests: Vec<String>,
}

/// The bounds of an element, in pixels of the screenshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameBox {
    /// The ref with the generation for which it is known to be correct; absent if none was issued.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The role.
    pub role: String,
    /// The name.
    pub name: String,
    /// The distance from the left edge.
    pub x: f64,
    /// The distance from the top edge.
    pub y: f64,
    /// The width in pixels.
    pub width: f64,
    /// The height in pixels.
    pub height: f64,
}

/// The receipt of one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameReceipt {
    /// The record of the begin of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<u64>,
    /// The lines.
    pub lines: Vec<FrameReceiptLine>,
}

/// A line of a receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameReceiptLine {
    /// The text.
    pub text: String,
    /// Whether the line reports an error of the app.
    pub is_error: bool,
}

impl Command for WatchFrame {
    const SPEC: Spec = Spec {
        name: "watch frame",
        needs: &[Capability::Capture],
        despite_dialog: true,
        recorded: false,
        logged: false,
        ..Spec::SESSION
    };
    type Output = WatchFrameOutput;

    fn time_limits(&self) -> TimeLimits {
        let wait = Duration::from_millis(self.wait.min(MAX_WAIT));
        TimeLimits { deadline: Self::SPEC.deadline + wait, response_limit: None }
    }

    async fn run(self, cx: &mut Cx) -> Result<WatchFrameOutput> {
        let end = Instant::now() + Duration::from_millis(self.wait.min(MAX_WAIT));
        loop {
            if self.is_behind(cx)? {
                leave_room(cx).await?;
                break;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || waiting::pause(cx, left, WakeOn::Changes).await? == PauseEnd::Change {
                break;
            }
        }
        self.take(cx).await
    }
}

impl WatchFrame {
    /// Returns whether commands ran, or another watcher got a different screenshot, since the
    /// caller's last frame.
    fn is_behind(&self, cx: &mut Cx) -> Result<bool> {
        let live = cx.open_session()?;
        let seen = self.picture.as_deref().and_then(|hash| u64::from_str_radix(hash, 16).ok());
        Ok(Some(live.watch.commands) != self.commands
            || live.device.dialog().is_some()
            || live.watch.picture != seen)
    }

    /// Reads the app. Waiting commands run first, before each query to the device.
    async fn take(&self, cx: &mut Cx) -> Result<WatchFrameOutput> {
        waiting::let_others_pass(cx).await?;
        // Counted before the app is read: the next frame shows what happens meanwhile.
        let live = cx.open_session()?;
        let (commands, last_command) = (live.watch.commands, live.watch.last_command);
        let dialog = live.device.dialog().map(|dialog| dialog.describe());
        let frame = match dialog {
            // The app only waits for an answer to its dialog.
            Some(_) => self.frame(cx, None, String::new(), Vec::new(), None).await?,
            None => self.read(cx).await?,
        };
        Ok(WatchFrameOutput { dialog, commands, last_command, ..frame })
    }

    async fn read(&self, cx: &mut Cx) -> Result<WatchFrameOutput> {
        let (tree, placed, shot) = picture(cx).await?;
        let refs = Refs::of(cx, &tree)?;
        let outline = outline(&tree, &refs);
        let boxes = shot.as_ref().map_or_else(Vec::new, |shot| boxes(&tree, &placed, &refs, shot));
        if let (true, Some(shot)) = (self.points, &shot) {
            remember(cx, &tree, &placed, shot).await?;
        }
        self.frame(cx, Some(&tree), outline, boxes, shot).await
    }

    async fn frame(
        &self,
        cx: &mut Cx,
        tree: Option<&Tree>,
        outline: String,
        boxes: Vec<FrameBox>,
        shot: Option<ScreenshotImage>,
    ) -> Result<WatchFrameOutput> {
        let failed_requests = failed_requests(cx).await?;
        let live = cx.open_session()?;
        let page = tree.and_then(|tree| tree.documents().first());
        let (url, title) = match page {
            Some(page) => (page.url.clone(), page.title.clone()),
            None => live.page.as_ref().map(|p| (p.url.clone(), p.title.clone())).unwrap_or_default(),
        };
        let size = shot.as_ref().map(|shot| Image::size(&shot.png)).transpose()?;
        let (width, height) = size.unwrap_or_default();
        let hash = shot.as_ref().map(|shot| hash(&shot.png));
        live.watch.picture = hash;
        let picture = hash.map(|hash| format!("{hash:016x}"));
        let is_new = picture != self.picture;
        let kept = live.watch.receipts_after(self.after);
        let receipts = kept.map(|kept| FrameReceipt {
            command: kept.command,
            lines: kept
                .lines
                .iter()
                .map(|(text, is_error)| FrameReceiptLine { text: text.clone(), is_error: *is_error })
                .collect(),
        });
        Ok(WatchFrameOutput {
            url,
            title,
            picture,
            png: shot.filter(|_| is_new).map(|shot| BASE64_STANDARD.encode(&shot.png)),
            width,
            height,
            boxes,
            outline,
            dialog: None,
            commands: live.watch.commands,
            last_command: live.watch.last_command,
            receipts: receipts.collect(),
            failed_requests,
        })
    }
}

/// Waits until no command has requested the session for a moment.
async fn leave_room(cx: &mut Cx) -> Result<()> {
    let end = Instant::now() + MAX_ROOM;
    while Instant::now() < end && waiting::stay_idle(cx, ROOM).await? == PauseEnd::Yield {}
    Ok(())
}

/// Takes a picture, and reads the app before and behind it: returns the later tree with the
/// elements that are the same in both. Repeated while the app moves.
///
/// A picture makes an app lay itself out, and what was read before can then not be proven any more.
/// The later reading leaves the next command one that can.
async fn picture(cx: &mut Cx) -> Result<(Arc<Tree>, Vec<PlacedElement>, Option<ScreenshotImage>)> {
    let mut round = 1;
    loop {
        let before = read(cx).await?;
        waiting::let_others_pass(cx).await?;
        let first = points::actionable_boxes(cx, &before).await?;
        waiting::let_others_pass(cx).await?;
        let Some(screenshots) = cx.device()?.screenshots() else { return Ok((before, first, None)) };
        let shot = screenshots.screenshot(ScreenshotRequest::default()).await?;
        let tree = read(cx).await?;
        let mut placed = points::actionable_boxes(cx, &tree).await?;
        let graded = tree.grade() != IdentityGrade::None;
        let corner = |p: &PlacedElement| (p.rect.x.to_bits(), p.rect.y.to_bits());
        let mut known: HashMap<_, Vec<&PlacedElement>> = HashMap::new();
        for p in &first {
            known.entry(corner(p)).or_default().push(p);
        }
        let same = |a: &PlacedElement, b: &PlacedElement| {
            a.rect == b.rect
                && (!graded || a.handle == b.handle)
                && reads_same(before.node(a.node), tree.node(b.node))
        };
        let all = placed.len();
        placed.retain(|b| known.get(&corner(b)).is_some_and(|at| at.iter().any(|a| same(a, b))));
        if (placed.len() == all && all == first.len()) || round == MAX_ROUNDS {
            return Ok((tree, placed, Some(shot)));
        }
        round += 1;
    }
}

/// Captures the app without storing the tree.
async fn read(cx: &mut Cx) -> Result<Arc<Tree>> {
    cx.check()?;
    capture::capture_against_stored(cx).await.map(|(tree, _)| tree)
}

/// The refs of the stored tree, for nodes of a later tree that are still the same elements.
struct Refs {
    by_handle: HashMap<Handle, String>,
}

impl Refs {
    fn of(cx: &mut Cx, tree: &Tree) -> Result<Self> {
        let session = &cx.open_session()?.session;
        let mut by_handle = HashMap::new();
        let (Some(stored), Some(generation)) = (session.tree(), session.generation()) else {
            return Ok(Self { by_handle });
        };
        let now = tree.handle_index();
        for node in stored.nodes() {
            let Some((id, handle)) = session.ref_of(node.id()).zip(node.address()) else { continue };
            let same = now.get(&handle).is_some_and(|&at| reads_same(node, tree.node(at)));
            if same {
                by_handle.insert(handle, pinned(id, generation));
            }
        }
        Ok(Self { by_handle })
    }

    fn get(&self, node: NodeRef<'_>) -> Option<&str> {
        self.by_handle.get(&node.address()?).map(String::as_str)
    }
}

fn pinned(id: Ref, generation: stickpin_refs::Generation) -> String {
    RefToken { id, pin: Some(generation) }.to_string()
}

/// Returns whether a person who knows one node would take the other for it.
fn reads_same(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    a.role() == b.role() && a.name() == b.name()
}

fn outline(tree: &Tree, refs: &Refs) -> String {
    let view = View { max_bytes: DEFAULT_MAX_BYTES, ..View::default() };
    let id = |n: NodeId| -> Option<Ref> {
        let token: RefToken = refs.get(tree.node(n))?.parse().ok()?;
        Some(token.id)
    };
    let cues = OutlineQueries { has_live_ref: &|n| id(n).is_some(), distinguishing_text: &|_| None };
    Outline::plan(tree, &view, &cues).render(&id)
}

fn boxes(tree: &Tree, placed: &[PlacedElement], refs: &Refs, shot: &ScreenshotImage) -> Vec<FrameBox> {
    let (area, scale) = (shot.area, shot.scale);
    let shown = placed.iter().filter(|p| {
        let r = p.rect;
        r.x < area.x + area.width
            && r.x + r.width > area.x
            && r.y < area.y + area.height
            && r.y + r.height > area.y
    });
    let framed = shown.map(|p| {
        let node = tree.node(p.node);
        FrameBox {
            reference: refs.get(node).map(str::to_owned),
            role: node.role().to_string(),
            name: stickpin_tree::escape(node.name(), 200),
            x: (p.rect.x - area.x) * scale,
            y: (p.rect.y - area.y) * scale,
            width: p.rect.width * scale,
            height: p.rect.height * scale,
        }
    });
    framed.collect()
}

/// Stores what the screenshot shows, so that a press at one of its points is checked against it.
async fn remember(cx: &mut Cx, tree: &Tree, placed: &[PlacedElement], shot: &ScreenshotImage) -> Result<()> {
    let marks = points::screenshot_marks(cx, tree, placed, shot.area).await?;
    let scrolled = cx.device()?.scroll_offset().await?;
    let client = cx.client_id();
    let live = cx.open_session()?;
    let id = match live.screenshots.last_of(&client) {
        Some(last) => last.id,
        None => live.screenshots.next_id(),
    };
    let page = (PageIdentity::of(tree), live.session.generation());
    let picture = ClientScreenshot {
        id,
        area: shot.area,
        scale: shot.scale,
        scrolled,
        page,
        image_hash: hash(&shot.png),
        marks,
    };
    live.screenshots.set(client, picture);
    Ok(())
}

/// Returns the failed requests of the page, only the last ones if there are many.
async fn failed_requests(cx: &mut Cx) -> Result<Vec<String>> {
    let device = cx.device()?;
    if device.dialog().is_some() {
        return Ok(Vec::new());
    }
    let Some(traffic) = device.traffic() else { return Ok(Vec::new()) };
    let requests = traffic.requests().await?;
    let failed = requests.iter().filter(|request| match &request.end {
        Some(RequestEnd::Status(status)) => *status >= 400,
        Some(RequestEnd::Failed(_)) => true,
        _ => false,
    });
    let failed: Vec<_> = failed.map(describe_network_request).collect();
    Ok(failed[failed.len().saturating_sub(MAX_FAILED)..].to_vec())
}

fn hash(png: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    png.hash(&mut hasher);
    hasher.finish()
}

impl Show for WatchFrameOutput {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("{}x{} {}", self.width, self.height, stickpin_tree::quote_url(&self.url)));
        text.block(&self.outline);
    }
}
