//! Every effect of the app language, observed through captures, notices and the app's own log.

use super::common::Bench;
use std::time::Duration;
use stickpin_device::{DialogAnswer, ErrorCode, LeavePolicy, Navigation, Notice};
use stickpin_tree::{Role, States};

const ROWS: &str = "[lists]\nrows = [{ id = 'a', n = 1 }, { id = 'b', n = 2 }, { id = 'c', n = 3 }]\n";

/// Returns the texts of the rows after statements have run on a list whose nodes are bound to
/// records.
async fn rows_after(statements: &str) -> (String, Bench) {
    let mut b = Bench::app(ROWS, "list #list\n  for r in rows key r.id\n    li \"{r.id}{r.n}\"").await;
    b.probe.run(statements).unwrap();
    let tree = b.tree().await;
    let texts: Vec<&str> = tree.nodes().filter(|n| n.is_text()).map(|n| n.name()).collect();
    (texts.join(" "), b)
}

#[tokio::test]
async fn list_statements_change_records() {
    for (statements, expected) in [
        ("push(rows, id='d', n=4)", "a1 b2 c3 d4"),
        ("insert(rows, 1, id='d', n=4)", "a1 d4 b2 c3"),
        ("remove(rows, it.n > 1)", "a1"),
        ("update(rows, it.id != 'a', n=it.n * 10)", "a1 b20 c30"),
        ("replace(rows, it.id == 'b', id='d', n=9)", "a1 d9 c3"),
        ("move(rows, it.id == 'a', 2)", "b2 c3 a1"),
        ("reverse(rows)", "c3 b2 a1"),
        ("update(rows, it.id == 'a', n=5); sort(rows, 'n')", "b2 c3 a5"),
    ] {
        assert_eq!(rows_after(statements).await.0, expected, "{statements}");
    }
}

/// Returns the handles of the rows before and after a change.
async fn row_handles(view: &str, statements: &str) -> (Vec<u64>, Vec<u64>) {
    let mut b = Bench::app(ROWS, view).await;
    let mut both = Vec::new();
    for step in ["", statements] {
        b.probe.run(step).unwrap();
        let tree = b.tree().await;
        both.push(
            tree.nodes().filter(|n| n.role() == Role::ListItem).map(|n| n.handle().unwrap().id).collect(),
        );
    }
    let after = both.pop().unwrap();
    (both.pop().unwrap(), after)
}

#[tokio::test]
async fn keyed_nodes_follow_records_and_unkeyed_ones_positions() {
    let keyed = "list #list\n  for r in rows key r.id\n    li \"{r.id}\"";
    let (before, after) = row_handles(keyed, "remove(rows, it.id == 'a')").await;
    assert_eq!(after, before[1..]);
    let (before, after) = row_handles(keyed, "reverse(rows)").await;
    assert_eq!(after, before.iter().rev().copied().collect::<Vec<_>>());
    let keyless = "list #list\n  for r in rows\n    li \"{r.id}\"";
    let (before, after) = row_handles(keyless, "remove(rows, it.id == 'a')").await;
    assert_eq!(after, before[..2]);
    let (before, after) = row_handles(keyed, "rerender('list')").await;
    assert!(after.iter().all(|id| !before.contains(id)), "{before:?} {after:?}");
}

#[tokio::test]
async fn only_unkeyed_virtual_lists_reuse_nodes() {
    for (key, reused) in [("", true), (" key r.id", false)] {
        let head = "[generate.rows]\ncount = 500\nid = 'r{n}'\n";
        let view = format!("list #list scroll h=200\n  for r in rows{key} virtual 20\n    li \"{{r.id}}\"");
        let mut b = Bench::app(head, &view).await;
        let first = b.tree().await;
        b.probe.run("scroll('list', 5000)").unwrap();
        let then = b.tree().await;
        assert!(then.nodes().any(|n| n.name() == "r251") && !then.nodes().any(|n| n.name() == "r1"));
        let row = |n: &stickpin_tree::NodeRef<'_>| n.role() == Role::ListItem;
        let kept =
            first.nodes().filter(row).filter(|n| then.find_handle(n.handle().unwrap()).is_some()).count();
        assert_eq!(kept > 0, reused, "{kept} kept");
    }
}

