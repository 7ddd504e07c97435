//! The registry as a command line: fields become arguments, and matches become an input.

use crate::options;
use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};
use stickpin_kernel::PathArg;
use stickpin_kernel::registry::CommandDefinition;
pub(crate) use stickpin_kernel::schema::kebab_case;
use stickpin_kernel::schema::{Field, Kind, NestedTargets};

/// Returns the grammar of a command that has a definition, with the common options.
#[must_use]
pub fn command_grammar(definition: &CommandDefinition) -> Command {
    let spec = &definition.spec;
    build_grammar(spec.name, definition.doc(), after_help(definition), definition.fields())
        .args(spec.follows.map(options::follow))
        .args(spec.makes_picture.then(options::show))
        .args(definition.fields().iter().find(|field| field.reads_stdin).map(options::stdin))
}

fn build_grammar(name: &str, doc: &str, after: Option<String>, fields: &[Field]) -> Command {
    let has_own_option =
        |long: &str| fields.iter().any(|f| f.positional.is_none() && kebab_case(&f.name) == long);
    let mut command = base_grammar(name).about(doc.to_owned());
    if let Some(after) = after {
        command = command.after_help(after);
    }
    command.args(fields.iter().map(argument)).args(step_lines(fields)).args(options::args(has_own_option))
}

/// The clap id of the argument for steps written as command lines; another option accepts steps as
/// JSON. The hyphens distinguish the id from field names.
const STEP_LINES: &str = "--step-lines";

fn step_lines(fields: &[Field]) -> Option<Arg> {
    let help =
        "Steps as command lines, each quoted: 'press @e3'; `-` reads them from standard input, one per line";
    let steps =
        fields.iter().any(|f| f.nested_targets == Some(NestedTargets::Steps) && f.positional.is_none());
    steps.then(|| Arg::new(STEP_LINES).value_name("LINE").num_args(0..).action(ArgAction::Append).help(help))
}

/// Returns the grammar of a front end's own command, with the common options only.
#[must_use]
pub fn local_grammar(name: &str, about: &'static str) -> Command {
    base_grammar(name).about(about).args(options::args(|_| false))
}

