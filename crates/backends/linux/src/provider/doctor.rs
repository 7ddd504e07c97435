//! Checks whether the desktop device has everything that it needs, and names the commands that fix
//! problems.

use crate::bus::AccessibilityBus;
use crate::provider::config::{LinuxConfig, RUNNING};
use stickpin_device::Check;
use tokio::time::Instant;

/// Runs all checks of the desktop device.
pub(crate) async fn checks(config: &LinuxConfig) -> Vec<Check> {
    let private = stickpin_x11desk::missing_tools(config.path.as_deref());
    let mut checks = vec![display(config, private.is_empty()), tools(&private)];
    // Without a desktop, every app gets a private display with its own bus.
    if config.display.is_some() || config.wayland.is_some() {
        checks.push(bus(config).await);
        let on = AccessibilityBus::is_on(&config.addresses(None), Instant::now() + RUNNING).await;
        checks.push(toolkits(config, on));
    }
    checks
}

fn check(name: &str, ok: bool, found: impl Into<String>, fix: &str) -> Check {
    let fix = if ok { "" } else { fix };
    Check::new(format!("linux {name}"), ok, found, fix)
}

/// Checks the display.
fn display(config: &LinuxConfig, private: bool) -> Check {
    let found = match (&config.display, &config.wayland) {
        // XWayland counts as X11 for apps that use it.
        (Some(display), Some(_)) => format!("Wayland, and X11 on {display} for pointer and keys"),
        (Some(display), None) => format!("X11 on {display}"),
        (None, Some(_)) => {
            "Wayland without X11: apps are driven through their accessibility actions; pointer and keys need `--private`".into()
        }
        (None, None) => "none: every app needs a private one".into(),
    };
    let ok = private || config.display.is_some() || config.wayland.is_some();
    check("display", ok, found, "apt install xvfb openbox dbus at-spi2-core")
}

/// Checks the programs for private displays.
fn tools(missing: &[(&'static str, &'static str)]) -> Check {
    let (programs, packages): (Vec<&str>, Vec<&str>) = missing.iter().copied().unzip();
    let found = match missing {
        [] => "Xvfb, dbus-daemon and openbox are installed".to_owned(),
        _ => format!("{} missing: `--private` cannot be used", programs.join(", ")),
    };
    let fix = format!("apt install {} at-spi2-core", packages.join(" "));
    check("private displays", missing.is_empty(), found, &fix)
}

/// Checks whether toolkits have accessibility switched off. `on` states whether an assistive
/// technology is announced to apps.
fn toolkits(config: &LinuxConfig, on: Option<bool>) -> Check {
    let all = [
        ("NO_AT_BRIDGE", "GTK 3", config.no_at_bridge.as_deref().is_some_and(|value| value != "0")),
        ("GTK_A11Y", "GTK 4", config.gtk_a11y.as_deref() == Some("none")),
        ("QT_ACCESSIBILITY", "Qt", config.qt_accessibility.as_deref() == Some("0")),
    ];
    let off = all.into_iter().filter_map(|(variable, toolkit, off)| off.then_some((variable, toolkit)));
    let (variables, toolkits): (Vec<&str>, Vec<&str>) = off.unzip();
    let name = "accessibility of apps";
    if !variables.is_empty() {
        let (variables, toolkits) = (variables.join(" "), toolkits.join(" and "));
        let found = format!("switched off by {variables}: {toolkits} apps cannot be opened here");
        let fix = format!("unset {variables} and restart the apps, or open them with `--private`");
        return check(name, false, found, &fix);
    }
    let found = match on {
        Some(false) => {
            "on for apps that stickpin starts; Qt apps and browsers that are already running may be \
             unreadable: run `gsettings set org.gnome.desktop.interface toolkit-accessibility true`, then \
             restart them"
        }
        Some(true) => {
            "on; Qt apps and browsers that were started earlier may be unreadable until they are restarted"
        }
        None => {
            "not switched off; the session bus does not report whether an assistive technology is running"
        }
    };
    check(name, true, found, "")
}

