//! Recordings and stored trees as parts of the session log.

use crate::support::{Plain, World, act, agent, press};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use stickpin_coordinator::{
    LogPosition, Participant, RecordingEvent, RecordingLog, RepairedLine, SessionAuthority, SessionEvidence,
    StoredTree,
};
use stickpin_session::log::{
    BlobRef, CommandId, Kind, RecordedStep, RecordingStarted, Redacted, RepairStarted, StartReason,
};
use tokio_util::sync::CancellationToken;

fn text(text: &str) -> Redacted {
    Redacted::new(text.to_owned(), &Plain)
}

fn started() -> RecordingStarted {
    RecordingStarted { platform: "sim".into(), path: Some("/home/ada/buy.ad".into()), keep_reads: false }
}

/// Runs a command that contributes a step to the recording.
async fn act_recorded(shop: &SessionAuthority, who: &Participant, step: RecordedStep) {
    let cancel = CancellationToken::new();
    let admission = shop.admit(who, None, Duration::ZERO, &cancel).await.unwrap();
    let mut ticket = shop.begin(who, Some(admission), press(), &cancel).unwrap();
    ticket.record(step);
    shop.end(ticket, None, Some(1), None).unwrap();
}

fn step(lines: &str) -> RecordingEvent {
    RecordingEvent::Step(lines.to_owned())
}

#[tokio::test(start_paused = true)]
async fn the_recorder_reads_the_session_log() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let log = RecordingLog::new(shop.clone());
    act(&shop, &ada).await.unwrap();
    assert_eq!((log.is_in_progress(), log.read().unwrap()), (false, None));

    log.start(Some(&ada), started()).unwrap();
    act_recorded(&shop, &ada, RecordedStep::Lines(text("press text=Cart\n"))).await;
    // A command that is not recorded, and one whose beginning is not in the log.
    act(&shop, &ada).await.unwrap();
    log.add(None, press(), RecordedStep::Lines(text("back\n"))).unwrap();
    let expected = [RecordingEvent::Started(started()), step("press text=Cart\n"), step("back\n")];
    assert_eq!(log.read().unwrap().unwrap(), expected);

    // The host is killed, and the session continues in another lifetime and segment.
    world.restart();
    let shop = world.begin("shop", StartReason::Restore, &ada);
    let log = RecordingLog::new(shop.clone());
    assert_eq!(log.read().unwrap().unwrap(), expected);
    log.end(Some(&ada), true).unwrap();
    assert_eq!((log.is_in_progress(), log.read().unwrap()), (false, None));
    assert!(world.coordinator.verify("shop").unwrap().findings.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_repair_and_its_end_are_in_the_session_log() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let log = RecordingLog::new(shop.clone());
    log.start(Some(&ada), started()).unwrap();
    let (file, to) = ("/home/ada/flow.ad".to_owned(), "/home/ada/flow.repaired.ad".to_owned());
    let repair = RepairStarted {
        file: file.clone(),
        text: text("press text=Cart\n"),
        to: to.clone(),
        line: 1,
        keeps_line: true,
        pass: Some(text("3")),
    };
    log.start_repair(Some(&ada), repair).unwrap();
    act_recorded(&shop, &ada, RecordedStep::Lines(text("back\n"))).await;
    act_recorded(&shop, &ada, RecordedStep::ScriptResumed).await;
    let repaired = RepairedLine {
        file,
        text: "press text=Cart\n".into(),
        to,
        line: 1,
        keeps_line: true,
        pass: Some("3".into()),
    };
    let expected = [
        RecordingEvent::Started(started()),
        RecordingEvent::RepairStarted(repaired),
        step("back\n"),
        RecordingEvent::ScriptResumed,
    ];
    assert_eq!(log.read().unwrap().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_long_step_is_a_blob_and_reads_back() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let log = RecordingLog::new(shop.clone());
    log.start(None, started()).unwrap();
    let long = format!("fill label=Notes {}\n", "x".repeat(100_000));
    act_recorded(&shop, &ada, RecordedStep::Lines(text(&long))).await;
    let path = world.folder.path().join("sessions/shop/log/000001.jsonl");
    assert!(std::fs::metadata(path).unwrap().len() < 20_000, "the text is not in the log itself");
    assert_eq!(log.read().unwrap().unwrap()[1], step(&long));
    std::fs::remove_dir_all(world.folder.path().join("sessions/shop/blobs")).unwrap();
    assert_eq!(log.read().unwrap_err().code.name(), "LOG_CORRUPT");
}

/// Returns the trees in the log, oldest first.
fn trees(shop: &SessionAuthority) -> Vec<(u64, BlobRef)> {
    let records = shop.records_after(0, usize::MAX).unwrap();
    let tree = |kind: &Kind| match kind {
        Kind::Snapshot(snapshot) => Some((snapshot.generation, snapshot.blob.clone())),
        _ => None,
    };
    records.iter().filter_map(|record| tree(&record.kind)).collect()
}

fn tree(generation: u64, words: &'static str) -> StoredTree {
    StoredTree { generation, node_count: 1, text: Box::new(move || text(words)) }
}

#[tokio::test]
async fn equal_trees_share_one_blob() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let mut feed = shop.feed();
    for (generation, words) in [(7, "button \"Buy\"\n"), (8, "button \"Sold\"\n"), (9, "button \"Buy\"\n")] {
        tree(generation, words).log(&shop, Some(&ada));
    }
    while trees(&shop).len() < 3 {
        feed.changed().await.unwrap();
    }
    let found = trees(&shop);
    assert_eq!(found.iter().map(|(generation, _)| *generation).collect::<Vec<_>>(), [7, 8, 9]);
    assert_eq!(found[0].1, found[2].1);
    assert_ne!(found[0].1, found[1].1);
    let hex = found[0].1.blob.hex();
    let blob = world.folder.path().join("sessions/shop/blobs").join(&hex[..2]).join(hex);
    assert_eq!(std::fs::read_to_string(blob).unwrap(), "button \"Buy\"\n");
    assert_eq!(shop.meta().last_snapshot_generation, Some(9));
}

