//! The connection to one app: over its own socket if it offers one, otherwise over the
//! accessibility bus.

use super::orders::OrderSockets;
use crate::bus::accessibility_bus::AccessibilityBus;
use crate::bus::body::{Call, Message, Reference, referred};
use crate::bus::calls::{child, property, role};
use crate::bus::embedded_process::embedded_path;
use crate::bus::error::{BusError, BusResult, remaining, unless_lost};
use crate::bus::names::{ACCESSIBLE, APPLICATION, ROOT};
use crate::bus::wire::{Answer, Wire};
use crate::limits::{AT_ONCE, PATIENCE, SOCKET};
use crate::toolkit::profile::Toolkit;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use zbus::{OwnedVariant, Type};

/// The connections to one app.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// The accessibility bus.
    pub(super) bus: Arc<Wire>,
    /// The app's own socket, if it has one.
    pub(super) direct: Option<Arc<Wire>>,
    /// Separate sockets for orders.
    pub(super) orders: Option<OrderSockets>,
    /// The bus name, such as `:1.7`.
    pub(crate) name: String,
    pub(crate) toolkit: Toolkit,
}

impl Link {
    /// Determines the toolkit of an app and connects to the app, by `until`.
    ///
    /// # Errors
    /// Returns an error if the app does not respond.
    pub(crate) async fn to(desktop: &AccessibilityBus, name: &str, until: Instant) -> BusResult<Self> {
        let bus = Arc::clone(&desktop.wire);
        let asked = [
            property(ROOT, APPLICATION, "ToolkitName"),
            property(ROOT, APPLICATION, "Version"),
            Call::new(ROOT, APPLICATION, "GetApplicationBusAddress"),
        ];
        let mut answers = bus.calls(Some(name), &asked, remaining(until)).await.into_iter();
        let mut answer = || answers.next().unwrap_or(Err(BusError::Vanished));
        let toolkit = unless_lost(answer().and_then(|answer| answer.property_text()))?.unwrap_or_default();
        let version = answer().and_then(|answer| answer.property_text()).unwrap_or_default();
        let mut toolkit = Toolkit::of(&toolkit, &version);
        // Most toolkits do not support this; for them, the bus is used.
        let address = answer().and_then(|answer| answer.read::<String>()).unwrap_or_default();
        if toolkit == Toolkit::default() {
            // The name is not conclusive, but the first window may be.
            let window = bus.call(Some(name), &child(ROOT, 0), remaining(until)).await;
            let window: Option<Reference> = unless_lost(window.and_then(|answer| answer.read()))?;
            toolkit = window.map_or(toolkit, |(_, path)| Toolkit::of_window(&path));
        }
        let direct = if address.is_empty() {
            None
        } else {
            let direct = Wire::connect(&address, false, SOCKET, Box::new(|_| {})).await;
            direct.inspect_err(|e| tracing::debug!("{name} is queried over the bus: {e}")).ok()
        };
        let orders = direct.is_some().then(|| OrderSockets::to(&address));
        Ok(Self { bus, direct: direct.map(Arc::new), orders, name: name.to_owned(), toolkit })
    }

