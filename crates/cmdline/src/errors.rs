//! Converts clap's errors into the error type of the workspace.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error as Complaint};
use stickpin_kernel::Error;

/// Converts an error about a command's arguments into `INVALID_ARGS`, with the usage in its hint.
#[must_use]
pub fn invalid_args(error: &Complaint, command: &mut Command) -> Error {
    let name = command.get_bin_name().unwrap_or("stickpin").trim_start_matches("stickpin ").to_owned();
    let text = |kind| error.get(kind).map(words).unwrap_or_default();
    let (arg, value) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue));
    let option = arg.split_whitespace().next().unwrap_or_default();
    let message = match error.kind() {
        ErrorKind::MissingRequiredArgument => format!("`{name}` needs {arg}"),
        ErrorKind::UnknownArgument if option.starts_with('-') => format!("`{name}` has no option `{option}`"),
        ErrorKind::UnknownArgument => format!("`{name}` does not expect another argument: {option:?}"),
        ErrorKind::InvalidValue if value.is_empty() => format!("`{arg}` of `{name}` needs a value"),
        ErrorKind::InvalidValue => {
            format!("`{arg}` of `{name}`: {value:?} is not one of {}", text(ContextKind::ValidValue))
        }
        ErrorKind::TooManyValues => format!("`{option}` of `{name}` does not accept the value {value:?}"),
        ErrorKind::NoEquals => format!("`{option}` of `{name}` needs `=` before its value"),
        ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
            format!("`{option}` of `{name}` needs a value")
        }
        ErrorKind::ArgumentConflict => match text(ContextKind::PriorArg) {
            other if other.is_empty() => format!("`{arg}` of `{name}` conflicts with another argument"),
            other => format!("`{arg}` of `{name}` cannot be combined with `{other}`"),
        },
        _ => format!("`{name}`: invalid arguments"),
    };
    let suggestions = [ContextKind::SuggestedArg, ContextKind::SuggestedValue].map(text);
    let near = suggestions.iter().find(|near| !near.is_empty());
    let suggestion = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").split_whitespace().collect::<Vec<_>>().join(" ");
    Error::invalid_args(message).hint(format!("{suggestion}usage: {usage}"))
}

fn words(value: &ContextValue) -> String {
    let words = match value {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(texts) => texts.join(", "),
        ContextValue::StyledStr(text) => text.to_string(),
        ContextValue::StyledStrs(texts) => {
            texts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    };
    // clap writes placeholders in brackets; in a sentence, capitals are enough.
    words.replace(['<', '>'], "")
}
