//! The response to an action reports what the action replaced around the client's refs, even if it
//! fails, and the next action does not report it again.

use super::support::{Bench, text};
use serde_json::json;
use stickpin_device::{Dialog, Notice};

const TRIP: &str = r#"
heading "Trip" #2
paragraph #4
  text "On Friday"
paragraph #3
  text "Choose a town"
textbox "Airport" #5 popup controls=towns
button "Book" #6
"#;

/// Makes the field list towns as soon as text is typed into it. The text above the field states
/// what to do next.
fn lists_towns(b: &Bench) {
    let mut inputs = 0;
    let field = move |w: &mut crate::tests::fake::World| {
        inputs += 1;
        match inputs {
            1 => w.replace("Choose a town", "Type a town"),
            _ => w.replace(
                "button \"Book\"",
                "listbox \"Towns\" #7 id=towns\n  option \"Bern\" #8\nbutton \"Book\"",
            ),
        }
    };
    let chosen = |w: &mut crate::tests::fake::World| w.replace("controls=towns", "controls=towns value=Bern");
    let mut world = b.fake.world();
    world.native_lists = false;
    world.on_input.insert(5, Box::new(field));
    world.on_input.insert(8, Box::new(chosen));
}

#[tokio::test(start_paused = true)]
async fn change_by_own_input_does_not_stop_the_next_input() {
    let b = Bench::open(TRIP).await;
    lists_towns(&b);
    let r = b.ok("select", json!({ "target": "@e2", "options": ["Bern"] })).await;
    assert_eq!(b.log(), ["press 5", "fill 5 \"Bern\"", "press 8"]);
    assert!(text(&r).contains(r#""Choose a town" is now "Type a town""#), "{}", text(&r));
    b.ok("press", json!({ "target": "@e3" })).await;
}

#[tokio::test(start_paused = true)]
async fn a_selector_of_a_list_asks_for_what_is_there_now() {
    let b = Bench::open(TRIP).await;
    b.fake.world().replace("Friday", "Sunday");
    lists_towns(&b);
    b.ok("select", json!({ "target": "label=Airport", "options": ["Bern"] })).await;
    assert_eq!(b.log(), ["press 5", "fill 5 \"Bern\"", "press 8"]);
    // Nobody was informed of the earlier changes.
    let (code, r) = b.fails("press", json!({ "target": "@e3" })).await;
    assert_eq!(code, "CONTEXT_CHANGED", "{}", text(&r));
    assert!(
        text(&r).contains(r#""On Friday" is now "On Sunday""#) && !text(&r).contains("town"),
        "{}",
        text(&r)
    );
}

#[tokio::test(start_paused = true)]
async fn an_act_that_ends_in_an_error_tells_what_it_replaced() {
    let b = Bench::open(TRIP).await;
    b.fake.world().native_lists = false;
    b.fake.world().on_input.insert(
        5,
        Box::new(|w| {
            if w.outline.contains("Choose a town") {
                w.replace("Choose a town", "No such town");
            }
        }),
    );
    let (code, r) = b.fails("select", json!({ "target": "@e2", "options": ["Atlantis"] })).await;
    assert_eq!(code, "ELEMENT_NOT_FOUND");
    let told = r#""Choose a town" is now "No such town""#;
    assert_eq!(r.receipt, [told]);
    assert!(text(&r).starts_with("ELEMENT_NOT_FOUND") && text(&r).ends_with(told), "{}", text(&r));
    b.ok("press", json!({ "target": "@e3" })).await;

    // An error before anything was sent has no effects.
    b.fake.world().replace("No such town", "A town");
    let (code, r) = b.fails("press", json!({ "target": "@e3" })).await;
    assert_eq!((code, r.receipt.len()), ("CONTEXT_CHANGED", 0));
}

#[tokio::test(start_paused = true)]
async fn what_comes_and_goes_within_an_act_is_no_effect() {
    let b =
        Bench::open("paragraph #2\n  text \"Ready\"\ntextbox \"A\" #3\ntextbox \"B\" #4\nbutton \"Go\" #5\n")
            .await;
    b.fake.world().on_input.insert(3, Box::new(|w| w.replace("Ready", "Busy")));
    b.fake.world().on_input.insert(4, Box::new(|w| w.replace("Busy", "Ready")));
    let r = b.ok("form", json!({ "fields": ["@e1=x", "@e2=y"] })).await;
    assert!(!text(&r).contains("Ready") && !text(&r).contains("Busy"), "{}", text(&r));
    b.ok("press", json!({ "target": "@e3" })).await;
}

#[tokio::test(start_paused = true)]
async fn the_answer_to_a_dialog_tells_what_came_of_it() {
    let b = Bench::open("paragraph #2\n  text \"Signed in as ada\"\nbutton \"Rename\" #3\n").await;
    let asks = |w: &mut crate::tests::fake::World| {
        w.dialog = Some(Dialog::new("prompt", "New name?"));
    };
    b.fake.world().on_input.insert(3, Box::new(asks));
    b.ok("press", json!({ "target": "@e1" })).await;
    // The action continues once it has its answer.
    let mut renamed = false;
    b.fake.world().on_look = Some(Box::new(move |w| {
        if !std::mem::replace(&mut renamed, true) {
            w.replace("ada", "Ada the first");
        }
    }));
    b.fake.world().on_input.remove(&3);
    let r = b.ok("alert accept", json!({ "text": "Ada the first" })).await;
    let told = r#""Signed in as ada" is now "Signed in as Ada the first""#;
    assert!(text(&r).starts_with("accepted prompt") && text(&r).contains(told), "{}", text(&r));
    b.ok("press", json!({ "target": "@e1" })).await;
}

#[tokio::test(start_paused = true)]
async fn partial_device_reports_title_changes_after_an_action() {
    let b = Bench::open("window \"Untitled\" #2\n  button \"Save\" #5\n  button \"Print\" #6\n").await;
    b.fake.world().partial = true;
    let saves = |w: &mut crate::tests::fake::World| {
        w.replace("Untitled", "report.txt");
        w.notices.push(Notice::Changed);
    };
    b.fake.world().on_input.insert(5, Box::new(saves));
    let r = b.ok("press", json!({ "target": "@e1" })).await;
    assert_eq!(r.receipt, [r#"the title is now "report.txt""#]);
    let captures = b.fake.world().captures;
    b.ok("press", json!({ "target": "@e2" })).await;
    // Another user opens another document.
    b.fake.world().replace("report.txt", "*notes.txt (2)");
    let (code, r) = b.fails("press", json!({ "target": "@e2" })).await;
    assert_eq!(code, "CONTEXT_CHANGED");
    assert!(text(&r).contains(r#"the title is now "notes.txt""#), "{}", text(&r));
    b.ok("press", json!({ "target": "@e2" })).await;
    assert_eq!(
        (b.log(), b.fake.world().captures),
        (vec!["press 5".into(), "press 6".into(), "press 6".into()], captures)
    );
}
