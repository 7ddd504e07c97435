//! Plans the printed lines before refs are issued, then renders them with the refs.

use super::disambiguate;
use super::distil::distilled_draft;
use super::draft::{Draft, DraftLine};
use super::line::{Style, describe};
use super::runs::{self, OmittedItems};
use super::view::{OutlineQueries, View};
use crate::model::escape::{bare_url, quote};
use crate::model::format_count;
use crate::{NodeId, NodeRef, Role, Tree};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use stickpin_refs::{Generation, Ref};

/// Creates [`Plan`]s.
#[derive(Debug)]
pub struct Outline;

/// The lines of a view, without the numbers of the refs.
#[derive(Debug)]
pub struct Plan<'t> {
    tree: &'t Tree,
    lines: Vec<OutlineLine>,
    total: usize,
    /// The number of lines omitted because of the size limit.
    pub(super) omitted_lines: usize,
    max_bytes: usize,
    depth_cut: bool,
}

#[derive(Debug)]
enum OutlineLine {
    Node {
        id: NodeId,
        depth: usize,
        /// The text after the ref.
        text: String,
        has_ref: bool,
        /// For a folded toolbar: the number of hidden buttons, and whether this is the first such
        /// line, which explains how to see them.
        folded: Option<(usize, bool)>,
    },
    Omission {
        more: OmittedItems,
        depth: usize,
    },
}

/// The bytes for the end of a folded toolbar's line: ` 12 buttons (snapshot -s @e12)`.
const FOLDED_BYTES: usize = 40;

/// The estimated bytes for a ref with its separators, rounded up.
const REF_BYTES: usize = 12;

/// The estimated bytes for the line of an omission:
/// `… 975 more listitem (find TEXT, or snapshot --all -s @e2)`.
const OMISSION_BYTES: usize = 80;

/// The bytes reserved for the lines that state what was omitted.
const CUT_NOTE_BYTES: usize = 200;

impl Outline {
    /// Plans the text of a view. Asks `queries` only about nodes of `tree`.
    ///
    /// # Panics
    /// Panics when `view.scope` is not a node of `tree`.
    #[must_use]
    pub fn plan<'t>(tree: &'t Tree, view: &View, queries: &OutlineQueries<'_>) -> Plan<'t> {
        let mut draft = distilled_draft(tree, view);
        let mut gaps =
            if view.all { BTreeMap::new() } else { runs::cut_runs(&mut draft, queries.has_live_ref) };
        let all_lines = draft.lines();
        let style = match (view.raw, view.interactive) {
            (true, _) => Style::Raw,
            (_, true) => Style::Compact,
            _ => Style::Full,
        };
        let mut plan = Plan {
            tree,
            lines: Vec::new(),
            total: draft.total(),
            omitted_lines: 0,
            max_bytes: view.max_bytes,
            depth_cut: false,
        };
        let budget = if view.all { usize::MAX } else { plan.budget(view) };

        // First select what fits without the suffixes that distinguish equal lines, then with them.
        // A page of 100,000 nodes thus builds only the text that is printed.
        let ref_width = 3 + view.ref_digits;
        let max_depth = view.depth.unwrap_or(usize::MAX);
        let room = if view.all { all_lines.len() } else { 0 };
        let (mut chosen, mut texts, mut used) = (Vec::with_capacity(room), Vec::with_capacity(room), 0);
        let inside = omitted_lines_inside(&all_lines, max_depth);
        for (at, shown) in all_lines.iter().enumerate() {
            if shown.depth >= max_depth {
                plan.depth_cut = true;
                continue;
            }
            let mut text = String::new();
            describe(&mut text, shown.node, draft.label(shown.node), style);
            if inside[at] > 0 {
                write!(text, " … {} inside", inside[at]).expect("writing to a String cannot fail");
            }
            used += 2 * shown.depth + ref_width + text.len() + 1;
            if used > budget {
                break;
            }
            chosen.push(*shown);
            texts.push(text);
        }
        if !view.raw {
            for (at, suffix) in
                disambiguate::distinguishing_suffixes(&draft, &chosen, view.interactive, queries)
            {
                texts[at].push_str(&suffix);
            }
        }

        let (mut used, mut bars) = (0, false);
        plan.lines.reserve(chosen.len());
        for (shown, text) in chosen.iter().zip(texts) {
            plan.push_gaps(&mut gaps, shown.node.id(), &draft, &mut used);
            let folded = Some(draft.folded(shown.node)).filter(|&buttons| buttons > 0);
            used += 2 * shown.depth + ref_width + text.len() + 1 + folded.map_or(0, |_| FOLDED_BYTES);
            if used > budget {
                break;
            }
            let has_ref = takes_ref(shown.node);
            let folded = folded.map(|buttons| (buttons, !std::mem::replace(&mut bars, true)));
            plan.lines.push(OutlineLine::Node {
                id: shown.node.id(),
                depth: shown.depth,
                text,
                has_ref,
                folded,
            });
        }
        let within_depth = all_lines.iter().filter(|l| l.depth < max_depth).count();
        plan.omitted_lines = within_depth - plan.shown();
        if plan.omitted_lines == 0 {
            plan.push_gaps(&mut gaps, NodeId(u32::MAX), &draft, &mut used);
        }
        plan
    }
}

