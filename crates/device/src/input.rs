//! Aiming, acting, and the outcome of an input.

use crate::capture::LocatedElement;
use crate::error::Error;
use crate::setters::setters;
use crate::ticket::Ticket;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use stickpin_tree::{Handle, Rect, escape};

/// The maximum length, in characters, of a device's description of an obstacle.
pub const MAX_DESCRIPTION: usize = 200;

/// Options for [`Device::aim`](crate::Device::aim).
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct AimOptions<'a> {
    /// Whether to move the pointer to the point, as for a press, hover or drag. Otherwise, only a
    /// hit test is performed, as for a fill or select.
    pub pointer: bool,
    /// Whether the pointer is needed for a press.
    pub press: bool,
    /// Whether that press is plain ([`is_plain`]). If the platform presses an element by other
    /// means, the pointer may stay where it is.
    pub plain: bool,
    /// The content guard: elements and text leaves whose content must not change until the input
    /// has been delivered.
    ///
    /// A device that supports the guard compares this content in the task in which the app receives
    /// each event of the input, and stops the event if any of the content has changed
    /// ([`Delivery::Changed`]). The guard replaces that of an earlier aim at the same element and
    /// ends with the input.
    pub guarded: &'a [Handle],
}

impl AimOptions<'_> {
    /// The options for one press of the left button without modifiers ([`is_plain`]).
    pub const PLAIN_PRESS: Self = Self { pointer: true, press: true, plain: true, guarded: &[] };
}

setters!(AimOptions<'a> { pointer: bool, press: bool, plain: bool, guarded: &'a [Handle] });

/// The result of aiming: where a press would go.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Aim {
    /// The element's bounding box after it was brought into view.
    pub rect: Rect,
    /// The chosen point inside the box.
    pub point: (f64, f64),
    /// The result of the hit test at that point.
    pub hit: HitResult,
    /// Whether the pointer was moved. The app may have reacted to the move, whatever the hit test
    /// says.
    pub pointer_moved: bool,
}

impl Aim {
    /// Creates the result of an aim at the center of a box, without a moved pointer.
    #[must_use]
    pub fn new(rect: Rect, hit: HitResult) -> Self {
        Self { rect, point: rect.center(), hit, pointer_moved: false }
    }
}

setters!(Aim { point: (f64, f64), pointer_moved: bool });

/// An element that was aimed at, and its state afterwards.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreparedInput {
    /// Where an input would go.
    pub aim: Aim,
    /// The element as it is after the aim: scrolling or the pointer may have changed it.
    ///
    /// `None` if the caller has to call [`Device::locate`](crate::Device::locate) instead, for
    /// example because an input would not reach the element.
    pub located: Option<LocatedElement>,
    /// The ticket to pass to [`Device::commit`](crate::Device::commit).
    pub ticket: Ticket,
}

impl PreparedInput {
    /// Creates the result of an aim without a located element.
    #[must_use]
    pub fn new(aim: Aim) -> Self {
        Self { aim, located: None, ticket: Ticket::default() }
    }
}

/// The result of a hit test: what a press at a point would reach.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HitResult {
    /// The element, one of its descendants, or its label.
    Target,
    /// Another element.
    Covered {
        /// The handle of the covering element, if it has one.
        by: Option<Handle>,
        /// The covering element in words: `dialog "Cookies"`.
        what: String,
    },
    /// A menu, a list or another popup is open and intercepts all input outside it; such input only
    /// closes the popup.
    PopupGrab {
        /// The handle of the popup, if it has one.
        by: Option<Handle>,
        /// The popup in words: `the popup of button "More"`.
        what: String,
    },
    /// The element has no box, or could not be brought into view.
    OffScreen,
    /// The device has no hit test: something may cover the element.
    Unknown,
}

impl HitResult {
    /// Returns whether the hit test permits an input for the target.
    #[must_use]
    pub fn allows_input(&self) -> bool {
        matches!(self, Self::Target | Self::Unknown)
    }

    /// Returns the error for an input that would not reach the target, which `words` describes;
    /// `None` if the hit test allows the input.
    #[must_use]
    pub fn refusal(&self, words: &str) -> Option<Error> {
        Some(match self {
            Self::Target | Self::Unknown => return None,
            Self::Covered { what, .. } => Error::element_covered(format!("{words} is covered by {}, which would receive the input", escape(what, MAX_DESCRIPTION)),
            )
            .hint("close the covering element (`stickpin key Escape`, or a press outside it, closes most pickers and menus), use `--timeout MS` to wait until it is gone, or use `--force` to send the input to whatever is on top"),
            Self::PopupGrab { what, .. } => Error::element_covered(format!("{} is open and would receive the input instead of {words}", escape(what, MAX_DESCRIPTION)),
            )
            // --force would only close the popup, wherever the input is sent.
            .hint("close the popup or dialog with `stickpin key Escape`, or use `--timeout MS` to wait until it is gone"),
            Self::OffScreen => Error::element_offscreen(format!("{words} is not in view and cannot be scrolled into view"),
            )
            .hint("run `stickpin scroll down --in @REF` with the ref of the element's container, or open the app with a larger viewport: `--viewport 1280x1600`"),
        })
    }
}

