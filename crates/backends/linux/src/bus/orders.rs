//! Sockets for orders, separate from those for queries.
//!
//! An order may show a dialog from inside the call (`gtk_dialog_run`). Until the dialog is closed,
//! the bridge of GTK 3 is inside the dispatch of the order's connection. For every key, the bridge
//! calls the registry and meanwhile serves all its connections from a nested main loop. A message
//! waiting on the order's connection would be dispatched from inside its own dispatch, and libdbus
//! would deadlock. Therefore, nothing is sent on the socket after an order, and the socket is not
//! closed, before the order is known to have returned.

use crate::bus::body::{Call, Message, Reference};
use crate::bus::calls::role;
use crate::bus::error::{BusError, BusResult, unless_lost};
use crate::bus::link::Link;
use crate::bus::names::{ACCESSIBLE, ACTION, ROOT};
use crate::bus::wire::Wire;
use crate::limits::{PATIENCE, SOCKET};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

/// Timeout for the answer to a probe after an order has returned.
const PROBED: Duration = Duration::from_millis(150);

/// The maximum number of sockets. When there are this many, the sockets whose orders may still be
/// running are probed again, so that one of them can be reused.
const MAX_SOCKETS: usize = 32;

/// How long keys wait for the answer to a probe.
const CLEAR: Duration = Duration::from_secs(1);
/// The interval between checks whether the answer to a probe has arrived.
const LOOK: Duration = Duration::from_millis(20);

/// The sockets for orders. The lock is held until an order is answered and, after a call of the
/// Action interface, until its socket has been probed.
#[derive(Debug, Clone)]
pub(super) struct OrderSockets {
    address: Arc<str>,
    sockets: Arc<Mutex<Vec<Socket>>>,
}

#[derive(Debug)]
struct Socket {
    wire: Wire,
    /// The last order, if it may still be running.
    running: Option<RunningOrder>,
}

/// An order that may still be running.
#[derive(Debug, Default, PartialEq, Eq)]
struct RunningOrder {
    /// The windows that the app had before the order; `None` if they are unknown.
    windows: Option<Vec<String>>,
}

impl OrderSockets {
    pub(super) fn to(address: &str) -> Self {
        Self { address: address.into(), sockets: Arc::default() }
    }

    /// Returns the index of a free socket. If there is none, connects a new socket; once there are
    /// [`MAX_SOCKETS`], probes the busy ones instead.
    async fn free(&self, sockets: &mut Vec<Socket>, link: &Link) -> BusResult<usize> {
        sockets.retain(|socket| !socket.wire.closed());
        let is_free = |socket: &Socket| socket.running.is_none() && !socket.wire.is_stuck();
        if let Some(at) = sockets.iter().position(is_free) {
            return Ok(at);
        }
        if sockets.len() >= MAX_SOCKETS {
            let windows = &link.windows().await?;
            for (at, socket) in sockets.iter_mut().enumerate() {
                if socket.probe(windows).await {
                    return Ok(at);
                }
            }
            return Err(BusError::Silent(PROBED.as_millis()));
        }
        let wire = Wire::connect(&self.address, false, SOCKET, Box::new(|_| {})).await?;
        sockets.push(Socket { wire, running: None });
        Ok(sockets.len() - 1)
    }
}

impl Socket {
    /// Returns whether a query is queued behind an order that has not returned. Any key would then
    /// lock up the app.
    fn is_blocked(&self) -> bool {
        self.running.is_none() && self.wire.is_stuck()
    }

    /// Returns whether the order has returned. This is likely if none of `windows`, the app's
    /// current windows, is new; the answer to a query then proves it. If the answer is late, the
    /// socket becomes free when the answer arrives.
    async fn probe(&mut self, windows: &[String]) -> bool {
        let before = self.running.as_ref().and_then(|order| order.windows.as_ref());
        let opened = before.is_some_and(|before| windows.iter().any(|window| !before.contains(window)));
        if self.wire.is_stuck() || opened {
            return false;
        }
        self.running.take().is_none() || self.wire.call(None, &role(), PROBED).await.is_ok()
    }
}

impl Link {
    /// Sends an order on a separate socket.
    ///
    /// # Errors
    /// Returns the errors of [`Link::order`].
    pub(super) async fn order_on_own_socket(
        &self,
        orders: &OrderSockets,
        call: &Call<'_>,
        patience: Duration,
    ) -> BusResult<Option<Message>> {
        let mut sockets = Arc::clone(&orders.sockets).lock_owned().await;
        let at = orders.free(&mut sockets, self).await?;
        // Set even if the caller stops waiting.
        sockets[at].running = Some(RunningOrder::default());
        // The app handles both in this order, so the list contains no window that the order opens.
        let mut answers = sockets[at].wire.calls(None, &[list_windows(), call.clone()], patience).await;
        let answer = answers.pop().unwrap_or(Err(BusError::Silent(patience.as_millis())));
        let windows = answers.pop().and_then(|windows| paths(&windows.ok()?).ok());
        sockets[at].running = Some(RunningOrder { windows });
        match answer {
            Err(BusError::Silent(_)) => return Ok(None),
            Err(BusError::Closed(_)) => {}
            _ if call.interface == ACTION => {
                // The bridge of GTK 3 answers before it acts.
                let link = self.clone();
                tokio::spawn(async move {
                    // Queries on another socket are answered as soon as the order has returned, or
                    // runs a nested main loop, which opens a window.
                    if let Ok(Ok(windows)) = timeout(PATIENCE, link.windows()).await {
                        sockets[at].probe(&windows).await;
                    }
                });
            }
            _ => sockets[at].running = None,
        }
        answer.map(Some)
    }

