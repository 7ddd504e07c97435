//! `snapshot`: the app as an outline with refs.

use crate::api::request::Detail;
use crate::commands::prelude::*;
use crate::observe::changes;
use crate::observe::changes::Changes;
use stickpin_refs::{Generation, Ref};
use stickpin_tree::{DEFAULT_MAX_BYTES, NodeId, Outline, OutlineQueries, Plan, Tree, View};

/// Print the app as a tree of roles and names, with refs for its elements.
///
/// A ref like `@e12` names one element for as long as the session is open. `-i` prints what is
/// needed to choose an action.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Snapshot {
    /// Only what is needed to choose an action, with headings for orientation.
    #[schemars(extend("x-short" = "i"))]
    pub interactive: bool,
    /// Number of levels to print.
    #[schemars(extend("x-short" = "d", "x-placeholder" = "LEVELS"))]
    pub depth: Option<usize>,
    /// Print only this element and its content.
    #[schemars(extend("x-short" = "s", "x-placeholder" = "TARGET"))]
    pub scope: Option<Target>,
    /// Print only what changed since your last full snapshot.
    pub diff: bool,
    /// Print long lists and toolbars in full.
    pub all: bool,
    /// Every node, including wrappers and hidden nodes.
    pub raw: bool,
    /// While another agent holds the turn, show the app as it is now, without refs.
    pub fresh: bool,
    /// Maximum length of the text in bytes (default 24,000).
    pub max_bytes: Option<usize>,
}

/// An outline of the app or of a part of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutlineOutput {
    /// The address of the page.
    pub url: String,
    /// The title of the page.
    pub title: String,
    #[serde(skip)]
    header: String,
    /// The header without the generation.
    #[serde(skip)]
    plain_header: String,
    /// The outline; absent with `--detail digest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The refs of the outline, if the outline itself is absent and has refs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refs: Option<Vec<String>>,
    /// The number of nodes that have a line in the outline.
    pub shown: usize,
    /// The number of nodes in the whole app, or in the element that `-s` names.
    pub total: usize,
    /// Whether lines are missing because of `-d` or the size limit.
    pub cut: bool,
    /// Whether the device truncated the capture.
    pub truncated: bool,
    /// Whether this is the stored tree, because another agent holds the turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// The age of the stored tree in milliseconds, if `cached` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
}

/// The output of a snapshot.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SnapshotOutput {
    /// The whole app or a part of it.
    Outline(OutlineOutput),
    /// The changes since the last full snapshot, for `--diff`.
    Changes(Changes),
}

impl Command for Snapshot {
    const SPEC: Spec = Spec {
        name: "snapshot",
        needs: &[Capability::Capture],
        examples: &["stickpin snapshot -i", "stickpin snapshot -s @e7 --all", "stickpin snapshot --diff"],
        ..Spec::SESSION
    };
    type Output = SnapshotOutput;

    async fn run(self, cx: &mut Cx) -> Result<SnapshotOutput> {
        let fresh = self.fresh && cx.held_by().is_some();
        if fresh {
            self.check_without_refs()?;
        }
        if self.diff {
            self.check_whole()?;
            return changes::changes_since_base(cx, Origin::Snapshot, self.interactive, self.max_bytes)
                .await
                .map(SnapshotOutput::Changes);
        }
        if fresh {
            let tree = capture::capture_unstored(cx).await?;
            return Ok(SnapshotOutput::Outline(self.outline_without_refs(cx, &tree)));
        }
        let (_, age) = capture::capture_for_reader(cx, Origin::Snapshot).await?;
        let scope = match &self.scope {
            Some(target) => Some(resolve::resolve_in_stored_tree(cx, target).await?),
            None => None,
        };
        let outline = self.outline(cx, scope)?;
        let age_ms = age.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        Ok(SnapshotOutput::Outline(OutlineOutput { cached: age.is_some(), age_ms, ..outline }))
    }
}

impl Snapshot {
    /// Creates a `snapshot -i` command, which prints only what is needed to choose an action, with
    /// headings for orientation.
    #[must_use]
    pub fn interactive() -> Self {
        Self { interactive: true, ..Self::default() }
    }

