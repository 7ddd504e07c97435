//! Reports of script runs: a typed model, and the formats that it is written in.

pub mod html;
pub mod junit;
pub mod model;
pub mod text;