/// Returns the number of lines that `-d` omits, per line at the deepest level shown.
fn omitted_lines_inside(lines: &[DraftLine<'_>], max_depth: usize) -> Vec<usize> {
    let mut counts = vec![0; lines.len()];
    let mut last = None;
    for (at, line) in lines.iter().enumerate() {
        if line.depth < max_depth {
            last = Some(at);
        } else if let Some(last) = last {
            counts[last] += 1;
        }
    }
    counts
}

/// Returns whether a node can have a ref: it has an address and is not a text leaf.
pub(crate) fn takes_ref(node: NodeRef<'_>) -> bool {
    !node.is_text() && node.address().is_some()
}

impl Plan<'_> {
    /// Returns the bytes available for lines.
    fn budget(&self, view: &View) -> usize {
        view.max_bytes.saturating_sub(CUT_NOTE_BYTES + self.header(Some(Generation::new(u64::MAX))).len() + 1)
    }

    fn push_gaps(
        &mut self,
        gaps: &mut BTreeMap<NodeId, OmittedItems>,
        before: NodeId,
        draft: &Draft<'_>,
        used: &mut usize,
    ) {
        while let Some(entry) = gaps.first_entry().filter(|e| *e.key() < before) {
            let (at, more) = entry.remove_entry();
            let depth = self.tree.node(at).ancestors().filter(|n| draft.shows(*n)).count();
            *used += 2 * depth + OMISSION_BYTES;
            self.lines.push(OutlineLine::Omission { more, depth });
        }
    }

    /// Returns the nodes that need a ref, in line order.
    #[must_use]
    pub fn refs(&self) -> Vec<NodeId> {
        let needs = |l: &OutlineLine| match *l {
            OutlineLine::Node { id, has_ref: true, .. } => Some(id),
            _ => None,
        };
        self.lines.iter().filter_map(needs).collect()
    }

    /// Returns the number of nodes with a line.
    #[must_use]
    pub fn shown(&self) -> usize {
        self.lines.iter().filter(|l| matches!(l, OutlineLine::Node { .. })).count()
    }

    /// Returns the number of nodes in the scope.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns whether `-d` or the size limit left out lines.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.omitted_lines > 0 || self.depth_cut
    }

    /// Returns the header: `page "Shop" http://127.0.0.1:8901/ · refs s482913 · 32 of 171 nodes`.
    #[must_use]
    pub fn header(&self, generation: Option<Generation>) -> String {
        let page = &self.tree.documents()[0];
        let word = if page.url.is_empty() { "screen" } else { "page" };
        let mut out = format!("{word} {}", quote(&page.title));
        if !page.url.is_empty() {
            write!(out, " {}", bare_url(&page.url)).expect("writing to a String cannot fail");
        }
        if let Some(generation) = generation {
            write!(out, " · refs {generation}").expect("writing to a String cannot fail");
        }
        write!(out, " · {} of {} nodes", self.shown(), self.total).expect("writing to a String cannot fail");
        out
    }

    /// Renders the lines with their refs, without the header. Every line ends with a newline.
    #[must_use]
    pub fn render(&self, ref_of: &dyn Fn(NodeId) -> Option<Ref>) -> String {
        // Reserve space for everything, because growing would copy the text of a large page each
        // time the buffer doubles.
        let room = |line: &OutlineLine| match line {
            OutlineLine::Node { depth, text, folded, .. } => {
                2 * depth + REF_BYTES + text.len() + folded.map_or(0, |_| FOLDED_BYTES)
            }
            OutlineLine::Omission { depth, .. } => 2 * depth + OMISSION_BYTES,
        };
        let mut out = String::with_capacity(self.lines.iter().map(room).sum());
        for line in &self.lines {
            let depth = match line {
                OutlineLine::Node { depth, .. } | OutlineLine::Omission { depth, .. } => *depth,
            };
            out.extend(std::iter::repeat_n("  ", depth));
            match line {
                OutlineLine::Node { id, text, has_ref, folded, .. } => {
                    let r = has_ref.then(|| ref_of(*id)).flatten();
                    if let Some(r) = r {
                        write!(out, "{r} ").expect("writing to a String cannot fail");
                    }
                    out.push_str(text);
                    if let Some((buttons, first)) = folded {
                        render_folded(&mut out, *buttons, r.filter(|_| *first));
                    }
                }
                OutlineLine::Omission { more, .. } => {
                    render_more(&mut out, more, more.within.and_then(ref_of))
                }
            }
            out.push('\n');
        }
        if self.omitted_lines > 0 {
            writeln!(
                out,
                "… {} beyond {} bytes (find TEXT, snapshot -s REF, -d N, or --all)",
                format_count(self.omitted_lines, "more node"),
                self.max_bytes
            )
            .expect("writing to a String cannot fail");
        }
        if self.tree.is_truncated() {
            out.push_str("… the app has more than was captured\n");
        }
        out
    }
}

/// Appends the number of folded buttons and, if `opens` is given, the command that shows them.
fn render_folded(out: &mut String, buttons: usize, opens: Option<Ref>) {
    write!(out, " {buttons} buttons").expect("writing to a String cannot fail");
    if let Some(r) = opens {
        write!(out, " (snapshot -s {r})").expect("writing to a String cannot fail");
    }
}

fn render_more(out: &mut String, more: &OmittedItems, within: Option<Ref>) {
    let noun = match more.role {
        Role::Generic | Role::Clickable => "rows",
        role => role.name(),
    };
    write!(out, "… {} more {noun}", more.count).expect("writing to a String cannot fail");
    if more.first {
        out.push_str(" (find TEXT, or snapshot --all");
        if let Some(within) = within {
            write!(out, " -s {within}").expect("writing to a String cannot fail");
        }
        out.push(')');
    }
}
