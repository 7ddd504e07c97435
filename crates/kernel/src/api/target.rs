//! Targets of commands, as typed: a ref, a selector or a point.
//!
//! This is the parse boundary: a ref and its pin are separated here. Parsing looks nothing up.

use crate::api::schema::text_schema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use stickpin_device::Error;
use stickpin_refs::{Generation, Ref, RefToken};
use stickpin_tree::{Selector, SelectorError, quote};

/// A target as typed.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A ref, the short name of an element.
    Ref(RefTarget),
    /// A selector, which must match exactly one element.
    Selector(Selector),
    /// A point in pixels: of the last screenshot that this client was given of the current
    /// document, or else of the viewport.
    Point {
        /// The distance from the left edge of the screenshot or viewport.
        x: f64,
        /// The distance from the top edge of the screenshot or viewport.
        y: f64,
    },
}

/// A ref with its pin, if it has one. Formatting omits the pin. Serializing keeps it, so that a
/// request states which tree its ref came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefTarget {
    id: Ref,
    pin: Option<Generation>,
}

impl RefTarget {
    /// Returns the ref without its pin.
    #[must_use]
    pub fn without_pin(self) -> Ref {
        self.id
    }

    pub(crate) fn token(self) -> RefToken {
        RefToken { id: self.id, pin: self.pin }
    }
}

impl fmt::Display for RefTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

impl From<RefTarget> for Target {
    fn from(r: RefTarget) -> Self {
        Self::Ref(r)
    }
}

impl From<Selector> for Target {
    fn from(selector: Selector) -> Self {
        Self::Selector(selector)
    }
}

impl TryFrom<&str> for Target {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<RefToken> for RefTarget {
    fn from(token: RefToken) -> Self {
        Self { id: token.id, pin: token.pin }
    }
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::invalid_args("the target is empty").hint(TARGET_FORMS));
        }
        if stickpin_refs::looks_like_ref(text) {
            let token: RefToken = text
                .parse()
                .map_err(|e: stickpin_refs::ParseError| Error::invalid_args(e.to_string()).hint(e.hint()))?;
            return Ok(Self::Ref(token.into()));
        }
        if let Some(point) = point(text) {
            return Ok(point);
        }
        text.parse().map(Self::Selector).map_err(|e: SelectorError| selector_error(text, &e))
    }
}

/// Converts a selector error into `INVALID_ARGS`, and adds the position in the text.
pub(crate) fn selector_error(text: &str, e: &SelectorError) -> Error {
    let at = text.get(..e.span.start).map_or(0, |before| before.chars().count());
    Error::invalid_args(format!("the selector {}: {e} (character {})", quote(text), at + 1))
        .hint(e.hint.clone())
}

/// The three forms of a target, for hints.
pub(crate) const TARGET_FORMS: &str =
    "a target is a ref (`@e12`), a selector (`role=button text=\"Save\"`) or a point (`120,48`)";

fn point(text: &str) -> Option<Target> {
    let (x, y) = text.split_once(',')?;
    let number = |s: &str| s.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    Some(Target::Point { x: number(x)?, y: number(y)? })
}

/// Parses the target of `TARGET=VALUE` and returns it with the index of the equals sign.
///
/// A selector may itself contain equals signs: the target ends at the first sign that follows a
/// complete target.
///
/// # Errors
/// Returns why the text before the first equals sign is not a target, or `None` if there is no such
/// sign.
pub(crate) fn parse_assignment_target(text: &str) -> Result<(Target, usize), Option<Error>> {
    let mut first = None;
    for (at, _) in text.match_indices('=') {
        match text[..at].parse::<Target>() {
            Ok(target) => return Ok((target, at)),
            Err(e) => first = first.or(Some(e)),
        }
    }
    Err(first)
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ref(r) => write!(f, "{}", r.id),
            Self::Selector(s) => s.fmt(f),
            Self::Point { x, y } => write!(f, "{x},{y}"),
        }
    }
}

impl Target {
    /// Returns the target as a client sends it: a ref with its pin.
    pub(crate) fn pinned(&self) -> String {
        match self {
            Self::Ref(r) => r.token().to_string(),
            other => other.to_string(),
        }
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.pinned())
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

text_schema!(Target, "x-target" = true);

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_device::ErrorCode;

    #[test]
    fn a_pin_is_sent_and_never_shown() {
        let Target::Ref(r) = "@e12~s3".parse().unwrap() else { panic!("a ref") };
        assert_eq!(r.token().pin.unwrap().get(), 3);
        assert_eq!(Target::Ref(r).to_string(), "@e12");
        assert_eq!(serde_json::to_string(&Target::Ref(r)).unwrap(), "\"@e12~s3\"");
    }

    #[test]
    fn what_was_meant_as_a_ref_is_no_selector() {
        for bad in ["@e12~", "@e0", "@", "e12~x3", "@handle", "@e12~s3~s4"] {
            let e = bad.parse::<Target>().unwrap_err();
            assert_eq!(e.code, ErrorCode::InvalidArgs, "{bad}");
            assert!(!e.hint.is_empty(), "{bad}");
        }
    }

    #[test]
    fn two_numbers_are_a_point() {
        assert_eq!("12, 40.5".parse(), Ok(Target::Point { x: 12.0, y: 40.5 }));
        assert!("NaN,1".parse::<Target>().is_err());
    }
}
