//! Presses and moves of the pointer.

use crate::app::{LinuxDevice, lifecycle, unknown};
use crate::bus::Link;
use crate::model::Point;
use std::time::{Duration, Instant};
use stickpin_device::{Action, CancellationToken, Error, Result};
use stickpin_x11desk::{HeldInput, Window, X11, keyboard, pings, pointer, window_manager};
use tokio::time::{sleep, timeout};

/// The time, with a margin, within which a second press forms a double press. Qt and GTK use 400
/// ms.
const DOUBLE_CLICK_INTERVAL: Duration = Duration::from_millis(430);

/// The distance along each axis, in pixels and with a margin, within which a second press forms a
/// double press.
const DOUBLE_CLICK_DISTANCE: f64 = 8.0;

/// Returns the delay that keeps a press at a point from forming a double press with the last one.
fn remaining_interval((at, last): (Instant, Point), (x, y): Point) -> Duration {
    let near = (x - last.0).abs() <= DOUBLE_CLICK_DISTANCE && (y - last.1).abs() <= DOUBLE_CLICK_DISTANCE;
    if near { DOUBLE_CLICK_INTERVAL.saturating_sub(at.elapsed()) } else { Duration::ZERO }
}

/// Waits out the double-press interval, so that presses from two commands never form a double
/// press.
pub(crate) async fn wait_double_click_interval(device: &LinuxDevice, point: Point) {
    let wait = device.last_press.map_or(Duration::ZERO, |last| remaining_interval(last, point));
    if !wait.is_zero() {
        sleep(wait).await;
    }
}

/// Moves the pointer. Returns when the window's app has noticed the move.
pub(crate) async fn move_pointer(x11: &X11, window: Option<u32>, (x, y): Point) -> Result<()> {
    x11.run(move |d| {
        pointer::move_to(d, x, y)?;
        window.map_or(Ok(()), |window| pings::await_delivery(d, window))
    })
    .await
}

/// The minimum duration of a press. GTK 4 loses one in six presses that are released immediately.
const DOWN: Duration = Duration::from_millis(12);

/// Timeout for an app to notice that a button is down.
const SEEN: Duration = Duration::from_millis(500);

/// Waits while a button is down: at least for `hold`, and until the app has noticed the press, if
/// the app can be queried. Without this wait, a busy app might see the press and the release
/// together.
async fn down(link: Option<&Link>, hold: Duration) {
    sleep(hold.max(DOWN)).await;
    let Some(link) = link else { return };
    // The button is released in any case. If the app hangs, the next call reports that.
    drop(timeout(SEEN, lifecycle::wait_until_input_read(link)).await);
}

/// Performs a press at its point in the window. `link` leads to the window's app, if that app is
/// accessible.
///
/// # Errors
/// Returns the errors of the display. Something may have been sent.
pub(crate) async fn press_pointer(
    x11: &X11,
    window: &Window,
    action: &Action,
    link: Option<&Link>,
    cancel: &CancellationToken,
) -> Result<()> {
    let Action::Press { point, button, count, modifiers, hold, .. } = *action else {
        return Err(Error::internal("the action is not a press"));
    };
    let id = window.id;
    move_pointer(x11, Some(id), point).await.map_err(unknown)?;
    let held = HeldInput::new(x11, modifiers, button);
    x11.run(move |d| keyboard::hold(d, modifiers, true)).await.map_err(unknown)?;
    let mut done = Ok(());
    let presses = count.max(1);
    for nth in 1..=presses {
        done = x11.run(move |d| pointer::press(d, button)).await;
        if done.is_ok() {
            cancel.run_until_cancelled(down(link, hold)).await;
        }
        // The button is released in any case.
        let up = x11.run(move |d| pointer::release(d, button)).await;
        // A window manager may raise an inactive window that is pressed.
        let managed = !window.active || nth < presses;
        let delivered = x11.run(move |d| {
            if managed {
                window_manager::sync(d)?;
            }
            pings::await_delivery(d, id)
        });
        done = done.and(up).and(delivered.await);
        if done.is_err() || cancel.is_cancelled() {
            break;
        }
    }
    done.and(held.release_now().await).map_err(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::AppEvents;
    use crate::tests::peer::App;
    use std::pin::pin;
    use std::sync::Arc;

    #[test]
    fn press_waits_out_the_double_click_interval_nearby() {
        // Set the time an hour ahead, so that the clock of a busy machine does not matter.
        let (mut at, point) = (Instant::now() + Duration::from_secs(3600), (10.0, 10.0));
        assert_eq!(remaining_interval((at, point), (14.0, 6.0)), DOUBLE_CLICK_INTERVAL);
        assert_eq!(remaining_interval((at, point), (30.0, 10.0)), Duration::ZERO);
        at = Instant::now().checked_sub(DOUBLE_CLICK_INTERVAL).expect("the machine has run that long");
        assert_eq!(remaining_interval((at, point), (10.0, 10.0)), Duration::ZERO);
    }

    #[tokio::test]
    async fn button_stays_down_until_two_answers_or_timeout() {
        let (app, heard) = (App::start(), Arc::new(AppEvents::default()));
        let link = app.link(&heard).await;
        app.hold();
        let mut held = pin!(down(Some(&link), Duration::ZERO));
        tokio::select! {
            () = &mut held => panic!("the app has not seen it"),
            () = app.asked() => app.go_on(),
        }
        held.await;
        assert_eq!(app.calls(), 2);
        // Do not wait for an app that hangs.
        app.hold();
        timeout(SEEN * 20, down(Some(&link), Duration::ZERO)).await.expect("it comes up");
    }
}
