//! The arguments of a command as a list of fields, read from its JSON schema. Command lines, help
//! and input validation are built on these fields.

use crate::api::target::Target;
use serde_json::{Map, Value};
use stickpin_device::Error;

/// An argument of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name in JSON, in camelCase.
    pub name: String,
    /// The description from the doc comment, for help; empty if there is none.
    pub doc: String,
    /// The kind of value.
    pub kind: Kind,
    /// Whether the argument is required.
    pub required: bool,
    /// The index among the positionals of a command line, or `None` for a flag.
    pub positional: Option<usize>,
    /// Whether the argument takes all remaining positionals.
    pub trailing: bool,
    /// The one-letter flag, if any.
    pub short: Option<char>,
    /// Whether the flag works with and without `=VALUE`. Without a value, it means `true`.
    pub optional_value: bool,
    /// Whether the value is free text, which may begin with a hyphen.
    pub is_free_text: bool,
    /// Whether a command line may read the value from standard input, with `--stdin`.
    pub reads_stdin: bool,
    /// Whether the value, or each of its items, is a path that is resolved for the caller; see
    /// [`PathArg`](crate::PathArg).
    pub is_path: bool,
    /// Whether the path is written instead of read.
    pub is_output_path: bool,
    /// Whether the value is opened: an address or a path.
    /// [`Caller::resolve_opened`](crate::Caller::resolve_opened) decides which.
    pub is_openable: bool,
    /// Whether the value is the name of a secret.
    pub is_secret_name: bool,
    /// Whether the argument concerns only this call, so that a recording omits it.
    pub unrecorded: bool,
    /// The targets inside the value or its items, if any.
    pub nested_targets: Option<NestedTargets>,
    /// The name of the value in help, such as `MS` or `NAME=VALUE`.
    pub placeholder: String,
    /// The default as JSON, or `None` if there is no default or it is null.
    pub default: Option<Value>,
}

/// The form of the targets inside an argument, from the schema keyword `x-targets`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NestedTargets {
    /// Each item is `TARGET=VALUE`.
    Assignments,
    /// Each item is a command with its input.
    Steps,
    /// The value names a file of steps.
    StepsFile,
}

/// The kind of value that an argument takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A boolean.
    Bool,
    /// An integer.
    Integer,
    /// Any number.
    Number,
    /// Text.
    String,
    /// A ref, a selector or a point.
    Target,
    /// One of these words, each with its description, which may be empty.
    Choice(Vec<(String, String)>),
    /// A list of one kind.
    List(Box<Kind>),
    /// A value with fields or with several possible shapes, which can only be given as JSON.
    Any,
}

/// Returns the fields of a command's schema, in the order of the command's struct.
#[must_use]
pub fn fields(schema: &Value) -> Vec<Field> {
    let required = schema["required"].as_array();
    let required = |name: &str| required.is_some_and(|r| r.iter().any(|v| v == name));
    let properties = schema["properties"].as_object();
    properties.into_iter().flatten().map(|(name, s)| field(name, s, required(name))).collect()
}

fn field(name: &str, schema: &Value, required: bool) -> Field {
    let flag = |key: &str| schema[key] == true;
    let text = |key: &str| schema[key].as_str().map(str::to_owned);
    let kind = kind(schema);
    let positional = schema["x-positional"].as_u64().and_then(|n| usize::try_from(n).ok());
    let placeholder = || match name {
        // Arguments that mean the same in all commands.
        "after" => "SEQ".to_owned(),
        "limit" => "N".to_owned(),
        "maxBytes" => "BYTES".to_owned(),
        "timeout" => "MS".to_owned(),
        "turn" => "ID".to_owned(),
        _ if kind == Kind::Target && positional.is_none() => "TARGET".to_owned(),
        _ => name.to_uppercase(),
    };
    Field {
        name: name.to_owned(),
        doc: text("description").unwrap_or_default(),
        required,
        positional,
        trailing: flag("x-trailing"),
        short: schema["x-short"].as_str().and_then(|s| s.chars().next()),
        optional_value: schema["x-value"] == "optional",
        is_free_text: flag("x-text"),
        reads_stdin: flag("x-stdin"),
        is_path: flag("x-path") || schema["x-path"] == "written" || schema["items"]["x-path"] == true,
        is_output_path: schema["x-path"] == "written",
        is_openable: flag("x-opens"),
        is_secret_name: flag("x-secret"),
        unrecorded: flag("x-unrecorded"),
        nested_targets: holds(schema),
        placeholder: text("x-placeholder").unwrap_or_else(placeholder),
        kind,
        default: schema.get("default").filter(|d| !d.is_null()).cloned(),
    }
}

fn holds(schema: &Value) -> Option<NestedTargets> {
    match schema["x-targets"].as_str().or_else(|| schema["items"]["x-targets"].as_str())? {
        "assignment" => Some(NestedTargets::Assignments),
        "step" => Some(NestedTargets::Steps),
        "file" => Some(NestedTargets::StepsFile),
        _ => None,
    }
}

