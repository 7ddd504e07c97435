//! The invariants of the kernel, one test for each.

use super::support::{Bench, agent};
use crate::Host;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use stickpin_coordinator::{Coordinator, Environment};
use stickpin_device::{Dialog, Dispatched};
use stickpin_session::Timestamp;
use stickpin_session::log::Kind;
use stickpin_session::turn::{Liveness, Now};
use tokio_util::sync::CancellationToken;

const PAGE: &str = "heading \"Shop\" #2\nbutton \"Buy\" #3\ntextbox \"Note\" #4\n";

/// Returns a coordinator in whose log the time of a record is the number of inputs that the app had
/// received by then.
fn counting(b: &Bench) -> Coordinator {
    let fake = b.fake.clone();
    let environment = Environment {
        now: Arc::new(move || {
            let world = fake.world();
            let received = (world.log.len() + world.opened) as u64;
            Now { mono_ms: 0, boot_id: "b1".into(), wall: Timestamp::from_millis(received) }
        }),
        random: Arc::new(|| 7),
        liveness: Arc::new(|_| Liveness::Unknown),
        pid: 1,
    };
    Coordinator::open(&b.caller.cwd, 1, environment).expect("a coordinator")
}

#[tokio::test(start_paused = true)]
async fn the_log_knows_of_a_command_before_the_device_does() {
    let mut b = Bench::new(PAGE);
    let coordinator = counting(&b);
    let config =
        crate::host::HostConfig { coordinator: Some(coordinator.clone()), ..b.host.inner.config.clone() };
    let host = Host::builder(&config.state_dir).configured(|c| *c = config);
    b.host = host.build().expect("a host");
    b.caller.agent = Some(agent("claude:ada"));
    b.ok("open", json!({ "what": "fake:/" })).await;
    b.ok("snapshot", json!({})).await;
    b.ok("press", json!({ "target": "@e2" })).await;
    b.fails("press", json!({ "target": "@e99" })).await;
    let step = json!([{ "command": "press", "input": { "target": "@e2" } }]);
    b.ok("batch", json!({ "steps": step })).await;
    let records = coordinator.session("mine").expect("a session").records_after(0, 99).expect("records");
    let lines = records.iter().filter_map(|record| match &record.kind {
        Kind::CommandBegin(begin) => Some(format!("begin {} {}", begin.verb, record.ts.millis())),
        Kind::CommandEnd(end) => {
            let failed = end.error.as_ref().map_or("ok", |e| e.code.as_str());
            Some(format!("end {failed} {}", record.ts.millis()))
        }
        _ => None,
    });
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [
            "begin open 0",
            "end ok 1",
            "begin snapshot 1",
            "end ok 1",
            "begin press 1",
            "end ok 2",
            "begin press 2",
            "end REF_NOT_FOUND 2",
            "begin press 2",
            "end ok 3",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn every_act_asks_for_its_element_again() {
    let acts = [
        ("press", json!({ "target": "@e2" })),
        ("longpress", json!({ "target": "@e2" })),
        ("hover", json!({ "target": "@e2" })),
        ("drag", json!({ "source": "@e2", "destination": "@e3" })),
        ("fill", json!({ "target": "@e3", "text": "x" })),
        ("type", json!({ "into": "@e3", "text": "x" })),
        ("form", json!({ "fields": ["@e3=x"] })),
        ("select", json!({ "target": "@e2", "options": ["x"] })),
        ("check", json!({ "target": "@e2" })),
        ("uncheck", json!({ "target": "@e2" })),
        ("scroll", json!({ "direction": "down", "in": "@e2" })),
    ];
    for (command, input) in acts {
        let b = Bench::open(PAGE).await;
        // There has been no capture since: only a query for the element itself can reveal the
        // change.
        b.fake.world().replace("\"Buy\"", "\"Delete all\"");
        b.fake.world().replace("\"Note\"", "\"Password\"");
        let (code, r) = b.fails(command, input).await;
        assert_eq!(code, "STALE_REF", "{command}: {r:#?}");
        assert!(b.log().is_empty(), "{command}: {:?}", b.log());
    }
}

#[tokio::test(start_paused = true)]
async fn no_output_carries_a_pin() {
    let b = Bench::open(PAGE).await;
    let generation = b.ok("snapshot", json!({})).await.refs_generation.unwrap();
    let pin = |r: &str| format!("{r}~s{generation}");
    b.fake.world().replace("heading", "link \"Help\" #9\nheading");
    let asks = [
        ("count", json!({ "selector": "role=link" })),
        ("press", json!({ "target": pin("@e2"), "settle": true })),
        ("fill", json!({ "target": pin("@e3"), "text": "x" })),
        ("form", json!({ "fields": [format!("{}=y", pin("@e3"))], "submit": pin("@e2") })),
        ("is", json!({ "predicate": "visible", "target": pin("@e2") })),
        ("get", json!({ "what": "name", "target": pin("@e2") })),
        ("wait", json!({ "target": pin("@e2") })),
        ("snapshot", json!({ "scope": pin("@e2") })),
        ("batch", json!({ "steps": [{ "command": "press", "input": { "target": pin("@e2") } }] })),
        ("press", json!({ "target": pin("@e77") })),
    ];
    for (command, input) in asks {
        let r = b.call(command, input).await;
        let all = serde_json::to_string(&r).unwrap();
        assert!(!all.contains("~s"), "{command}: {all}");
    }
}

#[tokio::test(start_paused = true)]
async fn deadline_during_input_reports_dispatched_unknown() {
    let b = Bench::open(PAGE).await;
    b.fake.world().hangs_in = Some("perform");
    let request =
        crate::Request { timeout_ms: Some(1_000), ..b.request("press", json!({ "target": "@e2" })) };
    let began = tokio::time::Instant::now();
    let error = b.host.call(request, CancellationToken::new()).await.error.unwrap();
    assert_eq!((error.code.name(), error.dispatched), ("TIMEOUT", Dispatched::Unknown));
    assert!(error.message.contains("did not finish processing `press`"), "{error}");
    assert_eq!(began.elapsed().as_millis(), 1_500);
    // The input may still be accepted: the session ends only if the input hangs for longer than any
    // press may take.
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(b.host.sessions(), 1);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(b.fails("snapshot", json!({})).await.0, "BACKEND_LOST");
}

#[tokio::test(start_paused = true)]
async fn drop_safe_input_that_times_out_keeps_the_session() {
    let b = Bench::open(PAGE).await;
    (b.fake.world().drop_safe, b.fake.world().hangs_in) = (true, Some("perform"));
    let request =
        crate::Request { timeout_ms: Some(1_000), ..b.request("press", json!({ "target": "@e2" })) };
    let error = b.host.call(request, CancellationToken::new()).await.error.unwrap();
    assert_eq!((error.code.name(), error.dispatched), ("TIMEOUT", Dispatched::Unknown), "{error}");
    // Longer than any press may take.
    tokio::time::sleep(Duration::from_secs(60)).await;
    b.fake.world().hangs_in = None;
    b.ok("snapshot", json!({})).await;
    b.ok("press", json!({ "target": "@e2" })).await;
}

#[tokio::test(start_paused = true)]
async fn timeout_of_an_act_bounds_all_of_it() {
    // Wherever the device hangs, the command ends after its timeout, the settle time, 2 s more and
    // the grace period.
    for (hangs, input, dispatched, ms) in [
        ("locate", json!({ "target": "@e2", "timeout": 1_000 }), Dispatched::No, 3_500),
        ("aim", json!({ "target": "@e2", "timeout": 1_000 }), Dispatched::No, 3_500),
        ("perform", json!({ "target": "@e2", "timeout": 1_000 }), Dispatched::Unknown, 3_500),
        ("settle", json!({ "target": "@e2", "timeout": 1_000, "settle": 500 }), Dispatched::Unknown, 4_000),
    ] {
        let b = Bench::open(PAGE).await;
        b.fake.world().hangs_in = Some(hangs);
        let began = tokio::time::Instant::now();
        let error = b.call("press", input).await.error.expect(hangs);
        assert_eq!((error.code.name(), error.dispatched), ("TIMEOUT", dispatched), "{hangs}: {error}");
        assert_eq!(began.elapsed().as_millis(), ms, "{hangs}");
        assert_eq!(b.host.sessions(), 1, "{hangs}");
        let sent =
            ["did not finish processing", "the input was sent"].iter().any(|m| error.message.contains(m));
        assert_eq!(sent, dispatched == Dispatched::Unknown, "{hangs}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn timeout_of_a_wait_bounds_all_of_it() {
    for (command, hangs, input) in [
        ("wait", "capture", json!({ "target": "label=Nowhere", "timeout": 1_000 })),
        ("wait absent", "capture", json!({ "target": "@e2", "timeout": 1_000 })),
        ("wait text", "capture", json!({ "text": "nowhere", "timeout": 1_000 })),
        ("wait url", "query", json!({ "part": "/nowhere", "timeout": 1_000 })),
        ("wait stable", "settle", json!({ "timeout": 1_000 })),
    ] {
        let b = Bench::open(PAGE).await;
        b.fake.world().hangs_in = Some(hangs);
        let began = tokio::time::Instant::now();
        let error = b.call(command, input).await.error.expect(command);
        assert_eq!((error.code.name(), error.dispatched), ("TIMEOUT", Dispatched::No), "{command}: {error}");
        assert!(began.elapsed().as_millis() <= 3_500, "{command}: {:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn input_that_outlasts_its_timeout_keeps_the_session() {
    let b = Bench::open(PAGE).await;
    b.fake.world().hangs_in = Some("perform");
    let error = b.call("press", json!({ "target": "@e2", "timeout": 1_000 })).await.error.unwrap();
    assert_eq!((error.code.name(), error.dispatched), ("TIMEOUT", Dispatched::Unknown));
    // The app resumes.
    b.fake.change(|world| world.hangs_in = None);
    b.ok("snapshot", json!({})).await;
    assert_eq!(b.log(), ["press 3"]);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_before_the_input_says_that_nothing_was_sent() {
    let b = Bench::open(PAGE).await;
    b.fake.world().hangs_in = Some("locate");
    let request =
        crate::Request { timeout_ms: Some(1_000), ..b.request("press", json!({ "target": "@e2" })) };
    let error = b.host.call(request, CancellationToken::new()).await.error.unwrap();
    assert_eq!((error.code.name(), error.dispatched), ("TIMEOUT", Dispatched::No));
    assert!(b.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn caller_that_leaves_during_input_releases_the_session() {
    let b = Bench::open(PAGE).await;
    b.fake.world().slow_input = Some(Duration::from_secs(2));
    let gone = b.clone();
    let press = tokio::spawn(async move { gone.call("press", json!({ "target": "@e2" })).await });
    while !b.log().contains(&"down 3".to_owned()) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    press.abort();
    b.fake.world().slow_input = None;
    b.ok("press", json!({ "target": "@e2" })).await;
    assert_eq!(b.log(), ["down 3", "up 3", "press 3", "press 3"], "released, then the next");
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_a_dialog_goes_before_all_that_wait() {
    let b = Bench::open(PAGE).await;
    b.fake.world().slow_input = Some(Duration::from_secs(1));
    let call = |command: &'static str, input| {
        let b = b.clone();
        tokio::spawn(async move { b.call(command, input).await })
    };
    b.fake.world().on_input.insert(
        3,
        Box::new(|w| {
            w.dialog = Some(Dialog::new("confirm", "Sure?"));
        }),
    );
    let press = call("press", json!({ "target": "@e2" }));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let queued = call("fill", json!({ "target": "@e3", "text": "x" }));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let answer = call("alert accept", json!({}));
    assert!(press.await.unwrap().ok);
    assert!(answer.await.unwrap().ok);
    assert!(queued.await.unwrap().ok, "it found no dialog any more");
    assert_eq!(b.log(), ["down 3", "up 3", "press 3", "answer Accept(None)", "fill 4 \"x\""]);
}

#[tokio::test(start_paused = true)]
async fn two_clients_do_not_renew_for_each_other() {
    let b = Bench::open(PAGE).await;
    let mut other = b.clone();
    other.caller.key = "you".into();
    b.fake.world().replace("heading", "link \"Help\" #9\nheading");
    let mut request = other.request("snapshot", json!({}));
    request.session = Some("mine".into());
    assert!(other.host.call(request, CancellationToken::new()).await.ok);
    let r = b.ok("press", json!({ "target": "@e2" })).await;
    assert!(r.warning.is_some_and(|w| w.contains("changed")), "what the other one read is news to this one");
}
