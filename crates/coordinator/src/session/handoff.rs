//! The limits of a handoff, and errors that contain one.

use serde_json::json;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::turn::{Artifact, Handoff};

/// The maximum length of a text in a handoff, in bytes.
const MAX_HANDOFF: usize = 16 * 1024;

/// The maximum total length of the texts of a handoff other than its status and next action, in
/// bytes. Keeps a record with a handoff well below the maximum size of a record.
const MAX_WHOLE_HANDOFF: usize = 256 * 1024;

/// Refuses a handoff without a status or next action, with a text that is too long, or with an
/// artifact that does not refer to exactly one thing.
pub(super) fn check_handoff(handoff: &Handoff) -> Result<()> {
    for (field, text) in [("status", &handoff.status), ("nextAction", &handoff.next_action)] {
        if text.trim().is_empty() || text.len() > MAX_HANDOFF {
            let message = format!("`{field}` in a handoff must contain 1 to {MAX_HANDOFF} bytes of text");
            return Err(Error::new(ErrorCode::InvalidHandoff, message)
                .hint("use `--status` to state what was done, and `--next-action` to state what comes next")
                .details(json!({ "field": field })));
        }
    }
    for artifact in &handoff.artifacts {
        let Artifact { path, element, blob, seq, lines: _, role: _, note: _ } = artifact;
        let named = [path, element, blob].map(|text| text.as_ref().map(|text| !text.trim().is_empty()));
        let seq = seq.map(|_| true);
        let mut named = named.into_iter().chain([seq]).flatten();
        if (named.next(), named.next()) != (Some(true), None) {
            let message = "an artifact of a handoff must have exactly one of `path`, `ref`, `blob` and `seq`";
            return Err(Error::new(ErrorCode::InvalidHandoff, message)
                .hint(r#"write an artifact as {"path": "cart.png", "role": "examine"}"#)
                .details(json!({ "field": "artifacts" })));
        }
    }
    let of_artifacts = handoff.artifacts.iter().flat_map(|artifact| {
        let Artifact { path, element, blob, lines, note, seq: _, role: _ } = artifact;
        [path, element, blob, lines, note].into_iter().flatten().map(|text| ("artifacts", text))
    });
    let questions = handoff.open_questions.iter().map(|text| ("openQuestions", text));
    let others = questions.chain(handoff.do_not.iter().map(|text| ("doNot", text))).chain(of_artifacts);
    let mut whole = 0;
    for (field, text) in others {
        whole += text.len();
        if text.len() > MAX_HANDOFF || whole > MAX_WHOLE_HANDOFF {
            let message = match text.len() > MAX_HANDOFF {
                true => format!("a text in the handoff's `{field}` is longer than {MAX_HANDOFF} bytes"),
                false => format!(
                    "the texts in the handoff's `openQuestions`, `doNot` and `artifacts` are longer \
                     than {MAX_WHOLE_HANDOFF} bytes in total"
                ),
            };
            return Err(Error::new(ErrorCode::InvalidHandoff, message)
                .hint("write long text to a file and name the file as an artifact of the handoff")
                .details(json!({ "field": field })));
        }
    }
    Ok(())
}

/// Adds an unrecorded handoff to the details of an error, so that the handoff is not lost.
pub(super) fn with_handoff(e: Error, handoff: &Handoff) -> Error {
    let mut details = e.details.clone();
    if !details.is_object() {
        details = json!({});
    }
    details["handoff"] = json!(handoff);
    e.details(details)
}
