//! The life of an app that we started: it answers, hangs, resumes and ends.

use super::speaker::{FIRST, Speaker};
use super::{REQUIRE, skip};
use crate::provider::{LinuxConfig, LinuxProvider};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{
    Action, Button, CancellationToken, CaptureRequest, CaptureResult, Device, ErrorCode, Modifiers,
    OpenRequest, Provider, Result,
};
use stickpin_tree::{Attr, Tree};

/// Opens an app on a private display. Returns `None` and prints the reason if the programs are not
/// installed.
async fn open(dir: &Path, what: &str) -> Option<Box<dyn Device>> {
    let path = std::env::var_os("PATH");
    let config = LinuxConfig { path: path.clone(), ..LinuxConfig::default() };
    let options = serde_json::json!({ "private": true, "privateHome": true });
    let mut request = OpenRequest::new(format!("linux:{what}"), "test", dir);
    request.options = options.as_object().cloned().unwrap_or_default();
    request.ready_timeout = Duration::from_secs(20);
    let program = what.split(' ').next().unwrap_or(what);
    let installed = stickpin_process::find_on_path(&[program], path.as_deref()).is_some();
    match LinuxProvider::new(config).open(request).await {
        Ok(device) => Some(device),
        Err(e) if e.code == ErrorCode::ToolMissing || !installed => {
            skip::skipped(REQUIRE, e);
            None
        }
        Err(e) => panic!("{e}"),
    }
}

async fn capture(device: &mut Box<dyn Device>) -> Result<Arc<Tree>> {
    match device.capture(CaptureRequest::default()).await? {
        CaptureResult::Tree(tree) => Ok(tree),
        other => panic!("{other:?}"),
    }
}

pub(super) fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[tokio::test]
async fn an_app_that_ends_is_lost_with_its_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut device) = open(dir.path(), "zenity --info --text=Hello").await else { return };
    let tree = capture(&mut device).await.unwrap();
    let ok = tree.nodes().find(|n| n.name() == "OK").and_then(|n| n.handle()).expect("a button OK");
    let pid = device.info().pid.expect("a process");
    signal(pid, rustix::process::Signal::KILL);
    // The app's end is noticed immediately, not only when the next request fails.
    let since = Instant::now();
    let lost = device.changed(Duration::from_secs(20), &CancellationToken::new()).await.unwrap_err();
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    for error in [lost, capture(&mut device).await.unwrap_err(), device.locate(ok, &[]).await.unwrap_err()] {
        assert_eq!(error.code, ErrorCode::BackendLost, "{error}");
        assert!(error.message.contains("signal: 9"), "{error}");
    }
    device.close().await.unwrap();
}

#[tokio::test]
async fn title_from_windows_equals_title_of_the_tree() {
    let app = Speaker::start();
    let (mut device, _) = app.device().await;
    for (twin, title) in [(None, Some("Window")), (Some(false), None), (Some(true), Some("Twin"))] {
        app.becomes(|now| now.twin = twin);
        app.asked();
        let page = device.page().await.unwrap();
        assert_eq!(page.as_ref().map(|page| page.title.as_str()), title, "{twin:?}");
        let asked = app.asked();
        assert!(asked.len() <= 6 && asked.iter().all(|(path, ..)| path != FIRST), "{asked:?}");
        // If the windows alone are not conclusive, a capture is.
        let CaptureResult::Tree(tree) = device.capture(CaptureRequest::default()).await.unwrap() else {
            panic!("nothing was stored")
        };
        assert_eq!(tree.documents()[0].title, title.unwrap_or("Window"));
    }
    app.asked();
    assert_eq!(device.navigator().unwrap().url().await.unwrap().as_deref(), Some("linux:app"));
    assert!(app.asked().is_empty(), "it is what was opened");

    let dir = tempfile::tempdir().unwrap();
    let Some(mut device) = open(dir.path(), "zenity --info --title=Greeting --text=Hello").await else {
        return;
    };
    let page = device.page().await.unwrap().expect("it has one window");
    let document = capture(&mut device).await.unwrap().documents()[0].clone();
    assert_eq!((page.title.as_str(), &page.url), ("Greeting", &document.url));
    assert_eq!(page.title, document.title);
    device.close().await.unwrap();
}

