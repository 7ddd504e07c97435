//! Plans the lines of a diff within the size limit, and renders them with refs.

use super::align::AlignedOutlines;
use super::{Diff, DiffQueries};
use crate::model::escape::{bare_url, quote};
use crate::model::format_count;
use crate::outline::{Style, View, describe, label_or_first_text, state_words, takes_ref};
use crate::{NodeId, NodeRef, Role, States, Tree};
use hashbrown::HashMap;
use std::fmt::Write as _;
use stickpin_refs::{Generation, Ref};

/// The number of lines above which a run of similar added or removed siblings is cut, as in
/// outlines.
const MAX_RUN: usize = 30;
/// The maximum number of lines printed for a cut run of added siblings.
const KEPT_ADDED: usize = 25;
/// The maximum number of lines printed for a cut run of removed siblings.
const KEPT_REMOVED: usize = 5;
/// The bytes reserved for the line that states what was omitted.
const CUT_NOTE_BYTES: usize = 120;

/// One line of a diff, without its refs.
#[derive(Debug)]
pub(super) enum DiffLine {
    Added {
        new: NodeId,
        depth: usize,
        text: String,
        has_ref: bool,
    },
    Removed {
        old: NodeId,
        text: String,
    },
    Changed {
        old: NodeId,
        new: NodeId,
        text: String,
        was: String,
        has_ref: bool,
    },
    MoreAdded {
        count: usize,
        depth: usize,
        role: Role,
    },
    MoreRemoved {
        count: usize,
        role: Role,
    },
    /// The whole old document, if nothing of it is left.
    AllRemoved {
        count: usize,
    },
}

pub(super) fn plan<'t>(
    old: &'t Tree,
    new: &'t Tree,
    aligned: &AlignedOutlines<'t>,
    view: &View,
    queries: &DiffQueries<'_>,
) -> Diff<'t> {
    let (was, is) = (&old.documents()[0], &new.documents()[0]);
    let page_changed = was.url != is.url || was.title != is.title;
    let diff = Diff {
        old,
        new,
        lines: Vec::new(),
        omitted_lines: 0,
        runs_cut: false,
        page_changed,
        max_bytes: view.max_bytes,
    };
    let mut writer = Writer {
        diff,
        aligned,
        used: 0,
        budget: if view.all { usize::MAX } else { view.max_bytes.saturating_sub(CUT_NOTE_BYTES) },
        ref_width: 3 + view.ref_digits,
        all: view.all,
        depths: vec![0; aligned.new.lines.len()],
        run: None,
        lengths: run_lengths(aligned),
    };
    let mut removed = removed_after(aligned);
    if was.scope != is.scope && aligned.to_new.iter().all(Option::is_none) {
        removed.clear();
        let count = aligned.old.lines.len();
        if count > 0 {
            writer.push(DiffLine::AllRemoved { count });
        }
    }
    let mut next_removed =
        removed.chunk_by(|a, b| a.0 == b.0 && aligned.are_similar_siblings(a.1, b.1)).peekable();
    for (at, moved) in moved_lines(aligned).into_iter().enumerate() {
        while let Some(run) = next_removed.next_if(|run| run[0].0 == at) {
            writer.write_removed_run(run);
        }
        match aligned.to_old[at] {
            Some(old_at) => writer.write_comparison(old_at, at, moved, queries),
            None if aligned.was_folded.contains(&at) || aligned.moved_between_name_and_text(at, true) => {}
            None => writer.write_added(at),
        }
    }
    next_removed.for_each(|run| writer.write_removed_run(run));
    writer.diff
}

/// Returns the outermost removed lines of the old outline, each preceded by the index of the new
/// line before which it is printed.
fn removed_after(aligned: &AlignedOutlines<'_>) -> Vec<(usize, usize)> {
    let mut removed = Vec::new();
    let mut after = 0;
    let mut is_removed = vec![false; aligned.old.lines.len()];
    for (at, line) in aligned.old.lines.iter().enumerate() {
        if let Some(new) = aligned.to_new[at] {
            after = new + 1;
            continue;
        }
        if aligned.is_folded.contains(&at) || aligned.moved_between_name_and_text(at, false) {
            continue;
        }
        is_removed[at] = true;
        if !line.parent.is_some_and(|p| is_removed[p]) {
            removed.push((after, at));
        }
    }
    // Moved lines put the positions out of order, so sort by position.
    removed.sort_by_key(|&(after, at)| (after, at));
    removed
}

