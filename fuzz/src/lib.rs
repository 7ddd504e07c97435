//! Drives a reader with generated inputs: seeds with some of their bytes changed.
//!
//! Each target has seeds in `corpus/NAME`, and inputs that once broke it in `regressions/NAME`.
//! Both are first read unchanged. A plain run then generates inputs from the first seeds of the
//! random generator, so that its result is equal on all machines. `STICKPIN_FUZZ_SECONDS=N`
//! generates other inputs for that long and prints the number of the first; `STICKPIN_FUZZ_SEED=N`
//! sets that number.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The number of inputs that a plain run generates.
const INPUTS: u64 = 3_000;

/// Longer than any input may take, on a busy machine and without optimization.
const PATIENCE: Duration = Duration::from_secs(5);

/// A reader, and the material for its inputs.
pub struct Target<'t> {
    /// The name of the target and of its folders.
    pub name: &'t str,
    /// Seeds in addition to those of the folder.
    pub seeds: Vec<Vec<u8>>,
    /// Pieces that are inserted into inputs: the tokens that matter to the grammar.
    pub pieces: &'t [&'t str],
    /// Reads one input, with the generator that made it for further choices. Returns whether the
    /// input was accepted, or a sentence about what is wrong with the result.
    #[allow(clippy::type_complexity, reason = "one closure, named by its field")]
    pub read: &'t dyn Fn(&[u8], &mut StdRng) -> Result<bool, String>,
}

/// Returns the number in an environment variable.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|e| panic!("{name}: {e}")))
}

/// Returns the files of a folder, by name, with their content. A missing folder has no files.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    // Sorted, so that a number means the same input everywhere.
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("a seed"))).collect()
}

/// Changes parts of a seed.
fn mutate(random: &mut StdRng, seeds: &[Vec<u8>], pieces: &[&str]) -> Vec<u8> {
    let mut bytes = seeds.choose(random).expect("a seed").clone();
    // Mostly one change: an input with a single fault is read furthest.
    let most = *[1, 1, 2, 8].choose(random).expect("a number");
    for _ in 0..random.random_range(1..=most) {
        let at = random.random_range(0..=bytes.len());
        let piece = pieces.choose(random).expect("a piece").as_bytes();
        match random.random_range(0..8) {
            0 => drop(bytes.drain(at..(at + random.random_range(0..12)).min(bytes.len()))),
            1 => {
                let other = seeds.choose(random).expect("a seed");
                let from = random.random_range(0..=other.len());
                let to = (from + random.random_range(0..60)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            2 => drop(bytes.splice(at..at, piece.repeat(random.random_range(1..40)))),
            3 => bytes.truncate(at),
            4 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.random_range(0..8);
                }
            }
            _ => drop(bytes.splice(at..at, piece.iter().copied())),
        }
    }
    bytes
}

/// Reads one input; panics with `what` if the reader fails on it.
fn judge(target: &Target<'_>, what: &str, input: &[u8], random: &mut StdRng) -> bool {
    let begun = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.read)(input, random)));
    let took = begun.elapsed();
    let why = match outcome {
        Ok(Ok(accepted)) if took < PATIENCE => return accepted,
        Ok(Ok(_)) => format!("it took {took:?}"),
        Ok(Err(why)) => why,
        Err(_) => "it panicked".to_owned(),
    };
    let name = target.name;
    panic!("{name}, {what}: {why}\ninput, for a file in fuzz/regressions/{name}:\n{}", input.escape_ascii());
}

/// Runs a target.
///
/// # Panics
/// Panics if the reader panics, takes too long or returns a sentence; or if it accepts hardly
/// anything, because such a reader would pass every check.
pub fn run(mut target: Target<'_>) {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let written = ["corpus", "regressions"].map(|kind| files(&home.join(kind).join(target.name)));
    for (path, input) in written.iter().flatten() {
        judge(&target, &path.display().to_string(), input, &mut StdRng::seed_from_u64(0));
    }
    target.seeds.extend(written.into_iter().flatten().map(|(_, input)| input));
    assert!(!target.seeds.is_empty(), "{} has no seeds", target.name);

    let until = setting("STICKPIN_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let first = setting("STICKPIN_FUZZ_SEED").unwrap_or_else(|| match until {
        Some(_) => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock");
            u64::from(now.subsec_nanos())
        }
        None => 0,
    });
    if until.is_some() {
        eprintln!("{}: STICKPIN_FUZZ_SEED={first}", target.name);
    }
    let (mut all, mut accepted) = (0u64, 0u64);
    while until.map_or(all < INPUTS, |until| Instant::now() < until) {
        let seed = first + all;
        let mut random = StdRng::seed_from_u64(seed);
        let input = mutate(&mut random, &target.seeds, target.pieces);
        let what = format!("STICKPIN_FUZZ_SEED={seed}");
        accepted += u64::from(judge(&target, &what, &input, &mut random));
        all += 1;
    }
    eprintln!("{}: {all} inputs, {accepted} accepted", target.name);
    assert!(accepted * 50 > all, "{} accepts {accepted} of {all} inputs", target.name);
}
