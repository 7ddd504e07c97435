//! Sessions that are opened again, or closed, after they lost their app.

use super::support::{Bench, agent, text};
use super::two_agents::two;
use serde_json::{Value, json};
use stickpin_session::turn::TurnPhase;

/// Returns an agent on the next host of the same state directory: no app is open there.
fn next_host(of: &Bench) -> Bench {
    let mut next = of.clone();
    let config = of.host.inner.config.clone();
    next.host = crate::Host::builder(&config.state_dir).configured(|c| *c = config).build().expect("a host");
    next
}

fn meta(bench: &Bench) -> stickpin_session::log::SessionMeta {
    let coordinator = bench.host.inner.config.coordinator.as_ref().expect("a coordinator");
    coordinator.meta("mine").expect("a session").0
}

fn output(response: crate::Response) -> Value {
    response.output.expect("JSON")
}

fn verify(bench: &Bench) {
    let coordinator = bench.host.inner.config.coordinator.as_ref().expect("a coordinator");
    let findings = coordinator.verify("mine").expect("a log").findings;
    assert!(findings.is_empty(), "{findings:?}");
}

/// Fault 40: the app does not come back, and its session is not at fault for it.
#[tokio::test(start_paused = true)]
async fn failed_restore_leaves_the_turn_and_the_session_as_they_were() {
    let (ada, bob) = two().await;
    let (ada, bob) = (next_host(&ada), next_host(&bob));
    let before = meta(&ada);
    assert_eq!(before.turn.state, TurnPhase::Owned);
    ada.fake.world().hangs_in = Some("open");
    for who in [&bob, &ada] {
        let (code, response) = who.fails("session restore", json!({})).await;
        assert_eq!(code, "RESTORE_TIMEOUT", "{response:?}");
        assert!(response.warning.is_some_and(|w| w.contains("Session mine and its turn are kept")));
        let after = meta(&ada);
        assert_eq!((after.status, &after.manifest), (before.status, &before.manifest));
        assert_eq!(after.turn.owner, before.turn.owner);
        assert_eq!((after.turn.turn_id, after.turn.state), (before.turn.turn_id, before.turn.state));
        assert_eq!(after.members.len(), before.members.len(), "{:?}", after.members);
    }
    ada.fake.world().hangs_in = None;
    let listed = output(ada.ok("session list", json!({})).await);
    assert_eq!(listed["sessions"][0]["state"], "restorable", "{listed}");
    assert_eq!(output(ada.ok("session restore", json!({})).await)["action"], "restored");
    verify(&ada);
}

/// What could not be opened must not be what the next restore opens.
#[tokio::test(start_paused = true)]
async fn failed_open_leaves_what_a_restore_opens() {
    let (ada, bob) = two().await;
    ada.ok("turn release", json!({ "status": "seen", "nextAction": "none" })).await;
    bob.ok("turn wait", json!({})).await;
    bob.ok("turn leave", json!({ "release": true, "status": "read", "nextAction": "none" })).await;
    ada.ok("turn wait", json!({})).await;
    ada.ok("turn leave", json!({ "release": true, "status": "read", "nextAction": "none" })).await;
    let (ada, bob) = (next_host(&ada), next_host(&bob));
    let before = meta(&ada);
    let (code, _) = bob.fails("open", json!({ "what": "fake:missing" })).await;
    assert_eq!(code, "DEVICE_NOT_FOUND");
    let after = meta(&ada);
    assert_eq!((&after.manifest, &after.targets), (&before.manifest, &before.targets));
    assert_eq!((after.turn.state, after.turn.owner, after.members), (TurnPhase::Idle, None, before.members));
    ada.ok("session restore", json!({})).await;
    assert_eq!(ada.fake.world().url, "fake:/");
    ada.ok("close", json!({ "force": true })).await;

    let (code, response) = ada.fails("open", json!({ "what": "fake:missing" })).await;
    assert_eq!(code, "DEVICE_NOT_FOUND");
    assert!(response.warning.is_some_and(|w| w.contains("Session mine stays closed")));
    assert_eq!(meta(&ada).turn.state, TurnPhase::Closed);
    assert_eq!(output(ada.ok("session restore", json!({})).await)["action"], "restored");
    assert_eq!(ada.fake.world().url, "fake:/");
    verify(&ada);
}

/// A session ends without its app as well: with its turn and its loans.
#[tokio::test(start_paused = true)]
async fn session_without_app_can_be_closed() {
    let (ada, bob) = two().await;
    let lent = json!({ "parent": "mine", "child": "pay", "lend": ["act:*"], "agent": "codex:bob" });
    ada.ok("session spawn", lent).await;
    let (ada, bob) = (next_host(&ada), next_host(&bob));
    let mut eve = bob.clone();
    eve.caller.agent = Some(agent("claude:eve"));
    assert_eq!(eve.fails("close", json!({})).await.0, "NOT_YOUR_TURN");
    let closed = ada.ok("close", json!({})).await;
    assert_eq!(text(&closed), "closed mine");
    let closed = output(closed);
    assert_eq!(
        (&closed["sessions"], closed["reclaimed"].as_array().map(Vec::len)),
        (&json!(["mine"]), Some(1))
    );
    assert_eq!(meta(&ada).turn.state, TurnPhase::Closed);
    let again = output(ada.ok("close", json!({})).await);
    assert_eq!((&again["sessions"], &again["reclaimed"]), (&json!(["mine"]), &Value::Null));
    let request = crate::Request { session: Some("nowhere".into()), ..ada.request("close", json!({})) };
    let unknown = ada.host.call(request, tokio_util::sync::CancellationToken::new()).await;
    assert_eq!(unknown.error.expect("an error").code.name(), "SESSION_NOT_FOUND");
    verify(&ada);
}
