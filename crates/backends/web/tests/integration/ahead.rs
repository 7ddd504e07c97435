//! Read-ahead: what it saves, and what it must never hide.

use crate::support::Page;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{CaptureRequest, CaptureResult, Device};
use stickpin_tree::Tree;
use tokio::time::timeout;

/// Longer than the time that a page is first given to become quiet.
const LONG: Duration = Duration::from_millis(500);

const PAGE: &str = "<!doctype html><title>T</title><h1>Home</h1><button>Go</button>";

async fn rest(page: &mut Page) {
    timeout(Duration::from_secs(20), page.device.lifecycle().unwrap().idle_for_readahead())
        .await
        .expect("the page becomes idle");
}

/// Captures for a client that has this tree. Returns `None` if nothing changed.
async fn look(page: &mut Page, stored: Option<&Arc<Tree>>) -> Option<Arc<Tree>> {
    match page
        .device
        .capture(CaptureRequest::default().stored(stored))
        .await
        .unwrap_or_else(|e| panic!("{e}"))
    {
        CaptureResult::Tree(tree) => Some(tree),
        _ => None,
    }
}

fn proofs(page: &Page) -> u64 {
    page.device.driven().walks_skipped
}

fn shows(tree: &Tree, name: &str) -> bool {
    tree.nodes().any(|node| node.name() == name)
}

#[tokio::test]
async fn a_page_that_was_read_ahead_is_only_proven_to_hold_still() {
    let Some(mut page) = Page::show(PAGE).await else { return };
    rest(&mut page).await;
    page.device.lifecycle().unwrap().read_ahead(&[]).await;
    let first = look(&mut page, None).await.expect("a caller without a tree gets one");
    assert!(shows(&first, "Go"));
    assert_eq!(proofs(&page), 1, "the first capture does not walk the page");

    page.truth::<()>("void (document.querySelector('button').textContent = 'Stop')").await;
    rest(&mut page).await;
    page.device.lifecycle().unwrap().read_ahead(&[]).await;
    let second = look(&mut page, Some(&first)).await.expect("the tree differs from the caller's");
    assert!(shows(&second, "Stop") && !shows(&second, "Go"));
    assert!(proofs(&page) >= 2, "{}", proofs(&page));
    assert!(look(&mut page, Some(&second)).await.is_none());
    page.close().await;
}

#[tokio::test]
async fn what_changes_after_a_reading_ahead_is_seen() {
    let Some(mut page) = Page::show(PAGE).await else { return };
    rest(&mut page).await;
    page.device.lifecycle().unwrap().read_ahead(&[]).await;
    page.truth::<()>("void (document.querySelector('button').textContent = 'Stop')").await;
    let tree = look(&mut page, None).await.expect("a tree");
    assert!(shows(&tree, "Stop") && !shows(&tree, "Go"));
    // Changes that leave no mutation record are seen as well.
    page.device.lifecycle().unwrap().read_ahead(&[]).await;
    page.truth::<()>("(() => { const s = new CSSStyleSheet(); s.replaceSync('button{display:none}'); document.adoptedStyleSheets = [s] })()").await;
    let tree = look(&mut page, Some(&tree)).await.expect("it changed");
    assert!(!shows(&tree, "Stop"));
    page.close().await;
}

#[tokio::test]
async fn who_cannot_be_read_is_not() {
    let Some(mut page) = Page::show(PAGE).await else { return };
    rest(&mut page).await;
    page.truth::<()>("void setTimeout(() => confirm('Stay?'))").await;
    let until = Instant::now() + Duration::from_secs(10);
    while page.device.dialogs().unwrap().dialog().is_none() {
        assert!(Instant::now() < until, "no dialog opened");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert!(
        timeout(LONG, page.device.lifecycle().unwrap().idle_for_readahead()).await.is_err(),
        "a dialog keeps it from answering"
    );
    page.close().await;
}

#[tokio::test]
async fn where_nothing_can_be_proven_nothing_is_read_ahead() {
    let html = format!(
        "{PAGE}<script>customElements.define('a-b', class extends HTMLElement {{}})</script><a-b>x</a-b>"
    );
    let Some(mut page) = Page::show(&html).await else { return };
    look(&mut page, None).await.expect("a tree");
    page.truth::<()>("void (document.querySelector('button').textContent = 'Stop')").await;
    assert!(timeout(LONG, page.device.lifecycle().unwrap().idle_for_readahead()).await.is_err());
    page.close().await;
}
