//! Scripts: what an agent did once, written down so that it runs without one.

pub mod script;
