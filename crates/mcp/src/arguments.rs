//! Converts arguments as models write them into the form that the registry expects.
//!
//! A model writes from the schema and from habit: a number as text, one item instead of a list,
//! `ref` for `target`. A value with only one possible meaning is converted. Everything else is
//! unchanged, and the input check reports it by name.

use crate::tools::{self, Tool, members};
use serde_json::{Map, Value, json};
use stickpin_kernel::registry::{CommandDefinition, Entry};
use stickpin_kernel::schema::{Field, Kind, NestedTargets};
use stickpin_kernel::{Error, Result};
use stickpin_tree::quote;

/// Alternative argument names from other tools. In each pair, the first name is replaced by the
/// second. This requires that the command has an argument with the second name, which was not
/// given, and no argument with the first name.
const ARGUMENT_ALIASES: &[(&str, &str)] = &[
    ("ref", "target"),
    ("selector", "target"),
    ("url", "what"),
    ("url", "part"),
    ("key", "chord"),
    ("value", "text"),
    ("values", "options"),
    ("value", "options"),
    ("option", "options"),
    ("text", "query"),
    ("selector", "query"),
    ("target", "in"),
    ("target", "of"),
    ("ref", "of"),
    ("selector", "of"),
    ("fullPage", "full"),
    ("filename", "path"),
];

/// How one tool represents a group, such as `wait` and `wait text`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupKey {
    /// The argument that selects a command of the group.
    pub(crate) name: &'static str,
    /// The word for the command after which the group is named; `None` if that command itself has
    /// an argument with the name of the key.
    pub(crate) default_word: Option<&'static str>,
}

/// Returns whether an argument is common to all tools.
fn is_common(name: &str) -> bool {
    matches!(name, "session" | "stateDir")
}

/// Returns the selected command of a group. The first of these rules that selects a command
/// applies:
/// - The key of the group names it.
/// - The name of an argument names it.
/// - The default command accepts the arguments.
/// - Only one other command accepts them.
///
/// If no rule applies, may return the default command, so that the input check reports the fault.
/// That is the case if the group has no default word, or if there is no key and an argument belongs
/// to no command.
///
/// # Errors
/// In any other case, returns `INVALID_ARGS`: the key selects no command, or the arguments fit
/// several commands or none.
pub(crate) fn choose_command(
    entry: &'static Entry,
    key: GroupKey,
    args: &mut Map<String, Value>,
) -> Result<&'static Entry> {
    args.retain(|_, value| !value.is_null());
    if let Some(word) = args.get(key.name).cloned() {
        let word = word.as_str().unwrap_or_default();
        if let Some((member, found)) = members(entry).find(|(member, _)| *member == word) {
            args.remove(key.name);
            accept_word_as_name(found, member, args);
            return Ok(found);
        }
        return match key.default_word {
            Some(usual) if usual == word => {
                args.remove(key.name);
                Ok(entry)
            }
            // The input check lists the valid words.
            None => Ok(entry),
            Some(_) => {
                let message = format!("`{}` of `{}` cannot be {}", key.name, entry.spec.name, quote(word));
                Err(Error::invalid_args(message).hint(group_words(entry, key)))
            }
        };
    }
    if let Some((member, found)) = members(entry).find(|(member, _)| {
        args.contains_key(*member) && !entry.fields().iter().any(|field| field.name == *member)
    }) {
        accept_word_as_name(found, member, args);
        return Ok(found);
    }
    let all = || std::iter::once(entry).chain(members(entry).map(|(_, member)| member));
    if accepts(entry, args) {
        return Ok(entry);
    }
    let mut candidates = all().filter(|leaf| accepts(leaf, args));
    match (candidates.next(), candidates.next()) {
        (Some(only), None) => Ok(only),
        _ if key.default_word.is_none() => Ok(entry),
        // The input check names an argument that no command of the group has.
        _ if args.keys().any(|name| !is_common(name) && !all().any(|leaf| has_field(leaf, name))) => {
            Ok(entry)
        }
        _ => {
            let names: Vec<String> =
                args.keys().filter(|n| !is_common(n)).map(|n| format!("`{n}`")).collect();
            let names = if names.is_empty() { "no arguments".to_owned() } else { names.join(" and ") };
            let message = format!("`{}` with {names} is ambiguous", entry.spec.name);
            Err(Error::invalid_args(message).hint(group_words(entry, key)))
        }
    }
}

