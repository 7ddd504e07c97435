//! Tries the set-up in a bare Debian (`bare.sh`).

use crate::Result;
use crate::run::{OnPath as _, listed, root, run, run_beside, target_dir, write};
use crate::setup::is_current;
use crate::summary::{Collected, skipped};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The variable that demands a trial in every run. `bare.sh` reads the same name.
const REQUIRE_BARE: &str = "STICKPIN_REQUIRE_BARE";

/// The files and folders that determine what the set-up does, and how it is tried.
const INPUTS: [&str; 6] = [
    "Cargo.lock",
    "Cargo.toml",
    "xtask",
    "fixtures/web/editors",
    "fixtures/web/flows",
    "fixtures/web/servers",
];

/// How long a passed trial counts. The packages of the mirrors and registries change.
const VALID: Duration = Duration::from_hours(24 * 7);

/// Tries the set-up, and the scenarios on the simulated device after it, or prints why not.
pub fn bare() -> Result {
    run(&mut prepare(&target_dir()?)?)
}

/// Tries the set-up like [`bare`], unless it has passed with the same inputs in the last week.
pub fn bare_if_changed(collected: &Collected) -> Result {
    let target = target_dir()?;
    if std::env::var_os(REQUIRE_BARE).is_none() && has_passed(&target)? {
        return skipped(
            REQUIRE_BARE,
            "the set-up was not tried again in a bare Debian, because it passed with the same inputs within the last week",
        );
    }
    let mut command = prepare(&target)?;
    collected.with_skip_file(&mut command);
    run_beside(command)
}

/// Returns the command. The script turns the file with the inputs into the stamp of a passed trial.
fn prepare(target: &Path) -> Result<Command> {
    let passed = stamp(target);
    if passed.exists() {
        std::fs::remove_file(&passed).with_path(&passed)?;
    }
    write(&target.join("bare.inputs"), &inputs()?)?;
    let mut command = Command::new("sh");
    command.arg(root().join("xtask/bare.sh")).arg(root()).arg(target.join("bare"));
    Ok(command)
}

fn stamp(target: &Path) -> PathBuf {
    target.join("bare.passed")
}

fn has_passed(target: &Path) -> Result<bool> {
    let passed = stamp(target);
    let age = std::fs::metadata(&passed).and_then(|stamp| stamp.modified()).map(|at| at.elapsed());
    let is_young = age.is_ok_and(|age| age.is_ok_and(|age| age < VALID));
    Ok(is_young && is_current(&passed, &inputs()?))
}

/// Returns every input with its content.
fn inputs() -> Result<String> {
    INPUTS.iter().map(|name| listed(&root().join(name))).collect()
}
