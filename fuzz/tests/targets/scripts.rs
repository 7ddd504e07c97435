//! Scripts of all formats: readers handle every text quickly, and what they read can be written and
//! read again.

use std::path::{Path, PathBuf};
use stickpin_fuzz::{Target, run};
use stickpin_kernel::{Error, ErrorCode};
use stickpin_replay::formats::{self, Format};
use stickpin_replay::{Plan, Vars, script};

/// Pieces that are inserted into texts: the tokens that matter to the grammars.
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

/// Returns the inputs of all golden files, flows and scripts.
fn golden() -> Vec<Vec<u8>> {
    let mut texts = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the workspace");
    let mut folders: Vec<PathBuf> = vec![root.join("crates/replay/test_data")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the golden files are there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "txt") {
                let text = std::fs::read_to_string(&path).expect("a text");
                texts.push(text.split("==== ").next().unwrap_or_default().as_bytes().to_vec());
            }
        }
    }
    texts.sort();
    assert!(texts.len() > 90, "{} texts", texts.len());
    texts
}

/// Returns whether a reader accepted the text, or what is wrong with the result.
fn judge(text: &str) -> Result<bool, String> {
    let mut read = false;
    for name in ["flow.ad", "flow.yaml"] {
        let file = Path::new(name);
        match formats::parse(file, text) {
            Err(e) if e.line == 0 || e.column == 0 || e.message.is_empty() => return Err(format!("{e:?}")),
            Err(_) => continue,
            Ok(parsed) => {
                read = true;
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
        // A fault is a fault of the text, and reported as such.
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
fn scripts() {
    run(Target {
        name: "scripts",
        seeds: golden(),
        pieces: PIECES,
        read: &|bytes, _| judge(&String::from_utf8_lossy(bytes)),
    });
}
