//! Several things at once, on one thread.

use std::pin::Pin;
use std::task::{Context, Poll};

/// What all of them come to, in their order, when the last is done. One that takes long keeps no other from going on.
pub(crate) async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    let go_on = |cx: &mut Context<'_>| {
        for (future, done) in futures.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                *done = Some(output);
            }
        }
        if done.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    };
    std::future::poll_fn(go_on).await;
    done.into_iter().flatten().collect()
}

/// What the first of them comes to that is done; the others are given up. Waits for ever where there are none.
pub(crate) async fn first<F: Future>(futures: impl IntoIterator<Item = F>) -> F::Output {
    let mut futures: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let go_on = |cx: &mut Context<'_>| {
        let done = futures.iter_mut().map(|future| future.as_mut().poll(cx)).find(Poll::is_ready);
        done.unwrap_or(Poll::Pending)
    };
    std::future::poll_fn(go_on).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::sync::Notify;
    use tokio::time::timeout;

    #[tokio::test]
    async fn all_go_on_at_once_and_come_in_their_order() {
        let (here, there) = (Notify::new(), Notify::new());
        // Each waits for the other: one after the other they would never end.
        let meet = async |own: &Notify, other: &Notify, name| {
            own.notify_one();
            other.notified().await;
            name
        };
        let pairs = [(&here, &there, 1), (&there, &here, 2)];
        let met = all(pairs.into_iter().map(|(own, other, name)| meet(own, other, name)));
        assert_eq!(timeout(Duration::from_secs(20), met).await, Ok(vec![1, 2]));
        assert_eq!(all(std::iter::empty::<std::future::Ready<u8>>()).await, [0_u8; 0]);
    }

    #[tokio::test]
    async fn the_first_that_is_done_is_enough() {
        let never = Notify::new();
        let wait = async |now: bool| {
            if now {
                7
            } else {
                never.notified().await;
                0
            }
        };
        let first = first([false, true, false].into_iter().map(wait));
        assert_eq!(timeout(Duration::from_secs(20), first).await, Ok(7));
    }
}
