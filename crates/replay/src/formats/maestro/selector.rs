//! Converts the target of a command, a text or a mapping, into one of our selectors.

use super::super::yaml::{Mark, Value, Yaml};
use super::fields::Fields;
use super::text;
use crate::script::{Part, ScriptError, Template};
use stickpin_tree::{Compare, Selector, quote_whole};

/// The names of states, which are also our flags.
const FLAGS: [&str; 4] = ["enabled", "checked", "focused", "selected"];

/// Reads a selector that is the value of a key.
pub(super) fn of(name: &str, yaml: &Yaml) -> Result<Template, ScriptError> {
    match &yaml.value {
        Value::Map(_) => {
            let mut fields = Fields::of(name, yaml)?;
            let selector = take(&mut fields)?;
            fields.end()?;
            Ok(selector)
        }
        Value::Text(_) => plain(name, yaml),
        other => Err(yaml.at.fault(format!("`{name}` takes a text or a selector, not {}", other.kind()), "")),
    }
}

/// Reads a selector that is a single text.
pub(super) fn plain(name: &str, yaml: &Yaml) -> Result<Template, ScriptError> {
    let all = alternatives("text", &text::of(name, yaml)?, yaml.at)?;
    Ok(tidy(all.join(&Part::Text(OR.to_owned()))))
}

/// The separator between the alternatives of a selector.
const OR: &str = " || ";

/// Returns the alternatives of a pattern: `A|B` and `(A|B)` match either of two texts.
fn alternatives(key: &str, value: &Template, at: Mark) -> Result<Vec<Vec<Part>>, ScriptError> {
    let whole = value.as_text().filter(|text| text.contains('|') && !text.contains("\\|"));
    let Some(whole) = whole else { return Ok(vec![compared(key, value, at)?]) };
    let inner = whole.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(whole);
    if inner.contains(['(', ')']) {
        return Err(pattern(value, at));
    }
    let one = |text: &str| compared(key, &Template::text(text), at).map_err(|_| pattern(value, at));
    inner.split('|').map(one).collect()
}

/// Adds `visible` to all alternatives of a selector but the last, and returns its parts; the caller
/// adds it to the last.
pub(super) fn each_visible(target: &Template) -> Vec<Part> {
    let several = target.as_text().and_then(|text| text.parse::<Selector>().ok());
    // Texts of alternatives contain no bar.
    match (several.is_some_and(|selector| selector.alternatives().count() > 1), target.as_text()) {
        (true, Some(text)) => vec![Part::Text(text.replace(OR, &format!(" visible{OR}")))],
        _ => target.parts().to_vec(),
    }
}

/// Selector keys without a counterpart, and what to write instead.
const RELATIONS: &[(&str, &str)] = &[
    ("above", PLACES),
    ("below", PLACES),
    ("leftOf", PLACES),
    ("rightOf", PLACES),
    ("containsChild", CONTAINS),
    ("containsDescendants", CONTAINS),
    ("traits", "use text or id to name an element"),
    ("width", SIZES),
    ("height", SIZES),
    ("tolerance", SIZES),
];

const PLACES: &str =
    "a relative position does not identify an element: use childOf for its container, or index";
const CONTAINS: &str = "name the element by its own text or id, or by childOf";
const SIZES: &str = "a size does not identify an element: use text and id";

/// Takes the terms of a selector from a command's arguments.
pub(super) fn take(fields: &mut Fields<'_>) -> Result<Template, ScriptError> {
    let at = fields.at;
    let mut terms: Vec<Vec<Part>> = Vec::new();
    let mut texts = Vec::new();
    for key in ["text", "id", "css"] {
        let Some(value) = fields.text(key)? else { continue };
        match key {
            "text" => texts = alternatives(key, &value, at)?,
            "css" => terms.push(term(key, "=", &value)),
            _ => terms.push(compared(key, &value, at)?),
        }
    }
    for flag in FLAGS {
        let Some(on) = fields.switch(flag)? else { continue };
        terms.push(vec![Part::Text(if on { flag.to_owned() } else { format!("{flag}=false") })]);
    }
    if let Some(parent) = fields.take("childOf") {
        let parent = of("childOf", parent)?;
        let parts = [&[Part::Text("in(".to_owned())], parent.parts(), &[Part::Text(")".to_owned())]];
        terms.push(parts.concat());
    }
    if let Some(index) = fields.number("index")? {
        terms.push(vec![Part::Text(format!("nth={}", u64::from(index) + 1))]);
    }
    for (key, hint) in RELATIONS {
        if let Some(yaml) = fields.take(key) {
            return Err(yaml.at.fault(format!("`{key}` of `{}` is not supported", fields.of), *hint));
        }
    }
    if terms.is_empty() && texts.is_empty() {
        fields.unsupported(&["label", "optional"])?;
        return Err(at.fault(
            format!("`{}` has no supported key of an element", fields.of),
            "text, id, css, enabled, checked, focused, selected, childOf, index",
        ));
    }
    let space = Part::Text(" ".to_owned());
    if texts.is_empty() {
        return Ok(tidy(terms.join(&space)));
    }
    let with = |text: Vec<Part>| [&[text], &*terms].concat().join(&space);
    Ok(tidy(texts.into_iter().map(with).collect::<Vec<_>>().join(&Part::Text(OR.to_owned()))))
}

