//! The feed, messages and notes.

use crate::support::{Plain, World, act, agent, handoff};
use std::sync::Arc;
use std::time::Duration;
use stickpin_coordinator::{
    Audience, Breadth, Delivery, EventQuery, Events, Filter, Participant, SessionAuthority, Talk, TurnReply,
    WaitOptions,
};
use stickpin_device::ErrorCode;
use stickpin_session::log::{KindName, MessageHint};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Returns a query that follows the events for the caller from the end of the log.
fn follow(who: &Participant) -> EventQuery {
    let filter = Filter { audience: Audience::Member(who.agent.clone()), ..Filter::default() };
    EventQuery { filter, limit: 500, wait: true, ..EventQuery::default() }
}

fn behind(after: u64, query: EventQuery) -> EventQuery {
    EventQuery { after: Some(after), ..query }
}

async fn read(shop: &SessionAuthority, who: &Participant, query: EventQuery) -> Events {
    query.read(shop, who, &CancellationToken::new()).await.unwrap()
}

fn kinds(events: &Events) -> Vec<KindName> {
    events.events.iter().map(|event| event.kind).collect()
}

fn bodies(events: &Events) -> Vec<&str> {
    events.events.iter().filter_map(|event| event.body.as_ref()?.as_str()).collect()
}

fn say(shop: &SessionAuthority, who: &Participant, to: &str, body: &str) -> Result<Delivery, ErrorCode> {
    let sent = Talk(shop).send(who, None, to, body.to_owned(), MessageHint::Normal, &Plain);
    sent.map(|sent| sent.delivery).map_err(|e| e.code)
}

/// Returns a session with two drivers, of which the first holds the turn.
fn two() -> (World, Arc<SessionAuthority>, Participant, Participant) {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    shop.join(&bob, false, Some("Bob".into())).unwrap();
    (world, shop, ada, bob)
}

#[tokio::test(start_paused = true)]
async fn a_reader_is_woken_by_what_is_for_it_and_by_nothing_else() {
    let (_world, shop, ada, bob) = two();
    let reads = {
        let (shop, bob) = (Arc::clone(&shop), bob.clone());
        tokio::spawn(async move { read(&shop, &bob, follow(&bob)).await })
    };
    tokio::task::yield_now().await;
    let before = shop.meta().applied_seq;
    // A note has no particular recipient, and an agent does not receive its own broadcasts.
    Talk(&shop).add_note(&ada, "the cart is empty".into(), None, &Plain).unwrap();
    assert_eq!(say(&shop, &bob, "room", "hello"), Ok(Delivery::Stored));
    assert_eq!(say(&shop, &ada, "Bob", "look at the cart"), Ok(Delivery::Live));
    let got = reads.await.unwrap();
    assert_eq!(bodies(&got), ["look at the cart"]);
    assert_eq!(got.cursor_seq, before + 3);
    assert_eq!(say(&shop, &ada, "room", "to all"), Ok(Delivery::Stored), "nobody reads any more");
    let next = read(&shop, &bob, behind(got.cursor_seq, follow(&bob))).await;
    assert_eq!(bodies(&next), ["to all"]);
    assert_eq!(bodies(&read(&shop, &ada, behind(0, follow(&ada))).await), ["hello"]);
}

