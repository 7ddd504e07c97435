//! Aiming, acting, and what became of it.

use crate::capture::Located;
use crate::error::Error;
use crate::ticket::Ticket;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use stickpin_tree::{Handle, Rect, escape};

/// Characters of what a device says is in the way.
pub const MAX_DESCRIPTION: usize = 200;

/// How to aim.
#[derive(Debug, Clone, Copy, Default)]
pub struct AimOptions<'a> {
    /// Move the pointer to the point (presses, hovers, drags), or only look (fill, select).
    pub pointer: bool,
    /// The pointer is wanted for a press.
    pub press: bool,
    /// That press is a plain one ([`is_plain`]): where an element is pressed by other means, the pointer may stay where it
    /// is.
    pub plain: bool,
    /// The content guard: elements and text leaves whose content must stay as it is until the input for this element has
    /// been delivered. A device that can compares it in the same task in which the app receives each event of the
    /// input, and stops the event where it differs ([`Landed::Changed`]). Replaces the guard of an earlier aim at the
    /// same element; ends with the input.
    pub guarded: &'a [Handle],
}

/// Where a press would go.
#[derive(Debug, Clone, PartialEq)]
pub struct Aim {
    /// The element's box after it was brought into view.
    pub rect: Rect,
    /// The point that was chosen in it.
    pub point: (f64, f64),
    /// What is at that point.
    pub hit: Hit,
    /// Whether the pointer was moved: the app may have felt that, whatever it would hit.
    pub pointed: bool,
}

/// An element that was aimed at, and what it is since.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Prepared {
    /// Where an input would go.
    pub aim: Aim,
    /// The element after that: the arrival of the pointer, or the way into view, may have changed it. None where an input
    /// would not reach it, and where only [`Device::locate`](crate::Device::locate) can tell.
    pub located: Option<Located>,
    /// For [`Device::commit`](crate::Device::commit).
    pub ticket: Ticket,
}

impl Prepared {
    /// An element that was aimed at and nothing more.
    #[must_use]
    pub fn new(aim: Aim) -> Self {
        Self { aim, located: None, ticket: Ticket::default() }
    }
}

/// What a press at a point would reach.
#[derive(Debug, Clone, PartialEq)]
pub enum Hit {
    /// The element, a descendant, or its label.
    Target,
    /// Another element.
    Covered {
        /// Its handle, if it has one.
        by: Option<Handle>,
        /// It in words: `dialog "Cookies"`.
        what: String,
    },
    /// A menu, a list or another pop-up is open and takes every input beside it, which only closes it.
    Held {
        /// Its handle, if it has one.
        by: Option<Handle>,
        /// It in words: `the pop-up of button "More"`.
        what: String,
    },
    /// The element has no box, or could not be brought into view.
    OffScreen,
    /// The device has no hit test: something may lie over the element.
    Unknown,
}

impl Hit {
    /// Whether nothing speaks against an input for the target.
    #[must_use]
    pub fn is_free(&self) -> bool {
        matches!(self, Self::Target | Self::Unknown)
    }

    /// Why an input for the target, `words`, is not sent; none when nothing speaks against it.
    #[must_use]
    pub fn refusal(&self, words: &str) -> Option<Error> {
        Some(match self {
            Self::Target | Self::Unknown => return None,
            Self::Covered { what, .. } => Error::element_covered(format!("{words} is covered by {}, which would receive the input", escape(what, MAX_DESCRIPTION)),
            )
            .hint("close what covers it: stickpin key Escape, or a press beside it, closes most pickers and menus; --timeout MS waits until it is gone, --force sends the input to what is there"),
            Self::Held { what, .. } => Error::element_covered(format!("{} is open, and takes the input before {words} gets it", escape(what, MAX_DESCRIPTION)),
            )
            // Whoever insists only closes it, wherever the input is sent.
            .hint("stickpin key Escape closes it; --timeout MS waits until it is gone"),
            Self::OffScreen => Error::element_offscreen(format!("{words} has no place on the screen and cannot be scrolled into view"),
            )
            .hint("stickpin scroll shows another part of what it is in; stickpin open --viewport WxH makes room"),
        })
    }
}

/// Names of keys that are more than one character, in the words of `KeyboardEvent.key`; the space bar is handed to a
/// device as a space. A device knows each of them.
const KEY_NAMES: &str = "\
    Enter Tab Escape Backspace Delete Insert Home End PageUp PageDown ArrowUp ArrowDown ArrowLeft \
    ArrowRight Space ContextMenu CapsLock NumLock ScrollLock Pause PrintScreen AltGraph Shift \
    Control Alt Meta F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 \
    F23 F24";

/// The names of keys that are more than one character.
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

/// Keys held during an action.
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

/// Whether a press is what a person does who only wants an element to do what it is for.
#[must_use]
pub fn is_plain(button: Button, count: u8, modifiers: Modifiers, hold: Duration) -> bool {
    button == Button::Left && count == 1 && modifiers == Modifiers::default() && hold.is_zero()
}

