//! What an app is built with.

/// What an app is built with, as far as it makes a difference here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Toolkit {
    /// Says SHOWING of windows only, has no ENABLED, names things after their classes.
    Gtk4,
    /// GTK 3 and what else goes through its bridge: Java, VTE.
    Gtk3,
    /// Has an empty cache; dies of `Properties.GetAll` on its root.
    Qt,
    /// Firefox and its relatives.
    Gecko,
    /// Chromium, Electron.
    Chromium,
    /// LibreOffice.
    Office,
    /// AllowAll else.
    Other,
}

impl Toolkit {
    /// What `Application.ToolkitName` and `Application.Version` say (`gtk` 3.24, `GTK` 4.8, `Qt`, `Gecko`, `VCL`).
    pub(crate) fn of(name: &str, version: &str) -> Self {
        match name {
            "GTK" => Self::Gtk4,
            "gtk" if version.starts_with('4') => Self::Gtk4,
            "gtk" => Self::Gtk3,
            "Gecko" => Self::Gecko,
            "Chromium" => Self::Chromium,
            "VCL" => Self::Office,
            name if name.starts_with("Qt") => Self::Qt,
            _ => Self::Other,
        }
    }

    /// The end of a text, as the end of a range.
    pub(crate) fn text_end(self) -> i32 {
        // GTK 4.8 answers -1 with nothing; others read beyond their text when the end lies behind it.
        if self == Self::Gtk4 { i32::MAX } else { -1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toolkits_are_told_by_what_they_say_of_themselves() {
        assert_eq!(Toolkit::of("GTK", "4.8.3"), Toolkit::Gtk4);
        assert_eq!(Toolkit::of("gtk", "3.24.38"), Toolkit::Gtk3);
        assert_eq!(Toolkit::of("Qt", "5.15.8"), Toolkit::Qt);
        assert_eq!(Toolkit::of("VCL", ""), Toolkit::Office);
        assert_eq!(Toolkit::of("", ""), Toolkit::Other);
    }
}
