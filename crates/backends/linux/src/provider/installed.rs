//! The program behind `linux:NAME`: a desktop id (Desktop Entry Specification 1.5), a program, or a
//! command line.

use crate::provider::config::LinuxConfig;
use std::path::{Path, PathBuf};
use stickpin_device::{Error, Result};
use stickpin_process::DesktopEntry;
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
/// Returns `DEVICE_NOT_FOUND` when nothing has that name, or `INVALID_ARGS` for an empty name or an
/// unclosed quote.
pub(crate) fn find(name: &str, config: &LinuxConfig, cwd: &Path) -> Result<Launch> {
    let open = || Error::invalid_args(format!("{} has an unclosed quote", quote(name)));
    let words = shlex::split(name).ok_or_else(open)?;
    let Some((first, rest)) = words.split_first() else {
        return Err(Error::invalid_args("`linux:` must be followed by the name of an app or a command")
            .hint(
                "run, for example, `stickpin open linux:gedit`, or `stickpin devices` to list the running apps",
            ));
    };
    if rest.is_empty()
        && let Some(app) = DesktopEntry::find(first, &config.data)
    {
        return Ok(Launch { program: app.program, arguments: app.arguments });
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
        .hint("use a desktop id (`linux:org.gnome.Calculator`), a program on `PATH`, or a path; run `stickpin devices` to list the running apps"))
}

/// Returns whether a name can only mean an installed app. Terminals count as programs, because they
/// run whatever is typed into them.
pub(crate) fn is_installed(name: &str, data: &[PathBuf]) -> bool {
    let words = shlex::split(name).unwrap_or_default();
    let [id] = &*words else { return false };
    DesktopEntry::find(id, data).is_some_and(|app| !app.is_terminal())
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
        assert_eq!(Vec::from_iter(DesktopEntry::ids(&data)), ["org-Tool", "term"]);
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
