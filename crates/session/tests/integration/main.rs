//! Sessions on trees in memory, and the floors of the crate.

mod floors;
mod random_trees;
mod staleness;
