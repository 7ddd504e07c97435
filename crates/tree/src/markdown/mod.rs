//! Renders a tree as Markdown for reading: CommonMark 0.31 with the tables of GFM 0.29.
//!
//! Links are numbered in page order and listed once at the end. Controls are in brackets, in the
//! words of a snapshot. A tree contains no secrets. The app's text is escaped and stays text.
//! Headings, lists, tables, the list of links, and notes in brackets, such as `[… 3 more lines`,
//! are always written by this module. A link text may begin with `…`, but a link number follows its
//! bracket.

mod escape;
mod inline;
mod page;
mod table;
#[cfg(test)]
mod tests;

use crate::model::format_count;
use crate::outline::normalize_text;
use crate::selector::text_similarity;
use crate::{NodeId, Tree};
use std::fmt::Write as _;
use std::ops::Range;

/// A heading of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The level, from 1 to 6.
    pub level: u8,
    /// The text, not escaped.
    pub title: String,
}

/// A line of Markdown.
#[derive(Debug, Default)]
struct MarkdownLine {
    text: String,
    /// The numbers of the links in the line.
    links: Vec<u32>,
    /// The heading, if the line is one.
    heading: Option<Heading>,
    /// The fence that must follow if the text is cut after this line.
    fence: Option<String>,
}

/// A whole page as Markdown.
#[derive(Debug)]
pub struct Markdown {
    rows: Vec<MarkdownLine>,
    links: Vec<String>,
    truncated: bool,
}

/// Why a section was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionError {
    /// No heading matches. Contains the most similar headings.
    None(Vec<Heading>),
    /// Several headings match. Contains all of them.
    Several(Vec<Heading>),
}

/// A part of a page, bounded in size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The Markdown.
    pub text: String,
    /// The number of lines or headings left out.
    pub missing: usize,
}

/// The maximum number of similar headings that an error lists if no heading matches.
const MAX_LISTED_HEADINGS: usize = 5;

/// The minimum space, in bytes, in which the beginning of a line that does not fit is shown.
const MIN_BEGINNING_BYTES: usize = 200;

impl MarkdownLine {
    /// Returns the first words of a line of text in at most `max_bytes` bytes. `None` for a
    /// heading, code or a table row, and if there is space for only a few words.
    fn excerpt(&self, max_bytes: usize) -> Option<String> {
        if max_bytes < MIN_BEGINNING_BYTES
            || self.heading.is_some()
            || self.fence.is_some()
            || self.text.starts_with('|')
        {
            return None;
        }
        // Link numbers follow the link text, so text cut before the first link contains none.
        let end = self.text.find(['[', '`']).unwrap_or(self.text.len()).min(max_bytes - 4);
        let end = self.text.floor_char_boundary(end);
        let cut = self.text[..end].rfind(' ').filter(|at| *at >= MIN_BEGINNING_BYTES / 2)?;
        Some(format!("{}…", self.text[..cut].trim_end_matches(['\\', ' '])))
    }
}

impl Markdown {
    /// Renders a subtree.
    ///
    /// ```
    /// let tree = stickpin_tree::testing::tree("page \"P\" http://h/\n  heading \"Hello\"* level=1");
    /// let page = stickpin_tree::Markdown::of(&tree, stickpin_tree::NodeId::ROOT);
    /// assert_eq!(page.text(page.all_lines(), 1_000).text, "# Hello\n");
    /// ```
    #[must_use]
    pub fn of(tree: &Tree, scope: NodeId) -> Self {
        let page = page::PageWriter::of(tree, tree.node(scope));
        let links = page.links.iter().map(|url| escape::address(url)).collect();
        Self { rows: page.rows, links, truncated: tree.is_truncated() }
    }

    /// Returns the range of all lines.
    #[must_use]
    pub fn all_lines(&self) -> Range<usize> {
        0..self.rows.len()
    }

    /// Returns the headings in a range of lines.
    pub fn headings(&self, lines: Range<usize>) -> impl Iterator<Item = &Heading> {
        self.rows[lines].iter().filter_map(|r| r.heading.as_ref())
    }

