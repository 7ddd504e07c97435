//! The environment of apps on a private display.

use std::path::Path;
use tokio::process::Command;

/// The variable whose value marks the processes of this session.
pub(super) const MARK: &str = "XDG_RUNTIME_DIR";

/// The variables that are set or removed, one per line.
const VARIABLES: &str = include_str!("environment.txt");

/// Sets the variables of apps, except those of the home folder and `DISPLAY`. Removes variables
/// that lead outside the private display or turn accessibility off.
pub(super) fn apply(command: &mut Command, runtime: &Path, bus: &str) {
    for line in lines() {
        match line.split_once('=') {
            Some((name, value)) => command.env(name, value),
            None => command.env_remove(line.trim_start_matches('-')),
        };
    }
    command.env(MARK, runtime).env("XAUTHORITY", runtime.join("xauthority"));
    command.env("DBUS_SESSION_BUS_ADDRESS", bus);
}

/// Returns the lines of [`VARIABLES`] that are not comments.
fn lines() -> impl Iterator<Item = &'static str> {
    VARIABLES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_both_set_and_cleared_or_set_twice() {
        let mut command = Command::new("true");
        apply(&mut command, Path::new("/r"), "unix:path=/r/bus");
        // A variable that is named twice has one entry, and three are not in the file.
        assert_eq!(command.as_std().get_envs().count(), lines().count() + 3);
        let mut set = command.as_std().get_envs().filter(|(_, value)| value.is_some());
        assert!(set.any(|(name, _)| name == "DBUS_SESSION_BUS_ADDRESS"));
    }
}
