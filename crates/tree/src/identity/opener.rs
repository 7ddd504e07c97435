//! What opened which popup: kept by the session from one tree to the next.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::identity::fingerprint::Fingerprint;
use crate::identity::record::{ElementContext, Record};
use crate::identity::surroundings::popup::is_popup;
use crate::{Handle, NodeRef, Role, Tree};

/// Remembers for every popup on screen the element that was acted on last before it appeared.
///
/// A menu or dialog rarely says what opened it, and the same dialog node serves every row of a table. The
/// session calls [`Openers::note_act`] when it acts and [`Openers::observe`] on every complete capture, before
/// it builds the [`Records`](crate::Records) of that capture. On devices without identity nothing is
/// remembered, and only what the app itself links counts.
#[derive(Debug, Clone, Default)]
pub struct Openers {
    last: Option<Opener>,
    popups: HashMap<Handle, Option<Opener>>,
}

/// An element that may have opened a popup, as [`Records::opener`](crate::Records::opener) saw it.
#[derive(Debug, Clone)]
pub struct Opener(pub(crate) Arc<Opened>);

/// Role, name and record of an opener: what it was, and what there was of it to compare with.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) role: Role,
    /// Its name without counts.
    pub(crate) name: Fingerprint,
    pub(crate) handle: Option<Handle>,
    pub(crate) record: Record,
    /// What stood around it.
    pub(crate) context: ElementContext,
}

impl Opener {
    /// Whether another one is the same record.
    pub(crate) fn is_same(&self, now: &Self) -> bool {
        self.0.role == now.0.role && self.0.record.differences(&now.0.context, &|_| false).next().is_none()
    }
}

impl Openers {
    /// An act on this element: what appears next was opened by it. `None` (the target stands in a popup itself)
    /// leaves the last one: what a menu item opens belongs to the opener of the menu.
    ///
    /// An open popup whose opener was one of the likes of this element ("More" of another row) belongs to this
    /// element from now on: between two captures nobody sees that the popup was closed and opened again.
    pub fn note_act(&mut self, opener: Option<Opener>) {
        let Some(opener) = opener else { return };
        for then in self.popups.values_mut().flatten() {
            if then.0.role == opener.0.role && then.0.name == opener.0.name {
                *then = opener.clone();
            }
        }
        self.last = Some(opener);
    }

    /// A complete capture: popups that are new belong to the last act, popups that are gone are forgotten.
    pub fn observe(&mut self, tree: &Tree) {
        let mut popups = HashMap::new();
        for handle in tree.nodes().filter(|&n| is_popup(n)).filter_map(NodeRef::handle) {
            let opener = self.popups.get(&handle).unwrap_or(&self.last).clone();
            popups.insert(handle, opener);
        }
        self.popups = popups;
    }

    /// Whether no popup is on screen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.popups.is_empty()
    }

    pub(crate) fn of(&self, popup: Handle) -> Option<&Opener> {
        self.popups.get(&popup)?.as_ref()
    }
}
