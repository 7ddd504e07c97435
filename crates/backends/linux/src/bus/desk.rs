//! The accessibility bus: finding it, what is registered there, and which process that is.

use crate::bus::body::{Call, Reference, whole};
use crate::bus::calls::{self, of_bus, property};
use crate::bus::fault::{Fault, left};
use crate::bus::limits::BUS;
use crate::bus::names::{ACCESSIBLE, DAEMON, ROOT};
use crate::bus::wire::{Answer, Listener, Wire};
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt};
use zbus::{OwnedVariant, Variant};

/// How long one app among many may take, so that one that hangs is only left out.
const ONE_OF_MANY: Duration = Duration::from_millis(500);

/// How long one question to an app waits that did not answer before.
const ASLEEP: Duration = Duration::from_secs(60);

/// Who knows which apps there are, and who wants to hear what of them.
const REGISTRY: &str = "org.a11y.atspi.Registry";

/// Who starts the accessibility bus and knows where it is, on the session bus; its object, and the
/// switch on that.
const LAUNCHER: &str = "org.a11y.Bus";
const SWITCH: &str = "/org/a11y/bus";
const STATUS: &str = "org.a11y.Status";

/// Bytes of the property that holds the address of the bus, in units of four.
const PROPERTY: u32 = 1024;

/// Events that are asked for. Apps keep quiet about what nobody wants to hear.
const EVENTS: &str = "object:children-changed object:state-changed object:property-change object:text-changed \
                      object:selection-changed object:active-descendant-changed object:visible-data-changed \
                      object:model-changed object:row-inserted object:row-deleted object:announcement \
                      document:load-complete document:reload \
                      window:activate window:deactivate window:create window:destroy";

/// Where to find the buses; from the environment of whoever started us, or of a private session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Addresses {
    /// `AT_SPI_BUS_ADDRESS`: the accessibility bus itself.
    pub(crate) accessibility: Option<String>,
    /// `DBUS_SESSION_BUS_ADDRESS`: the session bus, which knows where the other is.
    pub(crate) session: Option<String>,
    /// `DISPLAY`: the X server has a property that says it.
    pub(crate) display: Option<String>,
}

/// An app that is registered on the accessibility bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Running {
    /// Its name on the bus.
    pub(crate) bus: String,
    /// What it calls itself.
    pub(crate) title: String,
    /// Its process, where the bus knows it.
    pub(crate) pid: Option<u32>,
    /// How many windows it has; none where it did not answer.
    pub(crate) windows: Option<i32>,
}

/// A connection to the accessibility bus; its copies share it.
#[derive(Debug, Clone)]
pub(crate) struct Desktop {
    pub(super) wire: Arc<Wire>,
    /// Where the bus is.
    address: Arc<str>,
}

impl Desktop {
    /// Finds the accessibility bus and connects to it, until `until`: it may have to be started
    /// first.
    ///
    /// # Errors
    /// What was tried, when there is none.
    pub(crate) async fn connect(
        addresses: &Addresses,
        listener: Listener,
        until: Instant,
    ) -> Result<Self, Fault> {
        Self::at(find(addresses, until).await?.into(), listener, until).await
    }

