//! Identity grades, captures that are known to be equal, clocks, faults and screenshots.

use super::common::Bench;
use std::time::Duration;
use stickpin_device::{
    Action, AimOptions, CancellationToken, CaptureRequest, CaptureResult, Delivery, ErrorCode, HitResult,
    ScreenshotRequest, SettleRequest,
};
use stickpin_tree::{IdentityGrade, Rect, Role};

const POINTER: AimOptions<'static> = AimOptions::PLAIN_PRESS;

#[tokio::test]
async fn the_grade_decides_what_handles_promise() {
    for (word, grade) in [
        ("never-reused", IdentityGrade::NeverReused),
        ("while-alive", IdentityGrade::WhileAlive),
        ("none", IdentityGrade::None),
    ] {
        let mut b = Bench::open(&format!("sim:shop?grade={word}")).await;
        assert_eq!(b.device.info().grade, grade);
        let (first, then) = (b.tree().await, b.tree().await);
        assert_eq!(first, then, "{word}: equal captures are equal by value");
        let (old, new) = (first.nodes().last().unwrap(), then.nodes().last().unwrap());
        assert_eq!(old.handle().is_some(), grade != IdentityGrade::None);
        assert_eq!(old.address() == new.address(), grade != IdentityGrade::None, "{word}");
        // A handle is valid until the next capture, whatever the grade.
        assert!(b.device.locate(new.address().unwrap(), &[]).await.unwrap().is_some());
        let before = b.device.locate(old.address().unwrap(), &[]).await.unwrap();
        assert_eq!(before.is_some(), grade != IdentityGrade::None);
    }
}

#[tokio::test]
async fn numbers_come_back_on_a_while_alive_device_and_only_there() {
    for (what, comes_back) in [
        ("sim:staleness/menu-reopened-new-nodes?grade=while-alive&rest=1", true),
        ("sim:staleness/menu-reopened-new-nodes?grade=while-alive", false),
        ("sim:staleness/menu-reopened-new-nodes?grade=never-reused", false),
    ] {
        let mut b = Bench::open(what).await;
        let first = b.find(Role::MenuItem, "Rename").await;
        b.probe.run("advance").unwrap();
        b.probe.run("advance").unwrap();
        assert_eq!(b.find(Role::MenuItem, "Rename").await == first, comes_back, "{what}");
    }
}

#[tokio::test]
async fn what_is_hidden_is_still_connected() {
    let mut b = Bench::open("sim:staleness/menu-reopened").await;
    let rename = b.find(Role::MenuItem, "Rename").await;
    b.probe.run("advance").unwrap();
    let watch = [rename];
    let request = CaptureRequest::default().watch(&watch);
    let CaptureResult::Tree(tree) = b.device.capture(request).await.unwrap() else { panic!("it changed") };
    assert!(tree.find_handle(rename).is_none());
    assert_eq!(tree.hidden(), [rename]);
    let located = b.device.locate(rename, &[]).await.unwrap().unwrap();
    assert_eq!(located.tree.node(located.node).name(), "Rename");
    assert_eq!(b.device.aim(rename, POINTER).await.unwrap().hit, HitResult::OffScreen);
}

#[tokio::test]
async fn unchanged_is_said_when_it_is_allowed_and_true() {
    let mut b = Bench::open("sim:shop").await;
    let CaptureResult::Tree(tree) = b.device.capture(CaptureRequest::default()).await.unwrap() else {
        panic!("nothing is stored");
    };
    let request = CaptureRequest::default().stored(Some(&tree));
    assert!(matches!(b.device.capture(request).await.unwrap(), CaptureResult::Unchanged));
    b.probe.run("set(query, 'rug')").unwrap();
    // A watcher reads the app and stores nothing.
    b.tree().await;
    assert!(matches!(b.device.capture(request).await.unwrap(), CaptureResult::Tree(_)));
}

#[tokio::test]
async fn idleness_is_proved_and_not_waited_for() {
    let mut b = Bench::open("sim:shop?clock=real").await;
    let started = std::time::Instant::now();
    assert!(b.settle().await.is_quiet);
    assert!(started.elapsed() < Duration::from_millis(100));
    // A clock that ticks every second does not keep the app from being quiet; pending work does.
    let mut b = Bench::open("sim:feed").await;
    assert!(b.settle().await.is_quiet);
    b.probe.run("load(30000, tick)").unwrap();
    let settled = b.settle().await;
    assert_eq!(
        (settled.is_quiet, settled.pending.iter().any(|s| s.to_string() == "request tick")),
        (false, true),
        "{settled:?}"
    );
}

#[tokio::test]
async fn a_change_wakes_who_waits_for_it() {
    let none = CancellationToken::new();
    let mut b = Bench::open("sim:feed").await;
    b.tree().await;
    let before = b.probe.now_ms();
    assert!(b.device.changed(Duration::from_secs(30), &none).await.unwrap());
    assert!(b.probe.now_ms() - before <= 1000, "the next tick");
    let mut b = Bench::open("sim:shop").await;
    b.tree().await;
    assert!(!b.device.changed(Duration::from_secs(30), &none).await.unwrap());
    assert_eq!(b.probe.now_ms(), 30_000);
    // On the real clock, a change by another user ends the wait.
    let mut b = Bench::open("sim:shop?clock=real").await;
    b.tree().await;
    let probe = b.probe.clone();
    let change = async {
        tokio::task::yield_now().await;
        probe.run("set(query, 'rug')").unwrap();
    };
    let (changed, ()) = tokio::join!(b.device.changed(Duration::from_secs(60), &none), change);
    assert!(changed.unwrap());
}

