//! A one-line summary of the input of a call, without secrets.

use crate::log::{MASK, Redactor, redact_strings};
use serde_json::{Map, Value};
use stickpin_tree::{escape, quote_whole};

/// The maximum length of a summary in characters, without the mark for omissions.
const MAX_CHARS: usize = 80;

/// The maximum length of a value in a summary, in characters, without its quotes and `…`.
const MAX_VALUE_CHARS: usize = 40;

/// The maximum length of a value's name, in characters. A name and a value of maximum length fit
/// into a summary.
const MAX_NAME_CHARS: usize = 30;

/// Summarizes the input of a call: `target="@e3", count=2`.
///
/// Values have at most 40 characters without quotes and `…`, and the summary has at most 80 without
/// a final `… +N`. A cut value ends in `…`, inside its quotes if it has any. `… +N` counts the
/// omitted pairs. Secrets are masked and unsafe characters escaped.
#[must_use]
pub fn summarize(input: &Map<String, Value>, redactor: &dyn Redactor) -> String {
    let mut out = String::new();
    let mut length = 0;
    for (at, (name, value)) in input.iter().enumerate() {
        let separator = if at == 0 { "" } else { ", " };
        let pair =
            format!("{separator}{}={}", shown_name(name, redactor), shown_value(name, value, redactor));
        let chars = pair.chars().count();
        if length + chars > MAX_CHARS {
            out.push_str(&format!(" … +{}", input.len() - at));
            break;
        }
        out.push_str(&pair);
        length += chars;
    }
    out
}

/// Summarizes the input of a call that is not parsed yet. Anything but a JSON object is shown as
/// text, cut after 80 characters. Everything after the name of a secret is masked, as are known
/// secrets.
#[must_use]
pub fn summarize_text(input: &str, redactor: &dyn Redactor) -> String {
    if let Ok(input) = serde_json::from_str(input) {
        return summarize(&input, redactor);
    }
    let mut text = match secret_name_end(input, redactor) {
        Some(end) => format!("{}{MASK}", &input[..end]),
        None => input.to_owned(),
    };
    redactor.redact(&mut text);
    shown_json(&text, MAX_CHARS)
}

fn shown_name(name: &str, redactor: &dyn Redactor) -> String {
    let mut name = name.to_owned();
    redactor.redact(&mut name);
    let is_word = !name.is_empty() && name.chars().all(is_word_char) && name.len() <= MAX_NAME_CHARS;
    if is_word { name } else { quoted(&name, MAX_NAME_CHARS) }
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c)
}

fn shown_value(name: &str, value: &Value, redactor: &dyn Redactor) -> String {
    match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        _ if redactor.is_secret(name) => format!("\"{MASK}\""),
        Value::String(text) => {
            let mut text = text.clone();
            redactor.redact(&mut text);
            quoted(&text, MAX_VALUE_CHARS)
        }
        Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            shown_json(&redact_strings(value.clone(), redactor).to_string(), MAX_VALUE_CHARS)
        }
    }
}

/// Returns a text escaped and in quotes, with at most `most` characters. If the text was cut, `…`
/// precedes the closing quote.
fn quoted(text: &str, most: usize) -> String {
    let (mut out, mut length) = (String::from('"'), 0);
    for c in text.chars() {
        let quoted = quote_whole(c.encode_utf8(&mut [0; 4]));
        let shown = &quoted[1..quoted.len() - 1];
        length += shown.chars().count();
        if length > most {
            out.push('…');
            break;
        }
        out.push_str(shown);
    }
    out.push('"');
    out
}

/// Returns JSON, or a part of it, as one line of at most `most` characters. If the JSON was cut,
/// `…` follows, and then a quote if the cut is within a string.
fn shown_json(json: &str, most: usize) -> String {
    let (mut out, mut length) = (String::new(), 0);
    let (mut in_string, mut escaped) = (false, false);
    for c in json.chars() {
        let shown = escape(c.encode_utf8(&mut [0; 4]), 1);
        length += shown.chars().count();
        if length > most {
            if !in_string {
                out.push('…');
            }
            break;
        }
        out.push_str(&shown);
        in_string ^= c == '"' && !escaped;
        escaped = c == '\\' && in_string && !escaped;
    }
    if in_string {
        if escaped {
            // Half an escape sequence would hide the quote.
            out.pop();
        }
        out.push_str("…\"");
    }
    out
}

/// Returns the end offset of the first name of a secret, including its separator: `{"text":` of
/// `{"text": "hunter2`.
fn secret_name_end(text: &str, redactor: &dyn Redactor) -> Option<usize> {
    let mut rest = text;
    while let Some(start) = rest.find(is_word_char) {
        let word = &rest[start..];
        let end = word.find(|c| !is_word_char(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let value = after.trim_start_matches(['"', '\'']).trim_start();
        if value.starts_with([':', '=']) && redactor.is_secret(word) {
            return Some(text.len() - value.len() + 1);
        }
        rest = after;
    }
    None
}
