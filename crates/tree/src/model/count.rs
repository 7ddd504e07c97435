//! Formats counts with their nouns.

use std::fmt;

/// Returns a count with its noun, which gets an `s` unless the count is one.
///
/// ```
/// use stickpin_tree::format_count;
/// assert_eq!(format_count(1, "step"), "1 step");
/// assert_eq!(format_count(3, "more step"), "3 more steps");
/// ```
#[must_use]
pub fn format_count<N: fmt::Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    let ending = if n == N::from(1) { "" } else { "s" };
    format!("{n} {noun}{ending}")
}
