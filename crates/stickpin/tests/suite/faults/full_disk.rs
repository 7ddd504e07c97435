//! Acceptance test 9: the disk below the state directory is full (F23 to F25).

use super::killing_files::Orders;
use crate::support::{self, Ran, World, eventually, request, words};
use serde_json::json;
use stickpin_testkit::skipped;

/// Fills the disk, presses until a press is refused, and frees the disk at the end. Prints a line
/// per step: its name and its result.
const ON_A_SMALL_DISK: &str = r#"
    mount -t tmpfs -o size=24m tmpfs "$DISK" || exit 90
    as() { agent="$1"; shift; STICKPIN_AGENT_ID="$agent" "$BIN" --session shop "$@"; }
    add() { as claude:ada press 'role=button label="Add to cart" row="Wall shelf"' 2>"$HOME/refusal"; }
    as claude:ada open "sim:shop?log=$HOME/received&clock=virtual" >/dev/null || exit 91
    as codex:bob turn join >/dev/null || exit 92
    as claude:ada turn wait >/dev/null || exit 93
    add >/dev/null || exit 94
    cat /dev/zero > "$DISK/filler" 2>/dev/null
    added=1
    while add >/dev/null; do added=$((added + 1)); [ $added -lt 60 ] || exit 95; done
    echo "refused $(cut -d: -f1 "$HOME/refusal")"
    echo "added $added"
    echo "received $(grep -c '"event":"press"' "$HOME/received")"
    ls "$DISK/state/reserve.bin" >/dev/null 2>&1; echo "reserve $?"
    as claude:ada turn state >/dev/null; echo "state $?"
    as claude:ada events --after 1 >/dev/null; echo "events $?"
    as claude:ada session list >/dev/null; echo "list $?"
    as claude:ada get title >/dev/null 2>&1; echo "read $?"
    as codex:bob msg send room hello >/dev/null 2>&1; echo "message $?"
    as claude:ada turn release --status full --next-action free >/dev/null; echo "release $?"
    as codex:bob turn try >/dev/null 2>&1; echo "claim $?"
    as codex:bob turn leave >/dev/null; echo "leave $?"
    rm "$DISK/filler"
    as claude:ada turn wait >/dev/null; echo "wait $?"
    add >/dev/null; echo "freed $?"
    ls "$DISK/state/reserve.bin" >/dev/null 2>&1; echo "reserve again $?"
    as claude:ada log verify shop >/dev/null; echo "verify $?"
    as codex:bob turn join >/dev/null; echo "join $?"
    cat /dev/zero > "$DISK/filler" 2>/dev/null
    while add >/dev/null; do :; done
    as codex:bob turn state >/dev/null
    as codex:bob turn take --operator-requested >/dev/null 2>&1; echo "take $?"
    as claude:ada close --force >/dev/null; echo "close $?"
    rm "$DISK/filler"
    as claude:ada log verify shop >/dev/null; echo "verify $?"
    "$BIN" daemon stop --force >/dev/null; echo "stop $?"
"#;

#[test]
fn full_disk_lets_nothing_begin_and_everything_end() {
    if !support::may_mount() {
        skipped("STICKPIN_REQUIRE_MOUNTS", "nothing may be mounted here");
        return;
    }
    let world = World::new();
    let disk = world.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let first = world.command(&[]);
    let mut command = support::unshared(&["sh", "-c", ON_A_SMALL_DISK]);
    command.env_clear().envs(first.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("BIN", first.get_program()).env("DISK", &disk);
    // The daemon also sees the small disk, because the first command starts it.
    command.env("STICKPIN_STATE_DIR", disk.join("state"));
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    let value = |what: &str| -> String {
        let line = ran.out.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {what}: {ran:?}")).to_owned()
    };
    let full = stickpin_kernel::ErrorCode::StorageFull.exit().to_string();
    assert_eq!(value("refused"), "STORAGE_FULL", "{ran:?}");
    assert_eq!(value("added"), value("received"), "the refused command reached the app: {ran:?}");
    assert_ne!(value("reserve"), "0", "the reserve was not given up: {ran:?}");
    for allowed in [
        "state", "events", "list", "read", "release", "leave", "freed", "verify", "join", "take", "close",
        "stop",
    ] {
        assert_eq!(value(allowed), "0", "{allowed}: {ran:?}");
    }
    for refused in ["message", "claim"] {
        assert_eq!(value(refused), full, "{refused}: {ran:?}");
    }
    assert_eq!(value("reserve again"), "0", "{ran:?}");
}

/// F24: the disk is full between the beginning of a command and its end.
#[test]
fn answer_tells_that_the_end_of_a_command_is_not_logged() {
    Orders::obey();
    let world = World::new();
    let full = world.path().join("full");
    let orders = Orders { state_dir: world.state_dir(), full_if: Some(full.clone()), ..Orders::default() };
    let mut daemon =
        orders.start("faults::full_disk::answer_tells_that_the_end_of_a_command_is_not_logged", world.path());
    let received = world.path().join("received");
    world.ok(&format!("--session shop open sim:shop?log={}", received.display()));
    let count = |kind: &str| {
        let log = std::fs::read_to_string(world.state_dir().join("sessions/shop/log/000001.jsonl")).unwrap();
        log.lines().filter(|line| line.contains(&format!("\"kind\":\"{kind}\""))).count()
    };
    let begun = count("command_begin");
    let mut raw = world.raw().welcome();
    let mut wait = request("wait", json!({ "target": "text=\"never there\"" }));
    wait["session"] = json!("shop");
    wait["timeoutMs"] = json!(60_000);
    raw.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "call", "params": wait }));
    eventually("the command has begun", || count("command_begin") > begun);
    std::fs::write(&full, "").unwrap();
    raw.send(&json!({ "jsonrpc": "2.0", "method": "cancel", "params": { "id": 7 } }));
    let answer = raw.answer()["result"].clone();
    assert_eq!(answer["logStatus"], "end_not_persisted", "{answer}");
    let press = "--session shop press 'role=button label=\"Add to cart\" row=\"Wall shelf\"' --json";
    let refused = world.run(&words(press)).json();
    assert_eq!(refused["error"]["code"], "LOG_READONLY", "{refused}");
    assert_eq!(refused["error"]["dispatched"], json!("no"), "{refused}");
    assert!(!std::fs::read_to_string(&received).unwrap_or_default().contains("press"));
    world.ok("--session shop get title");
    std::fs::remove_file(&full).unwrap();
    let pressed = world.run(&words(press)).json();
    assert!(pressed["ok"] == true && pressed["logStatus"].is_null(), "{pressed}");
    assert!(world.ok("log verify shop").contains("the log is valid"));
    world.ok("daemon stop --force");
    daemon.wait().unwrap();
}
