//! Converts words to a command of the registry with its input.
//!
//! [`read`] only applies the grammar; the kernel checks the values when the command is called.
//! [`parse`] reads lines that run later, in scripts and batches. It also checks the values of these
//! lines, so that a script with a bad line is refused, with the number of that line, before its
//! first step runs.

use crate::options::{self, Options};
use crate::resolve;
use crate::{errors, grammar, points};
use clap::error::ErrorKind;
use serde_json::{Map, Value, json};
use stickpin_kernel::registry::{self, CommandDefinition, Entry};
use stickpin_kernel::schema::{Kind, NestedTargets};
use stickpin_kernel::{Error, Result};

/// A parsed and checked command line of the registry.
#[derive(Debug, Clone)]
pub struct CommandLine {
    /// The command that the line names.
    pub entry: &'static Entry,
    /// The input by field name.
    pub input: Map<String, Value>,
    /// The values of the common options.
    pub options: Options,
}

/// The result of reading a command's arguments.
#[derive(Debug)]
pub enum ParsedArguments {
    /// The input and the common options.
    Input(Map<String, Value>, Options),
    /// The help text, for `-h` or `--help`.
    Help(String),
}

/// Reads the arguments of a command that has a definition, without the command's name. The values
/// are unchecked, except for steps that are written as command lines.
///
/// # Errors
/// Returns `INVALID_ARGS`, which names the argument or has the usage as its hint.
pub fn read(definition: &CommandDefinition, args: Vec<String>) -> Result<ParsedArguments> {
    let mut command = grammar::command_grammar(definition);
    let args =
        points::join_points(definition.fields(), args, |option| grammar::takes_value(&command, option));
    let matches = match command.try_get_matches_from_mut(args) {
        Ok(matches) => matches,
        Err(e) if e.kind() == ErrorKind::DisplayHelp => return Ok(ParsedArguments::Help(e.to_string())),
        Err(e) => return Err(errors::invalid_args(&e, &mut command)),
    };
    let mut input = grammar::input(definition.fields(), &matches);
    for step in step_lines(definition, &mut input).filter(|step| step.as_str() != Some(STDIN)) {
        if let Value::String(line) = step {
            *step = batch_step(line)?;
        }
    }
    let options = options::read(&matches)?;
    Ok(ParsedArguments::Input(input, options))
}

/// Refuses `--follow`, `--stdin` and `--show`, for a command that a shell does not run directly:
/// nothing could end such a command, and it has no standard input and no terminal.
///
/// # Errors
/// Returns `INVALID_ARGS` if one of the options is set.
pub fn refuse_following(options: &Options) -> Result<()> {
    let refused = [
        (options.stdin, "--stdin", "write the text as an argument"),
        (options.show, "--show", "omit `--show`; the response names the picture file"),
        (options.follow, "--follow", "use `--wait`, and continue with `--after`"),
    ];
    let Some((_, name, hint)) = refused.into_iter().find(|(given, ..)| *given) else { return Ok(()) };
    let message = format!("`{name}` works only for a command that is run directly in a shell");
    Err(Error::invalid_args(message).hint(hint))
}

/// The value that denotes the steps on standard input.
pub const STDIN: &str = "-";

/// Returns the lists of steps in an input.
fn step_lists<'i>(
    definition: &CommandDefinition,
    input: &'i mut Map<String, Value>,
) -> impl Iterator<Item = &'i mut Vec<Value>> {
    let names: Vec<String> = definition
        .fields()
        .iter()
        .filter(|f| f.nested_targets == Some(NestedTargets::Steps))
        .map(|f| f.name.clone())
        .collect();
    let fields = input.iter_mut().filter(move |(name, _)| names.contains(name));
    fields.filter_map(|(_, value)| value.as_array_mut())
}

/// Returns the steps of an input that are still command lines.
fn step_lines<'i>(
    definition: &CommandDefinition,
    input: &'i mut Map<String, Value>,
) -> impl Iterator<Item = &'i mut Value> {
    step_lists(definition, input).flatten().filter(|step| step.is_string())
}

