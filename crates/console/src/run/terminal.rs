//! The terminal of the screen: its modes and its input.

use crate::model::app::Input;
use crate::model::key::Key;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use std::io::{self, Stdout};
use stickpin_kernel::{Error, Result};
use tokio::sync::mpsc;

/// A terminal that shows the console, and is restored on drop.
pub(super) struct Screen {
    pub(super) terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// Returns `IO` when there is no terminal or it cannot be set up.
    pub(super) fn open() -> Result<Self> {
        enable_raw_mode().map_err(|e| terminal_error("use the terminal", &e))?;
        let opened = execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match opened {
            Ok(terminal) => Ok(Self { terminal }),
            Err(e) => {
                restore();
                Err(terminal_error("use the terminal", &e))
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal. Errors are ignored: a terminal that is gone need not be restored.
fn restore() {
    let _ = execute!(
        io::stdout(),
        DisableBracketedPaste,
        LeaveAlternateScreen,
        ratatui_crossterm::crossterm::cursor::Show
    );
    let _ = disable_raw_mode();
}

pub(super) fn terminal_error(what: &str, e: &io::Error) -> Error {
    Error::io(format!("cannot {what}: {e}")).hint("run `stickpin console --plain`, which needs no terminal")
}

/// Reads the input, on a thread that ends with the process, when nobody is listening, or after an
/// error.
pub(super) fn read_events() -> mpsc::UnboundedReceiver<io::Result<Input>> {
    let (tell, heard) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        loop {
            let input = match event::read() {
                Ok(event) => input(event).map(Ok),
                Err(e) => Some(Err(e)),
            };
            let Some(input) = input else { continue };
            let last = input.is_err();
            if tell.send(input).is_err() || last {
                return;
            }
        }
    });
    heard
}

fn input(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => of_key(key).map(Input::Key),
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Resize(columns, rows) => Some(Input::Resize(columns, rows)),
        _ => None,
    }
}

fn of_key(key: KeyEvent) -> Option<Key> {
    Some(match key.code {
        KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::CONTROL) => {
            Key::Ctrl(c.to_ascii_lowercase())
        }
        KeyCode::Char(_) if key.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_terminal_are_keys_of_the_console() {
        let key = |code, modifiers| of_key(KeyEvent::new(code, modifiers));
        assert_eq!(key(KeyCode::Char('C'), KeyModifiers::CONTROL), Some(Key::Ctrl('c')));
        assert_eq!(key(KeyCode::Char('Ä'), KeyModifiers::SHIFT), Some(Key::Char('Ä')));
        assert_eq!(key(KeyCode::Char('x'), KeyModifiers::ALT), None);
        assert_eq!(key(KeyCode::BackTab, KeyModifiers::SHIFT), Some(Key::BackTab));
        assert!(matches!(input(Event::Resize(20, 10)), Some(Input::Resize(20, 10))));
        assert!(input(Event::FocusLost).is_none());
    }
}
