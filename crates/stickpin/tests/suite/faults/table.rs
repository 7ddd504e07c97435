//! The table of faults names a test for each, and every test that it names exists.

use std::collections::BTreeMap;
use stickpin_testkit::workspace_root;

#[test]
fn every_fault_has_a_test_that_exists() {
    let root = workspace_root();
    let page = std::fs::read_to_string(root.join("docs/faults.md")).expect("the table");
    let mut rows: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| F") || line.starts_with("| A")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [id, _, file, test] = cells[..] else { panic!("not four cells: {line}") };
        let tests = rows.entry(id).or_default();
        if !file.is_empty() {
            tests.push((file.trim_matches('`'), test.trim_matches('`')));
        }
    }
    let faults = (1..=42).map(|n| format!("F{n}"));
    let acceptance = (1..=18).map(|n| format!("A{n}")).chain(["A2b".to_owned()]);
    for id in faults.chain(acceptance) {
        let tests = rows.remove(id.as_str()).unwrap_or_default();
        assert!(!tests.is_empty(), "{id} has no test");
        for (file, test) in tests {
            let source =
                std::fs::read_to_string(root.join(file)).unwrap_or_else(|e| panic!("{id}: {file}: {e}"));
            assert!(source.contains(&format!("fn {test}(")), "{id}: no {test} in {file}");
        }
    }
    assert!(rows.is_empty(), "unknown rows: {rows:?}");
}
