//! Command lines and options that a hint names in backticks: "run `stickpin snapshot -i`".
//!
//! Hints are written for the command line. Other front ends use [`rewrite`] to name the same
//! command in their own syntax.

use crate::grammar::{is_on_by_default, kebab_case, long_name};
use crate::{ParsedArguments, ResolvedCommand, read, resolve_command, split};
use serde_json::{Map, Value};
use stickpin_kernel::registry::{COMMANDS, CommandDefinition};
use stickpin_kernel::schema::Kind;
use stickpin_kernel::{Result, registry};

/// A command or an option in a hint.
#[derive(Debug, Clone, PartialEq)]
pub enum Mention<'h> {
    /// The words after `stickpin`.
    Line(&'h str),
    /// An option, with its value if it has one, such as `--timeout MS`.
    Option(&'h str),
}

/// A command line in a hint: the definition, the input, and the value of `--session`, if given.
pub type MentionedCommand = (&'static CommandDefinition, Map<String, Value>, Option<String>);

/// Replaces each command line and each option in a hint with what `replace` returns for it. If
/// `replace` returns `None`, the command line or option is left unchanged. A command line for a
/// person or for the agent's shell is never replaced.
#[must_use]
pub fn rewrite(hint: &str, mut replace: impl FnMut(Mention<'_>) -> Option<String>) -> String {
    let mut out = String::with_capacity(hint.len());
    // Every second part is in backticks.
    let parts: Vec<&str> = hint.split('`').collect();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push('`');
        }
        let is_in_a_shell = out.ends_with("a person to run `")
            || parts.get(at + 1).is_some_and(|after| after.starts_with(" in the agent's shell"));
        let mention = match part.strip_prefix("stickpin ") {
            Some(line) => (!is_in_a_shell).then_some(Mention::Line(line)),
            None => part.starts_with("--").then_some(Mention::Option(part)),
        };
        let new = mention.filter(|_| at % 2 == 1).and_then(&mut replace);
        out.push_str(new.as_deref().unwrap_or(part));
    }
    out
}

/// Parses a line that names a command of the registry or of `others`. Returns the definition, the
/// input and the named session; `None` for a line without a command, and for a request for help.
///
/// # Errors
/// Returns `INVALID_ARGS` for any other command, and for a line that the command's grammar refuses.
pub fn line(line: &str, others: &[&'static CommandDefinition]) -> Result<Option<MentionedCommand>> {
    let words = split(line)?;
    let Some(ResolvedCommand { name, args }) = resolve_command(&words, others)? else { return Ok(None) };
    let definition = match others.iter().find(|definition| definition.spec.name == name) {
        Some(definition) => *definition,
        None => registry::lookup(name).map(|entry| &**entry)?,
    };
    Ok(match read(definition, args)? {
        ParsedArguments::Input(input, options) => Some((definition, input, options.session)),
        ParsedArguments::Help(_) => None,
    })
}

/// Returns the argument that an option such as `--timeout MS` sets, and its value as written. The
/// value of a switch is `true` or `false`; an optional value that is missing is `true`. Returns
/// `None` for an option that no command has, and for one that sets no argument, such as `--json`.
#[must_use]
pub fn option(text: &str) -> Option<(String, String)> {
    let (flag, value) = text.split_once([' ', '=']).unwrap_or((text, ""));
    let long = flag.strip_prefix("--")?;
    let fields = || COMMANDS.iter().flat_map(|entry| entry.fields()).filter(|f| f.positional.is_none());
    if let Some(field) = fields().find(|field| kebab_case(&long_name(field)) == long) {
        let value = match (&field.kind, value) {
            (Kind::Bool, "") => (!is_on_by_default(field)).to_string(),
            (_, "") if field.optional_value => "true".to_owned(),
            (_, value) => value.to_owned(),
        };
        return Some((field.name.clone(), value));
    }
    match long {
        "session" => Some(("session".to_owned(), value.to_owned())),
        "state-dir" => Some(("stateDir".to_owned(), value.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_for_a_shell_is_not_rewritten() {
        let never = |hint: &str| assert_eq!(rewrite(hint, |_| Some("a call".to_owned())), hint);
        never("ask a person to run `stickpin log repair shop --at-line 2 --quarantine`");
        never("run `stickpin identity link` in the agent's shell");
        let hint =
            "run `stickpin identity link` in the agent's shell, then `stickpin identity link CODE` here";
        let call = rewrite(hint, |_| Some("a call".to_owned()));
        assert_eq!(call, "run `stickpin identity link` in the agent's shell, then `a call` here");
    }

    #[test]
    fn only_what_stands_in_backticks_is_rewritten() {
        let mut seen = Vec::new();
        let hint = "run `stickpin wait stable`, use `--force` or `press`; not stickpin get url";
        let new = rewrite(hint, |mention| {
            seen.push(format!("{mention:?}"));
            matches!(mention, Mention::Line(_)).then(|| "X".to_owned())
        });
        assert_eq!(new, "run `X`, use `--force` or `press`; not stickpin get url");
        assert_eq!(seen, [r#"Line("wait stable")"#, r#"Option("--force")"#]);
    }

    #[test]
    fn options_name_their_arguments() {
        let set = |text: &str| option(text).map(|(name, value)| format!("{name}={value}"));
        assert_eq!(set("--timeout MS").as_deref(), Some("timeout=MS"));
        assert_eq!(set("--allow-changed").as_deref(), Some("allowChanged=true"));
        assert_eq!(set("--session NAME").as_deref(), Some("session=NAME"));
        assert_eq!(set("--no-such-thing"), None);
    }
}
