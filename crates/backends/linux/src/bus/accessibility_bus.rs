//! The accessibility bus: its address, its registered apps and their processes.

use crate::bus::body::{Call, Reference, whole};
use crate::bus::calls::{self, of_bus, property};
use crate::bus::error::{BusError, BusResult, remaining};
use crate::bus::names::{ACCESSIBLE, DAEMON, ROOT};
use crate::bus::wire::{Answer, Listener, Wire};
use crate::limits::BUS;
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use stickpin_x11desk::Address;
use tokio::time::Instant;
use zbus::{OwnedVariant, Variant};

/// Timeout for each answer from one app among many, so that an app that hangs does not hold up the
/// list.
const ONE_OF_MANY: Duration = Duration::from_millis(500);

/// Timeout per query while waiting for an app that hangs.
const WAKE_TIMEOUT: Duration = Duration::from_secs(60);

/// The registry, which lists apps and event subscriptions.
const REGISTRY: &str = "org.a11y.atspi.Registry";

/// The launcher of the accessibility bus on the session bus.
const LAUNCHER: &str = "org.a11y.Bus";
/// The launcher's object path.
const SWITCH: &str = "/org/a11y/bus";
/// The interface of the switch that announces an assistive technology to apps.
const STATUS: &str = "org.a11y.Status";

/// The root window's property that contains the bus address.
const PROPERTY: &str = "AT_SPI_BUS";

/// The events that are subscribed to. Apps send only events for which a client has registered.
const EVENTS: &str = "object:children-changed object:state-changed object:property-change object:text-changed \
                      object:selection-changed object:active-descendant-changed object:visible-data-changed \
                      object:model-changed object:row-inserted object:row-deleted object:announcement \
                      document:load-complete document:reload \
                      window:activate window:deactivate window:create window:destroy";

/// Bus addresses, from the caller's environment or that of a private display.
#[derive(Debug, Clone, Default)]
pub(crate) struct Addresses {
    /// `AT_SPI_BUS_ADDRESS`: the accessibility bus itself.
    pub(crate) accessibility: Option<String>,
    /// `DBUS_SESSION_BUS_ADDRESS`: the session bus, which provides the address of the accessibility
    /// bus.
    pub(crate) session: Option<String>,
    /// `DISPLAY`: the X server, whose root window has the address of the accessibility bus as a
    /// property.
    pub(crate) display: Option<String>,
}

/// An app that is registered on the accessibility bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegisteredApp {
    /// The bus name.
    pub(crate) bus: String,
    /// The name that the app gives itself.
    pub(crate) title: String,
    /// The process id, if the bus reports it.
    pub(crate) pid: Option<u32>,
    /// The number of windows; `None` if the app did not answer.
    pub(crate) windows: Option<i32>,
}

/// A connection to the accessibility bus, shared by its clones.
#[derive(Debug, Clone)]
pub(crate) struct AccessibilityBus {
    pub(super) wire: Arc<Wire>,
    /// The address of the bus.
    address: Arc<str>,
}

impl AccessibilityBus {
    /// Finds the accessibility bus and connects to it by `until`. The bus may have to be started
    /// first.
    ///
    /// # Errors
    /// Returns an error that names the attempts.
    pub(crate) async fn connect(at: &Addresses, listener: Listener, until: Instant) -> BusResult<Self> {
        Self::at(find(at, until).await?.into(), listener, until).await
    }

    /// Opens another connection to the same bus with its own listener.
    ///
    /// # Errors
    /// Returns an error if the bus does not answer.
    pub(crate) async fn reconnect(&self, listener: Listener, until: Instant) -> BusResult<Self> {
        Self::at(Arc::clone(&self.address), listener, until).await
    }

    async fn at(address: Arc<str>, listener: Listener, until: Instant) -> BusResult<Self> {
        let wire = Wire::connect(&address, true, remaining(until), listener).await?;
        Ok(Self { wire: Arc::new(wire), address })
    }

    /// Announces to apps of this session that an assistive technology is running: some toolkits
    /// register only then.
    pub(crate) async fn switch_on(addresses: &Addresses, until: Instant) {
        let Some(session) = &addresses.session else { return };
        let set = calls::set(SWITCH, STATUS, "IsEnabled", true.into());
        if let Err(e) = query(session, set, until).await {
            tracing::debug!("accessibility could not be switched on: {e}");
        }
    }

    /// Returns whether an assistive technology is announced to apps; `None` if there is no session
    /// bus, or it does not provide this property.
    pub(crate) async fn is_on(addresses: &Addresses, until: Instant) -> Option<bool> {
        let session = addresses.session.as_ref()?;
        let answer = query(session, property(SWITCH, STATUS, "IsEnabled"), until).await.ok()?;
        if let Variant::Bool(on) = *answer.read::<OwnedVariant>().ok()? { Some(on) } else { None }
    }

    /// Subscribes to the events of one app.
    ///
    /// # Errors
    /// Returns an error if the bus or its registry does not answer.
    pub(crate) async fn listen(&self, app: &str, until: Instant) -> BusResult<()> {
        self.subscribe(app, until).await?;
        // Apps send all events for which any client has registered, until that client leaves the
        // bus.
        let register =
            |event| Call::new("/org/a11y/atspi/registry", REGISTRY, "RegisterEvent").with((event,));
        let events: Vec<Call<'_>> = EVENTS.split_whitespace().map(register).collect();
        self.call_all(REGISTRY, &events, until).await
    }

