//! Filling a field and reading it back.

use crate::act::action_target::{ActionTarget, Actionability};
use crate::act::input;
use crate::act::outcome::ActionOutput;
use crate::api::target::Target;
use crate::command::args::ActionOptions;
use crate::command::context::Cx;
use serde_json::json;
use stickpin_device::{Action, Error, Result};
use stickpin_tree::{escape, quote};

/// The maximum number of characters that a message uses for the values that a field accepts.
const MAX_ACCEPTED_CHARS: usize = 200;

/// Fills a field and reads it back.
///
/// # Errors
/// Returns errors from resolving the target, from the guards and from [`input::check_fillable`],
/// and `FILL_MISMATCH` when the field then holds something else.
pub(crate) async fn fill(
    cx: &mut Cx,
    target: &Target,
    text: &str,
    opts: ActionOptions,
) -> Result<(ActionTarget, ActionOutput)> {
    let action = |ready: &ActionTarget| {
        input::check_fillable(ready)?;
        Ok(Action::Fill { target: ready.element_handle()?, text: text.to_owned() })
    };
    let (ready, performed) = input::aim_and_send(cx, target, Actionability::InView, opts, action).await?;
    let mut acted = ActionOutput::new("filled", &ready.description);
    if performed.unread {
        cx.warn(format!(
            "The value of {} could not be read back; run `stickpin screenshot` to see it.",
            ready.description
        ));
    }
    if let Some(value) = performed.value
        && value != text
    {
        acted.completed = performed.completed.filter(|rest| value.strip_prefix(text) == Some(rest));
        if acted.completed.is_none() && !differs_only_in_format(&value, text) {
            return Err(
                mismatch(&ready, text, &value, performed.accepts.as_deref()).dispatched(cx.dispatched())
            );
        }
        if ready.protected {
            acted.completed = None;
        } else {
            acted.value = Some(value);
        }
    }
    Ok((ready, acted))
}

/// Returns whether two values differ only in formatting: white space, separators, case. Two numbers
/// must also be equal in value, and a decimal mark of one must coincide with a separator of the
/// other.
pub(crate) fn differs_only_in_format(a: &str, b: &str) -> bool {
    let number = |s: &str| s.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    if let (Some(a), Some(b)) = (number(a), number(b))
        && a != b
    {
        return false;
    }
    let (a, b) = (NormalizedValue::of(a), NormalizedValue::of(b));
    a.text == b.text
        && !a.text.is_empty()
        && a.decimals.iter().all(|at| b.separators.contains(at))
        && b.decimals.iter().all(|at| a.separators.contains(at))
}

/// The letters and digits of a value, and the positions of the other characters between them.
#[derive(Debug, Default)]
struct NormalizedValue {
    text: Vec<char>,
    /// The indices of the characters of `text` that follow a separator.
    separators: Vec<usize>,
    /// The entries of `separators` that are decimal marks: the only `.` or the only `,` of the
    /// value, between a digit and one or two digits.
    decimals: Vec<usize>,
}

impl NormalizedValue {
    fn of(value: &str) -> Self {
        let mut bare = Self::default();
        let mut before = None;
        for c in value.chars() {
            if c.is_alphanumeric() {
                if let Some(mark) = before.take().filter(|_| !bare.text.is_empty()) {
                    bare.separators.push(bare.text.len());
                    if matches!(mark, '.' | ',') && value.matches(mark).count() == 1 {
                        bare.decimals.push(bare.text.len());
                    }
                }
                bare.text.extend(c.to_lowercase());
            } else {
                before = Some(c);
            }
        }
        let text = &bare.text;
        bare.decimals.retain(|&at| {
            let digits = text[at..].iter().take_while(|c| c.is_ascii_digit()).count();
            text[at - 1].is_ascii_digit() && (1..=2).contains(&digits)
        });
        bare
    }
}

/// Creates the error for a field whose value differs from the one that was filled in. Does not
/// repeat a secret value.
fn mismatch(ready: &ActionTarget, filled: &str, reads: &str, accepts: Option<&str>) -> Error {
    let words = &ready.description;
    let hint = match accepts {
        Some(accepts) => {
            format!(
                "the field accepts {}; fill in such a value, or clear the field with an empty `fill` and use `type`",
                escape(accepts, MAX_ACCEPTED_CHARS)
            )
        }
        None => "the app may refuse or rewrite this value; clear the field with an empty `fill`, then enter \
                 the text with `type`"
            .to_owned(),
    };
    if ready.protected {
        let count = reads.chars().count();
        let plural = if count == 1 { "" } else { "s" };
        let message = format!("{words} holds {count} character{plural}, not the text that was filled in");
        return Error::fill_mismatch(message).hint(hint);
    }
    Error::fill_mismatch(format!("{words} reads {} after {} was filled in", quote(reads), quote(filled)))
        .hint(hint)
        .details(json!({ "value": reads }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_is_no_difference_and_content_is() {
        assert!(differs_only_in_format("1,234", "1234"));
        assert!(differs_only_in_format("+41 79 123", "4179123"));
        assert!(differs_only_in_format("de-1234", "DE 1234"));
        assert!(differs_only_in_format("1,234.5", "1234.5"));
        assert!(!differs_only_in_format("5", "-5"));
        assert!(!differs_only_in_format("15", "1.5"));
        assert!(!differs_only_in_format("$150", "$1.50"));
        assert!(!differs_only_in_format("15 kg", "1,5 kg"));
        assert!(differs_only_in_format("No 5", "No.5"));
        assert!(differs_only_in_format("$1,234.50", "1234.50"));
        assert!(differs_only_in_format("1.234,50 €", "1234,50€"));
        assert!(differs_only_in_format("12:30", "12.30"));
        assert!(differs_only_in_format("241226", "24.12.26"));
        assert!(!differs_only_in_format("123", "1234"));
        assert!(!differs_only_in_format("", "---"));
    }
}
