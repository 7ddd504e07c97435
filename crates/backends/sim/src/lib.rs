//! The embedded simulated device: apps written as data, driven like any other.
//!
//! `stickpin open sim:shop` needs no browser, no network and no files. The project's tests run on
//! the same device. Its clock can stand still, its handles can have the identity grade of any
//! platform, and it can fail in named ways. It also keeps its own log of which element received
//! each input ([`ReceivedInput`]).
//!
//! ```text
//! sim:APP[/PATH][?OPTION[&OPTION]...]
//! sim:/path/to/app.toml
//! ```
//! The options are `grade=never-reused|while-alive|none`, `rest=N`, `clock=real|virtual`,
//! `fault=NAME` and `log=FILE`. `docs/sim-apps.md` describes how to write apps.
//!
//! ```
//! use stickpin_backend_sim::SimProvider;
//! use stickpin_device::Provider as _;
//!
//! let provider = SimProvider::default();
//! assert!(provider.claims("sim:shop"));
//! assert_eq!(provider.kind(), "sim");
//! ```

/// Defines an enum whose variants are words of the language.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// All words with their variants.
            pub(crate) const ALL: &[(&str, Self)] = &[$(($word, Self::$variant)),*];

            pub(crate) fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, variant)| *variant)
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
mod input_log;
mod layout;
mod library;
mod options;
mod provider;
mod query;
mod roles;
mod sequence;
mod shared_app;

pub use input_log::ReceivedInput;
pub use provider::{Probe, SimProvider};
