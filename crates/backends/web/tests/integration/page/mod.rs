//! The page script in a real browser: what it says of pages, compared with what the pages expect
//! and with the browser's own accessibility tree, and whether it aims and acts where it should.

mod acts;
mod cases;
mod details;
mod harness;
mod icons;
mod numbers;
mod speed;
mod wpt;
