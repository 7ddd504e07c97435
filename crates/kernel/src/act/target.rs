//! A target that an act has in hand, and what is known of it.

use crate::observe::resolve::Found;
use std::sync::Arc;
use stickpin_device::{Error, Result, Ticket};
use stickpin_tree::{Handle, NodeRef, States, Tree};

/// What an action needs of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The pointer stands on it and would hit it: hovers, drags.
    Pointer,
    /// As `Pointer`, or whatever the device does a plain press by would hit it.
    Press { plain: bool },
    /// It is in view and could be hit: fill, select.
    View,
    /// Only that it is there and enabled.
    There,
}

/// A target that may be acted on now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ready {
    /// The element; `None` for a bare point that hits nothing known.
    pub(crate) found: Option<Found>,
    /// How to name it to the device.
    pub(crate) handle: Option<Handle>,
    /// Where to act, in pixels of the viewport.
    pub(crate) point: (f64, f64),
    /// Whether the input is sent although something else is there (`--force`).
    pub(crate) forced: bool,
    /// It before the act.
    pub(crate) before: Option<Reading>,
    /// What the device noted when it prepared the input, and then when it performed it.
    pub(crate) ticket: Ticket,
    /// It when the pointer had arrived, where that was looked at: it may have turned by that alone.
    pub(crate) now: Option<Reading>,
    /// Whether a press on it does something, as far as the device can tell.
    pub(crate) actionable: bool,
    /// Whether its content is secret.
    pub(crate) protected: bool,
    /// It in words.
    pub(crate) words: String,
    /// The tree that it was judged in last.
    pub(crate) tree: Option<Arc<Tree>>,
}

impl Ready {
    /// What is known of it last.
    pub(crate) fn reading(&self) -> Option<&Reading> {
        self.now.as_ref().or(self.before.as_ref())
    }

    /// The element that a press must reach; `None` where it goes to whatever is there.
    pub(crate) fn receiver(&self) -> Option<Handle> {
        self.handle.filter(|_| !self.forced)
    }

    /// The handle, for actions that need an element.
    ///
    /// # Errors
    /// `INVALID_ARGS` when the target was a point where nothing is.
    pub(crate) fn element(&self) -> Result<Handle> {
        self.handle.ok_or_else(|| Error::invalid_args(format!("there is no element at {}", self.words)))
    }
}

/// What of an element an act may change: read before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    name: String,
    /// What stands for the name where there is none.
    words: Option<Box<str>>,
    pub(super) states: States,
    /// Whether it takes text.
    pub(crate) editable: bool,
    /// Whether it can be on or off.
    checkable: bool,
}

impl Reading {
    /// Whether it is neither on nor off.
    pub(crate) fn mixed(&self) -> bool {
        self.states.contains(States::MIXED)
    }

    pub(crate) fn of(node: NodeRef<'_>) -> Self {
        let shown = States::DISABLED
            | States::CHECKED
            | States::MIXED
            | States::EXPANDED
            | States::SELECTED
            | States::PRESSED
            | States::READONLY
            | States::REQUIRED
            | States::INVALID
            | States::BUSY;
        Self {
            name: node.name().to_owned(),
            words: stickpin_tree::words(node),
            states: node.states() & shown,
            editable: node.is(States::EDITABLE),
            checkable: node.states().intersects(States::CHECKABLE | States::PRESSABLE),
        }
    }

    /// Whether it is on; `None` where it can be neither. A mixed box is not on, and not off either.
    pub(crate) fn checked(&self) -> Option<bool> {
        let on = self.states.intersects(States::CHECKED | States::PRESSED);
        self.checkable.then(|| on && !self.states.contains(States::MIXED))
    }
}
