//! Tests of hosts and the acting pipeline, on the fake device.

mod acting;
mod effects;
mod fake;
mod giving;
mod invariants;
mod sessions;
mod support;
mod wrong_element;
