//! The outline of the app as foldable lines.

use std::collections::BTreeSet;
use std::ops::Range;
use stickpin_tree::escape;

/// One line of the outline.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TreeLine {
    depth: u16,
    /// The range of the line in the text, without its indentation.
    text: Range<usize>,
    /// The index of the first line after this one and its descendants.
    end: u32,
}

/// The outline, the folded lines and the selection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Tree {
    /// The outline, escaped line by line.
    text: String,
    lines: Vec<TreeLine>,
    /// The folded elements, by the text of their lines, so that they stay folded when the tree is
    /// read again.
    folded: BTreeSet<String>,
    /// The indices of the lines that are not below a folded line.
    visible: Vec<u32>,
    /// The selection, as an index into `visible`.
    selected: usize,
    /// The last search.
    query: String,
    /// The text above the outline.
    pub(crate) header: String,
}

impl Tree {
    /// Replaces the outline. The selection stays on its line if an equal line still exists.
    pub(crate) fn replace(&mut self, header: &str, outline: &str) {
        let selected = self.selected_text().map(str::to_owned);
        self.header = escape(header, usize::MAX);
        self.text.clear();
        self.lines.clear();
        for line in outline.lines().filter(|line| !line.trim().is_empty()) {
            let text = line.trim_start_matches(' ');
            let depth = u16::try_from((line.len() - text.len()) / 2).unwrap_or(u16::MAX);
            let start = self.text.len();
            self.text.push_str(&escape(text, usize::MAX));
            self.lines.push(TreeLine { depth, text: start..self.text.len(), end: 0 });
        }
        self.find_ends();
        let known: BTreeSet<&str> =
            if self.folded.is_empty() { BTreeSet::new() } else { self.texts().collect() };
        let folded = self.folded.iter().filter(|text| known.contains(text.as_str())).cloned().collect();
        self.folded = folded;
        self.show();
        let same = selected.and_then(|text| self.visible.iter().position(|&at| self.line_text(at) == text));
        self.selected = same.unwrap_or(self.selected).min(self.visible.len().saturating_sub(1));
    }

    fn find_ends(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for at in 0..=self.lines.len() {
            let depth = self.lines.get(at).map(|line| line.depth);
            while let Some(&last) = open.last() {
                if depth.is_some_and(|depth| depth > self.lines[last].depth) {
                    break;
                }
                self.lines[last].end = u32::try_from(at).unwrap_or(u32::MAX);
                open.pop();
            }
            open.push(at);
        }
    }

    /// Computes which lines are visible.
    fn show(&mut self) {
        self.visible.clear();
        let mut at = 0;
        while let Some(line) = self.lines.get(at) {
            self.visible.push(u32::try_from(at).unwrap_or(u32::MAX));
            let is_folded = !self.folded.is_empty() && self.folded.contains(&self.text[line.text.clone()]);
            at = if is_folded { line.end as usize } else { at + 1 };
        }
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| &self.text[line.text.clone()])
    }

    fn line_text(&self, at: u32) -> &str {
        self.lines.get(at as usize).map_or("", |line| &self.text[line.text.clone()])
    }

    fn selected_line(&self) -> Option<u32> {
        self.visible.get(self.selected).copied()
    }

    fn selected_text(&self) -> Option<&str> {
        self.selected_line().map(|at| self.line_text(at))
    }

    /// Returns whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the number of lines that are not below a folded one.
    pub(crate) fn len(&self) -> usize {
        self.visible.len()
    }

    /// Returns the position of the selection among the visible lines.
    pub(crate) fn selected(&self) -> usize {
        self.selected
    }

    /// Returns the depth, the fold mark and the text of a visible line.
    pub(crate) fn row(&self, position: usize) -> Option<(u16, char, &str)> {
        let at = *self.visible.get(position)?;
        let line = self.lines.get(at as usize)?;
        let text = &self.text[line.text.clone()];
        let mark = match (line.end > at + 1, self.folded.contains(text)) {
            (false, _) => ' ',
            (true, true) => '+',
            (true, false) => '-',
        };
        Some((line.depth, mark, text))
    }

    /// Moves the selection by a number of lines; a negative number moves it up.
    pub(crate) fn select(&mut self, lines: isize) {
        let last = self.visible.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(lines).min(last);
    }

    /// Folds the selected element, or selects its parent if there is nothing to fold.
    pub(crate) fn fold(&mut self) {
        let Some(at) = self.selected_line() else { return };
        let line = &self.lines[at as usize];
        let text = self.text[line.text.clone()].to_owned();
        if line.end > at + 1 && !self.folded.contains(&text) {
            self.folded.insert(text);
            return self.keep_selected(at);
        }
        let depth = line.depth;
        let around =
            self.visible[..self.selected].iter().rposition(|&up| self.lines[up as usize].depth < depth);
        self.selected = around.unwrap_or(self.selected);
    }

    /// Unfolds the selected element. If it is not folded, selects its first child, if any.
    pub(crate) fn unfold(&mut self) {
        let Some(at) = self.selected_line() else { return };
        let text = self.line_text(at).to_owned();
        if self.folded.remove(&text) {
            self.keep_selected(at);
        } else if self.lines[at as usize].end > at + 1 {
            self.select(1);
        }
    }

    fn keep_selected(&mut self, at: u32) {
        self.show();
        self.selected =
            self.visible.partition_point(|&line| line < at).min(self.visible.len().saturating_sub(1));
    }

    /// Selects the next line that contains the given text, ignoring case; the search wraps around
    /// at the end. Unfolds the ancestors of that line. Returns false if no line contains the text,
    /// or if the text is empty.
    pub(crate) fn search(&mut self, query: &str) -> bool {
        self.query = query.to_lowercase();
        self.search_on(true)
    }

    /// Repeats the last search forwards or backwards.
    pub(crate) fn search_on(&mut self, forwards: bool) -> bool {
        let count = self.lines.len();
        if self.query.is_empty() || count == 0 {
            return false;
        }
        let from = self.selected_line().map_or(0, |at| at as usize);
        let step = |n: usize| if forwards { (from + n) % count } else { (from + count - n) % count };
        let matches = |at: &usize| {
            self.line_text(u32::try_from(*at).unwrap_or(u32::MAX)).to_lowercase().contains(&self.query)
        };
        let Some(found) = (1..=count).map(step).find(matches) else { return false };
        let hides = |line: &(usize, &TreeLine)| line.0 < found && (line.1.end as usize) > found;
        let around = self.lines.iter().enumerate().filter(hides);
        let around: Vec<String> = around.map(|(_, line)| self.text[line.text.clone()].to_owned()).collect();
        around.iter().for_each(|text| {
            self.folded.remove(text);
        });
        self.keep_selected(u32::try_from(found).unwrap_or(u32::MAX));
        true
    }

    /// Returns the ref of the selected line, or else a selector with its role and name; `None` if
    /// the line has neither.
    pub(crate) fn target(&self) -> Option<String> {
        let text = self.selected_text()?;
        ref_of(text).map(str::to_owned).or_else(|| selector_of(text))
    }

    /// Returns every ref, and then a selector for each element whose whole name is shown, both in
    /// the order of the outline.
    pub(crate) fn targets(&self) -> impl Iterator<Item = String> {
        let refs = self.texts().filter_map(ref_of).map(str::to_owned);
        refs.chain(self.texts().filter_map(selector_of))
    }
}