/// Returns, for each line of the new outline, whether it moved.
fn moved_lines(aligned: &AlignedOutlines<'_>) -> Vec<bool> {
    let mut places = vec![false; aligned.new.lines.len()];
    let mut last_old: HashMap<Option<usize>, usize> = HashMap::new();
    for (at, line) in aligned.new.lines.iter().enumerate() {
        let Some(old_at) = aligned.to_old[at] else { continue };
        let old_parent = aligned.old.lines[old_at].parent;
        match (line.parent, old_parent) {
            // Compare only containers that both trees show: a container that folds or unfolds moves
            // nothing.
            (Some(p), Some(q)) if aligned.to_old[p] != Some(q) => {
                places[at] = aligned.to_old[p].is_some() && aligned.to_new[q].is_some();
            }
            (Some(_), Some(_)) | (None, None) => {
                // Other lines of the container overtook this line: it now follows a line that used
                // to follow it.
                let last = last_old.entry(line.parent).or_insert(old_at);
                if old_at < *last {
                    places[at] = true;
                } else {
                    *last = old_at;
                }
            }
            _ => {}
        }
    }
    places
}

/// Returns the number of added lines per parent and role.
fn run_lengths(aligned: &AlignedOutlines<'_>) -> HashMap<(Option<usize>, Role), usize> {
    let mut lengths = HashMap::new();
    for (line, old) in aligned.new.lines.iter().zip(&aligned.to_old) {
        if old.is_none() {
            *lengths.entry((line.parent, line.node.role())).or_default() += 1;
        }
    }
    lengths
}

/// A run of added siblings.
struct Run {
    parent: Option<usize>,
    role: Role,
    count: usize,
    /// The first omitted line; lines inside it are omitted too.
    cut_at: Option<usize>,
}

struct Writer<'d, 't> {
    diff: Diff<'t>,
    aligned: &'d AlignedOutlines<'t>,
    used: usize,
    budget: usize,
    ref_width: usize,
    all: bool,
    /// The depth of each added line below the outermost added one.
    depths: Vec<usize>,
    /// The current run of added siblings.
    run: Option<Run>,
    lengths: HashMap<(Option<usize>, Role), usize>,
}

impl Writer<'_, '_> {
    /// Adds a line if there is room. After the first line that does not fit, no line is added: a
    /// diff with holes would mislead.
    fn push(&mut self, line: DiffLine) {
        let bytes = match &line {
            DiffLine::Added { text, depth, .. } => text.len() + 2 * depth,
            DiffLine::Removed { text, .. } => text.len(),
            DiffLine::Changed { text, was, .. } => text.len() + was.len() + 6 + self.ref_width,
            DiffLine::MoreAdded { .. } | DiffLine::MoreRemoved { .. } | DiffLine::AllRemoved { .. } => 40,
        };
        self.used += bytes + self.ref_width + 3;
        if self.used > self.budget { self.diff.omitted_lines += 1 } else { self.diff.lines.push(line) }
    }

    /// Adds a run of similar removed lines. A few lines of a long run suffice, and the diff still
    /// counts as complete, because the caller lists the ended ref of every removed line.
    fn write_removed_run(&mut self, run: &[(usize, usize)]) {
        let printed = if run.len() > MAX_RUN && !self.all { KEPT_REMOVED } else { run.len() };
        for &(_, at) in &run[..printed] {
            let line = removed_line(self.aligned, at);
            self.push(line);
        }
        if printed < run.len() {
            let role = self.aligned.old.lines[run[0].1].node.role();
            self.push(DiffLine::MoreRemoved { count: run.len() - printed, role });
        }
    }