#[tokio::test]
async fn timers_run_in_their_order_repeat_and_are_cancelled() {
    let head = "[state]\nlog = ''\n[do]\na = \"set(log, '{log}a')\"\nb = \"set(log, '{log}b')\"\n";
    let mut b = Bench::app(head, "p \"{log}\"").await;
    b.probe.run("every(1000, a); after(2500, b); after(2500, a)").unwrap();
    b.probe.advance(Duration::from_millis(3100));
    assert_eq!(b.probe.variable("log"), "aabaa");
    b.probe.run("cancel('a')").unwrap();
    b.probe.advance(Duration::from_secs(10));
    assert_eq!(b.probe.variable("log"), "aabaa");
    assert!(b.text().await.contains("aabaa"));
}

#[tokio::test]
async fn documents_routes_and_history_are_told_apart_by_their_scope() {
    let head = "[state]\nx = ''\n[screens.b]\nurl = '/b'\ntitle = 'B'\nview = 'h1 \"B\"'\n";
    let mut b = Bench::app(head, "h1 \"A{x}\"").await;
    let scope = |t: &stickpin_tree::Tree| (t.root().document().scope, t.root().document().url.clone());
    let (first, url) = scope(&b.tree().await);
    assert_eq!(url, "sim:t/");
    b.probe.run("route('/?x=1')").unwrap();
    assert_eq!(scope(&b.tree().await), (first, "sim:t/?x=1".into()));
    assert!(b.text().await.contains("\"A1\""));
    b.probe.run("goto('/b')").unwrap();
    let (second, url) = scope(&b.tree().await);
    assert_eq!((second != first, url.as_str()), (true, "sim:t/b"));
    let none = Default::default();
    let back = b
        .device
        .navigator()
        .unwrap()
        .navigate(&Navigation::Back, LeavePolicy::Ask, Duration::from_secs(1), &none)
        .await
        .unwrap();
    assert_eq!((back.moved, back.url.as_str(), back.quiet.is_quiet), (true, "sim:t/?x=1", true));
    assert!(scope(&b.tree().await).0 != first, "going back to another document loads it anew");
    let forward = b
        .device
        .navigator()
        .unwrap()
        .navigate(&Navigation::Forward, LeavePolicy::Ask, Duration::from_secs(1), &none)
        .await
        .unwrap();
    assert_eq!(forward.title, "B");
    let nowhere = b
        .device
        .navigator()
        .unwrap()
        .navigate(&Navigation::Forward, LeavePolicy::Ask, Duration::from_secs(1), &none)
        .await
        .unwrap();
    assert!(!nowhere.moved);
    let urls: Vec<_> = b.device.notices().await.unwrap();
    assert!(urls.contains(&Notice::Navigated { url: "sim:t/b".into() }), "{urls:?}");
}

#[tokio::test]
async fn page_variables_end_with_their_document_and_state_does_not() {
    let mut b = Bench::app("[state]\ns = 0\n[page]\np = 0\n", "h1 \"{s} {p}\"").await;
    b.probe.run("set(s, 1); set(p, 1); reload()").unwrap();
    assert!(b.text().await.contains("\"1 0\""));
}

#[tokio::test]
async fn another_tab_is_another_surface_and_closing_it_leads_back() {
    let mut b = Bench::app("", "h1 \"A\"").await;
    let first = b.tree().await;
    b.probe.run("tab('/')").unwrap();
    let second = b.tree().await;
    assert!(first.surface() != second.surface());
    let handle = first.nodes().nth(1).unwrap().handle().unwrap();
    assert!(b.device.locate(handle, &[]).await.unwrap().is_none());
    b.probe.run("close_tab()").unwrap();
    assert_eq!(b.tree().await, first);
    let notices = b.device.notices().await.unwrap();
    assert!(notices.iter().any(|n| matches!(n, Notice::TabOpened { id, .. } if id == "t2")), "{notices:?}");
}

