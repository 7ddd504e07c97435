//! What one agent can see and do while another holds the turn.

use super::support::{Bench, agent, text};
use serde_json::json;
use std::sync::Arc;
use stickpin_coordinator::{Coordinator, Environment};
use stickpin_session::Timestamp;
use stickpin_session::agent::{AgentKind, Resolution};
use stickpin_session::turn::{Liveness, Now};
use tokio_util::sync::CancellationToken;

const PAGE: &str = "heading \"Shop\" #2\nbutton \"Buy\" #3\n";

/// Returns two agents on one host with turns; the first has opened the app and holds the turn.
pub(super) async fn two() -> (Bench, Bench) {
    let mut ada = Bench::new(PAGE);
    let began = tokio::time::Instant::now();
    let environment = Environment {
        now: Arc::new(move || {
            let mono_ms = u64::try_from(began.elapsed().as_millis()).expect("a short test");
            Now { mono_ms, boot_id: "b1".into(), wall: Timestamp::from_millis(mono_ms) }
        }),
        random: Arc::new(rand::random),
        liveness: Arc::new(|_| Liveness::Unknown),
        pid: 1,
    };
    let coordinator = Coordinator::open(&ada.caller.cwd, 1, environment).expect("a coordinator");
    let config = crate::host::HostConfig { coordinator: Some(coordinator), ..ada.host.inner.config.clone() };
    let host = crate::Host::builder(&config.state_dir).configured(|c| *c = config);
    ada.host = host.build().expect("a host");
    ada.caller.agent = Some(agent("claude:ada"));
    let mut bob = ada.clone();
    bob.caller.agent = Some(agent("codex:bob"));
    bob.caller.client = Some("bob".into());
    ada.ok("open", json!({ "what": "fake:/" })).await;
    ada.ok("turn wait", json!({})).await;
    (ada, bob)
}

#[tokio::test(start_paused = true)]
async fn reader_does_not_age_the_refs_of_the_holder() {
    let (ada, bob) = two().await;
    let before = ada.ok("snapshot", json!({ "interactive": true })).await;
    ada.fake.world().outline.push_str("button \"New\" #9\n");
    let seen = bob.ok("snapshot", json!({ "interactive": true })).await;
    assert!(seen.warning.as_ref().is_some_and(|w| w.contains("claude:ada holds the turn")), "{seen:?}");
    assert!(!text(&seen).contains("New") && text(&seen).contains("Buy"), "{}", text(&seen));
    assert_eq!(seen.output.as_ref().expect("JSON")["cached"], true);
    bob.ok("find", json!({ "query": "Buy" })).await;
    bob.ok("snapshot", json!({ "diff": true })).await;
    let fresh = bob.ok("snapshot", json!({ "interactive": true, "fresh": true })).await;
    assert!(text(&fresh).contains("New") && !text(&fresh).contains("@e"), "{}", text(&fresh));
    let generation = |r: &crate::Response| r.refs.as_ref().and_then(|refs| refs.generation);
    let stored = bob.host.inner.slot("mine").expect("open").status.borrow().generation;
    assert_eq!(generation(&before), stored, "nothing was stored");
    let pinned = format!("@e2~s{}", stored.expect("a generation"));
    let pressed = ada.ok("press", json!({ "target": pinned })).await;
    assert_eq!(pressed.warning, None, "its pin is clean");
}

#[tokio::test(start_paused = true)]
async fn fresh_snapshot_follows_the_detail_and_refuses_what_reads_the_stored_tree() {
    let (ada, bob) = two().await;
    ada.ok("snapshot", json!({ "interactive": true })).await;
    let mut digest = bob.request("snapshot", json!({ "fresh": true }));
    digest.render.detail = crate::Detail::Digest;
    let digest = bob.host.call(digest, CancellationToken::new()).await;
    assert!(digest.ok && !text(&digest).contains("Buy"), "{digest:?}");
    assert!(digest.output.as_ref().is_some_and(|output| output.get("tree").is_none()), "{digest:?}");
    for (option, value) in [("diff", json!(true)), ("scope", json!("@e2"))] {
        let (code, r) = bob.fails("snapshot", json!({ "fresh": true, option: value })).await;
        let message =
            format!("`fresh` cannot be combined with `{option}` while another agent holds the turn");
        assert_eq!((code, r.error.unwrap().message), ("INVALID_ARGS", message));
    }
    ada.ok("snapshot", json!({ "fresh": true, "diff": true })).await;
}

