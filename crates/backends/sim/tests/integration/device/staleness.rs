//! The screens of the staleness app make the changes that the table and its trees describe.

use super::common::Bench;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stickpin_tree::{Handle, Tree};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures")
}

/// Returns the situations that have a device: id, and the role and name of the target.
fn situations() -> Vec<(String, String, String)> {
    let text = std::fs::read_to_string(fixtures().join("staleness.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let situations = table["situation"].as_array().unwrap();
    let on_devices = |s: &&toml::Value| {
        let suites = s.get("suites").and_then(|v| v.as_array());
        suites.is_none_or(|all| all.iter().any(|v| matches!(v.as_str(), Some("device" | "page"))))
    };
    let word = |v: &toml::Value| v.as_str().unwrap().to_owned();
    situations
        .iter()
        .filter(on_devices)
        .map(|s| (word(&s["id"]), word(&s["target"]["role"]), word(&s["target"]["name"])))
        .collect()
}

fn targets(tree: &Tree, role: &str, name: &str) -> Vec<Handle> {
    let is = |n: &stickpin_tree::NodeRef<'_>| n.role().name() == role && n.name() == name;
    tree.nodes().filter(is).filter_map(|n| n.address()).collect()
}

#[tokio::test]
async fn every_situation_has_a_screen_with_its_target() {
    for (id, role, name) in situations() {
        for grade in ["never-reused", "while-alive", "none"] {
            let mut b = Bench::open(&format!("sim:staleness/{id}?grade={grade}")).await;
            let first = b.tree().await;
            let shown = targets(&first, &role, &name);
            assert!(!shown.is_empty(), "{id}: no {role} {name:?}");
            if grade != "none" {
                let truths: Vec<_> = shown.iter().filter_map(|h| b.probe.truth_of(*h)).collect();
                assert_eq!(truths.iter().filter(|t| *t == "target").count(), 1, "{id}: {truths:?}");
            }
            let steps: u32 = b.probe.variable("steps").parse().unwrap();
            let mut last = first;
            for step in 1..=steps {
                b.probe.run("advance").unwrap();
                b.settle().await;
                let now = b.tree().await;
                // Without identity, a new node with the same text is not a change, and some later
                // steps repeat the first.
                assert!(now != last || grade == "none" || step > 1, "{id}: the step changes nothing");
                last = now;
            }
            assert_eq!(b.device.notices().await.unwrap().iter().find(|n| error(n)), None, "{id}");
        }
    }
}

fn error(notice: &stickpin_device::Notice) -> bool {
    matches!(notice, stickpin_device::Notice::ConsoleError { .. })
}

#[tokio::test]
async fn screens_take_as_many_steps_as_the_trees_in_memory() {
    let mut trees = BTreeMap::new();
    for file in std::fs::read_dir(fixtures().join("staleness")).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let states: Vec<&str> = text.lines().filter(|l| l.starts_with("== ")).collect();
        // The states before the first snapshot are the app's starting point.
        let first = states.iter().position(|s| s.starts_with("== first")).unwrap();
        let steps = states.len() - 1 - first;
        trees.insert(path.file_stem().unwrap().to_str().unwrap().to_owned(), steps);
    }
    for (id, ..) in situations() {
        let b = Bench::open(&format!("sim:staleness/{id}")).await;
        if let Some(steps) = trees.get(&id) {
            assert_eq!(b.probe.variable("steps"), steps.to_string(), "{id}");
        }
    }
}

/// Checks which screens keep the node of their target through all steps. The outcomes depend on
/// this.
#[tokio::test]
async fn targets_keep_their_node_where_the_situation_says_so() {
    let replaced = [
        "rerender-same-order-unique",
        "rerender-other-order-unique",
        "rerender-same-order-rows",
        "rerender-other-order-rows",
        "swap-row-same-id-unique",
        "swap-row-same-id-rows",
        "virtual-row-back-unique",
        "virtual-row-back-rows",
        "menu-reopened-new-nodes",
        "row-menu-reopened",
        "tab-panel-reopened-new-nodes",
        "reload-same-record",
        "reload-other-record",
        "replaced-in-place-unique",
        "replaced-in-place-rows",
        "equal-looking-new-row",
        "navigation-by-click",
        "navigation-by-page",
        "iframe-reload-same-origin",
        "iframe-reload-cross-origin",
        "iframe-reload-nested",
        "second-tab-same-layout",
        "act-vanishes",
        "act-navigation-in-flight",
    ];
    for (id, role, name) in situations() {
        let mut b = Bench::open(&format!("sim:staleness/{id}")).await;
        let first = b.tree().await;
        let steps: u32 = b.probe.variable("steps").parse().unwrap();
        // All elements with the role and name of the target.
        let all = targets(&first, &role, &name);
        for _ in 0..steps {
            b.probe.run("advance").unwrap();
            b.settle().await;
        }
        let then = b.tree().await;
        let kept = all.iter().all(|h| then.find_handle(*h).is_some());
        let expected = !replaced.contains(&id.as_str());
        let removed_besides = ["remove-other-rows", "chat-that-scrolls"].contains(&id.as_str());
        if !removed_besides {
            assert_eq!(kept, expected, "{id}");
        }
    }
}