/// The key names longer than one character. They are values of `KeyboardEvent.key`, except for
/// `Space`, which is passed to a device as a space character. Every device supports all of these
/// keys.
const KEY_NAMES: &str = "\
    Enter Tab Escape Backspace Delete Insert Home End PageUp PageDown ArrowUp ArrowDown ArrowLeft \
    ArrowRight Space ContextMenu CapsLock NumLock ScrollLock Pause PrintScreen AltGraph Shift \
    Control Alt Meta F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 \
    F23 F24";

/// Returns the key names longer than one character.
pub fn key_names() -> impl Iterator<Item = &'static str> {
    KEY_NAMES.split_ascii_whitespace()
}

/// Mouse buttons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Button {
    #[default]
    Left,
    Middle,
    Right,
}

/// The modifier keys held during an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs, reason = "the words say it")]
#[allow(clippy::struct_excessive_bools, reason = "four independent keys")]
pub struct Modifiers {
    pub alt: bool,
    pub control: bool,
    pub meta: bool,
    pub shift: bool,
}

/// Returns whether a press is an ordinary click: one press of the left button without modifiers or
/// a hold time.
#[must_use]
pub fn is_plain(button: Button, count: u8, modifiers: Modifiers, hold: Duration) -> bool {
    button == Button::Left && count == 1 && modifiers == Modifiers::default() && hold.is_zero()
}

/// One input to the app, as [`Device::perform`](crate::Device::perform) receives it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Press and release at a point.
    Press {
        /// The point, which was aimed at if there is a target.
        point: (f64, f64),
        /// The element that must receive the press; `None` for a bare point.
        target: Option<Handle>,
        /// The mouse button.
        button: Button,
        /// The click count: 2 for a double click.
        count: u8,
        /// The modifier keys held during the press.
        modifiers: Modifiers,
        /// How long the button stays down.
        hold: Duration,
    },
    /// Press at one point, move, and release at another.
    Drag {
        /// The start point.
        from: (f64, f64),
        /// The element that must receive the press; `None` for a bare point.
        source: Option<Handle>,
        /// The end point.
        to: (f64, f64),
        /// The element that must receive the drop. A hit test at `to` precedes the press, and
        /// nothing is sent if another element is at that point (`Delivery::Elsewhere`, stopped).
        target: Option<Handle>,
    },
    /// Replace the content of a field with text; the result carries the value read back.
    Fill {
        /// The field.
        target: Handle,
        /// The new content. An empty string clears the field.
        text: String,
    },
    /// Type text where the focus is, or into an element that is focused first.
    Type {
        /// The element to focus first; `None` to type where the focus is.
        target: Option<Handle>,
        /// The text to type.
        text: String,
    },
    /// One chord, such as `Enter`, `Control+a` or `Shift+Tab`.
    Key {
        /// The modifier keys held while the key is pressed.
        modifiers: Modifiers,
        /// The key by its `KeyboardEvent.key` name.
        key: String,
    },
    /// Choose options of a native list by label or value. Returns `handled: false` if the element
    /// is not a native list: the kernel then opens the list and presses the options.
    Select {
        /// The list.
        target: Handle,
        /// The labels or values of the options to choose.
        options: Vec<String>,
    },
    /// Scroll a container or the page.
    Scroll {
        /// The container; `None` for the page.
        target: Option<Handle>,
        /// The distance to the right in CSS pixels.
        dx: f64,
        /// The distance down in CSS pixels.
        dy: f64,
    },
    /// Press at a point that was aimed at and wait for the file chooser that the press opens. A
    /// browser shows no window for the chooser. The file input is returned in
    /// [`InputOutcome::chooser`].
    Choose {
        /// The point to press.
        point: (f64, f64),
        /// The element that must receive the press.
        target: Handle,
    },
    /// Give a file input these files in place of its current ones.
    Upload {
        /// The input, as [`FileInput::input`](crate::FileInput::input) names it.
        target: Handle,
        /// The paths of existing files.
        files: Vec<PathBuf>,
    },
    /// Drop files at a point that was aimed at. Returns `handled: false` if no element there
    /// accepts the files, in which case nothing was dropped.
    Drop {
        /// The point at which the files are dropped.
        point: (f64, f64),
        /// The element that must receive the files.
        target: Handle,
        /// The paths of existing files.
        files: Vec<PathBuf>,
    },
}

