//! A flow is recorded and replayed, diverges on a changed app, is repaired with refs of the report,
//! and the repaired script passes.

use super::{Desk, ref_of, said};

fn recorded(desk: &Desk) -> Vec<String> {
    desk.ok(&format!("open {} --record=flow.ad", desk.address()));
    desk.ok("press 'role=button row=Stew'");
    desk.ok("fill label=Name Ada");
    desk.ok("press text=Order");
    desk.ok("close --save");
    let done = desk.received();
    assert_eq!(done.len(), 3, "{done:?}");
    done
}

#[test]
fn simulated_flow_is_recorded_replayed_and_repaired() {
    let desk = Desk::new();
    let done = recorded(&desk);
    // A comment and a variable: manual additions stay as they are.
    let script = desk.read("flow.ad").replace("label=Name\" Ada", "label=Name\" ${WHO:-Ada}");
    assert!(script.contains("${WHO:-Ada}"), "{script}");
    let script =
        script.replace("press \"role=button label=Order\"", "# the end\npress \"role=button label=Order\"");
    let annotation = "# target button \"Order\" in section \"Menu\"\n";
    assert!(script.contains("# the end"), "{script}");
    desk.write("flow.ad", &script);

    let ran = desk.run("replay flow.ad");
    assert!(ran.code == 0 && ran.out.starts_with("passed 5 steps"), "{ran:?}");
    assert_eq!(desk.received(), done, "the app received the same input");

    // The page changes: two of the steps no longer find their target.
    desk.app("Add", "Bean stew", "Send order");
    let ran = desk.run("replay flow.ad --repair --wait 300");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(desk.received().is_empty(), "something was sent");
    for part in [
        "flow.ad:4",
        "recorded: button \"Add\" in row \"Stew\"",
        "now: ELEMENT_NOT_FOUND",
        "similar elements",
        "(same role and label)",
        "the screen now",
        "button \"Send order\"",
    ] {
        assert!(ran.out.contains(part), "{part:?} in\n{}", ran.out);
    }
    assert!(ran.err.starts_with("REPLAY_DIVERGENCE: flow.ad:4: "), "{}", ran.err);
    // The ref comes from the report and was thus issued to this caller, so there is no warning.
    let pressed = desk
        .run(&format!("press {}", ref_of(&ran.out, "button \"Add\" in \"Bean stew\" (same role and label)")));
    assert!(pressed.code == 0 && pressed.err.is_empty(), "{pressed:?}");
    assert_eq!(desk.received().len(), 1);

    let again = desk.run(&said(&ran.err, "stickpin replay flow.ad --from 3 "));
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.err.starts_with("REPLAY_DIVERGENCE: flow.ad:9: "), "{again:?}");
    assert_eq!(desk.received().len(), 1, "the field was filled");
    desk.ok(&format!("press {}", ref_of(&again.out, "button \"Send order\"")));
    desk.received();
    let closed = desk.run(&said(&again.err, "stickpin replay flow.ad --from 5 "));
    assert_eq!(closed.code, 0, "{closed:?}");
    assert!(closed.out.contains("flow.repaired.ad") && closed.out.contains("\n+press "), "{}", closed.out);

    let healed = desk.read("flow.repaired.ad");
    let expected = script
        .replace("in row \"Stew\"", "in row \"Bean stew\"")
        .replace("row=Stew", "row=\\\"Bean stew\\\"")
        .replace(
            &format!("{annotation}# the end\n"),
            &format!("# the end\n{}", annotation.replace("Order", "Send order")),
        )
        .replace("label=Order", "label=\\\"Send order\\\"");
    assert_eq!(healed, expected, "only the steps that did not find their target differ");
    let patch = desk.read("flow.repaired.diff");
    assert!(patch.starts_with("--- flow.ad\n+++ flow.repaired.ad\n@@ "), "{patch}");
    assert_eq!(desk.read("flow.ad"), script, "the script itself is unchanged");
    let ran = desk.run("replay flow.repaired.ad");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(desk.received().len(), 3);
}

