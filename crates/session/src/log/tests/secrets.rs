//! Secrets do not reach a record.

use super::samples::{Words, begin};
use crate::log::{Argument, Arguments, BlobId, BlobRef, Kind, Redacted, RedactedHandoff};
use crate::turn::Handoff;
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
