//! The whole state of the console, and the changes that each input makes.

use super::completion::{self, Completion};
use super::event::{FeedEvent, FeedPage, TurnView};
use super::key::Key;
use super::log::Log;
use super::outcome::Outcome;
use super::prompt::Prompt;
use super::tree::Tree;
use stickpin_client::ClientCommands;

/// The part of the screen that receives the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Focus {
    /// The prompt; PageUp and PageDown scroll the log.
    #[default]
    Prompt,
    /// The tree.
    Tree,
    /// The search in the tree, while its text is being typed.
    Search,
}

/// The known state of the session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// The state is not known yet.
    #[default]
    Connecting,
    /// The session is open.
    Live,
    /// There is no session with that name yet.
    Absent,
    /// The session is closed.
    Ended,
    /// The session cannot be read, for example because the daemon has ended. The value is the
    /// reason.
    Lost(String),
}

/// An event that the console reacts to.
#[derive(Debug)]
pub(crate) enum Input {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted from the clipboard.
    Paste(String),
    /// The size of the screen changed: columns and rows.
    Resize(u16, u16),
    /// The log has new entries.
    Feed(FeedPage),
    /// The log cannot be read at the moment, and the session is in this phase.
    FeedEnded(Phase),
    /// The header and the outline of the app, or the reason why there is no outline.
    Tree(Result<(String, String), String>),
    /// The state of the turn.
    Turn(TurnView),
    /// The commands of a typed line have ended.
    Done(Outcome),
}

/// A request to the code that connects the model with the terminal and the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Run a line.
    Run(String),
    /// Cancel the running line.
    Cancel,
    /// Read the tree again.
    ReadTree,
    /// Query the turn.
    ReadTurn,
    /// Read the log again.
    Follow,
    /// Leave the console.
    Quit,
}

/// The state of the console.
#[derive(Debug, Clone, Default)]
pub(crate) struct App {
    /// The name of the session.
    pub(crate) session: String,
    /// The known state of the session.
    pub(crate) phase: Phase,
    /// The state of the turn.
    pub(crate) turn: TurnView,
    /// The outline of the app.
    pub(crate) tree: Tree,
    /// The reason why there is no outline.
    pub(crate) tree_error: Option<String>,
    /// The calls and messages.
    pub(crate) log: Log,
    /// The line that is being typed.
    pub(crate) prompt: Prompt,
    /// The text of a search.
    pub(crate) search: String,
    /// The part of the screen that receives the keys.
    pub(crate) focus: Focus,
    /// Whether a typed line is running.
    pub(crate) running: bool,
    /// The matching words, after Tab was pressed.
    pub(crate) completion: Completion,
    /// A short message, shown until the next key press.
    pub(crate) hint: Option<String>,
    /// The columns and rows of the screen.
    pub(crate) size: (u16, u16),
    client_commands: ClientCommands,
}

/// The minimum width, in columns, at which the tree and the log are shown side by side.
pub(crate) const WIDE: u16 = 60;

impl App {
    /// Creates the state of a console that has just started.
    pub(crate) fn new(
        session: String,
        history: Vec<String>,
        client_commands: ClientCommands,
        size: (u16, u16),
    ) -> Self {
        Self { session, prompt: Prompt::new(history), client_commands, size, ..Self::default() }
    }

    /// Returns the records of a page that are news for the person: what others address to the
    /// person, and their messages to everybody. The first page after the start, or after a period
    /// in which the log could not be read, contains no news.
    pub(crate) fn news_for_me(&self, page: &FeedPage) -> Vec<u64> {
        if self.phase != Phase::Live {
            return Vec::new();
        }
        let me = self.turn.me().map(|me| me.agent_id.as_str());
        let is_news = |event: &&FeedEvent| {
            let (from, to) = (event.from.as_deref(), event.to.as_deref());
            from != me
                && (to.is_some() && to == me || event.kind == "message" && to.is_none_or(|to| to == "room"))
        };
        page.events.iter().filter(is_news).map(|event| event.seq).collect()
    }