fn group_words(entry: &'static Entry, key: GroupKey) -> String {
    let words: Vec<&str> = key.default_word.into_iter().chain(members(entry).map(|(word, _)| word)).collect();
    format!("choose with `{}`: {}", key.name, words.join(", "))
}

/// Accepts `{"url": "/orders"}` and `{"stable": true}`: the word for a command as an argument name,
/// and the command's first argument or `true` as the value.
fn accept_word_as_name(entry: &Entry, word: &str, args: &mut Map<String, Value>) {
    if has_field(entry, word) {
        return;
    }
    let first = entry.fields().iter().find(|field| field.positional == Some(0));
    match (args.remove(word), first) {
        (None | Some(Value::Bool(true)), _) => {}
        (Some(value), Some(first)) if !args.contains_key(&first.name) => {
            args.insert(first.name.clone(), value);
        }
        (Some(value), _) => {
            args.insert(word.to_owned(), value);
        }
    }
}

fn has_field(entry: &Entry, name: &str) -> bool {
    let is_alias = |alias: &str, field: &Field| ARGUMENT_ALIASES.contains(&(alias, field.name.as_str()));
    entry.fields().iter().any(|field| field.name == name || is_alias(name, field))
}

/// Returns whether a command accepts these arguments and needs no others.
fn accepts(entry: &Entry, args: &Map<String, Value>) -> bool {
    let mut args = args.clone();
    rename(entry, &mut args);
    let known = |name: &String| is_common(name) || entry.fields().iter().any(|field| field.name == *name);
    let is_satisfied = |field: &Field| !field.required || args.contains_key(&field.name);
    args.keys().all(known) && entry.fields().iter().all(is_satisfied)
}

/// Converts a command's arguments to the names and types that it expects.
///
/// # Errors
/// Returns the errors of [`choose_command`] for a step of a batch.
pub(crate) fn normalize_arguments(
    definition: &CommandDefinition,
    args: &mut Map<String, Value>,
) -> Result<()> {
    rename(definition, args);
    for field in definition.fields() {
        let Some(value) = args.get_mut(&field.name) else { continue };
        match field.nested_targets {
            Some(NestedTargets::Steps) => normalize_steps(value)?,
            Some(NestedTargets::Assignments) => assignments(value),
            _ if field.optional_value && value.as_str().is_some_and(|s| s == "true" || s == "false") => {
                convert(&Kind::Bool, value);
            }
            _ => convert(&field.kind, value),
        }
    }
    Ok(())
}

fn rename(definition: &CommandDefinition, args: &mut Map<String, Value>) {
    let has_field = |name: &str| definition.fields().iter().any(|field| field.name == name);
    for (alias, name) in ARGUMENT_ALIASES {
        if has_field(name)
            && !has_field(alias)
            && !args.contains_key(*name)
            && let Some(value) = args.remove(*alias)
        {
            args.insert((*name).to_owned(), value);
        }
    }
}

/// Converts a value and the items of a list to the given kind, if they have only one possible
/// meaning.
fn convert(kind: &Kind, value: &mut Value) {
    let new = match (kind, &*value) {
        (Kind::Bool, Value::String(s)) => s.parse::<bool>().ok().map(Value::from),
        (Kind::Integer, Value::String(s)) => s.trim().parse::<u64>().ok().map(Value::from),
        (Kind::Number, Value::String(s)) => s.trim().parse::<f64>().ok().map(Value::from),
        // A fraction might be formatted differently from how it was meant to be typed.
        (Kind::String, Value::Number(n)) if n.is_u64() || n.is_i64() => Some(Value::from(n.to_string())),
        (Kind::List(_), Value::String(s)) => parse_list(s).or_else(|| Some(json!([s]))),
        (Kind::List(_), Value::Number(_)) => Some(json!([value])),
        _ => None,
    };
    if let Some(new) = new {
        *value = new;
    }
    if let (Kind::List(of), Value::Array(items)) = (kind, value) {
        items.iter_mut().for_each(|item| convert(of, item));
    }
}

