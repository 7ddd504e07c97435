//! The commands and captured trees in the session log.

use super::support::Bench;
use super::two_agents::two;
use serde_json::json;
use std::sync::Arc;
use stickpin_coordinator::SessionAuthority;
use stickpin_session::log::{Argument, Arguments, CommandBegin, Kind, Snapshot};

fn log_of(bench: &Bench) -> Arc<SessionAuthority> {
    let coordinator = bench.host.inner.config.coordinator.as_ref().expect("a coordinator");
    coordinator.session("mine").expect("an open session")
}

/// Returns the last command with this name.
fn last(bench: &Bench, verb: &str) -> CommandBegin {
    let records = log_of(bench).records_after(0, usize::MAX).expect("a log");
    let begin = records.iter().rev().find_map(|record| match &record.kind {
        Kind::CommandBegin(begin) if begin.verb == verb => Some((**begin).clone()),
        _ => None,
    });
    begin.unwrap_or_else(|| panic!("no {verb} in {records:?}"))
}

fn argument<'a>(arguments: &'a Arguments, name: &str) -> &'a str {
    match arguments.get(name) {
        Some(Argument::Text(text)) => text.text().expect("neither secret nor a blob"),
        other => panic!("{name} is {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_are_logged_as_given_and_as_resolved() {
    let (ada, _) = two().await;
    ada.ok("snapshot", json!({ "interactive": true })).await;
    ada.ok("press", json!({ "target": "@e2" })).await;
    let pressed = last(&ada, "press");
    assert_eq!(argument(&pressed.args_raw, "target"), "@e2");
    assert_eq!(argument(&pressed.args_resolved, "target"), "role=button label=Buy");
    assert_eq!((pressed.ref_pins.len(), pressed.ref_pins[0].r#ref.as_str()), (1, "@e2"));

    ada.ok("press", json!({ "target": "role=button" })).await;
    let pressed = last(&ada, "press");
    assert_eq!(pressed.args_raw, pressed.args_resolved, "there is nothing to resolve");

    ada.ok("record start", json!({ "file": "flows/buy.ad" })).await;
    let started = last(&ada, "record start");
    assert_eq!(argument(&started.args_raw, "file"), "flows/buy.ad");
    let absolute = ada.caller.cwd.join("flows/buy.ad");
    assert_eq!(argument(&started.args_resolved, "file"), absolute.to_str().expect("UTF-8"));
}

#[tokio::test(start_paused = true)]
async fn record_start_refuses_options_that_it_would_ignore() {
    let (ada, _) = two().await;
    for (input, refusal) in [
        (json!({ "keepLine": true }), "`keep-line` cannot be given without `repair` and `line`"),
        (json!({ "pass": "2" }), "`pass` cannot be given without `repair` and `line`"),
        (
            json!({ "keepReads": true, "repair": "flow.ad", "line": 1 }),
            "`keep-reads` cannot be combined with `repair`, which keeps no reads",
        ),
    ] {
        let (code, r) = ada.fails("record start", input).await;
        assert_eq!((code, r.error.unwrap().message.as_str()), ("INVALID_ARGS", refusal));
    }
}

#[tokio::test(start_paused = true)]
async fn summary_names_only_what_was_given() {
    let (ada, _) = two().await;
    let opened = last(&ada, "open");
    assert!(opened.args_raw.get("relaunch").is_some(), "the arguments are whole: {opened:?}");
    assert_eq!(opened.summary.text(), Some("what=\"fake:/\""));
    ada.ok("open", json!({ "what": "fake:/", "relaunch": true, "headed": false })).await;
    assert_eq!(last(&ada, "open").summary.text(), Some("what=\"fake:/\", relaunch=true"));
}

#[tokio::test]
async fn handoff_shows_the_screen_that_the_next_owner_gets() {
    let (ada, bob) = two().await;
    ada.fake.world().outline.push_str("textbox \"Card\" #5 focused\n");
    ada.ok("snapshot", json!({})).await;
    let slot = ada.host.inner.slot("mine").expect("open");
    let stored = slot.status.borrow().generation.expect("a generation");
    let session = log_of(&ada);
    let mut feed = session.feed();
    while session.meta().last_snapshot_generation != Some(stored) {
        feed.changed().await.expect("the session lives");
    }
    ada.ok("turn release", json!({ "status": "filled", "nextAction": "pay" })).await;
    let granted = bob.ok("turn wait", json!({})).await.output.expect("JSON");
    let ui = &granted["handoff"]["ui"];
    assert_eq!((&ui["generation"], &ui["focusedRef"]), (&json!(stored), &json!(format!("@e3~s{stored}"))));
    let hex = ui["lastSnapshotBlob"].as_str().and_then(|blob| blob.strip_prefix("sha256:")).expect("a blob");
    let blob = ada.caller.cwd.join("sessions/mine/blobs").join(&hex[..2]).join(hex);
    assert!(std::fs::read_to_string(blob).expect("a tree").contains("textbox \"Card\""));

    // A page may have an address of any length.
    slot.status.send_modify(|status| status.url = format!("data:text/html,{}", "é".repeat(1 << 20)));
    bob.ok("turn release", json!({ "status": "paid", "nextAction": "verify" })).await;
    let granted = ada.ok("turn wait", json!({})).await.output.expect("JSON");
    let address = granted["handoff"]["ui"]["urlOrActivity"].as_str().expect("an address").to_owned();
    assert!(address.len() <= 2_048 && address.ends_with("é…"), "{} bytes", address.len());
}

#[tokio::test]
async fn every_stored_tree_is_logged_without_protected_values() {
    let (ada, bob) = two().await;
    ada.fake.world().outline.push_str("textbox \"Key\" #5 protected value=hunter2\n");
    ada.ok("snapshot", json!({})).await;
    let stored = ada.host.inner.slot("mine").expect("open").status.borrow().generation;
    let session = log_of(&ada);
    let mut feed = session.feed();
    while session.meta().last_snapshot_generation != stored {
        feed.changed().await.expect("the session lives");
    }
    // A reader without the turn stores nothing.
    bob.ok("snapshot", json!({})).await;
    let records = session.records_after(0, usize::MAX).expect("a log");
    let snapshots: Vec<&Snapshot> = records
        .iter()
        .filter_map(|record| match &record.kind {
            Kind::Snapshot(snapshot) => Some(snapshot),
            _ => None,
        })
        .collect();
    let last = snapshots.last().expect("a tree");
    assert_eq!((Some(last.generation), last.node_count), (stored, 4));
    let hex = last.blob.blob.hex();
    let blob = ada.caller.cwd.join("sessions/mine/blobs").join(&hex[..2]).join(hex);
    let text = std::fs::read_to_string(blob).expect("a blob");
    assert!(text.contains("button \"Buy\"") && text.contains("textbox \"Key\""), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}