fn base_grammar(name: &str) -> Command {
    let full_name = format!("stickpin {name}");
    Command::new(full_name.clone())
        .bin_name(full_name)
        .no_binary_name(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .args_override_self(true)
}

/// Returns the text below the options: the examples, the aliases, the group's other commands if
/// this command is the default of a group, and the rules for paths if the command has a path
/// argument.
fn after_help(definition: &CommandDefinition) -> Option<String> {
    let mut parts = Vec::new();
    if !definition.spec.examples.is_empty() {
        let lines: Vec<String> = definition.spec.examples.iter().map(|line| format!("  {line}")).collect();
        parts.push(format!("Examples:\n{}", lines.join("\n")));
    }
    if !definition.spec.aliases.is_empty() {
        parts.push(format!("Also called: {}", definition.spec.aliases.join(", ")));
    }
    let members: Vec<String> =
        crate::resolve::members::<&'static CommandDefinition>(definition.spec.name, &[])
            .map(|m| format!("{} {m}", definition.spec.name))
            .collect();
    if !members.is_empty() {
        parts.push(format!("See also: {}", members.join(", ")));
    }
    if definition.fields().iter().any(|field| field.is_path || field.is_openable) {
        parts.push(PathArg::RULES.to_owned());
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Converts a field into an argument.
fn argument(field: &Field) -> Arg {
    let mut lines = field.doc.splitn(2, "\n\n");
    let mut arg = Arg::new(field.name.clone()).help(lines.next().unwrap_or_default().replace('\n', " "));
    if let Some(place) = field.positional {
        arg = arg.index(place + 1).value_name(field.placeholder.clone());
        arg = match field.reads_stdin && field.required {
            true => arg.required_unless_present(options::STDIN),
            false => arg.required(field.required),
        };
        if field.trailing {
            arg = arg.num_args(1..).action(ArgAction::Append);
        }
    } else {
        arg = arg.long(kebab_case(&long_name(field))).short(field.short);
        arg = match &field.kind {
            Kind::Bool => arg.action(ArgAction::SetTrue),
            _ => arg.required(field.required).value_name(field.placeholder.clone()),
        };
        if matches!(field.kind, Kind::List(_)) {
            arg = arg.action(ArgAction::Append);
        }
        if field.optional_value {
            arg = arg.num_args(0..=1).require_equals(true).default_missing_value("true");
        }
    }
    // A trailing list would swallow every option after it, so its values that start with a hyphen
    // must follow `--`.
    if field.is_free_text && !field.trailing {
        arg = arg.allow_hyphen_values(true);
    }
    match choices(&field.kind) {
        Some(words) => arg.value_parser(
            words.iter().map(|(w, doc)| PossibleValue::new(w).help(doc.clone())).collect::<Vec<_>>(),
        ),
        None => arg,
    }
}

/// Returns the long name of an option, not yet in kebab case. A switch that is on by default gets
/// the prefix `no-`.
pub(crate) fn long_name(field: &Field) -> String {
    if is_on_by_default(field) { format!("no-{}", field.name) } else { field.name.clone() }
}

pub(crate) fn is_on_by_default(field: &Field) -> bool {
    field.kind == Kind::Bool && field.default == Some(Value::Bool(true))
}

fn choices(kind: &Kind) -> Option<&[(String, String)]> {
    match kind {
        Kind::Choice(words) => Some(words),
        Kind::List(kind) => choices(kind),
        _ => None,
    }
}

/// Converts matches into an input by field name. A value of the wrong type is passed on as text, so
/// that the kernel's check reports it as in every other front end.
pub(crate) fn input(fields: &[Field], matches: &ArgMatches) -> Map<String, Value> {
    let mut input = Map::new();
    for field in fields {
        let value = match &field.kind {
            Kind::Bool => matches.get_flag(&field.name).then(|| Value::Bool(!is_on_by_default(field))),
            _ => matches.get_many::<String>(&field.name).map(|values| read(field, values)),
        };
        if let Some(value) = value {
            input.insert(field.name.clone(), value);
        }
        if field.nested_targets == Some(NestedTargets::Steps)
            && let Ok(Some(lines)) = matches.try_get_many::<String>(STEP_LINES)
        {
            let steps = input.entry(field.name.clone()).or_insert_with(|| Value::Array(Vec::new()));
            if let Some(steps) = steps.as_array_mut() {
                steps.extend(lines.map(|line| Value::from(line.as_str())));
            }
        }
    }
    input
}

fn read<'a>(field: &Field, values: impl Iterator<Item = &'a String>) -> Value {
    let values: Vec<&str> = values.map(String::as_str).collect();
    let scalars = |kind: &Kind| -> Value { values.iter().map(|value| scalar(kind, value, false)).collect() };
    match (&field.kind, &values[..]) {
        // A list of structured values is given as one JSON list.
        (Kind::List(kind), [one]) if **kind == Kind::Any => {
            serde_json::from_str(one).unwrap_or_else(|_| scalars(kind))
        }
        (Kind::List(kind), _) => scalars(kind),
        (kind, _) => scalar(kind, &values.join(" "), field.optional_value),
    }
}

fn scalar(kind: &Kind, text: &str, optional: bool) -> Value {
    let number = || serde_json::from_str::<serde_json::Number>(text).ok().map(Value::Number);
    let known = match kind {
        Kind::Integer | Kind::Number => number(),
        Kind::Any => serde_json::from_str(text).ok(),
        _ => None,
    };
    // An option without a value is `true`, regardless of its type.
    let boolean = || if optional { text.parse().ok().map(Value::Bool) } else { None };
    known.or_else(boolean).unwrap_or_else(|| Value::from(text))
}

/// Returns whether an option of a command takes the next word as its value.
pub(crate) fn takes_value(command: &Command, option: &str) -> bool {
    if option.contains('=') {
        return false;
    }
    let found = command.get_arguments().find(|arg| match option.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => option.len() == 2 && arg.get_short() == option.chars().nth(1),
    });
    found.is_some_and(|arg| arg.get_action().takes_values() && !arg.is_require_equals_set())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use stickpin_kernel::schema;

    /// Returns one field of each kind, as in the schema of a registry struct.
    fn fields() -> Vec<Field> {
        schema::fields(&json!({
            "properties": {
                "target": {"description": "What.", "type": "string", "x-target": true, "x-positional": 0},
                "text": {"description": "The\ntext.", "type": "string", "x-positional": 1, "x-text": true},
                "names": {"description": "Names.", "type": "array", "items": {"type": "string"},
                    "x-positional": 2, "x-trailing": true},
                "count": {"description": "How often.", "type": ["integer", "null"], "x-short": "c",
                    "x-placeholder": "N"},
                "allAtOnce": {"description": "All.\n\nMore about it.", "type": "boolean", "default": false},
                "echo": {"description": "Say it.", "type": "boolean", "default": true},
                "settle": {"description": "Wait.", "anyOf": [{"type": "boolean"}, {"type": "integer"}],
                    "x-value": "optional", "x-placeholder": "MS"},
                "way": {"description": "Where to.", "anyOf": [
                    {"oneOf": [{"const": "up", "description": "Up."}, {"const": "down"}]}, {"type": "null"}]},
                "steps": {"description": "Steps.", "type": "array", "items": {"type": "object"}},
                "timeout": {"description": "Its own.", "type": "integer", "x-placeholder": "MS"},
            },
            "required": ["target", "text"],
        }))
    }

    fn read(line: &[&str]) -> Value {
        let fields = fields();
        let matches = build_grammar("act", "Act.", None, &fields).try_get_matches_from(line);
        Value::Object(input(&fields, &matches.unwrap_or_else(|e| panic!("{line:?}: {e}"))))
    }

    #[test]
    fn command_help_is_complete_and_short() {
        let after = Some("Examples:\n  stickpin act @e1 x".to_owned());
        let help = build_grammar("act", "Act.\n\nIn some way.", after, &fields()).render_help().to_string();
        assert_eq!(help, HELP, "{help}");
    }

    const HELP: &str = "\
Act.

In some way.

Usage: stickpin act [OPTIONS] <TARGET> <TEXT> [NAMES]...

Arguments:
  <TARGET>    What.
  <TEXT>      The text.
  [NAMES]...  Names.

Options:
  -c, --count <N>      How often.
      --all-at-once    All.
      --no-echo        Say it.
      --settle[=<MS>]  Wait.
      --way <WAY>      Where to. [possible values: up, down]
      --steps <STEPS>  Steps.
      --timeout <MS>   Its own.
  -h, --help           Print help (see more with '--help')

For every command:
      --session <NAME>   The session to use; by default, this project's own
      --state-dir <DIR>  The state directory of the daemon
      --json             Print the response as JSON
      --detail <HOW>     How much to print: digest, normal, full
      --turn <ID>        Act only while you hold this turn
      --max-bytes <N>    Maximum length of the text in bytes
      --color <WHEN>     When to color the text: auto, always, never

Examples:
  stickpin act @e1 x
";

    #[test]
    fn words_convert_to_field_types() {
        assert_eq!(read(&["@e1", "hi"]), json!({"target": "@e1", "text": "hi"}));
        assert_eq!(
            read(&["@e1", "hi", "a", "b", "-c", "2", "--all-at-once", "--no-echo", "--way", "down"]),
            json!({"target": "@e1", "text": "hi", "names": ["a", "b"], "count": 2, "allAtOnce": true,
                "echo": false, "way": "down"})
        );
        assert_eq!(
            read(&["@e1", "hi", "--count", "many"])["count"],
            "many",
            "the registry says what is wrong"
        );
        assert_eq!(read(&["@e1", "hi", "--steps", r#"[{"a":1}]"#])["steps"], json!([{"a": 1}]));
        assert_eq!(read(&["@e1", "", "--timeout=5"]), json!({"target": "@e1", "text": "", "timeout": 5}));
    }

    #[test]
    fn an_option_with_an_optional_value_requires_its_equals_sign() {
        assert_eq!(read(&["@e1", "hi", "--settle"])["settle"], true);
        assert_eq!(read(&["@e1", "hi", "--settle=250"])["settle"], 250);
        assert_eq!(
            read(&["@e1", "--settle", "250"]),
            json!({"target": "@e1", "text": "250", "settle": true})
        );
    }

    #[test]
    fn text_may_begin_with_a_hyphen_unless_it_is_an_option() {
        assert_eq!(read(&["@e1", "-5"])["text"], "-5");
        assert_eq!(read(&["@e1", "--not-an-option"])["text"], "--not-an-option");
        assert_eq!(read(&["@e1", "--", "--json"])["text"], "--json");
        assert_eq!(read(&["@e1", "-x", "--settle"]), json!({"target": "@e1", "text": "-x", "settle": true}));
    }

    #[test]
    fn takes_value_knows_options_with_values() {
        let command = build_grammar("act", "Act.", None, &fields());
        for (option, takes) in [
            ("--count", true),
            ("-c", true),
            ("--session", true),
            ("--count=2", false),
            ("--settle", false),
            ("--all-at-once", false),
            ("--json", false),
            ("-5", false),
            ("--nonsense", false),
        ] {
            assert_eq!(takes_value(&command, option), takes, "{option}");
        }
    }
}