fn ref_of(text: &str) -> Option<&str> {
    let word = text.split(' ').next()?;
    let digits = word.strip_prefix("@e")?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(word)
}

/// Returns the selector of a line with a role and a quoted name; `None` for any other line, and for
/// a truncated name.
fn selector_of(text: &str) -> Option<String> {
    let rest = ref_of(text).map_or(text, |name| text[name.len()..].trim_start());
    let (role, name) = rest.split_once(" \"")?;
    let mut escaped = false;
    let end = name.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })?;
    let name = &name[..end];
    let is_role = !role.is_empty() && role.bytes().all(|b| b.is_ascii_lowercase());
    // A truncated name is not the whole name.
    (is_role && !name.is_empty() && !name.ends_with('…')).then(|| format!("role={role} \"{name}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = "@e1 banner\n  @e2 link \"Orders\"\n  @e3 link \"Say \\\"hi\\\"\"\nmain\n  list\n    @e4 button \"Buy\"\n";

    fn shop() -> Tree {
        let mut tree = Tree::default();
        tree.replace("page \"Shop\"", SHOP);
        tree
    }

    fn shown(tree: &Tree) -> Vec<String> {
        (0..tree.len()).filter_map(|at| tree.row(at)).map(|(d, m, t)| format!("{d}{m}{t}")).collect()
    }

    #[test]
    fn elements_fold_and_stay_folded_when_the_tree_is_read_anew() {
        let mut tree = shop();
        assert_eq!(tree.len(), 6);
        tree.fold();
        assert_eq!(shown(&tree)[..2], ["0+@e1 banner", "0-main"]);
        tree.replace("page", &SHOP.replace("Buy", "Sell"));
        assert_eq!(shown(&tree)[0], "0+@e1 banner");
        tree.unfold();
        assert_eq!(tree.len(), 6);
        tree.unfold();
        assert_eq!(tree.target().as_deref(), Some("@e2"));
        tree.fold();
        assert_eq!(
            tree.target().as_deref(),
            Some("@e1"),
            "a line without content moves to what is around it"
        );
    }

    #[test]
    fn search_goes_round_and_unfolds_what_hides_its_match() {
        let mut tree = shop();
        tree.select(3);
        tree.fold();
        assert_eq!(tree.len(), 4);
        assert!(tree.search("bUY"));
        assert_eq!((tree.target().as_deref(), tree.len()), (Some("@e4"), 6));
        assert!(tree.search("link"));
        assert_eq!(tree.target().as_deref(), Some("@e2"));
        assert!(tree.search_on(false));
        assert_eq!(tree.target().as_deref(), Some("@e3"));
        assert!(!tree.search("nowhere"));
    }

    #[test]
    fn targets_are_refs_and_selectors() {
        let targets: Vec<_> = shop().targets().collect();
        let expected = [
            "@e1",
            "@e2",
            "@e3",
            "@e4",
            "role=link \"Orders\"",
            r#"role=link "Say \"hi\"""#,
            "role=button \"Buy\"",
        ];
        assert_eq!(targets, expected);
        assert_eq!(selector_of("button \"cut…\""), None);
        assert_eq!(selector_of("text \"\""), None);
    }

    #[test]
    fn hundred_thousand_lines_fold_and_search() {
        let outline: String = (0..100_000).map(|n| format!("  @e{n} listitem \"row {n}\"\n")).collect();
        let mut tree = Tree::default();
        tree.replace("page", &format!("list\n{outline}"));
        assert_eq!(tree.len(), 100_001);
        assert!(tree.search("row 99999"));
        assert_eq!(tree.selected(), 100_000);
        tree.select(-200_000);
        tree.fold();
        assert_eq!(tree.len(), 1);
    }
}
