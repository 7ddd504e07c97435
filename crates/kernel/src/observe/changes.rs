//! Diffs: what changed since the client last read the whole app, and which refs a diff renews.

use crate::api::render::{Show, Text};
use crate::api::request::Detail;
use crate::command::context::Cx;
use crate::observe::capture;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use stickpin_device::Result;
use stickpin_refs::Ref;
use stickpin_session::{BaseTree, Origin};
use stickpin_tree::{DEFAULT_MAX_BYTES, Diff, DiffQueries, NodeId, View};

/// The size limit of the changes after an action, in bytes: with the receipt, a response stays
/// below 4 KB.
const ACT_MAX_BYTES: usize = 2_800;

/// The maximum number of listed groups of ended refs. An ended ref that is not listed is reported
/// when it is used.
const MAX_ENDED_GROUPS: usize = 40;

/// The header when there is nothing to compare with.
const NO_BASE_HEADER: &str = "there is no earlier snapshot; run `stickpin snapshot -i`";

/// The differences between two trees.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    /// The header, which names the base of the comparison: `changes since s482913`.
    #[serde(skip)]
    header: String,
    /// The header without the generation.
    #[serde(skip)]
    plain_header: &'static str,
    /// The lines, which begin with `+` for added, `-` for removed and `~` for changed; absent with
    /// `--detail digest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// Refs that ended and that no line names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<String>,
    /// Whether nothing differs.
    pub same: bool,
    /// Whether nothing was left out. Only a complete comparison with the client's last full
    /// snapshot renews refs that it does not list.
    pub complete: bool,
}

/// Captures the app and returns what changed since the client last read the whole app. If the
/// client never did, or if the tree that it read is no longer kept, compares with the last capture
/// instead. Otherwise, a complete diff whose lines are returned renews every ref that it does not
/// list. `max_bytes` limits the text of this diff; without it, the limit of the request applies.
///
/// # Errors
/// Returns the errors of [`capture::capture_app`] and [`capture::issue`].
pub(crate) async fn changes_since_base(
    cx: &mut Cx,
    origin: Origin,
    interactive: bool,
    max_bytes: Option<usize>,
) -> Result<Changes> {
    let before = stored_base(cx)?;
    let max_bytes = max_bytes.or(cx.render.max_bytes).unwrap_or(DEFAULT_MAX_BYTES);
    compare(cx, before, origin, interactive, max_bytes, false).await
}

/// Returns the stored tree as the base of a comparison; `None` if no tree is stored.
pub(crate) fn stored_base(cx: &mut Cx) -> Result<Option<BaseTree>> {
    let session = &cx.open_session()?.session;
    let stored = session.generation().zip(session.tree().cloned());
    Ok(stored.map(|(generation, tree)| BaseTree { generation, tree }))
}

/// Captures the app and returns what an action changed. `before` is the tree before the action, for
/// a client without a base; captures after the action have replaced that tree in the session.
///
/// # Errors
/// Returns the errors of [`capture::capture_app`] and [`capture::issue`].
pub(crate) async fn changes_after_action(cx: &mut Cx, before: Option<BaseTree>) -> Result<Changes> {
    let max_bytes = cx.render.max_bytes.map_or(ACT_MAX_BYTES, |most| most.min(ACT_MAX_BYTES));
    compare(cx, before, Origin::Internal, true, max_bytes, true).await
}

