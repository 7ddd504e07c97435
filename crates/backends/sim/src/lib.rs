//! The embedded device: apps written as data, driven like any other.
//!
//! `stickpin open sim:shop` needs no browser, no network and no files. The same device is what the project's tests
//! run on: its clock can stand still, its handles can promise as much or as little as those of any platform, it
//! can fail in named ways, and it keeps an account of its own of what reached which element ([`Received`]).
//!
//! ```text
//! sim:APP[/PATH][?grade=never-reused|while-alive|none&rest=N&clock=real|virtual&fault=NAME&log=FILE]
//! sim:/path/to/app.toml
//! ```
//! How apps are written stands in `docs/sim-apps.md`.

/// An enum whose variants are words of the language.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// All words with what they say.
            pub(crate) const ALL: &[(&str, Self)] = &[$(($word, Self::$variant)),*];

            pub(crate) fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, said)| *said)
            }
        }
    };
}

mod act;
mod aim;
mod app;
mod capture;
mod device;
mod draw;
mod faults;
mod format;
mod guard;
mod input;
mod layout;
mod library;
mod options;
mod provider;
mod query;
mod roles;
mod sequence;
mod shared;
mod truth;

pub use provider::{Probe, SimProvider};
pub use truth::Received;
