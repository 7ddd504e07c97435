//! What runs of scripts leave behind: a typed account, and the forms in which it is read.

pub mod html;
pub mod junit;
pub mod model;
pub mod text;
