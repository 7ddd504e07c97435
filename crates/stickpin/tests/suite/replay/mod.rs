//! Recording and replaying on the simulated device: what an agent did by refs is run again by
//! selectors, and diverges if the app has changed. The app's log shows which element received the
//! input.

mod formats;
mod stage;

use stage::Stage;
use stickpin_kernel::ErrorCode;
use stickpin_replay::{Plan, RunEnd, Vars, read_script};

const BUYING: &[&str] = &[
    "open sim:shop?clock=virtual --record -i",
    "press @e8",
    "press @e10 --settle",
    "press @e5",
    "press 'text=\"Check out\"'",
    "form label=Name=Ada 'label=Email=ada@example.com'",
    "press 'text=\"Place order\"'",
];

fn presses(stage: &Stage) -> Vec<String> {
    let all = stage.received();
    all.into_iter().filter(|(event, _)| event == "press" || event == "fill").map(|(_, what)| what).collect()
}

#[test]
fn what_was_done_by_refs_runs_again_by_selectors() {
    let stage = Stage::new();
    for line in BUYING {
        stage.ok(line);
    }
    let before = presses(&stage);
    assert!(before.len() >= 6, "{before:?}");
    stage.ok("close --save=buy.ad");
    let script = stage.read("buy.ad");
    for (ref_or_pin, why) in
        [("\"@e", "a ref"), (" @e", "a ref"), ("~s", "a pin"), ("--settle", "a settle"), ("nth", "a place")]
    {
        assert!(!script.contains(ref_or_pin), "{why} in\n{script}");
    }
    assert!(
        script.contains("# target button \"Add to cart\" in row \"Oak lamp\"\npress \"role=button label=\\\"Add to cart\\\" row=\\\"Oak lamp\\\"\"\n"),
        "{script}"
    );
    assert!(script.ends_with("close\n"), "{script}");

    let ran = stage.replay_keeping("buy.ad");
    assert!(matches!(ran.end, RunEnd::Passed), "{:?}\n{script}", ran.end);
    assert_eq!(presses(&stage), before, "the app received the same input");
}

#[test]
fn changed_target_is_a_divergence_that_sends_nothing() {
    let stage = Stage::new();
    stage.write(
        "add.ad",
        "open sim:shop?clock=virtual\n\
         # target button \"Add to cart\" in row \"Oak lamp\"\n\
         press 'role=button label=\"Add to cart\" row=\"Birch chair\"'\n",
    );
    let ran = stage.replay("add.ad");
    let RunEnd::Diverged(divergence) = ran.end else { panic!("{:?}", ran.end) };
    assert_eq!((divergence.step, divergence.at.line), (2, 3));
    assert_eq!(divergence.error.code, ErrorCode::ReplayDivergence);
    assert!(divergence.error.message.contains("in row \"Birch chair\""), "{}", divergence.error);
    assert!(presses(&stage).is_empty(), "{:?}", presses(&stage));
}