    /// Applies an input. Returns the requests that result from it.
    pub(crate) fn update(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Key(key) => return self.key(key),
            Input::Feed(page) => return self.feed(page),
            Input::Done(outcome) => return self.done(outcome),
            Input::Paste(text) => match self.focus {
                Focus::Search => self.search.extend(text.chars().filter(|c| !c.is_control())),
                Focus::Prompt | Focus::Tree => {
                    self.focus = Focus::Prompt;
                    self.prompt.insert(&text);
                }
            },
            Input::Resize(columns, rows) => self.size = (columns, rows),
            Input::FeedEnded(phase) => self.phase = phase,
            Input::Tree(Ok((header, outline))) => {
                self.tree.replace(&header, &outline);
                self.tree_error = None;
            }
            Input::Tree(Err(why)) => self.tree_error = Some(stickpin_tree::escape(&why, usize::MAX)),
            Input::Turn(turn) => self.turn = turn,
        }
        Vec::new()
    }

    fn feed(&mut self, page: FeedPage) -> Vec<Effect> {
        self.phase = if page.closed { Phase::Ended } else { Phase::Live };
        let (mut tree, mut turn) = (false, false);
        for event in &page.events {
            match event.kind.as_str() {
                // The console's own reads of the tree are not in the log, so that one read does not
                // cause the next.
                "command_end" => tree = true,
                "command_begin" | "context" | "context_cleared" => {}
                _ => turn = true,
            }
            self.log.add(event);
        }
        let tree = (tree && !page.closed).then_some(Effect::ReadTree);
        // A command may have taken an idle turn.
        let turn = (turn || tree.is_some()).then_some(Effect::ReadTurn);
        tree.into_iter().chain(turn).collect()
    }

    fn done(&mut self, outcome: Outcome) -> Vec<Effect> {
        self.running = false;
        self.log.answer(&outcome.printed.out);
        self.log.error(&outcome.printed.err);
        if outcome.quit {
            return vec![Effect::Quit];
        }
        match &self.phase {
            _ if !outcome.ran => Vec::new(),
            Phase::Live => vec![Effect::ReadTurn],
            // The command may have opened the session, or started the daemon.
            Phase::Connecting | Phase::Absent | Phase::Ended | Phase::Lost(_) => {
                vec![Effect::Follow, Effect::ReadTree, Effect::ReadTurn]
            }
        }
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        self.hint = None;
        if key != Key::Tab {
            self.completion = Completion::default();
        }
        match (key, self.focus) {
            (Key::Ctrl('c'), _) if self.running => return vec![Effect::Cancel],
            (Key::Ctrl('c'), _) => {
                self.focus = Focus::Prompt;
                self.prompt.clear();
            }
            (Key::Ctrl('d'), _) if self.prompt.text().is_empty() => return vec![Effect::Quit],
            (Key::Ctrl('t') | Key::BackTab, Focus::Prompt) => self.focus = Focus::Tree,
            (Key::Ctrl('t') | Key::BackTab, _) => self.focus = Focus::Prompt,
            (Key::Ctrl('l'), _) => return vec![Effect::ReadTree, Effect::ReadTurn],
            (key, Focus::Prompt) => return self.key_in_prompt(key),
            (key, Focus::Tree) => self.key_in_tree(key),
            (key, Focus::Search) => self.key_in_search(key),
        }
        Vec::new()
    }

    fn key_in_prompt(&mut self, key: Key) -> Vec<Effect> {
        let page = isize::try_from(self.size.1 / 2).unwrap_or(isize::MAX).max(1);
        match key {
            Key::Enter if self.running => {
                self.hint = Some("a command is running; Ctrl-C cancels it".to_owned());
            }
            Key::Enter => {
                let line = self.prompt.take();
                if line.trim().is_empty() {
                    return Vec::new();
                }
                self.log.add_typed(&line);
                self.running = true;
                return vec![Effect::Run(line)];
            }
            Key::Tab => self.complete(),
            Key::PageUp => self.log.scroll(-page),
            Key::PageDown => self.log.scroll(page),
            Key::Escape => self.log.follow_newest(),
            key => {
                self.prompt.key(key);
            }
        }
        Vec::new()
    }

    fn complete(&mut self) {
        let found =
            completion::complete(self.prompt.before_cursor(), self.client_commands, &mut self.tree.targets());
        match found.candidates.as_slice() {
            [] => self.hint = Some("no completion".to_owned()),
            [one] => {
                let word = format!("{one} ");
                self.prompt.replace_from(found.start, &word);
                self.completion = Completion::default();
                return;
            }
            _ => {
                let common = found.common().to_owned();
                if common.len() > self.prompt.before_cursor().len() - found.start {
                    self.prompt.replace_from(found.start, &common);
                }
            }
        }
        self.completion = found;
    }

    fn key_in_tree(&mut self, key: Key) {
        let page = isize::try_from(self.size.1.saturating_sub(4)).unwrap_or(isize::MAX).max(1);
        match key {
            Key::Up | Key::Char('k') => self.tree.select(-1),
            Key::Down | Key::Char('j') => self.tree.select(1),
            Key::PageUp => self.tree.select(-page),
            Key::PageDown => self.tree.select(page),
            Key::Home => self.tree.select(isize::MIN),
            Key::End => self.tree.select(isize::MAX),
            Key::Left | Key::Char('h') => self.tree.fold(),
            Key::Right | Key::Char('l') => self.tree.unfold(),
            Key::Char('/') => {
                self.search.clear();
                self.focus = Focus::Search;
            }
            Key::Char(c @ ('n' | 'N')) => {
                let found = self.tree.search_on(c == 'n');
                self.note_search(found);
            }
            Key::Enter => {
                if let Some(target) = self.tree.target() {
                    let gap = self.prompt.before_cursor().ends_with(|c: char| !c.is_whitespace());
                    let gap = if gap { " " } else { "" };
                    self.prompt.insert(&format!("{gap}{} ", super::line::quote_word(&target)));
                    self.focus = Focus::Prompt;
                }
            }
            Key::Escape | Key::Tab => self.focus = Focus::Prompt,
            _ => {}
        }
    }

    fn key_in_search(&mut self, key: Key) {
        match key {
            Key::Char(c) => self.search.push(c),
            Key::Backspace => {
                self.search.pop();
            }
            Key::Enter => {
                let found = self.tree.search(&self.search.clone());
                self.note_search(found);
                self.focus = Focus::Tree;
            }
            Key::Escape => self.focus = Focus::Tree,
            _ => {}
        }
    }

    fn note_search(&mut self, found: bool) {
        if !found {
            let query = stickpin_tree::quote(&self.search);
            self.hint = Some(format!("nothing in the tree contains {query}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::outcome::Printed;
    use serde_json::json;

    fn app() -> App {
        let mut app = App::new("shop".into(), Vec::new(), &[], (80, 24));
        app.update(Input::Tree(Ok(("page".into(), "main\n  @e1 button \"Buy\"\n  link \"Home\"\n".into()))));
        app
    }

    fn press(app: &mut App, keys: &[Key]) -> Vec<Effect> {
        keys.iter().flat_map(|&key| app.update(Input::Key(key))).collect()
    }

    fn page(kind: &str, closed: bool) -> Input {
        let event = json!({"seq": 3, "ts": "2026-01-31T09:08:07.006Z", "type": kind, "from": null, "to": null,
            "payload": {"cmdId": 2, "outcome": "ok", "durationMs": 1}});
        Input::Feed(
            serde_json::from_value(json!({"events": [event], "cursorSeq": 3, "closed": closed}))
                .expect("a page"),
        )
    }

    #[test]
    fn line_runs_once_and_another_waits_for_its_end() {
        let mut app = app();
        app.update(Input::Paste("press @e1".into()));
        assert_eq!(press(&mut app, &[Key::Enter]), [Effect::Run("press @e1".into())]);
        app.update(Input::Paste("close".into()));
        assert_eq!(press(&mut app, &[Key::Enter]), []);
        assert!(app.hint.is_some() && app.prompt.text() == "close");
        assert_eq!(press(&mut app, &[Key::Ctrl('c')]), [Effect::Cancel]);
        let printed = Printed { out: "pressed\n".into(), err: String::new() };
        app.phase = Phase::Live;
        let done = Outcome { printed, ran: true, ..Outcome::default() };
        assert_eq!(app.update(Input::Done(done)), [Effect::ReadTurn]);
        assert_eq!(press(&mut app, &[Key::Enter]), [Effect::Run("close".into())]);
    }

    #[test]
    fn commands_of_others_renew_the_tree_until_the_session_ends() {
        let mut app = app();
        assert_eq!(app.update(page("command_begin", false)), []);
        assert_eq!(app.phase, Phase::Live);
        assert_eq!(app.update(page("command_end", false)), [Effect::ReadTree, Effect::ReadTurn]);
        assert_eq!(app.update(page("turn_claimed", false)), [Effect::ReadTurn]);
        assert_eq!(app.update(page("context", false)), []);
        assert_eq!(app.update(page("turn_closed", true)), [Effect::ReadTurn]);
        assert_eq!(app.phase, Phase::Ended);
        // The next command may open the session again.
        let done = app.update(Input::Done(Outcome { ran: true, ..Outcome::default() }));
        assert_eq!(done[0], Effect::Follow);
    }

    #[test]
    fn selected_element_goes_into_the_prompt() {
        let mut app = app();
        app.update(Input::Paste("press".into()));
        press(
            &mut app,
            &[Key::BackTab, Key::Char('/'), Key::Char('B'), Key::Char('u'), Key::Enter, Key::Enter],
        );
        assert_eq!((app.prompt.text(), app.focus), ("press @e1 ", Focus::Prompt));
        press(&mut app, &[Key::Ctrl('t'), Key::Down, Key::Enter]);
        assert_eq!(app.prompt.text(), "press @e1 'role=link \"Home\"' ");
        press(&mut app, &[Key::Ctrl('t'), Key::Char('/'), Key::Char('q'), Key::Enter]);
        assert_eq!(app.hint.as_deref(), Some("nothing in the tree contains \"q\""));
    }

    #[test]
    fn tab_completes_or_lists() {
        let mut app = app();
        app.update(Input::Paste("pres".into()));
        press(&mut app, &[Key::Tab]);
        assert_eq!(app.prompt.text(), "press ");
        press(&mut app, &[Key::Tab]);
        assert!(app.completion.candidates.contains(&"@e1".to_owned()), "{:?}", app.completion);
        press(&mut app, &[Key::Char('@')]);
        assert!(app.completion.candidates.is_empty());
        press(&mut app, &[Key::Tab]);
        assert_eq!(app.prompt.text(), "press @e1 ");
    }

    #[test]
    fn end_of_input_leaves_only_an_empty_prompt() {
        let mut app = app();
        app.update(Input::Paste("press".into()));
        assert_eq!(press(&mut app, &[Key::Ctrl('d')]), []);
        assert_eq!(press(&mut app, &[Key::Ctrl('c'), Key::Ctrl('d')]), [Effect::Quit]);
    }
}
