//! Secrets do not reach a record.

use super::samples::{Words, begin};
use crate::log::redacted::MASK;
use crate::log::{Argument, Arguments, BlobId, BlobRef, Kind, Redacted, RedactedHandoff, Redactor};
use crate::turn::{Artifact, ArtifactRole, Handoff};
use serde_json::json;
use std::convert::Infallible;

#[test]
fn secret_argument_is_a_length() {
    let Kind::CommandBegin(begin) = begin(1) else { panic!("not a begin") };
    let json = serde_json::to_value(&begin.args_raw).unwrap();
    assert_eq!(json["password"], json!({"secret": true, "len": 7}));
}

#[test]
fn secret_words_are_replaced_in_every_value() {
    let given = json!({
        "text": "it is hunter2",
        "list": ["hunter2", ["hunter2"]],
        "object": {"a": {"hunter2": ["hunter2"]}, "password": "other"},
        "password": 1234,
    });
    let arguments = Arguments::new(given.as_object().unwrap(), &Words);
    let json = serde_json::to_string(&arguments).unwrap();
    assert!(!json.contains("hunter2") && !json.contains("other") && !json.contains("1234"), "{json}");
    assert_eq!(serde_json::from_str::<Arguments>(&json).unwrap(), arguments);
    let handoff = Handoff {
        status: "hunter2".into(),
        next_action: "hunter2".into(),
        artifacts: Vec::new(),
        open_questions: vec!["hunter2".into()],
        do_not: vec!["hunter2".into()],
        ui: None,
    };
    let json = serde_json::to_string(&RedactedHandoff::new(handoff, &Words)).unwrap();
    assert!(!json.contains("hunter2"), "{json}");
}

#[test]
fn artifact_of_a_handoff_keeps_only_a_real_blob_id() {
    struct Digits;
    impl Redactor for Digits {
        fn is_secret(&self, _: &str) -> bool {
            false
        }

        fn redact(&self, text: &mut String) {
            *text = text.replace("00", MASK);
        }
    }
    let artifact = |text: &str| Artifact {
        path: Some("00".into()),
        element: Some("00".into()),
        blob: Some(text.into()),
        seq: None,
        lines: Some("00".into()),
        role: ArtifactRole::Context,
        note: Some("00".into()),
    };
    let id = BlobId::new([0; 32]).to_string();
    let handoff = Handoff {
        status: "done".into(),
        next_action: "pay".into(),
        artifacts: vec![artifact("the code is 00"), artifact(&id), artifact(&format!("{id}00"))],
        open_questions: Vec::new(),
        do_not: Vec::new(),
        ui: None,
    };
    let redacted = RedactedHandoff::new(handoff, &Digits);
    let [text, blob, longer] = &redacted.get().artifacts[..] else { panic!("{redacted:?}") };
    assert_eq!(text.blob.as_deref(), Some("the code is •••"));
    assert_eq!(blob.blob.as_ref(), Some(&id));
    assert!(longer.blob.as_ref().is_some_and(|text| !text.contains("00")), "{longer:?}");
    for artifact in &redacted.get().artifacts {
        let Artifact { path, element, lines, note, .. } = artifact;
        assert_eq!([path, element, lines, note].map(Option::as_deref), [Some(MASK); 4]);
    }
}

/// A caller's object that looks like a blob or a secret remains an ordinary object.
#[test]
fn object_argument_is_never_taken_for_a_blob() {
    let given = json!({
        "blob": {"blob": format!("sha256:{}", "0".repeat(64)), "bytes": 1},
        "secret": {"secret": true, "len": 3},
        "json": {"json": "{}"},
    });
    let arguments = Arguments::new(given.as_object().unwrap(), &Words);
    let read: Arguments = serde_json::from_value(serde_json::to_value(&arguments).unwrap()).unwrap();
    assert_eq!(read, arguments);
    for (name, value) in read.iter() {
        let Argument::Json(text) = value else { panic!("{name} became {value:?}") };
        assert_eq!(text.text().unwrap(), given[name].to_string());
    }
}

#[test]
fn long_texts_move_out_and_short_ones_stay() {
    let given = json!({"text": "x".repeat(11), "short": "x".repeat(10), "list": ["y".repeat(20)]});
    let mut arguments = Arguments::new(given.as_object().unwrap(), &Words);
    let mut moved = Vec::new();
    let mut offload = |text: &str| {
        moved.push(text.to_owned());
        Ok::<_, Infallible>(BlobRef { blob: BlobId::new([1; 32]), bytes: text.len() as u64 })
    };
    arguments.offload(10, &mut offload).unwrap();
    assert_eq!(moved, ["y".repeat(20), "x".repeat(11)]);
    let read: Arguments = serde_json::from_value(serde_json::to_value(&arguments).unwrap()).unwrap();
    assert_eq!(read, arguments);
    let Some(Argument::Text(text)) = read.get("text") else { panic!("not a text") };
    assert_eq!(text.blob().unwrap().bytes, 11);
    assert_eq!(text.text(), None);
    assert_eq!(Redacted::secret(3).text(), None);
}

#[test]
fn blob_ids_are_digests() {
    let id = BlobId::new([0xab; 32]);
    assert_eq!(BlobId::parse(&id.to_string()), Ok(id.clone()));
    assert_eq!(id.hex(), "ab".repeat(32));
    for wrong in ["", "sha256:", "sha256:../../x", &format!("sha256:{}", "A".repeat(64))] {
        assert!(BlobId::parse(wrong).is_err(), "{wrong}");
    }
}
