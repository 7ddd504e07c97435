//! Refs, generations and tokens, and their written form.

use crate::error::ParseError;
use crate::grammar;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// The short name of one element with one meaning: `@e12`. Refs count from 1.
///
/// Plain text is not a ref and must be parsed:
/// ```compile_fail,E0308
/// # use stickpin_refs::Ref;
/// fn press(target: Ref) {}
/// press("@e12");
/// ```
/// A generation is not a ref either, although both are numbers:
/// ```compile_fail,E0308
/// # use stickpin_refs::{Generation, Ref};
/// fn press(target: Ref) {}
/// press(Generation::new(12));
/// ```
/// A `Ref` is accepted:
/// ```
/// # use stickpin_refs::Ref;
/// fn press(target: Ref) {}
/// press(Ref::new(12).unwrap());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ref(NonZeroU32);

impl Ref {
    /// Returns the ref with this number, or `None` for 0.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(n) => Some(Self(n)),
            None => None,
        }
    }

    /// Returns the number of this ref.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

/// Writes the ref with its `@`.
impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@e{}", self.0)
    }
}

/// The number of a stored tree within one lifetime of a session, written `s12`.
///
/// Generations are counters, not times. Generations of different lifetimes are not comparable. Each
/// lifetime starts at a random six-digit number, so a generation of one lifetime is rarely one of
/// another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(u64);

impl Generation {
    /// Creates the generation with this number. 0 means "no tree yet".
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number of this generation.
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
/// Only the session that issued the ref can determine the token's standing and the element that it
/// stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RefToken {
    /// The ref without its pin.
    pub id: Ref,
    /// The generation of the tree with which the ref was issued to the client or renewed.
    pub pin: Option<Generation>,
}

impl RefToken {
    /// Creates a token without a pin.
    #[must_use]
    pub const fn plain(r#ref: Ref) -> Self {
        Self { id: r#ref, pin: None }
    }

    /// Creates a token with a pin.
    #[must_use]
    pub const fn pinned(r#ref: Ref, pin: Generation) -> Self {
        Self { id: r#ref, pin: Some(pin) }
    }
}

impl From<Ref> for RefToken {
    fn from(r#ref: Ref) -> Self {
        Self::plain(r#ref)
    }
}

impl fmt::Display for RefToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)?;
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
