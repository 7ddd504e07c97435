//! Caches what records learn about a tree, for as long as the tree exists. Later questions do not
//! read its rows again.

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

/// Values that depend on one tree only. Openers come from outside and change while the tree stays.
#[derive(Debug)]
pub(crate) struct IdentityCache {
    pub(crate) structure: Structure,
    pub(crate) surroundings: Surroundings,
    /// The texts of dialogs and messages, with and without the pages of their tabs.
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

/// A cache owned by one [`Records`](crate::Records), or borrowed from a [`RecordBook`].
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

/// A tree with a cache of its records, for trees that are asked about more than once.
///
/// For a page of 10,000 rows, the cache takes about 10 MB once all rows were asked about.
#[derive(Debug)]
pub struct RecordBook {
    tree: Arc<Tree>,
    known: IdentityCache,
}

impl RecordBook {
    /// Creates an empty book about a tree.
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

    /// The records of the tree. `openers` says what opened its popups.
    #[must_use]
    pub fn records<'b>(&'b self, openers: &'b Openers) -> Records<'b> {
        Records::knowing(&self.tree, openers, CacheSource::Lent(&self.known))
    }
}
