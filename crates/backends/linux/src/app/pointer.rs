//! Presses and moves of the pointer.

use crate::app::LinuxDevice;
use crate::model::Point;
use std::time::{Duration, Instant};
use stickpin_device::Result;
use stickpin_x11desk::{X11, pings, pointer};
use tokio::time::sleep;

/// A press of the pointer that was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastPress {
    pub(crate) at: Instant,
    pub(crate) point: Point,
}

impl LastPress {
    /// Returns the delay that keeps the next press from forming a double press with this one.
    pub(crate) fn remaining_interval(&self, (x, y): Point) -> Duration {
        let near = (x - self.point.0).abs() <= DOUBLE_CLICK_DISTANCE
            && (y - self.point.1).abs() <= DOUBLE_CLICK_DISTANCE;
        if near { DOUBLE_CLICK_INTERVAL.saturating_sub(self.at.elapsed()) } else { Duration::ZERO }
    }
}

/// The time and distance, with a margin, within which a second press forms a double press (400 ms
/// in Qt and GTK).
pub(crate) const DOUBLE_CLICK_INTERVAL: Duration = Duration::from_millis(430);

pub(crate) const DOUBLE_CLICK_DISTANCE: f64 = 8.0;

/// Waits out the double-press interval, so that presses from two commands never form a double
/// press.
pub(crate) async fn wait_double_click_interval(device: &LinuxDevice, point: Point) {
    let wait = device.last_press.map_or(Duration::ZERO, |pressed| pressed.remaining_interval(point));
    if !wait.is_zero() {
        sleep(wait).await;
    }
}

/// Moves the pointer. Returns when the app has noticed.
pub(crate) async fn move_pointer(x11: &X11, window: u32, (x, y): Point) -> Result<()> {
    x11.run(move |d| {
        pointer::move_to(d, x, y)?;
        pings::await_delivery(d, window)
    })
    .await
}
