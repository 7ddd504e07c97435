//! The commands, one file each.

pub(crate) mod alert;
pub(crate) mod capabilities;
pub(crate) mod check;
pub(crate) mod close;
pub(crate) mod count;
pub(crate) mod devices;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod drag;
pub(crate) mod fill;
pub(crate) mod form;
pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod hover;
pub(crate) mod is;
pub(crate) mod key;
pub(crate) mod longpress;
pub(crate) mod open;
pub(crate) mod press;
pub(crate) mod scroll;
pub(crate) mod select;
pub(crate) mod session;
pub(crate) mod snapshot;
pub(crate) mod type_text;
pub(crate) mod wait;