#[test]
fn what_made_the_step_possible_again_stands_before_it() {
    let desk = Desk::new();
    desk.write(
        "late.ad",
        &format!(
            "open {}\npress text=Order\nis visible 'text~=Thank'\nis visible text=Order\n",
            desk.address()
        ),
    );
    let ran = desk.run("replay late.ad --repair --wait 100");
    assert!(ran.err.starts_with("REPLAY_DIVERGENCE: late.ad:4: "), "{ran:?}");
    desk.ok("back");
    let ran = desk.run(&said(&ran.err, "stickpin replay late.ad --from 4 "));
    assert_eq!(ran.code, 0, "{ran:?}");
    let closed = desk.ok("close");
    assert!(closed.contains("late.repaired.ad"), "{closed}");
    let healed = desk.read("late.repaired.ad");
    assert!(healed.ends_with("is visible 'text~=Thank'\nback\nis visible text=Order\n"), "{healed}");
    assert_eq!(desk.run("replay late.repaired.ad").code, 0);
}

#[test]
fn nothing_is_mended_that_nobody_mended() {
    let desk = Desk::new();
    desk.write("gone.ad", &format!("open {}\npress text=Nothing\n", desk.address()));
    assert_eq!(desk.run("replay gone.ad --repair --wait 0").code, 1);
    let closed = desk.run("close");
    assert!(closed.code == 0 && !closed.out.contains("repaired"), "{closed:?}");
    assert!(!desk.path("gone.repaired.ad").exists());
    // Without `--repair` the session also stays open, and its refs are valid.
    let ran = desk.run("replay gone.ad --wait 0");
    desk.ok(&format!("press {}", ref_of(&ran.out, "button \"Order\"")));
    assert_eq!(desk.received().len(), 1);
    desk.ok("close");
    assert!(!desk.path("gone.repaired.ad").exists());
}

#[test]
fn another_thing_under_the_same_selector_is_not_pressed() {
    let desk = Desk::new();
    desk.write(
        "other.ad",
        &format!(
            "open {}\n# target button \"Add\" in row \"Stew\"\npress 'role=button row=Soup'\n",
            desk.address()
        ),
    );
    let ran = desk.run("replay other.ad --wait 0");
    assert!(ran.code == 1 && ran.out.contains("recorded: button \"Add\" in row \"Stew\""), "{ran:?}");
    assert!(ran.err.contains("in row \"Soup\""), "{ran:?}");
    assert!(desk.received().is_empty());
}

/// Writes a script with a renamed element in a loop, in an included file, and in a block at the
/// end.
fn nested(desk: &Desk) {
    desk.write(
        "flow.ad",
        &format!(
            "open {}\n# the loop\nrepeat 2 {{\n  if visible text=Order {{\n    # target button \"Put\" in row \"Stew\"\n    \
             press \"role=button label=Put row=Stew\"\n  }}\n}}\ninclude steps/name.ad\nretry 2 {{\n  press text=Send\n}}\n",
            desk.address()
        ),
    );
    desk.write("steps/name.ad", "env WHO=Ada\n# who\nfill label=Nom \"${WHO}\"\n");
}

#[test]
fn steps_in_blocks_and_in_included_files_are_mended() {
    let desk = Desk::new();
    nested(&desk);
    let (flow, name) = (desk.read("flow.ad"), desk.read("steps/name.ad"));
    let ran = desk.run("replay flow.ad --repair --wait 0");
    assert!(ran.err.starts_with("REPLAY_DIVERGENCE: flow.ad:6: "), "{ran:?}");
    desk.ok(&format!("press {}", ref_of(&ran.out, "button \"Add\" in \"Stew\"")));
    // After the last step of a round comes the next round, in which the condition of `if` is
    // checked again.
    let ran =
        desk.run(&format!("{} --wait 0", said(&ran.err, "stickpin replay flow.ad --from 2 --rounds 2 ")));
    assert!(ran.err.starts_with("REPLAY_DIVERGENCE: flow.ad:6: "), "{ran:?}");
    desk.ok(&format!("press {}", ref_of(&ran.out, "button \"Add\" focused in \"Stew\"")));
    let ran =
        desk.run(&format!("{} --wait 0", said(&ran.err, "stickpin replay flow.ad --from 4 --plan-digest ")));
    assert!(ran.err.starts_with("REPLAY_DIVERGENCE: steps/name.ad:3: "), "{ran:?}");
    desk.ok(&format!("fill {} Ada", ref_of(&ran.out, "textbox \"Name\"")));
    let ran =
        desk.run(&format!("{} --wait 0", said(&ran.err, "stickpin replay flow.ad --from 5 --rounds 1 ")));
    // Both rounds of `retry` were tried; nothing follows it.
    assert!(ran.err.contains("flow.ad:11: ") && ran.err.contains("this is the last step"), "{ran:?}");
    assert!(ran.err.contains("--from 5 --rounds 2 ") && ran.out.ends_with('\n'), "{ran:?}");
    desk.ok(&format!("press {}", ref_of(&ran.out, "button \"Order\"")));
    let closed = desk.ok("close");
    assert!(closed.contains("wrote ") && closed.contains("/flow.repaired.ad"), "{closed}");
    assert!(closed.contains("/steps/name.repaired.ad"), "{closed}");
    let all = desk.received();
    assert_eq!(all.len(), 4, "{all:?}");

    // Each line is repaired once, however often it ran, with its indentation.
    let healed = flow
        .replace("    # target button \"Put\"", "    # target button \"Add\"")
        .replace("label=Put", "label=Add")
        .replace(
            "  press text=Send",
            "  # target button \"Order\" in section \"Menu\"\n  press \"role=button label=Order\"",
        );
    assert_eq!(desk.read("flow.repaired.ad"), healed);
    let patch = desk.read("steps/name.repaired.diff");
    assert!(patch.starts_with("--- name.ad\n+++ name.repaired.ad\n"), "{patch}");
    assert_eq!((desk.read("flow.ad"), desk.read("steps/name.ad")), (flow, name), "the scripts are unchanged");
    // The repaired included file takes the original name, and both scripts pass.
    desk.write("steps/name.ad", &desk.read("steps/name.repaired.ad"));
    let ran = desk.run("replay flow.repaired.ad");
    assert!(ran.code == 0 && ran.err.is_empty(), "{ran:?}");
    assert_eq!(desk.received(), all);
}

