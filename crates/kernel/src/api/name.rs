//! Session names. They double as directory names, so path traversal is rejected.

use stickpin_device::{Error, Result};

/// The maximum length of a name in bytes.
const LONGEST: usize = 64;

/// Reserved words.
const TAKEN: &[&str] = &["all", "any", "next", "room", "self"];

/// Checks that `name` can name a session.
///
/// # Errors
/// Returns `INVALID_ARGS` for any other name.
pub(crate) fn check(name: &str) -> Result<()> {
    let small = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let begins = name.bytes().next().is_some_and(small);
    let holds = name.bytes().all(|b| small(b) || b"._-".contains(&b)) && !name.contains("..");
    if begins && holds && name.len() <= LONGEST && !TAKEN.contains(&name) {
        return Ok(());
    }
    let why = format!("{} cannot name a session", stickpin_tree::quote(name));
    Err(Error::invalid_args(why).hint(format!(
        "use at most {LONGEST} of a-z, 0-9, `-`, `_` and single dots, beginning with a letter or digit, like login-2; reserved: {}",
        TAKEN.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_device::ErrorCode;

    #[test]
    fn only_what_is_a_plain_file_name_is_a_name() {
        for name in ["a", "shop-3fa9", "9", "a.b_c-d", &"x".repeat(64)] {
            assert!(check(name).is_ok(), "{name}");
        }
        for name in
            ["", "..", "../x", "a/b", "a..b", ".a", "-a", "A", "a b", "ä", "a\0", "all", &"x".repeat(65)]
        {
            assert_eq!(check(name).unwrap_err().code, ErrorCode::InvalidArgs, "{name:?}");
        }
    }
}
