//! Finds rows and what distinguishes them.

pub(crate) mod content;
pub(crate) mod detect;
pub(crate) mod keys;
pub(crate) mod numbers;
pub(crate) mod shift;
pub(crate) mod text;
