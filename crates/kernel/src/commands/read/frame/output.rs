//! A frame as viewers get it.

use crate::commands::prelude::*;

/// The app at one moment, as watchers see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchFrameOutput {
    /// The address of the page; empty if unknown.
    pub url: String,
    /// The title of the page; empty if unknown.
    pub title: String,
    /// A hash of the screenshot, equal for equal screenshots; absent if none was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// The screenshot as PNG or JPEG in Base64; absent if the caller already has it or none was
    /// taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The width of the screenshot in pixels.
    pub width: u32,
    /// The height of the screenshot in pixels.
    pub height: u32,
    /// The actionable elements in the screenshot.
    pub boxes: Vec<FrameBox>,
    /// The outline of the app; empty while a dialog is open.
    pub outline: String,
    /// A description of the open dialog. While the app is waiting for an answer, no screenshot is
    /// taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<String>,
    /// The number of commands that ran before the frame.
    pub commands: u64,
    /// The log record with which the last logged command before the frame began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_command: Option<u64>,
    /// The receipts of the commands after the requested log record, and of those that were not
    /// logged.
    pub receipts: Vec<FrameReceipt>,
    /// The last failed requests of the page, oldest first.
    pub failed_requests: Vec<String>,
    /// The last console errors that no receipt reported, oldest first.
    pub console_errors: Vec<String>,
}

/// An actionable element with its bounds in pixels of the screenshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameBox {
    /// The ref, pinned to the stored tree; absent if the element has no ref there or no longer
    /// reads the same.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The role of the element.
    pub role: String,
    /// The accessible name, escaped and truncated.
    pub name: String,
    /// The distance of the element from the left edge of the screenshot.
    pub x: f64,
    /// The distance of the element from the top edge of the screenshot.
    pub y: f64,
    /// The width of the element in pixels.
    pub width: f64,
    /// The height of the element in pixels.
    pub height: f64,
}

/// The receipt of one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameReceipt {
    /// The log record with which the command began; absent if the command was not logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<u64>,
    /// The lines of the receipt, in order.
    pub lines: Vec<FrameReceiptLine>,
}

/// A line of a receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameReceiptLine {
    /// The text of the line.
    pub text: String,
    /// Whether the line reports an error in the app.
    pub is_error: bool,
}

impl Show for WatchFrameOutput {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("{}x{} {}", self.width, self.height, stickpin_tree::quote_url(&self.url)));
        text.block(&self.outline);
    }
}
