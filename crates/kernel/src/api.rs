//! Requests, responses and their textual forms, shared by all front ends. None of these values
//! depends on an open session.

pub(crate) mod command_definition;
pub(crate) mod expectation;
pub mod files;
pub(crate) mod keys;
pub(crate) mod paths;
pub(crate) mod render;
pub(crate) mod request;
pub mod schema;
pub(crate) mod secret;
pub(crate) mod session_name;
pub(crate) mod spec;
pub(crate) mod target;
pub(crate) mod target_rewrite;
pub(crate) mod url_pattern;
