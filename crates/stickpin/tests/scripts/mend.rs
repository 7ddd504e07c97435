//! A flow is recorded, replays green, diverges when the app is another one, is mended with refs of the report, and the
//! healed script replays green.

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
fn a_flow_of_the_embedded_device_is_recorded_replayed_mended_and_replayed() {
    let desk = Desk::new();
    let done = recorded(&desk);
    // A comment, a variable: what a person adds stays as it is.
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

    // The page changes: two of the steps find nothing any more.
    desk.app("Add", "Bean stew", "Send order");
    let ran = desk.run("replay flow.ad --repair --wait 300");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(desk.received().is_empty(), "something was sent");
    for part in [
        "flow.ad:4",
        "recorded: button \"Add\" in row \"Stew\"",
        "now: ELEMENT_NOT_FOUND",
        "perhaps",
        "(same role and label)",
        "the screen now",
        "button \"Send order\"",
    ] {
        assert!(ran.out.contains(part), "{part:?} in\n{}", ran.out);
    }
    assert!(ran.err.starts_with("REPLAY_DIVERGENCE: flow.ad:4: "), "{}", ran.err);
    // By a ref of the report: it was given to this caller, so nothing is warned of.
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
    assert!(closed.out.contains("flow.healed.ad") && closed.out.contains("\n+press "), "{}", closed.out);

    let healed = desk.read("flow.healed.ad");
    let expected = script
        .replace("in row \"Stew\"", "in row \"Bean stew\"")
        .replace("row=Stew", "row=\\\"Bean stew\\\"")
        .replace(
            &format!("{annotation}# the end\n"),
            &format!("# the end\n{}", annotation.replace("Order", "Send order")),
        )
        .replace("label=Order", "label=\\\"Send order\\\"");
    assert_eq!(healed, expected, "only what did not find its target is another one");
    let patch = desk.read("flow.healed.diff");
    assert!(patch.starts_with("--- flow.ad\n+++ flow.healed.ad\n@@ "), "{patch}");
    assert_eq!(desk.read("flow.ad"), script, "the script itself is left alone");
    let ran = desk.run("replay flow.healed.ad");
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
    assert!(closed.contains("late.healed.ad"), "{closed}");
    let healed = desk.read("late.healed.ad");
    assert!(healed.ends_with("is visible 'text~=Thank'\nback\nis visible text=Order\n"), "{healed}");
    assert_eq!(desk.run("replay late.healed.ad").code, 0);
}

#[test]
fn nothing_is_mended_that_nobody_mended() {
    let desk = Desk::new();
    desk.write("gone.ad", &format!("open {}\npress text=Nothing\n", desk.address()));
    assert_eq!(desk.run("replay gone.ad --repair --wait 0").code, 1);
    let closed = desk.run("close");
    assert!(closed.code == 0 && !closed.out.contains("healed"), "{closed:?}");
    assert!(!desk.path("gone.healed.ad").exists());
    // Without --repair the session stays open all the same, and its refs are good.
    let ran = desk.run("replay gone.ad --wait 0");
    desk.ok(&format!("press {}", ref_of(&ran.out, "button \"Order\"")));
    assert_eq!(desk.received().len(), 1);
    desk.ok("close");
    assert!(!desk.path("gone.healed.ad").exists());
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
