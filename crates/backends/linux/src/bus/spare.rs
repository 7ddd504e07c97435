//! Other ways to an app whose own socket is stuck.
//!
//! What an app is told to do may show a dialog from inside (`gtk_dialog_run`). Until that is closed the bridge takes in
//! nothing more on the connection that the order came on, and goes on with all others. So what comes next goes over
//! another one, also what makes a dialog over that dialog. The bus is not used for that: what is signalled is proven there.

use crate::bus::fault::Fault;
use crate::bus::limits::PATIENCE;
use crate::bus::link::Link;
use crate::bus::wire::Wire;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Dialogs over dialogs up to which there is another way.
const MOST: usize = 8;

/// Sockets beside the first, connected when they are needed.
#[derive(Debug)]
pub(super) struct Spare {
    address: String,
    wires: Mutex<Vec<Arc<Wire>>>,
    /// Held by the one who connects. Nobody who finds a free one waits for it.
    connecting: tokio::sync::Mutex<()>,
    /// How often nobody answered there.
    failed: AtomicUsize,
}

impl Spare {
    pub(super) fn to(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            wires: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
            failed: AtomicUsize::new(0),
        }
    }

    /// One that is not stuck, and how many there are.
    fn free(&self) -> (Option<Arc<Wire>>, usize) {
        // Nothing panics while it is held.
        let mut wires = self.wires.lock().unwrap_or_else(PoisonError::into_inner);
        wires.retain(|wire| !wire.closed());
        (wires.iter().find(|wire| !wire.stuck()).map(Arc::clone), wires.len())
    }

    fn add(&self, wire: &Arc<Wire>) {
        self.wires.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(wire));
    }
}

