//! Several sockets to one app, for readings of thousands of questions.
//!
//! The bridge that most toolkits are asked through takes one message of each socket in a turn of the app's main loop, and
//! such a turn costs as much as an answer. Asked over eight sockets an app answers eight questions in a turn (ADR 36).

use crate::at_once::all;
use crate::bus::body::{Call, Message};
use crate::bus::fault::Fault;
use crate::bus::limits::{AT_ONCE, SOCKET};
use crate::bus::link::Link;
use crate::bus::wire::Wire;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::OnceCell;

/// Sockets beside the first. More gain little, and each costs every turn of the app's main loop half a microsecond.
const MORE: usize = 7;

/// How long answers gather before they are taken in, and how often in one go: an app that takes longer is waited for.
const NAP: Duration = Duration::from_micros(100);
const NAPS: usize = 1_000;

/// Questions at once from which on they are worth it.
const MANY: usize = 64;

/// Further sockets of an app, connected when they are first needed.
#[derive(Debug)]
pub(super) struct Lanes {
    address: String,
    wires: OnceCell<Vec<Wire>>,
}

impl Lanes {
    pub(super) fn to(address: &str) -> Self {
        Self { address: address.to_owned(), wires: OnceCell::new() }
    }

    async fn wires(&self) -> &[Wire] {
        let connect = || async {
            let mut wires = Vec::with_capacity(MORE);
            for _ in 0..MORE {
                match Wire::connect(&self.address, false, SOCKET, Box::new(|_| {})).await {
                    Ok(wire) => wires.push(wire),
                    // There is the first.
                    Err(e) => {
                        tracing::debug!("{} is asked over {} sockets: {e}", self.address, wires.len() + 1);
                        break;
                    }
                }
            }
            wires
        };
        self.wires.get_or_init(connect).await
    }
}

impl Link {
    /// As many calls as `count` says, which may be answered in any order, over all ways that there are. The answers are in
    /// the order of the calls; what they say is read while others are awaited.
    pub(crate) async fn spread<'a, T>(
        &self,
        count: usize,
        call: impl Fn(usize) -> Call<'a>,
        said: impl Fn(usize, Result<Message, Fault>) -> T,
    ) -> Vec<T> {
        let first = self.direct.as_ref().filter(|wire| !wire.closed() && !wire.stuck());
        let (Some(first), Some(lanes), MANY..) = (first, &self.lanes, count) else {
            let answers = self.calls(&(0..count).map(call).collect::<Vec<_>>()).await;
            return answers.into_iter().enumerate().map(|(n, answer)| said(n, answer)).collect();
        };
        let more = lanes.wires().await.iter().filter(|wire| !wire.closed() && !wire.stuck());
        let wires: Vec<&Wire> = std::iter::once(&**first).chain(more).collect();
        // Two to a socket: while the next questions of one are made, the app has those of the other.
        let streams = 2 * wires.len();
        let (each, at_once) = (count.div_ceil(streams), AT_ONCE / streams);
        let (call, said) = (&call, &said);
        let asked = wires.iter().cycle().take(streams).enumerate().map(|(stream, wire)| {
            let from = count.min(stream * each);
            async move {
                // What one asks is written before the next makes its questions.
                turns(stream).await;
                let said = |at, answer| match answer {
                    Err(Fault::Stuck) => None,
                    answer => Some(said(from + at, answer)),
                };
                wire.in_parts(None, each.min(count - from), |at| call(from + at), said, at_once).await
            }
        });
        let answers: Vec<Option<T>> = tokio::select! {
            biased;
            answers = all(asked) => answers.into_iter().flatten().collect(),
            never = naps(streams) => match never {},
        };
        let missing: Vec<usize> = (0..count).filter(|&n| answers[n].is_none()).collect();
        let again = self.calls(&missing.iter().map(|&n| call(n)).collect::<Vec<_>>()).await;
        let mut again = missing.into_iter().zip(again).map(|(n, answer)| said(n, answer));
        answers.into_iter().filter_map(|answer| answer.or_else(|| again.next())).collect()
    }
}