impl Action {
    /// Creates a press of the left button at a point, without modifiers. `target` is the element
    /// that must receive it.
    #[must_use]
    pub fn press(point: (f64, f64), target: Option<Handle>) -> Self {
        let (button, modifiers) = (Button::Left, Modifiers::default());
        Self::Press { point, target, button, count: 1, modifiers, hold: Duration::ZERO }
    }

    /// Returns the elements that the action is meant for.
    #[must_use]
    pub fn targets(&self) -> Vec<Handle> {
        match self {
            Self::Press { target, .. } | Self::Type { target, .. } | Self::Scroll { target, .. } => {
                target.iter().copied().collect()
            }
            Self::Drag { source, target, .. } => source.iter().chain(target).copied().collect(),
            Self::Fill { target, .. }
            | Self::Select { target, .. }
            | Self::Choose { target, .. }
            | Self::Upload { target, .. }
            | Self::Drop { target, .. } => vec![*target],
            Self::Key { .. } => Vec::new(),
        }
    }

    /// Replaces each target of the action. A target that maps to `None` is removed if the action
    /// does not require a target, and kept otherwise.
    pub fn retain_targets(&mut self, replace: impl Fn(Handle) -> Option<Handle>) {
        match self {
            Self::Press { target, .. } | Self::Type { target, .. } | Self::Scroll { target, .. } => {
                *target = target.and_then(replace);
            }
            Self::Drag { source, target, .. } => {
                (*source, *target) = (source.and_then(&replace), target.and_then(&replace));
            }
            Self::Fill { target, .. }
            | Self::Select { target, .. }
            | Self::Choose { target, .. }
            | Self::Upload { target, .. }
            | Self::Drop { target, .. } => *target = replace(*target).unwrap_or(*target),
            Self::Key { .. } => {}
        }
    }
}

/// The outcome of an input.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct InputOutcome {
    /// Whether the device accepted the action at all (see [`Action::Select`] and [`Action::Drop`]).
    pub handled: bool,
    /// What received the input, if the platform can tell.
    pub delivery: Delivery,
    /// The value of the field afterwards (fill, select).
    pub value: Option<String>,
    /// The end of the value if the app appended and selected it on its own, as autocompletion does
    /// (fill).
    pub completed: Option<String>,
    /// Whether the field is known to lack the keyboard focus afterwards, so that keys would go
    /// elsewhere (fill).
    pub unfocused: bool,
    /// Whether the app does not report the value of the field afterwards, so that it could not be
    /// compared (fill).
    pub unread: bool,
    /// The values that the field accepts, in words, if known (fill).
    pub accepts: Option<String>,
    /// Whether anything scrolled (scroll).
    pub moved: bool,
    /// The file input whose chooser was opened (choose).
    pub chooser: Option<Handle>,
    /// The ticket to pass to [`Device::outcome`](crate::Device::outcome).
    pub ticket: Ticket,
}

impl InputOutcome {
    /// Creates the outcome of an input that the device accepted.
    #[must_use]
    pub fn done() -> Self {
        Self { handled: true, ..Self::default() }
    }

    /// Creates the outcome of an input that was not sent, because something else, which `what`
    /// describes, would have received it.
    #[must_use]
    pub fn stopped(what: String) -> Self {
        Self::done().delivery(Delivery::Elsewhere { what, stopped: true })
    }
}

setters!(InputOutcome {
    handled: bool,
    delivery: Delivery,
    value: Option<String>,
    completed: Option<String>,
    unfocused: bool,
    unread: bool,
    accepts: Option<String>,
    moved: bool,
    chooser: Option<Handle>,
    ticket: Ticket,
});

/// What received an input.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Delivery {
    /// The target, or something inside it.
    Confirmed,
    /// Another element.
    Elsewhere {
        /// The other element, in words.
        what: String,
        /// Whether the event was stopped before the app received it.
        stopped: bool,
    },
    /// Guarded content ([`AimOptions::guarded`]) changed before the input was complete.
    Changed {
        /// Whether the app saw no event of the input at all.
        stopped: bool,
    },
    /// The platform cannot tell.
    #[default]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_single_left_press_without_modifiers_is_plain() {
        let none = Modifiers::default();
        assert!(is_plain(Button::Left, 1, none, Duration::ZERO));
        assert!(!is_plain(Button::Right, 1, none, Duration::ZERO));
        assert!(!is_plain(Button::Left, 2, none, Duration::ZERO));
        assert!(!is_plain(Button::Left, 1, Modifiers { shift: true, ..none }, Duration::ZERO));
        assert!(!is_plain(Button::Left, 1, none, Duration::from_millis(1)));
    }
}