    fn write_added(&mut self, at: usize) {
        let aligned = self.aligned;
        let line = &aligned.new.lines[at];
        let node = line.node;
        let is_added = |p: &usize| aligned.to_old[*p].is_none() && !aligned.was_folded.contains(p);
        let depth = line.parent.filter(is_added).map_or(0, |p| self.depths[p] + 1);
        self.depths[at] = depth;
        let left_out = self.run.as_ref().and_then(|r| r.cut_at);
        if left_out.is_some_and(|cut| line.depth > aligned.new.lines[cut].depth) {
            return; // inside what was left out
        }
        match &mut self.run {
            Some(run) if run.parent == line.parent && run.role == node.role() => {
                run.count += 1;
                let length = self.lengths.get(&(line.parent, node.role())).copied().unwrap_or(0);
                if run.count > KEPT_ADDED && length > MAX_RUN && !self.all {
                    self.diff.runs_cut = true;
                    if run.cut_at.is_none() {
                        run.cut_at = Some(at);
                        self.push(DiffLine::MoreAdded { count: 1, depth, role: node.role() });
                    } else if let Some(DiffLine::MoreAdded { count, .. }) = self.diff.lines.last_mut() {
                        *count += 1;
                    }
                    return;
                }
            }
            // A line inside an item of a run does not end the run.
            Some(run)
                if line.parent != run.parent
                    && run.parent.is_none_or(|p| aligned.new.lines[p].node.contains(node.id()))
                    && depth > 0 => {}
            run => *run = Some(Run { parent: line.parent, role: node.role(), count: 1, cut_at: None }),
        }
        let mut text = String::new();
        describe(&mut text, node, aligned.new.label(at), Style::Full);
        // For a line added to an existing row, name the row.
        if depth == 0 {
            describe_row(&mut text, node, aligned.new.label(at));
        }
        let folded = aligned.new.draft.folded(node);
        if folded > 0 {
            write!(text, " {folded} buttons").expect("writing to a String cannot fail");
        }
        self.push(DiffLine::Added { new: node.id(), depth, text, has_ref: takes_ref(node) });
    }

    fn write_comparison(&mut self, old_at: usize, at: usize, moved: bool, queries: &DiffQueries<'_>) {
        let aligned = self.aligned;
        let (a, b) = (aligned.old.lines[old_at].node, aligned.new.lines[at].node);
        let (mut was, is) = (aligned.old.label(old_at), aligned.new.label(at));
        if aligned.have_same_text(old_at, at) {
            was = is;
        }
        let focusable = b.is(States::EDITABLE);
        let without_focus = |words: Vec<std::borrow::Cow<'_, str>>, gained: bool| -> Vec<String> {
            let kept = words.into_iter().filter(|w| w != "focused" || (gained && focusable));
            kept.map(std::borrow::Cow::into_owned).collect()
        };
        let before =
            without_focus(state_words(a, was, Style::Full), a.is(States::FOCUSED) && b.is(States::FOCUSED));
        let after = without_focus(state_words(b, is, Style::Full), true);
        let renumbered = takes_ref(b) && (queries.renumbered)(a.id(), b.id());
        if a.role() == b.role() && was == is && before == after && !moved && !renumbered {
            return;
        }
        let mut text = String::new();
        describe(&mut text, b, if moved { label_or_first_text(b, is) } else { is }, Style::Full);
        if moved {
            text.push_str(" moved");
        }
        if renumbered {
            describe_row(&mut text, b, is);
        }
        let mut old_words = Vec::new();
        if a.role() != b.role() {
            old_words.push(a.role().name().to_owned());
        }
        if was != is {
            old_words.push(quote(was));
        }
        old_words.extend(before.into_iter().filter(|w| !after.contains(w)));
        let (old, new, has_ref) = (a.id(), b.id(), takes_ref(b));
        self.push(DiffLine::Changed { old, new, text, was: old_words.join(" "), has_ref });
    }
}

/// Appends the text of the row that contains a node, unless the node has that text as its label.
fn describe_row(text: &mut String, node: NodeRef<'_>, label: &str) {
    let row = node.ancestors().find(|a| a.role().is_row());
    let words = row.map_or("", |r| label_or_first_text(r, r.name()));
    if !words.is_empty() && words != label {
        write!(text, " in {}", quote(words)).expect("writing to a String cannot fail");
    }
}