/// Returns the trees whose files still exist, oldest first.
fn kept(world: &World, shop: &SessionAuthority) -> Vec<u64> {
    let blobs = world.folder.path().join("sessions/shop/blobs");
    let exists = |blob: &BlobRef| blobs.join(&blob.blob.hex()[..2]).join(blob.blob.hex()).exists();
    trees(shop).iter().filter(|(_, blob)| exists(blob)).map(|(generation, _)| *generation).collect()
}

/// Eight trees fill the space of a session, however often its host starts.
#[tokio::test]
async fn trees_of_a_session_have_one_limit_across_its_hosts() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    let mut shop = world.begin("shop", StartReason::Open, &ada);
    for generation in 1..=20 {
        if generation % 3 == 0 {
            world.restart();
            shop = world.coordinator.session("shop").unwrap();
        }
        let words = format!("{generation:08}").repeat((4 << 20) / 8);
        let tree = StoredTree { generation, node_count: 1, text: Box::new(move || text(&words)) };
        let mut feed = shop.feed();
        tree.log(&shop, Some(&ada));
        while trees(&shop).last().is_none_or(|(newest, _)| *newest != generation) {
            feed.changed().await.unwrap();
        }
        let oldest = generation.saturating_sub(7).max(1);
        assert_eq!(kept(&world, &shop), (oldest..=generation).collect::<Vec<_>>());
    }
}

/// The text of a tree is built by another thread, which stays busy for as long as this test
/// requires.
#[tokio::test]
async fn a_command_does_not_wait_for_its_tree() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let (begun, begins) = mpsc::channel::<()>();
    let (go, goes) = mpsc::channel::<()>();
    let slow = Box::new(move || {
        begun.send(()).unwrap();
        goes.recv().unwrap();
        text("slow")
    });
    StoredTree { generation: 1, node_count: 1, text: slow }.log(&shop, Some(&ada));
    begins.recv().unwrap();
    let mut taken: Vec<Duration> = (2..102)
        .map(|generation| {
            let tree = tree(generation, "quick");
            let began = Instant::now();
            tree.log(&shop, Some(&ada));
            began.elapsed()
        })
        .collect();
    taken.sort_unstable();
    assert!(taken[50] < Duration::from_micros(200), "half of them took longer than {:?}", taken[50]);
    act(&shop, &ada).await.unwrap();
    assert_eq!(trees(&shop), [], "nothing was waited for");
    let mut feed = shop.feed();
    go.send(()).unwrap();
    while shop.meta().last_snapshot_generation != Some(101) {
        feed.changed().await.unwrap();
    }
}

#[tokio::test]
async fn a_tree_of_an_earlier_lifetime_is_left_out() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let (go, goes) = mpsc::channel::<()>();
    let late = Box::new(move || {
        goes.recv().unwrap();
        text("late")
    });
    StoredTree { generation: 1, node_count: 1, text: late }.log(&shop, Some(&ada));
    let shop = world.begin("shop", StartReason::Open, &ada);
    tree(2, "new").log(&shop, Some(&ada));
    let mut feed = shop.feed();
    go.send(()).unwrap();
    while shop.meta().last_snapshot_generation.is_none() {
        feed.changed().await.unwrap();
    }
    assert_eq!(trees(&shop).iter().map(|(generation, _)| *generation).collect::<Vec<_>>(), [2]);
}

#[tokio::test]
async fn evidence_names_the_last_command_and_what_is_unfinished() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    act(&shop, &ada).await.unwrap();
    let cancel = CancellationToken::new();
    let ticket = shop.begin(&ada, None, press(), &cancel).unwrap();
    let mut feed = shop.feed();
    tree(7, "button \"Buy\"\n").log(&shop, Some(&ada));
    while shop.meta().last_snapshot_generation.is_none() {
        feed.changed().await.unwrap();
    }
    let last_seq = shop.meta().applied_seq;
    let found = SessionEvidence::of(&shop);
    assert_eq!(found.log, LogPosition { segment: Some(1), last_seq });
    assert_eq!(found.last_command, Some(CommandId::new(last_seq - 1)));
    assert_eq!(found.last_snapshot_generation, Some(7));
    assert_eq!(
        found.open_commands.iter().map(|open| open.cmd_id).collect::<Vec<_>>(),
        [CommandId::new(last_seq - 1)]
    );
    assert!(found.open_notes.is_empty() && found.dirty_loans.is_empty(), "{found:?}");
    shop.end(ticket, None, None, None).unwrap();
    assert!(SessionEvidence::of(&shop).open_commands.is_empty());
}
