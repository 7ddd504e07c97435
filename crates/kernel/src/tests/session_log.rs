//! What the session log keeps of commands.

use super::support::Bench;
use super::two_agents::two;
use serde_json::json;
use std::sync::Arc;
use stickpin_coordinator::SessionAuthority;
use stickpin_session::log::{Argument, Arguments, CommandBegin, Kind};

fn log_of(bench: &Bench) -> Arc<SessionAuthority> {
    let coordinator = bench.host.inner.config.coordinator.as_ref().expect("a coordinator");
    coordinator.session("mine").expect("an open session")
}

/// The last command of a name.
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
