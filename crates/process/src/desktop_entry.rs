//! Installed apps: desktop files, which the Desktop Entry Specification 1.5 defines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The maximum number of subfolders that an id can name.
const MAX_FOLDERS: usize = 3;

/// The desktop file of an app that can be started.
#[derive(Debug)]
pub struct DesktopEntry {
    text: String,
    /// The program to start.
    pub program: String,
    /// The arguments, without placeholders such as `%U`.
    pub arguments: Vec<String>,
}

impl DesktopEntry {
    /// Finds `ID.desktop` in data folders such as those in `XDG_DATA_DIRS`. Only full ids count:
    /// `Calculator` does not find `org.gnome.Calculator`.
    #[must_use]
    pub fn find(id: &str, data: &[PathBuf]) -> Option<Self> {
        if id.contains('/') {
            return None;
        }
        let file = format!("{}.desktop", id.strip_suffix(".desktop").unwrap_or(id));
        // A dash in an id may represent a slash in the file's path.
        let below = file.replace('-', "/");
        if below.split('/').any(|part| part == "..") {
            return None;
        }
        let mut files =
            data.iter().flat_map(|data| [&file, &below].map(|f| data.join("applications").join(f)));
        files.find_map(|file| Self::read(&file))
    }

    fn read(file: &Path) -> Option<Self> {
        Self::parse(std::fs::read_to_string(file).ok()?)
    }

    fn parse(text: String) -> Option<Self> {
        let words = shlex::split(value(&text, "Exec")?)?;
        let is_placeholder = |word: &String| word.len() == 2 && word.starts_with('%') && word != "%%";
        let words = words.into_iter().filter(|word| !is_placeholder(word));
        let mut words = words.map(|word| word.replace("%%", "%"));
        Some(Self { program: words.next()?, arguments: words.collect(), text })
    }

    /// Returns whether the app is a terminal, or runs in one.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        let categories = value(&self.text, "Categories").unwrap_or_default();
        self.is("Terminal") || categories.split(';').any(|category| category == "TerminalEmulator")
    }

    /// Returns the ids of the desktop files that an application menu would show, except those of
    /// apps that run in a terminal.
    #[must_use]
    pub fn ids(data: &[PathBuf]) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        data.iter().for_each(|data| list(&data.join("applications"), "", &mut ids));
        ids
    }

    fn is(&self, flag: &str) -> bool {
        value(&self.text, flag) == Some("true")
    }
}

/// Adds the ids that [`DesktopEntry::ids`] returns for a folder and its subfolders. The name of a
/// subfolder becomes part of the id, followed by a dash.
fn list(folder: &Path, prefix: &str, ids: &mut BTreeSet<String>) {
    // A folder that is missing or unreadable holds no apps for this user.
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if let Some(id) = name.strip_suffix(".desktop") {
            let hidden = |app: &DesktopEntry| ["NoDisplay", "Hidden", "Terminal"].iter().any(|f| app.is(f));
            if DesktopEntry::read(&entry.path()).is_some_and(|app| !hidden(&app)) {
                ids.insert(format!("{prefix}{id}"));
            }
        } else if prefix.matches('-').count() < MAX_FOLDERS && entry.path().is_dir() {
            list(&entry.path(), &format!("{prefix}{name}-"), ids);
        }
    }
}

/// Returns the value of a key in the first section, which describes the app.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let section = text.split("\n[").next()?;
    section.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('=')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_desktop_file_says_its_command() {
        let command =
            |text: &str| DesktopEntry::parse(text.to_owned()).map(|app| (app.program, app.arguments));
        let text = "[Desktop Entry]\nName=Files\nExec=sh -c \"exec files %%x\" %U\n\n[Desktop Action new]\nExec=other\n";
        let (program, arguments) = command(text).unwrap();
        assert_eq!(program, "sh");
        assert_eq!(arguments, ["-c", "exec files %x"]);
        assert_eq!(command("[Desktop Entry]\nName=x\n"), None);
        assert_eq!(command("[Desktop Entry]\nName=x\n\n[Desktop Action y]\nExec=z\n"), None);
        assert_eq!(command("[Desktop Entry]\nExec=%U\n"), None);
    }
}