    /// Renders the stored tree as an outline and issues refs for what it prints.
    ///
    /// # Errors
    /// Returns an error when no tree is stored or refs cannot be issued.
    pub(crate) fn outline(&self, cx: &mut Cx, scope: Option<NodeId>) -> Result<OutlineOutput> {
        let (digest, tree) = (cx.render.detail == Detail::Digest, cx.tree()?);
        let view = self.view(cx, scope);
        let session = &mut cx.open_session()?.session;
        let records = session.records(&tree);
        let cues = OutlineQueries {
            has_live_ref: &|n| session.ref_of(n).is_some(),
            distinguishing_text: &|n| records.distinguishing_text(n),
        };
        let plan = Outline::plan(&tree, &view, &cues);
        let generation = session.generation();
        let nodes = plan.refs();
        // An outline with shortened runs of siblings still counts as read in full; an outline with
        // a depth limit never does.
        let in_full = scope.is_none() && self.depth.is_none() && !plan.is_cut();
        let refs = if in_full { capture::issue_in_full(cx, &nodes)? } else { capture::issue(cx, &nodes)? };
        let session = &cx.open_session()?.session;
        let lines = plan.render(&|n| session.ref_of(n));
        let refs = digest.then(|| refs.iter().map(Ref::to_string).collect());
        Ok(OutlineOutput { tree: (!digest).then_some(lines), refs, ..header(&tree, &plan, generation) })
    }

    /// Refuses the options that read the stored tree, which `--fresh` does not show.
    fn check_without_refs(&self) -> Result<()> {
        let options = [("diff", self.diff), ("scope", self.scope.is_some())];
        refuse_given(&options, |option| {
            format!("`fresh` cannot be combined with `{option}` while another agent holds the turn")
        })
    }

    /// Refuses the options that choose or shape lines of an outline, which `--diff` does not print.
    fn check_whole(&self) -> Result<()> {
        let options = [
            ("depth", self.depth.is_some()),
            ("scope", self.scope.is_some()),
            ("all", self.all),
            ("raw", self.raw),
        ];
        refuse_given(&options, |option| {
            format!("`{option}` cannot be combined with `diff`, which compares the whole app")
        })
    }

    /// Renders a tree that is not stored, whose nodes have no refs.
    fn outline_without_refs(&self, cx: &Cx, tree: &Tree) -> OutlineOutput {
        let digest = cx.render.detail == Detail::Digest;
        let view = self.view(cx, None);
        let plan = Outline::plan(tree, &view, &OutlineQueries::NONE);
        let lines = (!digest).then(|| plan.render(&|_| None));
        OutlineOutput { tree: lines, ..header(tree, &plan, None) }
    }

    /// Returns the part of a tree that is shown.
    fn view(&self, cx: &Cx, scope: Option<NodeId>) -> View {
        View {
            interactive: self.interactive,
            depth: self.depth,
            scope,
            all: self.all,
            raw: self.raw,
            max_bytes: self.max_bytes.or(cx.render.max_bytes).unwrap_or(DEFAULT_MAX_BYTES),
            ..View::default()
        }
    }
}

/// Fails for the first of these options that is given, with the message for its name.
fn refuse_given(options: &[(&str, bool)], message: impl Fn(&str) -> String) -> Result<()> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Error::invalid_args(message(option))),
        None => Ok(()),
    }
}

/// Returns what an outline states about its tree, without lines and refs.
fn header(tree: &Tree, plan: &Plan<'_>, generation: Option<Generation>) -> OutlineOutput {
    let page = &tree.documents()[0];
    OutlineOutput {
        url: page.url.clone(),
        title: page.title.clone(),
        header: plan.header(generation),
        plain_header: plan.header(None),
        shown: plan.shown(),
        total: plan.total(),
        cut: plan.is_cut(),
        truncated: tree.is_truncated(),
        ..OutlineOutput::default()
    }
}

impl Show for OutlineOutput {
    fn show(&self, text: &mut Text) {
        text.line(if text.header { &self.header } else { &self.plain_header });
        if let Some(tree) = &self.tree {
            text.block(tree);
        }
        if let Some(refs) = &self.refs {
            text.line(refs.join(" "));
        }
    }
}

impl Show for SnapshotOutput {
    fn show(&self, text: &mut Text) {
        match self {
            Self::Outline(outline) => outline.show(text),
            Self::Changes(changes) => changes.show(text),
        }
    }
}