/// Normalizes the spelling of a selector without variables.
fn tidy(parts: Vec<Part>) -> Template {
    let template = Template::new(parts);
    let spelled = template.as_text().and_then(|text| text.parse::<Selector>().ok());
    spelled.map_or(template, |selector| Template::text(selector.to_string()))
}

/// Returns the term `key="value"`.
fn term(key: &str, sign: &str, value: &Template) -> Vec<Part> {
    let mut parts = vec![Part::Text(format!("{key}{sign}\""))];
    parts.extend(value.parts().iter().map(|part| match part {
        Part::Text(text) => {
            let quoted = quote_whole(text);
            Part::Text(quoted[1..quoted.len() - 1].to_owned())
        }
        variable @ Part::Variable { .. } => variable.clone(),
    }));
    parts.push(Part::Text("\"".to_owned()));
    parts
}

/// Converts one of the supported regular expressions into a comparison: a plain text, `text.*`,
/// `.*text` and `.*text.*`.
fn compared(key: &str, value: &Template, at: Mark) -> Result<Vec<Part>, ScriptError> {
    let mut parts = value.parts().to_vec();
    let front = match parts.first_mut() {
        Some(Part::Text(text)) => cut(text, text.strip_prefix(".*").map(str::to_owned)),
        _ => false,
    };
    let back = match parts.last_mut() {
        Some(Part::Text(text)) => cut(text, text.strip_suffix(".*").map(str::to_owned)),
        _ => false,
    };
    for part in &mut parts {
        if let Part::Text(text) = part {
            *text = literal(text).ok_or_else(|| pattern(value, at))?;
        }
    }
    let value_only = Template::new(parts);
    if value_only.parts().is_empty() {
        return Err(pattern(value, at));
    }
    let compare = match (front, back) {
        (false, false) => Compare::Whole,
        (false, true) => Compare::Start,
        (true, false) => Compare::End,
        (true, true) => Compare::Part,
    };
    Ok(term(key, compare.sign(), &value_only))
}

fn cut(text: &mut String, rest: Option<String>) -> bool {
    let found = rest.is_some();
    *text = rest.unwrap_or_else(|| std::mem::take(text));
    found
}

fn pattern(value: &Template, at: Mark) -> ScriptError {
    let shown = stickpin_tree::quote(&value.to_string());
    at.fault(
        format!("the pattern {shown} is not supported"),
        "a whole text, its beginning \"text.*\", its end \".*text\", or a part of it \".*part.*\"; a backslash before a character takes it as it is",
    )
}

/// Returns the text that a pattern matches literally, or `None` if it is a real pattern. Characters
/// that stay as they are match more strictly than in a pattern.
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

    fn said(text: &str) -> String {
        let at = Mark { line: 1, column: 1 };
        match text::template(text, at).and_then(|t| alternatives("text", &t, at)) {
            Ok(all) => tidy(all.join(&Part::Text(OR.to_owned()))).to_string(),
            Err(e) => e.message,
        }
    }

    #[test]
    fn texts_are_compared_whole_and_parts_are_said() {
        assert_eq!(said("Save"), "text=Save");
        assert_eq!(said("Total (2)?"), r#"text="Total (2)?""#);
        assert_eq!(said("say \"hi\""), r#"text="say \"hi\"""#);
        assert_eq!(said(".*invoice 7.*"), r#"text~="invoice 7""#);
        assert_eq!(said(r"\[draft\]"), "text=[draft]");
        assert_eq!(said("Hello ${USER}"), r#"text="Hello ${USER}""#);
        assert_eq!(said("Yes|.*okay.*"), "text=Yes || text~=okay");
        assert_eq!(said("(Save|Done)"), "text=Save || text=Done");
        assert_eq!(said(r"a\|b"), "text=\"a|b\"");
        assert_eq!(said("Welcome.*"), "text^=Welcome");
        assert_eq!(said(".*items|Empty"), "text$=items || text=Empty");
        for pattern in ["Wel.*come", ".*", "", "a.+b", "[0-9]", r"\d", "a|", "(a|b)c", "(?i)a", "^a"] {
            assert!(said(pattern).contains("not supported"), "{pattern}: {}", said(pattern));
        }
    }
}
