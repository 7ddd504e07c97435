//! Request ids, and the repetition of requests after the daemon has exited.

use std::time::{Duration, Instant};
use stickpin_kernel::Request;

/// How long a client tries to reach the next daemon after one has exited.
const WINDOW: Duration = Duration::from_secs(10);

/// The pause before a request is repeated.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// Gives a request an id, unless it has one. Repetitions keep the id.
pub(crate) fn set_id(request: &mut Request) {
    request.request_id.get_or_insert_with(|| format!("{:032x}", rand::random::<u128>()));
}

/// Decides whether a request is repeated after its connection was lost.
#[derive(Debug)]
pub(crate) struct Reconnect {
    allowed: bool,
    until: Option<Instant>,
}

impl Reconnect {
    pub(crate) fn new(request: &Request) -> Self {
        Self { allowed: request.reconnects(), until: None }
    }

    /// Returns whether to repeat the request that was sent at `sent`. Gives up after a while if the
    /// daemons keep exiting.
    pub(crate) fn again(&mut self, sent: Instant) -> bool {
        let now = Instant::now();
        if now.duration_since(sent) >= WINDOW {
            // The daemon served the request for long enough: its exit is a new failure.
            self.until = None;
        }
        self.allowed && now < *self.until.get_or_insert(now + WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(command: &str) -> Request {
        Request { command: command.to_owned(), ..Request::default() }
    }

    #[test]
    fn request_keeps_its_id() {
        let (mut first, mut second) = (request("press"), request("press"));
        set_id(&mut first);
        set_id(&mut second);
        assert_ne!(first.request_id, second.request_id);
        let before = first.request_id.clone();
        set_id(&mut first);
        assert_eq!(first.request_id, before);
    }

    #[test]
    fn only_waits_for_the_turn_are_repeated_and_not_for_ever() {
        let now = Instant::now();
        assert!(!Reconnect::new(&request("press")).again(now), "its effect is unknown");
        for command in ["turn wait", "turn try"] {
            let mut reconnect = Reconnect::new(&request(command));
            assert!(reconnect.again(now) && reconnect.again(now), "{command}");
            reconnect.until = Some(now);
            assert!(!reconnect.again(now), "{command}");
            let Some(long_ago) = now.checked_sub(WINDOW) else { continue };
            assert!(reconnect.again(long_ago), "{command}: another daemon ended");
        }
    }
}
