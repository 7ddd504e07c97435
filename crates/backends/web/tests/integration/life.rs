//! Crashes and kills are known from events, and no process or file remains.

use crate::support::{Page, provider};
use std::path::{Path, PathBuf};
use std::time::Duration;
use stickpin_backend_web::{WebConfig, WebProvider};
use stickpin_device::{
    CancellationToken, CaptureRequest, Device, ErrorCode, OpenRequest, Provider, TabEndReason,
};
use stickpin_devtools::{Method, protocol};
use stickpin_tree::Role;

/// Returns the processes whose command line contains a folder.
fn processes_of(dir: &Path) -> Vec<PathBuf> {
    let needle = dir.to_str().unwrap().as_bytes();
    std::fs::read_dir("/proc")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            // A process that has just ended has no command line.
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            line.windows(needle.len()).any(|w| w == needle)
        })
        .collect()
}

async fn until_gone(dir: &Path) {
    for _ in 0..250 {
        if processes_of(dir).is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("still there: {:?}", processes_of(dir));
}

#[tokio::test]
async fn closing_ends_every_process_and_removes_every_file() {
    let Some(page) = Page::show("<!doctype html>x").await else { return };
    let folder = page.dir.path().to_owned();
    assert!(!processes_of(&folder).is_empty());
    page.close().await;
    until_gone(&folder).await;
}

/// The suggestions of the address bar are pages in a renderer of their own, which takes as long as
/// the rest of the browser. Nobody types into that address bar.
#[tokio::test]
async fn no_renderer_shows_pages_of_the_address_bar() {
    let Some(mut page) = Page::show("<!doctype html><button>A</button>").await else { return };
    let a = page.find(Role::Button, "A").await;
    page.press(a).await;
    let renderers: Vec<String> = processes_of(page.dir.path())
        .into_iter()
        .filter_map(|process| std::fs::read_to_string(process.join("cmdline")).ok())
        .filter(|line| line.contains("--type=renderer"))
        .collect();
    assert!(!renderers.is_empty());
    assert!(renderers.iter().all(|line| !line.contains("--top-chrome-webui")), "{renderers:?}");
    page.close().await;
}

#[tokio::test]
async fn a_dropped_browser_ends() {
    let Some(page) = Page::show("<!doctype html>x").await else { return };
    let Page { device, dir, .. } = page;
    assert!(dir.path().join("profile").exists());
    drop(device);
    until_gone(dir.path()).await;
}

#[tokio::test]
async fn a_browser_without_its_owner_is_swept() {
    let Some(page) = Page::show("<!doctype html>x").await else { return };
    let dir = page.dir.path().to_owned();
    // The browser's owner, this process, is alive, so others must not sweep the browser.
    assert_eq!(provider().sweep(&dir).await.unwrap(), Vec::<String>::new());
    let record = dir.join("processes.json");
    let text = std::fs::read_to_string(&record).unwrap();
    let owner = format!("\"owner\":{{\"pid\":{}", std::process::id());
    assert!(text.contains(&owner), "{text}");
    std::fs::write(&record, text.replace(&owner, "\"owner\":{\"pid\":4194303")).unwrap();
    let swept = provider().sweep(&dir).await.unwrap();
    assert_eq!(swept.len(), 1, "{swept:?}");
    until_gone(&dir).await;
}

#[tokio::test]
async fn a_killed_browser_is_lost_at_once_and_the_next_open_works() {
    let Some(mut page) = Page::show("<!doctype html><button>A</button>").await else { return };
    let a = page.find(Role::Button, "A").await;
    let pid = rustix::process::Pid::from_raw(page.device.info().pid.unwrap().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let none = CancellationToken::new();
    let mut error = None;
    for _ in 0..20 {
        // Something may have changed before the crash.
        error = page.device.changed(Duration::from_secs(10), &none).await.err();
        if error.is_some() {
            break;
        }
    }
    assert_eq!(error.unwrap().code, ErrorCode::BackendLost);
    assert_eq!(page.device.locate(a, &[]).await.unwrap_err().code, ErrorCode::BackendLost);
    assert_eq!(page.device.notices().await.unwrap_err().code, ErrorCode::BackendLost);
    page.device.close().await.unwrap();
    until_gone(page.dir.path()).await;
    let mut again =
        provider().open(OpenRequest::new(page.site.url("/"), "test", page.dir.path())).await.unwrap();
    again.capture(CaptureRequest::default()).await.unwrap();
    again.close().await.unwrap();
}

#[tokio::test]
async fn a_crashed_page_is_lost() {
    let Some(mut page) = Page::show("<!doctype html><button>A</button>").await else { return };
    let a = page.find(Role::Button, "A").await;
    page.go_crash().await;
    let error = page.device.locate(a, &[]).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::BackendLost, "the page crashed"));
    page.close().await;
}

/// Seven seconds of frames with changing content: a background tab draws every frame for about four
/// seconds, then one frame per second.
const FRAMES: &str = "new Promise(done => {
    let frames = 0;
    const draw = () => {
        document.body.lastChild.textContent = ++frames;
        frames === 420 ? done(frames) : requestAnimationFrame(draw);
    };
    draw();
})";

