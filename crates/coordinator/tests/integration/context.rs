//! Conversations of consoles in the log of a session.

use crate::support::{World, agent};
use stickpin_coordinator::{ContextPage, Conversations, Participant, SessionAuthority};
use stickpin_device::ErrorCode;
use stickpin_session::log::{ContextAdded, Redacted};

fn entry(context: &str, body: &'static str) -> ContextAdded {
    ContextAdded {
        context: context.into(),
        body: Redacted::literal(body),
        result: Redacted::literal("ok"),
        target: Some(Redacted::literal("@e3")),
        generation: Some(7),
        pins: vec![(1, 3)],
        events: vec![2],
        cwd: Redacted::literal("/home/ana"),
    }
}

fn add(shop: &SessionAuthority, who: &Participant, context: &str, body: &'static str) -> u64 {
    Conversations(shop).add(who, entry(context, body)).unwrap()
}

fn bodies(page: &ContextPage) -> Vec<&str> {
    page.entries.iter().filter_map(|entry| entry.entry.body.text()).collect()
}

#[tokio::test(start_paused = true)]
async fn entries_are_read_by_conversation_and_from_where_a_reader_stopped() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let conversations = Conversations(&shop);
    add(&shop, &ada, "main", "press @e3");
    add(&shop, &ada, "other", "press @e9");
    let first = conversations.read("main", 0).unwrap();
    assert_eq!((bodies(&first), first.cleared), (vec!["press @e3"], false));
    let seq = add(&shop, &ada, "main", "press it");
    let next = conversations.read("main", first.cursor_seq).unwrap();
    assert_eq!((bodies(&next), next.cursor_seq), (vec!["press it"], seq));
    assert_eq!(bodies(&conversations.read("main", seq).unwrap()), Vec::<&str>::new());
}

#[tokio::test(start_paused = true)]
async fn cleared_conversation_is_empty_and_its_records_stay() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let conversations = Conversations(&shop);
    add(&shop, &ada, "main", "press @e3");
    let other = add(&shop, &ada, "other", "press @e9");
    conversations.clear(&ada, "main".into()).unwrap();
    let cleared = conversations.read("main", other).unwrap();
    assert_eq!((bodies(&cleared), cleared.cleared), (vec![], true), "a reader drops what it has");
    add(&shop, &ada, "main", "snapshot -i");
    assert_eq!(bodies(&conversations.read("main", 0).unwrap()), ["snapshot -i"]);
    assert_eq!(bodies(&conversations.read("other", 0).unwrap()), ["press @e9"]);
    let kinds = shop.records_after(0, 100).unwrap();
    let named = |name: &str| kinds.iter().filter(|record| record.kind.name().as_str() == name).count();
    assert_eq!((named("context"), named("context_cleared")), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn entry_that_is_too_long_is_refused() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let body: &'static str = "x".repeat(20_000).leak();
    let refused = Conversations(&shop).add(&ada, entry("main", body)).unwrap_err();
    assert_eq!(refused.code, ErrorCode::BodyTooLarge);
}
