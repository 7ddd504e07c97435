//! Answers and signals from the script in every document (`agent/script/agent.js` lists its
//! functions).

use serde::Deserialize;
use std::fmt;
use stickpin_device::Delivery;
use stickpin_devtools::well_formed;
use stickpin_tree::quote;

/// The global object that the script defines in its world.
pub(crate) const GLOBAL: &str = "__stickpin";

/// The function in the script's world that sends us a [`Signal`].
pub(crate) const BINDING: &str = "__stickpinSignal";

/// A signal from the script. On the wire: `{"changed":COUNT}`, `{"said":"text"}`,
/// `{"press":VERDICT}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The document changed. Carries the total number of changes so far.
    Changed(u64),
    /// Text appeared in a live region or toast.
    LiveText(String),
    /// A press that the document was watching for has arrived. The signal outlives the document.
    Press(PressVerdict),
}

impl Signal {
    pub fn read(payload: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Wire {
            #[serde(default)]
            changed: u64,
            said: Option<String>,
            press: Option<PressVerdict>,
        }
        let wire: Wire = serde_json::from_str(&well_formed(payload)).ok()?;
        match wire {
            Wire { press: Some(verdict), .. } => Some(Self::Press(verdict)),
            Wire { said: Some(text), .. } => Some(Self::LiveText(text)),
            Wire { changed: count @ 1.., .. } => Some(Self::Changed(count)),
            Wire { .. } => None,
        }
    }
}

/// The answer to `aim(id)`: the element after it has been scrolled into view.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct AimAnswer {
    /// The box as x, y, width and height; `None` without a box.
    pub(crate) rect: Option<[f64; 4]>,
    /// The point to press; `None` if the element has no box or no part of it could be brought into
    /// view.
    pub(crate) point: Option<(f64, f64)>,
    /// The hit test at `point`; `None` without a point.
    pub(crate) hit: Option<HitTest>,
    /// The document's change count at the time of the answer; -1 if the element was scrolled,
    /// because changes caused by scrolling are known only in the next frame.
    #[serde(default)]
    pub(crate) at: i64,
}

/// The answer to `hit(id, x, y)`: what a press at a point would reach.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct HitTest {
    /// Whether the press would reach the element, its content or its label.
    pub target: bool,
    /// The id of the element that the press would reach instead; 0 if the press would reach
    /// nothing.
    #[serde(default)]
    pub(crate) by: u64,
    /// A description of the element that the press would reach instead.
    #[serde(default)]
    pub(crate) what: String,
}

/// The answer to `arrivedLook(id, x, y, at, press, ranges, guard)`: the effect of the pointer's
/// arrival.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ArrivalAnswer {
    /// The hit test at the pointer now; `None` when the element is gone.
    pub(crate) hit: Option<HitTest>,
    /// The box of the element; `None` without a box.
    pub(crate) rect: Option<[f64; 4]>,
    /// The page as `locate` returns it, if the press would reach the element.
    pub(crate) look: Option<String>,
    /// Whether the document watches for the press.
    pub(crate) armed: bool,
}

/// The answer to `elementAt(x, y)`: the element at a point, as the tree contains it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct ElementAt {
    pub id: u64,
    /// Whether the element shows a frame, so that the search continues inside.
    pub(crate) frame: bool,
}

/// The answer to `clickVerdict()`: where the expected press landed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct PressVerdict {
    /// `target`, `elsewhere`, `changed`, or `none` when no event came.
    pub(crate) landed: String,
    /// A description of the element that received the press instead, or would have received it.
    pub(crate) what: String,
    /// Whether the press was stopped before the page saw any part of it.
    pub(crate) stopped: bool,
    /// Whether the verdict is final.
    pub(crate) complete: bool,
    /// The kind of element that received the press, if it renders its own content: `canvas`,
    /// `embed` or `object`.
    pub drawn: Option<String>,
}

impl PressVerdict {
    /// Returns where the input landed, according to the verdict.
    pub fn delivery(self) -> Delivery {
        match self.landed.as_str() {
            "target" => Delivery::Confirmed,
            "elsewhere" => Delivery::Elsewhere { what: self.what, stopped: self.stopped },
            "changed" => Delivery::Changed { stopped: self.stopped },
            _ => Delivery::Unknown,
        }
    }
}

/// Why a field or a list cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Obstacle {
    /// The element is not a field.
    NotField,
    /// The field or list is disabled.
    Disabled,
    /// The field is read-only.
    ReadOnly,
    /// The requested option of the list is disabled.
    OptionDisabled(String),
    /// The list accepts exactly one option.
    OneOption,
}

impl Obstacle {
    /// Returns whether the obstacle is a disabled field, list or option.
    pub(crate) const fn is_disabled(&self) -> bool {
        matches!(self, Self::Disabled | Self::OptionDisabled(_))
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotField => f.write_str("it is not a field"),
            Self::Disabled => f.write_str("it is disabled"),
            Self::ReadOnly => f.write_str("it is read-only"),
            Self::OptionDisabled(option) => write!(f, "its option {} is disabled", quote(option)),
            Self::OneOption => f.write_str("it accepts exactly one option"),
        }
    }
}

