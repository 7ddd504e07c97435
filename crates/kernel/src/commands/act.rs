//! Commands that act on the app.

pub(crate) mod alert;
pub(crate) mod check;
pub(crate) mod clipboard;
pub(crate) mod drag;
pub(crate) mod fill;
pub(crate) mod form;
pub(crate) mod hover;
pub(crate) mod key;
pub(crate) mod longpress;
pub(crate) mod press;
pub(crate) mod scroll;
pub(crate) mod select;
pub(crate) mod type_text;
pub(crate) mod upload;
