//! Compares outcomes with expectations.

use crate::Normaliser;
use crate::scenario::Step;
use serde_json::Value;
use stickpin_kernel::Response;

/// The outcome of one step on a surface. A part that a surface cannot show is left out and not
/// compared.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The exit code.
    pub exit: u8,
    /// The text for people: output on success, otherwise error line and hint.
    pub text: Option<String>,
    /// The warning; `Some("")` if there was none.
    pub warning: Option<String>,
    /// The envelope.
    pub envelope: Option<Response>,
    /// New lines of the app's log.
    pub received: Vec<String>,
}

impl Outcome {
    /// Returns the generation: from the envelope, otherwise the last one in the text.
    #[must_use]
    pub fn generation(&self) -> Option<u64> {
        if let Some(envelope) = &self.envelope {
            return envelope.refs_generation;
        }
        let words = self.text.as_deref()?.split_whitespace();
        words.filter_map(|w| w.strip_prefix('s')?.parse().ok()).next_back()
    }
}

/// Returns the first pinned ref in the text: answers must show refs without pins.
fn pinned(text: &str) -> Option<&str> {
    text.match_indices("~s").find_map(|(at, _)| {
        let digits = text[..at].bytes().rev().take_while(u8::is_ascii_digit).count();
        let pin = text[at + 2..].starts_with(|c: char| c.is_ascii_digit());
        (digits > 0 && pin && text[..at - digits].ends_with('e')).then(|| &text[at - digits - 1..at + 3])
    })
}

/// Returns every difference as a sentence; empty if everything is as expected.
pub fn differences(step: &Step, got: &Outcome, normaliser: &mut Normaliser) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(envelope) = &got.envelope
        && let Some(refs) = &envelope.refs
    {
        normaliser.lifetime(&refs.lifetime);
        if let Some(generation) = refs.generation {
            normaliser.generation(generation);
        }
    }
    if got.exit != step.exit {
        let error = got.envelope.as_ref().and_then(|e| e.error.as_ref()).map(ToString::to_string);
        out.push(format!(
            "exit {} instead of {} {}",
            got.exit,
            step.exit,
            error.or_else(|| got.text.clone()).unwrap_or_default()
        ));
    }
    if let Some(text) = &got.text {
        texts(step, &normaliser.text(text), &mut out);
    }
    if let Some(warning) = &got.warning {
        match (&step.warning, warning.as_str()) {
            (None, "") => {}
            (None, w) => out.push(format!("unexpected warning: {w}")),
            (Some(want), w) if normaliser.text(w).contains(want) => {}
            (Some(want), w) => out.push(format!("warning {:?} instead of {want:?}", normaliser.text(w))),
        }
    }
    if let Some(envelope) = &got.envelope {
        fields(step, envelope, normaliser, &mut out);
    }
    let shown = [got.text.clone(), got.warning.clone(), got.envelope.as_ref().map(json)];
    for text in shown.iter().flatten().filter(|_| step.exit != 2) {
        let text = normaliser.without_decoys(text);
        out.extend(pinned(&text).map(|pin| format!("an answer shows the pinned ref {pin}…")));
    }
    if let Some(want) = &step.received
        && *want != got.received
    {
        out.push(format!("the app received {:?} instead of {want:?}", got.received));
    }
    out
}

fn json(envelope: &Response) -> String {
    serde_json::to_string(envelope).expect("an envelope is JSON")
}

fn texts(step: &Step, text: &str, out: &mut Vec<String>) {
    let text = text.trim();
    if let Some(want) = &step.text
        && want.trim() != text
    {
        out.push(format!("text\n--- expected\n{}\n--- got\n{text}\n---", want.trim()));
    }
    out.extend(step.has.iter().filter(|p| !text.contains(*p)).map(|p| format!("no {p:?} in\n{text}")));
    out.extend(
        step.lacks.iter().filter(|p| text.contains(*p)).map(|p| format!("unexpected {p:?} in\n{text}")),
    );
    for part in [&step.code, &step.message, &step.hint].into_iter().flatten() {
        if !text.contains(part) {
            out.push(format!("no {part:?} in the error\n{text}"));
        }
    }
}