/// The answer to `focusField(id, guard)`, which also selects everything in the field, and to
/// `focus(id, guard)`, which puts the caret at the end of the field.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FocusAnswer {
    /// Whether guarded content changed, in which case nothing was done.
    pub(crate) changed: bool,
    /// Whether the element took the focus.
    pub(crate) focused: bool,
    /// The way to fill the field: `text` by inserting text, `set` by `setValue`, `code` by
    /// `pasteText`, or `none`.
    pub(crate) fill: String,
    /// The id of the field itself, which may be inside the element.
    pub id: u64,
    /// The value of the field.
    pub(crate) value: String,
    /// Whether the field is an editing host, whose content a script may manage.
    pub(crate) editor: bool,
    /// Why the field cannot be filled.
    pub(crate) why: Option<Obstacle>,
    /// A description of the values that the field accepts; empty if it accepts any text.
    pub(crate) accepts: String,
}

/// The answer to `pasteText(id, text, key)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct PasteAnswer {
    /// Whether guarded content changed or another field has the focus, in which case nothing was
    /// pasted.
    #[serde(default)]
    pub(crate) changed: bool,
    /// Whether the editor took the paste.
    pub(crate) pasted: bool,
}

/// The answer to `readCode(id)`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct CodeAnswer {
    /// The text; `None` if the editor does not reveal it.
    pub(crate) text: Option<String>,
    /// Whether the editor's field has the focus.
    pub(crate) focused: bool,
}

/// The answer to `setValue(id, text, key)`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ValueAnswer {
    /// Whether the field cannot take the value, in which case no event was sent.
    pub refused: bool,
    /// Whether guarded content changed, in which case no event was sent.
    pub(crate) changed: bool,
    /// The value that the field has or would have.
    pub(crate) value: String,
    /// A description of the values that the field accepts, if it cannot take the value.
    pub(crate) accepts: String,
}

/// The answer to `select(id, options, guard)`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SelectAnswer {
    /// False when the element is not a native list.
    pub(crate) handled: bool,
    /// Whether guarded content changed, in which case the list was left unchanged.
    pub(crate) changed: bool,
    /// The obstacle that kept the list from being changed, if any.
    pub(crate) why: Option<Obstacle>,
    /// The labels of the selected options, separated by commas.
    pub(crate) value: Option<String>,
    /// Requested options that the list lacks. If there are any, nothing was changed.
    pub(crate) missing: Vec<String>,
    /// A label that several options share; `options` then contains their values.
    pub(crate) several: Option<String>,
    /// The labels of the list's first options if options are missing, or the values of the options
    /// that share a label.
    pub(crate) options: Vec<String>,
    /// Whether the page changed the choice as soon as it received the event.
    pub refused: bool,
}

/// The answer to `opened(id, older)`: how the list that an element opened can be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct PopupAnswer {
    /// Whether the element reports that it is expanded.
    pub expanded: bool,
    /// Whether a press on the element closes the list.
    pub press: bool,
    /// Whether Escape closes the list, because the focus is in the element or in the list's popup.
    pub key: bool,
}

/// The answer to `scroller(id | 0, dx, dy)`: the container that would scroll.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Scroller {
    /// A point over the container for wheel input; `None` if the wheel would not reach it.
    pub(crate) point: Option<(f64, f64)>,
    /// The horizontal scroll offset, in CSS pixels.
    pub(crate) left: f64,
    /// The vertical scroll offset, in CSS pixels.
    pub(crate) top: f64,
}

/// The answer to `scrollBy(id | 0, dx, dy)`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ScrollAnswer {
    /// Whether the container scrolled.
    pub(crate) moved: bool,
}

/// The answer to `settled(quiet, cap)`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct QuietAnswer {
    /// Whether the document became quiet.
    pub(crate) settled: bool,
    /// Descriptions of what was still moving.
    pub(crate) still: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_read_and_nonsense_is_none() {
        assert_eq!(Signal::read(r#"{"changed":7}"#), Some(Signal::Changed(7)));
        assert_eq!(Signal::read(r#"{"said":"Saved"}"#), Some(Signal::LiveText("Saved".into())));
        let verdict = PressVerdict {
            landed: "elsewhere".into(),
            what: "div".into(),
            stopped: true,
            complete: true,
            drawn: None,
        };
        let press = r#"{"press":{"landed":"elsewhere","what":"div","stopped":true,"complete":true}}"#;
        assert_eq!(Signal::read(press), Some(Signal::Press(verdict)));
        for bad in ["", "{}", "[]", r#"{"changed":0}"#, r#"{"press":1}"#] {
            assert_eq!(Signal::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_a_disabled_element_or_option_counts_as_disabled() {
        let read = |text: &str| serde_json::from_str::<Obstacle>(text).expect("an obstacle");
        for (text, disabled, says) in [
            (r#""disabled""#, true, "it is disabled"),
            (r#"{"optionDisabled":"Rome"}"#, true, r#"its option "Rome" is disabled"#),
            (r#""readOnly""#, false, "it is read-only"),
            (r#""notField""#, false, "it is not a field"),
            (r#""oneOption""#, false, "it accepts exactly one option"),
        ] {
            let why = read(text);
            assert_eq!((why.is_disabled(), &*why.to_string()), (disabled, says));
        }
    }
}
