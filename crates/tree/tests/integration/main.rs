//! Trees through the public interface, the record rule, and the layers of the crate.

mod builder;
mod floors;
mod records;