#[tokio::test]
async fn toasts_are_announced_and_go() {
    let mut b = Bench::app("", "h1 \"A\"").await;
    b.probe.run("toast('Saved', 1000)").unwrap();
    assert!(b.text().await.contains("\"Saved\""));
    let notices = b.device.notices().await.unwrap();
    assert!(notices.contains(&Notice::LiveRegionText { text: "Saved".into() }), "{notices:?}");
    b.probe.advance(Duration::from_millis(1000));
    assert!(!b.text().await.contains("\"Saved\""));
}

#[tokio::test]
async fn errors_requests_downloads_and_alerts_are_noticed() {
    let mut b = Bench::app("", "h1 \"A\"").await;
    b.probe.run("console('oops'); fail('POST', '/api', '500'); download('a.csv'); alert('hello')").unwrap();
    let notices = b.device.notices().await.unwrap();
    for expected in [
        Notice::ConsoleError { text: "oops".into() },
        Notice::RequestFailed { method: "POST".into(), url: "/api".into(), why: "500".into() },
        Notice::Downloaded { path: "a.csv".into() },
        Notice::DialogShown { text: "hello".into() },
    ] {
        assert!(notices.contains(&expected), "{expected:?} in {notices:?}");
    }
    assert!(b.device.notices().await.unwrap().is_empty(), "what was told is not told again");
}

#[tokio::test]
async fn a_confirm_stops_the_app_until_it_is_answered() {
    let head = "[state]\nx = 'none'\n";
    let view = "button \"Go\" press=confirm('Sure?', set(x, 'yes'), set(x, 'no'))\np \"{x}\"";
    for (answer, expected) in [(DialogAnswer::Accept(None), "yes"), (DialogAnswer::Dismiss, "no")] {
        let mut b = Bench::app(head, view).await;
        b.press_named(Role::Button, "Go").await;
        let dialog = b.device.dialogs().unwrap().dialog().unwrap();
        assert_eq!((dialog.kind.as_str(), dialog.message.as_str()), ("confirm", "Sure?"));
        let blocked = b.device.capture(Default::default()).await.unwrap_err();
        assert_eq!(blocked.code, ErrorCode::DialogOpen);
        b.device.dialogs().unwrap().answer_dialog(answer).await.unwrap();
        assert_eq!((b.device.dialogs().unwrap().dialog(), b.probe.variable("x").as_str()), (None, expected));
        let none = b.device.dialogs().unwrap().answer_dialog(DialogAnswer::Dismiss).await.unwrap_err();
        assert_eq!(none.code, ErrorCode::ElementNotFound);
    }
}

#[tokio::test]
async fn a_prompt_writes_its_answer() {
    let mut b = Bench::app("[state]\nx = ''\n", "h1 \"A\"").await;
    b.probe.run("prompt('Name', 'Ada', x)").unwrap();
    assert_eq!(b.device.dialogs().unwrap().dialog().unwrap().default, "Ada");
    b.device.dialogs().unwrap().answer_dialog(DialogAnswer::Accept(Some("Eva".into()))).await.unwrap();
    assert_eq!(b.probe.variable("x"), "Eva");
}

