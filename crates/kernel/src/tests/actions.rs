//! The steps from a target to an input.

use super::support::{Bench, text};
use crate::tests::fake::World;
use serde_json::json;
use stickpin_device::{Dispatched, FileInput, Notice};
use stickpin_tree::{Handle, IdentityGrade};

const FORM: &str = r#"
heading "Sign in" #2
textbox "Email" #3
button "Continue" #4
button "Delete" #5 disabled
"#;

/// Two records with the same button.
const MAILS: &str = r#"
heading "Inbox" #2
list #3
  listitem #10
    text "Mail 1"
    button "Delete" #11
  listitem #20
    text "Mail 2"
    button "Delete" #21
"#;

#[tokio::test(start_paused = true)]
async fn a_press_reaches_the_element_of_its_ref() {
    let b = Bench::open(FORM).await;
    let r = b.ok("press", json!({ "target": "@e3" })).await;
    assert_eq!(b.log(), ["press 4"]);
    assert!(text(&r).starts_with("pressed @e3 button \"Continue\""), "{}", text(&r));
    assert_eq!(r.receipt, ["no effect seen"]);
    assert_eq!(r.warning, None);
}

#[tokio::test(start_paused = true)]
async fn a_pinned_and_a_plain_ref_act_alike_and_no_pin_is_printed() {
    let b = Bench::open(FORM).await;
    let generation = b.ok("snapshot", json!({})).await.refs_generation.unwrap();
    let r = b.ok("press", json!({ "target": format!("@e3~s{generation}") })).await;
    assert_eq!(b.log(), ["press 4"]);
    assert_eq!(r.warning, None);
    assert!(!serde_json::to_string(&r).unwrap().contains("~s"), "{r:#?}");
}

#[tokio::test(start_paused = true)]
async fn an_older_pin_executes_with_both_numbers_in_its_warning() {
    let b = Bench::open(FORM).await;
    let first = b.ok("snapshot", json!({})).await.refs_generation.unwrap();
    b.fake.world().replace("heading \"Sign in\" #2", "heading \"Sign in\" #2\nlink \"Help\" #9");
    b.ok("count", json!({ "selector": "role=link" })).await;
    let r = b.ok("press", json!({ "target": format!("@e3~s{first}") })).await;
    let expected = format!(
        "Ref @e3 was minted from snapshot s{first} but the session tree is now s{} — re-run snapshot -i.",
        first + 1
    );
    assert_eq!(r.warning.as_deref(), Some(&*expected));
    assert_eq!(b.log(), ["press 4"]);
}

