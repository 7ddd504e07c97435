//! Finds the root process of the harness that a process runs under.

use super::harnesses::{HARNESSES, Harness, INTERPRETERS, Multiplicity};

/// The maximum number of processes of an ancestry that are searched.
const MAX_STEPS: usize = 20;

/// One process of an ancestry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The process id.
    pub pid: u32,
    /// The start time in the kernel's unit: on Linux, field 22 of `/proc/PID/stat`.
    pub start: u64,
    /// The command line; the first word is the executable.
    pub args: Vec<String>,
}

/// The topmost process of the nearest harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HarnessRoot<'a> {
    /// The harness.
    pub harness: &'static Harness,
    /// The process.
    pub process: &'a Process,
}

impl HarnessRoot<'_> {
    /// Returns whether the process serves several sessions at once.
    #[must_use]
    pub fn serves_many(&self) -> bool {
        match self.harness.multiplicity {
            Multiplicity::One => false,
            Multiplicity::Many => true,
            Multiplicity::ManyIf(word) => self.process.args.iter().any(|arg| arg == word),
        }
    }
}

fn basename(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the name of a program or a script, without its folder and a known extension.
fn stem(name: &str) -> &str {
    let name = basename(name);
    [".js", ".mjs", ".cjs", ".ts", ".py", ".exe"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name)
}

/// Returns the harness that a process belongs to. Interpreters are identified by the script that
/// they run.
fn harness_of(process: &Process) -> Option<&'static Harness> {
    let mut words = process.args.iter().map(String::as_str);
    let mut name = stem(words.next()?);
    if INTERPRETERS.contains(&name) {
        name = stem(words.find(|word| !word.starts_with('-'))?);
    }
    HARNESSES.iter().find(|harness| harness.executables.contains(&name))
}

/// Returns the root of the harness nearest to a process: the topmost process of that harness that
/// can be reached without crossing another harness. `ancestry` starts with the process itself.
#[must_use]
pub fn harness_root(ancestry: &[Process]) -> Option<HarnessRoot<'_>> {
    let mut root: Option<HarnessRoot<'_>> = None;
    for process in ancestry.iter().take(MAX_STEPS).take_while(|process| process.pid > 1) {
        let Some(harness) = harness_of(process) else { continue };
        match root {
            Some(found) if found.harness.name != harness.name => break,
            _ => root = Some(HarnessRoot { harness, process }),
        }
    }
    root
}