    /// Routes the signals of one app to this connection.
    ///
    /// # Errors
    /// Returns an error if the bus does not answer.
    pub(crate) async fn subscribe(&self, app: &str, until: Instant) -> BusResult<()> {
        let signals = ["Event.Object", "Event.Window", "Event.Document", "Cache"]
            .map(|of| format!("type='signal',sender='{app}',interface='org.a11y.atspi.{of}'"));
        let leaving = format!("type='signal',sender='{DAEMON}',member='NameOwnerChanged',arg0='{app}'");
        let rules = signals.iter().chain([&leaving]).map(|rule| of_bus("AddMatch").with((rule.as_str(),)));
        self.call_all(DAEMON, &rules.collect::<Vec<_>>(), until).await
    }

    /// Makes calls and discards their results; returns the first error.
    async fn call_all(&self, whom: &str, calls: &[Call<'_>], until: Instant) -> BusResult<()> {
        let answers = self.wire.calls(Some(whom), calls, remaining(until)).await;
        answers.into_iter().try_for_each(|answer| answer.map(drop))
    }

    /// Returns all registered apps in order of registration, including those that do not answer.
    /// The registry, which may have to be started first, must answer by `until`.
    ///
    /// # Errors
    /// Returns an error if the registry does not answer.
    pub(crate) async fn running(&self, until: Instant) -> BusResult<Vec<RegisteredApp>> {
        let (_, apps) = self.registered(until).await?;
        Ok(join_all(apps.into_iter().map(|bus| self.describe_app(bus))).await)
    }

    /// Returns the registry's bus name, under which it signals that apps come and go, and the names
    /// of all registered apps in order of registration. Sends no request to any app.
    ///
    /// # Errors
    /// Returns an error if the registry does not answer.
    pub(crate) async fn registered(&self, until: Instant) -> BusResult<(String, Vec<String>)> {
        let children = Call::new(ROOT, ACCESSIBLE, "GetChildren");
        let answer = self.wire.call(Some(REGISTRY), &children, remaining(until)).await?;
        let apps = answer.read::<Vec<Reference>>()?.into_iter().map(|(name, _)| name);
        let apps = apps.filter(|name| !name.is_empty() && *name != self.wire.name()).collect();
        let registry = answer.header().sender().map(ToString::to_string).unwrap_or_default();
        Ok((registry, apps))
    }

    /// Returns the names of all other clients of the bus, apps or not.
    ///
    /// # Errors
    /// Returns an error if the bus does not answer.
    pub(crate) async fn names(&self, until: Instant) -> BusResult<Vec<String>> {
        let answer = self.wire.call(Some(DAEMON), &of_bus("ListNames"), remaining(until)).await?;
        let mut names: Vec<String> = answer.read()?;
        names.retain(|name| name.starts_with(':') && *name != self.wire.name());
        Ok(names)
    }

    /// Queries one app for its description.
    pub(crate) async fn describe_app(&self, bus: String) -> RegisteredApp {
        let asked = [property(ROOT, ACCESSIBLE, "Name"), property(ROOT, ACCESSIBLE, "ChildCount")];
        let mut answers = self.wire.calls(Some(&bus), &asked, ONE_OF_MANY).await.into_iter();
        // Missing answers are left empty.
        let title = answers.next().and_then(|answer| answer.ok()?.property_text().ok()).unwrap_or_default();
        let windows = answers.next().and_then(|answer| answer.ok()?.property_number().ok()?);
        // Fails if the name has no owner.
        let pid = of_bus("GetConnectionUnixProcessID").with((bus.as_str(),));
        let pid = self.wire.call(Some(DAEMON), &pid, BUS).await.and_then(|pid| pid.read()).ok();
        RegisteredApp { bus, title, pid, windows: windows.map(|count| whole(Some(count))) }
    }

    /// Waits until an app that hangs answers again or has left, or until the bus is gone.
    pub(crate) async fn wait_until_responsive(&self, app: &str) {
        let asked = property(ROOT, ACCESSIBLE, "Name");
        while let Err(BusError::Silent(_)) = self.wire.call(Some(app), &asked, WAKE_TIMEOUT).await {}
    }

    /// Returns whether the bus itself is gone.
    pub(crate) fn closed(&self) -> bool {
        self.wire.closed()
    }
}

/// Finds the address of the accessibility bus: from the environment, the session bus, or the X
/// server.
async fn find(addresses: &Addresses, until: Instant) -> BusResult<String> {
    if let Some(address) = &addresses.accessibility {
        return Ok(address.clone());
    }
    let silent = match &addresses.session {
        None => "DBUS_SESSION_BUS_ADDRESS is not set".to_owned(),
        Some(session) => match query(session, Call::new(SWITCH, LAUNCHER, "GetAddress"), until).await {
            Ok(answer) => return answer.read(),
            Err(e) => format!("{LAUNCHER} on {session}: {e}"),
        },
    };
    let Some(display) = addresses.display.clone() else {
        return Err(BusError::Closed(format!("{silent}; DISPLAY is not set")));
    };
    let missing = |why: String| BusError::Closed(format!("{silent}; display {display}: {why}"));
    let address = Address::shared(&display);
    let found = tokio::task::spawn_blocking(move || address.root_text(PROPERTY)).await;
    let found = found.map_err(|e| missing(e.to_string()))?.map_err(|e| missing(e.to_string()))?;
    found.ok_or_else(|| missing(format!("its root window has no property {PROPERTY}")))
}

/// Sends a query to the launcher of the accessibility bus, over the session bus at the address
/// `session`.
async fn query(session: &str, call: Call<'_>, until: Instant) -> Answer {
    let wire = Wire::connect(session, true, remaining(until), Box::new(|_| {})).await?;
    wire.call(Some(LAUNCHER), &call, remaining(until)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    impl AccessibilityBus {
        /// Wraps an existing connection to a bus.
        pub(crate) fn over(wire: Wire) -> Self {
            Self { wire: Arc::new(wire), address: "".into() }
        }
    }
}
