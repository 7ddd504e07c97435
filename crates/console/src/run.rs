//! Connects the console to the daemon and the terminal.

mod background;
pub(crate) mod executor;
pub(crate) mod feed;
pub mod plain;
pub(crate) mod screen;
mod terminal;
#[cfg(test)]
mod tests;