fn fields(step: &Step, envelope: &Response, normaliser: &mut Normaliser, out: &mut Vec<String>) {
    let error = envelope.error.as_ref();
    let code = error.map(|e| e.code.name());
    if code != step.code.as_deref() && (step.code.is_some() || step.exit == 0) {
        out.push(format!("error {code:?} instead of {:?}", step.code));
    }
    if let (Some(want), Some(e)) = (&step.dispatched, error) {
        let dispatched = serde_json::to_value(e.dispatched).unwrap_or_default();
        if dispatched != *want.as_str() {
            out.push(format!("dispatched {dispatched} instead of {want}"));
        }
    }
    if let Some(want) = &step.output {
        subset("output", want, envelope.output.clone().unwrap_or_default(), normaliser, out);
    }
    if let Some(want) = &step.details {
        subset("details", want, error.map(|e| e.details.clone()).unwrap_or_default(), normaliser, out);
    }
    let refs = envelope.refs.clone().unwrap_or_default();
    for (name, want, have) in [("issued", &step.issued, &refs.issued), ("ended", &step.ended, &refs.ended)] {
        let have = ranges(have);
        if let Some(want) = want
            && *want != have
        {
            out.push(format!("{name} {have:?} instead of {want:?}"));
        }
    }
    if let Some(want) = step.generation {
        let have = refs.generation.and_then(|g| normaliser.generation(g));
        if have != Some(want) {
            out.push(format!("generation {have:?} instead of +{want}"));
        }
    }
}

fn ranges(ranges: &[(u32, u32)]) -> String {
    let one = |&(a, b): &(u32, u32)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    ranges.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn subset(
    what: &str,
    expected: &toml::Value,
    mut have: Value,
    normaliser: &mut Normaliser,
    out: &mut Vec<String>,
) {
    normaliser.json(&mut have);
    match serde_json::to_value(expected) {
        Ok(want) if is_subset(&want, &have) => {}
        Ok(want) => out.push(format!("{what} {have} does not contain {want}")),
        Err(e) => out.push(format!("{what}: {e}")),
    }
}

/// Returns whether every field of `expected` is in `actual` with an equal value. Arrays are
/// compared item by item.
fn is_subset(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Object(want), Value::Object(have)) => {
            want.iter().all(|(k, v)| have.get(k).is_some_and(|h| is_subset(v, h)))
        }
        (Value::Array(want), Value::Array(have)) => {
            want.len() == have.len() && want.iter().zip(have).all(|(w, h)| is_subset(w, h))
        }
        (Value::Number(want), Value::Number(have)) => want.as_f64() == have.as_f64(),
        _ => expected == actual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn subset_ignores_only_unnamed_fields() {
        let have = json!({"a": 1, "b": [{"c": "x", "d": 2}]});
        assert!(is_subset(&json!({"b": [{"c": "x"}]}), &have));
        assert!(is_subset(&json!({"a": 1.0}), &have));
        assert!(!is_subset(&json!({"b": []}), &have));
        assert!(!is_subset(&json!({"b": [{"c": "y"}]}), &have));
    }

    #[test]
    fn pinned_ref_in_output_is_a_difference() {
        assert_eq!(pinned("pressed @e12~s482913 button"), Some("e12~s4"));
        assert_eq!(pinned("refs s482913, ~states @e1 ~s @e12~sx"), None);
    }

    #[test]
    fn an_unexpected_warning_or_failure_is_a_difference() {
        let step = Step { run: "press @e1".into(), ..Step::default() };
        let got = Outcome { exit: 1, warning: Some("the tree changed".into()), ..Outcome::default() };
        let found = differences(&step, &got, &mut Normaliser::default());
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
