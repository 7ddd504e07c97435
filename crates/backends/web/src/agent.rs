//! The script of ours in every document, as the Rust side sees it: `src/page/*.js`, in an isolated world that the
//! page cannot see. It answers calls (`__stickpin.NAME(...)`) and sends signals through a binding.
//!
//! Elements are numbers (`id`) that are never reused within a document; coordinates are CSS pixels of the frame's
//! own viewport. Functions that get an `id` answer `null` when it is no longer connected.

pub(crate) use crate::page::{AGENT as SOURCE, WORLD};
use serde::Deserialize;

/// The global that the script defines in its world.
pub(crate) const GLOBAL: &str = "__stickpin";

/// The function of the world that sends us a [`Signal`]: `__stickpinSignal(JSON.stringify(...))`.
pub(crate) const BINDING: &str = "__stickpinSignal";

/// What a signal says, on the wire: `{"changed":true}`, `{"said":"text"}`, `{"press":VERDICT}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The document changed since the last such signal. Sent at the first change and then at most every 50 ms.
    Changed,
    /// A text appeared in a live region or toast.
    Said(String),
    /// A guarded press arrived: a [`Verdict`] as JSON. It outlives the document that sent it.
    Press(String),
}

impl Signal {
    pub(crate) fn read(payload: &str) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Wire {
            #[serde(default)]
            changed: bool,
            said: Option<String>,
            press: Option<serde_json::Value>,
        }
        let wire: Wire = serde_json::from_str(payload).ok()?;
        match wire {
            Wire { press: Some(verdict), .. } => Some(Self::Press(verdict.to_string())),
            Wire { said: Some(text), .. } => Some(Self::Said(text)),
            Wire { changed: true, .. } => Some(Self::Changed),
            Wire { .. } => None,
        }
    }
}

/// `aim(id)`: scrolled into view at once, its box, the point to press, and what is there.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Aimed {
    /// x, y, width, height; none without a box.
    pub(crate) rect: Option<[f64; 4]>,
    /// A point of the element in the viewport; none if no part of it could be brought there.
    pub(crate) point: Option<[f64; 2]>,
    /// What is at that point; absent without a point.
    pub(crate) hit: Option<Hit>,
}

/// `hit(id, x, y)`: what a press at a point would reach, seen from the element.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Hit {
    /// The element, a descendant in the flat tree, or its label.
    pub(crate) target: bool,
    /// What is there otherwise: its number, 0 for none.
    #[serde(default)]
    pub(crate) by: u64,
    /// It in words: `dialog "Cookies"`.
    #[serde(default)]
    pub(crate) what: String,
}

/// `elementAt(x, y)`: the innermost element; `null` outside.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct At {
    pub(crate) id: u64,
    /// Whether it shows a frame, so that the search goes on inside.
    #[serde(default)]
    pub(crate) frame: bool,
}

/// `expectClick(id)` arms listeners in the capture phase for one press: every mouse and pointer event that is not
/// for the element (or a descendant, or its label) is stopped. `id` -1: everything is stopped, because the press
/// is meant for another frame; 0: nothing is. `clickVerdict()` answers with what happened and disarms; the same is
/// sent as a [`Signal::Press`] when the first event arrives.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Verdict {
    /// `target`, `elsewhere`, or `none` when no event came.
    pub(crate) landed: String,
    /// What received it, in words.
    #[serde(default)]
    pub(crate) what: String,
    /// Whether the page was kept from seeing it.
    #[serde(default)]
    pub(crate) stopped: bool,
}

/// `focus(id)`: focused without scrolling.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Focused {
    /// Whether the focus is on it now.
    pub(crate) focused: bool,
    /// How it is filled: `text` by typing, `set` by `setValue(id, text)` (dates, colours, ranges), `none`.
    #[serde(default)]
    pub(crate) fill: String,
}

/// `select(id, options)`: options of a native list chosen by label or value, `input` and `change` fired.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Selected {
    /// False when it is no native list.
    pub(crate) handled: bool,
    /// What is selected now: labels, joined by `, `.
    #[serde(default)]
    pub(crate) value: String,
    /// Options that it does not have; nothing was changed then.
    #[serde(default)]
    pub(crate) missing: Vec<String>,
}

/// `changes()`: what moves in this document now.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub(crate) struct Moving {
    /// Running animations and transitions that end: `animation on div.spinner`.
    #[serde(default)]
    pub(crate) animations: Vec<String>,
    /// Where the last mutations were, for a message: `ul#feed`.
    #[serde(default)]
    pub(crate) mutated: String,
    /// How long ago the last one was, in milliseconds; absent if there was none.
    #[serde(default)]
    pub(crate) quiet_for: Option<u64>,
}
