//! Navigating, being redirected, and waiting for quiet.

use crate::support::{Page, provider};
use std::time::{Duration, Instant};
use stickpin_device::{
    CancellationToken, Device, ErrorCode, LeavePolicy, Navigation, Notice, OpenRequest, PendingActivity,
    Provider, SettleRequest, SettleResult,
};
use stickpin_tree::Role;

fn none() -> CancellationToken {
    CancellationToken::new()
}

const QUIET: SettleRequest = SettleRequest::new(Duration::from_millis(150), Duration::from_secs(5));

#[tokio::test]
async fn history_and_reload() {
    let pages = [("/", "<!doctype html><title>One</title>1"), ("/two", "<!doctype html><title>Two</title>2")];
    let Some(mut page) = Page::site(&pages).await else { return };
    let url = page.site.url("/two");
    assert_eq!(page.go(&url).await.title, "Two");
    let wait = Duration::from_secs(10);
    let back = page
        .device
        .navigator()
        .unwrap()
        .navigate(&Navigation::Back, LeavePolicy::Ask, wait, &none())
        .await
        .unwrap();
    assert_eq!((back.moved, back.title.as_str(), back.quiet.is_quiet), (true, "One", true));
    assert!(
        !page
            .device
            .navigator()
            .unwrap()
            .navigate(&Navigation::Back, LeavePolicy::Ask, wait, &none())
            .await
            .unwrap()
            .moved
    );
    let forward = page
        .device
        .navigator()
        .unwrap()
        .navigate(&Navigation::Forward, LeavePolicy::Ask, wait, &none())
        .await
        .unwrap();
    assert_eq!((forward.moved, forward.title.as_str()), (true, "Two"));
    assert!(
        !page
            .device
            .navigator()
            .unwrap()
            .navigate(&Navigation::Forward, LeavePolicy::Ask, wait, &none())
            .await
            .unwrap()
            .moved
    );
    page.truth::<u32>("window.mark=1").await;
    let again = page
        .device
        .navigator()
        .unwrap()
        .navigate(&Navigation::Reload, LeavePolicy::Ask, wait, &none())
        .await
        .unwrap();
    assert_eq!((again.moved, again.title.as_str()), (true, "Two"));
    assert_eq!(page.truth::<Option<u32>>("window.mark??null").await, None);
    page.close().await;
}

#[tokio::test]
async fn a_fragment_is_an_arrival_too() {
    let Some(mut page) = Page::show("<!doctype html><title>One</title><p id=x>1").await else { return };
    let url = page.site.url("/#x");
    let arrived = page.go(&url).await;
    assert_eq!((arrived.moved, arrived.quiet.is_quiet, arrived.url), (true, true, url));
    page.close().await;
}

#[tokio::test]
async fn the_address_is_known_while_the_page_answers_nothing() {
    let Some(mut page) = Page::show("<!doctype html><title>Busy</title>").await else { return };
    let at = page.site.url("/");
    page.truth::<bool>("setTimeout(() => { for (const end = Date.now() + 3000; Date.now() < end;); }), true")
        .await;
    let asked = Instant::now();
    assert_eq!(page.device.navigator().unwrap().url().await.unwrap(), Some(at));
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    assert_eq!(page.device.page().await.unwrap().unwrap().title, "Busy");
    page.close().await;
}

#[tokio::test]
async fn addresses_that_lead_nowhere_say_why() {
    let Some(mut page) = Page::show("<!doctype html>x").await else { return };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (what, code, words) in [
        (format!("http://127.0.0.1:{port}/"), ErrorCode::DeviceNotFound, "net::ERR_CONNECTION_REFUSED"),
        ("http://nowhere.invalid/".to_owned(), ErrorCode::DeviceNotFound, "net::ERR_NAME_NOT_RESOLVED"),
        ("/no/such/page.html".to_owned(), ErrorCode::DeviceNotFound, "net::ERR_FILE_NOT_FOUND"),
        ("ftp://127.0.0.1/".to_owned(), ErrorCode::InvalidArgs, "ftp"),
        ("chrome://settings".to_owned(), ErrorCode::InvalidArgs, "chrome"),
    ] {
        let to = Navigation::To(what.clone());
        let error = page
            .device
            .navigator()
            .unwrap()
            .navigate(&to, LeavePolicy::Ask, Duration::from_secs(10), &none())
            .await
            .unwrap_err();
        assert_eq!(error.code, code, "{what}: {error}");
        assert!(error.message.contains(words) && !error.hint.is_empty(), "{what}: {error}");
    }
    // A navigation without a result did not end the session.
    let url = page.site.url("/");
    assert!(page.go(&url).await.quiet.is_quiet);
    page.close().await;
}

