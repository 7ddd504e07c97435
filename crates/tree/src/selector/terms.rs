//! The terms of a selector, for translation to other selector languages.

use super::{Compare, Selector, Term};
use crate::Role;
use std::num::NonZeroU32;

/// One condition of an alternative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition<'s> {
    /// `role=button`
    Role(Role),
    /// `label="Save"`: a key of the grammar and its value.
    Has {
        /// The key, such as `id`, `text` or `label`.
        key: &'static str,
        /// The comparison with the value.
        compare: Compare,
        /// The value to compare with.
        value: &'s str,
    },
    /// `checked`, `checked=false`
    Is {
        /// The word of the flag.
        flag: &'static str,
        /// Whether the flag must be true.
        wanted: bool,
    },
    /// `in(role=dialog)`
    In(&'s Selector),
    /// `css="main > a"`
    Css(&'s str),
}

impl Selector {
    /// Returns the alternatives in order: the conditions of each, and the number of the match to
    /// take, counted from 1; `None` to take all matches.
    pub fn alternatives(&self) -> impl Iterator<Item = (Vec<Condition<'_>>, Option<NonZeroU32>)> {
        self.alternatives.iter().map(|a| (a.terms.iter().map(condition).collect(), a.nth))
    }
}

fn condition(term: &Term) -> Condition<'_> {
    match term {
        Term::Role(role) => Condition::Role(*role),
        Term::Has { key, compare, value } => Condition::Has { key: key.word(), compare: *compare, value },
        Term::Is { flag, wanted } => Condition::Is { flag: flag.word(), wanted: *wanted },
        Term::In(inner) => Condition::In(inner),
        Term::Css(css) => Condition::Css(css),
    }
}
