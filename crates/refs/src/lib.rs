//! Parses, formats and strips refs and pins.
//!
//! A *ref* is the short name of one element with one meaning: `@e12`. A *pin* after it, as in
//! `@e12~s482913`, names the stored tree that the client had when the ref was issued or renewed.
//! The number of a ref identifies the element; the pin records from which tree the client got the
//! ref.
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
//! assert_eq!(token.id.get(), 12);
//! assert_eq!(token.pin.unwrap().get(), 3);
//! assert_eq!(token.to_string(), "@e12~s3");
//! ```
//!
//! Invariant: this crate uses no nodes, sessions, files, clocks or randomness.

mod error;
mod grammar;
mod types;

pub use error::{HINT, ParseError, ParseErrorKind};
pub use grammar::{looks_like_ref, strip};
pub use types::{Generation, Ref, RefToken};
