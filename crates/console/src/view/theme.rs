//! Styles. Without colors, everything is distinguished by words and by bold, dim or reversed text.

use ratatui_core::style::{Color, Modifier, Style};

/// The appearance of the parts of the screen.
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

    /// Returns the style of the title line and the status line.
    pub(super) fn bar(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Returns the style of the selected line in the pane that receives the keys.
    pub(super) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Returns the style of completions and hints.
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