/// Converts a command line into a step of a batch.
fn batch_step(line: &str) -> Result<Value> {
    let read = parse(&crate::split(line)?)?;
    if read.options != Options::default() {
        let line = stickpin_tree::quote(line);
        let message = format!("common options such as `--session` cannot be set for a single step: {line}");
        let hint =
            "put options such as `--session` and `--json` before the steps; such options apply to every step";
        return Err(Error::invalid_args(message).hint(hint));
    }
    Ok(json!({ "command": read.entry.spec.name, "input": read.input }))
}

/// Returns whether an input reads steps from standard input.
pub fn wants_stdin(entry: &Entry, input: &mut Map<String, Value>) -> bool {
    step_lines(entry, input).any(|step| step.as_str() == Some(STDIN))
}

/// Inserts the text from standard input, without a trailing newline, as the value of the argument
/// that reads it.
pub fn insert_stdin_text(entry: &Entry, input: &mut Map<String, Value>, text: &str) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    for field in entry.fields().iter().filter(|field| field.reads_stdin) {
        let value = match field.kind {
            Kind::List(_) => json!([text]),
            _ => Value::from(text),
        };
        input.insert(field.name.clone(), value);
    }
}

/// Inserts the steps from standard input at their position. The text is a JSON list of steps, or
/// command lines with blank lines and `#` comments between them.
///
/// # Errors
/// Returns `INVALID_ARGS` for any other text. The message contains the number of the first invalid
/// command line, if any.
pub fn insert_stdin_steps(entry: &Entry, input: &mut Map<String, Value>, text: &str) -> Result<()> {
    let steps: Vec<Value> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text).map_err(|e| {
            Error::invalid_args(format!("standard input is not a list of steps: {e}")).hint(
                r#"write `[{"command":"press","input":{"target":"@e3"}}]`, or one command line per line"#,
            )
        })?
    } else {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let step = |(at, line)| {
            batch_step(line)
                .map_err(|e| Error { message: format!("line {at} of standard input: {}", e.message), ..e })
        };
        lines.map(step).collect::<Result<_>>()?
    };
    for given in step_lists(entry, input) {
        let positionals = std::mem::take(given).into_iter();
        given.extend(positionals.flat_map(|step| match step.as_str() {
            Some(STDIN) => steps.clone(),
            _ => vec![step],
        }));
    }
    Ok(())
}

