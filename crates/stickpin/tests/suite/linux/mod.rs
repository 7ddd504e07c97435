//! Apps of a Linux desktop. Each test has a display, buses and a window manager of its own.

mod apps;
mod bad_input;
mod desktop;
mod opening;
mod portal;
mod scenarios;
mod shifts;
mod staleness;