    /// Returns the lines of a section: its heading, and everything up to the next heading of the
    /// same or a higher level. A heading that equals the text, ignoring case, takes precedence over
    /// headings that contain it.
    ///
    /// # Errors
    /// Returns an error if no heading matches or several do.
    pub fn section(&self, text: &str) -> Result<Range<usize>, SectionError> {
        let wanted = normalize_text(text);
        let named = |test: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let row = |(at, row): (usize, &MarkdownLine)| {
                row.heading.as_ref().filter(|h| test(&normalize_text(&h.title))).map(|_| at)
            };
            self.rows.iter().enumerate().filter_map(row).collect()
        };
        let mut found = named(&|title| title == wanted);
        if found.is_empty() && !wanted.is_empty() {
            found = named(&|title| title.contains(&wanted));
        }
        match found[..] {
            [at] => {
                let level = self.rows[at].heading.as_ref().map_or(0, |h| h.level);
                let ends = |row: &MarkdownLine| row.heading.as_ref().is_some_and(|h| h.level <= level);
                let end = self.rows[at + 1..].iter().position(ends).map_or(self.rows.len(), |n| at + 1 + n);
                Ok(at..end)
            }
            [] => Err(SectionError::None(self.nearest(&wanted))),
            _ => Err(SectionError::Several(
                found.iter().filter_map(|&at| self.rows[at].heading.clone()).collect(),
            )),
        }
    }

    fn nearest(&self, wanted: &str) -> Vec<Heading> {
        let mut scored: Vec<(f64, &Heading)> = self
            .headings(self.all_lines())
            .map(|h| (text_similarity(&normalize_text(&h.title), &[wanted.to_owned()]), h))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().take(MAX_LISTED_HEADINGS).map(|(_, h)| h.clone()).collect()
    }

    /// Renders a range of lines with the list of their links in at most `max_bytes` bytes. A note
    /// states what was omitted; if no line fits, the note remains even if it exceeds the limit.
    #[must_use]
    pub fn text(&self, lines: Range<usize>, max_bytes: usize) -> Excerpt {
        let rows = trim_blank(&self.rows[lines]);
        let total = self.size(rows);
        if total <= max_bytes {
            return Excerpt { text: self.to_text(rows, None), missing: 0 };
        }
        // The size grows with the number of lines, so search for the largest number that fits.
        let (mut fits, mut too_many) = (0, rows.len());
        while too_many - fits > 1 {
            let middle = fits.midpoint(too_many);
            let size = self.size(&rows[..middle]) + self.note(rows, middle, total).len() + 2;
            if size <= max_bytes { fits = middle } else { too_many = middle }
        }
        // A heading with nothing below it is omitted as well.
        while let Some(last) = last_nonempty(&rows[..fits]).filter(|&at| rows[at].heading.is_some()) {
            fits = last;
        }
        let note = self.note(rows, fits, total);
        let shown = trim_blank(&rows[..fits]);
        // The first line that does not fit is cut if it is long enough.
        let left = max_bytes.saturating_sub(self.size(shown) + note.len() + 4);
        let part = rows.get(fits).and_then(|row| row.excerpt(left));
        let mut text = self.to_text(shown, Some(&note));
        if let Some(part) = part {
            let at = text.find(&note).unwrap_or(text.len());
            text.insert_str(at, &format!("{part}\n\n"));
        }
        Excerpt { text, missing: rows.len() - fits }
    }

    /// Renders the headings of a range of lines in at most `max_bytes` bytes. A note states how
    /// many were omitted; if no heading fits, the note remains even if it exceeds the limit.
    #[must_use]
    pub fn outline(&self, lines: Range<usize>, max_bytes: usize) -> Excerpt {
        let headings: Vec<&Heading> = self.headings(lines).collect();
        let mut text = String::new();
        for (n, heading) in headings.iter().enumerate() {
            let line =
                format!("{} {}\n", "#".repeat(heading.level.into()), escape::escape_text(&heading.title));
            let missing = headings.len() - n;
            let more = format_count(missing, "more heading");
            let note = format!("[… {more}: --max-bytes {}]\n", max_bytes.saturating_mul(2));
            // No note follows the last heading.
            let note_bytes = if missing > 1 { note.len() } else { 0 };
            if text.len() + line.len() + note_bytes > max_bytes {
                return Excerpt { text: text + &note, missing };
            }
            text.push_str(&line);
        }
        if headings.is_empty() {
            text.push_str("[no headings]\n");
        }
        Excerpt { text, missing: 0 }
    }

    /// Returns the note in place of the omitted lines.
    fn note(&self, rows: &[MarkdownLine], shown: usize, total: usize) -> String {
        let next = rows[shown..].iter().find_map(|r| r.heading.as_ref());
        let section = match next {
            Some(h) => format!("--section {}, or ", escape::escape_text(&crate::quote(&h.title))),
            None => String::new(),
        };
        let missing = rows.len() - shown;
        let (more, whole) = (format_count(missing, "more line"), total.next_multiple_of(1_000));
        format!("[… {more}, the total is {total} bytes: {section}--max-bytes {whole}]")
    }

    /// Returns the size in bytes of lines, with the closing fence, the note on truncation and the
    /// list of links.
    fn size(&self, rows: &[MarkdownLine]) -> usize {
        let rows = trim_blank(rows);
        let lines: usize = rows.iter().map(|r| r.text.len() + 1).sum();
        let fence = rows.last().and_then(|r| r.fence.as_ref()).map_or(0, |f| f.len() + 1);
        let links: usize = numbers(rows).iter().map(|n| self.definition(*n).len() + 1).sum();
        lines
            + fence
            + if links > 0 { links + 1 } else { 0 }
            + if self.truncated { TRUNCATED_NOTE.len() + 2 } else { 0 }
    }

    fn definition(&self, number: u32) -> String {
        let url = self.links.get(number as usize - 1).map_or("", String::as_str);
        format!("[{number}]: {url}")
    }

    fn to_text(&self, rows: &[MarkdownLine], note: Option<&str>) -> String {
        let mut out = String::new();
        for row in rows {
            out.push_str(&row.text);
            out.push('\n');
        }
        if let (Some(fence), Some(_)) = (rows.last().and_then(|r| r.fence.as_ref()), note) {
            out.push_str(fence);
            out.push('\n');
        }
        let notes = note.into_iter().chain(self.truncated.then_some(TRUNCATED_NOTE));
        for note in notes {
            let gap = if out.is_empty() { "" } else { "\n" };
            writeln!(out, "{gap}{note}").expect("writing to a String cannot fail");
        }
        let numbers = numbers(rows);
        if !numbers.is_empty() {
            out.push('\n');
        }
        for number in numbers {
            out.push_str(&self.definition(number));
            out.push('\n');
        }
        out
    }
}

/// The note for a capture that the device truncated.
const TRUNCATED_NOTE: &str = "[… the page is larger than the capture]";

impl MarkdownLine {
    fn is_empty(&self) -> bool {
        self.text.trim_matches(['>', ' ']).is_empty()
    }
}

/// Returns the index of the last nonempty line.
fn last_nonempty(rows: &[MarkdownLine]) -> Option<usize> {
    rows.iter().rposition(|r| !r.is_empty())
}

/// Returns the lines without empty lines at either end.
fn trim_blank(rows: &[MarkdownLine]) -> &[MarkdownLine] {
    let start = rows.iter().position(|r| !r.is_empty()).unwrap_or(rows.len());
    let end = last_nonempty(rows).map_or(start, |at| at + 1);
    &rows[start..end]
}

/// Returns the numbers of the links in the lines, sorted, without duplicates.
fn numbers(rows: &[MarkdownLine]) -> Vec<u32> {
    let mut numbers: Vec<u32> = rows.iter().flat_map(|r| r.links.iter().copied()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