/// Returns the generation of the stored tree.
fn stored_generation(bench: &Bench) -> Option<u64> {
    bench.host.inner.slot("mine").expect("open").status.borrow().generation
}

#[tokio::test(start_paused = true)]
async fn no_read_ages_the_refs_of_the_holder() {
    let (ada, bob) = two().await;
    ada.ok("snapshot", json!({ "interactive": true })).await;
    bob.ok("snapshot", json!({ "interactive": true })).await;
    let stored = stored_generation(&bob);
    ada.fake.world().outline.push_str("button \"New\" #9\n");
    for (command, input, expected) in [
        ("count", json!({ "selector": "role=button" }), "1"),
        ("read", json!({}), "Buy"),
        ("get", json!({ "what": "name", "target": "@e2" }), "Buy"),
        ("get", json!({ "what": "state", "target": "role=button" }), ""),
        ("is", json!({ "predicate": "exists", "target": "@e2" }), "true: @e2 button \"Buy\""),
        ("is", json!({ "predicate": "enabled", "target": "role=button" }), "true: @e2 button \"Buy\""),
        ("screenshot", json!({ "boxes": true }), "@e2"),
    ] {
        let read = bob.ok(command, input.clone()).await;
        assert!(text(&read).contains(expected) && !text(&read).contains("New"), "{input}: {}", text(&read));
        let warning = read.warning.as_deref().unwrap_or_default();
        assert_eq!(warning.matches("claude:ada holds the turn").count(), 1, "{command} {input}: {read:?}");
        assert_eq!(stored_generation(&bob), stored, "{command} {input}");
    }
    for (command, input) in [("get title", json!({})), ("get url", json!({}))] {
        bob.ok(command, input).await;
        assert_eq!(stored_generation(&bob), stored, "{command}");
    }
    let pressed = ada.ok("press", json!({ "target": format!("@e2~s{}", stored.expect("a tree")) })).await;
    assert_eq!(pressed.warning, None, "its pin is clean");
}

#[tokio::test(start_paused = true)]
async fn wait_sees_the_app_as_it_is_and_ages_no_refs_of_the_holder() {
    let (ada, bob) = two().await;
    ada.ok("snapshot", json!({ "interactive": true })).await;
    bob.ok("snapshot", json!({ "interactive": true })).await;
    let stored = stored_generation(&bob);
    let page = |rest: &str| format!("heading \"Shop\" #2\n{rest}");
    let with = |name: &str| page(&format!("button \"Buy\" #3\nbutton \"{name}\" #9\n"));
    let newer = json!({ "target": "role=button \"Newer\"" });
    for (command, input, outline, expected) in [
        ("wait text", json!({ "text": "New" }), with("New"), "button \"New\""),
        ("wait", newer.clone(), with("Newer"), "button \"Newer\" is visible"),
        ("wait absent", newer, page("button \"Buy\" #3\n"), "is not there"),
        ("wait absent", json!({ "target": "@e2" }), page(""), "@e2 is gone"),
        ("wait", json!({ "target": "@e2" }), page("button \"Buy\" #3\n"), "button \"Buy\" is visible"),
        ("wait absent", json!({ "target": "@e2" }), page("button \"Sell\" #3\n"), "@e2 is changed"),
    ] {
        let waits = {
            let (bob, input) = (bob.clone(), input.clone());
            tokio::spawn(async move { bob.ok(command, input).await })
        };
        tokio::task::yield_now().await;
        ada.fake.change(|world| world.outline = outline);
        let waited = waits.await.expect("an answer");
        assert!(text(&waited).contains(expected), "{command} {input}: {}", text(&waited));
        assert_eq!(stored_generation(&bob), stored, "{command} {input}");
    }
    ada.fake.change(|world| world.outline = with("New"));
    let (code, refused) = bob.fails("wait", json!({ "target": "role=button" })).await;
    assert_eq!(code, "AMBIGUOUS_MATCH");
    assert!(!format!("{:?}", refused.error).contains("@e"), "{refused:?}");
    assert_eq!(stored_generation(&bob), stored);
    let pressed = ada.ok("press", json!({ "target": format!("@e2~s{}", stored.expect("a tree")) })).await;
    assert_eq!(pressed.warning, None, "its pin is clean");
}

