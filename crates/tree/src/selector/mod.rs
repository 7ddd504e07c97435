//! Selectors: how a person or a script names elements without a ref.
//!
//! ```text
//! selector = alternative *( "||" alternative )      the first that matches anything wins
//! alternative = term *( space term )                all must hold
//! term     = key "=" value                          whole, case-sensitive
//!          | key "~=" value                         a part of it, ignoring case
//!          | key "^=" value                         its beginning, case-sensitive
//!          | key "$=" value                         its end, case-sensitive
//!          | flag [ "=" ( "true" | "false" ) ]
//!          | "nth=" number                          of what the other terms match, counted from 1
//!          | "in(" selector ")"                     inside something that matches
//!          | "css=" value                           answered by the device
//!          | quoted                                 short for text=quoted
//! key      = "role" "id" "text" "label" "value" "placeholder" "url" "app" "window" "row"
//! flag     = "visible" "hidden" "enabled" "disabled" "editable" "focused"
//!            "selected" "checked" "expanded"
//! value    = quoted | 1*( any character but white space " ( ) | \ )
//! quoted   = '"' ... '"' with the escapes \" \\ \n \r \t \u{hex}
//! ```
//!
//! The help topic `selectors` describes selectors for users.

mod error;
mod format;
mod matching;
mod naming;
mod nearest;
mod parse;
mod reduce;
mod relax;
mod terms;
#[cfg(test)]
mod tests;
mod text;

pub use error::SelectorError;
pub use matching::CssAnswers;
pub use nearest::nearest;
pub(crate) use nearest::text_similarity;
pub use reduce::reduce;
pub use relax::SuggestionReason;
pub use terms::Condition;

use crate::Role;
use std::num::NonZeroU32;

/// A parsed selector.
///
/// ```
/// use stickpin_tree::Selector;
/// let selector: Selector = r#"role=button "Save" in(role=dialog) || id=save"#.parse().unwrap();
/// assert_eq!(selector.to_string(), "role=button text=Save in(role=dialog) || id=save");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// The alternatives; never empty.
    pub(crate) alternatives: Vec<Alternative>,
}

/// Terms that must all hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Alternative {
    /// The terms; empty only if there is an `nth`.
    pub(crate) terms: Vec<Term>,
    /// The number of the match to take, counted from 1.
    pub(crate) nth: Option<NonZeroU32>,
}

/// One condition of an alternative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Term {
    /// `role=button`
    Role(Role),
    /// `label="Save"`, `url~=cart`
    Has { key: Key, compare: Compare, value: String },
    /// `checked`, `checked=false`
    Is { flag: Flag, wanted: bool },
    /// `in(role=dialog)`
    In(Selector),
    /// `css="main > a"`
    Css(String),
}

/// The comparison of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// `=`: the whole text, case-sensitive.
    Equals,
    /// `~=`: a part of the text, ignoring case.
    Contains,
    /// `^=`: the beginning, case-sensitive.
    StartsWith,
    /// `$=`: the end, case-sensitive.
    EndsWith,
}

impl Compare {
    pub(crate) const ALL: [Self; 4] = [Self::Contains, Self::StartsWith, Self::EndsWith, Self::Equals];

    /// Returns the operator as written.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Equals => "=",
            Self::Contains => "~=",
            Self::StartsWith => "^=",
            Self::EndsWith => "$=",
        }
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub(crate) const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            pub(crate) fn of(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|k| k.word() == word)
            }
        }
    };
}

words! {
    /// The property that a term with a value compares.
    Key {
        /// The ARIA role.
        Role = "role",
        /// The developer's stable id: an HTML id, test id, resource-id or accessible-id.
        Id = "id",
        /// Label, value or text content.
        Text = "text",
        /// The accessible name.
        Label = "label",
        /// The value.
        Value = "value",
        /// The placeholder of a text field.
        Placeholder = "placeholder",
        /// The target of a link, otherwise the address of the element's document.
        Url = "url",
        /// The name of the application that the element belongs to.
        App = "app",
        /// The title of the element's window or page.
        Window = "window",
        /// A text in the element's row, to distinguish the element from similar ones.
        Row = "row",
    }
}

words! {
    /// A property that an element has or lacks, tested by a term such as `checked`.
    Flag {
        Visible = "visible",
        Hidden = "hidden",
        Enabled = "enabled",
        Disabled = "disabled",
        Editable = "editable",
        Focused = "focused",
        Selected = "selected",
        Checked = "checked",
        Expanded = "expanded",
    }
}

impl Selector {
    /// Selects elements whose label, value or text contains `text`, ignoring case. Used by `find
    /// TEXT`.
    #[must_use]
    pub fn containing(text: &str) -> Self {
        let term = Term::Has { key: Key::Text, compare: Compare::Contains, value: text.to_owned() };
        Self { alternatives: vec![Alternative { terms: vec![term], nth: None }] }
    }

    /// Returns whether `query` is a selector rather than plain text: it parses, and every
    /// alternative contains a term with `=` or an `in(…)`. A quoted text alone or a flag alone
    /// (`checked`) is plain text.
    #[must_use]
    pub fn is_selector(query: &str) -> bool {
        parse::parse_selector(query).is_ok_and(|(_, keyed)| keyed)
    }

    /// Returns the `css=` terms, which only the device can answer. Pass its answers to
    /// [`Selector::matches_with`]. If there are no such terms, [`Selector::matches`] suffices.
    #[must_use]
    pub fn css(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.collect_css(&mut found);
        found
    }

    fn collect_css<'s>(&'s self, found: &mut Vec<&'s str>) {
        for term in self.alternatives.iter().flat_map(|a| &a.terms) {
            match term {
                Term::Css(css) if !found.contains(&css.as_str()) => found.push(css),
                Term::In(inner) => inner.collect_css(found),
                _ => {}
            }
        }
    }
}
