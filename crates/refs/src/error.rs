//! Errors for text that is not a ref.

use std::ops::Range;

/// The hint for every malformed ref, in every front end.
pub const HINT: &str = "a ref looks like @e12, or @e12~s482913 with a pin: take the number after ~s from \
                        `refsGeneration` of the response that returned the ref, or omit the pin";

/// Text that is not a ref. Nothing is sent to a device for such text.
///
/// ```
/// use stickpin_refs::{ParseErrorKind, RefToken};
/// let error = "@e12~x3".parse::<RefToken>().unwrap_err();
/// assert_eq!(error.kind, ParseErrorKind::MalformedPin);
/// assert_eq!(&"@e12~x3"[error.span.clone()], "~x3");
/// assert_eq!(error.to_string(), "`~x3` in `@e12~x3` is not a pin");
/// assert!(error.hint().contains("@e12~s482913"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct ParseError {
    /// The kind of error.
    pub kind: ParseErrorKind,
    /// The faulty part, as a byte range of the original text.
    pub span: Range<usize>,
    text: Box<str>,
}

/// The ways in which text can fail to be a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The text does not start with `e` or `@e` followed by a number.
    NotARef,
    /// The number is 0, but refs count from 1.
    Zero,
    /// The number of the ref does not fit into 32 bits.
    RefTooLarge,
    /// The text after the ref begins with `~`, but is not `~s` and a number.
    MalformedPin,
    /// The number of the generation does not fit into 64 bits.
    GenerationTooLarge,
    /// Text that does not begin with `~` follows the ref.
    Trailing,
}

impl ParseError {
    pub(crate) fn new(kind: ParseErrorKind, span: Range<usize>, text: &str) -> Self {
        Self { kind, span, text: text.into() }
    }

    /// Returns the hint, which shows an example and explains where the number of a pin comes from.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        HINT
    }

    fn sentence(&self) -> String {
        let text = quoted(&self.text);
        let part = quoted(&self.text[self.span.clone()]);
        match self.kind {
            ParseErrorKind::NotARef => format!("`{text}` is not a ref"),
            ParseErrorKind::Zero => format!("`{text}` is not a ref: refs count from 1"),
            ParseErrorKind::RefTooLarge => format!("`{text}` is not a ref: {part} is too large"),
            ParseErrorKind::MalformedPin => format!("`{part}` in `{text}` is not a pin"),
            ParseErrorKind::GenerationTooLarge => {
                format!("`{text}` is not a ref: the generation {part} is too large")
            }
            ParseErrorKind::Trailing => format!("unexpected `{part}` after the ref in `{text}`"),
        }
    }
}

/// Returns the text in a form that is safe for messages: one line, control characters escaped, cut
/// after 60 characters.
fn quoted(text: &str) -> String {
    const MAX: usize = 60;
    let mut out = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == MAX {
            out.push('…');
            break;
        }
        // A debug escape would also escape quotes, which are harmless between backticks.
        let plain = matches!(c, '"' | '\'') || c.escape_debug().len() == 1;
        if plain { out.push(c) } else { out.extend(c.escape_default()) }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::RefToken;

    #[test]
    fn error_message_is_one_bounded_line_for_any_input() {
        let long = format!("@e1~{}", "x".repeat(5000));
        let message = long.parse::<RefToken>().unwrap_err().to_string();
        assert!(message.len() < 200, "{message}");
        let message = "@e1\u{1b}[31m\u{202e}\n".parse::<RefToken>().unwrap_err().to_string();
        assert_eq!(message, r"unexpected `\u{1b}[31m\u{202e}` after the ref in `@e1\u{1b}[31m\u{202e}\n`");
    }
}
