//! What the app looked like after each command, for as many commands as the limits permit.

use hyper::body::Bytes;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;
use stickpin_kernel::commands::frame::FrameBox;

/// The maximum number of steps with a screenshot.
const MAX_STEPS: usize = 500;

/// The maximum size of the screenshots and outlines of all steps, in bytes. The newest step is kept
/// in any case.
const MAX_BYTES: usize = 48 << 20;

/// The number of frames that are kept in addition to those of steps, because a viewer may still be
/// loading the screenshot of a replaced frame.
const RECENT: usize = 4;

/// The app at one point in time.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Frame {
    /// The number of the frame.
    pub(crate) id: u64,
    /// The command after which the frame was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<u64>,
    pub(crate) url: String,
    pub(crate) title: String,
    /// The name of the screenshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) picture: Option<String>,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) boxes: Vec<FrameBox>,
    pub(crate) outline: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dialog: Option<String>,
    pub(crate) failed_requests: Vec<String>,
    pub(crate) console_errors: Vec<String>,
    #[serde(skip)]
    pub(crate) image: Bytes,
    /// Whether the host has stored what the screenshot shows, so that points can be pressed.
    #[serde(skip)]
    pub(crate) points: bool,
}

impl Frame {
    /// Returns the element with the smallest box around a point of the screenshot.
    pub(crate) fn at(&self, x: f64, y: f64) -> Option<&FrameBox> {
        let around = |b: &&FrameBox| x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + b.height;
        let size = |b: &&FrameBox| b.width * b.height;
        self.boxes.iter().filter(around).min_by(|a, b| size(a).total_cmp(&size(b)))
    }
}

/// The steps whose screenshot changed when a frame was added.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AddedFrame {
    /// The step that the frame shows, if the frame has a screenshot.
    pub(crate) step: Option<u64>,
    /// The steps whose screenshots were dropped to make room for the new one.
    pub(crate) dropped: Vec<u64>,
}

/// The frames of steps, and the newest frames.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// The frames by command, oldest first.
    kept: VecDeque<Arc<Frame>>,
    recent: VecDeque<Arc<Frame>>,
}

impl Steps {
    /// Adds a frame.
    pub(crate) fn add(&mut self, frame: Arc<Frame>) -> AddedFrame {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Arc::clone(&frame));
        let Some(step) = frame.step.filter(|_| frame.picture.is_some()) else { return AddedFrame::default() };
        // The last frame before the next command shows the effect of the command.
        let known = self.kept.back().is_some_and(|last| last.step == Some(step));
        if known {
            self.kept.pop_back();
        }
        self.kept.push_back(frame);
        let mut dropped = Vec::new();
        while self.kept.len() > MAX_STEPS || (self.kept.len() > 1 && self.bytes() > MAX_BYTES) {
            dropped.extend(self.kept.pop_front().and_then(|frame| frame.step));
        }
        AddedFrame { step: Some(step), dropped }
    }

    /// Returns the newest frame.
    pub(crate) fn newest(&self) -> Option<&Arc<Frame>> {
        self.recent.back()
    }

    /// Returns a frame by its id, if it is one of the newest.
    pub(crate) fn recent(&self, id: u64) -> Option<&Arc<Frame>> {
        self.recent.iter().find(|frame| frame.id == id)
    }

    /// Returns the frame after a command.
    pub(crate) fn step(&self, command: u64) -> Option<&Arc<Frame>> {
        self.kept.iter().find(|frame| frame.step == Some(command))
    }

    /// Returns a screenshot by its name.
    pub(crate) fn picture(&self, name: &str) -> Option<Bytes> {
        let mut all = self.recent.iter().rev().chain(&self.kept);
        all.find(|frame| frame.picture.as_deref() == Some(name)).map(|frame| frame.image.clone())
    }

    fn bytes(&self) -> usize {
        self.kept.iter().map(|frame| frame.image.len() + frame.outline.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: u64, step: u64, size: usize) -> Arc<Frame> {
        let picture = Some(format!("{id:016x}"));
        Arc::new(Frame { id, step: Some(step), picture, image: vec![0; size].into(), ..Frame::default() })
    }

    #[test]
    fn step_keeps_its_last_picture() {
        let mut steps = Steps::default();
        for (id, step) in [(1, 10), (2, 10), (3, 12)] {
            assert_eq!(steps.add(frame(id, step, 1)), AddedFrame { step: Some(step), dropped: Vec::new() });
        }
        assert_eq!(steps.step(10).map(|frame| frame.id), Some(2));
        assert_eq!(steps.newest().map(|frame| frame.id), Some(3));
    }

    #[test]
    fn pictures_are_bounded_by_number_and_size() {
        let mut steps = Steps::default();
        let mut dropped = Vec::new();
        for id in 0..1_000 {
            dropped.extend(steps.add(frame(id, id, 1_000)).dropped);
        }
        assert_eq!(dropped, (0..500).collect::<Vec<_>>());
        assert_eq!((steps.kept.len(), steps.recent.len()), (MAX_STEPS, RECENT));
        assert!(steps.picture(&format!("{:016x}", 999)).is_some());
        assert!(steps.picture(&format!("{:016x}", 1)).is_none());
        for id in 1_000..1_100 {
            steps.add(frame(id, id, 1 << 20));
        }
        assert!(steps.bytes() <= MAX_BYTES);
    }

    #[test]
    fn innermost_element_is_at_a_point() {
        let of = |name: &str, x: f64, width: f64| FrameBox {
            reference: None,
            role: "button".to_owned(),
            name: name.to_owned(),
            x,
            y: 0.0,
            width,
            height: 10.0,
        };
        let frame =
            Frame { boxes: vec![of("row", 0.0, 100.0), of("delete", 80.0, 10.0)], ..Frame::default() };
        assert_eq!(frame.at(85.0, 5.0).map(|b| b.name.as_str()), Some("delete"));
        assert_eq!(frame.at(5.0, 5.0).map(|b| b.name.as_str()), Some("row"));
        assert!(frame.at(200.0, 5.0).is_none());
    }
}
