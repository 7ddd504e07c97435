//! Golden files of what is written in formats of others.

use super::*;
use crate::plan::Plan;
use crate::vars::Vars;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn golden_files_of_scripts_in_other_formats() {
    stickpin_golden::check(ROOT, "export", 6, &|input, format| {
        let read = |path: &Path| match path.to_str() {
            Some("flow.ad") => Ok(input.to_owned()),
            Some("steps/login.ad") => Ok("env USER=ada\nfill label=User \"${USER}\"".to_owned()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        };
        let format = match format {
            "maestro" => Format::Maestro,
            "playwright" => Format::Playwright,
            other => panic!("{other}"),
        };
        let Export { text, notes } =
            export(Path::new("flow.ad"), format, &read).unwrap_or_else(|e| panic!("{e}\n{input}"));
        if format == Format::Maestro {
            flow_reads(&text);
        }
        let notes = notes.iter().map(|note| {
            let how = if note.left_out { "left out" } else { "less exact" };
            format!("{how}: {} {}: {}\n", note.at, note.line, note.why)
        });
        format!("{text}----\n{}", notes.collect::<String>())
    });
}

/// What we write, we read.
fn flow_reads(text: &str) {
    let mut vars = Vars::default();
    for pair in ["WHO=x", "PASSWORD=x", "COUNT=2"] {
        vars.give(pair).unwrap();
    }
    let plan = Plan::read(Path::new("flow.yaml"), &vars, &|_| Ok(text.to_owned()));
    plan.unwrap_or_else(|e| panic!("{e}\n{text}"));
}

#[test]
fn a_script_that_cannot_be_read_is_not_exported() {
    let export = |text: &str| {
        let text = text.to_owned();
        export(Path::new("a.ad"), Format::Maestro, &|_| Ok(text.clone())).unwrap_err().message
    };
    assert!(export("pres id=a").starts_with("a.ad:1: there is no command"));
    assert!(export("fill \"open").starts_with("a.ad:1:6: a quote"));
    assert!(export("include a.ad").contains("includes itself"));
}
