//! Capturing an app: what it says is read in few rounds ([`read`]), and made into a tree
//! ([`tree`]).

pub(crate) mod ask;
pub(crate) mod gecko;
mod gtk3;
mod labels;
pub(crate) mod pages;
mod qt;
pub(crate) mod read;
pub(crate) mod tables;
pub(crate) mod tree;

use crate::capture::tables::Cells;

/// What a reading leaves for the next one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// What is known of tables.
    pub(crate) cells: Cells,
    /// What has said that it is shown.
    pub(crate) appeared: qt::Appeared,
}
