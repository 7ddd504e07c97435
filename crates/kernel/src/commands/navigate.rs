//! What takes the app somewhere else.

pub(crate) mod history;
pub(crate) mod tab;
