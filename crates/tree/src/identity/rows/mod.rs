//! Finds rows and what distinguishes them.

pub(crate) mod content;
pub(crate) mod detect;
pub(crate) mod field_values;
pub(crate) mod keys;
pub(crate) mod numbers;
pub(crate) mod text;