#[tokio::test(start_paused = true)]
async fn nothing_reaches_the_app_in_the_turn_of_another_agent() {
    let (ada, bob) = two().await;
    ada.ok("snapshot", json!({})).await;
    let log = ada.log();
    for (command, input) in [
        ("press", json!({ "target": "@e2" })),
        ("open", json!({ "what": "fake:/other" })),
        ("close", json!({})),
    ] {
        let (code, _) = bob.fails(command, input).await;
        assert_eq!(code, "NOT_YOUR_TURN", "{command}");
    }
    assert_eq!(ada.log(), log);
    bob.ok("close", json!({ "force": true })).await;
}

#[tokio::test(start_paused = true)]
async fn closed_session_says_so_to_who_waits() {
    let (ada, bob) = two().await;
    let waits = {
        let bob = bob.clone();
        tokio::spawn(async move { bob.call("turn wait", json!({})).await })
    };
    tokio::task::yield_now().await;
    ada.ok("close", json!({})).await;
    let closed = waits.await.expect("an answer");
    assert_eq!((closed.exit, text(&closed)), (11, "session mine is closed"));
}

/// A hanging launch is abandoned after the limit, and the session can still be restored.
#[tokio::test(start_paused = true)]
async fn app_that_does_not_open_again_in_time_is_given_up() {
    let (ada, _) = two().await;
    ada.ok("close", json!({})).await;
    ada.fake.world().hangs_in = Some("open");
    let began = tokio::time::Instant::now();
    let (code, response) = ada.fails("session restore", json!({})).await;
    assert_eq!(code, "RESTORE_TIMEOUT", "{response:?}");
    assert_eq!(began.elapsed().as_secs(), 20);
    assert!(ada.host.session_names().is_empty(), "the app was ended");
    ada.fake.world().hangs_in = None;
    let restored = ada.ok("session restore", json!({})).await;
    assert_eq!(restored.output.as_ref().expect("JSON")["action"], "restored");
}

/// The former owner's handoff is not lost with the turn.
#[tokio::test(start_paused = true)]
async fn handoff_of_a_turn_that_was_taken_comes_back() {
    let (ada, bob) = two().await;
    bob.ok("turn state", json!({})).await;
    bob.ok("turn join", json!({})).await;
    bob.ok("turn take", json!({ "operatorRequested": true })).await;
    let input = json!({ "status": "cart filled", "nextAction": "pay" });
    let (code, response) = ada.fails("turn release", input).await;
    assert_eq!(code, "STALE_LEASE");
    let details = &response.error.as_ref().expect("an error").details;
    assert_eq!(
        (&details["handoff"]["status"], &details["handoff"]["nextAction"]),
        (&json!("cart filled"), &json!("pay"))
    );
}

