//! The kernel as a library, on the simulated device.

use stickpin_backend_sim::SimProvider;
use stickpin_kernel::{Caller, ErrorCode, Fill, Host, Open, Press, Property, Request, Secret, Snapshot};

struct Bench {
    host: Host,
    _folder: tempfile::TempDir,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().expect("a folder");
    let host = Host::builder(folder.path()).provider(SimProvider::default()).build().expect("a host");
    Bench { host, _folder: folder }
}

#[tokio::test]
async fn typed_answer_has_what_every_surface_shows() {
    let bench = bench();
    let shop = bench.host.session("shop");
    let opened = shop.open("sim:shop").await.expect("it opens");
    assert!(opened.new && opened.quiet.settled, "{opened:?}");
    let page = shop.snapshot(Snapshot::interactive()).await.expect("a page");
    assert!(page.to_string().contains("@e5 link \"Cart (0)\""), "{page}");
    let pressed = shop.press(page.find("Cart").expect("one")).settle().await.expect("it is pressed");
    assert_eq!(pressed.acted.did, "pressed");
    assert_eq!(pressed.acted.quiet.as_ref().map(|quiet| quiet.settled), Some(true));
    assert!(pressed.acted.changes.is_some(), "{pressed:?}");
    assert_eq!(pressed.standing().map(|s| s.standing.as_str()), Some("current"));
    assert!(pressed.elements().is_ok_and(|changed| !changed.is_empty()), "{pressed:?}");
    assert!(pressed.receipt().iter().any(|line| line.contains("cart")), "{pressed:?}");
}

#[tokio::test]
async fn name_that_is_absent_or_ambiguous_names_the_candidates() {
    let bench = bench();
    let shop = bench.host.session("shop");
    shop.open("sim:shop").await.expect("it opens");
    let page = shop.snapshot(Snapshot::interactive()).await.expect("a page");
    let e = page.find("Add to cart").expect_err("there are several");
    assert_eq!(e.code, ErrorCode::AmbiguousMatch);
    assert_eq!(e.details["candidates"][0]["is"], "@e8 button \"Add to cart\"");
    let e = page.find("cart").expect_err("no element is called so");
    assert_eq!(e.code, ErrorCode::ElementNotFound);
    assert!(e.hint.contains("Cart (0)"), "{e:?}");
    assert_eq!(e.details["candidates"][0]["ref"], "@e5");
}

#[tokio::test]
async fn ref_of_an_old_reading_is_refused_or_told() {
    let bench = bench();
    let shop = bench.host.session("shop");
    shop.open("sim:staleness").await.expect("it opens");
    let page = shop.snapshot(Snapshot::interactive()).await.expect("a page");
    let elements = page.elements().expect("refs");
    assert!(!elements.is_empty());
    // The pin from the capture is sent with the ref, through the request.
    let press = serde_json::to_value(Press::new(elements[0].0)).expect("JSON");
    let pin = page.response.refs_generation.expect("a generation");
    assert_eq!(press["target"], format!("{}~s{pin}", elements[0].0));
    // In a new lifetime the old ref is invalid, however many new refs have its number.
    let old = elements[0].0;
    shop.run(Open { relaunch: true, ..Open::new("sim:staleness") }).await.expect("it opens anew");
    shop.snapshot(Snapshot::interactive()).await.expect("a page");
    let response = shop.press(old).response().await;
    assert!(
        response.error.is_some() || response.warning.is_some(),
        "a ref of another lifetime is used without a word: {response:?}"
    );
}

#[tokio::test]
async fn handles_are_clients_of_their_own() {
    let bench = bench();
    let first = bench.host.session("shop");
    let second = bench.host.session("shop");
    first.open("sim:shop").await.expect("it opens");
    first.snapshot(Snapshot::interactive()).await.expect("a page");
    // This client has read nothing before, so its changes are not relative to a capture of its own.
    let diff = || Snapshot { diff: true, ..Snapshot::default() };
    let own = first.snapshot(diff()).await.expect("changes");
    assert!(own.to_string().starts_with("no changes since"), "{own}");
    assert!(own.response.refs.as_ref().is_some_and(|refs| refs.base.is_some()), "{own:?}");
    let others = second.snapshot(diff()).await.expect("changes");
    assert!(others.response.refs.as_ref().is_none_or(|refs| refs.base.is_none()), "{others:?}");
}

#[tokio::test]
async fn target_that_is_no_target_fails_when_awaited() {
    let bench = bench();
    let e = bench.host.session("shop").press("@e").await.expect_err("no target");
    assert_eq!(e.code, ErrorCode::InvalidArgs);
    assert!(!e.hint.is_empty(), "{e:?}");
}

#[tokio::test]
async fn sessions_belong_to_their_caller() {
    let bench = bench();
    let mine = bench.host.session_as(Caller::new("me"), "shop");
    mine.open("sim:shop").await.expect("it opens");
    let theirs = bench.host.session_as(Caller::new("them"), "shop");
    let e = theirs.open("sim:shop").await.expect_err("it belongs to another caller");
    assert_eq!(e.code, ErrorCode::SessionExists);
}

#[tokio::test]
async fn request_as_data_runs_like_a_typed_command() {
    let bench = bench();
    let open = Request::new("open", Caller::new("me")).argument("what", "sim:shop");
    let response = bench.host.call(open, stickpin_kernel::CancellationToken::new()).await;
    assert!(response.ok, "{response:?}");
}

#[tokio::test]
async fn secret_of_the_caller_is_in_no_typed_answer() {
    let bench = bench();
    let secrets = [("SHOP".to_owned(), Secret::new("hunter2@example.com"))];
    let app = bench.host.session_as(Caller { secrets: secrets.into(), ..Caller::new("me") }, "app");
    app.open("sim:signin").await.expect("it opens");
    let fill = |fill: &mut Fill| (fill.text, fill.secret) = (None, Some("SHOP".to_owned()));
    let filled = app.fill("label=Email", "").with(fill).await.expect("it is filled");
    let value = app.get(Property::Value, "label=Email").await.expect("a value");
    assert_eq!(value.value, "•••");
    assert!(!format!("{filled:?} {value:?}").contains("hunter2"), "{filled:?} {value:?}");
}
