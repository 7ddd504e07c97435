//! The events that each reader gets, as a table.

use super::*;
use stickpin_session::log::{BlobId, BlobRef, DaemonStarted, ReleaseReason};
use stickpin_session::log::{
    Message, MessageHint, NoteResolved, Redacted, ReservationExpired, SegmentEnd, Snapshot, TurnReleased, Via,
};
use stickpin_session::turn::{TurnPhase, TurnState};

fn agent(name: &str) -> AgentId {
    AgentId::new(name)
}

fn record(from: Option<&str>, to: Option<&str>, bcast: bool, kind: Kind) -> Record {
    Record {
        seq: 9,
        ts: Timestamp::from_millis(1),
        lifetime: 1,
        turn_id: 2,
        agent: from.map(agent),
        to: to.map(agent),
        bcast,
        via: Via::Cli,
        kind,
    }
}

fn message() -> Kind {
    Kind::Message(Message { body: Redacted::literal("hi"), hint: MessageHint::Normal, from_session: None })
}

fn released() -> Kind {
    let turn_after = TurnState::default();
    Kind::TurnReleased(Box::new(TurnReleased { reason: ReleaseReason::Release, handoff: None, turn_after }))
}

#[test]
fn each_audience_gets_what_concerns_it() {
    let records = [
        ("to ada", record(Some("bob"), Some("ada"), false, message())),
        ("to bob", record(Some("ada"), Some("bob"), false, message())),
        ("bob to all", record(Some("bob"), None, true, message())),
        ("ada to all", record(Some("ada"), None, true, message())),
        ("turn to ada", record(Some("bob"), Some("ada"), false, released())),
        ("turn to nobody", record(Some("bob"), None, false, released())),
        (
            "daemon",
            record(None, None, false, Kind::DaemonStarted(DaemonStarted { epoch: 1, repaired: vec![] })),
        ),
        ("segment", record(None, None, false, Kind::SegmentEnd(SegmentEnd {}))),
        (
            "snapshot",
            record(
                Some("bob"),
                None,
                false,
                Kind::Snapshot(Snapshot {
                    generation: 1,
                    blob: BlobRef { blob: BlobId::new([0; 32]), bytes: 1 },
                    node_count: 1,
                }),
            ),
        ),
    ];
    let ada = || Audience::Member(agent("ada"));
    let only = |kind| Some(BTreeSet::from([kind]));
    let table: &[(&str, Filter, &[&str])] = &[
        (
            "any",
            Filter::default(),
            &["to ada", "to bob", "bob to all", "ada to all", "turn to ada", "turn to nobody", "daemon"],
        ),
        ("self", Filter { audience: ada(), ..Filter::default() }, &["to ada", "bob to all", "turn to ada"]),
        (
            "addressed to bob",
            Filter { audience: Audience::AddressedTo(agent("bob")), ..Filter::default() },
            &["to bob"],
        ),
        ("from ada", Filter { from: Some(agent("ada")), ..Filter::default() }, &["to bob", "ada to all"]),
        (
            "messages for ada",
            Filter { audience: ada(), kinds: only(KindName::Message), ..Filter::default() },
            &["to ada", "bob to all"],
        ),
        (
            "a kind that is named",
            Filter { kinds: only(KindName::Snapshot), ..Filter::default() },
            &["snapshot"],
        ),
        (
            "with commands",
            Filter { breadth: Breadth::Run, from: Some(agent("bob")), ..Filter::default() },
            &["to ada", "bob to all", "turn to ada", "turn to nobody", "snapshot"],
        ),
        (
            "all",
            Filter { breadth: Breadth::All, ..Filter::default() },
            &[
                "to ada",
                "to bob",
                "bob to all",
                "ada to all",
                "turn to ada",
                "turn to nobody",
                "daemon",
                "segment",
                "snapshot",
            ],
        ),
    ];
    for (name, filter, wanted) in table {
        let got = records.iter().filter(|(_, record)| filter.matches(record)).map(|(name, _)| *name);
        assert_eq!(&got.collect::<Vec<_>>(), wanted, "{name}");
    }
}

#[test]
fn an_event_says_what_its_record_says() {
    let resolved = Kind::NoteResolved(NoteResolved { note_id: 4 });
    let all = Filter::default();
    let [event] = &all.events("shop", "u1", &record(Some("ada"), None, false, resolved))[..] else {
        panic!()
    };
    let json = serde_json::to_value(event).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "v": 1, "session": "shop", "sessionUid": "u1", "seq": 9, "eventId": "u1:9",
            "ts": "1970-01-01T00:00:00.001Z", "type": "note_resolved", "turnId": 2, "from": "ada", "to": null,
            "scope": "system", "payload": {"noteId": 4},
        })
    );
    let [event] = &all.events("shop", "u1", &record(Some("ada"), Some("bob"), false, message()))[..] else {
        panic!()
    };
    assert_eq!((event.body.clone(), event.hint.clone()), (Some("hi".into()), Some("normal".into())));
    assert_eq!((event.scope, &event.payload), (EventScope::Direct, &None));
}

#[test]
fn a_reservation_that_passes_on_is_told_to_both() {
    let turn_after =
        TurnState { state: TurnPhase::Reserved, reserved_for: Some(agent("bob")), ..TurnState::default() };
    let expired = ReservationExpired { missed: agent("ada"), turn_after };
    let record = record(None, Some("ada"), false, Kind::ReservationExpired(Box::new(expired)));
    let of = |name: &str| {
        let filter = Filter { audience: Audience::Member(agent(name)), ..Filter::default() };
        filter.events("shop", "u1", &record).into_iter().map(|e| (e.kind, e.event_id)).collect::<Vec<_>>()
    };
    assert_eq!(of("ada"), [(KindName::ReservationExpired, "u1:9".to_owned())]);
    assert_eq!(of("bob"), [(KindName::TurnAssigned, "u1:9:next".to_owned())]);
    assert_eq!(of("eve"), []);
}
