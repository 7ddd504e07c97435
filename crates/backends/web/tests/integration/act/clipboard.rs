//! The clipboard: the page can paste what the agent copies, and vice versa.

use crate::support::Page;
use stickpin_device::{Device, ErrorCode, Modifiers};
use stickpin_tree::Role;

#[tokio::test]
async fn text_goes_both_ways_without_a_window() {
    let html = "<!doctype html><textarea aria-label=Note></textarea><button onclick='navigator.clipboard.writeText(\"from the page\").then(()=>log.push(1))'>Copy</button><script>log=[]</script>";
    let Some(mut page) = Page::show(html).await else { return };
    page.device.clipboard().unwrap().write_clipboard("two\nlines").await.unwrap();
    assert_eq!(page.device.clipboard().unwrap().read_clipboard().await.unwrap(), "two\nlines");
    let note = page.find(Role::TextBox, "Note").await;
    page.press(note).await;
    page.key(Modifiers { control: true, ..Modifiers::default() }, "v").await;
    assert_eq!(page.truth::<String>("document.querySelector('textarea').value").await, "two\nlines");
    let copy = page.find(Role::Button, "Copy").await;
    page.press(copy).await;
    page.until("log.length==1").await;
    assert_eq!(page.device.clipboard().unwrap().read_clipboard().await.unwrap(), "from the page");
    page.close().await;
}

#[tokio::test]
async fn a_page_without_a_clipboard_says_so() {
    let Some(mut page) = Page::show("<!doctype html><p>x</p>").await else { return };
    page.go("data:text/html,<p>x</p>").await;
    let e = page.device.clipboard().unwrap().read_clipboard().await.unwrap_err();
    assert_eq!(e.code, ErrorCode::Unsupported, "{e}");
    page.close().await;
}
