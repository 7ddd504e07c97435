//! Converts the target of a command, which is text or a mapping, into one of our selectors.

use super::super::yaml::{Yaml, YamlPosition, YamlValue};
use super::fields::Fields;
use super::text;
use crate::script::{ScriptError, Template, TemplatePart};
use stickpin_tree::{Compare, Selector, quote_whole};

/// The names of states, which are also our flags.
const FLAGS: [&str; 4] = ["enabled", "checked", "focused", "selected"];

/// Reads a selector that is the value of a key.
pub(super) fn from_yaml(name: &str, yaml: &Yaml) -> Result<Template, ScriptError> {
    match &yaml.value {
        YamlValue::Map(_) => {
            let mut fields = Fields::new(name, yaml)?;
            let selector = take(&mut fields)?;
            fields.refuse_unread()?;
            Ok(selector)
        }
        YamlValue::Text(_) => from_text(name, yaml),
        other => {
            Err(yaml.at.error_at(format!("`{name}` must be text or a selector, not {}", other.kind()), ""))
        }
    }
}

/// Reads a selector that is a single text.
pub(super) fn from_text(name: &str, yaml: &Yaml) -> Result<Template, ScriptError> {
    let all = alternatives("text", &text::scalar(name, yaml)?, yaml.at)?;
    Ok(normalize_selector(all.join(&TemplatePart::Text(OR.to_owned()))))
}

/// The separator between the alternatives of a selector.
const OR: &str = " || ";

/// Returns the alternatives of a pattern: `A|B` and `(A|B)` match either of two texts.
fn alternatives(
    key: &str,
    value: &Template,
    at: YamlPosition,
) -> Result<Vec<Vec<TemplatePart>>, ScriptError> {
    let pattern_text = value.as_text().filter(|text| text.contains('|') && !text.contains("\\|"));
    let Some(whole) = pattern_text else { return Ok(vec![comparison(key, value, at)?]) };
    let inner = whole.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(whole);
    if inner.contains(['(', ')']) {
        return Err(unsupported_pattern(value, at));
    }
    let alternative =
        |text: &str| comparison(key, &Template::text(text), at).map_err(|_| unsupported_pattern(value, at));
    inner.split('|').map(alternative).collect()
}

/// Adds `visible` to all alternatives of a selector but the last, and returns the parts; the caller
/// adds `visible` to the last alternative.
pub(super) fn each_visible(target: &Template) -> Vec<TemplatePart> {
    let selector = target.as_text().and_then(|text| text.parse::<Selector>().ok());
    // The texts of the alternatives contain no bar.
    match (selector.is_some_and(|selector| selector.alternatives().count() > 1), target.as_text()) {
        (true, Some(text)) => vec![TemplatePart::Text(text.replace(OR, &format!(" visible{OR}")))],
        _ => target.parts().to_vec(),
    }
}

/// The selector keys without a counterpart, and what to write instead.
const RELATION_KEYS: &[(&str, &str)] = &[
    ("above", POSITION_KEYS),
    ("below", POSITION_KEYS),
    ("leftOf", POSITION_KEYS),
    ("rightOf", POSITION_KEYS),
    ("containsChild", CONTAINMENT_KEYS),
    ("containsDescendants", CONTAINMENT_KEYS),
    ("traits", "use `text` or `id` to name an element"),
    ("width", SIZE_KEYS),
    ("height", SIZE_KEYS),
    ("tolerance", SIZE_KEYS),
];

const POSITION_KEYS: &str =
    "a relative position does not identify an element: use `childOf` for its container, or `index`";
const CONTAINMENT_KEYS: &str = "name the element by its own `text` or `id`, or by `childOf`";
const SIZE_KEYS: &str = "a size does not identify an element: use `text` or `id`";

/// Takes the arguments that describe an element from a command, and returns them as a selector.
pub(super) fn take(fields: &mut Fields<'_>) -> Result<Template, ScriptError> {
    let at = fields.at;
    let mut terms: Vec<Vec<TemplatePart>> = Vec::new();
    let mut texts = Vec::new();
    for key in ["text", "id", "css"] {
        let Some(value) = fields.text(key)? else { continue };
        match key {
            "text" => texts = alternatives(key, &value, at)?,
            "css" => terms.push(term(key, "=", &value)),
            _ => terms.push(comparison(key, &value, at)?),
        }
    }
    for flag in FLAGS {
        let Some(on) = fields.boolean(flag)? else { continue };
        terms.push(vec![TemplatePart::Text(if on { flag.to_owned() } else { format!("{flag}=false") })]);
    }
    if let Some(parent) = fields.take("childOf") {
        let parent = from_yaml("childOf", parent)?;
        let parts =
            [&[TemplatePart::Text("in(".to_owned())], parent.parts(), &[TemplatePart::Text(")".to_owned())]];
        terms.push(parts.concat());
    }
    if let Some(index) = fields.number("index")? {
        terms.push(vec![TemplatePart::Text(format!("nth={}", u64::from(index) + 1))]);
    }
    for (key, hint) in RELATION_KEYS {
        if let Some(yaml) = fields.find(key) {
            return Err(yaml.at.error_at(format!("`{key}` of `{}` is not supported", fields.command), *hint));
        }
    }
    if terms.is_empty() && texts.is_empty() {
        fields.unsupported(&["label", "optional"])?;
        return Err(at.error_at(
            format!("`{}` has no supported selector key", fields.command),
            "use `text`, `id`, `css`, `enabled`, `checked`, `focused`, `selected`, `childOf` or `index`",
        ));
    }
    let space = TemplatePart::Text(" ".to_owned());
    if texts.is_empty() {
        return Ok(normalize_selector(terms.join(&space)));
    }
    let with_terms = |text: Vec<TemplatePart>| [&[text], &*terms].concat().join(&space);
    Ok(normalize_selector(
        texts.into_iter().map(with_terms).collect::<Vec<_>>().join(&TemplatePart::Text(OR.to_owned())),
    ))
}

