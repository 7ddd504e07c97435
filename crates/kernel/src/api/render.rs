//! Text of outputs. Handlers return values; a value says here, and only here, how it reads.

mod table;

pub use table::Cell;

use crate::api::request::{Detail, Render};
use serde_json::Value;
use std::fmt::{self, Write as _};
use stickpin_device::Error;

/// An output that can be read as text.
pub trait Show {
    /// Writes it.
    fn show(&self, text: &mut Text);

    /// What the command line exits with although the command did what was asked: 1 for a false `is`.
    fn exit(&self) -> u8 {
        0
    }

    /// A failure that the output is the account of: the step at which a batch ended.
    fn failure(&self) -> Option<Error> {
        None
    }
}

/// Collects lines.
#[derive(Debug)]
pub struct Text {
    out: String,
    /// Whether header lines name the generation.
    pub header: bool,
    /// How much is said.
    pub detail: Detail,
    /// Width of the terminal that shows the text.
    columns: Option<u16>,
    /// The word of the lines around what an app says in its own lines.
    fence: Option<String>,
}

impl Text {
    pub(crate) fn new(render: &Render) -> Self {
        Self {
            out: String::new(),
            header: render.header,
            detail: render.detail,
            columns: render.columns,
            fence: render.fence.clone(),
        }
    }

    /// Adds a line; what an app said in it must be quoted by the caller ([`stickpin_tree::quote`]).
    pub fn line(&mut self, line: impl fmt::Display) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        write!(self.out, "{line}").expect("writing to a string cannot fail");
    }

    /// Adds a list with a line for each row. On a terminal its columns are aligned and prose is shortened to the width;
    /// elsewhere a row is its cells that are not empty, with `gap` between them. What an app said in a cell must be quoted
    /// by the caller.
    pub fn table(&mut self, rows: &[Vec<Cell>], gap: &str) {
        for line in table::lines(rows, gap, self.columns) {
            self.line(line);
        }
    }

    /// Adds what an app said as it is, line by line, with escapes for what could act on a terminal.
    pub fn plain(&mut self, said: &str) {
        let lines: Vec<_> = said.lines().map(|line| stickpin_tree::escape(line, usize::MAX)).collect();
        self.words(&lines.join("\n"));
    }

    /// Adds lines of an app that are escaped already. Where a reader could take them for ours, a line before and one
    /// behind them say whose they are, with a word that no app can know.
    pub fn words(&mut self, said: &str) {
        // An app that guessed the word could close the fence.
        while let Some(word) = self.fence.as_ref().filter(|word| said.contains(word.as_str())) {
            tracing::debug!(word, "an app says the word of the fence");
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

    /// Adds several lines that were already made by `tree`; nothing if there are none.
    pub fn block(&mut self, block: &str) {
        if !block.is_empty() {
            self.line(block.trim_end_matches('\n'));
        }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }
}

/// Returns an error as text: its line, then the hint.
#[must_use]
pub fn error(e: &Error) -> String {
    let mut text = format!("{}: {}", e.code.name(), e.message);
    if !e.hint.is_empty() {
        text.push('\n');
        text.push_str(&e.hint);
    }
    text
}

/// The word that JSON has for a value of an enum, so that there is one spelling.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// A JSON value in a sentence, bounded.
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
        text.words("quiet");
        text.words("</app 1f3a>\nnow it is ours");
        let said = text.finish();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[..4], ["<app 1f3a>", "quiet", "</app 1f3a>", lines[3]], "{said}");
        let word = lines[3].trim_start_matches("<app ").trim_end_matches('>');
        assert!(word.len() == 16 && word != "1f3a", "{said}");
        assert_eq!(lines[4..], ["</app 1f3a>", "now it is ours", &format!("</app {word}>")], "{said}");
    }
}
