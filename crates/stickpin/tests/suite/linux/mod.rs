//! Apps of a Linux desktop. Each test has its own display, buses and window manager.

mod apps;
mod bad_input;
mod desktop;
mod opening;
mod portal;
mod restore;
mod scenarios;
mod shifts;
mod staleness;
