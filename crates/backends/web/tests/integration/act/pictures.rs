//! Screenshots, and queries about one element.

use crate::support::Page;
use stickpin_device::{Device, ErrorCode, Query, ScreenshotRequest};
use stickpin_tree::{Attr, Role};

#[tokio::test]
async fn elements_answer_questions_and_gone_ones_do_not() {
    let html = "<!doctype html><a href=/x id=l data-kind=z>Link <b>text</b></a>";
    let Some(mut page) = Page::show(html).await else { return };
    let link = page.find(Role::Link, "Link text").await;
    assert_eq!(page.device.query(link, Query::Text).await.unwrap(), "Link text");
    assert_eq!(page.device.query(link, Query::Attrs).await.unwrap()["data-kind"], "z");
    assert!(page.device.query(link, Query::Html).await.unwrap().as_str().unwrap().starts_with("<a href"));
    let located = page.device.locate(link, &[]).await.unwrap().unwrap();
    assert_eq!(located.tree.node(located.node).attr(Attr::Id), Some("l"));
    page.truth::<serde::de::IgnoredAny>("l.remove()").await;
    assert!(page.device.locate(link, &[]).await.unwrap().is_none());
    let error = page.device.query(link, Query::Text).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ElementNotFound);
    page.close().await;
}

#[tokio::test]
async fn pictures_have_the_size_that_they_say() {
    let html = "<!doctype html><body style='margin:0'><button style='width:120px;height:50px;display:block'>B</button><div style='height:2000px'></div>";
    let Some(mut page) = Page::show(html).await else { return };
    let size = |png: &[u8]| {
        (
            u32::from_be_bytes(png[16..20].try_into().unwrap()),
            u32::from_be_bytes(png[20..24].try_into().unwrap()),
        )
    };
    let view = page.device.screenshots().unwrap().screenshot(ScreenshotRequest::default()).await.unwrap();
    assert_eq!((size(&view.png), view.scale), ((1000, 700), 1.0));
    let full =
        page.device.screenshots().unwrap().screenshot(ScreenshotRequest::default().full(true)).await.unwrap();
    assert_eq!(size(&full.png).1, 2050);
    let button = page.find(Role::Button, "B").await;
    let part = page
        .device
        .screenshots()
        .unwrap()
        .screenshot(ScreenshotRequest::default().of(Some(button)))
        .await
        .unwrap();
    assert_eq!((size(&part.png), part.area.width), ((120, 50), 120.0));
    page.close().await;
}
