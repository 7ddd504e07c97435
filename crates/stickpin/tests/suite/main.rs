//! Tests of the whole product: one module per subject, in one binary, so that it is linked only
//! once. Most run the real binary with its own daemon (`support`).

mod bad_input;
mod cli;
#[cfg(feature = "sim")]
mod completions;
#[cfg(feature = "sim")]
mod console;
mod daemon;
#[cfg(feature = "sim")]
mod delegation;
#[cfg(all(feature = "web", target_os = "linux"))]
mod docs;
#[cfg(feature = "sim")]
mod faults;
#[cfg(feature = "web")]
mod flows;
#[cfg(feature = "web")]
mod gauntlet;
#[cfg(feature = "sim")]
mod identity;
#[cfg(feature = "sim")]
mod install;
mod layers;
#[cfg(feature = "linux")]
mod linux;
#[cfg(feature = "sim")]
mod mcp;
#[cfg(feature = "sim")]
mod paths;
#[cfg(feature = "sim")]
mod replay;
#[cfg(all(feature = "web", feature = "sim"))]
mod report;
#[cfg(feature = "sim")]
mod restore;
#[cfg(feature = "sim")]
mod retries;
#[cfg(feature = "sim")]
mod scenarios;
#[cfg(feature = "sim")]
mod scripts;
#[cfg(all(feature = "sim", feature = "web", target_os = "linux"))]
mod security;
mod sessions;
#[cfg(feature = "sim")]
mod staleness_sim;
mod support;
#[cfg(feature = "sim")]
mod talk;
#[cfg(feature = "sim")]
mod terminal;
#[cfg(feature = "sim")]
mod turns;
#[cfg(feature = "sim")]
mod two_harnesses;
#[cfg(all(feature = "sim", feature = "web"))]
mod watch;
#[cfg(feature = "web")]
mod web;