    /// Makes calls over the fastest connection, or over the bus for guests. An app answers in
    /// order.
    pub(crate) async fn calls(&self, calls: &[Call<'_>]) -> Vec<Answer> {
        let mixed = calls.iter().any(|call| embedded_path(call.path).is_some());
        if mixed { self.call_with_embedded(calls).await } else { self.calls_to_app(calls).await }
    }

    /// Returns the connection for queries, and the app's name on it. The name is `None` on the
    /// app's own socket.
    fn way(&self) -> (&Wire, Option<&str>) {
        self.socket().map_or((&*self.bus, Some(&*self.name)), |own| (own, None))
    }

    /// Returns the app's own socket, if it is open.
    fn socket(&self) -> Option<&Wire> {
        self.direct.as_deref().filter(|wire| !wire.closed())
    }

    /// Returns the sockets for orders, if there are any.
    fn order_sockets(&self) -> Option<&OrderSockets> {
        self.socket().and(self.orders.as_ref())
    }

    /// Returns whether orders use separate sockets, so that a concurrent query may be answered
    /// first.
    pub(crate) fn orders_apart(&self) -> bool {
        self.order_sockets().is_some()
    }

    /// Makes calls to the app over the fastest connection. Once the app is gone or silent, the
    /// remaining calls are not made.
    pub(super) async fn calls_to_app(&self, calls: &[Call<'_>]) -> Vec<Answer> {
        let (wire, to) = self.way();
        let mut out = Vec::with_capacity(calls.len());
        for part in calls.chunks(AT_ONCE) {
            out.extend(wire.calls(to, part, PATIENCE).await);
            let is_lost = |answer: &&Answer| answer.as_ref().is_err_and(BusError::is_lost);
            if let Some(lost) = out.iter().find(is_lost).cloned() {
                out.resize(calls.len(), lost);
                break;
            }
        }
        out
    }

    /// Makes a call that has an effect, over a separate socket if there is one.
    ///
    /// If the app shows a dialog from inside the call, it reads nothing more from that connection
    /// until the dialog is closed, and may not answer until then. Returns `None` if the call was
    /// sent but not answered within `patience`.
    ///
    /// # Errors
    /// Returns the error of sending or of the answer.
    pub(crate) async fn order(&self, call: &Call<'_>, patience: Duration) -> BusResult<Option<Message>> {
        if embedded_path(call.path).is_some() {
            let told =
                tokio::time::timeout(patience, self.call_with_embedded(std::slice::from_ref(call))).await;
            return told.ok().and_then(|mut answers| answers.pop()).transpose();
        }
        if let Some(orders) = self.order_sockets() {
            return self.order_on_own_socket(orders, call, patience).await;
        }
        let (wire, to) = self.way();
        match wire.call(to, call, patience).await {
            Err(BusError::Silent(_)) => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// Makes one call over the fastest connection.
    ///
    /// # Errors
    /// Returns the error of the answer.
    pub(crate) async fn call(&self, call: Call<'_>) -> Answer {
        self.calls(&[call]).await.pop().unwrap_or(Err(BusError::Vanished))
    }

    /// Makes calls and reads the answers; `None` for those without an answer of this type.
    ///
    /// # Errors
    /// Returns an error if the app is gone or silent.
    pub(crate) async fn each<T: DeserializeOwned + Type>(
        &self,
        calls: &[Call<'_>],
    ) -> BusResult<Vec<Option<T>>> {
        let answers = self.calls(calls).await.into_iter();
        answers.map(|answer| unless_lost(answer.and_then(|answer| answer.read()))).collect()
    }

    /// Returns the parents that objects report; `None` for each object that reports none.
    ///
    /// # Errors
    /// Returns an error if the app is gone or silent.
    pub(crate) async fn parents(&self, paths: &[&str]) -> BusResult<Vec<Option<Reference>>> {
        let calls: Vec<Call<'_>> = paths.iter().map(|path| property(path, ACCESSIBLE, "Parent")).collect();
        let parents = self.each::<OwnedVariant>(&calls).await?;
        Ok(parents.into_iter().map(|parent| parent.and_then(|parent| referred(&parent))).collect())
    }

    /// Makes calls, and returns after all signals that preceded the answers have been received.
    /// Answers over the bus follow the signals. When the app's own socket is used, the bus is
    /// queried at the same time.
    ///
    /// # Errors
    /// Returns an error if the app is gone or silent.
    pub(crate) async fn calls_in_order(&self, calls: &[Call<'_>]) -> BusResult<Vec<Answer>> {
        let (answers, heard) = tokio::join!(self.calls(calls), async {
            let asked = calls.iter().any(|call| embedded_path(call.path).is_none());
            if self.socket().is_none() && asked { Ok(()) } else { self.barrier().await }
        });
        heard.map(|()| answers)
    }

    /// Makes a round trip on the connection that carries the app's signals. All earlier signals
    /// have been received when this returns.
    ///
    /// # Errors
    /// Returns an error if the app does not respond.
    pub(crate) async fn barrier(&self) -> BusResult<()> {
        self.bus.call(Some(&self.name), &role(), PATIENCE).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Link {
        /// Wraps existing connections: a bus and a separate socket.
        pub(crate) fn over(bus: Wire, direct: Option<Wire>) -> Self {
            let (bus, direct) = (Arc::new(bus), direct.map(Arc::new));
            Self { bus, direct, orders: None, name: ":1.2".to_owned(), toolkit: Toolkit::default() }
        }

        /// Returns the number of writes to the app over the bus.
        pub(crate) fn trips(&self) -> usize {
            self.bus.trips()
        }
    }
}
