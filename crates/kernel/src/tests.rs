//! Tests of hosts and the action pipeline, on the fake device.

mod action_effects;
mod actions;
mod fake;
mod invariants;
mod lifetimes;
mod session_log;
mod sessions;
mod support;
mod two_agents;
mod uploads;
#[cfg(feature = "pictures")]
mod watched;
mod wrong_element;