    /// Returns the paths of the app's windows.
    async fn windows(&self) -> BusResult<Vec<String>> {
        let windows = self.call(list_windows()).await.and_then(|windows| paths(&windows));
        Ok(unless_lost(windows)?.unwrap_or_default())
    }

    /// Waits until no query is queued behind an order that has not returned. Returns false if such
    /// a query remains after a timeout; a key would then lock up the app for good.
    pub(crate) async fn takes_keys(&self) -> bool {
        let Some(orders) = &self.orders else { return true };
        let until = Instant::now() + CLEAR;
        while orders.sockets.lock().await.iter().any(Socket::is_blocked) {
            if Instant::now() >= until {
                return false;
            }
            sleep(LOOK).await;
        }
        true
    }
}

/// Creates the query for the windows of an app.
fn list_windows() -> Call<'static> {
    Call::new(ROOT, ACCESSIBLE, "GetChildren")
}

/// Returns the paths of the objects that an answer lists.
fn paths(answer: &Message) -> BusResult<Vec<String>> {
    let objects: Vec<Reference> = answer.read()?;
    Ok(objects.into_iter().map(|(_, path)| path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::AppEvents;
    use crate::tests::peer::App;

    const SHORT: Duration = Duration::from_millis(50);

    fn press() -> Call<'static> {
        Call::new("/a", ACTION, "GetRole")
    }

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|&name| name.to_owned()).collect()
    }

    fn order(windows: &[&str]) -> Option<RunningOrder> {
        Some(RunningOrder { windows: Some(names(windows)) })
    }

    async fn link(bus: &App, own: &App, other: &App) -> Link {
        let link = bus.link_and_own(&Arc::new(AppEvents::default()), own).await;
        Link { orders: Some(OrderSockets::to(&other.address())), ..link }
    }

    #[tokio::test]
    async fn order_under_way_has_its_socket_for_itself() {
        let (bus, own, other) = (App::start(), App::start(), App::start());
        let link = link(&bus, &own, &other).await;
        other.hold();
        assert!(matches!(link.order(&press(), SHORT).await, Ok(None)));
        assert!(link.calls(&[role()]).await[0].is_ok(), "questions go another way");
        assert!(matches!(link.order(&press(), SHORT).await, Ok(None)), "so does an order from the dialog");
        assert_eq!((other.calls(), other.connections()), (2, 2), "nothing after an order");
        assert!(link.takes_keys().await);
    }

    #[tokio::test]
    async fn order_that_returned_leaves_its_socket_to_the_next() {
        let (bus, own, other) = (App::start(), App::start(), App::start());
        let link = link(&bus, &own, &other).await;
        for _ in 0..5 {
            assert!(matches!(link.order(&press(), SHORT * 20).await, Ok(Some(_))));
        }
        assert!(link.takes_keys().await);
        assert_eq!((other.calls(), other.connections()), (15, 1), "each between a list and a probe");
        let set = Call { interface: crate::bus::names::EDITABLE, ..press() };
        assert!(matches!(link.order(&set, SHORT * 20).await, Ok(Some(_))));
        assert!(link.takes_keys().await);
        assert_eq!(
            (other.calls(), other.connections()),
            (17, 1),
            "what answers when it is done needs no probe"
        );
    }

    #[tokio::test]
    async fn socket_is_not_probed_while_a_window_of_its_order_is_open() {
        let other = App::start();
        let wire = other.connect(Box::new(|_| {})).await;
        let mut socket = Socket { wire, running: order(&["/1", "/2"]) };
        assert!(!socket.probe(&names(&["/1", "/3"])).await);
        assert_eq!((other.calls(), &socket.running), (0, &order(&["/1", "/2"])));
        assert!(socket.probe(&names(&["/2"])).await, "one was closed, none opened");
        assert_eq!((other.calls(), socket.running), (1, None));
    }

    #[tokio::test]
    async fn keys_are_refused_while_a_probe_waits_behind_an_order() {
        let (bus, own, other) = (App::start(), App::start(), App::start());
        let link = link(&bus, &own, &other).await;
        assert!(matches!(link.order(&press(), SHORT * 20).await, Ok(Some(_))));
        let sockets = link.orders.as_ref().map(|orders| Arc::clone(&orders.sockets)).expect("it has some");
        let mut all = sockets.lock().await;
        all[0].running = order(&[]);
        other.hold();
        assert!(!all[0].probe(&[]).await);
        drop(all);
        assert!(!link.takes_keys().await);
        other.go_on();
        assert!(link.takes_keys().await);
    }
}
