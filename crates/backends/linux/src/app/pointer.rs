//! What the pointer did last.

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
    /// How long the next press has to wait so that an app does not take both for a double press.
    pub(crate) fn waits(&self, (x, y): (f64, f64)) -> Duration {
        let near = (x - self.point.0).abs() <= NEAR && (y - self.point.1).abs() <= NEAR;
        if near { DOUBLE.saturating_sub(self.at.elapsed()) } else { Duration::ZERO }
    }
}

/// Until when after a press the next one counts as its second (400 ms in Qt and GTK), and a little
/// more; and how near.
pub(crate) const DOUBLE: Duration = Duration::from_millis(430);

pub(crate) const NEAR: f64 = 8.0;

/// Waits until a press at a point is one of its own: two commands are never one double press.
pub(crate) async fn apart(device: &LinuxDevice, point: (f64, f64)) {
    let wait = device.pressed.map_or(Duration::ZERO, |pressed| pressed.waits(point));
    if !wait.is_zero() {
        sleep(wait).await;
    }
}

/// Moves the pointer; the app has seen it when this returns.
pub(crate) async fn move_pointer(x11: &X11, window: u32, (x, y): (f64, f64)) -> Result<()> {
    x11.run(move |d| {
        pointer::move_to(d, x, y)?;
        pings::await_delivery(d, window)
    })
    .await
}
