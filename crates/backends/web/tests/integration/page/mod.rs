//! The page script in a real browser: what it reports for pages, compared with the expectations of
//! the pages and with the browser's own accessibility tree, and whether it aims and acts correctly.

mod acts;
mod cases;
mod details;
mod harness;
mod icons;
mod numbers;
mod speed;
mod wpt;
