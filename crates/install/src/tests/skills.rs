//! The skill: links, copies, edits, readers, and its text.

use super::machine::{Machine, statuses};
use crate::harness::HARNESSES;
use crate::manifest::SkillMode;
use crate::manifest::TargetKind::Skill;
use crate::outcome::{Outcome, Status};
use crate::skill::{SkillOptions, TEXT};
use std::fs;
use std::path::Path;

const SHARED: &str = ".agents/skills/stickpin";
const FILE: &str = ".agents/skills/stickpin/SKILL.md";

const LINK: SkillOptions = SkillOptions { mode: Some(SkillMode::Link), replace: false };
const COPY: SkillOptions = SkillOptions { mode: Some(SkillMode::Copy), replace: false };
const ANY: SkillOptions = SkillOptions { mode: None, replace: false };
const REPLACE: SkillOptions = SkillOptions { mode: None, replace: true };

fn status(outcomes: &[Outcome]) -> Vec<Status> {
    statuses(outcomes, Skill)
}

#[test]
fn shared_skill_is_linked_once_and_removed_with_its_last_reader() {
    let machine = Machine::new();
    let installed = machine.install_skill(&["codex", "gemini", "claude-code"], ANY);
    assert_eq!(status(&installed), [Status::Added, Status::Added, Status::AlreadyPresent]);
    assert_eq!(fs::read_to_string(machine.home(FILE)).expect("a skill"), TEXT);
    assert!(machine.home(SHARED).is_symlink() && machine.home(".claude/skills/stickpin").is_symlink());
    assert_eq!(status(&machine.install_skill(&["codex"], ANY)), [Status::AlreadyPresent]);
    let left = machine.uninstall(&["codex"], false);
    assert_eq!((status(&left), &*left[1].message), (vec![Status::Skipped], "also read by gemini"));
    assert!(machine.home(FILE).exists());
    assert_eq!(status(&machine.uninstall(&["gemini"], false)), [Status::Removed]);
    assert!(!machine.home(SHARED).is_symlink());
    assert_eq!(status(&machine.uninstall(&["claude-code"], false)), [Status::Removed]);
    assert!(!machine.home(".claude/skills/stickpin").is_symlink());
}

/// An installation that was interrupted leaves two records of one reader.
#[test]
fn each_other_reader_of_the_shared_skill_is_named_once() {
    let machine = Machine::new();
    machine.install_skill(&["gemini", "opencode", "codex"], ANY);
    let path = machine.setup.folder().join("manifest.json");
    let mut manifest: Vec<serde_json::Value> =
        serde_json::from_slice(&fs::read(&path).expect("a manifest")).expect("records");
    let again = manifest.iter().find(|record| record["harness"] == "gemini").expect("a record").clone();
    manifest.push(again);
    fs::write(&path, serde_json::to_vec(&manifest).expect("records")).expect("written");
    let left = machine.uninstall(&["codex"], false);
    assert_eq!(left.last().expect("an outcome").message, "also read by gemini, opencode");
}

#[test]
fn agents_stands_for_the_shared_skill() {
    let machine = Machine::new();
    machine.install_skill(&["codex", "gemini"], COPY);
    let removed = machine.uninstall(&[], true);
    assert_eq!((status(&removed), removed[0].harness), (vec![Status::Removed], "agents"));
    assert!(!machine.home(SHARED).exists());
    assert_eq!(status(&machine.uninstall(&[], true)), [Status::AlreadyAbsent]);
    let manifest = fs::read_to_string(machine.setup.folder().join("manifest.json")).expect("a manifest");
    assert_eq!(manifest, "[]\n");
}

#[test]
fn link_and_copy_replace_one_another_only_on_request() {
    let machine = Machine::new();
    assert_eq!(status(&machine.install_skill(&["codex"], COPY)), [Status::Added]);
    assert_eq!(status(&machine.install_skill(&["codex"], ANY)), [Status::AlreadyPresent]);
    assert!(!machine.home(SHARED).is_symlink());
    assert_eq!(status(&machine.install_skill(&["codex"], LINK)), [Status::Updated]);
    assert!(machine.home(SHARED).is_symlink());
    assert_eq!(status(&machine.install_skill(&["codex"], COPY)), [Status::Updated]);
    assert!(!machine.home(SHARED).is_symlink());
    assert_eq!(fs::read_to_string(machine.home(FILE)).expect("a skill"), TEXT);
}

