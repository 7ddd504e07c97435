//! The traits that a platform implements, and their value types.
//!
//! A backend implements [`Provider`] and [`Device`], and the kernel drives them. The device
//! perceives and acts, the kernel judges: this crate has no notion of sessions, refs, pins,
//! commands or callers.
//!
//! ```
//! use stickpin_device::{Dispatched, Error, ErrorCode};
//!
//! // The error of a device when a dialog covers the button: nothing was sent.
//! let e = Error::element_covered(r#"button "Save" is covered by dialog "Cookies""#)
//!     .hint("run `stickpin snapshot -i` to see what covers it");
//! assert_eq!((e.code, e.dispatched), (ErrorCode::ElementCovered, Dispatched::No));
//! assert_eq!(e.code.name(), "ELEMENT_COVERED");
//! ```

mod capability;
mod capture;
mod defaults;
mod device;
mod error;
mod facets;
mod input;
mod live_picture;
mod navigation;
mod notice;
mod open;
pub mod paths;
mod pixels;
mod provider;
mod setters;
mod ticket;

pub use capability::Capability;
pub use capture::{
    CaptureRequest, CaptureResult, LocatedElement, Page, Query, ScreenshotImage, ScreenshotRequest,
};
pub use device::{Device, DeviceInfo, unsupported};
pub use error::{Dispatched, Error, ErrorCode, Result, element_gone, io_error};
pub use facets::{
    AppFolders, Clipboard, Dialogs, Download, DownloadState, EndedTab, Events, FileInput, Files, Geometry,
    InputFile, Lifecycle, Navigator, NetworkRequest, Popups, RequestEnd, Screenshots, Script, ScriptValue,
    TabEndReason, TabEntry, Tabs, Traffic, describe_request,
};
pub use input::{
    Action, Aim, AimOptions, Button, Delivery, HitResult, InputOutcome, MAX_DESCRIPTION, Modifiers,
    PreparedInput, is_plain, key_names,
};
pub use live_picture::{LivePicture, PendingPicture};
pub use navigation::{
    LeavePolicy, Navigation, NavigationResult, PendingActivity, SettleRequest, SettleResult,
};
pub use notice::{DesktopObject, Dialog, DialogAnswer, MAX_NOTICES, Notice, push_latest};
pub use open::{FieldSchema, OpenRequest, Viewport};
#[cfg(feature = "png")]
pub use pixels::encode_png;
pub use pixels::rgb;
pub use provider::{Check, DeviceEntry, Provider};
pub use ticket::Ticket;
pub use tokio_util::sync::CancellationToken;
