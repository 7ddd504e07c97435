//! The newtypes, and how they are written.

use crate::error::ParseError;
use crate::grammar;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// The short name of one element with one meaning: `@e12`. Counts from 1.
///
/// A raw text is not a ref, it has to be parsed:
/// ```compile_fail,E0308
/// # use stickpin_refs::Ref;
/// fn press(target: Ref) {}
/// press("@e12");
/// ```
/// and neither is a generation, although both are numbers:
/// ```compile_fail,E0308
/// # use stickpin_refs::{Generation, Ref};
/// fn press(target: Ref) {}
/// press(Generation::new(12));
/// ```
/// while this compiles:
/// ```
/// # use stickpin_refs::Ref;
/// fn press(target: Ref) {}
/// press(Ref::new(12).unwrap());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ref(NonZeroU32);

impl Ref {
    /// The ref with a number; `None` for 0.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(n) => Some(Self(n)),
            None => None,
        }
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

/// Always with the `@`.
impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@e{}", self.0)
    }
}

/// The number of a stored tree within one lifetime of a session, written `s12`.
///
/// Two generations of one lifetime are equal or not; they are counters, not times. Generations of different
/// lifetimes say nothing about each other: the first of each is a random number of six digits, so that two of
/// them collide only once in about a million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(u64);

impl Generation {
    /// The generation with a number. 0 is what "no tree yet" reads as.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

/// A ref as a client sends it, with or without a pin.
///
/// The standing of a token is worked out once, where a command's arguments are parsed; below that only a plain
/// [`Ref`] goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RefToken {
    /// Which element.
    pub r#ref: Ref,
    /// The tree that the client was given, or renewed, the ref with.
    pub pin: Option<Generation>,
}

impl RefToken {
    /// A ref without a pin.
    #[must_use]
    pub const fn plain(r#ref: Ref) -> Self {
        Self { r#ref, pin: None }
    }

    /// A ref with a pin.
    #[must_use]
    pub const fn pinned(r#ref: Ref, pin: Generation) -> Self {
        Self { r#ref, pin: Some(pin) }
    }
}

impl From<Ref> for RefToken {
    fn from(r#ref: Ref) -> Self {
        Self::plain(r#ref)
    }
}

impl fmt::Display for RefToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.r#ref.fmt(f)?;
        match self.pin {
            Some(pin) => write!(f, "~{pin}"),
            None => Ok(()),
        }
    }
}

impl FromStr for RefToken {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        grammar::parse(text)
    }
}

impl TryFrom<String> for RefToken {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        text.parse()
    }
}

impl From<RefToken> for String {
    fn from(token: RefToken) -> Self {
        token.to_string()
    }
}