#[tokio::test]
async fn faults_come_between_the_look_and_the_act_and_only_once() {
    let open = |fault: &str| format!("sim:signin?fault={fault}");
    let name = "Continue";

    let mut b = Bench::open(&open("vanish-before-act")).await;
    let target = b.find(Role::Button, name).await;
    assert!(b.device.locate(target, &[]).await.unwrap().is_some());
    assert_eq!(b.device.aim(target, POINTER).await.unwrap_err().code, ErrorCode::ElementNotFound);
    assert!(b.all(Role::Button, name).await.is_empty());

    let mut b = Bench::open(&open("move-before-act")).await;
    let target = b.find(Role::Button, name).await;
    let before = b.device.rects(&[target]).await.unwrap()[0].unwrap();
    let aim = b.device.aim(target, POINTER).await.unwrap();
    assert!(aim.rect.y > before.y + 100.0 && aim.hit == HitResult::Target, "{aim:?}");

    let mut b = Bench::open(&open("relabel-before-act")).await;
    let target = b.find(Role::Button, name).await;
    b.press(target).await;
    assert_eq!(b.tree().await.find_handle(target).unwrap().name(), "Something else");
    assert!(b.received().last().unwrap().ends_with("(relabelled)"));

    let mut b = Bench::open(&open("cover-before-act")).await;
    let target = b.find(Role::Button, name).await;
    assert!(matches!(b.device.aim(target, POINTER).await.unwrap().hit, HitResult::Covered { .. }));

    let mut b = Bench::open(&open("insert-on-hover")).await;
    let target = b.find(Role::Button, name).await;
    let aim = b.device.aim(target, POINTER).await.unwrap();
    assert!(aim.hit != HitResult::Target, "it moved away under the pointer: {aim:?}");
    assert_eq!(b.device.aim(target, POINTER).await.unwrap().hit, HitResult::Target);

    let mut b = Bench::open(&open("dialog-on-press")).await;
    let target = b.find(Role::Button, name).await;
    let done = b.press(target).await;
    assert_eq!(
        (done.delivery, b.device.dialogs().unwrap().dialog().unwrap().kind.as_str()),
        (Delivery::Confirmed, "confirm")
    );
    b.device.dialogs().unwrap().answer_dialog(stickpin_device::DialogAnswer::Accept(None)).await.unwrap();
    assert!(b.text().await.contains("Enter your email address."));

    let mut b = Bench::open(&open("navigate-in-flight")).await;
    let target = b.find(Role::Button, name).await;
    assert!(b.device.locate(target, &[]).await.unwrap().is_none(), "the new document has other nodes");
    assert_eq!(b.probe.now_ms(), 300);
}

#[tokio::test]
async fn hung_app_recovers_and_lost_app_does_not() {
    let press = |point, target| Action::press(point, Some(target));
    let mut b = Bench::open("sim:signin?fault=hang").await;
    let target = b.find(Role::Button, "Continue").await;
    let point = b.device.aim(target, POINTER).await.unwrap().point;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = b.device.perform(&press(point, target), &cancel).await.unwrap_err();
    assert_eq!((error.code, error.dispatched), (ErrorCode::Timeout, stickpin_device::Dispatched::Unknown));
    assert!(b.device.perform(&press(point, target), &CancellationToken::new()).await.is_ok());

    let mut b = Bench::open("sim:signin?fault=lost").await;
    let target = b.find(Role::Button, "Continue").await;
    let point = b.device.aim(target, POINTER).await.unwrap().point;
    let error = b.device.perform(&press(point, target), &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::BackendLost);
    assert_eq!(b.device.capture(CaptureRequest::default()).await.unwrap_err().code, ErrorCode::BackendLost);
    let request = SettleRequest::new(Duration::ZERO, Duration::ZERO);
    assert!(b.device.settle(request, &CancellationToken::new()).await.is_err());
}

#[tokio::test]
async fn the_log_file_has_a_line_per_input() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    let mut b = Bench::open(&format!("sim:shop?log={}", path.display())).await;
    let add = b.all(Role::Button, "Add to cart").await[0];
    b.press(add).await;
    b.device.close().await.unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<stickpin_backend_sim::ReceivedInput> =
        text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines, b.probe.received());
    assert_eq!(lines.last().unwrap().element, "add lamp");
}

fn size(png: &[u8]) -> (u32, u32) {
    let info = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    (info.info().width, info.info().height)
}

#[tokio::test]
async fn pictures_show_the_viewport_one_element_or_the_whole_page() {
    let mut b = Bench::open("sim:settings/reach").await;
    let shot = b.device.screenshots().unwrap().screenshot(ScreenshotRequest::default()).await.unwrap();
    assert_eq!(
        (size(&shot.png), shot.area),
        ((1280, 800), Rect { x: 0.0, y: 0.0, width: 1280.0, height: 800.0 })
    );
    let full =
        b.device.screenshots().unwrap().screenshot(ScreenshotRequest::default().full(true)).await.unwrap();
    assert!(size(&full.png).1 > 3000);
    let below = b.find(Role::Button, "Far below").await;
    let one = b
        .device
        .screenshots()
        .unwrap()
        .screenshot(ScreenshotRequest::default().of(Some(below)))
        .await
        .unwrap();
    assert_eq!(one.area, b.device.rects(&[below]).await.unwrap()[0].unwrap());
    let outside = b.find(Role::Button, "Outside").await;
    let error = b
        .device
        .screenshots()
        .unwrap()
        .screenshot(ScreenshotRequest::default().of(Some(outside)))
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::ElementOffscreen);
    // The screenshot shows the current screen and changes with it.
    let again = b.device.screenshots().unwrap().screenshot(ScreenshotRequest::default()).await.unwrap();
    assert!(again.png != shot.png, "the page was scrolled");
}
