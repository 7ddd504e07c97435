//! Text rendering of outputs. Handlers return values; only a value's [`Show`] implementation turns
//! it into text.

mod table;

pub(crate) use table::Cell;

use crate::api::request::Render;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use stickpin_device::Error;

/// An output that can be rendered as text.
pub trait Show {
    /// Writes the output as text.
    fn show(&self, text: &mut Text);

    /// Returns the exit status for a command that succeeded, such as 1 for a false `is`.
    fn exit(&self) -> u8 {
        0
    }

    /// Returns the failure that the output reports, such as the failed step of a batch.
    fn failure(&self) -> Option<Error> {
        None
    }
}

/// Implements `Show` for an output that is one line: `show_line!(Type: value => "FORMAT", ...)`.
macro_rules! show_line {
    ($output:ty: $value:ident => $($line:tt)*) => {
        impl $crate::api::render::Show for $output {
            fn show(&self, text: &mut $crate::api::render::Text) {
                let $value = self;
                text.line(format_args!($($line)*));
            }
        }
    };
}
pub(crate) use show_line;

/// Collects the lines of a rendered output.
#[derive(Debug)]
pub struct Text {
    out: String,
    /// Whether header lines name the generation.
    pub(crate) header: bool,
    /// The width of the terminal that shows the text.
    columns: Option<u16>,
    /// The fence word in the lines around the app's own lines.
    fence: Option<String>,
    /// Whether the text of a feed ends with the position where reading continues.
    cursor: bool,
}

impl Text {
    /// Returns an error as text: its code and message, then the hint.
    #[must_use]
    pub fn of_error(e: &Error) -> String {
        let mut text = format!("{}: {}", e.code.name(), e.message);
        if !e.hint.is_empty() {
            text.push('\n');
            text.push_str(&e.hint);
        }
        text
    }

    pub(crate) fn new(render: &Render) -> Self {
        Self {
            out: String::new(),
            header: render.header,
            columns: render.columns,
            fence: render.fence.clone(),
            cursor: render.cursor,
        }
    }

    /// Adds a line. The caller must quote text from the app ([`stickpin_tree::quote`]).
    pub fn line(&mut self, line: impl fmt::Display) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        write!(self.out, "{line}").expect("writing to a string cannot fail");
    }

    /// Adds a line that states how the read of a feed ended and where reading continues: after one
    /// record, or after one record of each session. Does nothing if the front end shows this
    /// elsewhere.
    pub(crate) fn cursor(&mut self, status: &str, one: Option<u64>, of: &BTreeMap<String, u64>) {
        if self.cursor {
            let one = one.map(|seq| format!(", cursorSeq {seq}")).unwrap_or_default();
            let of = of.iter().map(|(session, seq)| format!(", cursor {session}={seq}"));
            self.line(format_args!("status {status}{one}{}", of.collect::<String>()));
        }
    }

    /// Adds a list with one line per row. The caller must quote text from the app in cells.
    ///
    /// On a terminal, columns are aligned and prose is shortened to fit the width. Elsewhere a row
    /// consists of its non-empty cells, separated by `gap`.
    pub(crate) fn table(&mut self, rows: &[Vec<Cell>], gap: &str) {
        for line in table::lines(rows, gap, self.columns) {
            self.line(line);
        }
    }

    /// Adds text from the app line by line, with escapes for terminal control characters.
    pub fn app_text(&mut self, said: &str) {
        let lines: Vec<_> = said.lines().map(|line| stickpin_tree::escape(line, usize::MAX)).collect();
        self.escaped_lines(&lines.join("\n"));
    }

    /// Adds lines from the app that are already escaped.
    ///
    /// If a reader could mistake these lines for stickpin's own, a fence line before and after them
    /// contains a word that no app can know.
    pub fn escaped_lines(&mut self, said: &str) {
        // An app that guessed the fence word could close the fence.
        while let Some(word) = self.fence.as_ref().filter(|word| said.contains(word.as_str())) {
            tracing::debug!(word, "the app's text contains the fence word");
            self.fence = Some(format!("{:016x}", rand::random::<u64>()));
        }
        let fence = self.fence.clone();
        if let Some(word) = &fence {
            self.line(format_args!("<app {word}>"));
        }
        self.block(said);
        if let Some(word) = &fence {
            self.line(format_args!("</app {word}>"));
        }
    }

    /// Adds lines that are already rendered and escaped; adds nothing for an empty block.
    pub fn block(&mut self, block: &str) {
        if !block.is_empty() {
            self.line(block.trim_end_matches('\n'));
        }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }
}

/// Returns the name of an enum value in JSON, so that the text uses the same name; empty if the
/// value is not a string in JSON.
pub(crate) fn json_name(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Returns a JSON value as text for a sentence, truncated after 60 characters.
pub(crate) fn json_excerpt(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_that_guessed_the_word_does_not_close_the_fence() {
        let render = Render { fence: Some("1f3a".to_owned()), ..Render::default() };
        let mut text = Text::new(&render);
        text.escaped_lines("quiet");
        text.escaped_lines("</app 1f3a>\nnow it is ours");
        let said = text.finish();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[..4], ["<app 1f3a>", "quiet", "</app 1f3a>", lines[3]], "{said}");
        let word = lines[3].trim_start_matches("<app ").trim_end_matches('>');
        assert!(word.len() == 16 && word != "1f3a", "{said}");
        assert_eq!(lines[4..], ["</app 1f3a>", "now it is ours", &format!("</app {word}>")], "{said}");
    }
}
