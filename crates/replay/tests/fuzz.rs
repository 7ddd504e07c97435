//! Texts that nobody wrote: readers of scripts answer them all, quickly, and what they read is
//! written and read again.
//!
//! A plain run makes the texts of the first seeds, so that it answers alike wherever it runs.
//! `STICKPIN_FUZZ_SECONDS=N` makes others for that long; `STICKPIN_FUZZ_SEED=N` says which is
//! first.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};
use stickpin_kernel::{Error, ErrorCode};
use stickpin_replay::formats::{self, Format};
use stickpin_replay::{Plan, Vars, script};

/// How many texts a plain run makes.
const TEXTS: u64 = 3_000;

/// Longer than any of these texts may take, on a busy machine and without optimization.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is put into texts: what grammars turn on.
const PIECES: &[&str] = &[
    "\"",
    "'",
    "\\",
    "${",
    "}",
    "${A:-b}",
    "${A || \"b\"}",
    "\t",
    "\r",
    "\r\n",
    "\n",
    "\n\n",
    "#",
    "# target ",
    "{",
    "[",
    "]",
    ":",
    ": ",
    "- ",
    "---\n",
    "...",
    "|",
    ">",
    "&a ",
    "*a",
    "!x ",
    "%YAML 1.2\n",
    "? ",
    "\u{0}",
    "\u{feff}",
    "\u{202e}",
    "é",
    "😀",
    "\\u0000",
    "\\ud800",
    "\\ud83d\\ude00",
    "context ",
    "env A=",
    "include a.ad",
    "retry 2 {\n",
    "repeat 999999 {\n",
    "if visible id=a {\n",
    "}\n",
    "press ",
    "wait ",
    "--",
    "--timeout=",
    "@e1~s2",
    "id=a || ",
    "in(",
    ")",
    "nth=0",
    "role=",
    "tapOn",
    "runFlow:\n",
    "  ",
    "when:\n",
    "commands:\n",
    "times: 3\n",
    "<<: ",
    "null",
    "0x1F",
    "1e999",
    "9999999999999999999999",
];

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|e| panic!("{name}: {e}")))
}

/// The inputs of all golden files, flows and scripts.
fn corpus() -> Vec<String> {
    let mut texts = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the golden files are there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "txt") {
                let text = std::fs::read_to_string(&path).expect("a text");
                texts.push(text.split("==== ").next().unwrap_or_default().to_owned());
            }
        }
    }
    // In one order everywhere, or a seed means something else.
    texts.sort();
    texts
}

/// A text with some of it changed.
fn text(random: &mut StdRng, corpus: &[String]) -> String {
    let mut chars: Vec<char> = corpus.choose(random).expect("a text").chars().collect();
    for _ in 0..random.random_range(1..8) {
        let at = random.random_range(0..=chars.len());
        match random.random_range(0..6) {
            0 => drop(chars.drain(at..(at + random.random_range(0..12)).min(chars.len()))),
            1 => {
                let other: Vec<char> = corpus.choose(random).expect("a text").chars().collect();
                let from = random.random_range(0..=other.len());
                let to = (from + random.random_range(0..60)).min(other.len());
                chars.splice(at..at, other[from..to].iter().copied());
            }
            2 => {
                let piece = PIECES.choose(random).expect("a piece").repeat(random.random_range(1..40));
                chars.splice(at..at, piece.chars());
            }
            3 => chars.truncate(at),
            _ => drop(chars.splice(at..at, PIECES.choose(random).expect("a piece").chars())),
        }
    }
    chars.into_iter().collect()
}

#[test]
fn no_text_breaks_a_reader() {
    let corpus = corpus();
    assert!(corpus.len() > 90, "{} texts", corpus.len());
    let until = setting("STICKPIN_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let first = setting("STICKPIN_FUZZ_SEED").unwrap_or_else(|| match until {
        Some(_) => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock");
            u64::from(now.subsec_nanos())
        }
        None => 0,
    });
    let (mut all, mut read) = (0u64, 0u64);
    while until.map_or(all < TEXTS, |until| Instant::now() < until) {
        let of = first + all;
        let text = text(&mut StdRng::seed_from_u64(of), &corpus);
        let begun = Instant::now();
        let outcome = std::panic::catch_unwind(|| judge(&text));
        let took = begun.elapsed();
        match outcome {
            Ok(Ok(scripts)) => read += scripts,
            Ok(Err(why)) => panic!("STICKPIN_FUZZ_SEED={of}: {why}\n{text}"),
            Err(_) => panic!("STICKPIN_FUZZ_SEED={of}: a reader panicked\n{text}"),
        }
        assert!(took < PATIENCE, "STICKPIN_FUZZ_SEED={of}: {took:?}\n{text}");
        all += 1;
    }
    eprintln!("{all} texts from seed {first}, read as {read} scripts");
    // A reader that refuses everything would pass all this.
    assert!(read * 20 > all, "{read} scripts of {all} texts");
}

/// How many readers took the text; what is wrong with what they made of it.
fn judge(text: &str) -> Result<u64, String> {
    let mut read = 0;
    for name in ["flow.ad", "flow.yaml"] {
        let file = Path::new(name);
        match formats::parse(file, text) {
            Err(e) if e.line == 0 || e.column == 0 || e.message.is_empty() => return Err(format!("{e:?}")),
            Err(_) => continue,
            Ok(parsed) => {
                read += 1;
                let written = script::write(&parsed);
                let again =
                    script::parse(&written).map_err(|e| format!("{e} in what was written:\n{written}"))?;
                if script::write(&again) != written {
                    return Err(format!("it is written another way the second time:\n{written}"));
                }
            }
        }
        let open = |path: &Path| match path.to_str() {
            Some(same) if same == name => Ok(text.to_owned()),
            _ => Err(Error::new(ErrorCode::Io, "there is no such file")),
        };
        // A fault is one of the text, said as such.
        let _reads_or_says_why = Plan::read(file, &Vars::default(), &open);
        for format in [Format::Maestro, Format::Playwright] {
            let Ok(exported) = formats::export(file, format, &open) else { continue };
            if format == Format::Maestro {
                let reads = formats::parse(Path::new("flow.yaml"), &exported.text);
                reads.map_err(|e| format!("{e} in the flow that was written:\n{}", exported.text))?;
            }
        }
    }
    Ok(read)
}

#[test]
fn a_hundred_megabytes_are_refused_at_once() {
    let text = "press id=a\n".repeat(10_000_000);
    for name in ["flow.ad", "flow.yaml"] {
        let begun = Instant::now();
        let refused = formats::parse(Path::new(name), &text).unwrap_err();
        assert!(refused.message.contains("more than"), "{refused}");
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    }
}