async fn draws_at_full_speed(page: &Page) {
    let frames = tokio::time::timeout(Duration::from_secs(30), page.truth::<u32>(FRAMES));
    assert_eq!(frames.await.expect("the browser draws the tab"), 420);
}

#[tokio::test]
async fn tab_opened_by_us_draws_at_full_speed() {
    let Some(mut page) = Page::show("<!doctype html><button>A</button><p>0</p>").await else { return };
    let (url, never) = (page.site.url("/"), CancellationToken::new());
    page.device.tabs().unwrap().new_tab(Some(&url), Duration::from_secs(10), &never).await.unwrap();
    draws_at_full_speed(&page).await;
    page.close().await;
}

#[tokio::test]
async fn tab_behind_a_popup_draws_at_full_speed_once_it_is_used() {
    let html = "<!doctype html><button onclick=\"window.open('/')\">A</button><p>0</p>";
    let Some(mut page) = Page::show(html).await else { return };
    let a = page.find(Role::Button, "A").await;
    page.press(a).await;
    assert_eq!(page.device.tabs().unwrap().list_tabs().await.unwrap().len(), 2);
    page.prepare(a).await;
    draws_at_full_speed(&page).await;
    page.close().await;
}

#[tokio::test]
async fn a_tab_that_crashes_leaves_the_others() {
    let Some(mut page) = Page::show("<!doctype html><button>A</button>").await else { return };
    let (url, never) = (page.site.url("/"), CancellationToken::new());
    page.device.tabs().unwrap().new_tab(Some(&url), Duration::from_secs(10), &never).await.unwrap();
    page.go_crash().await;
    // Until the crash has been reported, no action is performed in another tab.
    let error = page.device.capture(CaptureRequest::default()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::DeviceNotFound);
    assert!(error.message.contains("tab t2 crashed"), "{error:?}");
    let ended = page.device.tabs().unwrap().ended_tabs();
    assert_eq!(ended.len(), 1, "{ended:?}");
    assert_eq!((ended[0].id.as_str(), ended[0].reason), ("t2", TabEndReason::Crashed));
    assert_eq!(ended[0].active_tab.as_deref(), Some(format!("t1 \"{url}\"").as_str()));
    page.find(Role::Button, "A").await;
    let tabs = page.device.tabs().unwrap().list_tabs().await.unwrap();
    assert_eq!(tabs.iter().map(|t| (t.id.as_str(), t.active)).collect::<Vec<_>>(), [("t1", true)]);
    page.close().await;
}

#[tokio::test]
async fn a_tab_that_is_closed_is_lost() {
    #[derive(serde::Serialize)]
    struct CloseTab {}
    impl Method for CloseTab {
        const NAME: &'static str = "Page.close";
        type Output = protocol::Done;
    }
    let Some(mut page) = Page::show("<!doctype html>x").await else { return };
    let (client, session) = page.device.devtools();
    drop(client.send(Some(session), &CloseTab {}));
    for _ in 0..100 {
        if page.device.notices().await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let error = page.device.capture(CaptureRequest::default()).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::BackendLost, "the tab was closed"));
    page.close().await;
}

#[tokio::test]
async fn a_browser_that_is_missing_or_does_not_start_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let config = |chromium: &str| WebConfig { chromium: Some(chromium.into()), ..WebConfig::default() };
    let missing = WebProvider::new(config("/no/such/chromium"));
    let error = missing.open(OpenRequest::new("about:blank", "test", dir.path())).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ToolMissing);
    assert!(!missing.doctor().await[0].ok);
    let error = WebProvider::new(config("/bin/false"))
        .open(OpenRequest::new("about:blank", "test", dir.path()))
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::BackendLost, "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_profile_that_is_to_be_kept_is_kept() {
    let Some(page) = Page::show("<!doctype html>x").await else { return };
    let (dir, profile) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut wanted = OpenRequest::new(page.site.url("/"), "test", dir.path());
    wanted.options.insert("profile".to_owned(), serde_json::json!(profile.path()));
    let mut device = provider().open(wanted).await.unwrap();
    device.close().await.unwrap();
    assert!(profile.path().join("Default").exists());
    page.close().await;
}

/// A program that claims to be an old Chromium, on the command line and over the pipes.
const OLD: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "Chromium 99.0.1.2"; exit; fi
dd bs=1000 count=1 <&3 >/dev/null 2>&1
printf '{"id":1,"result":{"product":"Chrome/99.0.1.2"}}\000' >&4
dd bs=1000 count=1 <&3 >/dev/null 2>&1
"#;

#[tokio::test]
async fn a_browser_that_is_too_old_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("old");
    std::fs::write(&program, OLD).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let provider = WebProvider::new(WebConfig { chromium: Some(program), ..WebConfig::default() });
    let error = provider.open(OpenRequest::new("about:blank", "test", dir.path())).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ToolMissing);
    assert_eq!(error.message, "the browser is version 99, but 134 or newer is required");
    until_gone(dir.path()).await;
    let check = provider.doctor().await.remove(0);
    assert!(!check.ok && check.found.ends_with(&error.message) && !check.fix.is_empty(), "{check:?}");
}