    /// Another connection to the same bus, with a listener of its own.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub(crate) async fn once_more(&self, listener: Listener, until: Instant) -> Result<Self, Fault> {
        Self::at(Arc::clone(&self.address), listener, until).await
    }

    async fn at(address: Arc<str>, listener: Listener, until: Instant) -> Result<Self, Fault> {
        let wire = Wire::connect(&address, true, left(until), listener).await?;
        Ok(Self { wire: Arc::new(wire), address })
    }

    /// Tells apps of this session that somebody listens: toolkits that wait for that register only
    /// then.
    pub(crate) async fn switch_on(addresses: &Addresses, until: Instant) {
        let Some(session) = &addresses.session else { return };
        let set = calls::set(SWITCH, STATUS, "IsEnabled", true.into());
        if let Err(e) = asked(session, set, until).await {
            tracing::debug!("accessibility could not be switched on: {e}");
        }
    }

    /// Whether toolkits that wait for somebody to listen are told that there is, where the session
    /// bus says it.
    pub(crate) async fn is_on(addresses: &Addresses, until: Instant) -> Option<bool> {
        let session = addresses.session.as_ref()?;
        let answer = asked(session, property(SWITCH, STATUS, "IsEnabled"), until).await.ok()?;
        if let Variant::Bool(on) = *answer.read::<OwnedVariant>().ok()? { Some(on) } else { None }
    }

    /// Asks for the events of one app.
    ///
    /// # Errors
    /// When the bus or its registry does not answer.
    pub(crate) async fn listen(&self, app: &str, until: Instant) -> Result<(), Fault> {
        self.hear(app, until).await?;
        // All apps signal what anybody wants to hear, until that one leaves the bus.
        let register =
            |event| Call::new("/org/a11y/atspi/registry", REGISTRY, "RegisterEvent").with((event,));
        let events: Vec<Call<'_>> = EVENTS.split_whitespace().map(register).collect();
        self.tell(REGISTRY, &events, until).await
    }

    /// Has what one app signals come here.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub(crate) async fn hear(&self, app: &str, until: Instant) -> Result<(), Fault> {
        let signals = ["Event.Object", "Event.Window", "Event.Document", "Cache"]
            .map(|of| format!("type='signal',sender='{app}',interface='org.a11y.atspi.{of}'"));
        let leaving = format!("type='signal',sender='{DAEMON}',member='NameOwnerChanged',arg0='{app}'");
        let rules = signals.iter().chain([&leaving]).map(|rule| of_bus("AddMatch").with((rule.as_str(),)));
        self.tell(DAEMON, &rules.collect::<Vec<_>>(), until).await
    }

    /// Makes calls of which it only counts that they are answered.
    async fn tell(&self, whom: &str, calls: &[Call<'_>], until: Instant) -> Result<(), Fault> {
        let answers = self.wire.calls(Some(whom), calls, left(until)).await;
        answers.into_iter().try_for_each(|answer| answer.map(drop))
    }

    /// All that is registered, in the order of registration. An app that does not answer is there
    /// all the same. The registry, which may have to be started first, has until `until`.
    ///
    /// # Errors
    /// When the registry does not answer.
    pub(crate) async fn running(&self, until: Instant) -> Result<Vec<Running>, Fault> {
        let (_, apps) = self.registered(until).await?;
        Ok(join_all(apps.into_iter().map(|bus| self.one(bus))).await)
    }

    /// The registry's own name on the bus, from where it signals which apps come and go, and the
    /// names of all that is registered, in the order of registration, without asking any of it.
    ///
    /// # Errors
    /// When the registry does not answer.
    pub(crate) async fn registered(&self, until: Instant) -> Result<(String, Vec<String>), Fault> {
        let children = Call::new(ROOT, ACCESSIBLE, "GetChildren");
        let answer = self.wire.call(Some(REGISTRY), &children, left(until)).await?;
        let apps: Vec<Reference> = answer.read()?;
        let mut apps: Vec<String> = apps.into_iter().map(|(name, _)| name).collect();
        apps.retain(|name| !name.is_empty() && *name != self.wire.name());
        Ok((answer.sender(), apps))
    }

    /// The names of all that is connected to the bus, apps or not, beside ourselves.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub(crate) async fn names(&self, until: Instant) -> Result<Vec<String>, Fault> {
        let answer = self.wire.call(Some(DAEMON), &of_bus("ListNames"), left(until)).await?;
        let mut names: Vec<String> = answer.read()?;
        names.retain(|name| name.starts_with(':') && *name != self.wire.name());
        Ok(names)
    }

    /// What one of them says of itself.
    pub(crate) async fn one(&self, bus: String) -> Running {
        let asked = [property(ROOT, ACCESSIBLE, "Name"), property(ROOT, ACCESSIBLE, "ChildCount")];
        let mut answers = self.wire.calls(Some(&bus), &asked, ONE_OF_MANY).await.into_iter();
        // What an app does not say is left empty.
        let title = answers.next().and_then(|answer| answer.ok()?.property_text().ok()).unwrap_or_default();
        let windows = answers.next().and_then(|answer| answer.ok()?.property_number().ok()?);
        let pid = self.pid(&bus).await.ok();
        Running { bus, title, pid, windows: windows.map(|count| whole(Some(count))) }
    }

    /// Returns when an app that did not answer does again, or has left; also when the bus is gone.
    pub(crate) async fn wakes(&self, app: &str) {
        let asked = property(ROOT, ACCESSIBLE, "Name");
        while let Err(Fault::Silent(_)) = self.wire.call(Some(app), &asked, ASLEEP).await {}
    }

    /// The process behind a name.
    ///
    /// # Errors
    /// When nobody has that name any more.
    pub(crate) async fn pid(&self, bus: &str) -> Result<u32, Fault> {
        let call = of_bus("GetConnectionUnixProcessID").with((bus,));
        self.wire.call(Some(DAEMON), &call, BUS).await?.read()
    }

    /// Whether the bus itself is gone.
    pub(crate) fn closed(&self) -> bool {
        self.wire.closed()
    }
}

/// The address of the accessibility bus: as it was given, as the session bus says, as the X server
/// says.
async fn find(addresses: &Addresses, until: Instant) -> Result<String, Fault> {
    if let Some(address) = &addresses.accessibility {
        return Ok(address.clone());
    }
    let silent = match &addresses.session {
        None => "no session bus is known (DBUS_SESSION_BUS_ADDRESS)".to_owned(),
        Some(session) => match asked(session, Call::new(SWITCH, LAUNCHER, "GetAddress"), until).await {
            Ok(answer) => return answer.read(),
            Err(e) => format!("{LAUNCHER} on {session}: {e}"),
        },
    };
    let Some(display) = addresses.display.clone() else {
        return Err(Fault::Closed(format!("{silent}; no display is known (DISPLAY)")));
    };
    let found = tokio::task::spawn_blocking(move || on_display(&display)).await;
    found.unwrap_or_else(|e| Err(e.to_string())).map_err(|e| Fault::Closed(format!("{silent}; {e}")))
}

/// What the session bus knows of the accessibility bus.
async fn asked(session: &str, call: Call<'_>, until: Instant) -> Answer {
    let wire = Wire::connect(session, true, left(until), Box::new(|_| {})).await?;
    wire.call(Some(LAUNCHER), &call, left(until)).await
}

/// The property `AT_SPI_BUS` of the root window.
fn on_display(display: &str) -> Result<String, String> {
    let property = || -> Result<String, Box<dyn std::error::Error>> {
        let (x, screen) = x11rb::connect(Some(display))?;
        let root = x.setup().roots.get(screen).ok_or("no screen")?.root;
        let atom = x.intern_atom(true, b"AT_SPI_BUS")?.reply()?.atom;
        if atom == x11rb::NONE {
            return Err("no property AT_SPI_BUS".into());
        }
        let value = x.get_property(false, root, atom, AtomEnum::STRING, 0, PROPERTY)?.reply()?.value;
        let address = String::from_utf8(value).ok().filter(|address| !address.is_empty());
        address.ok_or_else(|| "an empty property AT_SPI_BUS".into())
    };
    property().map_err(|e| format!("display {display}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Desktop {
        /// One over a bus that is there.
        pub(crate) fn over(wire: Wire) -> Self {
            Self { wire: Arc::new(wire), address: "".into() }
        }
    }
}
