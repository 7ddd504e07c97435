//! Walks a tree and emits lines of Markdown.

use super::inline::{InlineText, control, is_control};
use super::{Heading, MarkdownLine, escape};
use crate::outline::{Draft, markdown_draft};
use crate::{Attr, NodeRef, Role, States, Tree};
use hashbrown::HashMap;

/// The nesting up to which elements are distinguished, not counting wrappers around a single child.
/// Deeper content is read as text.
pub(super) const MAX_DEPTH: usize = 250;

/// The nesting up to which lists and quotes are indented. Deeper content stays at that level.
const MAX_INDENT: usize = 12;

/// HTML elements that flow with the text around them. Other platforms have no such elements.
const INLINE_TAGS: &[&str] = &[
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "data", "dfn", "em", "font", "i", "ins", "kbd", "label",
    "output", "q", "ruby", "rb", "rp", "rt", "s", "samp", "slot", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "svg", "text", "tspan", "g", "picture", "img",
];

/// The indentation of the following lines.
#[derive(Debug, Clone)]
struct Indent {
    /// The prefix of the first line, until that line is emitted.
    marker: Option<String>,
    /// The prefix of all other lines.
    continuation: &'static str,
}

/// A page while it is being written.
#[derive(Debug)]
pub(super) struct PageWriter<'t> {
    draft: Draft<'t>,
    /// For each node, whether it is or contains a block.
    blocks: Vec<bool>,
    pub(super) rows: Vec<MarkdownLine>,
    /// The URLs of links by number, counting from 1.
    pub(super) links: Vec<String>,
    numbers: HashMap<String, u32>,
    indents: Vec<Indent>,
    /// Whether the next block directly follows the last block, without an empty line.
    pub(super) tight: bool,
    /// Whether the last block was a field: fields of a form follow each other without empty lines.
    after_field: bool,
    /// The number of the block link that the next line of text belongs to.
    pending_link: Option<u32>,
}

impl<'t> PageWriter<'t> {
    pub(super) fn of(tree: &'t Tree, scope: NodeRef<'t>) -> Self {
        let draft = markdown_draft(tree, scope.id());
        let mut blocks = vec![false; tree.len()];
        for node in scope.subtree().collect::<Vec<_>>().into_iter().rev() {
            let at = node.id().index();
            blocks[at] |= is_block_itself(node);
            if blocks[at]
                && let Some(parent) = node.parent()
                && (!is_control(node) || node.role().holds_a_value())
            {
                blocks[parent.id().index()] = true;
            }
        }
        let mut page = Self {
            draft,
            blocks,
            rows: Vec::new(),
            links: Vec::new(),
            numbers: HashMap::new(),
            indents: Vec::new(),
            tight: true,
            after_field: false,
            pending_link: None,
        };
        if page.is_block(scope) {
            page.block(scope, 0);
        } else {
            let mut line = InlineText::default();
            page.inline(scope, &mut line, 0);
            page.paragraph(line);
        }
        page
    }

    /// Returns whether a node is omitted entirely.
    pub(super) fn is_skipped(&self, node: NodeRef<'_>) -> bool {
        self.draft.drops(node) || (node.is(States::HIDDEN) && (node.is_text() || is_control(node)))
    }

    pub(super) fn is_block(&self, node: NodeRef<'_>) -> bool {
        self.blocks[node.id().index()] && (!is_control(node) || node.role().holds_a_value())
    }

    /// Returns the number of a link's URL; `None` if the link has no usable target.
    pub(super) fn number(&mut self, link: NodeRef<'t>) -> Option<u32> {
        let href = link.attr(Attr::Href).filter(|url| *url != "javascript:")?;
        // Paths are relative to their own document's origin, and a page may show several documents.
        let (here, top) = (link.document().origin(), link.tree().documents()[0].origin());
        let url =
            if href.starts_with('/') && here != top { format!("{here}{href}") } else { href.to_owned() };
        if let Some(number) = self.numbers.get(&url) {
            return Some(*number);
        }
        self.links.push(url.clone());
        let number = u32::try_from(self.links.len()).expect("node positions are u32");
        self.numbers.insert(url, number);
        Some(number)
    }

    // ---- Blocks ----

    pub(super) fn block(&mut self, node: NodeRef<'t>, depth: usize) {
        let node = self.skip_wrappers(node);
        if self.is_skipped(node) {
            return;
        }
        if depth > MAX_DEPTH {
            self.paragraph(InlineText::of(escape::escape_text(&plain_text(node))));
            return;
        }
        match node.role() {
            Role::Heading => self.heading(node, depth),
            Role::List | Role::Tree | Role::Menu | Role::Group if has_items(node) => self.list(node, depth),
            Role::ListItem | Role::TreeItem => self.item(node, "- ", depth),
            Role::Table | Role::Grid | Role::TreeGrid => self.table(node, depth),
            Role::Blockquote => self.indented("> ", "> ", |page| page.children(node, depth)),
            Role::Separator => self.emit("---".to_owned(), Vec::new()),
            Role::Code => self.code_block(node),
            Role::Caption | Role::Legend | Role::Term => {
                let line = self.inline_of(node, depth).wrapped("**");
                self.paragraph(line);
            }
            Role::Definition => self.indented(": ", "  ", |page| {
                page.tight = true;
                page.children(node, depth);
            }),
            Role::Link => self.block_link(node, depth),
            _ if is_preformatted(node) => self.code_block(node),
            _ if is_control(node) => self.field(node),
            _ => {
                self.title(node);
                self.children(node, depth);
            }
        }
    }

