//! Faults of pages and browsers: invalid text, endless scripts, addresses without a page, frames
//! without scripts, browsers that end. The session continues, or reports its state; a server
//! records what was really received.

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
