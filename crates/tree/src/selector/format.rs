//! Formats selectors as text: the inverse of parsing.

use super::parse::is_bare;
use super::{Alternative, Selector, Term};
use crate::model::escape::quote_whole;
use std::fmt;

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, alternative) in self.alternatives.iter().enumerate() {
            if i > 0 {
                f.write_str(" || ")?;
            }
            alternative.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Alternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, term) in self.terms.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            term.fmt(f)?;
        }
        match self.nth {
            Some(nth) if self.terms.is_empty() => write!(f, "nth={nth}"),
            Some(nth) => write!(f, " nth={nth}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Role(role) => write!(f, "role={role}"),
            Self::Has { key, compare, value } => {
                write!(f, "{}{}{}", key.word(), compare.sign(), Value(value))
            }
            Self::Is { flag, wanted: true } => f.write_str(flag.word()),
            Self::Is { flag, wanted: false } => write!(f, "{}=false", flag.word()),
            Self::In(inner) => write!(f, "in({inner})"),
            Self::Css(css) => write!(f, "css={}", quote_whole(css)),
        }
    }
}

/// A value, quoted if necessary.
struct Value<'a>(&'a str);

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_bare(self.0) { f.write_str(self.0) } else { f.write_str(&quote_whole(self.0)) }
    }
}
