//! Styles. Without colors, everything is told apart by words and by bold, dim or reversed text.

use ratatui_core::style::{Color, Modifier, Style};

/// How parts of the screen look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Theme {
    /// Whether colors are shown.
    pub(crate) colors: bool,
}

impl Theme {
    fn colored(self, color: Color) -> Style {
        if self.colors { Style::new().fg(color) } else { Style::new() }
    }

    pub(super) fn plain(self) -> Style {
        Style::new()
    }

    /// Title and status.
    pub(super) fn bar(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// The selected line of the pane that has the keys.
    pub(super) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Words that could be typed, and hints.
    pub(super) fn offer(self) -> Style {
        self.colored(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    pub(super) fn reference(self) -> Style {
        self.colored(Color::Cyan)
    }

    pub(super) fn who(self) -> Style {
        self.colored(Color::Blue)
    }

    pub(super) fn failure(self) -> Style {
        self.colored(Color::Red).add_modifier(Modifier::BOLD)
    }
}
