//! The device on real pages in Chromium, and the layers of the crate.

mod act;
mod ahead;
mod dialogs;
mod floors;
mod life;
mod navigate;
mod page;
mod support;
mod unchanged;
mod unseen;
