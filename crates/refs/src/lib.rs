//! The grammar of refs and pins: parse, format, strip.
//!
//! A *ref* is the short name of one element with one meaning: `@e12`. A *pin* behind it, `@e12~s482913`, says which
//! stored tree the client had in front of it when it was given the ref, or when the ref was renewed for it.
//! Numbers are identity, pins are provenance.
//!
//! ```text
//! ref   = ["@"] "e" digits          @e12, e12
//! pin   = "~s" digits               ~s3
//! token = ref [pin]                 surrounding white space ignored
//! ```
//!
//! ```
//! use stickpin_refs::RefToken;
//! let token: RefToken = "e12~s3".parse().unwrap();
//! assert_eq!(token.r#ref.get(), 12);
//! assert_eq!(token.pin.unwrap().get(), 3);
//! assert_eq!(token.to_string(), "@e12~s3");
//! ```
//!
//! Invariant: nothing here knows a node, a session, a file, a clock or a source of randomness.

mod error;
mod grammar;
mod types;

pub use error::{HINT, ParseError, ParseErrorKind};
pub use grammar::{looks_like_ref, strip};
pub use types::{Generation, Ref, RefToken};