/// Parses a JSON array that was written as text; `None` for any other text.
fn parse_list(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_array)
}

/// Converts `{"@e2": "Ada"}` and `[{"target": "@e2", "value": "Ada"}]` to `["@e2=Ada"]`.
fn assignments(value: &mut Value) {
    if let Some(list) = value.as_str().map(|s| serde_json::from_str(s).unwrap_or_else(|_| json!([s]))) {
        *value = list;
    }
    if let Value::Object(fields) = value {
        // Either a single assignment, or one entry per target.
        *value = match assignment(&Value::Object(fields.clone())) {
            Some(one) => json!([one]),
            None => {
                let pair =
                    |(target, value): (&String, &Value)| Some(format!("{target}={}", typed_text(value)?));
                let pairs: Option<Vec<String>> = fields.iter().map(pair).collect();
                let Some(pairs) = pairs else { return };
                pairs.into()
            }
        };
    }
    for item in value.as_array_mut().into_iter().flatten() {
        if let Some(text) = assignment(item) {
            *item = text.into();
        }
    }
}

fn assignment(item: &Value) -> Option<String> {
    let item = item.as_object()?;
    let first_of = |names: &[&str]| names.iter().find_map(|name| item.get(*name));
    let target = first_of(&["target", "ref", "selector", "field"])?.as_str()?;
    Some(format!("{target}={}", typed_text(first_of(&["value", "text"])?)?))
}

/// Returns the text to type for a string, a boolean or an integer; `None` for any other value.
fn typed_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(on) => Some(on.to_string()),
        Value::Number(n) if n.is_u64() || n.is_i64() => Some(n.to_string()),
        _ => None,
    }
}

/// Converts steps to the form of a batch: commands by name, arguments under `input`.
fn normalize_steps(value: &mut Value) -> Result<()> {
    if let Some(list) = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()) {
        *value = list;
    }
    if value.is_object() {
        *value = json!([value]);
    }
    let steps = value.as_array_mut().into_iter().flatten().enumerate();
    for (i, step) in steps.filter_map(|(i, step)| Some((i, step.as_object_mut()?))) {
        let numbered = |e: Error| Error { message: format!("step {}: {}", i + 1, e.message), ..e };
        let Some(Value::String(name)) = take_first(step, &["command", "tool", "name"]) else { continue };
        let mut input = match take_first(step, &["input", "arguments", "args"]) {
            Some(Value::Object(input)) => input,
            Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or_default(),
            _ => Map::new(),
        };
        // Arguments next to the command move under `input`.
        for (name, value) in std::mem::take(step) {
            input.entry(name).or_insert(value);
        }
        let mut command = name.clone();
        if let Some(Tool::Command { entry, key }) = Tool::find(&name, tools::NO_CLIENT_COMMANDS) {
            let leaf =
                key.map_or(Ok(entry), |key| choose_command(entry, key, &mut input)).map_err(numbered)?;
            normalize_arguments(leaf, &mut input).map_err(numbered)?;
            leaf.spec.name.clone_into(&mut command);
        }
        step.insert("command".to_owned(), command.into());
        step.insert("input".to_owned(), input.into());
    }
    Ok(())
}

/// Removes and returns the first of these arguments that is present.
fn take_first(step: &mut Map<String, Value>, names: &[&str]) -> Option<Value> {
    names.iter().find_map(|name| step.remove(*name))
}

#[cfg(test)]
mod tests;
