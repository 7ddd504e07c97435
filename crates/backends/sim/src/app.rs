//! Apps written as data: the file, the views, the state, and how input changes it.

/// An enum whose variants are words of the language.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            pub(crate) fn named(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

mod check;
pub(crate) mod dom;
mod element;
pub(crate) mod eval;
pub(crate) mod expr;
mod lex;
pub(crate) mod model;
pub(crate) mod nav;
pub(crate) mod render;
mod run;
pub(crate) mod script;
pub(crate) mod sim;
pub(crate) mod state;
pub(crate) mod time;
pub(crate) mod value;
pub(crate) mod view;
pub(crate) mod words;
