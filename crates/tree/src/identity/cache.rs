//! What records learn of a tree, kept for as long as the tree: the next question about it does not read its rows again.

use std::cell::OnceCell;
use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::identity::compare::Records;
use crate::identity::element_text::Shared;
use crate::identity::memo::Memo;
use crate::identity::opener::Openers;
use crate::identity::rows::detect::Structure;
use crate::identity::surroundings::heading::Surroundings;
use crate::identity::surroundings::popup::PopupText;
use crate::{Handle, NodeId, Tree};

/// What is read of one tree and of nothing else. Openers come from outside and change while the tree stays.
#[derive(Debug)]
pub(crate) struct IdentityCache {
    pub(crate) structure: Structure,
    pub(crate) surroundings: Surroundings,
    /// What dialogs and messages say: with the pages of their tabs, and without them.
    pub(crate) popup_texts: Memo<(NodeId, bool), PopupText>,
    pub(crate) handles: OnceCell<HashMap<Handle, NodeId>>,
    pub(crate) shared_words: OnceCell<Shared>,
}

impl IdentityCache {
    pub(crate) fn new(tree: &Tree) -> Self {
        Self {
            structure: Structure::new(tree),
            surroundings: Surroundings::default(),
            popup_texts: Memo::default(),
            handles: OnceCell::new(),
            shared_words: OnceCell::new(),
        }
    }
}

/// Known to these records alone, or lent from a book.
#[derive(Debug)]
pub(crate) enum CacheSource<'t> {
    Own(Box<IdentityCache>),
    Lent(&'t IdentityCache),
}

impl Deref for CacheSource<'_> {
    type Target = IdentityCache;

    fn deref(&self) -> &IdentityCache {
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
    known: IdentityCache,
}

impl RecordBook {
    /// A book about a tree. Nothing is read yet.
    #[must_use]
    pub fn new(tree: Arc<Tree>) -> Self {
        let known = IdentityCache::new(&tree);
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
        Records::knowing(&self.tree, openers, CacheSource::Lent(&self.known))
    }
}
