//! Trees through the public interface, the record rule, and the floors of the crate.

mod builder;
mod floors;
mod records;