#[test]
fn edited_skill_is_kept_until_it_is_replaced() {
    for mode in [COPY, LINK] {
        let machine = Machine::new();
        machine.install_skill(&["codex"], mode);
        fs::write(machine.home(FILE), "mine").expect("a skill");
        assert_eq!(status(&machine.install_skill(&["codex"], ANY)), [Status::UpdateAvailable]);
        assert_eq!(fs::read_to_string(machine.home(FILE)).expect("a skill"), "mine");
        assert_eq!(status(&machine.install_skill(&["codex"], REPLACE)), [Status::Updated]);
        assert_eq!(fs::read_to_string(machine.home(FILE)).expect("a skill"), TEXT);
    }
    let machine = Machine::new();
    machine.install_skill(&["codex"], COPY);
    fs::write(machine.home(FILE), "mine").expect("a skill");
    assert_eq!(status(&machine.uninstall(&["codex"], false)), [Status::Preserved]);
    assert_eq!(fs::read_to_string(machine.home(FILE)).expect("a skill"), "mine");
}

#[test]
fn what_others_put_there_is_preserved() {
    let machine = Machine::new();
    fs::create_dir_all(machine.home(".agents/skills")).expect("a folder");
    std::os::unix::fs::symlink(machine.home("elsewhere"), machine.home(SHARED)).expect("a link");
    assert_eq!(status(&machine.install_skill(&["codex"], ANY)), [Status::Preserved]);
    assert_eq!(status(&machine.uninstall(&[], true)), [Status::Preserved]);
    assert_eq!(fs::read_link(machine.home(SHARED)).expect("a link"), machine.home("elsewhere"));
    assert_eq!(status(&machine.install_skill(&["codex"], REPLACE)), [Status::Updated]);
    assert_eq!(fs::read_to_string(machine.home(FILE)).expect("a skill"), TEXT);
}

#[test]
fn folder_with_other_files_is_not_removed() {
    let machine = Machine::new();
    machine.install_skill(&["codex"], COPY);
    machine.write(".agents/skills/stickpin/notes.md", "mine");
    assert_eq!(status(&machine.uninstall(&[], true)), [Status::Preserved]);
    assert!(machine.home(FILE).exists());
}

#[test]
fn duplicate_of_the_shared_skill_is_stale() {
    let machine = Machine::new();
    machine.install_skill(&["codex"], ANY);
    machine.write(".codex/skills/stickpin/SKILL.md", TEXT);
    machine.write(".gemini/skills/stickpin/SKILL.md", "mine");
    assert_eq!(
        machine.clean(HARNESSES).as_deref(),
        Some("removed stale registrations of stickpin from codex")
    );
    assert!(!machine.home(".codex/skills/stickpin").exists());
    assert!(machine.home(".gemini/skills/stickpin").exists());
    assert_eq!(machine.clean(HARNESSES), None);
    assert_eq!(machine.actions(), ["added", "removing", "removed"]);
}

#[test]
fn skill_says_what_the_instructions_for_agents_say() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/for-agents.md");
    let page = fs::read_to_string(page).expect("the page");
    let block =
        page.split("```markdown\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the block");
    let named = |line: &&str| !line.contains("APP_URL") && !line.contains("START_COMMAND");
    let mut lines = block.lines().skip_while(|line| !line.starts_with("The loop")).filter(named);
    assert!(lines.clone().count() > 20, "the block is not found");
    let missing: Vec<&str> = lines.by_ref().filter(|line| !TEXT.lines().any(|own| own == *line)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn skill_explains_how_to_work_with_others() {
    for part in [
        "## Working with others",
        "`stickpin turn wait`",
        "`stickpin turn release --status",
        "`turn assign AGENT`",
        "`stickpin turn take --reason TEXT`",
        "`turn state`",
        "`stickpin events --follow --after CURSOR --json`",
        "`stickpin msg send`",
        "`msg recv`",
        "`stickpin notes add`",
        "Do not build a polling loop",
        "Paths may be absolute or relative to the caller's working directory, or may start with `~` or `~/` \
         (home). `~user` and `$VAR` are not expanded.",
    ] {
        assert!(TEXT.contains(part), "{part}");
    }
}
