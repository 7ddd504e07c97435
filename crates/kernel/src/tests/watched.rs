//! Commands of an agent while somebody watches the session.

use super::support::Bench;
use crate::Host;
use crate::commands::frame::{WatchFrame, WatchFrameOutput};
use serde_json::json;
use std::time::Duration;
use stickpin_device::{Dialog, Notice};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Returns an agent with an open app, and a viewer whose picture is complete when the sender fires.
async fn watched() -> (Bench, JoinHandle<WatchFrameOutput>, oneshot::Sender<()>) {
    let mut ada = Bench::new("heading \"Shop\" #2\nbutton \"Buy\" #3\n");
    let config = ada.host.inner.config.clone();
    let builder = Host::builder(&config.state_dir).configured(|c| *c = config).command::<WatchFrame>();
    ada.host = builder.build().expect("a host");
    ada.ok("open", json!({ "what": "fake:/" })).await;
    let mut eve = ada.clone();
    eve.caller.client = Some("watch".into());
    let (complete, held) = oneshot::channel();
    ada.fake.world().held_picture = Some(held);
    let frame = tokio::spawn(async move { frame(&eve).await });
    while ada.fake.world().held_picture.is_some() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    (ada, frame, complete)
}

async fn frame(viewer: &Bench) -> WatchFrameOutput {
    let output = viewer.ok("watch frame", json!({})).await.output.expect("JSON");
    serde_json::from_value(output).expect("a frame")
}

#[tokio::test(start_paused = true)]
async fn command_does_not_wait_for_a_picture() {
    let (ada, frame, complete) = watched().await;
    ada.ok("press", json!({ "target": "role=button label=Buy" })).await;
    assert!(!frame.is_finished(), "the picture is not complete");
    complete.send(()).expect("the viewer waits");
    let seen = frame.await.expect("a frame");
    assert!(seen.picture.is_some() && seen.outline.contains("Buy"), "{seen:?}");
    // The frame is from before the press, so the viewer asks for the next one at once.
    let next = self::frame(&ada).await;
    assert_eq!(next.commands, seen.commands + 1);
}

#[tokio::test(start_paused = true)]
async fn dialog_that_opens_beside_a_picture_is_shown() {
    let (ada, frame, complete) = watched().await;
    ada.fake.world().dialog = Some(Dialog::new("confirm", "Sure?"));
    complete.send(()).expect("the viewer waits");
    let seen = frame.await.expect("a frame");
    assert!(seen.dialog.is_some_and(|dialog| dialog.contains("Sure?")));
    assert_eq!(seen.picture, None);
}

#[tokio::test(start_paused = true)]
async fn console_error_outside_of_an_action_is_shown_to_viewers() {
    let (ada, first, complete) = watched().await;
    complete.send(()).expect("the viewer waits");
    assert_eq!(first.await.expect("a frame").console_errors, Vec::<String>::new());
    for text in ["no paper", "no paper", "no\u{202e}ink"] {
        ada.fake.world().notices.push(Notice::ConsoleError { text: text.into() });
    }
    let seen = frame(&ada).await;
    assert_eq!(
        seen.console_errors,
        [r#"console error "no paper" (2 times)"#, r#"console error "no\u{202e}ink""#],
    );
    assert_eq!(frame(&ada).await.console_errors, seen.console_errors);

    // Errors from before an action are in no receipt; errors during the action are only in its
    // receipt.
    let toner = || Notice::ConsoleError { text: "no toner".into() };
    ada.fake.world().on_input.insert(3, Box::new(move |world| world.notices.push(toner())));
    let pressed = ada.ok("press", json!({ "target": "role=button label=Buy" })).await;
    assert_eq!(pressed.receipt, [r#"console error "no toner""#]);
    assert_eq!(frame(&ada).await.console_errors, seen.console_errors);
}