/// Two sessions must not act on one app, each in its own turn.
#[tokio::test(start_paused = true)]
async fn app_that_another_session_has_is_not_opened_again() {
    let (ada, bob) = two().await;
    let open = async |who: &Bench, session: &str, input: serde_json::Value| {
        let request = crate::Request { session: Some(session.into()), ..who.request("open", input) };
        who.host.call(request, tokio_util::sync::CancellationToken::new()).await
    };
    let (attached, kept) =
        (json!({ "what": "fake:/app", "attach": true }), json!({ "what": "fake:/other", "profile": "kept" }));
    assert!(open(&ada, "first", attached.clone()).await.ok);
    assert!(open(&ada, "second", kept.clone()).await.ok);
    let opened = ada.fake.world().opened;
    for (input, session) in [(&attached, "first"), (&kept, "second")] {
        let refused = open(&bob, "third", input.clone()).await.error.expect("an error");
        assert_eq!(refused.code.name(), "DEVICE_IN_USE", "{refused}");
        assert_eq!(refused.details, json!({ "session": session, "holder": "claude:ada" }));
        assert!(refused.hint.contains(&format!("stickpin --session {session} close")), "{}", refused.hint);
    }
    assert_eq!(ada.fake.world().opened, opened, "nothing was started");
    assert!(ada.host.inner.slot("third").is_err(), "no session is left behind");
    ada.fake.world().pid = Some(77);
    assert!(open(&ada, "started", json!({ "what": "fake:/started" })).await.ok);
    let by_name = open(&bob, "third", json!({ "what": "fake:/name", "attach": true })).await;
    let refused = by_name.error.expect("an error");
    assert_eq!((refused.code.name(), &refused.details["session"]), ("DEVICE_IN_USE", &json!("started")));
    assert!(refused.message.contains("process 77"), "{refused}");
    ada.fake.world().pid = None;
    assert!(open(&bob, "third", json!({ "what": "fake:/app" })).await.ok, "an app of its own");
    let close = crate::Request { session: Some("first".into()), ..ada.request("close", json!({})) };
    assert!(ada.host.call(close, tokio_util::sync::CancellationToken::new()).await.ok);
    assert!(open(&bob, "fourth", attached).await.ok);
}

/// A session keeps its denials in its next lifetime.
#[tokio::test(start_paused = true)]
async fn denials_outlive_the_lifetime_in_which_they_were_set() {
    let (ada, bob) = two().await;
    ada.ok("snapshot", json!({})).await;
    let deny = |change: &str| json!({ "name": "mine", "set": [format!("{change}=act:*")] });
    assert_eq!(bob.fails("session policy", deny("deny+")).await.0, "NOT_YOUR_TURN");
    let set = ada.ok("session policy", deny("deny+")).await;
    assert_eq!(set.output.as_ref().expect("JSON")["deny"], json!(["act:*"]));
    let log = ada.log();
    for _ in 0..2 {
        let (code, refused) = ada.fails("press", json!({ "target": "role=button" })).await;
        assert_eq!(code, "SCOPE_DENIED");
        let e = refused.error.expect("an error");
        assert_eq!((&e.details["rule"], &e.details["deniedBy"]), (&json!("act:*"), &json!("mine")));
        assert!(e.message.contains("session `mine` denies `act:*"), "{e}");
        assert!(!ada.log().iter().skip(log.len()).any(|call| call.contains("press")), "{:?}", ada.log());
        ada.ok("close", json!({})).await;
        ada.ok("open", json!({ "what": "fake:/" })).await;
        ada.ok("turn wait", json!({})).await;
    }
    assert_eq!(
        ada.fails("session policy", deny("deny-")).await.0,
        "SCOPE_DENIED",
        "an agent cannot allow it"
    );
    let mut person = ada.clone();
    let resolution = agent("human:ada");
    person.caller.agent = Some(Resolution { kind: AgentKind::Human, harness: "human".into(), ..resolution });
    person.ok("session policy", deny("deny-")).await;
    ada.ok("press", json!({ "target": "role=button" })).await;
}

