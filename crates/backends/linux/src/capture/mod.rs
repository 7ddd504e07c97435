//! Capturing an app: [`read`] queries its objects in a few rounds, and [`tree`] builds the tree.

mod duplicates;
mod labels;
pub(crate) mod question;
pub(crate) mod read;
pub(crate) mod tables;
pub(crate) mod tree;
