//! Sessions that are opened again, or closed, after they have lost their app.

use super::support::{Bench, agent, text};
use super::two_agents::two;
use crate::commands::coordinate::members::omit_ended;
use serde_json::{Value, json};
use stickpin_session::log::Status;
use stickpin_session::turn::TurnPhase;

/// Returns an agent on the next host of the same state directory, where no app is open.
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

/// Fault 40: the app does not come back, for which its session is not to blame.
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
        assert!(response.warning.is_some_and(|w| w.contains("Session `mine` and its turn are kept")));
        let after = meta(&ada);
        assert_eq!((after.status, &after.manifest), (Status::Interrupted, &before.manifest));
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

/// The next restore must not open an app that could not be opened.
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
    assert!(response.warning.is_some_and(|w| w.contains("Session `mine` stays closed")));
    assert_eq!(meta(&ada).turn.state, TurnPhase::Closed);
    assert_eq!(output(ada.ok("session restore", json!({})).await)["action"], "restored");
    assert_eq!(ada.fake.world().url, "fake:/");
    verify(&ada);
}

/// A session without its app can be closed too; its turn and its loans end with the session.
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

#[tokio::test(start_paused = true)]
async fn answers_about_a_session_name_its_lifetime_its_target_and_its_turn() {
    let (ada, bob) = two().await;
    let again = output(ada.ok("open", json!({ "what": "fake:/cart" })).await);
    assert_eq!(
        (&again["created"], &again["lifetime"], &again["platform"]),
        (&json!(false), &json!(1), &json!("fake"))
    );
    assert_eq!(again["targets"][0]["targetId"], "mine", "{again}");
    assert_eq!(again["turn"], json!({ "turnId": 1, "state": "owned", "owner": "claude:ada" }));
    let request =
        crate::Request { session: Some("new".into()), ..bob.request("open", json!({ "what": "fake:/" })) };
    let first = output(bob.host.call(request, tokio_util::sync::CancellationToken::new()).await);
    assert_eq!((&first["created"], &first["turn"]["implicit"]), (&json!(true), &json!(true)));

    let lent = json!({ "parent": "mine", "child": "pay", "lend": ["observe:*"] });
    ada.ok("session spawn", lent).await;
    let shown = output(ada.ok("session show", json!({})).await);
    let meta = &shown["meta"];
    assert_eq!(
        (&meta["members"][0]["agentId"], &meta["loans"][0]["borrower"]),
        (&json!("claude:ada"), &json!("pay"))
    );
    assert_eq!(
        (&meta["policy"]["implicitTurns"], &meta["manifest"]["what"]),
        (&json!("auto"), &json!("fake:/"))
    );
    assert_eq!(meta["turn"]["leaseId"], Value::Null, "the fence is a secret of its owner");
    let live = &shown["live"];
    assert_eq!(
        (&live["reachable"], &live["status"], &live["error"]),
        (&json!(true), &json!("idle"), &Value::Null)
    );
    assert!(live["probedAt"].is_string(), "{live}");
    let listed = output(ada.ok("session list", json!({})).await);
    assert_eq!(listed["sessions"][0]["meta"], Value::Null);
    ada.fake.world().pid = Some(u32::MAX - 1);
    ada.ok("open", json!({ "what": "fake:/", "relaunch": true })).await;
    let gone = output(ada.ok("session show", json!({})).await);
    assert_eq!(gone["live"]["reachable"], false);
    assert_eq!(gone["live"]["error"], format!("its process {} has exited", u32::MAX - 1));
}

#[tokio::test(start_paused = true)]
async fn second_wait_of_an_agent_learns_who_waits_already() {
    let (ada, mut bob) = two().await;
    bob.caller.process = Some(4_711);
    let waits = {
        let bob = bob.clone();
        tokio::spawn(async move { bob.call("turn wait", json!({})).await })
    };
    tokio::task::yield_now().await;
    let (code, second) = bob.fails("turn wait", json!({})).await;
    assert_eq!(code, "DUPLICATE_LISTENER");
    let details = second.error.expect("an error").details;
    assert_eq!(details["pid"], 4_711);
    assert!(details["since"].is_string(), "{details}");
    ada.ok("turn release", json!({ "status": "seen", "nextAction": "none" })).await;
    assert_eq!(waits.await.expect("an answer").exit, 0);
    bob.ok("turn release", json!({ "status": "seen", "nextAction": "none" })).await;
    assert_eq!(ada.call("turn try", json!({ "park": true })).await.exit, 3, "it only looks");
    assert_eq!(meta(&ada).turn.state, TurnPhase::Idle);
}

#[tokio::test(start_paused = true)]
async fn members_that_ended_long_ago_are_left_out() {
    let (ada, bob) = two().await;
    bob.ok("turn join", json!({})).await;
    let coordinator = ada.host.inner.config.coordinator.as_ref().expect("a coordinator");
    let mut state = coordinator.session("mine").expect("open").state(None).expect("a state");
    for member in &mut state.members {
        (member.alive, member.silent_ms) = (Some(false), Some(state.policy.presence_ttl_ms + 1));
    }
    omit_ended(&mut state);
    let left: Vec<_> = state.members.iter().map(|member| member.agent_id.as_str()).collect();
    assert_eq!(left, ["claude:ada"], "it holds the turn");
    let all = output(bob.ok("turn state", json!({ "all": true })).await);
    assert_eq!((all["members"].as_array().map(Vec::len), &all["hidden"]), (Some(2), &Value::Null));
}

/// A session whose files are damaged does not hide the others.
#[tokio::test(start_paused = true)]
async fn doctor_names_damaged_sessions_and_what_repairs_them() {
    let (ada, _) = two().await;
    let request =
        crate::Request { session: Some("other".into()), ..ada.request("open", json!({ "what": "fake:/" })) };
    assert!(ada.host.call(request, tokio_util::sync::CancellationToken::new()).await.ok);
    let sound = ada.ok("doctor state", json!({})).await;
    assert!(text(&sound).contains("ok   sessions: 2 sessions with "), "{}", text(&sound));
    assert_eq!(output(sound)["status"], "ok");
    let sessions = ada.caller.cwd.join("sessions");
    let log = sessions.join("other/log/000001.jsonl");
    let lines = std::fs::read_to_string(&log).expect("a log");
    std::fs::write(&log, lines.replacen("fake", "Fake", 1)).expect("a log");
    for attempt in ["found", "known already"] {
        let broken = ada.call("doctor state", json!({})).await;
        assert_eq!(broken.exit, 1);
        let broken = output(broken);
        let bad: Vec<_> =
            broken["checks"].as_array().expect("checks").iter().filter(|c| c["ok"] == false).collect();
        assert_eq!(
            (bad.len(), &bad[0]["name"], &broken["status"]),
            (1, &json!("session other"), &json!("findings"))
        );
        assert!(
            bad[0]["fix"].as_str().is_some_and(|fix| fix.contains("log repair other")),
            "{attempt}: {bad:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_of_others_stay_open_and_own_ones_close() {
    let (ada, bob) = two().await;
    let request =
        crate::Request { session: Some("his".into()), ..bob.request("open", json!({ "what": "fake:/" })) };
    assert!(bob.host.call(request, tokio_util::sync::CancellationToken::new()).await.ok);
    let (code, response) = bob.fails("close", json!({ "all": true })).await;
    assert_eq!((code, response.warning.as_deref()), ("NOT_YOUR_TURN", Some("Closed his.")));
    assert_eq!(ada.host.session_names(), ["mine"]);
    bob.ok("close", json!({ "all": true, "force": true })).await;
    assert!(ada.host.session_names().is_empty());
}
