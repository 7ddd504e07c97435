//! The check of session names, with an error that states the rules.

use stickpin_device::{Error, Result};
use stickpin_session::{MAX_SESSION_NAME, RESERVED_SESSION_NAMES, is_session_name};

/// Checks that `name` can name a session.
///
/// # Errors
/// Returns `INVALID_ARGS` for any other name.
pub(crate) fn check(name: &str) -> Result<()> {
    if is_session_name(name) {
        return Ok(());
    }
    let why = format!("{} is not a valid session name", stickpin_tree::quote(name));
    Err(Error::invalid_args(why).hint(format!(
        "use at most {MAX_SESSION_NAME} characters from a-z, 0-9, `-`, `_` and single dots, starting with a letter or digit, such as `login-2`; these names are reserved: {}",
        RESERVED_SESSION_NAMES.join(", ")
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
