//! What records learn of a tree, kept for as long as the tree: the next question about it does not read its rows again.

use std::cell::OnceCell;
use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashMap;

use super::openers::Openers;
use super::place::Places;
use super::popups::Speeches;
use super::structure::Structure;
use super::words::Shared;
use super::{Records, Switches};
use crate::{Handle, NodeId, Tree};

/// What is read of one tree and of nothing else. Openers come from outside and change while the tree stays.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) structure: Structure,
    pub(super) places: Places,
    pub(super) speeches: Speeches,
    pub(super) handles: OnceCell<HashMap<Handle, NodeId>>,
    pub(super) shared_words: OnceCell<Shared>,
}

impl Known {
    pub(super) fn new(tree: &Tree, on: Switches) -> Self {
        Self {
            structure: Structure::new(tree, on),
            places: Places::new(on),
            speeches: Speeches::default(),
            handles: OnceCell::new(),
            shared_words: OnceCell::new(),
        }
    }
}

/// Known to these records alone, or lent from a book.
#[derive(Debug)]
pub(super) enum Source<'t> {
    Own(Box<Known>),
    Lent(&'t Known),
}

impl Deref for Source<'_> {
    type Target = Known;

    fn deref(&self) -> &Known {
        match self {
            Self::Own(known) => known,
            Self::Lent(known) => known,
        }
    }
}

/// A tree with what its records have learnt of it so far: for trees that are asked about more than once.
///
/// For a page of 10,000 rows it holds about 10 MB once it was asked about all of them.
#[derive(Debug)]
pub struct RecordBook {
    tree: Arc<Tree>,
    known: Known,
}

impl RecordBook {
    /// A book about a tree. Nothing is read yet.
    #[must_use]
    pub fn new(tree: Arc<Tree>) -> Self {
        let known = Known::new(&tree, Switches::all());
        Self { tree, known }
    }

    /// The tree.
    #[must_use]
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// The records of the tree, with what is known about the openers of its popups.
    #[must_use]
    pub fn records<'b>(&'b self, openers: &'b Openers) -> Records<'b> {
        Records::knowing(&self.tree, openers, Switches::all(), Source::Lent(&self.known))
    }
}
