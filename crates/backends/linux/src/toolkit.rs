//! Toolkits and their peculiarities. No other folder names a toolkit. Other folders query facts of
//! the [`Profile`], so that all differences are in one table (`tests/floors.rs`).

mod profile;

pub(crate) use profile::{Chooser, Popups, Profile};

/// The prefix of AccessKit's object paths: `/org/a11y/atspi/accessible/ADAPTER/NODE`, both numbers.
const ACCESSIBLE: &str = "/org/a11y/atspi/accessible/";

/// The toolkit of an app, as far as it makes a difference here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub(crate) enum Toolkit {
    Gtk4,
    /// GTK 3, and others that use its bridge: Java, VTE.
    Gtk3,
    /// Qt. It crashes on `Properties.GetAll` of its root.
    Qt,
    /// Firefox and its relatives.
    Gecko,
    /// Chromium and Electron.
    Chromium,
    /// LibreOffice.
    Office,
    /// AccessKit apps: egui, Slint, Bevy, Godot and others. Each reports a different toolkit name.
    AccessKit,
    /// Unknown toolkits, which are assumed to behave like most toolkits.
    #[default]
    Other,
}

impl Toolkit {
    /// Determines a toolkit by `Application.ToolkitName` and `Application.Version` (`gtk` 3.24,
    /// `GTK` 4.8, `Qt`, `Gecko`, `VCL`).
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

    /// Determines a toolkit by the path of a window, if its name is not conclusive.
    pub(crate) fn of_window(path: &str) -> Self {
        let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit()) && !part.is_empty();
        let numbers = path.strip_prefix(ACCESSIBLE).and_then(|rest| rest.split_once('/'));
        match numbers {
            Some((adapter, node)) if is_number(adapter) && is_number(node) => Self::AccessKit,
            _ => Self::Other,
        }
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

    #[test]
    fn access_kit_is_told_by_where_it_has_its_objects() {
        assert_eq!(Toolkit::of_window("/org/a11y/atspi/accessible/0/1"), Toolkit::AccessKit);
        for path in ["/org/a11y/atspi/accessible/17", "/org/a11y/atspi/accessible/root", "/org/x/0/1", "/0/"]
        {
            assert_eq!(Toolkit::of_window(path), Toolkit::Other, "{path}");
        }
    }
}
