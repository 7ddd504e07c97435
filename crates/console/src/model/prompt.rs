//! The line that is being typed, and the earlier lines.

use super::key::Key;

/// The maximum number of remembered lines.
const MAX_HISTORY: usize = 1_000;

/// A line editor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Prompt {
    text: String,
    /// The byte index of the cursor, at a character boundary.
    cursor: usize,
    history: Vec<String>,
    /// The index into the history while an older line is shown.
    shown: Option<usize>,
    /// The text that was typed before an older line was shown.
    draft: String,
}

impl Prompt {
    /// Creates an empty line, with the lines of an earlier console as history.
    pub(crate) fn new(history: Vec<String>) -> Self {
        Self { history, ..Self::default() }
    }

    /// Returns the typed text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before the cursor.
    pub(crate) fn before_cursor(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// Returns the line, clears it, and adds it to the history unless it is blank or repeats the
    /// last line.
    pub(crate) fn take(&mut self) -> String {
        let line = std::mem::take(&mut self.text);
        (self.cursor, self.shown) = (0, None);
        let is_new = !line.trim().is_empty() && self.history.last() != Some(&line);
        if is_new {
            let over = (self.history.len() + 1).saturating_sub(MAX_HISTORY);
            self.history.drain(..over);
            self.history.push(line.clone());
        }
        line
    }

    /// Clears the line.
    pub(crate) fn clear(&mut self) {
        self.set(String::new());
        self.shown = None;
    }

    fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
    }

    /// Inserts text at the cursor. Control characters, line breaks included, become spaces, so that
    /// a pasted line does not run by itself.
    pub(crate) fn insert(&mut self, text: &str) {
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.text.insert_str(self.cursor, &line);
        self.cursor += line.len();
    }

    /// Replaces the text from a byte index to the cursor.
    pub(crate) fn replace_from(&mut self, start: usize, text: &str) {
        self.text.replace_range(start..self.cursor, text);
        self.cursor = start + text.len();
    }

    /// Applies a key. Returns false for a key that has no meaning here.
    pub(crate) fn key(&mut self, key: Key) -> bool {
        match key {
            Key::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            Key::Backspace => {
                let before = self.before();
                self.text.replace_range(before..self.cursor, "");
                self.cursor = before;
            }
            Key::Delete => self.text.replace_range(self.cursor..self.after(), ""),
            Key::Left => self.cursor = self.before(),
            Key::Right => self.cursor = self.after(),
            Key::Home | Key::Ctrl('a') => self.cursor = 0,
            Key::End | Key::Ctrl('e') => self.cursor = self.text.len(),
            Key::Ctrl('u') => self.replace_from(0, ""),
            Key::Ctrl('k') => self.text.truncate(self.cursor),
            Key::Ctrl('w') => {
                let kept = self.before_cursor().trim_end();
                let start = kept.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.replace_from(start, "");
            }
            Key::Up => return self.older(),
            Key::Down => return self.newer(),
            _ => return false,
        }
        true
    }

    fn before(&self) -> usize {
        self.before_cursor().char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        self.text[self.cursor..].chars().next().map_or(self.cursor, |c| self.cursor + c.len_utf8())
    }

    fn older(&mut self) -> bool {
        let at = self.shown.unwrap_or(self.history.len());
        let Some(older) = at.checked_sub(1) else { return false };
        if self.shown.is_none() {
            self.draft = std::mem::take(&mut self.text);
        }
        self.shown = Some(older);
        self.set(self.history[older].clone());
        true
    }

    fn newer(&mut self) -> bool {
        let Some(at) = self.shown else { return false };
        match self.history.get(at + 1).cloned() {
            Some(newer) => {
                self.shown = Some(at + 1);
                self.set(newer);
            }
            None => {
                self.shown = None;
                let draft = std::mem::take(&mut self.draft);
                self.set(draft);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[Key]) -> Prompt {
        let mut prompt = Prompt::default();
        prompt.insert("größe @e3");
        for key in keys {
            prompt.key(*key);
        }
        prompt
    }

    #[test]
    fn keys_edit_by_characters_and_words() {
        for (keys, text) in [
            (&[Key::Backspace][..], "größe @e"),
            (&[Key::Home, Key::Delete, Key::Delete, Key::Delete], "ße @e3"),
            (&[Key::Ctrl('w')], "größe "),
            (&[Key::Ctrl('w'), Key::Ctrl('w')], ""),
            (&[Key::Left, Key::Left, Key::Left, Key::Ctrl('k')], "größe "),
            (&[Key::Left, Key::Ctrl('u')], "3"),
            (&[Key::Home, Key::Right, Key::Char('x')], "gxröße @e3"),
        ] {
            assert_eq!(typed(keys).text(), text, "{keys:?}");
        }
    }

    #[test]
    fn history_keeps_the_draft() {
        let mut prompt = Prompt::new(vec!["first".into()]);
        prompt.insert("second");
        assert_eq!(prompt.take(), "second");
        prompt.insert("draft");
        assert!(prompt.key(Key::Up) && prompt.text() == "second");
        assert!(prompt.key(Key::Up) && prompt.text() == "first");
        assert!(!prompt.key(Key::Up));
        assert!(prompt.key(Key::Down) && prompt.key(Key::Down) && prompt.text() == "draft");
        assert!(!prompt.key(Key::Down));
    }

    #[test]
    fn a_history_that_was_longer_is_shortened() {
        let mut prompt = Prompt::new((0..MAX_HISTORY + 5).map(|n| n.to_string()).collect());
        prompt.insert("last");
        prompt.take();
        assert_eq!(prompt.history.len(), MAX_HISTORY);
        assert_eq!((prompt.history[0].as_str(), prompt.history[MAX_HISTORY - 1].as_str()), ("6", "last"));
    }

    #[test]
    fn pasted_lines_stay_one_line() {
        let mut prompt = Prompt::default();
        prompt.insert("press @e1\nclose\u{1b}");
        assert_eq!(prompt.text(), "press @e1 close ");
    }
}