#[test]
fn missing_target_reports_screen_suggestions_and_hint() {
    let stage = Stage::new();
    stage.write(
        "gone.ad",
        "open sim:shop?clock=virtual\n\
         press 'id=add-oak || role=button label=\"Add to cart\" row=\"Elm lamp\"'\n",
    );
    let ran = stage.replay("gone.ad");
    let RunEnd::Diverged(divergence) = ran.end else { panic!("{:?}", ran.end) };
    assert_eq!(divergence.error.code, ErrorCode::ElementNotFound);
    let screen = divergence.screen.as_deref().expect("a screen");
    assert!(screen.contains("button \"Add to cart\"") && screen.contains("refs s"), "{screen}");
    assert_eq!(divergence.suggestions.len(), 5, "{:?}", divergence.suggestions);
    assert!(divergence.suggestions.iter().all(|s| s.basis == "role and label"));
    // Its refs are valid: one of them performs the right action, and the run continues after it.
    stage.ok(&format!("press {}", divergence.suggestions[0].r#ref));
    assert_eq!(presses(&stage), ["add lamp"]);
    let resume = divergence.resume.clone().expect("it stands in no block");
    assert_eq!(resume.from, 2);
    let plan = Plan::read(&stage.path("gone.ad"), &Vars::default(), &read_script).unwrap();
    assert_eq!(plan.digest(), resume.plan_digest, "the same script has the same digest");
    stage.write("gone.ad", &(stage.read("gone.ad") + "# a comment\n"));
    let plan = Plan::read(&stage.path("gone.ad"), &Vars::default(), &read_script).unwrap();
    assert_eq!(plan.digest(), resume.plan_digest, "a comment is not run");
    stage.write("gone.ad", &(stage.read("gone.ad") + "back\n"));
    let plan = Plan::read(&stage.path("gone.ad"), &Vars::default(), &read_script).unwrap();
    assert_ne!(plan.digest(), resume.plan_digest);
}

#[test]
fn recording_refuses_an_ambiguous_target() {
    let stage = Stage::new();
    stage.write(
        "twins.toml",
        "title = \"Twins\"\nabout = \"two equal rows\"\nstart = \"/\"\n[screens.all]\nurl = \"/\"\ntitle = \"Twins\"\nview = '''\nlist\n  li\n    button \"Open\"\n  li\n    button \"Open\"\nbutton \"Help\"\n'''\n",
    );
    stage.ok(&format!("open sim:{} --record -i", stage.path("twins.toml").display()));
    let refused = stage.call("press @e2");
    let error = refused.error.expect("it is refused");
    assert_eq!(error.code, ErrorCode::AmbiguousMatch, "{error}");
    assert!(error.message.contains("cannot be recorded"), "{error}");
    assert!(presses(&stage).is_empty());
    stage.ok("press text=Help");
    stage.ok("record stop twins.ad");
    assert!(
        stage.read("twins.ad").contains("press \"role=button label=Help\""),
        "{}",
        stage.read("twins.ad")
    );
    stage.ok("press @e2");
}

#[test]
fn passwords_are_variables() {
    let stage = Stage::new();
    stage.ok("open sim:signin --record -i");
    stage.ok("fill label=Password hunter2");
    stage.ok("fill label=Email ada@example.com --record-as USER");
    stage.ok("record stop in.ad");
    let script = stage.read("in.ad");
    assert!(!script.contains("hunter2") && !script.contains("ada@"), "{script}");
    assert!(script.contains("${PASSWORD}") && script.contains("${USER}"), "{script}");
    let error = Plan::read(&stage.path("in.ad"), &Vars::default(), &read_script).unwrap_err();
    assert!(error.message.contains("in.ad:") && error.message.contains("is not set"), "{error}");
    let mut vars = Vars::default();
    vars.set_from_pair("PASSWORD=hunter2").unwrap();
    vars.set_from_pair("USER=ada@example.com").unwrap();
    let ran = stage.replay_with("in.ad", &vars, false);
    assert!(matches!(ran.end, RunEnd::Passed), "{:?}", ran.end);
}

#[test]
fn blocks_includes_and_waits_for_what_comes_later() {
    let stage = Stage::new();
    stage.write("more.ad", "repeat 3 {\n  press label=More\n}\n");
    stage.write(
        "flow.ad",
        "env WHAT=\"Wool rug\"\n\
         open sim:shop?clock=real\n\
         if visible 'text=\"Not there\"' {\n  press text=Nothing\n}\n\
         press 'role=button label=\"Add to cart\" row=\"${WHAT}\"'\n\
         press 'role=link label~=Cart'\n\
         include more.ad\n\
         is value label=Quantity 4\n",
    );
    let ran = stage.replay("flow.ad");
    assert!(matches!(ran.end, RunEnd::Passed), "{:?}", ran.end);
    assert_eq!(presses(&stage), ["add rug", "cart link", "more rug", "more rug", "more rug"]);
    let lines: Vec<String> = ran.steps.iter().map(|s| s.at.to_string()).collect();
    assert!(lines.iter().filter(|at| at.ends_with("more.ad:2")).count() == 3, "{lines:?}");
}

#[test]
fn script_errors_name_file_and_line_before_any_step() {
    let stage = Stage::new();
    for (text, says) in [
        ("open sim:shop\nfrobnicate\n", "bad.ad:2: there is no command \"frobnicate\""),
        ("open sim:shop\npress\n", "bad.ad:2: `press` needs TARGET"),
        ("open sim:shop\npress @e1~3\n", "bad.ad:2: "),
        ("press ${WHO}\n", "bad.ad:1: `${WHO}` is not set"),
        ("include bad.ad\n", "bad.ad:1: "),
        ("include not-there.ad\n", "bad.ad:1: "),
        ("press \"a\n", "bad.ad:1:7: a quote is not closed"),
    ] {
        stage.write("bad.ad", text);
        let plan = Plan::read(&stage.path("bad.ad"), &Vars::default(), &read_script);
        let error = plan.expect_err(text);
        assert!(error.message.contains(says), "{text}: {error}");
    }
    assert!(stage.received().is_empty());
    stage.write("refs.ad", "open sim:shop\npress @e8\n");
    let ran = stage.replay("refs.ad");
    let RunEnd::Diverged(divergence) = ran.end else { panic!("{:?}", ran.end) };
    assert_eq!(divergence.error.code, ErrorCode::RefNotFound);
    stage.write("refs.ad", "open sim:shop -i\npress @e8\n");
    assert!(matches!(stage.replay("refs.ad").end, RunEnd::Passed));
}