#[tokio::test]
async fn a_page_that_never_ends_is_there_but_not_settled() {
    let Some(mut page) = Page::show("<!doctype html>x").await else { return };
    let to = Navigation::To(page.site.url("/slow"));
    let arrived = page
        .device
        .navigator()
        .unwrap()
        .navigate(&to, LeavePolicy::Ask, Duration::from_secs(1), &none())
        .await
        .unwrap();
    assert_eq!((arrived.moved, arrived.quiet.is_quiet, arrived.title.as_str()), (true, false, "Slow"));
    page.find(Role::Button, "Early").await;
    let to = Navigation::To(page.site.url("/never"));
    let error = page
        .device
        .navigator()
        .unwrap()
        .navigate(&to, LeavePolicy::Ask, Duration::from_secs(1), &none())
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::Timeout);
    let url = page.site.url("/");
    assert!(page.go(&url).await.quiet.is_quiet);
    page.close().await;
}

#[tokio::test]
async fn page_that_never_stops_moving_is_open_once_it_has_loaded() {
    let clock = "<!doctype html><title>Clock</title><p id=now></p>
        <script>setInterval(() => now.textContent = Date.now(), 20)</script>";
    let loads = format!("{clock}<script>setTimeout(() => fetch('/never'), 3000)</script>");
    let pages = [("/", "<!doctype html>x"), ("/clock", clock), ("/loads", &loads)];
    let Some(mut page) = Page::site(&pages).await else { return };
    let url = page.site.url("/clock");
    let began = Instant::now();
    let arrived = page.go(&url).await;
    assert!(began.elapsed() < Duration::from_secs(8), "not the time limit of 10 s: {:?}", began.elapsed());
    let moves = [PendingActivity::Other("mutations of p#now".to_owned())];
    assert_eq!(arrived.quiet, SettleResult::new(false, moves.into()));
    // While something is loading, the page may take longer: a request counts for 5 seconds.
    let began = Instant::now();
    let arrived = page.go(&page.site.url("/loads")).await;
    assert!(!arrived.quiet.is_quiet && began.elapsed() > Duration::from_secs(7), "{:?}", began.elapsed());
    // A browser's first page is described in the same way.
    let request = OpenRequest::new(&url, "clock", page.files.path());
    let mut device = provider().open(request).await.unwrap();
    assert_eq!(device.info().arrival, arrived.quiet);
    device.close().await.unwrap();
    page.close().await;
}

