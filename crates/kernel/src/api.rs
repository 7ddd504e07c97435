//! Requests, responses and their textual forms, shared by all surfaces. None of these values knows
//! a session.

pub(crate) mod expectation;
pub mod files;
pub(crate) mod form;
pub(crate) mod journal;
pub(crate) mod keys;
pub(crate) mod name;
pub mod paths;
pub(crate) mod pattern;
pub(crate) mod render;
pub(crate) mod request;
pub mod schema;
pub(crate) mod secret;
pub(crate) mod spec;
pub(crate) mod target;
pub(crate) mod targets;