/// One input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Press and release at a point that was aimed at.
    Press {
        /// Where.
        point: (f64, f64),
        /// What must receive it; `None` for a bare point.
        target: Option<Handle>,
        /// Which button.
        button: Button,
        /// 1, 2 for a double click, ...
        count: u8,
        /// Keys held.
        modifiers: Modifiers,
        /// How long the button stays down.
        hold: Duration,
    },
    /// Press at one point, move, release at another.
    Drag {
        /// Where it begins.
        from: (f64, f64),
        /// What must receive the press.
        source: Option<Handle>,
        /// Where it ends.
        to: (f64, f64),
        /// Where the drop is meant to land: looked at before anything is picked up, and nothing is sent when something
        /// else is there (`Landed::Elsewhere`, stopped).
        target: Option<Handle>,
    },
    /// Replace the content of a field by text; the answer carries the value read back.
    Fill {
        /// The field.
        target: Handle,
        /// The new content; empty clears it.
        text: String,
    },
    /// Type text where the focus is, or into an element that is focused first.
    Type {
        /// The element.
        target: Option<Handle>,
        /// The text.
        text: String,
    },
    /// One chord, like `Enter`, `Control+a`, `Shift+Tab`.
    Key {
        /// Modifiers.
        modifiers: Modifiers,
        /// The key by its `KeyboardEvent.key` name.
        key: String,
    },
    /// Choose options of a native list by label or value. `handled: false` when the element is none: the kernel
    /// then opens it and presses the options.
    Select {
        /// The list.
        target: Handle,
        /// The options.
        options: Vec<String>,
    },
    /// Scroll a container, or the page.
    Scroll {
        /// The container.
        target: Option<Handle>,
        /// Right in CSS pixels.
        dx: f64,
        /// Down in CSS pixels.
        dy: f64,
    },
    /// Press at a point that was aimed at, and wait for the file chooser that this opens. In a browser it shows no
    /// window; its input is `Performed::chooser`.
    Choose {
        /// Where.
        point: (f64, f64),
        /// What must receive the press.
        target: Handle,
    },
    /// Give a file input these files instead of those that it has.
    Upload {
        /// The input, as [`FileInput::input`](crate::FileInput::input) names it.
        target: Handle,
        /// Paths that exist.
        files: Vec<PathBuf>,
    },
    /// Drop files at a point that was aimed at. `handled: false` when nothing there takes them; nothing was dropped
    /// then.
    Drop {
        /// Where.
        point: (f64, f64),
        /// What must receive them.
        target: Handle,
        /// Paths that exist.
        files: Vec<PathBuf>,
    },
}

impl Action {
    /// One press of the left button at a point, with nothing held. `target`: what must receive it.
    #[must_use]
    pub fn press(point: (f64, f64), target: Option<Handle>) -> Self {
        let (button, modifiers) = (Button::Left, Modifiers::default());
        Self::Press { point, target, button, count: 1, modifiers, hold: Duration::ZERO }
    }

    /// The elements that the action is for.
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

    /// Replaces each element that the action is for; one that becomes none is dropped where the action can do without.
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

/// What became of an input.
#[derive(Debug, Clone, Default)]
pub struct Performed {
    /// Whether the device took the action up at all (see [`Action::Select`]).
    pub handled: bool,
    /// What received it, where the platform can tell.
    pub landed: Landed,
    /// The value of the field afterwards (fill, select).
    pub value: Option<String>,
    /// The end of that value which the app has put behind the text by itself, and selected (fill).
    pub completed: Option<String>,
    /// Whether the field is known not to have the keyboard focus afterwards: keys would go elsewhere (fill).
    pub unfocused: bool,
    /// Whether the app does not say what the field holds afterwards, so that nothing could be compared (fill).
    pub unread: bool,
    /// What the field takes, in words, where that is known (fill).
    pub accepts: Option<String>,
    /// Whether anything moved (scroll).
    pub moved: bool,
    /// The input whose file chooser was opened (choose).
    pub chooser: Option<Handle>,
    /// For [`Device::outcome`](crate::Device::outcome).
    pub ticket: Ticket,
}

/// What received an input.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Landed {
    /// The target, or something inside it.
    Confirmed,
    /// Another element; the event was stopped before the app saw it, if `stopped`.
    Elsewhere {
        /// In words.
        what: String,
        /// Whether the app was kept from seeing it.
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
    fn only_a_press_of_the_left_button_once_and_without_keys_is_a_plain_one() {
        let none = Modifiers::default();
        assert!(is_plain(Button::Left, 1, none, Duration::ZERO));
        assert!(!is_plain(Button::Right, 1, none, Duration::ZERO));
        assert!(!is_plain(Button::Left, 2, none, Duration::ZERO));
        assert!(!is_plain(Button::Left, 1, Modifiers { shift: true, ..none }, Duration::ZERO));
        assert!(!is_plain(Button::Left, 1, none, Duration::from_millis(1)));
    }
}