/// Normalizes the spelling of a selector without variables.
fn normalize_selector(parts: Vec<TemplatePart>) -> Template {
    let template = Template::new(parts);
    let parsed = template.as_text().and_then(|text| text.parse::<Selector>().ok());
    parsed.map_or(template, |selector| Template::text(selector.to_string()))
}

/// Returns a term such as `key="value"`.
fn term(key: &str, operator: &str, value: &Template) -> Vec<TemplatePart> {
    let mut parts = vec![TemplatePart::Text(format!("{key}{operator}\""))];
    parts.extend(value.parts().iter().map(|part| match part {
        TemplatePart::Text(text) => {
            let quoted = quote_whole(text);
            TemplatePart::Text(quoted[1..quoted.len() - 1].to_owned())
        }
        variable @ TemplatePart::Variable { .. } => variable.clone(),
    }));
    parts.push(TemplatePart::Text("\"".to_owned()));
    parts
}

/// Converts a supported pattern into a comparison: `text`, `text.*`, `.*text` or `.*text.*`.
fn comparison(key: &str, value: &Template, at: YamlPosition) -> Result<Vec<TemplatePart>, ScriptError> {
    let mut parts = value.parts().to_vec();
    let open_start = strip(parts.first_mut(), |text| text.strip_prefix(".*"));
    let open_end = strip(parts.last_mut(), |text| text.strip_suffix(".*"));
    for part in &mut parts {
        if let TemplatePart::Text(text) = part {
            *text = literal(text).ok_or_else(|| unsupported_pattern(value, at))?;
        }
    }
    let value_only = Template::new(parts);
    if value_only.parts().is_empty() {
        return Err(unsupported_pattern(value, at));
    }
    let compare = match (open_start, open_end) {
        (false, false) => Compare::Equals,
        (false, true) => Compare::StartsWith,
        (true, false) => Compare::EndsWith,
        (true, true) => Compare::Contains,
    };
    Ok(term(key, compare.sign(), &value_only))
}

/// Replaces the text of a part with what `rest` returns, if anything. Returns whether it was
/// replaced.
fn strip(part: Option<&mut TemplatePart>, rest: fn(&str) -> Option<&str>) -> bool {
    let Some(TemplatePart::Text(text)) = part else { return false };
    let Some(kept) = rest(text).map(str::to_owned) else { return false };
    *text = kept;
    true
}

fn unsupported_pattern(value: &Template, at: YamlPosition) -> ScriptError {
    let shown = stickpin_tree::quote(&value.to_string());
    at.error_at(
        format!("the pattern {shown} is not supported"),
        "use the whole text, its beginning `text.*`, its end `.*text`, or a part of it `.*part.*`; a backslash escapes a character",
    )
}

/// Returns the text that a pattern matches literally, or `None` if it is a real pattern. A
/// character such as `.` is left unchanged: it matches only itself, which is stricter than in a
/// pattern.
fn literal(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match (c, next) {
            ('\\', Some(escaped)) if escaped.is_ascii_punctuation() => {
                out.push(escaped);
                chars.next();
            }
            ('\\' | '|' | '[' | ']', _) | ('.', Some('*' | '+' | '{')) | ('(', Some('?')) => return None,
            ('^', _) if out.is_empty() => return None,
            (c, _) => out.push(c),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exported(text: &str) -> String {
        let at = YamlPosition { line: 1, column: 1 };
        match text::template(text, at).and_then(|t| alternatives("text", &t, at)) {
            Ok(all) => normalize_selector(all.join(&TemplatePart::Text(OR.to_owned()))).to_string(),
            Err(e) => e.message,
        }
    }

    #[test]
    fn maestro_patterns_become_comparisons() {
        assert_eq!(exported("Save"), "text=Save");
        assert_eq!(exported("Total (2)?"), r#"text="Total (2)?""#);
        assert_eq!(exported("say \"hi\""), r#"text="say \"hi\"""#);
        assert_eq!(exported(".*invoice 7.*"), r#"text~="invoice 7""#);
        assert_eq!(exported(r"\[draft\]"), "text=[draft]");
        assert_eq!(exported("Hello ${USER}"), r#"text="Hello ${USER}""#);
        assert_eq!(exported("Yes|.*okay.*"), "text=Yes || text~=okay");
        assert_eq!(exported("(Save|Done)"), "text=Save || text=Done");
        assert_eq!(exported(r"a\|b"), "text=\"a|b\"");
        assert_eq!(exported("Welcome.*"), "text^=Welcome");
        assert_eq!(exported(".*items|Empty"), "text$=items || text=Empty");
        for pattern in ["Wel.*come", ".*", "", "a.+b", "[0-9]", r"\d", "a|", "(a|b)c", "(?i)a", "^a"] {
            assert!(exported(pattern).contains("not supported"), "{pattern}: {}", exported(pattern));
        }
    }
}
