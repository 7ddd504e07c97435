//! The program behind `linux:NAME`: a desktop id (Desktop Entry Specification 1.5), a program, or a
//! command line.

use crate::provider::config::LinuxConfig;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use stickpin_device::{Error, Result};
use stickpin_tree::quote;

/// A command to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
}

/// Returns the command for `NAME`. Relative paths of programs are relative to `cwd`.
///
/// # Errors
/// Returns `DEVICE_NOT_FOUND` when nothing has that name, or `INVALID_ARGS` for an unclosed quote.
pub(crate) fn find(name: &str, config: &LinuxConfig, cwd: &Path) -> Result<Launch> {
    let open = || Error::invalid_args(format!("{} has an unclosed quote", quote(name)));
    let words = shlex::split(name).ok_or_else(open)?;
    let Some((first, rest)) = words.split_first() else {
        return Err(Error::invalid_args("linux: must be followed by the name of an app or a command").hint(
            "for example: `stickpin open linux:gedit`; run `stickpin devices` to list the running apps",
        ));
    };
    if rest.is_empty()
        && let Some((launch, _)) = by_desktop_id(first, &config.data)
    {
        return Ok(launch);
    }
    let here = first.contains('/').then_some(cwd);
    let path = config.path.iter().filter(|_| here.is_none()).flat_map(std::env::split_paths);
    let mut files = here.into_iter().map(Path::to_owned).chain(path).map(|dir| dir.join(first));
    if let Some(file) = files.find(|file| file.is_file()) {
        // The program may run in a folder other than the one in which it was looked up.
        let program = if here.is_some() { file.display().to_string() } else { first.clone() };
        return Ok(Launch { program, arguments: rest.to_vec() });
    }
    Err(Error::device_not_found(format!("no app or program is named {}", quote(first)))
        .hint("use its desktop id (org.gnome.Calculator), a program on PATH, or a path; run `stickpin devices` to list the running apps"))
}

/// Returns the command and the text of `NAME.desktop`. Only full ids count: `Calculator` does not
/// find `org.gnome.Calculator`.
fn by_desktop_id(id: &str, data: &[PathBuf]) -> Option<(Launch, String)> {
    if id.contains('/') {
        return None;
    }
    let file = format!("{}.desktop", id.strip_suffix(".desktop").unwrap_or(id));
    // Dashes in an id may stand for folders.
    let below = file.replace('-', "/");
    if below.split('/').any(|part| part == "..") {
        return None;
    }
    data.iter().find_map(|data| {
        let applications = data.join("applications");
        let text =
            [&file, &below].iter().find_map(|name| std::fs::read_to_string(applications.join(name)).ok())?;
        Some((exec(&text)?, text))
    })
}

/// Returns whether a name can only mean an installed app. Terminals count as programs, because they
/// run whatever is typed into them.
pub(crate) fn is_installed(name: &str, data: &[PathBuf]) -> bool {
    let words = shlex::split(name).unwrap_or_default();
    let [id] = &*words else { return false };
    by_desktop_id(id, data).is_some_and(|(_, text)| {
        let is_terminal =
            value(&text, "Categories").is_some_and(|all| all.split(';').any(|one| one == "TerminalEmulator"));
        !is_terminal && value(&text, "Terminal") != Some("true")
    })
}

/// Returns the ids of the desktop files that an application menu would show.
pub(crate) fn installed(data: &[PathBuf]) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for data in data {
        list(&data.join("applications"), "", &mut ids);
    }
    ids
}

/// Adds the ids in a folder of desktop files. A subfolder is a part of the id, followed by a dash.
fn list(folder: &Path, prefix: &str, ids: &mut BTreeSet<String>) {
    // A folder that is missing or unreadable contains no apps for this user.
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if let Some(id) = name.strip_suffix(".desktop") {
            let shown = std::fs::read_to_string(entry.path()).is_ok_and(|text| {
                let flag = |key| value(&text, key) == Some("true");
                exec(&text).is_some() && !flag("NoDisplay") && !flag("Hidden") && !flag("Terminal")
            });
            if shown {
                ids.insert(format!("{prefix}{id}"));
            }
        } else if prefix.matches('-').count() < 3 && entry.path().is_dir() {
            list(&entry.path(), &format!("{prefix}{name}-"), ids);
        }
    }
}

