//! A full disk, a concurrent writer, and a run that is killed.

use super::machine::{HookedDisk, Machine, Step, statuses};
use crate::disk::Disk;
use crate::harness::{CODEX, GEMINI, HARNESSES};
use crate::manifest::TargetKind::Mcp;
use crate::outcome::Status;
use std::fs;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

fn full() -> io::Error {
    io::Error::from(ErrorKind::StorageFull)
}

/// Runs until a step panics, as if the program had been killed at that point.
fn killed(run: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "the run was not interrupted");
}

fn is_config(path: &Path) -> bool {
    path.ends_with("config.toml") || path.ends_with("settings.json")
}

#[test]
fn nothing_is_removed_without_an_audit_line() {
    let machine = Machine::new();
    machine.install(&["codex", "gemini"]);
    let installed = machine.texts();
    for step in [Step::Append, Step::Create] {
        let disk = HookedDisk(|at, _: &Path| if at == step { Err(full()) } else { Ok(()) });
        let results = machine.uninstall_on(&disk, &["codex", "gemini"], false);
        assert_eq!(statuses(&results, Mcp), [Status::Failed, Status::Failed], "{step:?}");
        assert!(results[0].message.contains("the disk is full"), "{}", results[0].message);
        assert_eq!(machine.texts(), installed, "{step:?}");
    }
    assert_eq!(statuses(&machine.uninstall(&["codex", "gemini"], false), Mcp), [Status::Removed; 2]);
    assert_eq!(machine.texts(), machine.files());
}

#[test]
fn full_disk_leaves_the_configuration_without_an_entry() {
    let machine = Machine::new();
    let disk = HookedDisk(|at, _: &Path| if at == Step::Create { Err(full()) } else { Ok(()) });
    let results = machine.install_on(&disk, HARNESSES, &["codex"]);
    assert_eq!(statuses(&results, Mcp), [Status::Failed]);
    assert_eq!(machine.texts(), machine.files());
    let left = fs::read_dir(machine.home(".codex")).expect("a folder").count();
    assert_eq!(left, 1, "no temporary file is left");
}

#[test]
fn run_killed_before_the_rename_is_finished_by_the_next() {
    let machine = Machine::new();
    let kill_at_rename = HookedDisk(|at, path: &Path| {
        assert!(at != Step::Rename || !is_config(path), "killed");
        Ok(())
    });
    let disk: &dyn Disk = &kill_at_rename;
    for harness in [CODEX, GEMINI] {
        killed(|| drop(machine.install_on(disk, HARNESSES, &[harness.id])));
        assert_eq!(machine.texts(), machine.files(), "the old file");
        assert_eq!(statuses(&machine.install(&[harness.id]), Mcp), [Status::Added]);
        let installed = machine.text(&harness);
        killed(|| drop(machine.uninstall_on(disk, &[harness.id], false)));
        assert_eq!(machine.text(&harness), installed, "the old file");
        assert_eq!(machine.actions().last().map(String::as_str), Some("removing"));
        assert_eq!(statuses(&machine.uninstall(&[harness.id], false), Mcp), [Status::Removed]);
        assert_eq!(machine.texts(), machine.files());
        let folder = machine.config(&harness);
        let left = fs::read_dir(folder.parent().expect("a folder")).expect("a folder").count();
        assert_eq!(left, 1, "no temporary file is left");
    }
}

#[test]
fn run_killed_after_the_rename_is_finished_by_the_next() {
    let machine = Machine::new();
    machine.install(&["codex"]);
    let lines = AtomicUsize::new(0);
    let kill_at_removed = HookedDisk(|at, _: &Path| {
        assert!(at != Step::Append || lines.fetch_add(1, Ordering::Relaxed) == 0, "killed");
        Ok(())
    });
    killed(|| drop(machine.uninstall_on(&kill_at_removed, &["codex"], false)));
    assert_eq!(machine.texts(), machine.files(), "the new file");
    assert_eq!(machine.actions(), ["added", "removing"]);
    assert_eq!(statuses(&machine.uninstall(&["codex"], false), Mcp), [Status::AlreadyAbsent]);
    assert_eq!(machine.actions(), ["added", "removing"]);
}

#[test]
fn killed_update_still_recognises_the_old_entry() {
    let mut machine = Machine::new();
    machine.setup.program = machine.program("stickpin-old", "exit 0");
    machine.install(&["codex"]);
    machine.setup.program = machine.home("bin/stickpin");
    let kill_at_rename = HookedDisk(|at, path: &Path| {
        assert!(at != Step::Rename || !is_config(path), "killed");
        Ok(())
    });
    killed(|| drop(machine.install_on(&kill_at_rename, HARNESSES, &["codex"])));
    assert!(machine.text(&CODEX).contains("stickpin-old"));
    assert_eq!(statuses(&machine.install(&["codex"]), Mcp), [Status::Updated]);
    assert_eq!(statuses(&machine.uninstall(&["codex"], false), Mcp), [Status::Removed]);
    assert_eq!(machine.texts(), machine.files());
}

#[test]
fn change_of_another_program_is_kept() {
    let machine = Machine::new();
    let changes = AtomicUsize::new(0);
    let path = machine.config(&CODEX);
    let disk = HookedDisk(|at, of: &Path| {
        if at == Step::Create && of.ends_with(".config.toml.stickpin-new") {
            let n = changes.fetch_add(1, Ordering::Relaxed);
            if n < 2 {
                fs::write(&path, format!("{}# change {n}\n", fs::read_to_string(&path)?))?;
            }
        }
        Ok(())
    });
    assert_eq!(statuses(&machine.install_on(&disk, HARNESSES, &["codex"]), Mcp), [Status::Added]);
    machine.uninstall(&["codex"], false);
    assert_eq!(machine.text(&CODEX), machine.files()[1].to_owned() + "# change 0\n# change 1\n");
}

#[test]
fn program_that_keeps_changing_the_file_wins() {
    let machine = Machine::new();
    let changes = AtomicUsize::new(0);
    let path = machine.config(&CODEX);
    let disk = HookedDisk(|at, of: &Path| {
        if at == Step::Create && of.ends_with(".config.toml.stickpin-new") {
            fs::write(&path, format!("n = {}\n", changes.fetch_add(1, Ordering::Relaxed)))?;
        }
        Ok(())
    });
    let results = machine.install_on(&disk, HARNESSES, &["codex"]);
    assert_eq!(statuses(&results, Mcp), [Status::Failed]);
    assert_eq!(results[0].message, "another program changed the file during each of 3 attempts");
    assert_eq!(machine.text(&CODEX), "n = 2\n");
    assert_eq!(machine.actions(), ["failed"]);
}
