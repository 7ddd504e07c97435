//! The parser for refs and pins. Accepts ASCII digits without a sign; a number that does not fit is
//! an error and never wraps.

use crate::error::{ParseError, ParseErrorKind as Kind};
use crate::types::{Generation, Ref, RefToken};

/// Matches `["@"] "e" digits`; returns the digits and the rest.
fn split_ref(input: &str) -> Option<(&str, &str)> {
    split_digits(input.strip_prefix('@').unwrap_or(input).strip_prefix('e')?)
}

/// Matches `"~s" digits`; returns the digits and the rest.
fn split_pin(input: &str) -> Option<(&str, &str)> {
    split_digits(input.strip_prefix("~s")?)
}

fn split_digits(input: &str) -> Option<(&str, &str)> {
    let end = input.find(|c: char| !c.is_ascii_digit()).unwrap_or(input.len());
    (end > 0).then(|| input.split_at(end))
}

pub(crate) fn parse(text: &str) -> Result<RefToken, ParseError> {
    let token = text.trim();
    let at = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let fail = |kind, part: &str| ParseError::new(kind, at(part)..at(part) + part.len(), text);

    let (digits, rest) = split_ref(token).ok_or_else(|| fail(Kind::NotARef, token))?;
    let number = digits.parse::<u32>().map_err(|_| fail(Kind::RefTooLarge, digits))?;
    let r#ref = Ref::new(number).ok_or_else(|| fail(Kind::Zero, digits))?;
    if rest.is_empty() {
        return Ok(RefToken::plain(r#ref));
    }
    if !rest.starts_with('~') {
        return Err(fail(Kind::Trailing, rest));
    }
    let found = split_pin(rest).filter(|(_, after)| after.is_empty());
    let (digits, _) = found.ok_or_else(|| fail(Kind::MalformedPin, rest))?;
    let number = digits.parse::<u64>().map_err(|_| fail(Kind::GenerationTooLarge, digits))?;
    Ok(RefToken::pinned(r#ref, Generation::new(number)))
}

/// Removes the pin from a well-formed pinned token and returns any other text unchanged. A
/// malformed suffix stays, so that the parser rejects it later.
///
/// ```
/// use stickpin_refs::strip;
/// assert_eq!(strip("@e12~s3"), "@e12");
/// assert_eq!(strip("@e12"), "@e12");
/// assert_eq!(strip("@e12~3"), "@e12~3");
/// assert_eq!(strip("button \"~s3\""), "button \"~s3\"");
/// ```
#[must_use]
pub fn strip(text: &str) -> &str {
    match parse(text) {
        Ok(RefToken { pin: Some(_), .. }) => {
            let token = text.trim();
            token.split_once('~').map_or(token, |(plain, _)| plain)
        }
        _ => text,
    }
}

/// Returns whether a text was meant as a ref, well-formed or not. Arguments that accept refs and
/// selectors then parse it as a ref, so that a typo like `@e12~3` or `@handle` is an error rather
/// than a selector without a match.
///
/// ```
/// use stickpin_refs::looks_like_ref;
/// assert!(["@e12", "e12", " e12~x3", "@handle", "@", "~s3"].into_iter().all(looks_like_ref));
/// assert!(!["e", "email", "e12b", "button \"@e1\"", "12", ""].into_iter().any(looks_like_ref));
/// ```
#[must_use]
pub fn looks_like_ref(text: &str) -> bool {
    let token = text.trim();
    let bare = split_ref(token).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with('~'));
    token.starts_with('@') || bare || split_pin(token).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn token(number: u32, pin: Option<u64>) -> RefToken {
        RefToken { id: Ref::new(number).unwrap(), pin: pin.map(Generation::new) }
    }

    #[test]
    fn valid_tokens_parse() {
        for (text, expected) in [
            ("@e12", token(12, None)),
            ("e12", token(12, None)),
            ("@e12~s3", token(12, Some(3))),
            ("e12~s3", token(12, Some(3))),
            ("@e7~s0", token(7, Some(0))),
            ("@e7~s142", token(7, Some(142))),
            (" \t@e7~s142\n", token(7, Some(142))),
            ("@e007", token(7, None)),
            ("@e4294967295~s18446744073709551615", token(u32::MAX, Some(u64::MAX))),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_tokens_are_refused() {
        for (text, kind, span) in [
            ("@e12~", Kind::MalformedPin, "~"),
            ("@e12~s", Kind::MalformedPin, "~s"),
            ("@e12~3", Kind::MalformedPin, "~3"),
            ("@e12~x3", Kind::MalformedPin, "~x3"),
            ("@e12~s3x", Kind::MalformedPin, "~s3x"),
            ("@e12~s-3", Kind::MalformedPin, "~s-3"),
            ("@e12~s+3", Kind::MalformedPin, "~s+3"),
            ("@e12~s3~s4", Kind::MalformedPin, "~s3~s4"),
            ("@e12~s٣", Kind::MalformedPin, "~s٣"),
            ("~s3", Kind::NotARef, "~s3"),
            ("@", Kind::NotARef, "@"),
            ("@e", Kind::NotARef, "@e"),
            ("@e0", Kind::Zero, "0"),
            ("@e00~s3", Kind::Zero, "00"),
            ("12", Kind::NotARef, "12"),
            ("", Kind::NotARef, ""),
            ("  ", Kind::NotARef, ""),
            ("@handle", Kind::NotARef, "@handle"),
            ("@@e1", Kind::NotARef, "@@e1"),
            ("@E1", Kind::NotARef, "@E1"),
            ("@e-1", Kind::NotARef, "@e-1"),
            ("@e١", Kind::NotARef, "@e١"),
            (" @e1 2 ", Kind::Trailing, " 2"),
            ("@e1 ~s2", Kind::Trailing, " ~s2"),
            ("@e4294967296", Kind::RefTooLarge, "4294967296"),
            ("@e1~s18446744073709551616", Kind::GenerationTooLarge, "18446744073709551616"),
        ] {
            let error = text.parse::<RefToken>().unwrap_err();
            assert_eq!((error.kind, &text[error.span.clone()]), (kind, span), "{text}");
            assert_eq!(strip(text), text);
        }
    }

    #[test]
    fn hint_shows_form_and_source_of_the_number() {
        let hint = "@e12~".parse::<RefToken>().unwrap_err().hint();
        assert!(hint.contains("@e12~s482913") && hint.contains("refsGeneration"), "{hint}");
        assert!(hint.split_whitespace().any(|w| w.trim_end_matches(',').parse::<RefToken>().is_ok()));
    }

    #[test]
    fn serde_uses_written_form_and_rejects_malformed_tokens() {
        use serde::de::IntoDeserializer;
        use serde::de::value::{Error, StringDeserializer};
        let de = |s: &str| {
            let de: StringDeserializer<Error> = s.to_owned().into_deserializer();
            <RefToken as serde::Deserialize>::deserialize(de)
        };
        assert_eq!(de("e12~s3"), Ok(token(12, Some(3))));
        assert!(de("@e12~3").unwrap_err().to_string().contains("is not a pin"));
    }

    fn any_token() -> impl Strategy<Value = RefToken> {
        (1..=u32::MAX, proptest::option::of(any::<u64>())).prop_map(|(n, pin)| token(n, pin))
    }

    /// Generates text near the grammar, well-formed and malformed.
    fn near() -> impl Strategy<Value = String> {
        prop_oneof![
            "[@ ]{0,2}e{0,2}[0-9]{0,11}(~s?[0-9]{0,21}){0,2}[x~ ]{0,2}",
            any_token().prop_map(|t| t.to_string()),
            any::<String>(),
        ]
    }

    proptest! {
        #[test]
        fn formatted_token_parses_back(token in any_token()) {
            prop_assert_eq!(token.to_string().parse(), Ok(token));
        }

        #[test]
        fn parsed_token_formats_canonically(text in near()) {
            if let Ok(token) = text.parse::<RefToken>() {
                let written = token.to_string();
                prop_assert_eq!(written.parse(), Ok(token));
                // The input differs at most in white space, the `@` and leading zeros.
                let typed = text.trim().trim_start_matches('@').replace("~s", " ").replace('e', "");
                let numbers: Vec<u64> = typed.split(' ').map(|n| n.parse().unwrap()).collect();
                let expected: Vec<u64> =
                    std::iter::once(u64::from(token.id.get())).chain(token.pin.map(Generation::get)).collect();
                prop_assert_eq!(numbers, expected);
                prop_assert!(looks_like_ref(&text));
            }
        }

        #[test]
        fn strip_returns_plain_ref_or_unchanged_text(text in near()) {
            match text.parse::<RefToken>() {
                Ok(token) if token.pin.is_some() => {
                    prop_assert_eq!(strip(&text).parse(), Ok(RefToken::plain(token.id)));
                    prop_assert!(!strip(&text).contains('~'));
                }
                _ => prop_assert_eq!(strip(&text), text.as_str()),
            }
        }

        #[test]
        fn error_span_lies_inside_the_text(text in near()) {
            if let Err(error) = text.parse::<RefToken>() {
                prop_assert!(text.get(error.span.clone()).is_some());
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }
}