#[test]
fn a_run_goes_on_where_it_stopped_and_nowhere_else() {
    let desk = Desk::new();
    nested(&desk);
    let ran = desk.run("replay flow.ad --wait 0");
    let again = said(&ran.err, "stickpin replay flow.ad --from 3 --rounds 1 --plan-digest ");
    for (line, says) in [
        (
            "replay flow.ad --from 3",
            "cannot begin at step 3 without a valid round: the step is in a `repeat` or `retry` block",
        ),
        ("replay flow.ad --from 3 --rounds 3", "cannot begin at step 3"),
        ("replay flow.ad --from 3 --rounds 0", "cannot begin at step 3"),
        ("replay flow.ad --from 3 --rounds 1,1", "cannot begin at step 3"),
        ("replay flow.ad --from 4 --rounds 1", "the step is not in a `repeat` or `retry` block"),
        ("replay flow.ad --from 3 --rounds one", "`rounds` must be whole numbers"),
        ("replay flow.ad --rounds 1", "cannot begin at step 1"),
        ("replay flow.ad --from 6", "the script has 5 steps"),
    ] {
        let ran = desk.run(line);
        assert!(ran.code == 2 && ran.err.contains(says) && ran.out.is_empty(), "{line}: {ran:?}");
    }
    // The script has changed, if only in an included file.
    desk.write("steps/name.ad", "fill label=Name Eve\n");
    let ran = desk.run(&again);
    assert!(
        ran.code == 2
            && ran.err.contains("flow.ad or a file that it includes has changed: the plan digest is"),
        "{ran:?}"
    );
    assert!(desk.received().is_empty());
    // The app is correct now, and both rounds are run.
    desk.ok("close");
    nested(&desk);
    desk.app("Put", "Stew", "Send");
    let flow = desk.read("flow.ad").replace("if visible text=Order", "if visible text=Send");
    desk.write("flow.ad", &flow.replace("include steps/name.ad\n", ""));
    let ran = desk.run("replay flow.ad --wait 0");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(desk.received(), ["press button Put", "press button Put", "press button Send"]);
}

#[test]
fn a_flow_of_maestro_is_not_mended() {
    let desk = Desk::new();
    desk.write("flow.yaml", &format!("appId: \"{}\"\n---\n- launchApp\n- tapOn: Nothing\n", desk.address()));
    let ran = desk.run("replay flow.yaml --repair --wait 0");
    assert!(
        ran.err.starts_with("REPLAY_DIVERGENCE: flow.yaml:4: ") && !ran.err.contains("--repair"),
        "{ran:?}"
    );
    desk.ok(&format!("press {}", ref_of(&ran.out, "button \"Order\"")));
    assert!(!desk.ok("close").contains("repaired"));
    assert!(!desk.path("flow.repaired.ad").exists());
}
