//! Commands that act on the app.

pub mod alert;
pub mod check;
pub mod clipboard;
pub mod drag;
pub mod fill;
pub mod form;
pub mod hover;
pub mod key;
pub mod longpress;
pub mod press;
pub mod scroll;
pub mod select;
pub mod type_text;
pub mod upload;
