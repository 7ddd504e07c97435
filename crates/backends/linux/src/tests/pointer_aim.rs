//! Aiming with the pointer at an app that does not report what is at a point.

use super::shown_window;
use super::speaker::{FIRST, SECOND, Speaker, TWIN, WINDOW};
use super::window::TestWindow;
use crate::aim::position;
use crate::app::{LinuxDevice, capture};
use crate::toolkit::profile::Toolkit;
use std::path::Path;
use stickpin_device::{AimOptions, Device, ErrorCode, Geometry, HitResult};

/// Shows a window of this process on a private display. Returns the window, the test app that it
/// represents, and a device that has captured the app.
async fn shown(dir: &Path, toolkit: Toolkit) -> Option<(TestWindow, Speaker, LinuxDevice)> {
    let (window, screen) = shown_window(dir).await?;
    let app = Speaker::start();
    app.becomes(|now| (now.stacked, now.points) = (true, vec![(WINDOW, FIRST)]));
    let (mut device, _) = app.device().await;
    device.app.screen = screen;
    device.app.link.toolkit = toolkit;
    device.app.info.pid = Some(std::process::id());
    capture::capture_app(&mut device, &[]).await.unwrap();
    Some((window, app, device))
}

/// GTK 4 reports positions relative to windows, whose positions are queried together with those of
/// the elements inside.
#[tokio::test]
async fn boxes_of_all_elements_are_one_trip() {
    for toolkit in [Toolkit::Gtk4, Toolkit::Gtk3] {
        let dir = tempfile::tempdir().unwrap();
        let Some((window, _app, mut device)) = shown(dir.path(), toolkit).await else { return };
        let handles = [FIRST, SECOND, FIRST].map(|path| device.app.ids.handle(path));
        let before = device.app.link.trips();
        let rects = position::boxes(device.view(), &handles, true).await.unwrap();
        assert!(rects.iter().all(Option::is_some), "{toolkit:?}: {rects:?}");
        assert_eq!(device.app.link.trips() - before, 1, "{toolkit:?}");
        drop(window);
        device.app.screen.end().await.unwrap();
    }
}

#[tokio::test]
async fn what_is_not_said_is_looked_at_again_once_and_then_refused() {
    let dir = tempfile::tempdir().unwrap();
    let Some((window, app, mut device)) = shown(dir.path(), Toolkit::default()).await else { return };
    let first = device.app.ids.handle(FIRST);
    let options = AimOptions::default().pointer(true).press(true).plain(false);
    for (errors, answered) in [(0, true), (1, true), (2, false)] {
        app.becomes(|now| now.errors = errors);
        match device.aim(first, options).await {
            Ok(aim) => {
                assert!(answered && aim.hit == HitResult::Target && aim.pointer_moved, "{errors}: {aim:?}")
            }
            Err(error) => {
                assert!(!answered && error.code == ErrorCode::ElementCovered, "{errors}: {error}");
                assert!(
                    error.message.contains("cannot determine what an input at button \"Save\" would hit"),
                    "{error}"
                );
            }
        }
        assert_eq!(app.becomes(|now| now.errors), 0, "it was asked so often");
    }
    drop(window);
    device.app.screen.end().await.unwrap();
}

#[tokio::test]
async fn what_is_at_a_point_is_asked_again_once_after_a_new_capture() {
    let dir = tempfile::tempdir().unwrap();
    let Some((window, app, mut device)) = shown(dir.path(), Toolkit::default()).await else { return };
    let [first, twin] = [FIRST, TWIN].map(|path| device.app.ids.handle(path));
    for errors in [0, 1] {
        app.becomes(|now| now.errors = errors);
        assert_eq!(device.element_at(50.0, 70.0).await.unwrap(), Some(first), "{errors}");
    }
    app.becomes(|now| now.errors = 2);
    let error = device.element_at(50.0, 70.0).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ElementCovered, "{error}");
    // The second window appeared without a signal.
    app.becomes(|now| (now.twin, now.points) = (Some(false), vec![(WINDOW, TWIN)]));
    assert_eq!(device.element_at(50.0, 70.0).await.unwrap(), Some(twin));
    // A part that the app does not list.
    app.becomes(|now| now.points = vec![(WINDOW, "/part")]);
    app.asked();
    assert_eq!(device.element_at(50.0, 70.0).await.unwrap(), None);
    let tests =
        app.asked().iter().filter(|(path, what, _)| path == WINDOW && what.ends_with("AtPoint")).count();
    assert_eq!(tests, 2);
    drop(window);
    device.app.screen.end().await.unwrap();
}
