//! The accessibility bus: finding it, what is registered there, and which process that is.

use crate::bus::body::{Args, Call, Message, of_bus};
use crate::bus::calls::property;
use crate::bus::fault::{Fault, left};
use crate::bus::limits::BUS;
use crate::bus::names::{ACCESSIBLE, DAEMON, PROPERTIES, ROOT};
use crate::bus::wire::{Listener, Wire};
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt};

/// How long one app among many may take, so that one that hangs is only left out.
const ONE_OF_MANY: Duration = Duration::from_millis(500);

/// How long one question to an app waits that did not answer before.
const ASLEEP: Duration = Duration::from_secs(60);

/// Who knows which apps there are, and who wants to hear what of them.
const REGISTRY: &str = "org.a11y.atspi.Registry";

/// Bytes of the property that holds the address of the bus, in units of four.
const PROPERTY: u32 = 1024;

/// Events that are asked for. Apps keep quiet about what nobody wants to hear.
const EVENTS: &[&str] = &[
    "object:children-changed",
    "object:state-changed",
    "object:property-change",
    "object:text-changed",
    "object:selection-changed",
    "object:active-descendant-changed",
    "object:visible-data-changed",
    "object:model-changed",
    "object:row-inserted",
    "object:row-deleted",
    "object:announcement",
    "document:load-complete",
    "document:reload",
    "window:activate",
    "window:deactivate",
    "window:create",
    "window:destroy",
];

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

/// What the registry knows.
#[derive(Debug)]
pub(crate) struct Registered {
    /// Its own name on the bus: from there it signals which apps come and go.
    pub(crate) registry: String,
    /// The names of the apps on the bus, in the order of their registration.
    pub(crate) apps: Vec<String>,
}

/// A connection to the accessibility bus; its copies share it.
#[derive(Debug, Clone)]
pub(crate) struct Desktop {
    pub(super) wire: Arc<Wire>,
    /// Where the bus is.
    address: Arc<str>,
}

impl Desktop {
    /// Finds the accessibility bus and connects to it, until `until`: it may have to be started first.
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

    /// One over a bus that is there.
    #[cfg(test)]
    pub(crate) fn over(wire: Wire) -> Self {
        Self { wire: Arc::new(wire), address: "".into() }
    }

    /// Tells apps of this session that somebody listens: those that start without accessibility switch it on.
    ///
    /// # Errors
    /// When the session bus does not answer.
    pub(crate) async fn switch_on(addresses: &Addresses, until: Instant) -> Result<(), Fault> {
        let Some(session) = &addresses.session else { return Ok(()) };
        let wire = Wire::connect(session, true, left(until), Box::new(|_| {})).await?;
        let args = Args::new().text("org.a11y.Status").text("IsEnabled").variant_bool(true);
        let call = Call { path: "/org/a11y/bus", interface: PROPERTIES, member: "Set", args };
        wire.call(Some("org.a11y.Bus"), &call, left(until)).await.map(drop)
    }

    /// Whether toolkits that wait for somebody to listen are told that there is.
    ///
    /// # Errors
    /// When the session bus does not answer, or is not known.
    pub(crate) async fn is_on(addresses: &Addresses, until: Instant) -> Result<bool, Fault> {
        let Some(session) = &addresses.session else { return Err(Fault::Unknown) };
        let wire = Wire::connect(session, true, left(until), Box::new(|_| {})).await?;
        let args = Args::new().text("org.a11y.Status").text("IsEnabled");
        let call = Call { path: "/org/a11y/bus", interface: PROPERTIES, member: "Get", args };
        let answer = wire.call(Some("org.a11y.Bus"), &call, left(until)).await?;
        let mut body = answer.body();
        match body.variant()? {
            "b" => body.bool(),
            _ => Err(Fault::corrupt("a switch that is none")),
        }
    }

    /// Asks for the events of one app.
    ///
    /// # Errors
    /// When the bus or its registry does not answer.
    pub(crate) async fn listen(&self, app: &str, until: Instant) -> Result<(), Fault> {
        self.hear(app, until).await?;
        self.want_events(until).await
    }