    /// Returns the content of a chain of wrappers around a single child.
    fn skip_wrappers(&self, mut node: NodeRef<'t>) -> NodeRef<'t> {
        while node.role() == Role::Generic && !is_preformatted(node) && !self.is_skipped(node) {
            let mut children = node.children();
            match (children.next(), children.next()) {
                (Some(only), None) if self.is_block(only) => node = only,
                _ => break,
            }
        }
        node
    }

    /// Writes the children: blocks, and paragraphs of the text between them.
    pub(super) fn children(&mut self, node: NodeRef<'t>, depth: usize) {
        let mut line = InlineText::default();
        for child in node.children() {
            if self.is_block(child) {
                self.paragraph(std::mem::take(&mut line));
                self.block(child, depth + 1);
            } else {
                self.inline(child, &mut line, depth + 1);
            }
        }
        self.paragraph(line);
    }

    /// Writes the name of a group or another titled container, unless one of its first 50
    /// descendants repeats it.
    fn title(&mut self, node: NodeRef<'t>) {
        if !node.role().is_titled() || node.name().is_empty() {
            return;
        }
        let name = node.name();
        let mut near = node.subtree().skip(1).take(50);
        if !near.any(|n| n.name() == name && !self.is_skipped(n)) {
            self.paragraph(InlineText::of(format!("**{}**", escape::escape_text(name))));
        }
    }

    fn heading(&mut self, node: NodeRef<'t>, depth: usize) {
        let level = match node.level() {
            0 => 2,
            level => level.min(6),
        };
        let mut line = InlineText::default();
        for child in node.children() {
            if self.is_block(child) {
                let inner = self.inline_of(child, depth + 1);
                line.append(" ", inner);
            } else {
                self.inline(child, &mut line, depth + 1);
            }
        }
        if line.is_empty() {
            line.text = escape::escape_text(node.name());
        }
        if line.is_empty() {
            return;
        }
        let title = if node.name().is_empty() { plain_text(node) } else { node.name().to_owned() };
        let line = self.attach_pending_link(line);
        self.emit(format!("{} {}", "#".repeat(level.into()), line.text), line.links);
        if let Some(row) = self.rows.last_mut() {
            row.heading = Some(Heading { level, title });
        }
    }

    fn list(&mut self, list: NodeRef<'t>, depth: usize) {
        let mut number = list.attr(Attr::Start).and_then(|s| s.parse::<u32>().ok()).unwrap_or(1);
        let mut loose = InlineText::default();
        let (nested, mut first) = (self.marker_is_open(), true);
        for child in list.children() {
            if matches!(child.role(), Role::ListItem | Role::TreeItem | Role::MenuItem)
                && !self.is_skipped(child)
            {
                self.paragraph(std::mem::take(&mut loose));
                let marker = if list.tag() == "ol" { format!("{number}. ") } else { "- ".to_owned() };
                number = number.saturating_add(1);
                // Items of one list follow each other directly. An empty line precedes the first
                // one, except inside an item.
                if !(first && nested) {
                    self.tight = !first || self.in_item();
                }
                first = false;
                self.item(child, &marker, depth + 1);
            } else if self.is_block(child) {
                self.paragraph(std::mem::take(&mut loose));
                self.block(child, depth + 1);
            } else {
                self.inline(child, &mut loose, depth + 1);
            }
        }
        self.paragraph(loose);
        self.tight = false;
    }

    fn item(&mut self, item: NodeRef<'t>, marker: &str, depth: usize) {
        let rest = &"    "[..marker.len().min(4)];
        let before = self.rows.len();
        self.indented(marker, rest, |page| {
            if is_control(item) {
                page.paragraph(InlineText::of(control(item)));
            } else {
                if item.role() == Role::TreeItem && !item.is(States::NAME_FROM_CONTENT) {
                    page.paragraph(InlineText::of(escape::escape_text(item.name())));
                }
                page.children(item, depth);
            }
            if page.rows.len() == before && !item.name().is_empty() {
                page.paragraph(InlineText::of(escape::escape_text(item.name())));
            }
        });
    }

    fn code_block(&mut self, node: NodeRef<'t>) {
        let code = node.attr(Attr::Preformatted).map_or_else(|| plain_text(node), str::to_owned);
        let code = code.trim_matches(['\n', '\r']);
        if code.trim().is_empty() {
            return;
        }
        let fence = escape::fence(code);
        self.emit(fence.clone(), Vec::new());
        let open = self.rows.len() - 1;
        for line in code.lines() {
            self.tight = true;
            self.emit(escape::code_line(line.trim_end_matches('\r')), Vec::new());
        }
        let closing = self.prefix() + &fence;
        for row in &mut self.rows[open..] {
            row.fence = Some(closing.clone());
        }
        self.tight = true;
        self.emit(fence, Vec::new());
    }

    fn field(&mut self, node: NodeRef<'t>) {
        self.tight |= self.after_field;
        self.emit(control(node), Vec::new());
        self.after_field = true;
    }

    /// Writes a card that is a link as a whole. The first line without another link becomes the
    /// link.
    fn block_link(&mut self, node: NodeRef<'t>, depth: usize) {
        let outer = self.pending_link;
        self.pending_link = self.number(node).or(outer);
        let before = self.rows.len();
        self.children(node, depth);
        if self.rows.len() == before {
            let text =
                if node.name().is_empty() { "link".to_owned() } else { escape::escape_text(node.name()) };
            self.paragraph(InlineText::of(text));
        }
        self.pending_link = outer;
    }

    fn attach_pending_link(&mut self, line: InlineText) -> InlineText {
        match self.pending_link.take() {
            Some(number) if !line.text.contains("][") => line.linked(number),
            Some(number) => {
                // Links cannot contain links.
                self.pending_link = Some(number);
                line
            }
            None => line,
        }
    }

    // ---- Lines ----

    pub(super) fn paragraph(&mut self, line: InlineText) {
        if line.is_empty() {
            return;
        }
        let mut line = self.attach_pending_link(line);
        escape::escape_line_start(&mut line.text);
        self.emit(line.text, line.links);
    }

    /// Emits a line, after an empty line if a block begins.
    pub(super) fn emit(&mut self, text: String, links: Vec<u32>) {
        if !self.tight && !self.rows.is_empty() {
            let empty = self.prefix_of(true).trim_end().to_owned();
            self.rows.push(MarkdownLine { text: empty, ..MarkdownLine::default() });
        }
        self.tight = false;
        self.after_field = false;
        let prefix = self.prefix();
        self.rows.push(MarkdownLine {
            text: (prefix + &text).trim_end().to_owned(),
            links,
            ..MarkdownLine::default()
        });
    }

    /// Returns whether a marker is still waiting for its first line.
    fn marker_is_open(&self) -> bool {
        self.indents.last().is_some_and(|i| i.marker.is_some())
    }

    fn in_item(&self) -> bool {
        self.indents.last().is_some_and(|i| i.continuation.trim().is_empty())
    }

    /// Returns the prefix of the next line. Uses up the markers.
    fn prefix(&mut self) -> String {
        let prefix = self.prefix_of(false);
        for indent in &mut self.indents {
            indent.marker = None;
        }
        prefix
    }

    /// Returns the prefix of a line. The prefix of an empty line omits indentation that is yet to
    /// begin.
    fn prefix_of(&self, empty: bool) -> String {
        let shown = self.indents.iter().take(MAX_INDENT).take_while(|i| !empty || i.marker.is_none());
        shown.map(|i| i.marker.as_deref().unwrap_or(i.continuation)).collect()
    }

    fn indented(&mut self, marker: &str, rest: &'static str, write: impl FnOnce(&mut Self)) {
        self.indents.push(Indent { marker: Some(marker.to_owned()), continuation: rest });
        write(self);
        self.indents.pop();
    }
}

/// Returns a node's text leaves that are not hidden, joined by spaces.
pub(super) fn plain_text(node: NodeRef<'_>) -> String {
    let words = node.subtree().filter(|n| n.is_text() && !n.is(States::HIDDEN)).map(NodeRef::name);
    words.collect::<Vec<_>>().join(" ")
}

/// Returns whether white space in a node is significant.
pub(super) fn is_preformatted(node: NodeRef<'_>) -> bool {
    node.attr(Attr::Preformatted).is_some() || node.tag() == "pre"
}

fn has_items(node: NodeRef<'_>) -> bool {
    node.children().any(|c| matches!(c.role(), Role::ListItem | Role::TreeItem | Role::MenuItem))
}

fn is_block_itself(node: NodeRef<'_>) -> bool {
    match node.role() {
        role if role.is_inline() || role.is_markup() => false,
        Role::Code => is_preformatted(node),
        Role::Generic | Role::Clickable | Role::Term | Role::Status | Role::Note => {
            is_preformatted(node) || !INLINE_TAGS.contains(&node.tag())
        }
        // Fields have their own lines.
        role if role.is_control() => role.holds_a_value() || matches!(role, Role::TreeItem),
        _ => true,
    }
}