impl Link {
    /// The way that the app itself is asked on, and the name that it has there.
    ///
    /// # Errors
    /// When its own socket is stuck and it says nothing on the bus either.
    pub(super) async fn own_way(&self) -> Result<(Arc<Wire>, Option<&str>), Fault> {
        let over_the_bus = || (Arc::clone(&self.bus), Some(&*self.name));
        let Some(first) = self.direct.as_ref().filter(|wire| !wire.closed()) else {
            return Ok(over_the_bus());
        };
        if !first.stuck() {
            return Ok((Arc::clone(first), None));
        }
        let Some(spare) = &self.spare else { return Ok(over_the_bus()) };
        if let (Some(free), _) = spare.free() {
            return Ok((free, None));
        }
        let failed = spare.failed.load(Ordering::SeqCst);
        // An app keeps something of each connection: one that hangs gets no more of them.
        self.barrier().await?;
        // It was busy, and no more.
        if !first.stuck() {
            return Ok((Arc::clone(first), None));
        }
        let one_at_a_time = spare.connecting.lock().await;
        let (free, count) = spare.free();
        if let Some(free) = free {
            return Ok((free, None));
        }
        // Who has waited for another one's attempt in vain does not wait once more.
        if count >= MOST || spare.failed.load(Ordering::SeqCst) != failed {
            return Ok(over_the_bus());
        }
        let connected = Wire::connect(&spare.address, false, PATIENCE, Box::new(|_| {})).await;
        let way = match connected {
            Ok(wire) => {
                let wire = Arc::new(wire);
                spare.add(&wire);
                (wire, None)
            }
            Err(e) => {
                spare.failed.fetch_add(1, Ordering::SeqCst);
                tracing::debug!("{} is asked over the bus: {e}", self.name);
                over_the_bus()
            }
        };
        drop(one_at_a_time);
        Ok(way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::body::{Args, Call};
    use crate::events::Heard;
    use crate::tests::peer::App;
    use std::time::Duration;

    const SHORT: Duration = Duration::from_millis(50);

    fn call() -> Call<'static> {
        Call { path: "/a", interface: "a.b", member: "GetRole", args: Args::new() }
    }

    async fn answered(link: &Link) -> bool {
        link.calls(&[call()]).await.pop().is_some_and(|answer| answer.is_ok())
    }

    #[tokio::test]
    async fn what_does_not_answer_an_order_is_asked_on_another_way_until_it_does() {
        let (bus, own, other) = (App::start(), App::start(), App::start());
        let link = bus.link_and_own(&Arc::new(Heard::new()), &own).await.with_spare(&other.address());
        own.hold();
        assert!(matches!(link.order(&call(), SHORT).await, Ok(None)));
        assert!(answered(&link).await && answered(&link).await);
        assert_eq!((own.calls(), other.calls(), other.connections()), (1, 2, 1));
        // A dialog over the dialog.
        other.hold();
        assert!(matches!(link.order(&call(), SHORT).await, Ok(None)));
        let asked = link.own_way().await.map(|(wire, to)| (wire.stuck(), to.is_some()));
        assert_eq!((asked, other.connections()), (Ok((false, false)), 2));
        // Both are closed.
        other.go_on();
        own.go_on();
        let first = link.direct.clone().expect("it has one");
        tokio::time::timeout(Duration::from_secs(10), async {
            while first.stuck() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await
        .expect("its answer comes");
        assert!(answered(&link).await);
        assert_eq!((own.calls(), other.connections()), (2, 2));
    }

    #[tokio::test]
    async fn what_was_asked_behind_an_order_meanwhile_is_asked_again() {
        let (bus, own, other) = (App::start(), App::start(), App::start());
        let link = bus.link_and_own(&Arc::new(Heard::new()), &own).await.with_spare(&other.address());
        own.hold();
        let begun = tokio::time::Instant::now();
        let order = call();
        let (order, behind) = tokio::join!(biased; link.order(&order, SHORT), answered(&link));
        assert!(matches!(order, Ok(None)) && behind);
        assert!(begun.elapsed() < PATIENCE, "it has not waited for its own time");
        assert_eq!(other.calls(), 1);
    }

    #[tokio::test]
    async fn an_app_that_hangs_gets_no_more_connections() {
        let (bus, own, other) = (App::start(), App::start(), App::start());
        let link = bus.link_and_own(&Arc::new(Heard::new()), &own).await.with_spare(&other.address());
        own.hold();
        bus.hold();
        assert!(matches!(link.order(&call(), SHORT).await, Ok(None)));
        let answers = link.calls(&[call(), call()]).await;
        assert!(answers.iter().all(|answer| matches!(answer, Err(Fault::Silent(_)))), "{answers:?}");
        // Nor is it said to have been told.
        assert!(matches!(link.order(&call(), SHORT).await, Err(Fault::Silent(_))));
        assert_eq!((own.calls(), other.connections()), (1, 0));
    }

    #[tokio::test]
    async fn an_order_behind_one_that_is_overdue_is_not_said_to_be_done_nor_the_app_to_be_gone() {
        let (bus, own) = (App::start(), App::start());
        let link = bus.link_and_own(&Arc::new(Heard::new()), &own).await;
        own.hold();
        let (first, second) = (call(), call());
        let (first, behind) =
            tokio::join!(biased; link.order(&first, SHORT), link.order(&second, SHORT * 20));
        assert!(matches!(first, Ok(None)));
        assert!(matches!(behind, Err(Fault::Silent(1000))), "{behind:?}");
    }

    #[tokio::test]
    async fn who_asks_at_the_same_time_waits_as_long_as_one_and_shares_what_was_connected() {
        let (bus, own, other) = (App::start(), App::start(), App::start());
        let link = bus.link_and_own(&Arc::new(Heard::new()), &own).await.with_spare(&other.address());
        own.hold();
        assert!(matches!(link.order(&call(), SHORT).await, Ok(None)));
        bus.hold();
        let begun = tokio::time::Instant::now();
        let (a, b, c) = tokio::join!(link.own_way(), link.own_way(), link.own_way());
        assert!([a, b, c].iter().all(|way| matches!(way, Err(Fault::Silent(_)))));
        assert!(begun.elapsed() < PATIENCE * 2, "each has waited for the one before it");
        bus.go_on();
        let (a, b, c) = tokio::join!(link.own_way(), link.own_way(), link.own_way());
        assert!([a, b, c].iter().all(|way| way.as_ref().is_ok_and(|(_, to)| to.is_none())));
        assert_eq!(other.connections(), 1);
    }

    #[tokio::test]
    async fn without_another_socket_there_is_the_bus() {
        let (bus, own) = (App::start(), App::start());
        let link = bus.link_and_own(&Arc::new(Heard::new()), &own).await.with_spare("unix:path=/nowhere");
        own.hold();
        assert!(matches!(link.order(&call(), SHORT).await, Ok(None)));
        assert!(answered(&link).await);
        assert_eq!((own.calls(), bus.calls()), (1, 2));
    }
}
