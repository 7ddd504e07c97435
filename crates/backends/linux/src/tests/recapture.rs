//! A second capture shows the current state of a test app.

use super::speaker::{FIRST, Speaker, WINDOW};
use crate::app::LinuxDevice;
use std::sync::Arc;
use stickpin_device::{CaptureRequest, CaptureResult, Device};
use stickpin_tree::Tree;

async fn read(device: &mut LinuxDevice) -> Arc<Tree> {
    let CaptureResult::Tree(tree) = device.capture(CaptureRequest::default()).await.unwrap() else {
        panic!("nothing was stored")
    };
    tree
}

fn has(tree: &Tree, name: &str) -> bool {
    tree.nodes().any(|node| node.name() == name)
}

/// An app that has children but cannot list them is not mistaken for one without children.
#[tokio::test]
async fn what_an_app_cannot_say_is_not_taken_for_nothing() {
    for garbled in [false, true] {
        for (path, what) in [(WINDOW, "GetChildren"), (FIRST, "GetState")] {
            let app = Speaker::start();
            let (mut device, _) = app.device().await;
            assert!(!read(&mut device).await.is_truncated());
            app.becomes(|now| match garbled {
                true => now.garbles = vec![(path, what)],
                false => now.refuses = vec![(path, what)],
            });
            let tree = read(&mut device).await;
            assert!(!has(&tree, "Save") && tree.is_truncated(), "{what} of {path}, garbled: {garbled}");
        }
    }
}

#[tokio::test]
async fn what_came_is_there_and_what_has_gone_is_not() {
    let app = Speaker::start();
    let (mut device, _) = app.device().await;
    assert!(!has(&*read(&mut device).await, "Twin"));
    app.becomes(|now| now.twin = Some(true));
    assert!(has(&*read(&mut device).await, "Twin"));
    app.becomes(|now| now.twin = None);
    let tree = read(&mut device).await;
    assert!(!has(&tree, "Twin") && has(&tree, "Save"));
}
