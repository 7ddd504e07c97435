//! Presses and moves of the pointer.

use crate::app::LinuxDevice;
use std::time::{Duration, Instant};
use stickpin_device::Result;
use stickpin_x11desk::{X11, pings, pointer};
use tokio::time::sleep;

/// A press of the pointer that was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pressed {
    pub(crate) at: Instant,
    pub(crate) point: (f64, f64),
}

impl Pressed {
    /// Returns the delay that keeps the next press from forming a double press with this one.
    pub(crate) fn waits(&self, (x, y): (f64, f64)) -> Duration {
        let near = (x - self.point.0).abs() <= NEAR && (y - self.point.1).abs() <= NEAR;
        if near { DOUBLE.saturating_sub(self.at.elapsed()) } else { Duration::ZERO }
    }
}

/// The time and distance, with a margin, within which a second press forms a double press (400 ms
/// in Qt and GTK).
pub(crate) const DOUBLE: Duration = Duration::from_millis(430);

pub(crate) const NEAR: f64 = 8.0;

/// Waits out the double-press interval, so that presses from two commands never form a double
/// press.
pub(crate) async fn apart(device: &LinuxDevice, point: (f64, f64)) {
    let wait = device.pressed.map_or(Duration::ZERO, |pressed| pressed.waits(point));
    if !wait.is_zero() {
        sleep(wait).await;
    }
}

/// Moves the pointer. Returns when the app has noticed.
pub(crate) async fn move_pointer(x11: &X11, window: u32, (x, y): (f64, f64)) -> Result<()> {
    x11.run(move |d| {
        pointer::move_to(d, x, y)?;
        pings::await_delivery(d, window)
    })
    .await
}
