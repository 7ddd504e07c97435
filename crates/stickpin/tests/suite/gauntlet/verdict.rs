//! The verdict on one use of a ref, from the input that the page received.

use super::data::{Kind, Situation};
use super::site::Hit;
use stickpin_kernel::{ErrorCode, Response};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The right element received the input, and the answer reports that.
    Correct,
    /// Nothing was done, in a situation that must or may refuse.
    Refused,
    /// The client was shown the ref again after its surroundings changed, and the command acted.
    Relisted,
    /// Nothing was done although it should have been, and the answer reports that.
    RefusedUnneeded,
    /// The wrong element received the input, and the answer does not report it.
    WrongSilent,
    /// The wrong element received the input, and the answer reports its current text.
    WrongTold,
    /// The wrong element received the input, and the answer is an error.
    WrongError,
    /// The right element received the input, and the answer is an error.
    ErrorButDone,
    /// Nothing happened, and the answer reports success.
    NoEffect,
}

impl Verdict {
    pub const ALL: [Self; 9] = [
        Self::Correct,
        Self::Refused,
        Self::Relisted,
        Self::RefusedUnneeded,
        Self::WrongSilent,
        Self::WrongTold,
        Self::WrongError,
        Self::ErrorButDone,
        Self::NoEffect,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Correct => "CORRECT",
            Self::Refused => "REFUSED",
            Self::Relisted => "RELISTED",
            Self::RefusedUnneeded => "REFUSED-UNNEEDED",
            Self::WrongSilent => "WRONG-SILENT",
            Self::WrongTold => "WRONG-TOLD",
            Self::WrongError => "WRONG-ERROR",
            Self::ErrorButDone => "ERROR-BUT-DONE",
            Self::NoEffect => "NOOP",
        }
    }

    /// Returns whether an element other than the right one received the input.
    pub fn is_wrong(self) -> bool {
        matches!(self, Self::WrongSilent | Self::WrongTold | Self::WrongError)
    }
}

/// A snapshot between the change and the use that listed the same ref again. Contains the record
/// that the element belongs to now, or `None` if the app replaced the element.
pub struct Relisting(pub Option<String>);

impl Relisting {
    fn allows(&self, hits: &[Hit]) -> bool {
        self.0.as_ref().is_none_or(|record| hits.iter().all(|hit| hit.rec == *record))
    }
}

/// Judges one use.
pub fn judge(situation: &Situation, used: &Response, hits: &[Hit], relisting: Option<&Relisting>) -> Verdict {
    let ok = used.error.is_none();
    if hits.is_empty() {
        return match (ok, situation.kind) {
            (true, _) => Verdict::NoEffect,
            (false, Kind::Act) => Verdict::RefusedUnneeded,
            (false, Kind::Refuse | Kind::Either) => Verdict::Refused,
        };
    }
    if hits.iter().all(|hit| situation.want.contains(&hit.rec)) {
        return if ok { Verdict::Correct } else { Verdict::ErrorButDone };
    }
    match (ok, situation.kind) {
        (true, Kind::Refuse | Kind::Either) if relisting.is_some_and(|r| r.allows(hits)) => Verdict::Relisted,
        (true, _) if warns_afterwards(used) => Verdict::WrongTold,
        (true, _) => Verdict::WrongSilent,
        (false, _) => Verdict::WrongError,
    }
}

pub fn is_notice(used: &Response) -> bool {
    used.error.as_ref().is_some_and(|e| e.code == ErrorCode::ContextChanged)
}

/// Returns whether an answer reports that the target has changed.
fn warns_afterwards(used: &Response) -> bool {
    let warning = used.warning.iter().map(String::as_str);
    let text = used.text.iter().flat_map(|text| text.lines());
    let signs = ["element now reads ", "eading that was above the element is gone"];
    warning.chain(text).any(|line| {
        signs.iter().any(|sign| line.contains(sign))
            || (line.contains('@') && line.contains(" is now ") && line.ends_with('.'))
    })
}