/// Returns the value of a key in the first section, which is the app's.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let section = text.split("\n[").next()?;
    section.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('=')).map(str::trim)
}

/// Returns the command of a desktop file without the placeholders for files (`%U`).
fn exec(text: &str) -> Option<Launch> {
    let mut words = shlex::split(value(text, "Exec")?)?.into_iter().filter_map(|word| match word.as_str() {
        code if code.len() == 2 && code.starts_with('%') && code != "%%" => None,
        word => Some(word.replace("%%", "%")),
    });
    Some(Launch { program: words.next()?, arguments: words.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_device::ErrorCode;

    #[test]
    fn a_command_line_is_split_as_a_shell_would() {
        let words = |line| shlex::split(line).unwrap();
        assert_eq!(words("zenity --forms --text='Fill in'"), ["zenity", "--forms", "--text=Fill in"]);
        assert_eq!(words(r#"a "b \" c" d\ e ''"#), ["a", "b \" c", "d e", ""]);
        assert!(words("  ").is_empty());
        assert_eq!(shlex::split("a 'b"), None);
    }

    #[test]
    fn a_desktop_file_says_its_command() {
        let text = "[Desktop Entry]\nName=Files\nExec=sh -c \"exec files %%x\" %U\n\n[Desktop Action new]\nExec=other\n";
        let launch = exec(text).unwrap();
        assert_eq!(launch.program, "sh");
        assert_eq!(launch.arguments, ["-c", "exec files %x"]);
        assert_eq!(exec("[Desktop Entry]\nName=x\n"), None);
        assert_eq!(exec("[Desktop Entry]\nName=x\n\n[Desktop Action y]\nExec=z\n"), None);
    }

    #[test]
    fn desktop_ids_win_over_programs_and_unknown_names_fail() {
        let dir = tempfile::tempdir().unwrap();
        let applications = dir.path().join("applications/org");
        std::fs::create_dir_all(&applications).unwrap();
        std::fs::write(dir.path().join("applications/sh.desktop"), "[Desktop Entry]\nExec=from-desktop %f\n")
            .unwrap();
        std::fs::write(applications.join("Tool.desktop"), "[Desktop Entry]\nExec=tool\n").unwrap();
        let config = LinuxConfig {
            data: vec![dir.path().to_owned()],
            path: Some("/usr/bin:/bin".into()),
            ..LinuxConfig::default()
        };
        let find = |name| find(name, &config, dir.path());
        assert_eq!(find("sh").unwrap().program, "from-desktop");
        assert_eq!(find("org-Tool").unwrap().program, "tool");
        assert_eq!(find("sh -c true").unwrap().arguments, ["-c", "true"]);
        std::fs::write(dir.path().join("outside.desktop"), "[Desktop Entry]\nExec=outside\n").unwrap();
        assert_eq!(find("..-outside").unwrap_err().code, ErrorCode::DeviceNotFound);
        assert_eq!(find("no-such-app").unwrap_err().code, ErrorCode::DeviceNotFound);
        assert_eq!(find("").unwrap_err().code, ErrorCode::InvalidArgs);
    }

    #[test]
    fn installed_app_is_a_desktop_entry_that_is_no_terminal() {
        let dir = tempfile::tempdir().unwrap();
        let applications = dir.path().join("applications");
        std::fs::create_dir_all(applications.join("org")).unwrap();
        for (file, text) in [
            ("org/Tool.desktop", "Exec=tool\n"),
            ("term.desktop", "Exec=xterm\nCategories=System;TerminalEmulator;\n"),
            ("top.desktop", "Exec=top\nTerminal=true\n"),
            ("hidden.desktop", "Exec=hidden\nNoDisplay=true\n"),
            ("dead.desktop", "Name=x\n"),
        ] {
            std::fs::write(applications.join(file), format!("[Desktop Entry]\n{text}")).unwrap();
        }
        let data = [dir.path().to_owned()];
        assert_eq!(Vec::from_iter(installed(&data)), ["org-Tool", "term"]);
        for (name, is) in [
            ("org-Tool", true),
            ("hidden", true),
            ("org-Tool --flag", false),
            ("term", false),
            ("top", false),
            ("dead", false),
            ("sh", false),
            ("/bin/sh", false),
            ("sh -c true", false),
            ("", false),
            ("'", false),
        ] {
            assert_eq!(is_installed(name, &data), is, "{name}");
        }
    }
}
