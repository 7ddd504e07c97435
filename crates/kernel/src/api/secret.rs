//! Secrets: values that are used but never shown. A front end reads them by name from its
//! environment, an action fills them into a field, and responses replace them with dots.

use crate::api::request::Response;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The replacement for a secret.
pub(crate) const MASK: &str = "•••";

/// The number of matching characters that identify a secret in a response that truncates it.
const MIN_PREFIX: usize = 12;

/// The minimum length of a secret that is also replaced inside words and in Base64; shorter ones
/// would match everywhere.
const MIN_INFIX_LENGTH: usize = 4;

/// A value that is never shown, not even when a request is printed for debugging.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value that must not be shown.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Returns the value for use in an input.
    #[must_use]
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Response {
    /// Replaces secrets with dots in all text of the response that an app or a caller determines.
    pub fn hide_secrets(&mut self, secrets: &[Secret]) {
        let forms = forms(secrets);
        if forms.is_empty() {
            return;
        }
        let hide = |text: &mut String| hide_in(text, &forms);
        // All fields are listed, so that a new one is judged here.
        let Self {
            output,
            text,
            error,
            warning,
            receipt,
            reference,
            dialog,
            ok: _,
            command: _,
            session: _,
            state_dir: _,
            receipt_errors: _,
            refs: _,
            refs_generation: _,
            image: _,
            log_status: _,
            turns: _,
            exit: _,
        } = self;
        let meaning = reference.iter_mut().map(|reference| &mut reference.meaning);
        text.iter_mut().chain(warning).chain(receipt).chain(meaning).for_each(hide);
        output.iter_mut().for_each(|value| hide_in_json(value, &forms));
        if let Some(error) = error {
            hide(&mut error.message);
            hide(&mut error.hint);
            hide_in_json(&mut error.details, &forms);
        }
        if let Some(dialog) = dialog {
            hide(&mut dialog.message);
            hide(&mut dialog.default);
        }
    }
}

/// Replaces secrets with dots in a text.
pub(crate) fn hide_in_text(text: &mut String, secrets: &[Secret]) {
    hide_in(text, &forms(secrets));
}

/// Returns the secrets in every encoding that is replaced, except percent-encoding, which [`alike`]
/// recognizes. The longest come first, because they may contain shorter ones.
fn forms(secrets: &[Secret]) -> Vec<String> {
    let mut forms = Vec::new();
    for secret in secrets.iter().filter(|s| !s.0.is_empty()) {
        let escaped = stickpin_tree::escape(&secret.0, usize::MAX);
        // The forms in JSON and in our own quoting.
        let json = Value::from(secret.0.as_str()).to_string();
        forms.extend([secret.0.clone(), escaped.to_string(), json[1..json.len() - 1].to_owned()]);
        // The forms in HTML source and in HTTP headers.
        let mut html = secret.0.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        forms.push(html.clone());
        html = html.replace('"', "&quot;");
        forms.push(html);
        if secret.0.len() >= MIN_INFIX_LENGTH {
            forms.extend([STANDARD_NO_PAD.encode(&secret.0), URL_SAFE_NO_PAD.encode(&secret.0)]);
        }
    }
    forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    forms.dedup();
    forms
}

