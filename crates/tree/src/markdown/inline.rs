//! The content of a line: text with emphasis, links, images, code, and controls in the words of a
//! snapshot.

use super::escape;
use super::page::{MAX_DEPTH, PageWriter, is_preformatted, plain_text};
use crate::outline::{Style, describe};
use crate::{NodeRef, Role};

/// A line built from pieces.
#[derive(Debug, Default, Clone)]
pub(super) struct InlineText {
    pub(super) text: String,
    /// The numbers of the links in the line.
    pub(super) links: Vec<u32>,
}

impl InlineText {
    /// Creates a line without links.
    pub(super) fn of(text: String) -> Self {
        Self { text, links: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Appends a piece, after a space if a reader would expect one. Captures contain texts but not
    /// the white space between them.
    fn push(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if needs_space(&self.text, piece) {
            self.text.push(' ');
        }
        self.text.push_str(piece);
    }

    /// Appends another line as a piece.
    fn push_line(&mut self, line: InlineText) {
        self.push(&line.text);
        self.links.extend(line.links);
    }

    /// Appends a line, with `between` if neither side is empty.
    pub(super) fn append(&mut self, between: &str, line: InlineText) {
        if !self.text.is_empty() && !line.text.is_empty() {
            self.text.push_str(between);
        }
        self.text.push_str(&line.text);
        self.links.extend(line.links);
    }

    /// Surrounds the whole line with a mark.
    pub(super) fn wrapped(mut self, mark: &str) -> Self {
        if !self.text.is_empty() {
            self.text = format!("{mark}{}{mark}", self.text);
        }
        self
    }

    /// Turns the whole line into a link.
    pub(super) fn linked(mut self, number: u32) -> Self {
        self.text = format!("[{}][{number}]", self.text);
        self.links.push(number);
        self
    }
}

fn needs_space(before: &str, piece: &str) -> bool {
    let (Some(last), Some(first)) = (before.chars().next_back(), piece.chars().next()) else { return false };
    if piece.starts_with("![") {
        return true;
    }
    if matches!(first, '.' | ',' | ';' | ':' | '!' | '?' | ')' | '%' | '…' | '»' | '”')
        || matches!(last, '(' | '«' | '„' | '“' | ' ')
    {
        return false;
    }
    if matches!(first, '\'' | '’') && piece.chars().nth(1).is_some_and(char::is_alphabetic) {
        return false;
    }
    // Some scripts are written without spaces.
    !(is_unspaced(last) && is_unspaced(first))
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

impl<'t> PageWriter<'t> {
    /// Appends a node and its content to a line.
    pub(super) fn inline(&mut self, node: NodeRef<'t>, line: &mut InlineText, depth: usize) {
        if self.is_skipped(node) {
            return;
        }
        if depth > MAX_DEPTH {
            line.push(&escape::escape_text(&plain_text(node)));
            return;
        }
        if node.is_text() {
            line.push(&escape::escape_text(node.name()));
            return;
        }
        match node.role() {
            Role::Separator | Role::ScrollBar => {}
            Role::Image if !node.name().is_empty() => {
                line.push(&format!("![{}]", escape::escape_text(node.name())));
            }
            Role::Strong => line.push_line(self.inline_of(node, depth).wrapped("**")),
            Role::Emphasis => line.push_line(self.inline_of(node, depth).wrapped("*")),
            Role::Deletion => line.push_line(self.inline_of(node, depth).wrapped("~~")),
            Role::Subscript => self.script(node, line, "sub", depth),
            Role::Superscript => self.script(node, line, "sup", depth),
            Role::Code => line.push(&code(node)),
            Role::Link => self.link(node, line, depth),
            _ if is_preformatted(node) => line.push(&code(node)),
            _ if is_control(node) => line.push(&control(node)),
            _ => line.push_line(self.inline_of(node, depth)),
        }
    }

    /// Returns the content of a node as one line; blocks in it are joined by `<br>`.
    pub(super) fn inline_of(&mut self, node: NodeRef<'t>, depth: usize) -> InlineText {
        let mut joined = InlineText::default();
        let mut line = InlineText::default();
        for child in node.children() {
            if self.is_block(child) {
                joined.append("<br>", std::mem::take(&mut line));
                let below = self.block_as_line(child, depth + 1);
                joined.append("<br>", below);
            } else {
                self.inline(child, &mut line, depth + 1);
            }
        }
        joined.append("<br>", line);
        joined
    }

    fn block_as_line(&mut self, node: NodeRef<'t>, depth: usize) -> InlineText {
        let mut line = InlineText::default();
        if self.is_skipped(node) {
            return line;
        }
        // Fields stay controls and links stay links at any depth.
        if depth > MAX_DEPTH || is_control(node) || node.role() == Role::Link {
            self.inline(node, &mut line, depth);
            return line;
        }
        let mut line = match node.role() {
            Role::Heading => self.inline_of(node, depth).wrapped("**"),
            _ => self.inline_of(node, depth),
        };
        if node.role() == Role::ListItem && !line.is_empty() {
            line.text.insert_str(0, "• ");
        }
        line
    }

    /// Appends raised or lowered text in a tag, without a space. Without the tag, 10⁶ would read
    /// 106.
    fn script(&mut self, node: NodeRef<'t>, line: &mut InlineText, tag: &str, depth: usize) {
        let inner = self.inline_of(node, depth);
        if inner.text.starts_with('[') {
            // A footnote: its brackets suffice as a mark.
            line.text.push_str(&inner.text);
        } else if !inner.is_empty() {
            line.text.push_str(&format!("<{tag}>{}</{tag}>", inner.text));
        }
        line.links.extend(inner.links);
    }

    fn link(&mut self, node: NodeRef<'t>, line: &mut InlineText, depth: usize) {
        let Some(number) = self.number(node) else {
            line.push(&control(node));
            return;
        };
        let mut inner = self.inline_of(node, depth);
        if inner.is_empty() {
            inner.text =
                if node.name().is_empty() { "link".to_owned() } else { escape::escape_text(node.name()) };
        }
        line.push_line(inner.linked(number));
    }
}

/// Returns whether a node is written as a control, in brackets.
pub(super) fn is_control(node: NodeRef<'_>) -> bool {
    let role = node.role();
    if matches!(role, Role::Clickable | Role::TreeItem | Role::Link) {
        return false;
    }
    let shows_value = matches!(
        role,
        Role::ProgressBar | Role::Meter | Role::Video | Role::Audio | Role::Canvas | Role::ScrollBar
    );
    if !(role.is_control() || shows_value) {
        return false;
    }
    // A card that is one large button is read as content.
    role.is_input() || node.name().chars().nth(crate::MAX_CHARS).is_none()
}

/// Writes a control as a snapshot does: `[textbox "Email" value="a@b.c"]`. An app's text cannot
/// imitate a control, because its brackets are escaped.
pub(super) fn control(node: NodeRef<'_>) -> String {
    let mut label = String::new();
    describe(&mut label, node, node.name(), Style::Full);
    format!("[{}]", escape::escape_text(&label))
}

fn code(node: NodeRef<'_>) -> String {
    let label = plain_text(node);
    let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
    if label.is_empty() { String::new() } else { escape::code_span(&label) }
}
