//! The provider's configuration, and access to buses.

use crate::bus::{AccessibilityBus, Addresses, BusError, Listener};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use stickpin_device::{Error, OpenRequest, Result, Viewport};
use stickpin_x11desk::PrivateDisplay;
use tokio::time::Instant;

/// Timeout for the registry of a desktop to list the running apps.
pub(crate) const RUNNING: Duration = Duration::from_secs(10);

/// How long an app must be quiet to count as opened.
pub(crate) const QUIET: Duration = Duration::from_millis(150);

/// The prefix of addresses.
pub(super) const PREFIX: &str = "linux:";

/// The environment of the desktop. This crate itself reads no environment variables.
#[derive(Debug, Clone, Default)]
pub struct LinuxConfig {
    /// The value of `DBUS_SESSION_BUS_ADDRESS`.
    pub session_bus: Option<String>,
    /// The value of `AT_SPI_BUS_ADDRESS`.
    pub accessibility_bus: Option<String>,
    /// The value of `DISPLAY`.
    pub display: Option<String>,
    /// The value of `WAYLAND_DISPLAY`.
    pub wayland: Option<String>,
    /// The value of `NO_AT_BRIDGE`.
    pub no_at_bridge: Option<String>,
    /// The value of `GTK_A11Y`.
    pub gtk_a11y: Option<String>,
    /// The value of `QT_ACCESSIBILITY`.
    pub qt_accessibility: Option<String>,
    /// The value of `PATH`.
    pub path: Option<OsString>,
    /// The home folder of this process.
    pub home: Option<PathBuf>,
    /// The folders of `XDG_DATA_HOME` and `XDG_DATA_DIRS`, in order of precedence.
    pub data: Vec<PathBuf>,
}

/// The provider of Linux apps.
#[derive(Debug, Clone, Default)]
pub struct LinuxProvider {
    pub(crate) config: LinuxConfig,
}

/// The options of `open` on the desktop.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LinuxOptions {
    /// Attach to a running app instead of starting one; `close` leaves it running.
    pub(crate) attach: bool,
    /// Run the app on a private display. Default when no display is available.
    pub(crate) private: bool,
    /// Start the app in a fresh home folder, which `close` removes.
    pub(crate) private_home: bool,
    /// The size of the app's window, or of a private display.
    pub(crate) viewport: Option<Viewport>,
    /// The app's home folder, which `close` keeps.
    #[schemars(extend("x-path" = "written"))]
    pub(crate) profile: Option<PathBuf>,
}

/// A request to open an app of the desktop.
pub(crate) type Request = OpenRequest<LinuxOptions>;

impl LinuxProvider {
    /// Creates a provider for the desktop that `config` describes.
    #[must_use]
    pub fn new(config: LinuxConfig) -> Self {
        Self { config }
    }
}

impl LinuxConfig {
    /// Returns the bus addresses of a private display; without one, those of the desktop.
    pub(crate) fn addresses(&self, private: Option<&PrivateDisplay>) -> Addresses {
        if let Some(private) = private {
            return Addresses { session: Some(private.bus.clone()), ..Addresses::default() };
        }
        let (accessibility, session) = (self.accessibility_bus.clone(), self.session_bus.clone());
        Addresses { accessibility, session, display: self.display.clone() }
    }

    /// Connects to the accessibility bus of a private display or, without one, of the desktop. Its
    /// signals go to `listener`.
    pub(crate) async fn bus(
        &self,
        private: Option<&PrivateDisplay>,
        listener: Listener,
        until: Instant,
    ) -> Result<AccessibilityBus> {
        AccessibilityBus::connect(&self.addresses(private), listener, until).await.map_err(|e| {
            Error::tool_missing(format!("cannot connect to the accessibility bus: {e}"))
                .hint("run `stickpin doctor` to see what is missing; run `apt install at-spi2-core` to install the bus, and start stickpin in a desktop session or open the app with `--private`")
        })
    }
}

/// Returns the name in `linux:NAME`.
pub(super) fn app_name(what: &str) -> &str {
    what.strip_prefix(PREFIX).unwrap_or(what).trim()
}

pub(crate) fn no_registry(fault: BusError) -> Error {
    Error::backend_lost(format!("the accessibility registry does not respond: {fault}"))
        .hint("run `stickpin doctor` to check the accessibility bus")
}
