//! What is asked in a second reading: all at once what the first one asked, and what is new by itself. On an app of ours,
//! which wrote down what it was asked.

use super::speaker::{Asked, FIRST, SECOND, Speaker, WINDOW};
use crate::app::LinuxDevice;
use std::sync::Arc;
use stickpin_device::{CaptureRequest, Captured, Device};
use stickpin_tree::Tree;

async fn read(device: &mut LinuxDevice) -> Arc<Tree> {
    let Captured::Tree(tree) = device.capture(CaptureRequest::default()).await.unwrap() else {
        panic!("nothing was stored")
    };
    tree
}

fn has(tree: &Tree, name: &str) -> bool {
    tree.nodes().any(|node| node.name() == name)
}

fn in_any_order(mut asked: Vec<Asked>) -> Vec<Asked> {
    asked.sort();
    asked
}

#[tokio::test]
async fn what_was_asked_is_asked_again_all_at_once_and_answered_anew() {
    let app = Speaker::start();
    let (mut device, _) = app.device().await;
    assert!(has(&*read(&mut device).await, "Save"));
    let first = app.asked();
    app.becomes(|now| now.name = "Keep".to_owned());
    let tree = read(&mut device).await;
    assert!(has(&tree, "Keep") && !has(&tree, "Save"));
    let second = app.asked();
    // Level by level one is not asked everything before the other is asked anything.
    let last_of_first = second.iter().rposition(|(path, ..)| path == FIRST).unwrap();
    let first_of_second = second.iter().position(|(path, ..)| path == SECOND).unwrap();
    assert!(last_of_first < first_of_second, "{second:?}");
    assert_eq!(in_any_order(second), in_any_order(first), "not one question more or less");
}

/// An app that has something, and cannot say what, has not become one that has nothing.
#[tokio::test]
async fn what_an_app_cannot_say_is_not_taken_for_nothing() {
    for garbled in [false, true] {
        for (path, what) in [(WINDOW, "GetChildren"), (FIRST, "GetState")] {
            let app = Speaker::start();
            let (mut device, _) = app.device().await;
            assert!(!read(&mut device).await.truncated());
            app.becomes(|now| match garbled {
                true => now.garbles = vec![(path, what)],
                false => now.refuses = vec![(path, what)],
            });
            let tree = read(&mut device).await;
            assert!(!has(&tree, "Save") && tree.truncated(), "{what} of {path}, garbled: {garbled}");
        }
    }
}

#[tokio::test]
async fn what_was_not_there_is_asked_by_itself_and_what_has_gone_is_not_there() {
    let app = Speaker::start();
    let (mut device, _) = app.device().await;
    assert!(!has(&*read(&mut device).await, "Twin"));
    app.becomes(|now| now.twin = Some(true));
    assert!(has(&*read(&mut device).await, "Twin"));
    app.becomes(|now| now.twin = None);
    let tree = read(&mut device).await;
    assert!(!has(&tree, "Twin") && has(&tree, "Save"));
}
