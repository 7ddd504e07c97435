//! What a watching person sees, on the simulated device.

use stickpin_backend_sim::SimProvider;
use stickpin_kernel::commands::frame::{WatchFrame, WatchFrameOutput};
use stickpin_kernel::{Answer, Host, Listing as _, Session, Snapshot};

struct Bench {
    host: Host,
    _folder: tempfile::TempDir,
}

async fn bench() -> (Bench, Session) {
    let folder = tempfile::tempdir().expect("a folder");
    let builder = Host::builder(folder.path()).provider(SimProvider::default()).command::<WatchFrame>();
    let bench = Bench { host: builder.build().expect("a host"), _folder: folder };
    let shop = bench.host.session("shop");
    shop.open("sim:shop").await.expect("it opens");
    (bench, shop)
}

async fn frame(session: &Session, frame: WatchFrame) -> Answer<WatchFrame> {
    session.run(frame).await.expect("a frame")
}

/// Returns the request that a watcher sends after it has seen a frame.
fn next(seen: &WatchFrameOutput) -> WatchFrame {
    WatchFrame { picture: seen.picture.clone(), commands: Some(seen.commands), ..WatchFrame::default() }
}

#[tokio::test]
async fn frame_issues_no_refs_and_stores_no_tree() {
    let (_bench, shop) = bench().await;
    let before = frame(&shop, WatchFrame::default()).await;
    assert!(before.boxes.iter().all(|b| b.reference.is_none()) && !before.boxes.is_empty(), "{before:?}");
    assert!(!before.outline.contains('@') && before.outline.contains("button \"Add to cart\""), "{before:?}");

    let page = shop.snapshot(Snapshot::interactive()).await.expect("a page");
    let generation = page.response.refs_generation;
    let shown = frame(&shop, WatchFrame::default()).await;
    assert!(shown.response.refs.is_none());
    let cart = page.find("Cart").expect("one").to_string();
    let pinned = shown.boxes.iter().find(|b| b.name.starts_with("Cart")).and_then(|b| b.reference.clone());
    let pin = generation.expect("a generation");
    assert_eq!(pinned, Some(format!("{}~s{pin}", cart.split('~').next().expect("a ref"))));
    let again = shop.snapshot(Snapshot::interactive()).await.expect("a page");
    assert_eq!(again.response.refs_generation, Some(pin + 1), "frames count for nothing");
}

#[tokio::test]
async fn frame_and_snapshot_after_a_command_show_its_effect() {
    let (_bench, shop) = bench().await;
    let page = shop.snapshot(Snapshot::interactive()).await.expect("a page");
    let before = frame(&shop, WatchFrame::default()).await;
    shop.press(page.find("Cart").expect("one")).await.expect("it is pressed");
    for _ in 0..2 {
        assert_ne!(frame(&shop, WatchFrame::default()).await.outline, before.outline);
    }
    let after = shop.snapshot(Snapshot::interactive()).await.expect("a page");
    assert_ne!(after.lines(), page.lines(), "a frame hides nothing from the agent");
}

#[tokio::test]
async fn equal_picture_is_sent_once() {
    let (_bench, shop) = bench().await;
    let first = frame(&shop, WatchFrame::default()).await;
    assert!(first.image.is_some() && first.width > 0);
    let second = frame(&shop, next(&first)).await;
    assert_eq!((second.image.as_ref(), &second.picture), (None, &first.picture));
}

#[tokio::test]
async fn watcher_that_waits_is_woken_by_a_command_and_gets_its_receipt() {
    let (_bench, shop) = bench().await;
    let page = shop.snapshot(Snapshot::interactive()).await.expect("a page");
    let seen = frame(&shop, WatchFrame::default()).await;
    let waits = WatchFrame { wait: 10_000, ..next(&seen) };
    let cart = page.find("Cart").expect("one");
    let (shown, pressed) = tokio::join!(frame(&shop, waits), async { shop.press(cart).await });
    pressed.expect("the waiting watcher lets the command go first");
    assert!(shown.commands > seen.commands, "{shown:?}");
    assert_eq!(shown.receipts.len(), 1, "{shown:?}");
    assert!(shown.receipts[0].lines.iter().any(|line| line.text.contains("cart")), "{shown:?}");
    assert_ne!(shown.picture, seen.picture);
}
