//! `fixtures/staleness.toml` on trees in memory, in all three identity grades.
//!
//! A suite on trees cannot press anything. It does what the kernel does before a press: resolve,
//! locate, judge, and capture again if the element is not found by its handle.

mod fixture;
mod world;

use fixture::{Grade, Situation, Table};
use world::{Captures, Outcome, World};

const GRADES: [Grade; 3] = [Grade::NeverReused, Grade::WhileAlive, Grade::None];
const COLUMNS: [Captures; 3] = [Captures::None, Captures::Looks, Captures::Shown];

/// Returns everything that differs from the table, one line each.
fn differences(table: &Table, situation: &Situation) -> Vec<String> {
    let mut wrong = Vec::new();
    for grade in GRADES {
        let row = table.row(situation, grade);
        for (column, captures) in COLUMNS.into_iter().enumerate() {
            for (pinned, expected) in [(false, &row.plain[column]), (true, &row.pinned[column])] {
                let mut world = World::start(situation, grade, captures);
                let got = world.finish(pinned);
                let again = world.use_again(pinned);
                let case = format!("{} {grade:?} {captures:?} pinned={pinned}", situation.id);
                if got.to_string() != *expected {
                    wrong.push(format!("{case}: expected {expected}, got {got}"));
                }
                if got == Outcome::Told && !again.acts() {
                    wrong.push(format!("{case}: notified, and the repeated command gave {again}"));
                }
                if got.refuses() && again.to_string() != got.to_string() {
                    wrong.push(format!("{case}: refused as {got}, and the repeated command gave {again}"));
                }
            }
        }
    }
    wrong
}

#[test]
fn every_situation_has_the_outcome_of_the_table() {
    let table = Table::read();
    let wrong: Vec<String> = table.on_trees().flat_map(|situation| differences(&table, situation)).collect();
    assert!(wrong.is_empty(), "{}\n{} differences", wrong.join("\n"), wrong.len());
}

#[test]
fn ordinary_flows_are_not_refused() {
    let table = Table::read();
    for grade in GRADES {
        let (mut uses, mut told, mut refused) = (0, 0, Vec::new());
        for situation in table.on_trees().filter(|s| s.spec == "12.12") {
            for captures in [Captures::Looks, Captures::Shown] {
                for (step, outcome) in World::walk(situation, grade, captures) {
                    uses += 1;
                    told += usize::from(outcome == Outcome::Told);
                    if outcome.refuses() || matches!(outcome, Outcome::Wrong(_)) {
                        refused.push(format!("{} step {step} {captures:?}: {outcome}", situation.id));
                    }
                }
            }
        }
        println!("{grade:?}: {} of {uses} ordinary uses refused, {told} notified first", refused.len());
        assert!(uses > 100, "the flows were not walked");
        assert!(refused.is_empty(), "{grade:?}:\n{}", refused.join("\n"));
    }
}

#[test]
fn every_situation_has_a_tree_file() {
    let table = Table::read();
    let mut ids: Vec<&str> = table.situation.iter().map(|s| s.id.as_str()).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "two situations have the same id");
    for id in &ids {
        assert!(id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{id} is not kebab-case");
    }
    for situation in &table.situation {
        assert_eq!(
            table.tells(situation),
            situation.has_words(),
            "{}: what does the notice say?",
            situation.id
        );
    }
    let on_trees: Vec<&str> = table.on_trees().map(|s| s.id.as_str()).collect();
    for file in Table::tree_files() {
        assert!(on_trees.contains(&file.as_str()), "staleness/{file}.txt belongs to no situation");
    }
    for spec in ["12.3", "12.4", "12.10", "12.12", "context 2", "context 3"] {
        assert!(table.situation.iter().any(|s| s.spec == spec), "no situation for {spec}");
    }
}
