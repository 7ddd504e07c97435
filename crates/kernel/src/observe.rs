//! Looking at the app: captures, targets, questions, waiting.

pub(crate) mod capture;
pub(crate) mod changes;
pub(crate) mod navigation;
pub(crate) mod question;
pub(crate) mod receipt;
pub(crate) mod resolve;
pub(crate) mod traffic;
pub(crate) mod waiting;
