//! The environment of apps on a private display.

use std::ffi::OsString;
use std::path::Path;
use tokio::process::Command;

/// The variable whose value marks the processes of this session.
pub(super) const MARK: &str = "XDG_RUNTIME_DIR";

/// The variables that are set or removed, one per line.
const VARIABLES: &str = include_str!("environment.txt");

/// Removes variables that lead outside the private display or turn accessibility off.
pub(super) fn clear(command: &mut Command) {
    for name in VARIABLES.lines().filter_map(|line| line.strip_prefix('-')) {
        command.env_remove(name);
    }
}

/// Returns all variables to set, except those of the home folder and `DISPLAY`, which is not known
/// yet.
pub(super) fn of_apps(runtime: &Path, bus: &str) -> Vec<(OsString, OsString)> {
    let set = VARIABLES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    let own = [
        (MARK.into(), runtime.into()),
        ("XAUTHORITY".into(), runtime.join("xauthority").into()),
        ("DBUS_SESSION_BUS_ADDRESS".into(), bus.into()),
    ];
    set.map(|(name, value)| (name.into(), value.into())).chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_both_set_and_cleared_or_set_twice() {
        let mut names: Vec<_> = of_apps(Path::new("/r"), "unix:path=/r/bus");
        names.retain(|(name, _)| !name.is_empty());
        let mut seen = std::collections::BTreeSet::new();
        for (name, _) in &names {
            assert!(seen.insert(name.clone()), "{name:?} twice");
            assert!(
                !VARIABLES.lines().any(|line| line.strip_prefix('-').is_some_and(|c| *name == *c)),
                "{name:?}"
            );
        }
        assert!(seen.contains(&OsString::from("DBUS_SESSION_BUS_ADDRESS")));
    }
}