/// Gives all else on this thread so many turns.
async fn turns(count: usize) {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}

/// Keeps this thread from being woken for every answer: it costs the app more to wake us than to make the answer.
/// It begins when as many as `streams` have asked.
async fn naps(streams: usize) -> Infallible {
    turns(streams).await;
    for _ in 0..NAPS {
        std::thread::sleep(NAP);
        tokio::task::yield_now().await;
    }
    // It takes its time: now we can wait.
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::body::Args;
    use crate::events::Heard;
    use crate::tests::peer::App;
    use std::sync::Arc;

    /// Every third is one that the app can answer.
    fn call(at: usize) -> Call<'static> {
        let member = if at.is_multiple_of(3) { "GetRole" } else { "C" };
        Call { path: "/a", interface: "a.b", member, args: Args::new() }
    }

    fn as_it_is(_: usize, answer: Result<Message, Fault>) -> Result<Message, Fault> {
        answer
    }

    async fn link(bus: &App, own: &App) -> Link {
        bus.link_and_own(&Arc::new(Heard::new()), own).await.with_lanes(&own.address())
    }

    #[tokio::test]
    async fn many_questions_go_over_many_sockets_and_each_has_its_own_answer() {
        let (bus, own) = (App::start(), App::start());
        let link = link(&bus, &own).await;
        for count in [MANY, MANY + 1, 2_000] {
            let before = own.calls();
            let answers = link.spread(count, call, as_it_is).await;
            assert_eq!((answers.len(), own.calls() - before), (count, count));
            for (at, answer) in answers.into_iter().enumerate() {
                match at % 3 {
                    0 => assert!(answer.is_ok(), "{at} of {count}: {answer:?}"),
                    _ => assert!(matches!(answer, Err(Fault::Unknown)), "{at} of {count}: {answer:?}"),
                }
            }
            assert_eq!(own.connections(), 1 + MORE, "they are kept");
        }
        assert_eq!(bus.calls(), 0);
    }

    #[tokio::test]
    async fn few_questions_need_one_socket_and_so_does_an_app_that_outlives_us() {
        let (bus, own) = (App::start(), App::start());
        let heard = Arc::new(Heard::new());
        let few = link(&bus, &own).await.spread(MANY - 1, call, as_it_is).await;
        assert_eq!((few.len(), own.connections()), (MANY - 1, 1));
        let other = bus.link_and_own(&heard, &own).await;
        let many = other.spread(2_000, call, as_it_is).await;
        assert_eq!((many.len(), own.connections()), (2_000, 2));
        // And one that has no socket of its own.
        let plain = bus.link(&heard).await;
        assert_eq!(plain.spread(MANY, call, as_it_is).await.len(), MANY);
        assert_eq!(bus.calls(), MANY);
    }

    #[tokio::test]
    async fn an_app_that_says_nothing_on_any_of_them_is_silent() {
        let (bus, own) = (App::start(), App::start());
        let link = link(&bus, &own).await;
        own.hold();
        let answers = link.spread(2_000, call, as_it_is).await;
        assert_eq!(answers.len(), 2_000);
        assert!(answers.iter().all(|answer| matches!(answer, Err(Fault::Silent(_)))), "{:?}", answers[0]);
    }

    #[tokio::test]
    async fn where_there_is_nothing_more_to_connect_to_the_first_socket_does() {
        let (bus, own) = (App::start(), App::start());
        let link = bus.link_and_own(&Arc::new(Heard::new()), &own).await;
        let link = link.with_lanes("unix:path=/nowhere/at/all");
        let answers = link.spread(2_000, call, as_it_is).await;
        assert_eq!((answers.len(), answers.iter().filter(|a| a.is_ok()).count()), (2_000, 667));
        assert_eq!((own.connections(), own.calls()), (1, 2_000));
    }
}
