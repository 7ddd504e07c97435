//! Names of AT-SPI and D-Bus interfaces.

/// The interface that all AT-SPI objects have.
pub(crate) const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";

pub(crate) const ACTION: &str = "org.a11y.atspi.Action";

pub(crate) const APPLICATION: &str = "org.a11y.atspi.Application";

pub(crate) const CACHE: &str = "org.a11y.atspi.Cache";

pub(crate) const COMPONENT: &str = "org.a11y.atspi.Component";

pub(crate) const DOCUMENT: &str = "org.a11y.atspi.Document";

pub(crate) const EDITABLE: &str = "org.a11y.atspi.EditableText";

pub(crate) const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// The object that represents the app.
pub(crate) const ROOT: &str = "/org/a11y/atspi/accessible/root";

pub(crate) const SELECTION: &str = "org.a11y.atspi.Selection";

pub(crate) const TEXT: &str = "org.a11y.atspi.Text";

pub(crate) const VALUE: &str = "org.a11y.atspi.Value";

/// The name of the bus itself.
pub(crate) const DAEMON: &str = "org.freedesktop.DBus";

/// Coordinates relative to the screen (`AtspiCoordType`).
pub(crate) const SCREEN: u32 = 0;

/// Coordinates relative to the window (`AtspiCoordType`).
pub(crate) const WINDOW: u32 = 1;
