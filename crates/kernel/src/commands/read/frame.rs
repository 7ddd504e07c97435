//! `watch frame`: what a watcher of the session sees now. The command is not in the registry; the
//! host that serves watchers adds it.

mod output;
mod picture;

use crate::act::points;
use crate::commands::prelude::*;
use crate::host::screenshots::{ClientScreenshot, PageIdentity, PlacedElement};
use crate::observe::traffic::describe_network_request;
use crate::observe::waiting::{self, PauseEnd, WakeOn};
pub use output::{FrameBox, FrameReceipt, FrameReceiptLine, WatchFrameOutput};
use picture::{Shot, name, reads_same};
use std::collections::HashMap;
use stickpin_device::{LivePicture, RequestEnd};
use stickpin_refs::{Ref, RefToken};
use stickpin_tree::{DEFAULT_MAX_BYTES, Handle, NodeId, NodeRef, Outline, OutlineQueries, Tree, View};
use tokio::time::Instant;

/// The maximum wait for a change, in milliseconds.
const MAX_WAIT: u64 = 10_000;

/// The time after which a watcher gets its frame even if commands keep running.
const MAX_ROOM: Duration = Duration::from_millis(1_500);

/// The maximum number of failed requests in a frame.
const MAX_FAILED: usize = 20;

/// Show a watcher the current state of the app: a picture, boxes with refs, and the outline.
///
/// Issues no refs and stores no tree. Lets every other command go first.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WatchFrame {
    /// Milliseconds to wait for a change.
    pub wait: u64,
    /// The `picture` of your last frame: an equal picture is not sent again.
    pub picture: Option<String>,
    /// The `commands` of your last frame.
    pub commands: Option<u64>,
    /// Only receipts of commands after this log record.
    pub after: u64,
    /// Remember the picture, so that later commands can use points in it.
    pub points: bool,
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
    /// Returns whether a dialog is open, or whether commands ran or another watcher got a different
    /// screenshot since the caller's last frame.
    fn is_behind(&self, cx: &mut Cx) -> Result<bool> {
        let live = cx.open_session()?;
        let seen = self.picture.as_deref().and_then(|hash| u64::from_str_radix(hash, 16).ok());
        Ok(Some(live.watch.commands) != self.commands
            || live.device.dialog().is_some()
            || live.watch.picture != seen)
    }

    /// Takes a frame. Waiting commands run first, before each query to the device. While a dialog
    /// is open, the app is not read.
    async fn take(&self, cx: &mut Cx) -> Result<WatchFrameOutput> {
        waiting::let_others_pass(cx).await?;
        // Read these before the app, so that the next frame shows what happens in the meantime.
        let live = cx.open_session()?;
        let (commands, last_command) = (live.watch.commands, live.watch.last_command);
        let read = match live.device.dialog() {
            Some(_) => None,
            None => match self.read(cx).await {
                // A command that ran in the meantime opened a dialog.
                Err(e) if e.code == ErrorCode::DialogOpen => None,
                read => Some(read?),
            },
        };
        let frame = match read {
            Some(frame) => frame,
            // The app is only waiting for an answer to its dialog.
            None => self.frame(cx, None, String::new(), Vec::new(), None).await?,
        };
        let dialog = cx.open_session()?.device.dialog().map(|dialog| dialog.describe());
        Ok(WatchFrameOutput { dialog, commands, last_command, ..frame })
    }

    async fn read(&self, cx: &mut Cx) -> Result<WatchFrameOutput> {
        let (tree, placed, shot) = picture::take(cx, self.picture.as_deref()).await?;
        let refs = Refs::of(cx, &tree)?;
        let outline = outline(&tree, &refs);
        let boxes = shot.as_ref().map_or_else(Vec::new, |shot| boxes(&tree, &placed, &refs, &shot.picture));
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
        shot: Option<Shot>,
    ) -> Result<WatchFrameOutput> {
        let failed_requests = failed_requests(cx).await?;
        let console_errors = notices::unreported_console_errors(cx).await?;
        let live = cx.open_session()?;
        let page = tree.and_then(|tree| tree.documents().first());
        let (url, title) = match page {
            Some(page) => (page.url.clone(), page.title.clone()),
            None => live.page.as_ref().map(|p| (p.url.clone(), p.title.clone())).unwrap_or_default(),
        };
        let (width, height) = shot.as_ref().map_or((0, 0), |shot| (shot.picture.width, shot.picture.height));
        live.watch.picture = shot.as_ref().map(|shot| shot.hash);
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
            picture: shot.as_ref().map(|shot| name(shot.hash)),
            image: shot.and_then(|shot| shot.encoded),
            width,
            height,
            boxes,
            outline,
            dialog: None,
            commands: live.watch.commands,
            last_command: live.watch.last_command,
            receipts: receipts.collect(),
            failed_requests,
            console_errors,
        })
    }
}

/// Waits until no command has used the session for a moment, or until [`MAX_ROOM`] has passed.
/// Meanwhile, the session can read ahead, as it does when nobody is watching.
async fn leave_room(cx: &mut Cx) -> Result<()> {
    let end = Instant::now() + MAX_ROOM;
    loop {
        let watch = &cx.open_session()?.watch;
        let (commands, room) = (watch.commands, watch.room());
        waiting::without_session(cx, tokio::time::sleep(room)).await?;
        if cx.open_session()?.watch.commands == commands || Instant::now() >= end {
            return Ok(());
        }
    }
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
                by_handle.insert(handle, pinned_ref(id, generation));
            }
        }
        Ok(Self { by_handle })
    }

    fn get(&self, node: NodeRef<'_>) -> Option<&str> {
        self.by_handle.get(&node.address()?).map(String::as_str)
    }
}

fn pinned_ref(id: Ref, generation: stickpin_refs::Generation) -> String {
    RefToken { id, pin: Some(generation) }.to_string()
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

fn boxes(tree: &Tree, placed: &[PlacedElement], refs: &Refs, shot: &LivePicture) -> Vec<FrameBox> {
    let (area, scale) = (shot.area, shot.scale);
    let shown = placed.iter().filter(|p| p.rect.overlaps(area));
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
async fn remember(cx: &mut Cx, tree: &Tree, placed: &[PlacedElement], shot: &Shot) -> Result<()> {
    let LivePicture { area, scale, .. } = shot.picture;
    let marks = points::screenshot_marks(cx, tree, placed, area).await?;
    let scrolled = cx.device()?.scroll_offset().await?;
    let client = cx.client_id();
    let live = cx.open_session()?;
    let id = match live.screenshots.last_of(&client) {
        Some(last) => last.id,
        None => live.screenshots.next_id(),
    };
    let page = (PageIdentity::of(tree), live.session.generation());
    let picture = ClientScreenshot { id, area, scale, scrolled, page, image_hash: shot.hash, marks };
    live.screenshots.set(client, picture);
    Ok(())
}

/// Returns the last failed requests of the page, at most [`MAX_FAILED`]. Returns none while a
/// dialog is open, or if the device does not observe traffic.
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