fn hide_in_json(value: &mut Value, forms: &[String]) {
    match value {
        Value::String(text) => hide_in(text, forms),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_in_json(item, forms)),
        Value::Object(fields) => fields.values_mut().for_each(|field| hide_in_json(field, forms)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn hide_in(text: &mut String, forms: &[String]) {
    for form in forms {
        let (length, wanted) = (form.chars().count(), MIN_PREFIX.min(form.chars().count()));
        let alone = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
        let mut out = String::new();
        let mut from = 0;
        let mut at = 0;
        while at < text.len() {
            let (matched, end) = alike(text, at, form);
            let bounded = alone(text[..at].chars().next_back()) && alone(text[end..].chars().next());
            // A response may truncate the secret, so a prefix is enough.
            if matched >= wanted && (length >= MIN_INFIX_LENGTH || bounded) {
                out.push_str(&text[from..at]);
                out.push_str(MASK);
                (from, at) = (end, end);
            } else {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
            }
        }
        if from > 0 {
            out.push_str(&text[from..]);
            *text = out;
        }
    }
}

/// Returns how many characters of a secret match a text at a position, and where the match ends.
/// Also matches percent-encoded characters, and a plus for a space.
fn alike(text: &str, from: usize, form: &str) -> (usize, usize) {
    let (mut matched, mut at) = (0, from);
    for c in form.chars() {
        let rest = &text[at..];
        let taken = match rest.chars().next() {
            Some(same) if same == c => Some(c.len_utf8()),
            Some('%') => percent_encoded_len(rest, c),
            Some('+') if c == ' ' => Some(1),
            _ => None,
        };
        let Some(taken) = taken else { break };
        (matched, at) = (matched + 1, at + taken);
    }
    (matched, at)
}

/// Returns the length of the percent-encoded form of `c` at the start of a text, or `None` if the
/// text does not start with it.
fn percent_encoded_len(text: &str, c: char) -> Option<usize> {
    let mut buffer = [0; 4];
    let bytes = c.encode_utf8(&mut buffer).as_bytes();
    let mut at = 0;
    for byte in bytes {
        let hex = text.get(at..)?.strip_prefix('%')?.get(..2)?;
        if u8::from_str_radix(hex, 16).ok()? != *byte {
            return None;
        }
        at += 3;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::request::RefDetail;
    use serde_json::json;

    fn hidden(text: &str, secrets: &[&str]) -> String {
        let secrets: Vec<Secret> = secrets.iter().copied().map(Secret::new).collect();
        let mut response = Response { text: Some(text.to_owned()), ..Response::default() };
        response.hide_secrets(&secrets);
        response.text.unwrap_or_default()
    }

    #[test]
    fn a_secret_is_not_said_however_it_is_written() {
        assert_eq!(hidden("a hunter2 b hunter2", &["hunter2"]), "a ••• b •••");
        assert_eq!(
            hidden(r#"textbox "Key" ="say \"x\"\nand" ok"#, &["say \"x\"\nand"]),
            r#"textbox "Key" ="•••" ok"#
        );
        // Truncated by a response, and one inside the other.
        assert_eq!(hidden("=\"correct horse battery…\"", &["correct horse battery staple"]), "=\"•••…\"");
        assert_eq!(hidden("hunter2hunter3", &["hunter2", "hunter2hunter3"]), "•••");
        // A short one only as a separate word.
        assert_eq!(hidden("pin 12, row 1234", &["12"]), "pin •••, row 1234");
        assert_eq!(hidden("as it was", &["", "other"]), "as it was");
        // In an address, a form, a source and a header, in any encoding.
        let secret = "s3cr+t/ü &\"x";
        for written in [
            "s3cr%2Bt%2F%C3%BC%20%26%22x",
            "s3cr%2bt/%c3%bc+%26%22x",
            "s3cr+t/ü%20&%22x",
            "s3cr+t/ü &amp;&quot;x",
            "czNjcit0L8O8ICYieA==",
        ] {
            let said = hidden(&format!("GET /a?key={written}&b"), &[secret]);
            assert!(said.starts_with("GET /a?key=•••") && said.ends_with("&b"), "{written}: {said}");
        }
        assert_eq!(hidden("100% of %41%42%", &["AB12"]), "100% of %41%42%");
    }

    #[test]
    fn every_part_of_a_response_is_looked_at() {
        let secret = "hunter2";
        let mut response = Response {
            output: Some(json!({ "value": secret, "rows": [{ "text": "a hunter2" }], "n": 1 })),
            warning: Some(secret.to_owned()),
            receipt: vec![format!("announced {secret}")],
            error: Some(
                stickpin_device::Error::new(stickpin_device::ErrorCode::FillMismatch, secret)
                    .hint(secret)
                    .details(json!({ "value": secret })),
            ),
            reference: Some(RefDetail {
                body: "@e1".to_owned(),
                minted: None,
                current: None,
                standing: "live".to_owned(),
                meaning: format!("button {secret:?}"),
            }),
            dialog: Some(stickpin_device::Dialog::new("prompt", secret).default_answer(secret.to_owned())),
            ..Response::default()
        };
        response.hide_secrets(&[Secret::new(secret)]);
        let all = serde_json::to_string(&response).expect("it is plain");
        assert!(!all.contains(secret), "{all}");
        assert_eq!(all.matches(MASK).count(), 10, "{all}");
    }

    #[test]
    fn it_is_not_printed_for_debugging() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), MASK);
    }
}
