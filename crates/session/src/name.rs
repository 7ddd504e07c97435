//! Session names. They double as directory names, so path traversal is rejected.

/// The maximum length of a session name in bytes.
pub const MAX_SESSION_NAME: usize = 64;

/// Words that have a special meaning in place of a session name.
pub const RESERVED_SESSION_NAMES: &[&str] = &["all", "any", "next", "room", "self"];

/// Returns whether `name` can name a session: up to 64 characters of `a-z`, `0-9`, `-`, `_` and
/// single dots, beginning with a letter or digit, and not a reserved word.
#[must_use]
pub fn is_session_name(name: &str) -> bool {
    let small = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let begins = name.bytes().next().is_some_and(small);
    let holds = name.bytes().all(|b| small(b) || b"._-".contains(&b)) && !name.contains("..");
    begins && holds && name.len() <= MAX_SESSION_NAME && !RESERVED_SESSION_NAMES.contains(&name)
}
