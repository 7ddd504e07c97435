//! The surroundings of an element outside its row: headings, sections, groups, popups and their
//! titles.

pub(crate) mod group;
pub(crate) mod heading;
pub(crate) mod popup;
pub(crate) mod section;
pub(crate) mod title;