#[tokio::test(start_paused = true)]
async fn message_is_live_only_for_a_wait_that_receives_it() {
    for (events, delivery) in [(false, Delivery::Stored), (true, Delivery::Live)] {
        let (_world, shop, ada, bob) = two();
        let none = WaitOptions { timeout: Some(Duration::ZERO), ..WaitOptions::default() };
        shop.wait(&ada, none, &CancellationToken::new()).await.unwrap();
        let cancel = CancellationToken::new();
        let waits = {
            let (shop, bob, cancel) = (Arc::clone(&shop), bob.clone(), cancel.clone());
            let options = WaitOptions { events, ..WaitOptions::default() };
            tokio::spawn(async move { shop.wait(&bob, options, &cancel).await.unwrap().events.len() })
        };
        tokio::task::yield_now().await;
        assert_eq!(say(&shop, &ada, "Bob", "look at the cart"), Ok(delivery));
        cancel.cancel();
        assert_eq!(waits.await.unwrap(), usize::from(events));
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_begins_at_the_end_and_gives_up_in_time() {
    let (_world, shop, ada, bob) = two();
    say(&shop, &ada, "claude:bob", "before").unwrap();
    let began = Instant::now();
    let query = EventQuery { timeout: Some(Duration::from_secs(30)), ..follow(&bob) };
    let got = read(&shop, &bob, query).await;
    assert_eq!((bodies(&got), began.elapsed()), (vec![], Duration::from_secs(30)));
    assert_eq!(got.cursor_seq, shop.meta().applied_seq);
    let beyond = behind(got.cursor_seq + 1, follow(&bob));
    let refused = beyond.read(&shop, &bob, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(
        (refused.code, &refused.details["maxSeq"]),
        (ErrorCode::InvalidCursor, &got.cursor_seq.into())
    );
}

#[tokio::test(start_paused = true)]
async fn reading_claims_nothing_and_renews_nothing() {
    let (_world, shop, ada, bob) = two();
    let silent = |who: &Participant| {
        let state = shop.state(None).unwrap();
        state.members.into_iter().find(|m| m.agent_id == who.agent).unwrap().silent_ms
    };
    tokio::time::sleep(Duration::from_secs(60)).await;
    let before = shop.meta();
    let query = EventQuery { timeout: Some(Duration::from_secs(60)), ..follow(&bob) };
    read(&shop, &bob, query).await;
    assert_eq!(shop.meta(), before, "no record, no wait, no turn");
    assert_eq!((silent(&ada), silent(&bob)), (Some(120_000), Some(120_000)));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_handed_over_is_an_event_of_its_next_owner() {
    let (_world, shop, ada, bob) = two();
    let options = WaitOptions { timeout: Some(Duration::ZERO), ..WaitOptions::default() };
    let claimed = shop.wait(&ada, options, &CancellationToken::new()).await.unwrap().reply;
    assert!(matches!(claimed, TurnReply::YourTurn(_)), "{claimed:?}");
    let cursor = shop.meta().applied_seq;
    shop.assign(&ada, "Bob", None, handoff(), false, &Plain).unwrap();
    let got = read(&shop, &bob, behind(cursor, follow(&bob))).await;
    assert_eq!(kinds(&got), [KindName::TurnAssigned]);
    assert_eq!(got.events[0].handoff.as_ref().unwrap()["status"], "cart filled");
    // A query for messages alone does not return it.
    let only = Some([KindName::Message].into());
    let query = EventQuery { timeout: Some(Duration::ZERO), ..behind(cursor, follow(&bob)) };
    let query = EventQuery { filter: Filter { kinds: only, ..query.filter.clone() }, ..query };
    assert_eq!(kinds(&read(&shop, &bob, query).await), []);
}

#[tokio::test(start_paused = true)]
async fn pages_of_the_log_miss_nothing_and_repeat_nothing() {
    let (mut world, _, ada, bob) = two();
    for n in 0..7 {
        say(&world.coordinator.session("shop").unwrap(), &ada, "room", &n.to_string()).unwrap();
        // From disk as well as from memory.
        if n == 3 {
            world.restart();
        }
    }
    let shop = world.coordinator.session("shop").unwrap();
    act(&shop, &ada).await.unwrap();
    let page = |after| EventQuery { limit: 2, wait: false, ..behind(after, follow(&bob)) };
    let (mut cursor, mut got) = (0, Vec::new());
    loop {
        let events = read(&shop, &bob, page(cursor)).await;
        if events.events.is_empty() {
            assert_eq!(events.cursor_seq, shop.meta().applied_seq);
            break;
        }
        got.extend(bodies(&events).into_iter().map(str::to_owned));
        cursor = events.cursor_seq;
    }
    assert_eq!(got, ["0", "1", "2", "3", "4", "5", "6"]);
    let last = EventQuery { wait: false, limit: 3, ..follow(&bob) };
    assert_eq!(bodies(&read(&shop, &bob, last).await), ["4", "5", "6"]);
    let all = Filter { breadth: Breadth::All, ..Filter::default() };
    let log = read(&shop, &bob, EventQuery { filter: all, limit: 999, ..EventQuery::default() }).await;
    assert_eq!(log.events.len() as u64, shop.meta().applied_seq);
    let ended = log.events.iter().find(|event| event.kind == KindName::CommandEnd).unwrap();
    assert_eq!(ended.payload.as_ref().unwrap()["verb"], "press");
}

#[tokio::test(start_paused = true)]
async fn a_saved_cursor_moves_when_the_answer_has_arrived() {
    let (mut world, shop, ada, bob) = two();
    let resume = || EventQuery { resume: true, timeout: Some(Duration::ZERO), ..follow(&bob) };
    assert_eq!(bodies(&read(&shop, &bob, resume()).await), [""; 0], "the first time, from the end on");
    world.coordinator.confirm_delivery(&bob.agent);
    say(&shop, &ada, "Bob", "one").unwrap();
    assert_eq!(bodies(&read(&shop, &bob, resume()).await), ["one"]);
    assert_eq!(bodies(&read(&shop, &bob, resume()).await), ["one"], "the answer did not arrive");
    world.coordinator.confirm_delivery(&bob.agent);
    say(&shop, &ada, "Bob", "two").unwrap();
    world.restart();
    let shop = world.coordinator.session("shop").unwrap();
    assert_eq!(bodies(&read(&shop, &bob, resume()).await), ["two"]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_learns_that_the_session_is_closed() {
    let (world, shop, _, bob) = two();
    let reads = {
        let (shop, bob) = (Arc::clone(&shop), bob.clone());
        tokio::spawn(async move { read(&shop, &bob, follow(&bob)).await })
    };
    tokio::task::yield_now().await;
    world.coordinator.close("shop").await.unwrap();
    assert!(reads.await.unwrap().closed);
    assert_eq!(say(&shop, &bob, "room", "anybody?"), Err(ErrorCode::SessionClosed));
}

#[tokio::test(start_paused = true)]
async fn messages_go_to_members_and_have_a_text() {
    let (world, shop, ada, bob) = two();
    let eve = agent("eve", 3);
    assert_eq!(say(&shop, &eve, "room", "hi"), Err(ErrorCode::UnknownMember));
    assert_eq!(say(&shop, &ada, "claude:eve", "hi"), Err(ErrorCode::UnknownRecipient));
    shop.join(&eve, true, Some("Bob".into())).unwrap();
    assert_eq!(say(&shop, &ada, "Bob", "hi"), Err(ErrorCode::AmbiguousRecipient));
    assert_eq!(say(&shop, &ada, "claude:bob", " \n"), Err(ErrorCode::InvalidBody));
    assert_eq!(say(&shop, &ada, "claude:bob", &"x".repeat(16_385)), Err(ErrorCode::MessageTooLarge));
    let note = Talk(&shop).add_note(&ada, "x".repeat(16_385), None, &Plain);
    assert_eq!(note.unwrap_err().code, ErrorCode::BodyTooLarge);
    assert_eq!(say(&shop, &ada, "claude:bob", &"x".repeat(16_384)), Ok(Delivery::Stored));
    assert_eq!(say(&shop, &eve, "claude:bob", "from an observer"), Ok(Delivery::Stored));
    world.ended.lock().unwrap().insert(2);
    assert_eq!(say(&shop, &ada, "claude:bob", "are you there?"), Ok(Delivery::Unreachable));
    shop.leave(&eve).unwrap();
    assert_eq!(say(&shop, &ada, "claude:eve", "still there?"), Err(ErrorCode::UnknownRecipient));
    assert_eq!(say(&shop, &bob, "claude:ada", "hi"), Ok(Delivery::Stored));
}

#[tokio::test(start_paused = true)]
async fn notes_outlive_the_host_and_are_resolved_by_their_author_or_the_owner() {
    let (mut world, shop, ada, bob) = two();
    let turn = shop.meta().turn.turn_id;
    let add = |shop: &SessionAuthority, who, body: &str, turn| {
        Talk(shop).add_note(who, body.to_owned(), turn, &Plain).map(|(id, _)| id).map_err(|e| e.code)
    };
    assert_eq!(add(&shop, &bob, "one", Some(turn)), Ok(1));
    assert_eq!(add(&shop, &ada, "two", None), Ok(2));
    assert_eq!(add(&shop, &ada, "never", Some(turn + 1)), Err(ErrorCode::InvalidTurnId));
    world.restart();
    let shop = world.coordinator.session("shop").unwrap();
    assert_eq!(add(&shop, &bob, "three", None), Ok(3));
    let ids = |all, after, limit| {
        let notes = Talk(&shop).notes(all, after, limit).unwrap();
        notes.iter().map(|note| (note.note_id, note.resolved)).collect::<Vec<_>>()
    };
    assert_eq!(ids(false, 0, 50), [(1, false), (2, false), (3, false)]);
    assert_eq!(ids(false, 1, 1), [(2, false)]);
    assert_eq!(Talk(&shop).resolve_note(&bob, 2).map_err(|e| e.code), Err(ErrorCode::NotYourTurn));
    Talk(&shop).resolve_note(&ada, 1).unwrap();
    Talk(&shop).resolve_note(&bob, 3).unwrap();
    assert_eq!(Talk(&shop).resolve_note(&bob, 3).map_err(|e| e.code), Err(ErrorCode::NoteNotFound));
    assert_eq!((ids(false, 0, 50), shop.state(None).unwrap().open_notes), (vec![(2, false)], 1));
    assert_eq!(ids(true, 0, 50), [(1, true), (2, false), (3, true)]);
    assert!(world.coordinator.verify("shop").unwrap().findings.is_empty());
}
