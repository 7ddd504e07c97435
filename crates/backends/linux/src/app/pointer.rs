//! What the pointer did last.

use std::time::{Duration, Instant};
use stickpin_device::Modifiers;

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

/// No keys held.
pub(crate) const NONE: Modifiers = Modifiers { alt: false, control: false, meta: false, shift: false };

/// Until when after a press the next one counts as its second (400 ms in Qt and GTK), and a little more; and how near.
pub(crate) const DOUBLE: Duration = Duration::from_millis(430);

pub(crate) const NEAR: f64 = 8.0;