/// Checks the accessibility bus of the desktop and its apps.
async fn bus(config: &LinuxConfig) -> Check {
    let fix = "run `apt install at-spi2-core dbus`, then log in again";
    let until = Instant::now() + RUNNING;
    let running = match AccessibilityBus::connect(&config.addresses(None), Box::new(|_| {}), until).await {
        Ok(desktop) => {
            desktop.running(until).await.map_err(|e| format!("its registry does not respond: {e}"))
        }
        Err(e) => Err(format!("cannot connect: {e}")),
    };
    let found = running.as_ref().map(|running| {
        let mute = running.iter().filter(|app| app.windows.is_none()).count();
        match (running.len(), mute) {
            (1, 0) => "1 app is registered".to_owned(),
            (1, _) => "1 app is registered, but does not respond".to_owned(),
            (count, 0) => format!("{count} apps are registered"),
            (count, 1) => format!("{count} apps are registered, 1 of which does not respond"),
            (count, mute) => format!("{count} apps are registered, {mute} of which do not respond"),
        }
    });
    check("accessibility bus", found.is_ok(), found.unwrap_or_else(Clone::clone), fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_display_a_private_one_must_be_possible() {
        let none = LinuxConfig::default();
        assert!(display(&none, true).ok);
        let without = display(&none, false);
        assert!(!without.ok && without.fix.starts_with("apt install xvfb"), "{without:?}");
        let wayland = LinuxConfig { wayland: Some("wayland-0".into()), ..LinuxConfig::default() };
        assert!(display(&wayland, false).found.contains("--private"));
        let x = LinuxConfig { display: Some(":3".into()), ..LinuxConfig::default() };
        assert_eq!(display(&x, false).found, "X11 on :3");
    }

    #[test]
    fn what_is_missing_comes_with_the_command_that_installs_it() {
        let found = tools(&[("Xvfb", "xvfb"), ("openbox", "openbox")]);
        assert_eq!(found.found, "Xvfb, openbox missing: `--private` cannot be used");
        assert_eq!(found.fix, "apt install xvfb openbox at-spi2-core");
        assert!(tools(&[]).ok);
    }

    #[test]
    fn doctor_names_variables_that_disable_a_toolkit() {
        let text = |text: &str| Some(text.to_owned());
        let off =
            LinuxConfig { no_at_bridge: text("1"), qt_accessibility: text("0"), ..LinuxConfig::default() };
        let found = toolkits(&off, Some(true));
        assert!(
            !found.ok && found.found.contains("by NO_AT_BRIDGE QT_ACCESSIBILITY: GTK 3 and Qt apps"),
            "{found:?}"
        );
        assert!(found.fix.starts_with("unset NO_AT_BRIDGE QT_ACCESSIBILITY"), "{found:?}");
        let none = LinuxConfig { gtk_a11y: text("none"), ..LinuxConfig::default() };
        assert!(toolkits(&none, None).fix.contains("unset GTK_A11Y"));
        let on = LinuxConfig {
            no_at_bridge: text("0"),
            gtk_a11y: text("atspi"),
            qt_accessibility: text("1"),
            ..LinuxConfig::default()
        };
        let is_on = toolkits(&on, Some(true));
        assert!(is_on.ok && is_on.found.contains("were started earlier may be unreadable"), "{is_on:?}");
        let waits = toolkits(&on, Some(false));
        assert!(waits.ok && waits.found.contains("gsettings set"), "{waits:?}");
        let unknown = toolkits(&on, None);
        assert!(unknown.ok && unknown.found.contains("does not report"), "{unknown:?}");
    }

    #[tokio::test]
    async fn a_desktop_whose_bus_is_gone_is_said_to_have_none() {
        let config = LinuxConfig {
            display: Some(":987".into()),
            session_bus: Some("unix:path=/nonexistent/bus".into()),
            ..LinuxConfig::default()
        };
        let checks = checks(&config).await;
        let bus = checks.iter().find(|check| check.name == "linux accessibility bus").unwrap();
        assert!(!bus.ok && bus.found.contains("/nonexistent/bus"), "{bus:?}");
    }
}
