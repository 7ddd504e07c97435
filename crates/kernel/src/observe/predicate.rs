//! Predicates about an element, for `is` and `wait`.

use crate::api::render::json_name;
use crate::api::target::Target;
use crate::command::context::Cx;
use crate::observe::resolve::{Freshness, Presence};
use crate::observe::{capture, resolve};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stickpin_device::Result;
use stickpin_tree::{NodeRef, States, quote};

/// A predicate about an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Predicate {
    /// Whether the element exists and is not hidden.
    Visible,
    /// Whether the element is hidden or does not exist.
    Hidden,
    /// Whether the element exists, visible or not.
    Exists,
    /// Whether the element does not exist.
    Absent,
    /// Whether the element can be used.
    Enabled,
    /// Whether the element cannot be used now.
    Disabled,
    /// Whether the element accepts text.
    Editable,
    /// Whether the element has the keyboard focus.
    Focused,
    /// Whether the element is selected.
    Selected,
    /// Whether the element is checked, or is a toggle that is on.
    Checked,
    /// Whether the element is expanded.
    Expanded,
    /// Whether the element's text is the given one.
    Text,
    /// Whether the element's value is the given one.
    Value,
}

impl Predicate {
    /// Returns the word for the predicate on a command line.
    pub(crate) fn name(self) -> String {
        json_name(&self)
    }

    /// Returns whether the predicate compares with a given value.
    pub(crate) fn takes_value(self) -> bool {
        matches!(self, Self::Text | Self::Value)
    }

    /// Returns whether the predicate concerns presence alone, so that absence is an answer.
    fn asks_presence(self) -> bool {
        matches!(self, Self::Visible | Self::Hidden | Self::Exists | Self::Absent)
    }
}

/// The result of evaluating a predicate.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Whether the predicate holds.
    pub holds: bool,
    /// The actual state, in words.
    pub truth: String,
}

/// Evaluates a predicate on the app as it is now. While another agent holds the turn, `freshness`
/// selects the tree for a predicate about presence, and other predicates are evaluated on the
/// stored tree.
///
/// # Errors
/// Returns the errors of resolving the target, except that absence answers a predicate about
/// presence.
pub(crate) async fn evaluate(
    cx: &mut Cx,
    predicate: Predicate,
    target: &Target,
    value: Option<&str>,
    freshness: Freshness,
) -> Result<Answer> {
    let (tree, node) = if predicate.asks_presence() {
        // Existence and absence can be determined for several matches. Any other state requires a
        // single element.
        let any = matches!(predicate, Predicate::Exists | Predicate::Absent);
        match resolve::determine_presence(cx, target, any, freshness).await? {
            Presence::Present(tree, node) => (tree, node),
            Presence::Absent(why) => {
                let holds = matches!(predicate, Predicate::Hidden | Predicate::Absent);
                return Ok(Answer { holds, truth: format!("{target} {why}") });
            }
            Presence::Several(count) => {
                let holds = predicate == Predicate::Exists;
                return Ok(Answer { holds, truth: format!("{count} elements match {target}") });
            }
        }
    } else {
        resolve::resolve_element(cx, target).await?
    };
    let line = capture::issue_line(cx, &tree, node)?;
    let (holds, truth) = judge(tree.node(node), predicate, value.unwrap_or(""));
    Ok(Answer { holds, truth: format!("{line} {truth}") })
}

fn judge(node: NodeRef<'_>, predicate: Predicate, value: &str) -> (bool, String) {
    let any = |states: States| node.states().intersects(states);
    let holds = match predicate {
        Predicate::Exists | Predicate::Absent => {
            return (predicate == Predicate::Exists, "is there".to_owned());
        }
        Predicate::Text => {
            let text = text_of(node);
            return (text == value, format!("has the text {}", quote(&text)));
        }
        Predicate::Value => return (node.value() == value, format!("has the value {}", quote(node.value()))),
        Predicate::Checked if any(States::MIXED) => return (false, "is partly checked".to_owned()),
        Predicate::Checked => any(States::CHECKED | States::PRESSED),
        Predicate::Visible => !any(States::HIDDEN),
        Predicate::Hidden => any(States::HIDDEN),
        Predicate::Enabled => !any(States::DISABLED),
        Predicate::Disabled => any(States::DISABLED),
        Predicate::Editable => any(States::EDITABLE) && !any(States::READONLY | States::DISABLED),
        Predicate::Focused => any(States::FOCUSED),
        Predicate::Selected => any(States::SELECTED),
        Predicate::Expanded => any(States::EXPANDED),
    };
    (holds, format!("{} {}", if holds { "is" } else { "is not" }, predicate.name()))
}

/// Returns the text of an element: its text leaves that are not hidden, or else the typed value of
/// a field, or else its name.
pub(crate) fn text_of(node: NodeRef<'_>) -> String {
    let leaves: Vec<&str> =
        node.subtree().filter(|n| n.is_text() && !n.is(States::HIDDEN)).map(NodeRef::name).collect();
    if !leaves.is_empty() {
        return leaves.join(" ");
    }
    // A person sees the typed value of a field. The value of a secret field is not read.
    let typed = node.states().intersects(States::EDITABLE | States::MULTILINE) && !node.is(States::PROTECTED);
    if typed && !node.value().is_empty() { node.value() } else { node.name() }.to_owned()
}

/// Returns the states of an element in the words of snapshots.
pub(crate) fn state_words(node: NodeRef<'_>) -> Vec<&'static str> {
    const WORDS: &[(States, &str)] = &[
        (States::HIDDEN, "hidden"),
        (States::DISABLED, "disabled"),
        (States::READONLY, "readonly"),
        (States::EDITABLE, "editable"),
        (States::REQUIRED, "required"),
        (States::INVALID, "invalid"),
        (States::FOCUSED, "focused"),
        (States::CHECKED, "checked"),
        (States::MIXED, "mixed"),
        (States::PRESSED, "pressed"),
        (States::SELECTED, "selected"),
        (States::EXPANDED, "expanded"),
        (States::MODAL, "modal"),
        (States::BUSY, "busy"),
    ];
    WORDS.iter().filter(|(state, _)| node.is(*state)).map(|(_, word)| *word).collect()
}
