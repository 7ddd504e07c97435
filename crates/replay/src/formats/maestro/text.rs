//! Texts of flows. `${KEY}` and `${KEY || "default"}` are variables; any other expression in
//! `${...}` is refused.

use super::super::yaml::{Yaml, YamlPosition, YamlValue};
use crate::script::{ScriptError, Template, TemplatePart, is_name};

/// Returns the text of a scalar.
pub(super) fn scalar(name: &str, yaml: &Yaml) -> Result<Template, ScriptError> {
    match &yaml.value {
        YamlValue::Text(text) => template(text, yaml.at),
        YamlValue::Null => Ok(Template::default()),
        other => Err(yaml.at.error_at(format!("`{name}` must be text, not {}", other.kind()), "")),
    }
}

/// Parses the variables in text.
pub(super) fn template(text: &str, at: YamlPosition) -> Result<Template, ScriptError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find("${") {
        let (before, after) = (&rest[..begin], &rest[begin + 2..]);
        if let Some(before) = before.strip_suffix('\\') {
            parts.push(TemplatePart::Text(format!("{before}${{")));
            rest = after;
            continue;
        }
        let Some(end) = after.find('}') else {
            return Err(at.error_at(
                "a variable is not closed",
                "end it with `}`, or write `\\${` for a literal `${`",
            ));
        };
        parts.push(TemplatePart::Text(before.to_owned()));
        parts.push(variable(&after[..end], at)?);
        rest = &after[end + 1..];
    }
    parts.push(TemplatePart::Text(rest.to_owned()));
    Ok(Template::new(parts))
}

fn variable(inside: &str, at: YamlPosition) -> Result<TemplatePart, ScriptError> {
    let (name, default) = match inside.split_once("||") {
        Some((name, default)) => (name.trim(), literal(default.trim()).map(Some)),
        None => (inside.trim(), Some(None)),
    };
    match default.filter(|_| is_name(name)) {
        Some(default) => Ok(TemplatePart::Variable { name: name.to_owned(), default }),
        None => {
            let shown = stickpin_tree::quote(&format!("${{{inside}}}"));
            Err(at.error_at(
                format!("{shown} is a JavaScript expression"),
                "only `${KEY}` and `${KEY || \"default\"}` are supported",
            ))
        }
    }
}

/// Parses a quoted text or a number.
fn literal(text: &str) -> Option<String> {
    if text.starts_with('"') {
        return serde_json::from_str(text).ok();
    }
    let single = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    single
        .filter(|inner| !inner.contains(['\'', '\\']))
        .or_else(|| text.parse::<u64>().is_ok().then_some(text))
        .map(str::to_owned)
}