#[tokio::test(start_paused = true)]
async fn malformed_pins_send_nothing() {
    let b = Bench::open(FORM).await;
    for bad in ["@e3~", "@e3~x1", "@e0", "@e3~s1~s2"] {
        let (code, r) = b.fails("press", json!({ "target": bad })).await;
        assert_eq!(code, "INVALID_ARGS", "{bad}");
        let error = r.error.unwrap();
        assert!(error.hint.contains("@e12"), "{bad}: {error:?}");
        assert!(error.message.contains("`target`"), "{bad}: {error:?}");
    }
    assert!(b.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_ref_that_was_never_issued_is_not_found() {
    let b = Bench::open(FORM).await;
    let (code, r) = b.fails("press", json!({ "target": "@e99~s5" })).await;
    assert_eq!(code, "REF_NOT_FOUND");
    assert!(r.error.unwrap().hint.starts_with("Ref @e99 was minted from snapshot s5"));
}

#[tokio::test(start_paused = true)]
async fn the_element_moves_on_with_its_ref() {
    let b = Bench::open(MAILS).await;
    // @e1 is the heading, @e2 and @e3 are the buttons of the two mails.
    b.fake
        .world()
        .replace("list #3\n", "list #3\n  listitem #30\n    text \"Mail 0\"\n    button \"Delete\" #31\n");
    b.ok("press", json!({ "target": refs_of(&b, "Mail 2").await })).await;
    assert_eq!(b.log(), ["press 21"]);
}

/// Returns the ref of the button in the row of a mail.
async fn refs_of(b: &Bench, mail: &str) -> String {
    let r = b.ok("snapshot", json!({})).await;
    let all = text(&r);
    let from = all.find(mail).unwrap_or_else(|| panic!("{all}"));
    let at = all[from..].find("@e").map(|i| from + i).unwrap();
    all[at..].split_whitespace().next().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_recycled_row_is_refused_twice_and_gives_its_new_number() {
    let b = Bench::open(MAILS).await;
    let old = refs_of(&b, "Mail 1").await;
    b.fake.world().replace("Mail 1", "Mail 11");
    for _ in 0..2 {
        let (code, r) = b.fails("press", json!({ "target": &old })).await;
        assert_eq!(code, "STALE_REF");
        let refs = r.refs.clone().expect("the new number is issued");
        assert_eq!(refs.issued.len(), 1, "{refs:?}");
        let error = r.error.unwrap();
        assert_eq!(error.details["reason"], "changed");
        assert_eq!(error.details["because"], "the text of its row changed");
        assert_eq!(error.dispatched, Dispatched::No);
        assert!(error.message.contains("button \"Delete\" in"), "{error:?}");
        assert!(error.message.contains("Mail 11"), "{error:?}");
    }
    assert!(b.log().is_empty());
    b.ok("press", json!({ "target": &old, "allowChanged": true })).await;
    assert_eq!(b.log(), ["press 11"]);
}

#[tokio::test(start_paused = true)]
async fn a_row_that_is_recycled_by_the_pointers_arrival_is_refused() {
    let b = Bench::open(MAILS).await;
    let old = refs_of(&b, "Mail 1").await;
    b.fake.world().on_pointer = Some(Box::new(|w| w.replace("Mail 1", "Mail 7")));
    let (code, _) = b.fails("press", json!({ "target": &old })).await;
    assert_eq!(code, "STALE_REF");
    assert!(b.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_element_that_is_gone_is_stale() {
    let b = Bench::open(FORM).await;
    b.fake.world().replace("button \"Continue\" #4\n", "");
    let (code, r) = b.fails("press", json!({ "target": "@e3" })).await;
    assert_eq!(code, "STALE_REF");
    assert_eq!(r.error.unwrap().details["reason"], "gone");
    assert_eq!(r.refs.unwrap().ended, [(3, 3)]);
}

#[tokio::test(start_paused = true)]
async fn target_that_vanishes_under_the_pointer_is_stale() {
    let b = Bench::open(FORM).await;
    b.fake.world().on_pointer = Some(Box::new(|w| w.replace("button \"Continue\" #4\n", "")));
    let (code, r) = b.fails("press", json!({ "target": "@e3" })).await;
    let error = r.error.unwrap();
    assert_eq!((code, &error.details["reason"]), ("STALE_REF", &json!("gone")));
    assert_eq!(error.dispatched, Dispatched::No);

    let b = Bench::open(FORM).await;
    // The button is re-rendered with another node while it is being aimed at.
    b.fake.world().on_pointer = Some(Box::new(|w| w.replace("\"Continue\" #4", "\"Continue\" #40")));
    b.ok("press", json!({ "target": "@e3" })).await;
    assert_eq!(b.log(), ["press 40"]);
    let (code, _) = b.fails("press", json!({ "target": "label=Kontinue" })).await;
    assert_eq!(code, "ELEMENT_NOT_FOUND");
}

#[tokio::test(start_paused = true)]
async fn a_target_that_vanishes_just_before_the_input_is_stale() {
    for (command, input) in
        [("press", json!({ "target": "@e3" })), ("press", json!({ "target": "@e3", "allowChanged": true }))]
    {
        let b = Bench::open(FORM).await;
        b.fake.world().on_perform = Some(Box::new(|w| w.replace("button \"Continue\" #4\n", "")));
        let (code, r) = b.fails(command, input).await;
        let error = r.error.unwrap();
        assert_eq!((code, &error.details["reason"]), ("STALE_REF", &json!("gone")));
        assert_eq!(error.dispatched, Dispatched::No);
        assert!(b.log().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn target_rerendered_before_input_is_judged_again() {
    let press = json!({ "target": "role=button text=Continue" });
    let fill = json!({ "target": "label=Email", "text": "x" });
    for (command, input, line) in [("press", &press, "press 9"), ("fill", &fill, "fill 8 \"x\"")] {
        let b = Bench::open(FORM).await;
        b.fake.world().on_perform = Some(Box::new(|w| {
            w.replace("\"Continue\" #4", "\"Continue\" #9");
            w.replace("\"Email\" #3", "\"Email\" #8");
        }));
        b.ok(command, input.clone()).await;
        assert_eq!(b.log(), [line]);
        // A ref that means another element by that time is not acted on.
        let b = Bench::open(FORM).await;
        b.fake.world().on_perform = Some(Box::new(|w| {
            w.replace("\"Continue\" #4", "\"Cancel\" #9");
            w.replace("\"Email\" #3", "\"Phone\" #8");
        }));
        let (code, r) = b.fails(command, input.clone()).await;
        assert_eq!((code, r.error.map(|e| e.dispatched)), ("ELEMENT_NOT_FOUND", Some(Dispatched::No)));
        assert!(b.log().is_empty(), "{:?}", b.log());
    }
}

const CONTROLS: &str = r#"
checkbox "Terms" #3
combobox "Size" #4
button "Attach" #5
group "Zone" #6
listitem "Task" #7
listitem "Done" #8
button "CV" #9
"#;

/// Renders the controls again: different nodes with the same names.
fn rerender_row(w: &mut World) {
    for id in 3..=9 {
        w.replace(&format!("#{id}"), &format!("#{}", id + 20));
    }
    if let Some(mut input) = w.file_inputs.remove(&9) {
        input.input = Handle { scope: 1, id: 29 };
        w.file_inputs.insert(29, input);
    }
}

#[tokio::test(start_paused = true)]
async fn every_input_relocates_a_rerendered_target() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cv.txt");
    std::fs::write(&file, "cv").unwrap();
    let files = json!([file]);
    let cases = [
        ("check", json!({ "target": "label=Terms" }), "Terms", "press 23"),
        ("select", json!({ "target": "label=Size", "options": ["M"] }), "Size", "select M"),
        ("upload", json!({ "target": "label=CV", "files": files }), "CV", "upload 29 cv.txt"),
        ("upload", json!({ "target": "label=Attach", "files": files }), "Attach", "choose 25"),
        ("upload", json!({ "target": "label=Zone", "files": files }), "Zone", "drop 26 cv.txt"),
        ("drag", json!({ "source": "label=Task", "destination": "label=Done" }), "Task", "drag 27 28"),
        ("drag", json!({ "source": "label=Task", "destination": "label=Done" }), "Done", "drag 27 28"),
    ];
    for (command, input, name, line) in cases {
        let open = || async {
            let b = Bench::open(CONTROLS).await;
            let mut world = b.fake.world();
            world.takes_drops = true;
            world.chooser = Some(50);
            for id in [9, 50] {
                let input = Handle { scope: 1, id };
                let one = FileInput::new(input);
                world.file_inputs.insert(id, one);
            }
            world.on_input.insert(23, Box::new(|w| w.replace("\"Terms\" #23", "\"Terms\" #23 checked")));
            drop(world);
            b
        };
        let b = open().await;
        b.fake.world().on_perform = Some(Box::new(rerender_row));
        b.ok(command, input.clone()).await;
        assert_eq!(b.log()[0], line, "{command}: {:?}", b.log());
        // A ref that means another element by that time is not acted on.
        let b = open().await;
        b.fake.world().on_perform = Some(Box::new(move |w| {
            rerender_row(w);
            w.replace(&format!("{name:?}"), "\"Other\"");
        }));
        let (code, r) = b.fails(command, input).await;
        assert_eq!(
            (code, r.error.map(|e| e.dispatched)),
            ("ELEMENT_NOT_FOUND", Some(Dispatched::No)),
            "{command}"
        );
        assert!(b.log().is_empty(), "{command}: {:?}", b.log());
    }
}

#[tokio::test(start_paused = true)]
async fn select_relocates_options_rerendered_between_inputs() {
    let b = Bench::open("listbox \"Size\" #3\n  option \"S\" #4\n  option \"M\" #5\n").await;
    b.fake.world().native_lists = false;
    b.fake.world().on_input.insert(15, Box::new(|w| w.replace("\"M\" #15", "\"M\" #15 selected")));
    // The first input is the device's own way to choose, which fails; the second is the press on
    // the option.
    b.fake.world().on_perform = Some(Box::new(|w| {
        w.on_perform = Some(Box::new(|w| {
            w.replace("#4", "#14");
            w.replace("#5", "#15");
        }));
    }));
    b.ok("select", json!({ "target": "label=Size", "options": ["M"] })).await;
    assert_eq!(b.log(), ["press 15"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_warns_only_of_what_moved_on_before_it() {
    let b = Bench::open(FORM).await;
    for (command, input) in [
        ("get", json!({ "what": "name", "target": "@e3" })),
        ("is", json!({ "predicate": "exists", "target": "@e3" })),
        ("is", json!({ "predicate": "enabled", "target": "@e3" })),
    ] {
        // The app changes every time; the command's own capture is the first to see the change.
        b.ok("snapshot", json!({})).await;
        b.fake.world().outline.push_str("text \"More\"\n");
        let r = b.ok(command, input.clone()).await;
        assert_eq!(r.warning, None, "{command} {input}");
    }
    // A capture by another client did not show the change to this one.
    b.ok("snapshot", json!({})).await;
    b.fake.world().outline.push_str("text \"More\"\n");
    b.ok("count", json!({ "selector": "role=button" })).await;
    let r = b.ok("get", json!({ "what": "name", "target": "@e3" })).await;
    assert!(r.warning.is_some_and(|w| w.contains("still")));
}

#[tokio::test(start_paused = true)]
async fn a_reading_of_some_levels_is_no_full_one() {
    let b = Bench::open(FORM).await;
    let base = b.ok("snapshot", json!({})).await.refs_generation.unwrap();
    // As many levels as exist: nothing is cut, but a diff still cannot start from this output.
    b.ok("snapshot", json!({ "depth": 9 })).await;
    b.fake.world().replace("Sign in", "Sign up");
    let r = b.ok("snapshot", json!({ "diff": true })).await;
    assert!(text(&r).contains(&format!("changes since s{base}")), "{}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn diff_refuses_options_that_it_would_ignore_and_keeps_its_size_limit() {
    let b = Bench::open(FORM).await;
    b.ok("snapshot", json!({})).await;
    b.fake.world().replace("Sign in", &"Sign up ".repeat(40));
    for (option, value) in
        [("depth", json!(2)), ("scope", json!("@e2")), ("all", json!(true)), ("raw", json!(true))]
    {
        let (code, r) = b.fails("snapshot", json!({ "diff": true, option: value })).await;
        let message = format!("`{option}` cannot be combined with `diff`, which compares the whole app");
        assert_eq!((code, r.error.unwrap().message), ("INVALID_ARGS", message));
    }
    let r = b.ok("snapshot", json!({ "diff": true, "maxBytes": 60 })).await;
    assert!(text(&r).contains("beyond 60 bytes"), "{}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn guards_answer_with_what_is_in_the_way() {
    let b = Bench::open(FORM).await;
    let (code, _) = b.fails("press", json!({ "target": "@e4" })).await;
    assert_eq!(code, "ELEMENT_DISABLED");
    b.fake.world().covered.insert(4, "dialog \"Cookies\"".to_owned());
    let (code, r) = b.fails("press", json!({ "target": "@e3" })).await;
    assert_eq!(code, "ELEMENT_COVERED");
    assert!(text(&r).contains("covered by dialog \"Cookies\""), "{}", text(&r));
    b.fake.world().covered.clear();
    b.fake.world().held = Some("the popup of button \"More\"".to_owned());
    let (code, r) = b.fails("press", json!({ "target": "@e3" })).await;
    assert_eq!(code, "ELEMENT_COVERED");
    assert!(text(&r).contains("the popup of button \"More\" is open"), "{}", text(&r));
    assert!(r.error.unwrap().hint.contains("key Escape"));
    b.fake.world().held = None;
    b.fake.world().offscreen.push(4);
    let (code, _) = b.fails("press", json!({ "target": "@e3" })).await;
    assert_eq!(code, "ELEMENT_OFFSCREEN");
    assert!(b.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn who_insists_presses_what_is_there_and_is_told() {
    let b = Bench::open(FORM).await;
    let (_, r) = b.fails("press", json!({ "target": "@e4" })).await;
    assert!(r.error.unwrap().hint.contains("--force"));
    let r = b.ok("press", json!({ "target": "@e4", "force": true })).await;
    assert!(r.warning.as_deref().unwrap_or_default().contains("is disabled"), "{r:#?}");
    b.fake.world().covered.insert(4, "dialog \"Cookies\"".to_owned());
    let (_, r) = b.fails("press", json!({ "target": "@e3" })).await;
    assert!(r.error.unwrap().hint.contains("--force"));
    let r = b.ok("press", json!({ "target": "@e3", "force": true })).await;
    assert!(r.warning.as_deref().unwrap_or_default().contains("covered by dialog \"Cookies\""), "{r:#?}");
    // The input goes to whatever is there.
    assert_eq!(b.log(), ["press 5", "press -"]);
    b.fake.world().covered.clear();
    // Forcing would only close an open menu, so the hint names a less drastic way to close it.
    b.fake.world().held = Some("the popup of button \"More\"".to_owned());
    let (_, r) = b.fails("press", json!({ "target": "@e3" })).await;
    let hint = r.error.unwrap().hint;
    assert!(hint.contains("key Escape") && !hint.contains("--force"), "{hint}");
}

#[tokio::test(start_paused = true)]
async fn hint_for_a_disabled_target_names_only_options_of_the_command() {
    let b = Bench::open(FORM).await;
    for (command, input, has_overrides) in [
        ("press", json!({ "target": "label=Delete" }), true),
        ("scroll", json!({ "direction": "down", "in": "label=Delete" }), false),
    ] {
        let (code, r) = b.fails(command, input).await;
        let hint = r.error.unwrap().hint;
        assert_eq!(code, "ELEMENT_DISABLED");
        assert!(["`--timeout MS`", "`--force`"].iter().all(|o| hint.contains(o) == has_overrides), "{hint}");
    }
}

#[tokio::test(start_paused = true)]
async fn forced_action_off_screen_is_sent_where_possible() {
    let b = Bench::open(FORM).await;
    b.fake.world().offscreen.push(4);
    // The device cannot bring the target into view, although it exists: a press would not reach it.
    let (code, r) = b.fails("press", json!({ "target": "@e3" })).await;
    assert_eq!(code, "ELEMENT_OFFSCREEN");
    assert!(r.error.unwrap().hint.contains("--force"));
    let r = b.ok("press", json!({ "target": "@e3", "force": true })).await;
    assert!(r.warning.as_deref().unwrap_or_default().contains("cannot be scrolled into view"), "{r:#?}");
    assert_eq!(b.log(), ["press 4"]);
    // Another element is at the target's position: it is not pressed instead, and no hint suggests
    // doing so.
    b.fake.world().replace("button \"Continue\" #4", "button \"Continue\" #4\nbutton \"Buy now\" #30");
    b.fake.world().over.insert(30, 4);
    for force in [false, true] {
        let (code, r) = b.fails("press", json!({ "target": "@e3", "force": force })).await;
        assert_eq!(code, "ELEMENT_OFFSCREEN");
        assert!(!r.error.unwrap().hint.contains("--force"));
    }
    assert_eq!(b.log(), ["press 4"]);
}

#[tokio::test(start_paused = true)]
async fn a_guard_is_answered_within_its_grace() {
    let b = Bench::open(FORM).await;
    let began = tokio::time::Instant::now();
    b.fails("press", json!({ "target": "@e4" })).await;
    assert!(began.elapsed().as_millis() <= 300, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_timeout_waits_for_the_target_to_become_actionable() {
    let b = Bench::open(FORM).await;
    let fake = b.fake.clone();
    let enable = tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        fake.change(|w| w.replace(" disabled", ""));
    });
    b.ok("press", json!({ "target": "@e4", "timeout": 5000 })).await;
    enable.await.unwrap();
    assert_eq!(b.log(), ["press 5"]);
}

#[tokio::test(start_paused = true)]
async fn a_selector_must_match_one_element() {
    let b = Bench::open(MAILS).await;
    let (code, r) = b.fails("press", json!({ "target": "role=button label=Delete" })).await;
    assert_eq!(code, "AMBIGUOUS_MATCH");
    let error = r.error.unwrap();
    assert!(error.hint.contains("Mail 1") && error.hint.contains("Mail 2"), "{}", error.hint);
    assert!(r.refs.is_some(), "candidates are issued");
    b.ok("press", json!({ "target": "role=button label=Delete nth=2" })).await;
    assert_eq!(b.log(), ["press 21"]);
}

#[tokio::test(start_paused = true)]
async fn a_selector_without_match_names_the_nearest() {
    let b = Bench::open(FORM).await;
    let (code, r) = b.fails("press", json!({ "target": "role=button text=Contineu" })).await;
    assert_eq!(code, "ELEMENT_NOT_FOUND");
    assert!(r.error.unwrap().hint.contains("Continue"));
}

#[tokio::test(start_paused = true)]
async fn element_replaced_between_capture_and_css_is_found() {
    let b = Bench::open(FORM).await;
    let cases = [
        ("is", json!({ "predicate": "exists", "target": "css=heading" }), "true", "#2\n", "#12\n"),
        ("count", json!({ "selector": "css=heading" }), "1", "#12\n", "#22\n"),
    ];
    for (command, input, answer, old, new) in cases {
        let before = b.fake.world().captures;
        b.fake.world().on_css = Some(Box::new(|w| w.replace(old, new)));
        let r = b.ok(command, input).await;
        assert!(text(&r).contains(answer), "{}", text(&r));
        assert_eq!(b.fake.world().captures, before + 2, "{command}");
    }
    // If the browser does not find an element either, the failure is reported at once.
    let before = b.fake.world().captures;
    let (code, _) = b.fails("press", json!({ "target": "css=nothing" })).await;
    assert_eq!((code, b.fake.world().captures), ("ELEMENT_NOT_FOUND", before + 1));
}

#[tokio::test(start_paused = true)]
async fn a_toggle_hands_over_its_new_self() {
    let b = Bench::open("heading \"Player\" #2\nbutton \"Play\" #3").await;
    let toggle = |w: &mut crate::tests::fake::World| {
        let (from, to) = if w.outline.contains("Play") { ("Play", "Pause") } else { ("Pause", "Play") };
        w.replace(from, to);
    };
    // "Player" is not a button.
    b.fake.world().replace("Player", "Music");
    b.ok("snapshot", json!({})).await;
    b.fake.world().on_input.insert(3, Box::new(toggle));
    let play = refs_named(&b, "Play").await;
    let r = b.ok("press", json!({ "target": &play })).await;
    let now = r.output.as_ref().unwrap()["now"].as_str().unwrap().to_owned();
    assert!(now.contains("button \"Pause\""), "{now}");
    let pause = now.split(' ').next().unwrap().to_owned();
    assert_ne!(pause, play);
    assert!(r.refs.is_some_and(|refs| !refs.issued.is_empty()));
    let (code, _) = b.fails("press", json!({ "target": &play })).await;
    assert_eq!(code, "STALE_REF");
    let r = b.ok("press", json!({ "target": &pause })).await;
    let again = r.output.unwrap()["now"].as_str().unwrap().split(' ').next().unwrap().to_owned();
    assert_eq!(again, play, "the same element with the same meaning keeps its number");
}

async fn refs_named(b: &Bench, name: &str) -> String {
    let r = b.ok("snapshot", json!({})).await;
    let line = text(&r).lines().find(|l| l.contains(&format!("\"{name}\""))).unwrap().trim().to_owned();
    line.split(' ').next().unwrap().to_owned()
}

fn sure() -> Option<stickpin_device::Dialog> {
    Some(stickpin_device::Dialog::new("confirm", "Sure?"))
}

#[tokio::test(start_paused = true)]
async fn dialog_during_the_effect_wait_completes_the_action() {
    let b = Bench::open(FORM).await;
    let opens = |w: &mut World| w.on_look = Some(Box::new(|w| w.dialog = sure()));
    b.fake.world().on_input.insert(4, Box::new(opens));
    let r = b.ok("press", json!({ "target": "@e3" })).await;
    assert_eq!(b.log(), ["press 4"]);
    assert_eq!(r.dialog.unwrap().message, "Sure?");
}

#[tokio::test(start_paused = true)]
async fn a_dialog_that_opens_later_can_be_waited_for() {
    let b = Bench::open(FORM).await;
    let began = tokio::time::Instant::now();
    let (code, _) = b.fails("alert dismiss", json!({ "timeout": 300 })).await;
    assert_eq!((code, began.elapsed().as_millis()), ("ELEMENT_NOT_FOUND", 300));
    let fake = b.fake.clone();
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        fake.change(|w| w.dialog = sure());
    });
    b.ok("alert accept", json!({ "timeout": 5000 })).await;
    // The timeout of the wait, for a device that does not report a dialog: 250 ms.
    assert!(began.elapsed().as_millis() < 1100, "{:?}", began.elapsed());
    assert!(b.fake.world().dialog.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_dialog_ends_the_act_and_blocks_what_follows() {
    let b = Bench::open(FORM).await;
    b.fake.world().on_input.insert(4, Box::new(|w| w.dialog = sure()));
    let r = b.ok("press", json!({ "target": "@e3", "settle": true })).await;
    assert_eq!(r.dialog.unwrap().message, "Sure?");
    let (code, r) = b.fails("snapshot", json!({})).await;
    assert_eq!(code, "DIALOG_OPEN");
    assert!(r.dialog.is_some());
    b.ok("alert accept", json!({})).await;
    assert!(b.ok("snapshot", json!({})).await.dialog.is_none());
}

#[tokio::test(start_paused = true)]
async fn fill_reads_back_and_tells_formatting_from_refusal() {
    let b = Bench::open(FORM).await;
    b.ok("fill", json!({ "target": "@e2", "text": "a@b" })).await;
    b.fake.world().format = Some(|s| format!("({s})"));
    let r = b.ok("fill", json!({ "target": "@e2", "text": "12" })).await;
    assert!(text(&r).contains("value \"(12)\""), "{}", text(&r));
    b.fake.world().format = Some(|_| "99".to_owned());
    let (code, r) = b.fails("fill", json!({ "target": "@e2", "text": "12" })).await;
    assert_eq!(code, "FILL_MISMATCH");
    assert_eq!(r.error.unwrap().dispatched, Dispatched::Unknown);
    let (code, _) = b.fails("fill", json!({ "target": "@e3", "text": "x" })).await;
    assert_eq!(code, "INVALID_ARGS");
    assert_eq!(b.log().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn keys_without_target_after_unfocused_fill_are_refused() {
    let b = Bench::open(FORM).await;
    b.fake.world().keeps_focus = true;
    b.ok("fill", json!({ "target": "@e2", "text": "a" })).await;
    let (key, typed) = (json!({ "chord": "Enter" }), json!({ "text": "b" }));
    for (command, input) in [("key", &key), ("type", &typed)] {
        let (code, r) = b.fails(command, input.clone()).await;
        assert_eq!(code, "UNSUPPORTED");
        assert_eq!(r.error.unwrap().dispatched, Dispatched::No);
    }
    assert_eq!(b.log(), ["fill 3 \"a\""]);
    b.ok("press", json!({ "target": "@e2" })).await;
    b.ok("key", key).await;
    b.fake.world().keeps_focus = false;
    b.ok("fill", json!({ "target": "@e2", "text": "c" })).await;
    b.ok("type", typed).await;
}

#[tokio::test(start_paused = true)]
async fn fill_with_autocompletion_reports_the_appended_text() {
    let b = Bench::open(FORM).await;
    b.fake.world().completes = Some("ple.org");
    let r = b.ok("fill", json!({ "target": "@e2", "text": "exam" })).await;
    let said = text(&r);
    assert!(said.contains("value \"example.org\"") && said.contains("the app added \"ple.org\""), "{said}");
    assert!(said.contains("`key Delete` removes it"), "{said}");
    // The text before the completion must be what was filled in.
    b.fake.world().format = Some(|_| "other".to_owned());
    let (code, _) = b.fails("fill", json!({ "target": "@e2", "text": "exam" })).await;
    assert_eq!(code, "FILL_MISMATCH");
}

#[tokio::test(start_paused = true)]
async fn what_settle_shows_is_not_said_to_be_no_effect() {
    let b = Bench::open(FORM).await;
    // No signal is sent.
    b.fake.world().on_input.insert(4, Box::new(|w| w.outline.push_str("text \"Thanks\"\n")));
    let r = b.ok("press", json!({ "target": "@e3", "settle": true })).await;
    assert!(text(&r).contains("Thanks"), "{}", text(&r));
    assert_eq!(r.receipt, ["changed"]);
    b.fake.world().on_input.clear();
    let r = b.ok("press", json!({ "target": "@e3", "settle": true })).await;
    assert_eq!(r.receipt, ["no effect seen"]);
}

#[tokio::test(start_paused = true)]
async fn the_receipt_says_what_was_seen() {
    let b = Bench::open(FORM).await;
    b.fake.world().notices.push(Notice::ConsoleError { text: "before".into() });
    b.fake.world().on_input.insert(
        4,
        Box::new(|w| {
            w.notices.push(Notice::RequestFailed {
                method: "POST".into(),
                url: "/api".into(),
                why: "500".into(),
            });
        }),
    );
    let r = b.ok("press", json!({ "target": "@e3" })).await;
    assert_eq!(r.receipt, ["POST \"/api\" -> 500"]);
    let r = b.ok("press", json!({ "target": "@e3", "receipt": "off" })).await;
    assert!(r.receipt.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_device_without_identity_acts_by_likeness() {
    let b = Bench::new(MAILS);
    b.fake.world().grade = IdentityGrade::None;
    b.ok("open", json!({ "what": "fake:/" })).await;
    let second = refs_of(&b, "Mail 2").await;
    // New numbers for all nodes, as any capture of such a device may return.
    b.fake.world().replace("#21", "#51");
    b.fake.world().replace("#11", "#41");
    b.ok("press", json!({ "target": &second })).await;
    assert_eq!(b.log(), ["press 51"]);
    b.fake.world().replace("Mail 2", "Mail 9");
    let (code, _) = b.fails("press", json!({ "target": &second })).await;
    assert_eq!(code, "STALE_REF");
    assert_eq!(b.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_point_names_what_it_hit() {
    let b = Bench::open(FORM).await;
    let r = b.ok("press", json!({ "target": "50,90" })).await;
    assert_eq!(b.log(), ["press 4"]);
    assert!(
        text(&r).starts_with("pressed button \"Continue\"") && text(&r).contains("at 50,90"),
        "{}",
        text(&r)
    );
}

#[tokio::test(start_paused = true)]
async fn questions_take_an_ended_ref_as_an_answer() {
    let b = Bench::open(FORM).await;
    b.fake.world().replace("button \"Continue\" #4\n", "");
    assert_eq!(b.ok("is", json!({ "predicate": "absent", "target": "@e3" })).await.exit, 0);
    assert_eq!(b.ok("is", json!({ "predicate": "visible", "target": "@e3" })).await.exit, 1);
    let (code, _) = b.fails("is", json!({ "predicate": "enabled", "target": "@e3" })).await;
    assert_eq!(code, "STALE_REF");
    let (code, _) = b.fails("is", json!({ "predicate": "absent", "target": "@e77" })).await;
    assert_eq!(code, "REF_NOT_FOUND");
}

#[tokio::test(start_paused = true)]
async fn a_settled_diff_renews_what_it_does_not_list() {
    let b = Bench::open(MAILS).await;
    let first = b.ok("snapshot", json!({})).await.refs_generation.unwrap();
    let (one, two) = (refs_of(&b, "Mail 1").await, refs_of(&b, "Mail 2").await);
    let base = first + 2;
    b.fake.world().on_input.insert(
        11,
        Box::new(|w| w.replace("  listitem #10\n    text \"Mail 1\"\n    button \"Delete\" #11\n", "")),
    );
    let r = b.ok("press", json!({ "target": &one, "settle": true })).await;
    let refs = r.refs.clone().unwrap();
    assert_eq!(refs.base, Some(base), "{r:#?}");
    assert!(text(&r).contains(&format!("changes since s{base}")), "{}", text(&r));
    assert!(text(&r).contains(&format!("- {one} button \"Delete\"")), "{}", text(&r));
    assert!(refs.ended.iter().any(|&(a, z)| (a..=z).any(|n| format!("@e{n}") == one)), "{refs:?}");
    let r = b.ok("press", json!({ "target": &two })).await;
    assert_eq!(r.warning, None, "the diff renewed it");
    assert_eq!(b.log(), ["press 11", "press 21"]);
}

#[tokio::test(start_paused = true)]
async fn client_without_full_read_is_shown_changes_of_its_action() {
    let b = Bench::new(FORM);
    b.ok("open", json!({ "what": "fake:/" })).await;
    b.fake.world().on_input.insert(
        4,
        Box::new(|w| {
            w.replace("\"Continue\" #4", "\"Continue\" #4 pressed");
            w.replace("heading", "button \"More\" #6\nheading");
        }),
    );
    let r = b.ok("press", json!({ "target": "role=button label=Continue", "settle": true })).await;
    assert!(text(&r).contains("button \"More\""), "the target was read again before: {}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn truncated_diff_names_the_rest_once() {
    let b = Bench::open(FORM).await;
    let many: String = (0..300)
        .map(|i| format!("group \"Group {i}\" #{}\n  button \"Item {i}\" #{}\n", 1_000 + i, 2_000 + i))
        .collect();
    b.fake.world().on_input.insert(4, Box::new(move |w| w.outline.push_str(&many)));
    let r = b.ok("press", json!({ "target": "@e3", "settle": true })).await;
    assert!(text(&r).len() < 4_096 && text(&r).contains("\"Item 0\""), "{}", text(&r));
    assert!(text(&r).contains("more") && text(&r).contains("(snapshot -i)"), "{}", text(&r));
    assert_eq!(r.refs.unwrap().base, None, "nothing is renewed");
    // The next change is reported alone.
    b.fake.world().on_input.insert(4, Box::new(|w| w.replace("\"Continue\"", "\"Continued\"")));
    let r = b.ok("press", json!({ "target": "@e3", "settle": true })).await;
    assert!(text(&r).contains("Continued") && !text(&r).contains("Item"), "{}", text(&r));
    assert_eq!(r.refs.unwrap().base, None, "what there was no room for was not read yet");
    // A client that requests the changes gets all of them, which renews the refs.
    let r = b.ok("diff snapshot", json!({ "interactive": true })).await;
    assert!(text(&r).contains("Item 20") && text(&r).contains("Continued"), "{}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn what_stays_under_another_number_is_told_with_it() {
    let b = Bench::open("heading \"Ada\" #2\nbutton \"Next\" #3\nbutton \"Edit\" #4\n").await;
    let read = async || {
        let all = text(&b.ok("snapshot", json!({})).await).to_owned();
        let line = all.lines().find(|line| line.contains("\"Edit\"")).unwrap();
        line.trim().split(' ').next().unwrap().to_owned()
    };
    let edit = read().await;
    b.fake.world().on_input.insert(3, Box::new(|w| w.replace("Ada", "Nils")));
    let r = b.ok("press", json!({ "target": "role=button label=Next", "settle": true })).await;
    let now = read().await;
    assert_ne!(now, edit);
    assert!(text(&r).contains(&format!("~ {now} button \"Edit\", was {edit}")), "{}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn an_act_without_settle_renews_nothing() {
    let b = Bench::open(MAILS).await;
    let two = refs_of(&b, "Mail 2").await;
    b.fake.world().replace("Inbox", "Inbox today");
    b.ok("count", json!({ "selector": "role=button" })).await;
    let r = b.ok("is", json!({ "predicate": "visible", "target": &two })).await;
    assert!(r.warning.is_some(), "{r:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_text_is_shown_where_it_is_all_that_an_act_changed() {
    let b = Bench::open(&format!("{FORM}paragraph \"Nobody is signed in\" #6\n")).await;
    b.fake.world().on_input.insert(4, Box::new(|w| w.replace("Nobody is signed in", "A mail is sent")));
    let r = b.ok("press", json!({ "target": "@e3", "settle": true })).await;
    assert!(text(&r).contains("paragraph \"A mail is sent\""), "{}", text(&r));
    // The actionable elements are enough if some of them changed.
    b.fake.world().on_input.insert(
        4,
        Box::new(|w| {
            w.replace("A mail is sent", "Check your mail");
            w.replace(" disabled", "");
        }),
    );
    let r = b.ok("press", json!({ "target": "@e3", "settle": true })).await;
    assert!(text(&r).contains("button \"Delete\"") && !text(&r).contains("Check"), "{}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn a_diff_without_changes_says_so() {
    let b = Bench::open(MAILS).await;
    let r = b.ok("snapshot", json!({ "diff": true })).await;
    assert!(text(&r).starts_with("no changes since s"), "{}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn one_value_of_an_element() {
    let b = Bench::open(FORM).await;
    b.ok("fill", json!({ "target": "@e2", "text": "a\u{1b}b" })).await;
    let r = b.ok("get", json!({ "what": "value", "target": "@e2" })).await;
    assert_eq!(text(&r), "a\\u{1b}b", "as text nothing acts on a terminal");
    assert_eq!(r.output.unwrap()["value"], "a\u{1b}b");
    assert_eq!(text(&b.ok("get", json!({ "what": "state", "target": "@e4" })).await), "disabled");
    let r = b.ok("get", json!({ "what": "box", "target": "@e3" })).await;
    assert_eq!(r.output.unwrap()["value"]["y"], 80.0);
    assert_eq!(b.fails("get", json!({ "what": "html", "target": "@e3" })).await.0, "UNSUPPORTED");
    assert_eq!(text(&b.ok("get url", json!({})).await), "fake:/");
}

#[tokio::test(start_paused = true)]
async fn a_point_means_what_the_last_picture_showed_there() {
    let b = Bench::open(MAILS).await;
    let r = b.ok("screenshot", json!({ "overlay": true })).await;
    let output = r.output.unwrap();
    assert_eq!(
        (&output["id"], &output["scale"], &output["height"]),
        (&json!("p1"), &json!(2.0), &json!(800))
    );
    let png = std::fs::read(output["path"].as_str().unwrap()).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    assert!(r.refs.is_some(), "what is drawn is issued");
    // The button of mail 1 is at y 220..240 of the viewport, and at 440..480 of the screenshot.
    let r = b.ok("press", json!({ "target": "100,460" })).await;
    assert!(text(&r).contains("Mail 1"), "{}", text(&r));
    assert_eq!(b.log(), ["press 11"]);
    b.fake.world().replace("Mail 1", "Mail 7");
    let (code, r) = b.fails("press", json!({ "target": "100,460" })).await;
    assert_eq!(code, "STALE_REF");
    assert!(text(&r).contains("picture p1 shows button \"Delete\""), "{}", text(&r));
    b.fake.world().replace("Mail 7", "Mail 1");
    b.fake.world().replace("button \"Delete\" #11", "text \"no more\"");
    let (code, _) = b.fails("press", json!({ "target": "100,460" })).await;
    assert_eq!(code, "STALE_REF");
    assert_eq!(b.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_picture_that_looks_the_same_is_not_written_again() {
    let b = Bench::open(MAILS).await;
    b.ok("screenshot", json!({ "maxPx": 100 })).await;
    let r = b.ok("screenshot", json!({ "maxPx": 100, "ifChanged": true })).await;
    assert!(text(&r).starts_with("unchanged · p1 25x100 scale 0.250"), "{}", text(&r));
    b.fake.world().replace("Inbox", "Inbox of today");
    let r = b.ok("screenshot", json!({ "maxPx": 100, "ifChanged": true })).await;
    assert_eq!(r.output.unwrap()["id"], "p2");
}

#[tokio::test(start_paused = true)]
async fn form_steps_do_not_warn_about_their_own_targets() {
    let b = Bench::open(
        "heading \"Sign in\" #2\ntextbox \"Email\" #3\ntextbox \"City\" #6\nbutton \"Continue\" #4",
    )
    .await;
    let form = json!({ "fields": ["@e2=ada@example.com", "@e3=Graz"], "submit": "@e4" });
    let r = b.ok("form", form).await;
    assert_eq!(r.warning, None, "{}", text(&r));
    assert_eq!(b.log(), ["fill 3 \"ada@example.com\"", "fill 6 \"Graz\"", "press 4"]);
}

#[tokio::test(start_paused = true)]
async fn keys_and_text_without_a_target_say_what_had_the_focus() {
    let b = Bench::open("heading \"Sign in\" #2\ntextbox \"Email\" #3\nbutton \"Delete\" #4 focused").await;
    let r = b.ok("key", json!({ "chord": "Enter" })).await;
    assert_eq!(
        text(&r).lines().next(),
        Some("pressed key Enter on @e3 button \"Delete\" in section \"Sign in\"")
    );
    let r = b.ok("type", json!({ "text": "x" })).await;
    assert!(text(&r).starts_with("typed into @e3 button \"Delete\""), "{}", text(&r));
    // A space would press the button.
    let (_, r) = b.fails("type", json!({ "text": "x y" })).await;
    let e = r.error.unwrap();
    assert!(e.message.starts_with("the focus is on @e3 button \"Delete\""), "{}", e.message);
    assert_eq!(b.log(), ["key Enter", "type \"x\""]);
    b.fake.world().replace(" focused", "");
    let r = b.ok("key", json!({ "chord": "Enter" })).await;
    assert_eq!(text(&r).lines().next(), Some("pressed key Enter"));
    // An inner part of a field also has the focus.
    b.fake.world().replace("\"Email\" #3", "\"Email\" #3 focused\n  generic #7 focused");
    let r = b.ok("key", json!({ "chord": "Enter" })).await;
    assert!(text(&r).starts_with("pressed key Enter on @e2 textbox \"Email\""), "{}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn a_diff_whose_lines_are_not_shown_renews_nothing() {
    let b = Bench::open(FORM).await;
    b.fake.world().replace("button \"Continue\" #4", "button \"Continue\" #4\nlink \"Help\" #9");
    let mut request = b.request("diff snapshot", json!({}));
    request.render.detail = crate::Detail::Digest;
    let r = b.host.call(request.clone(), tokio_util::sync::CancellationToken::new()).await;
    assert!(r.ok, "{r:#?}");
    assert_eq!(r.refs.unwrap().base, None);
    // Nothing differs from what was read, so nothing is hidden.
    b.ok("snapshot", json!({})).await;
    let r = b.host.call(request, tokio_util::sync::CancellationToken::new()).await;
    assert!(r.refs.unwrap().base.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_did_not_take_is_not_repeated() {
    let b = Bench::open(&FORM.replace("textbox \"Email\" #3", "textbox \"Password\" #3 protected")).await;
    b.fake.world().format = Some(|text| text.chars().take(3).collect());
    let (code, r) = b.fails("fill", json!({ "target": "@e2", "text": "lantern" })).await;
    assert_eq!(code, "FILL_MISMATCH");
    let whole = serde_json::to_string(&r).unwrap();
    assert!(!whole.contains("lan"), "{whole}");
}

#[tokio::test(start_paused = true)]
async fn target_outcome_is_reported_without_a_capture() {
    let b = Bench::open("heading \"Terms\" #2\ncheckbox \"Accept\" #5\nbutton \"Play\" #6\n").await;
    b.fake.world().on_input.insert(5, Box::new(|w| w.replace("#5", "#5 checked")));
    b.fake.world().on_input.insert(6, Box::new(|w| w.replace("Play", "Pause")));
    b.fake.world().partial = true;
    let captures = b.fake.world().captures;
    let r = b.ok("press", json!({ "target": "@e2" })).await;
    assert!(text(&r).contains("now @e2 checkbox \"Accept\" checked"), "{}", text(&r));
    assert_eq!(b.fake.world().captures, captures);
    // The element is still the same.
    b.fake.world().on_input.insert(5, Box::new(|w| w.replace("#5 checked", "#5")));
    let r = b.ok("press", json!({ "target": "@e2" })).await;
    assert!(text(&r).contains("now @e2 checkbox \"Accept\"\n"), "{}", text(&r));
    assert_eq!((r.warning, b.fake.world().captures), (None, captures));
    // Only a capture can determine the ref of an element that has another name now.
    let r = b.ok("press", json!({ "target": "@e3" })).await;
    assert!(text(&r).contains("button \"Pause\"") && !text(&r).contains("now @e3"), "{}", text(&r));
    assert_eq!(b.fake.world().captures, captures + 1);
}

#[tokio::test(start_paused = true)]
async fn the_target_is_told_whether_or_not_its_effect_is_waited_for() {
    let b = Bench::open("heading \"Terms\" #2\ncheckbox \"Accept\" #5\n").await;
    b.fake.world().partial = true;
    b.fake.world().on_input.insert(5, Box::new(|w| w.replace("#5", "#5 checked")));
    let r = b.ok("press", json!({ "target": "@e2", "receipt": "off" })).await;
    assert!(text(&r).contains("now @e2 checkbox \"Accept\" checked"), "{}", text(&r));
    for (on, args) in [("#5", json!({ "settle": true, "receipt": "off" })), ("#5 checked", json!({}))] {
        let was = if on == "#5" { "#5 checked" } else { "#5" };
        b.fake.world().on_input.insert(5, Box::new(move |w| w.replace(was, on)));
        let mut input = args;
        input["target"] = json!("@e2");
        let r = b.ok("press", input).await;
        assert!(text(&r).contains("now @e2 checkbox \"Accept\""), "{}", text(&r));
    }
}

#[tokio::test(start_paused = true)]
async fn action_without_hit_test_warns_about_overlap() {
    let b = Bench::open("button \"Save\" #2\n").await;
    b.fake.world().covered.insert(2, "dialog \"Cookies\"".to_owned());
    assert_eq!(b.fails("press", json!({ "target": "@e1" })).await.0, "ELEMENT_COVERED");
    b.fake.world().blind = true;
    let r = b.ok("press", json!({ "target": "@e1" })).await;
    let warning = r.warning.unwrap();
    assert!(warning.contains("@e1 button \"Save\" was not checked for overlap"), "{warning}");
    // The target is still checked after the aim.
    b.fake.world().on_pointer = Some(Box::new(|w| w.replace("Save", "Delete")));
    assert_eq!(b.fails("press", json!({ "target": "@e1" })).await.0, "STALE_REF");
}

#[tokio::test(start_paused = true)]
async fn strict_act_without_a_hit_test_sends_nothing() {
    let b = Bench::open("button \"Save\" #2\ntextbox \"Name\" #3\n").await;
    b.ok("press", json!({ "target": "@e1", "strict": true })).await;
    b.fake.world().blind = true;
    b.fake.world().log.clear();
    for (command, input) in [
        ("press", json!({ "target": "@e1", "strict": true })),
        ("hover", json!({ "target": "@e1", "strict": true, "force": true })),
        ("fill", json!({ "target": "@e2", "text": "Ada", "strict": true })),
        ("form", json!({ "fields": ["@e2=Ada"], "strict": true })),
    ] {
        let (code, r) = b.fails(command, input).await;
        assert_eq!(code, "UNSUPPORTED", "{command}");
        assert!(text(&r).contains("was not checked for overlap"), "{command}: {}", text(&r));
    }
    assert_eq!(b.fake.world().log, Vec::<String>::new());
}
