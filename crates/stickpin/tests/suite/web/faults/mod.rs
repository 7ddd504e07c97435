//! Faults of pages and browsers: what a page cannot write, scripts that run for ever, addresses
//! that show nothing, frames without scripts, browsers that end. The session goes on, or says what
//! became of it; a server knows what really came.

mod clipboard;
mod documents;
mod doubles;
mod drags;
mod drops;
mod editors;
mod halves;
mod hung;
mod lives;
mod nothing;
mod points;
mod scriptless;
mod web;
mod wizard;
mod words;
