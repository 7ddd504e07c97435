//! Sessions on trees in memory, and the layers of the crate.

mod floors;
mod random_trees;
mod staleness;
