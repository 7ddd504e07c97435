//! Pages in Chromium.

#[cfg(target_os = "linux")]
mod bad_input;
#[cfg(target_os = "linux")]
mod browser;
#[cfg(target_os = "linux")]
mod faults;
mod scenarios;
mod staleness;