#[tokio::test(start_paused = true)]
async fn replies_about_the_turn_and_the_agent_have_what_the_next_step_needs() {
    let (ada, bob) = two().await;
    ada.ok("snapshot", json!({})).await;
    let output = |response: crate::Response| response.output.expect("JSON");
    let held = ada.ok("turn wait", json!({})).await;
    let generation = ada.host.inner.slot("mine").expect("open").status.borrow().generation;
    assert_eq!(held.turns.iter().map(|held| held.turn_id).collect::<Vec<_>>(), [Some(1)]);
    assert_eq!(output(held)["refsGeneration"].as_u64(), generation);
    let other = bob.ok("turn try", json!({})).await;
    assert_eq!(other.turns.iter().map(|held| held.turn_id).collect::<Vec<_>>(), [None]);
    assert_eq!(output(other)["refsGeneration"], json!(null), "it may not act");
    ada.ok("notes add", json!({ "body": ["the card is declined"] })).await;
    assert_eq!(output(bob.ok("turn state", json!({})).await)["notes"], json!(null));
    let state = bob.ok("turn state", json!({ "notes": true })).await;
    assert!(text(&state).contains("1 by claude:ada: \"the card is declined\""), "{}", text(&state));
    assert_eq!(output(state)["notes"][0]["body"], "the card is declined");
    assert_eq!(output(bob.ok("whoami", json!({})).await)["display"], "codex:bob");
    bob.ok("turn join", json!({ "as": "reviewer" })).await;
    assert_eq!(output(bob.ok("whoami", json!({})).await)["display"], "reviewer");
    let (code, _) = bob.fails("events", json!({ "event": ["turn_lost"] })).await;
    assert_eq!(code, "INVALID_EVENT_TYPE_FILTER");
    let released = ada.ok("turn release", json!({ "status": "seen", "nextAction": "none" })).await;
    assert_eq!(released.turns.iter().map(|held| held.turn_id).collect::<Vec<_>>(), [None]);
}

/// An agent gets its unread events with every kind of request for the turn.
#[tokio::test(start_paused = true)]
async fn every_request_for_the_turn_returns_the_unread_events() {
    let (ada, bob) = two().await;
    ada.ok("turn wait", json!({})).await;
    bob.ok("turn join", json!({})).await;
    ada.ok("msg send", json!({ "to": "room", "body": ["the cart is full"] })).await;
    let asks = async |command: &str, input: serde_json::Value| {
        let response = bob.ok(command, input).await;
        let output = response.output.expect("JSON");
        let said = output["events"][0]["body"].clone();
        (response.exit, output["status"].clone(), output["wakeReason"].clone(), said)
    };
    let said = json!("the cart is full");
    for park in [false, true] {
        let tried = asks("turn try", json!({ "park": park })).await;
        assert_eq!(tried, (3, json!("not_yet"), json!("event"), said.clone()));
    }
    let taken = asks("turn take", json!({ "operatorRequested": true })).await;
    assert_eq!(taken, (0, json!("your_turn"), json!(null), said));
}

/// A client that names its turn with each request learns of a new turn only from the response.
#[tokio::test(start_paused = true)]
async fn steps_of_a_batch_expect_the_turn_that_an_earlier_step_claimed() {
    let (ada, bob) = two().await;
    ada.ok("snapshot", json!({})).await;
    let batch = async |steps: serde_json::Value| {
        let request = ada.request("batch", json!({ "steps": steps }));
        let request = crate::Request { turn: Some(1), ..request };
        ada.host.call(request, tokio_util::sync::CancellationToken::new()).await
    };
    let release = json!({ "command": "turn release", "input": { "status": "seen", "nextAction": "buy" } });
    let claim = json!({ "command": "turn wait", "input": {} });
    let press = json!({ "command": "press", "input": { "target": "role=button" } });
    let refused = batch(json!([release, press])).await.error.expect("an error");
    assert_eq!(refused.code.name(), "STALE_LEASE", "{refused}");
    let claimed = batch(json!([claim, press])).await;
    assert!(claimed.ok, "{claimed:?}");
    assert_eq!(claimed.turns.iter().map(|held| held.turn_id).collect::<Vec<_>>(), [Some(2)]);
    assert_eq!(bob.fails("press", json!({ "target": "role=button" })).await.0, "NOT_YOUR_TURN");
}
