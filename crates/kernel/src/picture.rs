//! Image processing for screenshots.

pub(crate) mod image;
pub(crate) mod overlay;
