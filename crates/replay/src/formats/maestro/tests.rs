//! Golden files of flows, and a check that every resulting line is a command in the registry.

use super::*;
use crate::plan::Plan;
use crate::script::write;
use crate::vars::Vars;
use std::path::Path;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the plan of `flow.yaml`; the flows that it runs have one command.
fn plan(text: &str) -> stickpin_kernel::Result<Plan> {
    let mut vars = Vars::default();
    vars.set_from_pair("USER=ada").unwrap();
    Plan::read(Path::new("flow.yaml"), &vars, &|path| match path.to_str() {
        Some("flow.yaml") => Ok(text.to_owned()),
        Some("steps/back.yml") => Ok("- back".to_owned()),
        Some("round.yaml") => Ok("- runFlow: flow.yaml".to_owned()),
        _ => Err(stickpin_kernel::io_error("read", path, &std::io::ErrorKind::NotFound.into())),
    })
}

#[test]
fn golden_files_of_valid_flows() {
    crate::golden::check(ROOT, "maestro/ok", 6, &|input, _| {
        let script = parse(input).unwrap_or_else(|e| panic!("{e}\n{input}"));
        plan(input).unwrap_or_else(|e| panic!("{e}\n{input}"));
        let written = write(&script);
        let again = crate::script::parse(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(write(&again), written, "it is a script as any other");
        written
    });
}

#[test]
fn golden_files_of_refused_flows() {
    crate::golden::check(ROOT, "maestro/err", 40, &|input, _| match plan(input) {
        Ok(plan) => panic!("{input} was read as {plan:?}"),
        Err(e) => format!("{}\n{}", e.message, e.hint),
    });
}

/// The commands that Maestro documents (docs.maestro.dev, "Commands available", and the forms of
/// `inputText`).
const DOCUMENTED: &str = "addMedia assertNoDefectsWithAI assertNotVisible assertScreenshot assertTrue assertVisible \
    assertWithAI back clearKeychain clearState copyTextFrom doubleTapOn eraseText evalScript extendedWaitUntil \
    extractTextWithAI hideKeyboard inputText inputRandomEmail inputRandomPersonName inputRandomNumber inputRandomText \
    inputRandomCityName inputRandomCountryName inputRandomColorName killApp launchApp longPressOn openLink pasteText \
    pressKey repeat retry runFlow runScript scroll scrollUntilVisible setAirplaneMode setClipboard setLocation \
    setOrientation setPermissions startRecording stopApp stopRecording swipe takeScreenshot tapOn toggleAirplaneMode \
    travel waitForAnimationToEnd";

#[test]
fn every_documented_command_is_supported_or_refused_by_name() {
    let mut read = 0;
    for name in DOCUMENTED.split_whitespace() {
        let message = match plan(&format!("appId: sim:shop\n---\n- {name}\n")) {
            Ok(_) => String::new(),
            Err(e) => e.message,
        };
        let unknown = format!("the Maestro command `{name}` is not supported");
        assert!(!message.ends_with(&unknown), "{name}: {message}");
        let refused = message.contains(&format!("{unknown}: "));
        read += usize::from(!refused);
    }
    eprintln!("{read} of {} documented commands are read", DOCUMENTED.split_whitespace().count());
    assert!(read >= 23, "{read}");
}

#[test]
fn plan_lines_point_into_the_flow() {
    let plan =
        plan("appId: sim:shop\n---\n- launchApp\n\n- tapOn:\n    text: Save\n- runFlow: steps/back.yml\n")
            .unwrap();
    let places: Vec<String> = plan
        .items
        .iter()
        .map(|item| match item {
            crate::plan::Item::Step(step) => format!("{} {}", step.at, step.text),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(places, ["flow.yaml:3 open sim:shop", "flow.yaml:5 press text=Save", "steps/back.yml:1 back"]);
}

#[test]
fn huge_or_deep_flow_is_refused() {
    let huge = "- back\n".repeat(crate::script::MAX_BYTES / 7 + 1);
    assert!(parse(&huge).unwrap_err().message.contains("bytes"));
    for deep in ["[", "{a: ", "- "] {
        assert!(parse(&deep.repeat(100_000)).is_err(), "{deep}");
    }
}