#[tokio::test]
async fn an_app_that_hangs_is_told_from_one_that_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut device) = open(dir.path(), "zenity --info --text=Hello").await else { return };
    let before = capture(&mut device).await.unwrap();
    let pid = device.info().pid.expect("a process");
    signal(pid, rustix::process::Signal::STOP);
    let since = Instant::now();
    let error = capture(&mut device).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Timeout, "{error}");
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
    signal(pid, rustix::process::Signal::CONT);
    let after = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            if let Ok(tree) = capture(&mut device).await {
                break tree;
            }
        }
    });
    assert_eq!(*before, *after.await.expect("it answers again"));
    device.close().await.unwrap();
}

#[tokio::test]
async fn what_was_read_is_not_read_again_as_another_tree() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut device) = open(dir.path(), "zenity --entry --text=Name").await else { return };
    let tree = capture(&mut device).await.unwrap();
    let request = CaptureRequest::default().stored(Some(&tree));
    assert!(matches!(device.capture(request).await.unwrap(), CaptureResult::Unchanged));
    // The field is located from the same capture and by the same handle.
    let field =
        tree.nodes().find(|n| n.role() == stickpin_tree::Role::TextBox).and_then(|n| n.handle()).unwrap();
    let located = device.locate(field, &[]).await.unwrap().expect("it is there");
    assert_eq!(located.tree.node(located.node).handle(), Some(field));
    // A filled field has a different name, but is still found.
    let fill = stickpin_device::Action::Fill { target: field, text: "Zoë, \"two\"\u{7}".to_owned() };
    let filled = device.perform(&fill, &CancellationToken::new()).await.unwrap();
    assert!(filled.handled);
    let located = device.locate(field, &[]).await.unwrap().expect("it is there");
    assert!(located.tree.node(located.node).value().starts_with("Zoë, \"two\""));
    device.close().await.unwrap();
}

/// Returns the process of the window manager on an app's display.
fn window_manager(app: u32) -> u32 {
    let display = |pid: u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        environment.split(|&b| b == 0).find(|word| word.starts_with(b"DISPLAY=")).map(<[u8]>::to_vec)
    };
    let name = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
    let mut found = pids.filter(|&pid| name(pid).trim() == "openbox" && display(pid) == display(app));
    found.next().expect("a window manager")
}

async fn press(device: &mut Box<dyn Device>, name: &str) {
    let tree = capture(device).await.unwrap();
    let target = tree.nodes().find(|n| n.name() == name).and_then(|n| n.handle()).expect(name);
    let press = Action::Press {
        point: (0.0, 0.0),
        target: Some(target),
        button: Button::Left,
        count: 1,
        modifiers: Modifiers::default(),
        hold: Duration::ZERO,
    };
    device.perform(&press, &CancellationToken::new()).await.unwrap();
}

/// Captures again after every change until the tree meets the condition.
async fn until(device: &mut Box<dyn Device>, what: &str, is_so: impl Fn(&Tree) -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so(&capture(device).await.unwrap()) {
        assert!(Instant::now() < end, "{what}");
        device.changed(Duration::from_millis(500), &CancellationToken::new()).await.unwrap();
    }
}

#[tokio::test]
async fn keys_go_to_no_window_that_the_app_has_closed() {
    use rustix::process::Signal;
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let app = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/linux/widgets/qt.py");
    let what = format!("/usr/bin/python3 -B {app} {} menus", log.display());
    let Some(mut device) = open(dir.path(), &what).await else { return };
    let manager = window_manager(device.info().pid.expect("a process"));
    press(&mut device, "Ask").await;
    // The document also has the title of the active window.
    let is_active =
        |tree: &Tree| tree.nodes().any(|n| n.name() == "Sure?" && n.attr(Attr::Current).is_some());
    until(&mut device, "the dialog is active", is_active).await;
    // No other window under the pointer could get the keys.
    device.geometry().unwrap().move_pointer(1.0, 1.0).await.unwrap();
    // While the window manager is stopped, the display still reports that the dialog exists and is
    // active.
    signal(manager, Signal::STOP);
    press(&mut device, "OK").await;
    until(&mut device, "the dialog is closed", |tree| !tree.nodes().any(|n| n.name() == "Sure?")).await;
    let key = Action::Key { modifiers: Modifiers::default(), key: "a".to_owned() };
    let cancel = CancellationToken::new();
    let goes_on = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        signal(manager, Signal::CONT);
    };
    let (typed, ()) = tokio::join!(device.perform(&key, &cancel), goes_on);
    typed.unwrap();
    let answered = |tree: &Tree| tree.nodes().any(|n| n.name() == "Answer" && n.value() == "a");
    until(&mut device, "the key arrives", answered).await;
    assert!(std::fs::read_to_string(&log).unwrap().contains("answer a\n"));
    device.close().await.unwrap();
}
