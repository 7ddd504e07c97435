//! Caches those parts of records that depend only on a tree, so that later queries do not read the
//! rows of the tree again.

use std::cell::OnceCell;
use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::identity::element_text::SharedTexts;
use crate::identity::memo::Memo;
use crate::identity::opener::Openers;
use crate::identity::records::Records;
use crate::identity::rows::detect::Structure;
use crate::identity::surroundings::heading::HeadingIndex;
use crate::identity::surroundings::popup::PopupText;
use crate::{Handle, NodeId, Tree};

/// Values that depend on only one tree. Openers are not cached: they come from outside and can
/// change while the tree stays the same.
#[derive(Debug)]
pub(crate) struct IdentityCache {
    pub(crate) structure: Structure,
    pub(crate) headings: HeadingIndex,
    /// The texts of dialogs and messages, with and without the pages of their tabs.
    pub(crate) popup_texts: Memo<(NodeId, bool), PopupText>,
    pub(crate) handles: OnceCell<HashMap<Handle, NodeId>>,
    pub(crate) shared_texts: OnceCell<SharedTexts>,
}

impl IdentityCache {
    pub(crate) fn new(tree: &Tree) -> Self {
        Self {
            structure: Structure::new(tree),
            headings: HeadingIndex::default(),
            popup_texts: Memo::default(),
            handles: OnceCell::new(),
            shared_texts: OnceCell::new(),
        }
    }
}

/// A cache owned by one [`Records`](crate::Records), or borrowed from a [`CachedTree`].
#[derive(Debug)]
pub(crate) enum CacheSource<'t> {
    Owned(Box<IdentityCache>),
    Borrowed(&'t IdentityCache),
}

impl Deref for CacheSource<'_> {
    type Target = IdentityCache;

    fn deref(&self) -> &IdentityCache {
        match self {
            Self::Owned(cache) => cache,
            Self::Borrowed(cache) => cache,
        }
    }
}

/// A tree with a cache of its records, for trees that are queried more than once.
///
/// For a page of 10,000 rows, the cache takes about 10 MB once all rows have been queried.
#[derive(Debug)]
pub struct CachedTree {
    tree: Arc<Tree>,
    cache: IdentityCache,
}

impl CachedTree {
    /// Creates an empty cache for a tree.
    #[must_use]
    pub fn new(tree: Arc<Tree>) -> Self {
        let cache = IdentityCache::new(&tree);
        Self { tree, cache }
    }

    /// Returns the tree.
    #[must_use]
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// Returns the records of the tree. `openers` determines what opened its popups.
    #[must_use]
    pub fn records<'b>(&'b self, openers: &'b Openers) -> Records<'b> {
        Records::with_cache(&self.tree, openers, CacheSource::Borrowed(&self.cache))
    }
}
