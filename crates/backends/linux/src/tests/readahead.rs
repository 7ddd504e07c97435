//! Read-ahead: when an app is read without a request, and what the next press requests after that.

use super::action_prefetch::{PRESS, read, reads};
use super::peer::App as Peer;
use super::speaker::{FIRST, Speaker};
use crate::app::LinuxDevice;
use crate::app::capture::listen_to_embedded;
use crate::app::window_stack::FRESH;
use crate::bus::AccessibilityBus;
use crate::model::{Object, ObjectTree};
use crate::toolkit::profile::Toolkit;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};
use stickpin_device::{Action, CancellationToken, CaptureRequest, Device, Lifecycle, PreparedInput};
use stickpin_tree::Handle;
use tokio::time::{pause, resume, timeout};

/// Returns whether a read-ahead would start if no command came. Does not wait for time to pass.
async fn comes_to_be_read(device: &mut LinuxDevice) -> bool {
    pause();
    let due = timeout(Duration::from_secs(60), device.idle_for_readahead()).await.is_ok();
    resume();
    due
}

/// Presses a button as the kernel does. Returns its name at the press and the number of round trips
/// to the app.
async fn press(device: &mut LinuxDevice, button: Handle) -> (String, usize) {
    let before = device.app.link.trips();
    let ticket = device.locate(button, &[]).await.unwrap().expect("it is there").ticket;
    let PreparedInput { aim, located, ticket, .. } =
        device.prepare(button, &[], PRESS, ticket).await.unwrap();
    let action = Action::press(aim.point, Some(button));
    let performed = device.commit(&action, ticket, &CancellationToken::new()).await.unwrap();
    device.outcome(button, performed.ticket).await.unwrap().expect("it is there");
    (reads(&located.expect("it is there")).to_owned(), device.app.link.trips() - before)
}

#[tokio::test]
async fn press_after_reading_ahead_costs_only_its_own_trips() {
    for toolkit in [Toolkit::Gtk4, Toolkit::Qt, Toolkit::Gtk3] {
        loop {
            let app = Speaker::start();
            let (mut device, heard) = app.device().await;
            device.app.link.toolkit = toolkit;
            device.capture(CaptureRequest::default()).await.unwrap();
            let save = device.app.ids.handle(FIRST);
            assert!(!comes_to_be_read(&mut device).await, "nothing has changed");
            press(&mut device, save).await;
            app.signals(&heard).await;
            assert!(comes_to_be_read(&mut device).await);
            device.read_ahead(&[]).await;
            assert!(!comes_to_be_read(&mut device).await, "it has been read");
            // The last action sent to GTK 4 has completed by now.
            device.activated = None;
            let begun = Instant::now();
            let (name, asked) = press(&mut device, save).await;
            if begun.elapsed() < FRESH {
                // GTK 4 acts only later, so its outcome is not asked for yet.
                let trips = if toolkit == Toolkit::Gtk4 { 2 } else { 3 };
                assert_eq!((name.as_str(), asked), ("Save", trips), "{toolkit:?}");
                break;
            }
        }
    }
}

#[tokio::test]
async fn what_was_read_ahead_is_proven_before_an_act() {
    enum Since {
        Signalled,
        Silent,
        Dropped,
    }
    for since in [Since::Signalled, Since::Silent, Since::Dropped] {
        let app = Speaker::start();
        let (mut device, heard, [save, _]) = read(&app).await;
        app.signals(&heard).await;
        if matches!(since, Since::Dropped) {
            let mut reading = pin!(device.read_ahead(&[]));
            std::future::poll_fn(|cx| Poll::Ready(reading.as_mut().poll(cx).is_pending())).await;
        } else {
            device.read_ahead(&[]).await;
        }
        app.becomes(|now| now.name = "Delete".to_owned());
        if matches!(since, Since::Signalled) {
            app.signals(&heard).await;
        }
        assert_eq!(press(&mut device, save).await.0, "Delete");
    }
}

#[tokio::test]
async fn app_that_keeps_changing_is_read_ahead_less_and_less_often() {
    let app = Speaker::start();
    let (mut device, heard, [save, _]) = read(&app).await;
    let mut waits = Vec::new();
    for _ in 0..3 {
        app.signals(&heard).await;
        let begun = tokio::time::Instant::now();
        assert!(comes_to_be_read(&mut device).await);
        waits.push(begun.elapsed());
        device.read_ahead(&[]).await;
    }
    // The quiet period starts at the signal, which came a moment ago.
    let grows = |of: &[Duration]| of[1] > of[0] * 2;
    assert!(waits.windows(2).all(grows), "{waits:?}");
    device.locate(save, &[]).await.unwrap();
    app.signals(&heard).await;
    let begun = tokio::time::Instant::now();
    assert!(comes_to_be_read(&mut device).await);
    assert!(begun.elapsed() < waits[1], "a command has read it");
}

#[tokio::test]
async fn app_that_has_left_is_not_read_ahead() {
    let app = Speaker::start();
    let (mut device, heard, _) = read(&app).await;
    app.signals(&heard).await;
    heard.state().gone = true;
    assert!(!comes_to_be_read(&mut device).await);
}

/// The absence of a guest's events proves that nothing has changed since a capture, so no event may
/// be missed.
#[tokio::test]
async fn guest_found_by_a_dropped_reading_is_listened_to_by_the_next() {
    let (app, bus) = (Speaker::start(), Peer::start());
    let (mut device, heard) = app.device().await;
    device.app.desktop = AccessibilityBus::over(bus.connect(Box::new(|_| {})).await);
    let guest = Object { path: ":1.9/page".to_owned(), ..Object::default() };
    let picture = ObjectTree { toolkit: Toolkit::Gtk3, objects: vec![guest], truncated: false };
    bus.hold();
    {
        let listening = listen_to_embedded(&device.app, &picture);
        tokio::select! {
            () = listening => panic!("the bus has not answered"),
            () = bus.asked() => {}
        }
    }
    bus.go_on();
    let (asked, changes) = (bus.calls(), heard.state().changes);
    listen_to_embedded(&device.app, &picture).await;
    assert!(bus.calls() > asked && heard.state().changes > changes);
    let asked = bus.calls();
    listen_to_embedded(&device.app, &picture).await;
    assert_eq!(bus.calls(), asked, "it is listened to");
}
