//! `session gc`: removes unused sessions, and only for a person.

use crate::support::{World, agent};
use std::collections::BTreeSet;
use std::time::Duration;
use stickpin_coordinator::{Participant, Spawn};
use stickpin_device::ErrorCode;
use stickpin_session::log::StartReason;
use stickpin_session::turn::MemberKind;

const WEEK: Duration = Duration::from_secs(7 * 86_400);

fn person() -> Participant {
    Participant { kind: MemberKind::Human, ..agent("ana", 9) }
}

fn names(found: Vec<stickpin_coordinator::Dormant>) -> Vec<String> {
    found.into_iter().map(|dormant| dormant.name).collect()
}

#[tokio::test(start_paused = true)]
async fn sessions_that_nobody_used_for_a_week_are_removed_for_a_person() {
    let world = World::new();
    let (ada, none) = (agent("ada", 1), BTreeSet::new());
    for name in ["old", "open", "used", "lender"] {
        world.begin(name, StartReason::Open, &ada);
    }
    let spawn = Spawn { rules: vec!["act:*".into()], ..Spawn::default() };
    world.coordinator.loans().spawn("lender", "child", &ada, spawn).await.unwrap();
    tokio::time::advance(WEEK - Duration::from_secs(60)).await;
    world.coordinator.session("used").unwrap().touch(&ada);
    assert_eq!(world.coordinator.dormant(&person(), &none, None).unwrap(), []);
    tokio::time::advance(Duration::from_secs(60)).await;

    let refused = world.coordinator.collect(&ada, &none, None).unwrap_err();
    assert_eq!(refused.code, ErrorCode::ScopeDenied, "an agent asks");
    let open = BTreeSet::from(["open".to_owned()]);
    assert_eq!(names(world.coordinator.dormant(&person(), &open, None).unwrap()), ["old"]);
    assert!(world.coordinator.exists("old"), "it was only listed");
    assert_eq!(names(world.coordinator.collect(&person(), &open, None).unwrap()), ["old"]);
    assert!(!world.coordinator.exists("old") && !world.folder.path().join("sessions/old").exists());
    assert_eq!(world.coordinator.names().unwrap(), ["child", "lender", "open", "used"]);

    let minute = Some(Duration::from_secs(60));
    assert_eq!(names(world.coordinator.collect(&person(), &none, minute).unwrap()), ["open", "used"]);
}

#[tokio::test(start_paused = true)]
async fn damaged_session_is_never_collected() {
    let mut world = World::new();
    world.begin("shop", StartReason::Open, &agent("ada", 1));
    world.restart();
    for file in ["meta.json", "meta.prev.json"] {
        std::fs::write(world.folder.path().join("sessions/shop").join(file), "{").unwrap();
    }
    tokio::time::advance(WEEK * 2).await;
    assert_eq!(world.coordinator.collect(&person(), &BTreeSet::new(), None).unwrap(), []);
    assert!(world.folder.path().join("sessions/shop").exists());
}

#[tokio::test(start_paused = true)]
async fn session_that_cannot_be_removed_does_not_keep_the_others() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.begin(name, StartReason::Open, &agent("ada", 1));
    }
    tokio::time::advance(WEEK).await;
    // The folder under which a session is removed cannot be made.
    std::fs::write(world.folder.path().join("sessions/.b"), "").unwrap();
    let failed = world.coordinator.collect(&person(), &BTreeSet::new(), None).unwrap_err();
    assert_eq!((failed.code, &failed.details["removed"]), (ErrorCode::Io, &serde_json::json!(["a", "c"])));
    assert!(failed.message.ends_with("; removed sessions: a, c"), "{failed}");
    assert_eq!(world.coordinator.names().unwrap(), ["b"]);
}
