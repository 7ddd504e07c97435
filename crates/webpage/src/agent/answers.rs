//! What the script in every document answers and sends (`agent/script/agent.js` lists its functions).

use serde::Deserialize;
use stickpin_device::Landed;
use stickpin_devtools::well_formed;

/// The global that the script defines in its world.
pub(crate) const GLOBAL: &str = "__stickpin";

/// The function of the world that sends us a [`Signal`].
pub(crate) const BINDING: &str = "__stickpinSignal";

/// What a signal says, on the wire: `{"changed":COUNT}`, `{"said":"text"}`, `{"press":VERDICT}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The document changed since the last such signal: so often until now.
    Changed(u64),
    /// A text appeared in a live region or toast.
    Said(String),
    /// A guarded press arrived. This outlives the document that sent it.
    Press(Verdict),
}

impl Signal {
    pub fn read(payload: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Wire {
            #[serde(default)]
            changed: u64,
            said: Option<String>,
            press: Option<Verdict>,
        }
        let wire: Wire = serde_json::from_str(&well_formed(payload)).ok()?;
        match wire {
            Wire { press: Some(verdict), .. } => Some(Self::Press(verdict)),
            Wire { said: Some(text), .. } => Some(Self::Said(text)),
            Wire { changed: count @ 1.., .. } => Some(Self::Changed(count)),
            Wire { .. } => None,
        }
    }
}

/// `aim(id)`: brought into view.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Aimed {
    /// x, y, width, height; none without a box.
    pub(crate) rect: Option<[f64; 4]>,
    /// The point to press; none if no part of it could be brought into view.
    pub(crate) point: Option<(f64, f64)>,
    /// What is at that point.
    pub(crate) hit: Option<HitTest>,
    /// How often the document had changed by then; -1: more is to come by itself.
    #[serde(default)]
    pub(crate) at: i64,
}

/// `hit(id, x, y)`: what a press at a point would reach.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct HitTest {
    /// The element, its inside, its label.
    pub target: bool,
    /// What is there otherwise; 0: nothing.
    #[serde(default)]
    pub(crate) by: u64,
    /// It in words.
    #[serde(default)]
    pub(crate) what: String,
}

/// `arrivedLook(id, x, y, at, press, ranges)`: what the arrival of the pointer did.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Arrival {
    /// What a press there reaches now; none when the element is gone.
    pub(crate) hit: Option<HitTest>,
    /// The box of the element.
    pub(crate) rect: Option<[f64; 4]>,
    /// The page as `locate` answers it, where the press would reach the element.
    pub(crate) look: Option<String>,
    /// Whether the press is watched for.
    pub(crate) armed: bool,
}

/// `elementAt(x, y)`: the innermost element.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct ElementAt {
    pub id: u64,
    /// Whether it shows a frame, so that the search goes on inside.
    pub(crate) frame: bool,
}

/// `clickVerdict()`: how the press went that was expected.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Verdict {
    /// `target`, `elsewhere`, `changed`, or `none` when no event came.
    pub(crate) landed: String,
    /// What received it instead.
    pub(crate) what: String,
    /// Whether the page was kept from seeing any of it.
    pub(crate) stopped: bool,
    /// Whether nothing can change the verdict any more.
    pub(crate) complete: bool,
    /// What received it draws what it shows by itself: `canvas`.
    pub drawn: Option<String>,
}

impl Verdict {
    /// Where the input landed.
    pub fn landed(self) -> Landed {
        match self.landed.as_str() {
            "target" => Landed::Confirmed,
            "elsewhere" => Landed::Elsewhere { what: self.what, stopped: self.stopped },
            "changed" => Landed::Changed { stopped: self.stopped },
            _ => Landed::Unknown,
        }
    }
}

/// `focusField(id)`: focused, with everything in it selected; `focus(id)`: the caret at its end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Focused {
    /// What is guarded with it changed, and nothing was done.
    pub(crate) changed: bool,
    /// Whether it took the focus.
    pub(crate) focused: bool,
    /// `text`: by typing; `set`: by `setValue`; `code`: by `pasteText`; `none`.
    pub(crate) fill: String,
    /// The field itself, which may be inside the element.
    pub id: u64,
    /// What it holds.
    pub(crate) value: String,
    /// Whether it is an editing host, whose content a script may hold.
    pub(crate) editor: bool,
    /// Why it cannot be filled.
    pub(crate) why: Option<String>,
    /// What it takes, in words; empty for any text.
    pub(crate) accepts: String,
}

/// `pasteText(id, text, key)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Pasted {
    /// What is guarded with the field changed, or another one has the focus; nothing was pasted.
    #[serde(default)]
    pub(crate) changed: bool,
    /// Whether the editor took the paste.
    pub(crate) pasted: bool,
}

/// `readCode(id)`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct CodeRead {
    /// None where the editor does not say.
    pub(crate) text: Option<String>,
    /// Whether its field has the focus.
    pub(crate) focused: bool,
}

/// `setValue(id, text)`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ValueSet {
    /// The field cannot hold it, and the page heard nothing.
    pub refused: bool,
    /// What is guarded with the field changed, and the page heard nothing.
    pub(crate) changed: bool,
    /// What it holds, or would hold.
    pub(crate) value: String,
    /// What it takes, in words.
    pub(crate) accepts: String,
}

/// `select(id, options)`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Selected {
    /// False when it is no native list.
    pub(crate) handled: bool,
    /// What is guarded with it changed, and it was left as it is.
    pub(crate) changed: bool,
    /// Why nothing was changed.
    pub(crate) why: Option<String>,
    /// What is selected now.
    pub(crate) value: Option<String>,
    /// Options that it does not have; nothing was changed then.
    pub(crate) missing: Vec<String>,
    /// What is the label of several options, which are told apart by their values in `options`.
    pub(crate) several: Option<String>,
    /// Labels of the options that it has.
    pub(crate) options: Vec<String>,
    /// The page changed the choice as soon as it heard of it.
    pub refused: bool,
}

/// `opened(id, older)`: how the list that an element opened can be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Opened {
    /// The element says that it is expanded.
    pub expanded: bool,
    /// By a press on the element.
    pub press: bool,
    /// By Escape, because the element or its list has the focus.
    pub key: bool,
}

/// `scroller(id | 0, dx, dy)`: the container that would scroll.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Scroller {
    /// A point over it for wheel input; none if the wheel would not reach it.
    pub(crate) point: Option<(f64, f64)>,
    /// How far it is scrolled.
    pub(crate) left: f64,
    /// How far it is scrolled.
    pub(crate) top: f64,
}

/// `scrollBy(id | 0, dx, dy)`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Scrolled {
    /// Whether it moved.
    pub(crate) moved: bool,
}

/// `settled(quiet, cap)`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Quiet {
    /// Whether it became quiet.
    pub(crate) settled: bool,
    /// What was still moving.
    pub(crate) still: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_read_and_nonsense_is_none() {
        assert_eq!(Signal::read(r#"{"changed":7}"#), Some(Signal::Changed(7)));
        assert_eq!(Signal::read(r#"{"said":"Saved"}"#), Some(Signal::Said("Saved".into())));
        let verdict = Verdict {
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
}
