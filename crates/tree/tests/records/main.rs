//! The record rule over recorded captures of real pages.

mod capture;
mod replay;

use std::io::Read;
use std::path::PathBuf;

use capture::Case;
use replay::{MODES, Mode, Outcome};
use stickpin_tree::Switches;

/// The workspace.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Recordings that lie beside the checkout.
fn recorded(name: &str) -> Option<Vec<Case>> {
    let path = root().join("../shared/fixtures/records").join(name);
    let Ok(file) = std::fs::File::open(&path) else {
        println!("skipped: shared/fixtures/records/{name} is not beside the checkout");
        return None;
    };
    let mut json = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut json).expect("a readable recording");
    Some(capture::cases(&json))
}

/// How the acts of some recordings came out.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Figures {
    acts: usize,
    wrong: Vec<String>,
    refused: Vec<String>,
}

fn figures(cases: &[Case], mode: Mode, on: Switches, last_only: bool) -> Figures {
    let mut figures = Figures::default();
    for case in cases {
        let mut acts = replay::replay(case, mode, on);
        if last_only {
            acts.drain(..acts.len().saturating_sub(1));
        }
        for act in acts {
            figures.acts += 1;
            match act.outcome {
                Outcome::Wrong => figures.wrong.push(format!("{} | {}", case.name, act.why)),
                Outcome::Refused => figures.refused.push(format!("{} | {}", case.name, act.why)),
                Outcome::Right | Outcome::RightlyRefused => {}
            }
        }
    }
    figures
}

#[test]
fn adversarial_situations() {
    let Some(cases) = recorded("situations.json.gz") else { return };
    for mode in MODES {
        let figures = figures(&cases, mode, Switches::all(), true);
        println!("{mode:?}: {figures:#?}");
    }
}

#[test]
fn ordinary_flows() {
    let Some(cases) = recorded("flows.json.gz") else { return };
    for mode in MODES {
        let figures = figures(&cases, mode, Switches::all(), false);
        println!("{mode:?}: {figures:#?}");
    }
}
