//! What stands around an element outside its row: headings, sections, groups and popups, and the titles of these.

pub(crate) mod group;
pub(crate) mod heading;
pub(crate) mod popup;
pub(crate) mod section;
pub(crate) mod title;
