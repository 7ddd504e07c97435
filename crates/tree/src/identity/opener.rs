//! Remembers across trees which element opened which popup.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::identity::fingerprint::Fingerprint;
use crate::identity::record::{ElementSurroundings, Record};
use crate::identity::surroundings::popup::is_popup;
use crate::{Handle, NodeRef, Role, Tree};

/// For every open popup, the element of the last action before the popup appeared.
///
/// A menu or dialog rarely states what opened it, and one dialog node may serve every row of a
/// table. The session calls [`Openers::note_act`] for each action. It calls [`Openers::observe`] on
/// every complete capture, before it builds the [`Records`](crate::Records) of that capture. On
/// devices without identity, nothing is remembered, and only the app's own references between
/// popups and openers count.
#[derive(Debug, Clone, Default)]
pub struct Openers {
    last: Option<Opener>,
    popups: HashMap<Handle, Option<Opener>>,
}

/// An element that may have opened a popup, as read by
/// [`Records::as_opener`](crate::Records::as_opener).
#[derive(Debug, Clone)]
pub struct Opener(pub(crate) Arc<OpenerData>);

/// The role, name and record of an opener, with the context to compare.
#[derive(Debug)]
pub(crate) struct OpenerData {
    pub(crate) role: Role,
    /// A fingerprint of the name without counts.
    pub(crate) name: Fingerprint,
    pub(crate) handle: Option<Handle>,
    pub(crate) record: Record,
    /// The surroundings of the opener at the time of the action.
    pub(crate) context: ElementSurroundings,
}

impl Opener {
    /// Returns whether another opener has the same role and record.
    pub(crate) fn is_same(&self, now: &Self) -> bool {
        self.0.role == now.0.role && self.0.record.differences(&now.0.context, &|_| false).next().is_none()
    }
}

impl Openers {
    /// Records the element of an action as the opener of what appears next. `None`, for a target
    /// that is itself in a popup, keeps the last opener: what a menu item opens belongs to the
    /// opener of the menu.
    ///
    /// An open popup whose opener was similar to this element, such as "More" in another row,
    /// belongs to this element from now on. Between two captures, the popup may have closed and
    /// opened again unnoticed.
    pub fn note_act(&mut self, opener: Option<Opener>) {
        let Some(opener) = opener else { return };
        for then in self.popups.values_mut().flatten() {
            if then.0.role == opener.0.role && then.0.name == opener.0.name {
                *then = opener.clone();
            }
        }
        self.last = Some(opener);
    }

    /// Updates the popups from a complete capture: new popups belong to the last action, and popups
    /// that are gone are forgotten.
    pub fn observe(&mut self, tree: &Tree) {
        let mut popups = HashMap::new();
        for handle in tree.nodes().filter(|&n| is_popup(n)).filter_map(NodeRef::handle) {
            let opener = self.popups.get(&handle).unwrap_or(&self.last).clone();
            popups.insert(handle, opener);
        }
        self.popups = popups;
    }

    /// Returns whether no popup is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.popups.is_empty()
    }

    pub(crate) fn of(&self, popup: Handle) -> Option<&Opener> {
        self.popups.get(&popup)?.as_ref()
    }
}