#[tokio::test]
async fn leaving_a_guarded_page_is_asked_about() {
    let mut b = Bench::open("sim:settings/draft").await;
    let bio = b.find(Role::TextBox, "About you").await;
    b.fill(bio, "I paint.").await;
    let none = Default::default();
    let to = Navigation::To("sim:settings/".into());
    let arrived = b
        .device
        .navigator()
        .unwrap()
        .navigate(&to, LeavePolicy::Ask, Duration::from_secs(5), &none)
        .await
        .unwrap();
    assert_eq!(
        (arrived.moved, b.device.dialogs().unwrap().dialog().unwrap().kind.as_str()),
        (false, "beforeunload")
    );
    b.device.dialogs().unwrap().answer_dialog(DialogAnswer::Dismiss).await.unwrap();
    assert!(b.tree().await.root().document().url.ends_with("/draft"));
    b.device
        .navigator()
        .unwrap()
        .navigate(&to, LeavePolicy::Ask, Duration::from_secs(5), &none)
        .await
        .unwrap();
    b.device.dialogs().unwrap().answer_dialog(DialogAnswer::Accept(None)).await.unwrap();
    assert!(b.tree().await.root().document().url.ends_with("settings/"));
}

#[tokio::test]
async fn a_flaky_screen_fails_first_and_then_takes_its_time() {
    let mut b = Bench::open("sim:settings").await;
    let (to, none) = (Navigation::To("sim:settings/slow".into()), Default::default());
    let error = b
        .device
        .navigator()
        .unwrap()
        .navigate(&to, LeavePolicy::Ask, Duration::from_secs(5), &none)
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::DeviceNotFound);
    let arrived = b
        .device
        .navigator()
        .unwrap()
        .navigate(&to, LeavePolicy::Ask, Duration::from_secs(5), &none)
        .await
        .unwrap();
    assert!(arrived.moved && arrived.quiet.is_quiet);
    assert!(b.text().await.contains("\"Watch\""), "arrival waits for what is still being loaded");
    assert_eq!(b.probe.now_ms(), 250 + 600);
}

#[tokio::test]
async fn focus_and_scrolling_can_be_set_by_the_app() {
    let view = "textbox \"A\" #a\ntextbox \"B\" #b\nregion \"R\" #r scroll h=100\n  p \"x\" h=900";
    let mut b = Bench::app("", view).await;
    b.probe.run("focus('b'); scroll('r', 300)").unwrap();
    let tree = b.tree().await;
    let focused: Vec<_> = tree.nodes().filter(|n| n.is(States::FOCUSED)).map(|n| n.name()).collect();
    assert_eq!(focused, ["B"]);
    let text = tree.nodes().find(|n| n.role() == Role::Paragraph).unwrap().handle().unwrap();
    let region = tree.nodes().find(|n| n.role() == Role::Region).unwrap().handle().unwrap();
    let rects = b.device.rects(&[text, region]).await.unwrap();
    let (text, region) = (rects[0].unwrap(), rects[1].unwrap());
    assert!((region.y - text.y - 296.0).abs() < 1.0, "{text:?} {region:?}");
    b.probe.run("blur()").unwrap();
    assert!(!b.tree().await.nodes().any(|n| n.is(States::FOCUSED)));
}

#[tokio::test]
async fn a_crash_is_a_lost_device_from_then_on() {
    let mut b = Bench::open("sim:settings/devices").await;
    let crash = b.find(Role::Button, "Crash").await;
    let aim = b.device.aim(crash, stickpin_device::AimOptions::PLAIN_PRESS).await.unwrap();
    let error = b.press_at(aim.point, Some(crash)).await.unwrap_err();
    assert_eq!(
        (error.code, error.dispatched),
        (ErrorCode::BackendLost, stickpin_device::Dispatched::Unknown)
    );
    assert_eq!(b.device.capture(Default::default()).await.unwrap_err().code, ErrorCode::BackendLost);
    assert_eq!(b.device.notices().await.unwrap_err().code, ErrorCode::BackendLost);
    b.device.close().await.unwrap();
}

#[tokio::test]
async fn actions_that_call_themselves_end() {
    let mut b = Bench::app("[do]\na = 'a'\n", "h1 \"A\"").await;
    b.probe.run("a").unwrap();
    let notices = b.device.notices().await.unwrap();
    assert!(
        matches!(&notices[..], [.., Notice::ConsoleError { text }] if text.contains("nested too deeply")),
        "{notices:?}"
    );
}
