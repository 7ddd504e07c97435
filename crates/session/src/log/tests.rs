//! Tests of the log as values.

mod bytes;
mod folding;
mod rules;
mod samples;
mod secrets;
