//! Sessions: turns, deadlines, closing, ownership.

use super::support::{Bench, text};
use crate::Caller;
use serde_json::json;
use std::time::Duration;
use stickpin_device::PendingActivity;
use tokio_util::sync::CancellationToken;

const PAGE: &str = "heading \"Home\" #2\nbutton \"Go\" #3";

#[tokio::test(start_paused = true)]
async fn open_reports_what_keeps_the_app_from_being_quiet() {
    let b = Bench::new("button \"Go\" #2\n");
    let opened = b.ok("open", json!({ "what": "fake:/" })).await;
    assert_eq!(opened.output.as_ref().unwrap()["settled"], true);
    b.fake.world().still = vec![PendingActivity::Other("mutations of div#\u{1b}clock".to_owned())];
    let opened = b.ok("open", json!({ "what": "fake:/", "relaunch": true })).await;
    let output = opened.output.as_ref().unwrap();
    assert_eq!(output["settled"], false);
    assert_eq!(output["still"], json!(["mutations of div#\u{1b}clock"]));
    let text = text(&opened);
    assert!(text.contains("\nnot quiet yet: mutations of div#") && !text.contains('\u{1b}'), "{text}");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_open_is_not_found() {
    let b = Bench::new(PAGE);
    let (code, r) = b.fails("snapshot", json!({})).await;
    assert_eq!((code, r.exit), ("SESSION_NOT_FOUND", 6));
    assert_eq!(b.fails("nothing", json!({})).await.0, "INVALID_ARGS");
    assert_eq!(b.fails("open", json!({ "what": "gopher://x" })).await.0, "INVALID_ARGS");
}

#[tokio::test(start_paused = true)]
async fn arguments_are_checked_by_name() {
    let b = Bench::open(PAGE).await;
    let (_, r) = b.fails("press", json!({ "taget": "@e1" })).await;
    assert!(r.error.unwrap().hint.contains("`target`"));
    let (_, r) = b.fails("press", json!({})).await;
    let error = r.error.unwrap();
    assert_eq!(error.message, "`press` needs `target`");
    assert!(error.hint.starts_with("run `stickpin help press`; arguments: target (required), "), "{error}");
    let (_, r) = b.fails("press", json!({ "target": "@e1", "count": "two" })).await;
    assert!(r.error.unwrap().message.starts_with("`count` of `press`: \"two\" is not a whole number"));
    for (count, message) in [
        (json!(2.5), "2.5 is not a whole number"),
        (json!(1e30), "1e+30 is not a whole number from -9223372036854775808 to 18446744073709551615"),
    ] {
        let (_, r) = b.fails("press", json!({ "target": "@e1", "count": count })).await;
        assert_eq!(r.error.unwrap().message, format!("`count` of `press`: {message}"));
    }
    let (_, r) = b.fails("press", json!({ "target": "role=buton" })).await;
    assert!(r.error.unwrap().message.contains("`target` of `press`"));
}

#[tokio::test(start_paused = true)]
async fn an_open_session_goes_elsewhere_and_keeps_its_lifetime() {
    let b = Bench::open(PAGE).await;
    let one = b.ok("snapshot", json!({})).await.refs.unwrap();
    b.ok("open", json!({ "what": "fake:/two" })).await;
    let two = b.ok("snapshot", json!({})).await.refs.unwrap();
    assert_eq!(one.lifetime, two.lifetime);
    assert_eq!(two.generation, one.generation.map(|g| g + 1));
    b.ok("open", json!({ "what": "fake:/two", "relaunch": true })).await;
    let three = b.ok("snapshot", json!({})).await.refs.unwrap();
    assert_ne!(two.lifetime, three.lifetime);
    let world = b.fake.world();
    assert_eq!((world.opened, world.closed), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn options_that_an_open_session_cannot_change_are_refused() {
    let b = Bench::new(PAGE);
    let mut input = json!({ "what": "fake:/", "private": true, "option": ["lives=9"] });
    b.ok("open", input.clone()).await;
    b.ok("open", input.clone()).await;
    b.ok("open", json!({ "what": "fake:/" })).await;
    for (name, value, flag) in [
        ("headed", json!(true), "--headed"),
        ("attach", json!(true), "--attach"),
        ("profile", json!("/tmp/p"), "--profile"),
        ("option", json!(["lives=8"]), "--option lives"),
    ] {
        let mut changed = input.clone();
        changed[name] = value;
        let (code, r) = b.fails("open", changed).await;
        let error = r.error.unwrap();
        let message = format!("`{flag}` cannot be changed while the session is open; nothing was done");
        assert_eq!((code, &*error.message), ("INVALID_ARGS", &*message));
        assert!(error.hint.contains(&format!("--relaunch` with `{flag}`")), "{}", error.hint);
    }
    assert_eq!(b.fake.world().opened, 1);
    input["relaunch"] = json!(true);
    input["attach"] = json!(true);
    b.ok("open", input).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_of_another_caller_is_not_taken_over() {
    let b = Bench::open(PAGE).await;
    let mut other = b.clone();
    other.caller = Caller { key: "somebody".into(), ..b.caller.clone() };
    let (code, r) = other.fails("open", json!({ "what": "fake:/x" })).await;
    assert_eq!((code, r.exit), ("SESSION_EXISTS", 5));
    assert!(text(&r).contains("\"me\""), "{}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn a_failed_opening_leaves_no_session() {
    let b = Bench::new(PAGE);
    assert_eq!(b.fails("open", json!({ "what": "fake:missing" })).await.0, "DEVICE_NOT_FOUND");
    assert_eq!(b.host.sessions(), 0);
    b.ok("open", json!({ "what": "fake:/" })).await;
}

#[tokio::test(start_paused = true)]
async fn a_hung_device_loses_its_own_session_only() {
    let b = Bench::open(PAGE).await;
    let mut other = b.clone();
    other.caller.own_session = "other".into();
    other.ok("open", json!({ "what": "fake:/" })).await;
    b.fake.world().hangs_in = Some("perform");
    let began = tokio::time::Instant::now();
    let error = b.call("press", json!({ "target": "role=button" })).await.error.unwrap();
    assert_eq!(error.code.name(), "BACKEND_LOST");
    assert_eq!(error.dispatched, stickpin_device::Dispatched::Unknown);
    assert_eq!(began.elapsed().as_millis(), 30_500);
    b.fake.world().hangs_in = None;
    assert_eq!(b.fails("snapshot", json!({})).await.0, "BACKEND_LOST");
    other.ok("snapshot", json!({})).await;
    b.ok("open", json!({ "what": "fake:/" })).await;
    b.ok("snapshot", json!({})).await;
}

#[tokio::test(start_paused = true)]
async fn a_bug_in_a_command_loses_its_own_session_only() {
    let b = Bench::open(PAGE).await;
    let mut other = b.clone();
    other.caller.own_session = "other".into();
    other.ok("open", json!({ "what": "fake:/" })).await;
    b.fake.world().panics_in = Some("perform");
    let (code, r) = b.fails("press", json!({ "target": "role=button" })).await;
    assert_eq!((code, r.error.unwrap().dispatched), ("INTERNAL", stickpin_device::Dispatched::Unknown));
    assert_eq!(b.host.running(), 0, "a daemon that thinks it is busy never ends");
    b.fake.world().panics_in = None;
    assert_eq!(b.fails("snapshot", json!({})).await.0, "BACKEND_LOST");
    other.ok("snapshot", json!({})).await;
    b.ok("open", json!({ "what": "fake:/" })).await;
}

#[tokio::test(start_paused = true)]
async fn a_device_that_dies_is_lost_and_the_next_open_works() {
    let b = Bench::open(PAGE).await;
    b.fake.world().dead = true;
    assert_eq!(b.fails("snapshot", json!({})).await.0, "BACKEND_LOST");
    b.fake.world().dead = false;
    // The session's task ends on its own.
    while b.host.sessions() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(b.fails("snapshot", json!({})).await.0, "BACKEND_LOST");
    b.ok("open", json!({ "what": "fake:/" })).await;
}

#[tokio::test(start_paused = true)]
async fn an_act_that_an_app_ends_on_is_done_and_says_so() {
    for (opts, more) in [(Some("fake has exited (exit status: 0)"), json!({})), (None, json!({}))]
        .into_iter()
        .chain([(Some("fake has exited (exit status: 1)"), json!({ "settle": 500, "receipt": "off" }))])
    {
        let b = Bench::open(PAGE).await;
        let r = b.ok("snapshot", json!({ "interactive": true })).await;
        let target =
            text(&r).lines().find_map(|l| Some(l.trim().split_once(' ')?.0.strip_prefix('@')?.to_owned()));
        let mut input = json!({ "target": target.expect("something to press") });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        b.fake.world().on_perform = Some(Box::new(move |w| {
            w.dead = true;
            w.ended = opts.map(str::to_owned);
        }));
        match opts {
            Some(opts) => {
                let r = b.ok("press", input).await;
                assert!(text(&r).starts_with("pressed @") && text(&r).ends_with(opts), "{}", text(&r));
                assert_eq!(r.receipt, [opts]);
            }
            None => assert_eq!(b.fails("press", input).await.0, "BACKEND_LOST"),
        }
        assert_eq!(b.log().len(), 1, "it was pressed");
        // The app is gone in either case.
        while b.host.sessions() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(b.fails("snapshot", json!({})).await.0, "BACKEND_LOST");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_lets_others_in_between_its_looks() {
    let b = Bench::open(PAGE).await;
    let waiting = b.clone();
    let wait =
        tokio::spawn(
            async move { waiting.ok("wait", json!({ "target": "text=Done", "timeout": 60_000 })).await },
        );
    tokio::time::sleep(Duration::from_millis(700)).await;
    let began = tokio::time::Instant::now();
    b.ok("press", json!({ "target": "role=button", "receipt": "off" })).await;
    assert!(began.elapsed() < Duration::from_millis(50), "{:?}", began.elapsed());
    assert!(!wait.is_finished());
    b.fake.change(|w| w.replace("Home", "Done"));
    let r = wait.await.unwrap();
    assert!(text(&r).contains("heading \"Done\""), "{}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn two_waits_do_not_hold_each_other_up() {
    let b = Bench::open(PAGE).await;
    let long = b.clone();
    let long =
        tokio::spawn(
            async move { long.call("wait", json!({ "target": "text=Never", "timeout": 60_000 })).await },
        );
    let began = tokio::time::Instant::now();
    let (code, r) = b.fails("wait", json!({ "target": "text=Neither", "timeout": 2000 })).await;
    assert_eq!((code, r.exit), ("TIMEOUT", 3));
    assert!(began.elapsed() < Duration::from_millis(2300), "{:?}", began.elapsed());
    assert_eq!(long.await.unwrap().exit, 3);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_wait_ends_and_the_session_lives() {
    let b = Bench::open(PAGE).await;
    let cancel = CancellationToken::new();
    let (host, request) =
        (b.host.clone(), b.request("wait", json!({ "target": "text=Never", "timeout": 60_000 })));
    let token = cancel.clone();
    let call = tokio::spawn(async move { host.call(request, token).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let began = tokio::time::Instant::now();
    cancel.cancel();
    let r = call.await.unwrap();
    assert_eq!(r.error.unwrap().code.name(), "TIMEOUT");
    assert!(began.elapsed() < Duration::from_millis(10));
    b.ok("snapshot", json!({})).await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_stops_its_command_and_nothing_else() {
    let b = Bench::open(PAGE).await;
    let gone = tokio::time::timeout(
        Duration::from_millis(100),
        b.call("wait", json!({ "target": "text=Never", "timeout": 60_000 })),
    );
    assert!(gone.await.is_err());
    while b.host.running() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    b.ok("snapshot", json!({})).await;
}

#[tokio::test(start_paused = true)]
async fn close_does_not_queue() {
    let b = Bench::open(PAGE).await;
    let waiting = b.clone();
    let wait = tokio::spawn(async move {
        waiting.call("wait", json!({ "target": "text=Never", "timeout": 60_000 })).await
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let began = tokio::time::Instant::now();
    b.ok("close", json!({})).await;
    assert!(began.elapsed() < Duration::from_millis(600), "{:?}", began.elapsed());
    assert!(wait.await.unwrap().error.is_some());
    assert_eq!(b.fake.world().closed, 1);
    assert_eq!(b.host.sessions(), 0);
    assert_eq!(b.fails("close", json!({})).await.0, "SESSION_NOT_FOUND");
}

#[tokio::test(start_paused = true)]
async fn slow_read_ahead_is_dropped_and_the_session_stays_open() {
    let b = Bench::open(PAGE).await;
    b.fake.world().hangs_in = Some("capture");
    let began = tokio::time::Instant::now();
    for _ in 0..3 {
        let mut request = b.request("snapshot", json!({}));
        request.timeout_ms = Some(1_000);
        let error = b.host.call(request, CancellationToken::new()).await.error.unwrap();
        assert_eq!((error.code.name(), error.dispatched), ("TIMEOUT", stickpin_device::Dispatched::No));
        assert!(error.message.contains("1000 ms"), "{error}");
    }
    assert_eq!(began.elapsed().as_millis(), 4_500);
    b.fake.world().hangs_in = None;
    b.ok("snapshot", json!({})).await;
    assert_eq!(b.fake.world().closed, 0);
}

#[tokio::test(start_paused = true)]
async fn close_frees_the_name_of_a_hung_session() {
    let b = Bench::open(PAGE).await;
    b.fake.world().hangs_in = Some("capture");
    let hung = b.clone();
    let hung = tokio::spawn(async move { hung.call("snapshot", json!({})).await });
    tokio::time::sleep(Duration::from_millis(10)).await;
    let shown = b.ok("session show", json!({})).await;
    assert!(text(&shown).contains("running snapshot"), "{}", text(&shown));
    b.ok("close", json!({})).await;
    assert_eq!(hung.await.unwrap().error.unwrap().code.name(), "BACKEND_LOST");
    b.fake.world().hangs_in = None;
    b.ok("open", json!({ "what": "fake:/" })).await;
    b.ok("snapshot", json!({})).await;
}

#[tokio::test(start_paused = true)]
async fn an_unused_session_is_closed_and_says_so_afterwards() {
    let b = Bench::new(PAGE);
    b.ok("open", json!({ "what": "fake:/", "idleTimeout": 2 })).await;
    tokio::time::sleep(Duration::from_secs(119)).await;
    b.ok("get title", json!({})).await;
    tokio::time::sleep(Duration::from_secs(119)).await;
    assert_eq!(b.host.sessions(), 1);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(b.host.sessions(), 0);
    let (code, r) = b.fails("snapshot", json!({})).await;
    assert_eq!(code, "SESSION_NOT_FOUND");
    assert!(text(&r).contains("2 min without commands"), "{}", text(&r));
    assert_eq!(b.fake.world().closed, 1);
}

#[tokio::test(start_paused = true)]
async fn commands_of_one_session_run_one_at_a_time_in_order() {
    let b = Bench::open("button \"A\" #2\nbutton \"B\" #3").await;
    let calls = ["A", "B", "A", "B"].map(|name| {
        let b = b.clone();
        tokio::spawn(async move { b.ok("press", json!({ "target": format!("label={name}") })).await })
    });
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(b.log(), ["press 2", "press 3", "press 2", "press 3"]);
}

#[tokio::test(start_paused = true)]
async fn close_ends_a_batch_in_the_middle_of_a_step() {
    let b = Bench::open(PAGE).await;
    b.fake.world().hangs_in = Some("perform");
    let steps = json!({ "steps": [{ "command": "press", "input": { "target": "role=button" } }] });
    let running = b.clone();
    let batch = tokio::spawn(async move { running.call("batch", steps).await });
    tokio::time::sleep(Duration::from_millis(10)).await;
    let began = tokio::time::Instant::now();
    b.ok("close", json!({})).await;
    assert!(began.elapsed() <= Duration::from_millis(600), "{:?}", began.elapsed());
    assert_eq!(batch.await.unwrap().error.unwrap().code.name(), "BACKEND_LOST");
}

#[tokio::test(start_paused = true)]
async fn a_batch_opens_acts_and_closes() {
    let b = Bench::new(PAGE);
    let r = b
        .ok(
            "batch",
            json!({ "steps": [
                { "command": "open", "input": { "what": "fake:/" } },
                { "command": "press", "input": { "target": "role=button" } },
                { "command": "close" },
            ] }),
        )
        .await;
    assert_eq!(b.log(), ["press 3"]);
    assert_eq!(r.output.unwrap()["steps"].as_array().unwrap().len(), 3);
    assert_eq!((b.host.sessions(), b.fake.world().closed), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn waits_for_text_address_time_and_quiet() {
    let b = Bench::open(PAGE).await;
    b.ok("wait stable", json!({})).await;
    let began = tokio::time::Instant::now();
    b.ok("wait ms", json!({ "ms": 700 })).await;
    assert_eq!(began.elapsed().as_millis(), 700);
    let fake = b.fake.clone();
    let change = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        fake.change(|w| {
            w.replace("Home", "Order placed");
            w.url = "fake:/done".to_owned();
        });
    });
    assert!(text(&b.ok("wait text", json!({ "text": "order PLACED" })).await).contains("Order placed"));
    b.ok("wait url", json!({ "part": "/done" })).await;
    change.await.unwrap();
    let (code, r) = b.fails("wait url", json!({ "part": "/never", "timeout": 300 })).await;
    assert_eq!(code, "TIMEOUT");
    assert!(text(&r).contains("fake:/done"), "{}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_time_ends_with_its_session() {
    let b = Bench::open(PAGE).await;
    let waiting = b.clone();
    let wait = tokio::spawn(async move { waiting.call("wait ms", json!({ "ms": 1000 })).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    b.ok("close", json!({})).await;
    assert_eq!(wait.await.unwrap().error.unwrap().code.name(), "SESSION_NOT_FOUND");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_slowly_takes_its_own_folder_along_only() {
    let b = Bench::open(PAGE).await;
    b.fake.world().hangs_in = Some("close");
    let slow = b.clone();
    let slow = tokio::spawn(async move { slow.call("close", json!({})).await });
    while b.host.sessions() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    b.ok("open", json!({ "what": "fake:/" })).await;
    let r = b.ok("screenshot", json!({})).await;
    let picture = r.output.unwrap()["path"].as_str().unwrap().to_owned();
    assert!(slow.await.unwrap().warning.is_some(), "its device did not end");
    assert!(std::path::Path::new(&picture).exists(), "{picture}");
}

#[tokio::test(start_paused = true)]
async fn the_folder_of_a_hung_session_goes_with_it() {
    let b = Bench::open(PAGE).await;
    let folders = || std::fs::read_dir(b.caller.cwd.join(crate::LIVE)).unwrap().count();
    assert_eq!(folders(), 1);
    b.fake.world().hangs_in = Some("perform");
    assert_eq!(b.fails("press", json!({ "target": "role=button" })).await.0, "BACKEND_LOST");
    while b.host.sessions() > 0 || folders() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Returns what the device was asked to read ahead.
fn read_ahead(b: &Bench) -> Vec<String> {
    b.fake.world().log.iter().filter(|line| line.starts_with("read ahead")).cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn an_app_that_rests_is_read_while_nobody_asks() {
    let b = Bench::open(PAGE).await;
    b.ok("snapshot", json!({})).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(read_ahead(&b).is_empty(), "nothing changed");
    b.fake.change(|world| world.rests = true);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(read_ahead(&b), ["read ahead, watching 2"], "once, with what refs stand for");
    let before = b.fake.world().captures;
    b.ok("snapshot", json!({})).await;
    assert_eq!(b.fake.world().captures, before + 1, "nothing is answered from it");
}

#[tokio::test(start_paused = true)]
async fn a_reading_ahead_that_hangs_keeps_nobody_for_long() {
    let b = Bench::open(PAGE).await;
    b.fake.change(|world| {
        world.hangs_in = Some("read_ahead");
        world.rests = true;
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(read_ahead(&b).len(), 1);
    let asked = tokio::time::Instant::now();
    b.ok("snapshot", json!({})).await;
    assert!(asked.elapsed() <= Duration::from_secs(1), "{:?}", asked.elapsed());
    b.fake.change(|world| world.rests = true);
    tokio::time::sleep(Duration::from_secs(1)).await;
    b.ok("close", json!({})).await;
    assert_eq!(b.fake.world().closed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_read_ahead_still_ends_when_nobody_asks() {
    let b = Bench::new(PAGE);
    b.ok("open", json!({ "what": "fake:/", "idleTimeout": 1 })).await;
    b.fake.change(|world| world.rests = true);
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(read_ahead(&b).len(), 1);
    assert_eq!(b.fails("snapshot", json!({})).await.0, "SESSION_NOT_FOUND");
}

#[tokio::test(start_paused = true)]
async fn options_of_open_are_checked_against_what_the_provider_declares() {
    let b = Bench::open(PAGE).await;
    let mut input = json!({ "what": "fake:/", "relaunch": true });
    for (name, value, message, hint) in [
        ("privateHome", json!(true), "a fake device does not support `--private-home`", "no device here"),
        ("option", json!(["live=9"]), "a fake device does not support `--option live`", "no device here"),
        (
            "option",
            json!(["lives=many"]),
            "`lives` of a fake device: \"many\" is not a whole",
            "capabilities",
        ),
        ("option", json!(["lives=300"]), "an option of `open` cannot be read: ", "capabilities"),
        ("option", json!(["headed=true"]), "`headed` has its own flag", "`--headed`"),
        ("option", json!(["lives"]), "\"lives\" lacks `=VALUE`", "NAME=VALUE"),
    ] {
        input[name] = value;
        let (code, r) = b.fails("open", input.clone()).await;
        let error = r.error.unwrap();
        assert_eq!(code, "INVALID_ARGS", "{error}");
        assert!(error.message.starts_with(message) && error.hint.contains(hint), "{error}: {}", error.hint);
        input.as_object_mut().unwrap().shift_remove(name);
    }
    assert_eq!(b.fake.world().opened, 1, "nothing was opened");
    input["option"] = json!(["lives=9"]);
    b.ok("open", input).await;
    assert_eq!(b.fake.world().lives, Some(9));
    let r = b.ok("capabilities", json!({})).await;
    assert!(
        text(&r).contains("\nfake open --option lives=VALUE: How many lives the fake has."),
        "{}",
        text(&r)
    );
    assert!(text(&r).contains("\nfake open --headed: Show the window."), "{}", text(&r));
}