/// Describes a removed line of the old outline, with the number of removed lines below it.
fn removed_line(aligned: &AlignedOutlines<'_>, at: usize) -> DiffLine {
    let line = &aligned.old.lines[at];
    let until = line.node.subtree_end();
    let inside = (at + 1..aligned.old.lines.len()).take_while(|&i| aligned.old.lines[i].node.id() < until);
    let gone = inside.filter(|&i| aligned.to_new[i].is_none()).count();
    let mut text = String::new();
    describe(&mut text, line.node, label_or_first_text(line.node, aligned.old.label(at)), Style::Full);
    if gone > 0 {
        write!(text, " … {gone} inside").expect("writing to a String cannot fail");
    }
    DiffLine::Removed { old: line.node.id(), text }
}

impl Diff<'_> {
    /// Returns the nodes of the new tree that need a ref, in line order.
    #[must_use]
    pub fn refs(&self) -> Vec<NodeId> {
        let needs = |l: &DiffLine| match *l {
            DiffLine::Added { new, has_ref: true, .. } | DiffLine::Changed { new, has_ref: true, .. } => {
                Some(new)
            }
            _ => None,
        };
        self.lines.iter().filter_map(needs).collect()
    }

    /// Returns the header, such as `changes since s482913`. The header does not mention omitted
    /// changes; the last line of a cut diff does.
    #[must_use]
    pub fn header(&self, base: Generation) -> String {
        format!("changes since {base}")
    }

    /// Renders the lines without the header, each ending with a newline. `new_ref` returns the ref
    /// of a node from [`Diff::refs`]. `old_ref` returns the ref that stood for a node of the old
    /// tree.
    #[must_use]
    pub fn render(
        &self,
        new_ref: &dyn Fn(NodeId) -> Option<Ref>,
        old_ref: &dyn Fn(NodeId) -> Option<Ref>,
    ) -> String {
        let mut out = String::new();
        if self.page_changed {
            let page = &self.new.documents()[0];
            let url = bare_url(&page.url);
            writeln!(out, "~ page {} {url}", quote(&page.title)).expect("writing to a String cannot fail");
        }
        for line in &self.lines {
            render_line(&mut out, line, new_ref, old_ref).expect("writing to a String cannot fail");
        }
        if self.omitted_lines > 0 {
            writeln!(
                out,
                "… {} beyond {} bytes (snapshot -i)",
                format_count(self.omitted_lines, "more change"),
                self.max_bytes
            )
            .expect("writing to a String cannot fail");
        }
        out
    }
}

fn render_line(
    out: &mut String,
    line: &DiffLine,
    new_ref: &dyn Fn(NodeId) -> Option<Ref>,
    old_ref: &dyn Fn(NodeId) -> Option<Ref>,
) -> std::fmt::Result {
    let with_ref = |r: Option<Ref>| r.map_or_else(String::new, |r| format!("{r} "));
    match line {
        DiffLine::Added { new, depth, text, has_ref } => {
            let r = with_ref(has_ref.then(|| new_ref(*new)).flatten());
            writeln!(out, "+ {}{r}{text}", "  ".repeat(*depth))
        }
        DiffLine::Removed { old, text } => writeln!(out, "- {}{text}", with_ref(old_ref(*old))),
        DiffLine::MoreAdded { count, depth, role } => {
            writeln!(out, "+ {}… {count} more {role} (snapshot -i)", "  ".repeat(*depth))
        }
        DiffLine::MoreRemoved { count, role } => writeln!(out, "- … {count} more {role}"),
        DiffLine::AllRemoved { count } => {
            writeln!(out, "- the whole previous content, {}", format_count(*count, "node"))
        }
        DiffLine::Changed { old, new, text, was, has_ref } => {
            let now = has_ref.then(|| new_ref(*new)).flatten();
            let before = old_ref(*old).filter(|r| Some(*r) != now);
            write!(out, "~ {}{text}", with_ref(now))?;
            if before.is_some() || !was.is_empty() {
                write!(out, ", was {}", format!("{}{was}", with_ref(before)).trim_end())?;
            }
            writeln!(out)
        }
    }
}
