//! Actions that were cancelled: whatever is pressed at that moment is released, as the server
//! reports.

use super::desktop;
use super::peer::App;
use super::window::{TestWindow, Watch};
use crate::act;
use crate::app::LinuxDevice;
use crate::bus::AccessibilityBus;
use crate::events::AppEvents;
use crate::screen::Screen;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{Action, Button, CancellationToken, Modifiers};
use stickpin_x11desk::{Window, X11, window_manager, windows};

const PLACE: (i16, i16, u16, u16) = (100, 120, 300, 200);

/// Starts an action and cancels it as soon as a key or button is pressed.
async fn given_up(device: &mut LinuxDevice, watch: &Watch, action: &Action) {
    let cancel = CancellationToken::new();
    tokio::select! {
        done = act::perform(device, action, None, &cancel) => panic!("it came to its end: {done:?}"),
        () = async { while watch.held_down() == 0 { tokio::task::yield_now().await } } => {}
    }
}

/// A window of an app on a private display, and a device that has opened the app.
struct Stage {
    window: TestWindow,
    device: LinuxDevice,
    x11: X11,
    shown: Window,
    watch: Watch,
    _app: App,
}

impl Stage {
    async fn set(dir: &std::path::Path) -> Option<Self> {
        let (private, x11) = desktop(dir).await?;
        let window = TestWindow::show(&private, "Held", PLACE);
        let watch = Watch::begin(&private);
        let screen = Screen::own(private, x11.clone());
        let (app, heard) = (App::start(), Arc::new(AppEvents::default()));
        let (link, bus) =
            (app.link(&heard).await, AccessibilityBus::over(app.connect(Box::new(|_| {})).await));
        let mut device =
            LinuxDevice::new(bus, link, heard, screen, ("app".to_owned(), None), Some("linux:app"));
        device.app.info.pid = Some(std::process::id());
        let shown = loop {
            let shown = x11.run(windows::list_windows).await.unwrap().into_iter().find(|w| w.id == window.id);
            match shown {
                Some(window) => break window,
                None => tokio::task::yield_now().await,
            }
        };
        Some(Self { window, device, x11, shown, watch, _app: app })
    }

    async fn end(mut self) {
        drop(self.window);
        drop(self.x11);
        self.device.app.screen.end().await.unwrap();
    }
}

/// Until the window manager has passed on the press, the app has not received it, whatever the app
/// answers.
#[tokio::test]
async fn button_is_released_after_the_window_manager_sync() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut stage) = Stage::set(dir.path()).await else { return };
    // This also applies to the active window.
    let shown = stage.shown.clone();
    assert!(stage.x11.run(move |d| window_manager::raise(d, &shown)).await.unwrap());
    let point = stage.shown.area.center();
    stage.watch.told();
    act::perform(&mut stage.device, &Action::press(point, None), None, &CancellationToken::new())
        .await
        .unwrap();
    stage.window.next("up");
    let told = stage.watch.told();
    assert_eq!(told[..3], ["down", "asked", "up"], "{told:?}");
    stage.end().await;
}

/// Without a window manager, the wait would end in a timeout at each press.
#[tokio::test]
async fn press_without_window_manager_skips_the_sync() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut stage) = Stage::set(dir.path()).await else { return };
    stage.watch.end_window_manager();
    let point = stage.shown.area.center();
    stage.watch.told();
    act::perform(&mut stage.device, &Action::press(point, None), None, &CancellationToken::new())
        .await
        .unwrap();
    stage.window.next("up");
    let told = stage.watch.told();
    assert!(told.starts_with(&["down", "up"]) && !told.contains(&"asked"), "{told:?}");
    stage.end().await;
}

#[tokio::test]
async fn held_input_of_a_dropped_action_is_released() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut stage) = Stage::set(dir.path()).await else { return };
    let point = stage.shown.area.center();
    let press = Action::Press {
        point,
        target: None,
        button: Button::Right,
        count: 1,
        modifiers: Modifiers { control: true, shift: true, ..Modifiers::default() },
        hold: Duration::from_secs(3600),
    };
    let drag = Action::Drag { from: point, source: None, to: (point.0 + 60.0, point.1), target: None };
    for act in [&press, &drag] {
        given_up(&mut stage.device, &stage.watch, act).await;
        // The window manager receives a press first, and the server holds back the events after it.
        let up = async {
            while stage.watch.held_down() != 0 {
                tokio::task::yield_now().await
            }
        };
        tokio::time::timeout(Duration::from_secs(20), up)
            .await
            .unwrap_or_else(|_| panic!("still down: {act:?}"));
    }
    stage.end().await;
}
