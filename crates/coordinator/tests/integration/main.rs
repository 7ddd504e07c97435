//! Several agents in one session: who may act, who waits, and what the log contains. Time is
//! paused, so that hours pass at once and every run is deterministic.

mod context;
mod delegation;
mod faults;
mod files;
#[path = "../../../testkit/src/floors.rs"]
mod floors;
mod races;
mod recording;
mod retention;
mod sessions;
mod support;
mod talk;
mod turns;
mod upkeep;

#[test]
fn import_cycles_types_and_folders_stay_small() {
    let src = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    floors::assert_small(&src, &[], (6, 3));
}
