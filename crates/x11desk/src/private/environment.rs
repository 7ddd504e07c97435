//! What apps on a private display get in their environment.

use std::ffi::OsString;
use std::path::Path;
use tokio::process::Command;

/// The variable whose value no other process on this machine has.
pub(super) const MARK: &str = "XDG_RUNTIME_DIR";

/// What would lead an app back to the person's own session, or switch off what we read it by.
const CLEARED: &[&str] = &[
    "AT_SPI_BUS_ADDRESS",
    "DBUS_SESSION_BUS_PID",
    "DBUS_SESSION_BUS_WINDOWID",
    "DBUS_STARTER_ADDRESS",
    "DBUS_STARTER_BUS_TYPE",
    "DESKTOP_STARTUP_ID",
    "GTK_A11Y",
    "GTK_IM_MODULE",
    "NO_AT_BRIDGE",
    "QT_IM_MODULE",
    "SESSION_MANAGER",
    "WAYLAND_DISPLAY",
    "WAYLAND_SOCKET",
    "XDG_ACTIVATION_TOKEN",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_ID",
    "XMODIFIERS",
];

/// Fixed entries: accessibility on in every toolkit, X11, no hardware, no services that nobody needs here.
const FIXED: &[(&str, &str)] = &[
    ("ACCESSIBILITY_ENABLED", "1"),
    ("GNOME_ACCESSIBILITY", "1"),
    ("QT_ACCESSIBILITY", "1"),
    ("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1"),
    // GTK 2 is read through these alone, where they are installed; GTK 3 has them built in, and leaves them out.
    ("GTK_MODULES", "gail:atk-bridge"),
    ("GDK_BACKEND", "x11"),
    ("QT_QPA_PLATFORM", "xcb"),
    ("MOZ_ENABLE_WAYLAND", "0"),
    ("SAL_USE_VCLPLUGIN", "gtk3"),
    ("XDG_SESSION_TYPE", "x11"),
    // Drawing without a graphics card is quicker without OpenGL.
    ("GSK_RENDERER", "cairo"),
    ("LIBGL_ALWAYS_SOFTWARE", "1"),
    // Dialogs are the toolkit's own: those of a portal belong to another process.
    ("GTK_USE_PORTAL", "0"),
    ("GDK_DEBUG", "no-portals"),
    ("GIO_USE_VFS", "local"),
    ("GIO_USE_VOLUME_MONITOR", "unix"),
    ("GSETTINGS_BACKEND", "keyfile"),
    // Names in other scripts stay what they are, whatever the locale of the daemon.
    ("LC_CTYPE", "C.UTF-8"),
];

/// Takes away what leads elsewhere.
pub(super) fn clear(command: &mut Command) {
    for name in CLEARED {
        command.env_remove(name);
    }
}

/// Everything but `DISPLAY`, which is known when there is one, and the home.
pub(super) fn of_apps(runtime: &Path, bus: &str) -> Vec<(OsString, OsString)> {
    let folders = [(MARK, runtime.to_owned()), ("XAUTHORITY", runtime.join("xauthority"))];
    let mut all: Vec<(OsString, OsString)> =
        folders.into_iter().map(|(name, path)| (name.into(), path.into())).collect();
    all.push(("DBUS_SESSION_BUS_ADDRESS".into(), bus.into()));
    all.extend(FIXED.iter().map(|&(name, value)| (name.into(), value.into())));
    all
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
            assert!(!CLEARED.iter().any(|c| *c == name), "{name:?}");
        }
        assert!(seen.contains(&OsString::from("DBUS_SESSION_BUS_ADDRESS")));
    }
}
