//! Golden files of scripts exported to other formats.

use super::*;
use crate::plan::Plan;
use crate::vars::Vars;
use std::path::Path;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn golden_files_of_scripts_in_other_formats() {
    crate::golden::check(ROOT, "export", 6, &|input, format| {
        let read = |path: &Path| match path.to_str() {
            Some("flow.ad") => Ok(input.to_owned()),
            Some("steps/login.ad") => Ok("env USER=ada\nfill label=User \"${USER}\"".to_owned()),
            _ => Err(stickpin_kernel::io_error("read", path, &std::io::ErrorKind::NotFound.into())),
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
            let how = if note.omitted { "left out" } else { "less exact" };
            format!("{how}: {} {}: {}\n", note.at, note.line, note.reason)
        });
        format!("{text}----\n{}", notes.collect::<String>())
    });
}

/// Checks that an exported flow reads back.
fn flow_reads(text: &str) {
    let mut vars = Vars::default();
    for pair in ["WHO=x", "PASSWORD=x", "COUNT=2"] {
        vars.set_from_pair(pair).unwrap();
    }
    let plan = Plan::read(Path::new("flow.yaml"), &vars, &|_| Ok(text.to_owned()));
    plan.unwrap_or_else(|e| panic!("{e}\n{text}"));
}

#[test]
fn unreadable_script_is_not_exported() {
    let export = |text: &str| {
        let text = text.to_owned();
        export(Path::new("a.ad"), Format::Maestro, &|_| Ok(text.clone())).unwrap_err().message
    };
    assert!(export("pres id=a").starts_with("a.ad:1: there is no command"));
    assert!(export("fill \"open").starts_with("a.ad:1:6: a quote"));
    assert!(export("include a.ad").contains("includes itself"));
}

#[test]
fn golden_files_of_agent_device_lines() {
    crate::golden::check(ROOT, "agent_device", 4, &|input, question| {
        let script = crate::script::parse(input).unwrap_or_else(|e| panic!("{e}\n{input}"));
        let mut vars = Vars::default();
        vars.built_in.insert("AD_FILENAME".to_owned(), "flow.ad".to_owned());
        let mut out = String::new();
        for node in &script.body {
            let one = crate::script::Script {
                env: script.env.clone(),
                body: vec![node.clone()],
                ..Default::default()
            };
            let one = crate::script::write(&one);
            let read = Plan::read(Path::new("flow.ad"), &vars, &|_| Ok(one.clone()));
            let lines = read.map(|plan| plan.items.iter().map(written).collect::<String>());
            out.push_str(&match (lines, question) {
                (Ok(line), "ours") => line,
                (Err(e), "refused") => format!("{}\n{}\n", e.message, e.hint),
                (other, _) => panic!("{one}: {other:?}"),
            });
        }
        out
    });
}

/// Returns a step as a line in our own spelling.
fn written(item: &crate::plan::Item) -> String {
    let crate::plan::Item::Step(step) = item else { panic!("{item:?}") };
    let words = stickpin_cmdline::write(step.line.entry, &step.line.input);
    let words: Vec<_> = words.iter().map(crate::script::Template::text).collect();
    format!("{}\n", crate::script::line(&words))
}

#[test]
fn foreign_comments_are_kept() {
    let text = "context platform=android timeout=60000 theme=dark\nenv APP=sim:shop\nopen ${APP} --relaunch\n\
                # agent-device:target-v1 {\"id\":\"save\",\"role\":\"button\"}\nclick id=save\n";
    let script = crate::script::parse(text).unwrap();
    assert_eq!(crate::script::write(&script), text);
}