async fn compare(
    cx: &mut Cx,
    before: Option<BaseTree>,
    origin: Origin,
    interactive: bool,
    max_bytes: usize,
    acted: bool,
) -> Result<Changes> {
    let (tree, _) = capture::capture_for_reader(cx, origin).await?;
    let (client, since) = (cx.client_id(), cx.since.map(stickpin_refs::Generation::new));
    let digest = cx.render.detail == Detail::Digest;
    let session = &cx.open_session()?.session;
    // After an action, the response contains the changes that the action caused, or says how to
    // read those that did not fit. The response to the next action reports only newer changes.
    let told = if acted { session.effects_base(&client, since) } else { None };
    let kept = session.base(&client, since);
    let renews = kept.is_some() && told.is_none();
    let kept = told.or(kept);
    let keeps = kept.is_some();
    // A client that has never read the app in full sees the changes since the last capture, which
    // renews nothing.
    let Some(base) = kept.or(before) else {
        return Ok(Changes {
            header: NO_BASE_HEADER.to_owned(),
            plain_header: NO_BASE_HEADER,
            ..Changes::default()
        });
    };

    let then = session.refs_in(&base);
    let ref_then = |n: NodeId| then.binary_search_by_key(&n, |&(n, _)| n).ok().map(|at| then[at].1);
    let pairs = session.pairs(&base);
    let cues = DiffQueries {
        issued: &|n| ref_then(n).is_some(),
        renumbered: &|old, new| ref_then(old).is_some_and(|r| session.ref_of(new) != Some(r)),
    };
    let between = |interactive| {
        let view = View { interactive, max_bytes, ..View::default() };
        Diff::between(&base.tree, &tree, &pairs, &view, &cues)
    };
    let mut diff = between(interactive);
    // The only change may be a text, which the interactive view omits.
    if interactive && diff.is_empty() && !Arc::ptr_eq(&base.tree, &tree) {
        diff = between(false);
    }
    let ended = session.ended_since(&base);
    let complete = diff.is_complete() && ended.is_some();

    capture::issue(cx, &diff.refs())?;
    let session = &mut cx.open_session()?.session;
    let named = RefCell::new(BTreeSet::new());
    let old_ref = |n: NodeId| {
        let r = ref_then(n);
        named.borrow_mut().extend(r);
        r
    };
    let lines = diff.render(&|n| session.ref_of(n), &old_ref);
    let mut ended = ended.unwrap_or_default();
    // Lines that are not shown were not read, so they renew nothing.
    let shown = !digest || diff.is_empty();
    if complete && renews && shown {
        let renewed = session.renew(&client, &base, &ended);
        tracing::debug!(count = renewed.len(), "renewed");
        cx.envelope.base = Some(base.generation.get());
    } else if acted && keeps && shown {
        session.mark_effects_shown(&client);
    }
    cx.envelope.ended.extend(&ended);
    ended.retain(|r| !named.borrow().contains(r));
    let same = diff.is_empty() && ended.is_empty();
    Ok(Changes {
        header: diff.header(base.generation),
        plain_header: "changes",
        lines: (!digest).then_some(lines),
        ended: ended_words(&ended),
        same,
        complete,
    })
}

/// Formats refs in groups of consecutive refs, such as `@e3-@e7`. Lists at most
/// [`MAX_ENDED_GROUPS`] groups, and counts the others.
fn ended_words(refs: &[Ref]) -> Vec<String> {
    let spans = consecutive_ranges(refs);
    let word = |&(first, last): &(Ref, Ref)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let more = spans.len().saturating_sub(MAX_ENDED_GROUPS);
    let more = (more > 0).then(|| format!("… {more} more"));
    spans.iter().take(MAX_ENDED_GROUPS).map(word).chain(more).collect()
}

/// Groups consecutive refs into ranges, each with its first and last ref.
pub(crate) fn consecutive_ranges(refs: &[Ref]) -> Vec<(Ref, Ref)> {
    let mut spans: Vec<(Ref, Ref)> = Vec::new();
    for &r in refs {
        match spans.last_mut() {
            Some((_, last)) if last.get() + 1 == r.get() => *last = r,
            _ => spans.push((r, r)),
        }
    }
    spans
}

impl Show for Changes {
    fn show(&self, text: &mut Text) {
        let header = if text.header { &self.header } else { self.plain_header };
        let no = if self.same { "no " } else { "" };
        text.line(format_args!("{no}{header}"));
        text.block(self.lines.as_deref().unwrap_or(""));
        if !self.ended.is_empty() {
            text.line(format_args!("ended: {}", self.ended.join(" ")));
        }
    }
}
