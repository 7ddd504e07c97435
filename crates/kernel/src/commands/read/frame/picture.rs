//! Pictures for viewers, taken while the session is free for commands.

use crate::act::points;
use crate::commands::prelude::*;
use crate::host::screenshots::PlacedElement;
use crate::observe::capture;
use crate::observe::waiting;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use stickpin_device::{LivePicture, PendingPicture};
use stickpin_tree::{IdentityGrade, NodeRef, Tree};

/// The maximum number of attempts to take a picture while nothing moves.
const MAX_ROUNDS: usize = 2;

/// A picture with its hash, encoded for viewers.
#[derive(Debug)]
pub(super) struct Shot {
    pub(super) picture: LivePicture,
    pub(super) hash: u64,
    /// The image in Base64, unless the caller already has it.
    pub(super) encoded: Option<String>,
}

impl Shot {
    /// Waits for a picture, and encodes it on a thread that no command uses.
    async fn take(pending: PendingPicture, known: Option<String>) -> Result<Self> {
        let picture = pending.await?;
        let encode = move || {
            let hash = hash(&picture.bytes);
            let is_known = known.is_some_and(|known| known == name(hash));
            let encoded = (!is_known).then(|| BASE64_STANDARD.encode(&picture.bytes));
            Self { picture, hash, encoded }
        };
        let shot = tokio::task::spawn_blocking(encode).await;
        shot.map_err(|e| Error::internal(format!("the picture cannot be encoded: {e}")))
    }
}

/// Takes a picture, and reads the app before and after it. Returns the later tree with the elements
/// that neither changed nor moved in between. Tries once more if any element did change or move and
/// no command ran. Returns no picture if the device takes no screenshots.
///
/// No command waits for the picture: it is taken while the session is free for others.
pub(super) async fn take(
    cx: &mut Cx,
    known: Option<&str>,
) -> Result<(Arc<Tree>, Vec<PlacedElement>, Option<Shot>)> {
    let mut round = 1;
    loop {
        let (before, first) = placed_elements(cx).await?;
        waiting::let_others_pass(cx).await?;
        let commands = cx.open_session()?.watch.commands;
        let Some(screenshots) = cx.device()?.screenshots() else { return Ok((before, first, None)) };
        let pending = screenshots.begin_live_picture().await?;
        let shot = waiting::without_session(cx, Shot::take(pending, known.map(str::to_owned))).await??;
        let watch = &mut cx.open_session()?.watch;
        let disturbed = watch.commands != commands;
        watch.note_picture(disturbed);
        let (tree, placed) = placed_elements(cx).await?;
        let all = placed.len();
        let same = unmoved_elements((&before, &first), (&tree, placed));
        let moved = same.len() < all || all < first.len();
        // After a command, the next frame follows immediately in any case.
        if !moved || round == MAX_ROUNDS || disturbed {
            return Ok((tree, same, Some(shot)));
        }
        round += 1;
    }
}

/// Reads the app and the boxes of its actionable elements. Waiting commands run first, before each
/// query to the device.
async fn placed_elements(cx: &mut Cx) -> Result<(Arc<Tree>, Vec<PlacedElement>)> {
    waiting::let_others_pass(cx).await?;
    let tree = read(cx).await?;
    waiting::let_others_pass(cx).await?;
    let placed = points::actionable_boxes(cx, &tree).await?;
    Ok((tree, placed))
}

/// Returns the elements of the later tree that have the same bounds and read the same in the
/// earlier tree.
fn unmoved_elements(
    (before, first): (&Tree, &[PlacedElement]),
    (tree, mut placed): (&Tree, Vec<PlacedElement>),
) -> Vec<PlacedElement> {
    let graded = tree.grade() != IdentityGrade::None;
    let corner = |p: &PlacedElement| (p.rect.x.to_bits(), p.rect.y.to_bits());
    let mut known: HashMap<_, Vec<&PlacedElement>> = HashMap::new();
    for p in first {
        known.entry(corner(p)).or_default().push(p);
    }
    let same = |a: &PlacedElement, b: &PlacedElement| {
        a.rect == b.rect
            && (!graded || a.handle == b.handle)
            && reads_same(before.node(a.node), tree.node(b.node))
    };
    placed.retain(|b| known.get(&corner(b)).is_some_and(|at| at.iter().any(|a| same(a, b))));
    placed
}

/// Captures the app without storing the tree.
async fn read(cx: &mut Cx) -> Result<Arc<Tree>> {
    cx.check()?;
    capture::capture_against_stored(cx).await.map(|(tree, _)| tree)
}

/// Returns whether two nodes have the same role and name.
pub(super) fn reads_same(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    a.role() == b.role() && a.name() == b.name()
}

fn hash(image: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    image.hash(&mut hasher);
    hasher.finish()
}

/// Returns the name of the picture that has this hash.
pub(super) fn name(hash: u64) -> String {
    format!("{hash:016x}")
}
