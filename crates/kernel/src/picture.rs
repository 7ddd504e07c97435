//! Pictures as pixels.

pub(crate) mod image;
pub(crate) mod overlay;