/// Reads and checks a whole line, without the program's name: a command of the registry, not help.
///
/// # Errors
/// Returns `INVALID_ARGS` for any other line.
pub fn parse(args: &[String]) -> Result<CommandLine> {
    let Some(picked) = resolve::resolve_command::<&'static CommandDefinition>(args, &[])? else {
        return Err(Error::invalid_args("the line contains no command")
            .hint("run `stickpin help` to list the commands"));
    };
    let entry = registry::lookup(picked.name)?;
    match read(entry, picked.args)? {
        ParsedArguments::Input(input, options) => {
            refuse_following(&options)?;
            entry.check(&input)?;
            Ok(CommandLine { entry, input, options })
        }
        ParsedArguments::Help(_) => {
            let message = format!("`{}` with `--help` is not a command to run", picked.name);
            Err(Error::invalid_args(message).hint(format!("run `stickpin help {}`", picked.name)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(words: &[&str], stdin: &str) -> Result<Value> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let mut line = parse(&words)?;
        if wants_stdin(line.entry, &mut line.input) {
            insert_stdin_steps(line.entry, &mut line.input, stdin)?;
        }
        Ok(line.input["steps"].take())
    }

    /// Reads a whole command line.
    fn entry_and_arguments(line: &str) -> Result<(&'static Entry, ParsedArguments)> {
        let words = crate::split(line)?;
        let found = resolve::resolve_command::<&'static CommandDefinition>(&words, &[])?.expect("a command");
        let entry = registry::lookup(found.name)?;
        Ok((entry, super::read(entry, found.args)?))
    }

    fn read(line: &str) -> Result<ParsedArguments> {
        entry_and_arguments(line).map(|(_, arguments)| arguments)
    }

    #[test]
    fn following_is_for_a_command_line_of_its_own() {
        let Ok(ParsedArguments::Input(input, options)) = read("events --follow --after 3") else {
            panic!("no input")
        };
        assert!(options.follow && input["after"] == 3 && !input.contains_key("follow"), "{input:?}");
        assert!(read("events --follow --wait").is_err(), "both wait");
        assert!(read("snapshot --follow").is_err(), "nothing to follow");
        assert!(matches!(read("msg recv -h"), Ok(ParsedArguments::Help(text)) if text.contains("--follow")));
        let refused = steps(&["batch", "events --follow"], "").unwrap_err();
        assert!(refused.message.contains("`--follow`"), "{refused}");
    }

    #[test]
    fn showing_is_an_option_of_commands_that_make_pictures() {
        for line in ["screenshot --show", "diff screenshot a.png --show"] {
            let Ok(ParsedArguments::Input(input, options)) = read(line) else { panic!("{line}") };
            assert!(options.show && !input.contains_key("show"), "{line}: {input:?}");
        }
        assert!(read("snapshot --show").is_err(), "no picture");
        let refused = steps(&["batch", "screenshot --show"], "").unwrap_err();
        assert!(refused.message.contains("`--show`"), "{refused}");
    }

    #[test]
    fn text_from_stdin_takes_the_place_of_an_argument() {
        let input = |line: &str, text: &str| {
            let (entry, read) = entry_and_arguments(line)?;
            let ParsedArguments::Input(mut input, options) = read else { panic!("help") };
            assert!(options.stdin, "{line}");
            insert_stdin_text(entry, &mut input, text);
            entry.check(&input).map(|()| Value::Object(input))
        };
        assert_eq!(
            input("msg send room --stdin", "two\nlines\n").unwrap(),
            json!({"to": "room", "body": ["two\nlines"]})
        );
        assert_eq!(input("notes add --stdin", "x").unwrap(), json!({"body": ["x"]}));
        assert_eq!(input("turn release --stdin", "{}").unwrap(), json!({"handoff": "{}"}));
        assert_eq!(input("turn assign next --stdin", "{}").unwrap(), json!({"to": "next", "handoff": "{}"}));
        for wrong in ["msg send room hi --stdin", "turn release --stdin --handoff {}", "press @e1 --stdin"] {
            assert!(input(wrong, "").is_err(), "{wrong}");
        }
        assert!(parse(&crate::split("msg send room").unwrap()).is_err(), "the text is missing");
        let refused = steps(&["batch", "notes add --stdin"], "").unwrap_err();
        assert!(refused.message.contains("`--stdin`"), "{refused}");
    }

    #[test]
    fn batch_accepts_lines_json_and_stdin() {
        let press = json!({"command": "press", "input": {"target": "@e3"}});
        let title = json!({"command": "get title", "input": {}});
        let both = json!([press, title]);
        assert_eq!(steps(&["batch", "press @e3", "get title"], "").unwrap(), both);
        assert_eq!(steps(&["batch", "--steps", &both.to_string()], "").unwrap(), both);
        assert_eq!(steps(&["batch", "-"], "# first\npress @e3\n\n  get title\n").unwrap(), both);
        assert_eq!(
            steps(&["batch", "press @e3", "-"], "[{\"command\":\"get title\",\"input\":{}}]").unwrap(),
            both
        );
        let error = steps(&["batch", "-"], "press @e3\npres @e4\n").unwrap_err();
        assert!(error.message.starts_with("line 2 of standard input: there is no command"), "{error}");
        assert!(
            steps(&["batch", "press @e3 --session x"], "")
                .unwrap_err()
                .message
                .contains("common options such as `--session`")
        );
    }
}
