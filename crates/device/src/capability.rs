//! What a device can do, as data.

use serde::{Deserialize, Serialize};

/// Something a device may be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named after the commands that need them")]
pub enum Capability {
    Capture,
    Locate,
    Press,
    LongPress,
    Hover,
    Drag,
    Fill,
    Type,
    Key,
    Select,
    Scroll,
    Upload,
    Clipboard,
    History,
    Reload,
    Navigate,
    Screenshot,
    Dialogs,
    Html,
    Attrs,
    Settle,
    Tabs,
    Requests,
    Downloads,
    Evaluate,
    /// What a target belongs to is compared in the task in which the app receives the input. Without it, the last look
    /// before the input decides, and what changes in between is said after the act.
    GuardContext,
}

/// How far a capability goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Support {
    /// It works.
    Yes,
    /// It does not; commands that need it answer `UNSUPPORTED`.
    No,
}
