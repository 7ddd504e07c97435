//! A target that is ready to be acted on.

use crate::observe::resolve::ResolvedTarget;
use std::sync::Arc;
use stickpin_device::{Error, Result, Ticket};
use stickpin_tree::{Handle, NodeRef, States, Tree};

/// What an action requires of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Actionability {
    /// The pointer is on the target and would hit it, as for a hover, drag or toggle.
    Pointer,
    /// The pointer would hit the target, or the device's own mechanism for plain presses reaches
    /// it.
    Press { plain: bool },
    /// The target is in view and could be hit, as for a fill or select.
    InView,
    /// The target exists and is enabled.
    Enabled,
}

/// A target that can be acted on now.
#[derive(Debug, Clone, Default)]
pub(crate) struct ActionTarget {
    /// The element that the client meant; `None` for a point, unless the screenshot shows an
    /// element there.
    pub(crate) found: Option<ResolvedTarget>,
    /// The handle for calls to the device; `None` for a point without an element.
    pub(crate) handle: Option<Handle>,
    /// The point to act at, in viewport pixels.
    pub(crate) point: (f64, f64),
    /// Whether the input is sent even if another element is there (`--force`).
    pub(crate) forced: bool,
    /// The state of the target before the action.
    pub(crate) before: Option<TargetState>,
    /// The device's ticket from preparing the input, and later from performing it.
    pub(crate) ticket: Ticket,
    /// The state of the target after the aim, if it was read then. The aim alone may have changed
    /// the target.
    pub(crate) after_aim: Option<TargetState>,
    /// Whether a press on the target has an effect, according to the device.
    pub(crate) actionable: bool,
    /// Whether the content is secret.
    pub(crate) protected: bool,
    /// A description of the target.
    pub(crate) description: String,
    /// The tree in which the target was last judged.
    pub(crate) tree: Option<Arc<Tree>>,
}

impl ActionTarget {
    /// Returns the element that a press must reach; `None` if any element may receive it.
    pub(crate) fn receiver(&self) -> Option<Handle> {
        self.handle.filter(|_| !self.forced)
    }

    /// Returns the handle, for actions that need an element.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` when the target is a point without an element.
    pub(crate) fn element_handle(&self) -> Result<Handle> {
        self.handle.ok_or_else(|| Error::invalid_args(format!("there is no element at {}", self.description)))
    }
}

/// The properties of an element that an action may change, read before and after the action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TargetState {
    name: String,
    /// The text that replaces a missing name.
    fallback_text: Option<Box<str>>,
    pub(super) states: States,
    /// Whether the element accepts text.
    pub(crate) editable: bool,
    /// Whether the element can be on or off.
    checkable: bool,
}

impl TargetState {
    /// Returns whether the element is neither on nor off.
    pub(crate) fn is_mixed(&self) -> bool {
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
            fallback_text: stickpin_tree::words(node),
            states: node.states() & shown,
            editable: node.is(States::EDITABLE),
            checkable: node.states().intersects(States::CHECKABLE | States::PRESSABLE),
        }
    }

    /// Returns whether the element is on; `None` if it cannot be on or off. Also false for a mixed
    /// element, which [`Self::is_mixed`] identifies.
    pub(crate) fn checked(&self) -> Option<bool> {
        let on = self.states.intersects(States::CHECKED | States::PRESSED);
        self.checkable.then(|| on && !self.states.contains(States::MIXED))
    }
}