fn kind(schema: &Value) -> Kind {
    if schema["x-target"] == true {
        return Kind::Target;
    }
    if let Some(choices) = choices(schema) {
        return Kind::Choice(choices);
    }
    // Schemas express an optional field as its type or null, in one of two spellings.
    if let Some(any) = schema["anyOf"].as_array() {
        let mut others = any.iter().filter(|s| s["type"] != "null");
        return match (others.next(), others.next()) {
            (Some(only), None) => kind(only),
            _ => Kind::Any,
        };
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(s) => vec![s],
        Value::Array(a) => a.iter().filter_map(Value::as_str).filter(|t| *t != "null").collect(),
        _ => vec![],
    };
    // `--flag[=VALUE]` accepts a value; without one, it means `true`.
    let types: Vec<&str> = match schema["x-value"] == "optional" {
        true => types.into_iter().filter(|t| *t != "boolean").collect(),
        false => types,
    };
    match types[..] {
        ["boolean"] => Kind::Bool,
        ["integer"] => Kind::Integer,
        ["number"] => Kind::Number,
        ["string"] => Kind::String,
        ["array"] => Kind::List(Box::new(kind(&schema["items"]))),
        _ => Kind::Any,
    }
}

fn choices(schema: &Value) -> Option<Vec<(String, String)>> {
    let word = |v: &Value| v.as_str().map(str::to_owned);
    if let Some(words) = schema["enum"].as_array() {
        return Some(words.iter().filter_map(word).map(|w| (w, String::new())).collect());
    }
    let variants = schema["oneOf"].as_array()?;
    let mut found = Vec::new();
    for v in variants {
        let doc = word(&v["description"]).unwrap_or_default();
        if let Some(c) = word(&v["const"]) {
            found.push((c, doc));
        } else {
            found.extend(v["enum"].as_array()?.iter().filter_map(word).map(|w| (w, doc.clone())));
        }
    }
    Some(found)
}

/// Checks an input against the fields before deserialization, so that an error names the argument.
///
/// # Errors
/// Returns `INVALID_ARGS` for an unknown or missing argument, or for a value that does not fit the
/// kind of its argument. The hint for an unknown argument names the most similar one, if any.
pub(crate) fn check(command: &str, fields: &[Field], input: &Map<String, Value>) -> Result<(), Error> {
    let bad = |message: String| Error::invalid_args(message);
    let help = || format!("run `stickpin help {command}`");
    // Callers that send JSON may have no help command.
    let names = || {
        if fields.is_empty() {
            return help();
        }
        let name = |f: &Field| if f.required { format!("{} (required)", f.name) } else { f.name.clone() };
        format!("{}; arguments: {}", help(), fields.iter().map(name).collect::<Vec<_>>().join(", "))
    };
    for (name, value) in input {
        let Some(field) = fields.iter().find(|f| f.name == *name) else {
            let near = nearest(name, fields.iter().map(|f| f.name.as_str()));
            let hint = near.map_or_else(names, |n| format!("did you mean `{n}`? {}", names()));
            return Err(bad(format!("`{command}` has no argument `{name}`")).hint(hint));
        };
        if (value.is_null() && !field.required) || (field.optional_value && value.is_boolean()) {
            continue;
        }
        if let Err(e) = check_kind(&field.kind, value) {
            let hint = if e.hint.is_empty() { help() } else { e.hint };
            return Err(bad(format!("`{name}` of `{command}`: {}", e.message)).hint(hint));
        }
    }
    match fields.iter().find(|f| f.required && !input.contains_key(&f.name)) {
        Some(missing) => Err(bad(format!("`{command}` needs `{}`", missing.name)).hint(names())),
        None => Ok(()),
    }
}

/// Converts the name of an argument into its form on a command line: `maxBytes` into `max-bytes`.
#[must_use]
pub fn kebab_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Returns the known name that is most similar to `name`, if any is similar enough.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|k| (strsim::jaro_winkler(&name.to_lowercase(), &k.to_lowercase()), k))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k)
}

/// The smallest magnitude of the numbers that JSON reads as a fraction because no integer type can
/// hold them.
const I64_END: f64 = 9_223_372_036_854_775_808.0;

pub(crate) fn check_kind(kind: &Kind, value: &Value) -> Result<(), Error> {
    let wrong = |what: &str| {
        Err(Error::invalid_args(format!("{} is not {what}", crate::api::render::json_excerpt(value))))
    };
    match (kind, value) {
        (Kind::Bool, Value::Bool(_))
        | (Kind::String, Value::String(_))
        | (Kind::Number, Value::Number(_)) => Ok(()),
        (Kind::Integer, Value::Number(n)) if n.is_u64() || n.is_i64() => Ok(()),
        (Kind::Target, Value::String(s)) => s.parse::<Target>().map(drop),
        (Kind::Choice(words), Value::String(s)) if words.iter().any(|(w, _)| w == s) => Ok(()),
        (Kind::List(kind), Value::Array(items)) => items.iter().try_for_each(|item| check_kind(kind, item)),
        (Kind::Any, _) => Ok(()),
        (Kind::Bool, _) => wrong("true or false"),
        (Kind::Integer, Value::Number(n)) if n.as_f64().is_some_and(|n| n.abs() >= I64_END) => {
            wrong(&format!("a whole number from {} to {}", i64::MIN, u64::MAX))
        }
        (Kind::Integer, _) => wrong("a whole number"),
        (Kind::Number, _) => wrong("a number"),
        (Kind::String, _) => wrong("text"),
        (Kind::Target, _) => wrong("a target").map_err(|e| e.hint(crate::api::target::TARGET_FORMS)),
        (Kind::List(_), _) => wrong("a list"),
        (Kind::Choice(words), _) => {
            let words: Vec<&str> = words.iter().map(|(w, _)| w.as_str()).collect();
            wrong(&format!("one of {}", words.join(", ")))
        }
    }
}

/// Implements `JsonSchema` as a string, with additional keywords, for a type that is parsed from
/// text.
macro_rules! text_schema {
    ($type:ty $(, $key:literal = $value:literal)*) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" $(, $key: $value)* })
            }
        }
    };
}
pub(crate) use text_schema;