#[tokio::test]
async fn opening_nothing_or_a_file_stays_where_one_was() {
    let Some(mut page) = Page::show("<!doctype html><title>Here</title>x").await else { return };
    for (path, came) in [("/empty", "204"), ("/file", "hello.txt")] {
        page.device.notices().await.unwrap();
        let to = Navigation::To(page.site.url(path));
        let gone = page
            .device
            .navigator()
            .unwrap()
            .navigate(&to, LeavePolicy::Discard, Duration::from_secs(10), &none())
            .await;
        let error = gone.unwrap_err();
        assert_eq!(error.code, ErrorCode::DeviceNotFound);
        assert!(error.message.contains(came) && !error.message.contains("error page"), "{error}");
        assert_eq!(page.truth::<String>("document.title").await, "Here");
    }
    let expected = Notice::Downloaded { path: page.dir.path().join("downloads").join("hello.txt") };
    let mut seen = Vec::new();
    for _ in 0..100 {
        seen.extend(page.device.notices().await.unwrap());
        if seen.contains(&expected) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(seen.contains(&expected), "{seen:?}");
    page.close().await;
}

#[tokio::test]
async fn a_click_that_navigates_takes_the_old_elements_with_it() {
    let pages = [
        ("/", "<!doctype html><a href=/two>Go</a><button>Delete</button>"),
        ("/two", "<!doctype html><button>Delete</button>"),
    ];
    let Some(mut page) = Page::site(&pages).await else { return };
    let (link, delete) = (page.find(Role::Link, "Go").await, page.find(Role::Button, "Delete").await);
    page.press(link).await;
    let settled = page.device.settle(QUIET, &none()).await.unwrap();
    assert!(settled.is_quiet, "{settled:?}");
    assert!(page.device.locate(delete, &[]).await.unwrap().is_none());
    assert_ne!(page.find(Role::Button, "Delete").await, delete);
    let notices = page.device.notices().await.unwrap();
    assert!(notices.contains(&Notice::Navigated { url: page.site.url("/two") }), "{notices:?}");
    page.close().await;
}

#[tokio::test]
async fn an_act_waits_for_a_navigation_under_way() {
    let pages = [
        ("/", "<!doctype html><button>Delete</button><script>log=[]</script>"),
        ("/two", "<!doctype html><button onclick='log.push(1)'>Delete</button><script>log=[]</script>"),
    ];
    let Some(mut page) = Page::site(&pages).await else { return };
    let delete = page.find(Role::Button, "Delete").await;
    page.truth::<u32>("location='/two';1").await;
    let started = Instant::now();
    while page.device.locate(delete, &[]).await.unwrap().is_some() {
        // The element was located before the browser began to leave the page, and nothing revealed
        // that it was about to.
        assert!(started.elapsed() < Duration::from_secs(3));
    }
    assert!(page.device.aim(delete, stickpin_device::AimOptions::PLAIN_PRESS).await.is_err());
    // The address changes before the script of the new page runs.
    page.until("location.pathname=='/two'&&window.log").await;
    assert_eq!(page.log().await, Vec::<String>::new());
    page.close().await;
}

#[tokio::test]
async fn quiet_waits_for_what_ends_and_not_for_what_stays() {
    let html = "<!doctype html><style>@keyframes s{to{transform:rotate(360deg)}}#spin{animation:s 1s infinite}</style><i id=spin>s</i><p id=out></p>
        <button onclick=\"setTimeout(()=>fetch('/data').then(r=>r.text()).then(t=>setTimeout(()=>out.textContent=t,100)),50)\">Load</button>
        <button onclick=\"window.i=setInterval(()=>out.textContent=Math.random(),20)\">Tick</button><script>fetch('/never')</script>";
    let Some(mut page) =
        Page::site(&[("/quick", "<!doctype html>q"), ("/", html), ("/data", "loaded")]).await
    else {
        return;
    };
    // The request that never ends counts as recent at first.
    let url = page.site.url("/");
    page.go(&url).await;
    let load = page.find(Role::Button, "Load").await;
    page.press(load).await;
    let settled = page.device.settle(QUIET, &none()).await.unwrap();
    assert!(settled.is_quiet, "{settled:?}");
    assert_eq!(page.truth::<String>("out.textContent").await, "loaded");
    let tick = page.find(Role::Button, "Tick").await;
    page.press(tick).await;
    let short = SettleRequest::new(QUIET.quiet, Duration::from_millis(600));
    let settled = page.device.settle(short, &none()).await.unwrap();
    assert!(!settled.is_quiet);
    assert!(settled.pending.iter().any(|s| s.to_string().contains("p#out")), "{settled:?}");
    page.close().await;
}

#[tokio::test]
async fn quiet_does_not_wait_for_a_body_that_no_script_reads() {
    let html = "<!doctype html><button onclick=\"fetch('/data')\">Load</button>";
    let Some(mut page) = Page::site(&[("/", html), ("/data", "unread")]).await else { return };
    let load = page.find(Role::Button, "Load").await;
    page.press(load).await;
    let began = Instant::now();
    let settled = page.device.settle(QUIET, &none()).await.unwrap();
    assert!(settled.is_quiet, "{settled:?}");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    page.close().await;
}

#[tokio::test]
async fn what_goes_wrong_in_the_page_is_noticed() {
    let html = "<!doctype html><div role=status></div><button onclick=\"console.error('bad',7);fetch('/gone');
        document.querySelector('[role=status]').textContent='Saved';setTimeout(()=>{throw Error('late')});window.open('about:blank')\">Go</button>";
    let Some(mut page) = Page::show(html).await else { return };
    let go = page.find(Role::Button, "Go").await;
    page.device.notices().await.unwrap();
    page.press(go).await;
    let mut seen = Vec::new();
    for _ in 0..100 {
        seen.extend(page.device.notices().await.unwrap());
        if seen.len() >= 6 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let gone = Notice::RequestFailed { method: "GET".into(), url: page.site.url("/gone"), why: "404".into() };
    for expected in [
        Notice::Changed,
        Notice::ConsoleError { text: "bad 7".into() },
        Notice::ConsoleError { text: "Error: late".into() },
        Notice::LiveRegionText { text: "Saved".into() },
        gone,
    ] {
        assert!(seen.contains(&expected), "{expected:?} not in {seen:?}");
    }
    assert!(seen.iter().any(|n| matches!(n, Notice::TabOpened { .. })), "{seen:?}");
    page.close().await;
}

#[tokio::test]
async fn a_change_wakes_who_waits_for_one() {
    let Some(mut page) =
        Page::show("<!doctype html><p id=p>a</p><script>setTimeout(()=>p.textContent='b',700)</script>")
            .await
    else {
        return;
    };
    page.capture().await;
    let started = Instant::now();
    let mut text = String::new();
    while text != "b" && started.elapsed() < Duration::from_secs(5) {
        assert!(page.device.changed(Duration::from_secs(5), &none()).await.unwrap());
        text = page.truth("p.textContent").await;
        page.capture().await;
    }
    assert_eq!(text, "b");
    let still = page.device.changed(Duration::from_millis(100), &none()).await.unwrap();
    assert!(!still);
    page.close().await;
}

#[tokio::test]
async fn open_shows_the_page_or_leaves_nothing() {
    let Some(page) = Page::show("<!doctype html><title>Shop</title>x").await else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut device = provider().open(OpenRequest::new(page.site.url("/"), "test", dir.path())).await.unwrap();
    assert!(device.info().label.starts_with("Chromium ") && device.info().pid.is_some());
    device.close().await.unwrap();
    let error =
        provider().open(OpenRequest::new("http://nowhere.invalid/", "test", dir.path())).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::DeviceNotFound);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    page.close().await;
}