    /// Has what one app signals come here.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub(crate) async fn hear(&self, app: &str, until: Instant) -> Result<(), Fault> {
        let mut rules: Vec<String> = ["Event.Object", "Event.Window", "Event.Document", "Cache"]
            .iter()
            .map(|of| format!("type='signal',sender='{app}',interface='org.a11y.atspi.{of}'"))
            .collect();
        rules.push(format!("type='signal',sender='{DAEMON}',member='NameOwnerChanged',arg0='{app}'"));
        let matches: Vec<Call<'_>> =
            rules.iter().map(|rule| of_bus("AddMatch", Args::new().text(rule))).collect();
        for answer in self.wire.calls(Some(DAEMON), &matches, left(until)).await {
            answer?;
        }
        Ok(())
    }

    /// Has all apps signal what we want to hear, until we leave the bus.
    ///
    /// # Errors
    /// When the registry does not answer.
    pub(crate) async fn want_events(&self, until: Instant) -> Result<(), Fault> {
        let events: Vec<Call<'_>> = EVENTS
            .iter()
            .map(|event| Call {
                path: "/org/a11y/atspi/registry",
                interface: "org.a11y.atspi.Registry",
                member: "RegisterEvent",
                args: Args::new().text(event),
            })
            .collect();
        for answer in self.wire.calls(Some(REGISTRY), &events, left(until)).await {
            answer?;
        }
        Ok(())
    }

    /// All that is registered, in the order of registration. An app that does not answer is there all the same. The
    /// registry, which may have to be started first, has until `until`.
    ///
    /// # Errors
    /// When the registry does not answer.
    pub(crate) async fn running(&self, until: Instant) -> Result<Vec<Running>, Fault> {
        let registered = self.registered(until).await?;
        Ok(join_all(registered.apps.into_iter().map(|bus| self.one(bus))).await)
    }

    /// The names of all that is registered, without asking any of it.
    ///
    /// # Errors
    /// When the registry does not answer.
    pub(crate) async fn registered(&self, until: Instant) -> Result<Registered, Fault> {
        let children = Call { path: ROOT, interface: ACCESSIBLE, member: "GetChildren", args: Args::new() };
        let answer = self.wire.call(Some(REGISTRY), &children, left(until)).await?;
        let mut apps: Vec<String> = answer.body().items(8, |c| {
            c.fields()?;
            let name = c.text()?.to_owned();
            c.text().map(|_path| name)
        })?;
        apps.retain(|name| !name.is_empty() && *name != self.wire.name());
        Ok(Registered { registry: answer.sender(), apps })
    }

    /// The names of all that is connected to the bus, apps or not, beside ourselves.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub(crate) async fn names(&self, until: Instant) -> Result<Vec<String>, Fault> {
        let call = of_bus("ListNames", Args::new());
        let answer = self.wire.call(Some(DAEMON), &call, left(until)).await?;
        let mut names = answer.body().items(4, |c| c.text().map(str::to_owned))?;
        names.retain(|name| name.starts_with(':') && *name != self.wire.name());
        Ok(names)
    }

    /// What one of them says of itself.
    pub(crate) async fn one(&self, bus: String) -> Running {
        let asked = [property(ROOT, ACCESSIBLE, "Name"), property(ROOT, ACCESSIBLE, "ChildCount")];
        let mut answers = self.wire.calls(Some(&bus), &asked, ONE_OF_MANY).await.into_iter();
        // What an app does not say is left empty.
        let title =
            answers.next().and_then(Result::ok).and_then(|m| Some(m.body().variant_text().ok()?.to_owned()));
        let windows = answers.next().and_then(Result::ok).and_then(|m| m.body().variant_number().ok()?);
        let pid = self.pid(&bus).await.ok();
        #[expect(clippy::cast_possible_truncation, reason = "a count of windows")]
        let windows = windows.map(|count| count as i32);
        Running { bus, title: title.unwrap_or_default(), pid, windows }
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
        let call = of_bus("GetConnectionUnixProcessID", Args::new().text(bus));
        self.wire.call(Some(DAEMON), &call, BUS).await?.body().unsigned()
    }

    /// Whether the bus itself is gone.
    pub(crate) fn closed(&self) -> bool {
        self.wire.closed()
    }
}

/// The address of the accessibility bus: as it was given, as the session bus says, as the X server says.
async fn find(addresses: &Addresses, until: Instant) -> Result<String, Fault> {
    if let Some(address) = &addresses.accessibility {
        return Ok(address.clone());
    }
    let mut failed = Vec::new();
    match &addresses.session {
        None => failed.push("no session bus is known (DBUS_SESSION_BUS_ADDRESS)".to_owned()),
        Some(session) => match asked(session, until).await {
            Ok(answer) => return Ok(answer.body().text()?.to_owned()),
            Err(e) => failed.push(format!("org.a11y.Bus on {session}: {e}")),
        },
    }
    match &addresses.display {
        None => failed.push("no display is known (DISPLAY)".to_owned()),
        Some(display) => {
            let display = display.clone();
            let found = tokio::task::spawn_blocking(move || on_display(&display)).await;
            match found.unwrap_or_else(|e| Err(e.to_string())) {
                Ok(address) => return Ok(address),
                Err(e) => failed.push(e),
            }
        }
    }
    Err(Fault::Closed(failed.join("; ")))
}

async fn asked(session: &str, until: Instant) -> Result<Message, Fault> {
    let wire = Wire::connect(session, true, left(until), Box::new(|_| {})).await?;
    let call =
        Call { path: "/org/a11y/bus", interface: "org.a11y.Bus", member: "GetAddress", args: Args::new() };
    wire.call(Some("org.a11y.Bus"), &call, left(until)).await
}

/// The property `AT_SPI_BUS` of the root window.
fn on_display(display: &str) -> Result<String, String> {
    let failed = |e: &dyn std::fmt::Display| format!("display {display}: {e}");
    let (x, screen) = x11rb::connect(Some(display)).map_err(|e| failed(&e))?;
    let root = x.setup().roots.get(screen).ok_or_else(|| failed(&"no screen"))?.root;
    let atom =
        x.intern_atom(true, b"AT_SPI_BUS").map_err(|e| failed(&e))?.reply().map_err(|e| failed(&e))?.atom;
    if atom == x11rb::NONE {
        return Err(failed(&"no property AT_SPI_BUS"));
    }
    let value = x
        .get_property(false, root, atom, AtomEnum::STRING, 0, PROPERTY)
        .map_err(|e| failed(&e))?
        .reply()
        .map_err(|e| failed(&e))?
        .value;
    match String::from_utf8(value) {
        Ok(address) if !address.is_empty() => Ok(address),
        _ => Err(failed(&"an empty property AT_SPI_BUS")),
    }
}
