//! The content guard: an input is stopped if the content around its target changed after the aim.
//! The app's own log shows what was delivered.

mod fields;

use super::common::Bench;
use std::time::Duration;
use stickpin_device::{
    Action, AimOptions, Button, CancellationToken, Delivery, ErrorCode, InputOutcome, Modifiers,
};
use stickpin_tree::{Handle, Role};

const GRADES: [&str; 3] = ["never-reused", "while-alive", "none"];
const BEFORE: Delivery = Delivery::Changed { stopped: true };
const MIDWAY: Delivery = Delivery::Changed { stopped: false };

const STATE: &str = "[state]\nwho = 'Ada Berg'\nother = 'x'\nfield = ''\nflag = false\nn = 0\n";

async fn open(grade: &str, view: &str) -> Bench {
    Bench::app_with(STATE, view, &format!("grade={grade}")).await
}

/// Returns the handles of elements by role and name, all from one capture.
async fn handles(b: &mut Bench, wanted: &[(Role, &str)]) -> Vec<Handle> {
    let tree = b.tree().await;
    let one = |(role, name): &(Role, &str)| {
        let mut found = tree.nodes().filter(|n| n.role() == *role && n.name() == *name);
        let node =
            found.next().unwrap_or_else(|| panic!("no {role} {name:?} in\n{}", super::common::text(&tree)));
        assert!(found.next().is_none(), "several {role} {name:?}");
        node.address().unwrap()
    };
    wanted.iter().map(one).collect()
}

async fn aim(b: &mut Bench, target: Handle, guarded: &[Handle]) -> (f64, f64) {
    let options = AimOptions::PLAIN_PRESS.guarded(guarded);
    b.device.aim(target, options).await.unwrap().point
}

async fn perform(b: &mut Bench, action: &Action) -> InputOutcome {
    b.device.perform(action, &CancellationToken::new()).await.unwrap()
}

/// Aims at an element with others guarded, and presses it.
async fn press(b: &mut Bench, target: (Role, &str), guarded: &[(Role, &str)]) -> Delivery {
    press_times(b, target, guarded, 1).await
}

async fn press_times(b: &mut Bench, target: (Role, &str), guarded: &[(Role, &str)], count: u8) -> Delivery {
    let all: Vec<_> = std::iter::once(target).chain(guarded.iter().copied()).collect();
    let all = handles(b, &all).await;
    let point = aim(b, all[0], &all[1..]).await;
    let action = Action::Press {
        point,
        target: Some(all[0]),
        button: Button::Left,
        count,
        modifiers: Modifiers::default(),
        hold: Duration::ZERO,
    };
    perform(b, &action).await.delivery
}

/// Returns what the app received, without hovers, with details.
fn received(b: &Bench) -> Vec<String> {
    let line = |r: stickpin_backend_sim::ReceivedInput| format!("{} {} {}", r.event, r.element, r.detail);
    let all = b.probe.received().into_iter().filter(|r| r.event != "hover");
    all.map(|r| line(r).trim_end().to_owned()).collect()
}

const DELETE: (Role, &str) = (Role::Button, "Delete");
const ADA: (Role, &str) = (Role::Text, "Ada Berg");

#[tokio::test]
async fn press_after_changed_content_is_stopped_once() {
    for grade in GRADES {
        let view = r#"
p "{who}"
button "Delete" act=set(who, 'Nils Falk')"#;
        let mut b = open(grade, view).await;
        assert_eq!(press(&mut b, DELETE, &[ADA]).await, BEFORE, "{grade}");
        assert_eq!(received(&b), Vec::<String>::new(), "{grade}");
        let nils = (Role::Text, "Nils Falk");
        assert_eq!(press(&mut b, DELETE, &[nils]).await, Delivery::Confirmed, "{grade}");
        assert_eq!(received(&b), ["press button Delete"], "{grade}");

        let mut b = open(grade, view).await;
        assert_eq!(press(&mut b, DELETE, &[]).await, Delivery::Confirmed, "nothing is guarded");
    }
}

/// What counts as content of a guarded node and what does not.
#[tokio::test]
async fn press_is_stopped_by_content_and_not_by_anything_else() {
    let field = (Role::TextBox, "Name");
    let tab = (Role::Tab, "Billing");
    let check = (Role::Checkbox, "Done");
    let group = (Role::Group, "Actions");
    let main = (Role::Main, "");
    let document = (Role::Document, "T");
    let changes = [
        ("p \"{who}\"", ADA, "set(who, 'Nils')"),
        ("h2 \"{who}\"", (Role::Heading, "Ada Berg"), "set(who, 'Nils')"),
        ("textbox \"Name\" bind=field", field, "set(field, 'Nils')"),
        ("textbox \"Name\" placeholder=\"{other}\"", field, "set(other, 'y')"),
        ("group \"Actions\" description=\"{other}\"", group, "set(other, 'y')"),
        ("tab \"Billing\" selected=flag", tab, "set(flag, true)"),
        ("tab \"Billing\" current=\"{if(flag, 'page', '')}\"", tab, "set(flag, true)"),
        ("tab \"Billing\" expanded=flag", tab, "set(flag, true)"),
        ("tab \"Billing\" pressed=flag", tab, "set(flag, true)"),
        ("checkbox \"Done\" bind=flag", check, "set(flag, true)"),
        ("if not flag\n  p \"Ada Berg\"", ADA, "set(flag, true)"),
        ("p \"Ada Berg\" hidden=flag", ADA, "set(flag, true)"),
        ("div #mark\n  p \"Ada Berg\"", ADA, "rerender('mark')"),
        ("p \"Ada Berg\"", document, "url('/?page=2')"),
    ];
    let others = [
        ("p \"{who}\"", main, "set(who, 'Nils')"),
        ("p \"Ada Berg\"\nif flag\n  p \"New\"", ADA, "set(flag, true)"),
        ("textbox \"Name\" #mark", field, "focus('mark')"),
        (
            "group \"Actions\" busy=flag class=\"{other}\" data-id=\"{other}\"",
            group,
            "set(flag, true); set(other, 'y')",
        ),
        ("p \"Ada Berg\"", document, "url('/#part')"),
    ];
    let all = changes.map(|c| (c, BEFORE)).into_iter().chain(others.map(|c| (c, Delivery::Confirmed)));
    for ((lines, guarded, change), landed) in all {
        for grade in GRADES {
            let lines = lines.replace('\n', "\n  ");
            let view = format!("main\n  button \"Delete\" act=({change})\n  {lines}");
            let mut b = open(grade, &view).await;
            assert_eq!(press(&mut b, DELETE, &[guarded]).await, landed, "{grade}: {change} in {view}");
            assert_eq!(received(&b).is_empty(), landed == BEFORE, "{grade}: {change} in {view}");
        }
    }
}

#[tokio::test]
async fn target_that_reads_otherwise_or_is_disabled_gets_no_press() {
    for grade in GRADES {
        for (line, name) in [
            ("button \"{if(flag, 'Archive', 'Delete')}\" act=set(flag, true)", "Delete"),
            ("button \"Delete\" disabled=flag act=set(flag, true)", "Delete"),
        ] {
            let mut b = open(grade, &format!("p \"{{who}}\"\n{line}")).await;
            assert_eq!(press(&mut b, (Role::Button, name), &[ADA]).await, BEFORE, "{grade}: {line}");
            assert_eq!(received(&b), Vec::<String>::new(), "{grade}: {line}");
        }
        // Inputs change the target's own value and selection.
        let view = "p \"{who}\"\ncheckbox \"Done\" checked=flag act=set(flag, true)";
        let mut b = open(grade, view).await;
        let done = (Role::Checkbox, "Done");
        assert_eq!(press(&mut b, done, &[ADA, done]).await, Delivery::Confirmed, "{grade}");
    }
}

#[tokio::test]
async fn change_during_the_aim_stops_the_input() {
    for grade in GRADES {
        for event in ["aim", "hover"] {
            let view = format!("p \"{{who}}\"\nbutton \"Delete\" {event}=set(who, 'Nils')");
            let mut b = open(grade, &view).await;
            assert_eq!(press(&mut b, DELETE, &[ADA]).await, BEFORE, "{grade}: {event}");
            assert_eq!(received(&b), Vec::<String>::new(), "{grade}: {event}");
        }
    }
}

#[tokio::test]
async fn vanished_target_is_gone_and_a_covered_one_is_covered() {
    for grade in GRADES {
        let view = "p \"{who}\"\nif not flag\n  button \"Delete\" act=set(flag, true)";
        let mut b = open(grade, view).await;
        let landed = press(&mut b, DELETE, &[ADA]).await;
        assert!(matches!(landed, Delivery::Elsewhere { stopped: true, .. }), "{grade}: {landed:?}");
        let view = "p \"{who}\"\nbutton \"Delete\" act=set(flag, true)\nif flag\n  div x=0 y=0 w=1280 h=800";
        let mut b = open(grade, view).await;
        let landed = press(&mut b, DELETE, &[ADA]).await;
        assert!(matches!(landed, Delivery::Elsewhere { stopped: true, .. }), "{grade}: {landed:?}");
        assert_eq!(received(&b), Vec::<String>::new(), "{grade}");
    }
}

#[tokio::test]
async fn press_stops_after_the_focus_handler_changed_content() {
    for grade in GRADES {
        let view = "p \"{who}\"\nbutton \"Delete\" focused=set(who, 'Nils')";
        let mut b = open(grade, view).await;
        assert_eq!(press(&mut b, DELETE, &[ADA]).await, MIDWAY, "{grade}");
        assert_eq!(received(&b), Vec::<String>::new(), "{grade}");
    }
}

#[tokio::test]
async fn second_press_stops_after_another_record_came_with_the_first() {
    let once = ["press button Delete"];
    let both = ["press button Delete", "press button Delete", "dblpress button Delete"];
    for grade in GRADES {
        for (more, landed) in [
            ("press=set(who, 'Nils')", MIDWAY),
            ("between=set(who, 'Nils')", MIDWAY),
            ("press=set(flag, true)\nif flag\n  div x=0 y=0 w=1280 h=800", MIDWAY),
            ("disabled=flag press=set(flag, true)", MIDWAY),
            ("press=set(other, 'y')", Delivery::Confirmed),
        ] {
            let mut b = open(grade, &format!("p \"{{who}}\"\nbutton \"Delete\" {more}")).await;
            assert_eq!(press_times(&mut b, DELETE, &[ADA], 2).await, landed, "{grade}: {more}");
            let expected = if landed == MIDWAY { &once[..] } else { &both[..] };
            assert_eq!(received(&b), expected, "{grade}: {more}");
        }
        let mut b = open(grade, "p \"{who}\"\nbutton \"Delete\" press=set(who, 'Nils')").await;
        assert_eq!(press_times(&mut b, DELETE, &[], 2).await, Delivery::Confirmed, "nothing is guarded");
        assert_eq!(received(&b), both, "{grade}");
    }
}

#[tokio::test]
async fn double_press_stops_after_the_second_press_changed_content() {
    let both = ["press button Delete", "press button Delete"];
    for grade in GRADES {
        let mut b = open(grade, "p \"{n > 1}\"\nbutton \"Delete\" press=set(n, n + 1)").await;
        let landed = press_times(&mut b, DELETE, &[(Role::Text, "false")], 2).await;
        assert_eq!((landed, &received(&b)[..]), (MIDWAY, &both.map(str::to_owned)[..]), "{grade}");
    }
}

/// The second press tolerates counts and selections that the first one changed, but not a change
/// that the app makes in between.
#[tokio::test]
async fn second_press_bears_what_the_first_counts_and_selects() {
    let both = ["press button More", "press button More", "dblpress button More"];
    let numbers = "p \"{n * 5} kr\"\nspinbutton \"Quantity\" bind=n\ntab \"Row\" selected=flag";
    let guarded = [(Role::Text, "0 kr"), (Role::SpinButton, "Quantity"), (Role::Tab, "Row")];
    for grade in GRADES {
        for (more, times) in [
            ("\"More\" press=(set(n, n + 1); set(flag, true))", 3),
            ("\"More\" press=set(n, n + 1) between=set(n, n + 7)", 1),
            ("\"More\" press=set(n, n + 1) between=set(flag, true)", 1),
        ] {
            let mut b = open(grade, &format!("{numbers}\nbutton {more}")).await;
            let landed = press_times(&mut b, (Role::Button, "More"), &guarded, 2).await;
            assert_eq!(landed, if times == 1 { MIDWAY } else { Delivery::Confirmed }, "{grade}: {more}");
            assert_eq!(received(&b), both[..times], "{grade}: {more}");
        }
    }
}

const CARD: (Role, &str) = (Role::ListItem, "Card");
const DONE: (Role, &str) = (Role::Region, "Done");

/// Drags the card onto the region, each aimed at with its own guard.
async fn drag(b: &mut Bench, guarded: bool) -> Delivery {
    let all = handles(b, &[CARD, DONE, ADA]).await;
    let guarded = if guarded { &all[2..] } else { &[] };
    let to = aim(b, all[1], guarded).await;
    let from = aim(b, all[0], &[]).await;
    let action = Action::Drag { from, source: Some(all[0]), to, target: Some(all[1]) };
    perform(b, &action).await.delivery
}

/// Returns a card with these words and a region below it that `flag` moves away from the pointer.
fn board(words: &str) -> String {
    format!(
        "list\n  li \"Card\" label=\"Card\" {words}\nif flag\n  div h=300\nregion \"Done\" h=100 drop=set(n, 1)\n  p \"{{who}}\""
    )
}

#[tokio::test]
async fn drop_stops_when_the_destination_changed_during_the_drag() {
    for grade in GRADES {
        for (words, landed, delivered) in [
            ("", Delivery::Confirmed, &["drag li Card", "drop region Done"][..]),
            ("act=set(who, 'Nils')", BEFORE, &[]),
            ("between=set(who, 'Nils')", MIDWAY, &["drag li Card"]),
            ("between=set(flag, true)", MIDWAY, &["drag li Card"]),
        ] {
            let mut b = open(grade, &board(words)).await;
            assert_eq!(drag(&mut b, true).await, landed, "{grade}: {words}");
            assert_eq!(received(&b), delivered, "{grade}: {words}");
        }
        // Without a guard, the drag continues to wherever the pointer is, and the response reports
        // that.
        let mut b = open(grade, &board("between=set(flag, true)")).await;
        let landed = drag(&mut b, false).await;
        assert!(matches!(landed, Delivery::Elsewhere { stopped: false, .. }), "{grade}: {landed:?}");
        assert_eq!(received(&b).len(), 2, "{grade}: {:?}", received(&b));
        let mut b = open(grade, &board("between=set(who, 'Nils')")).await;
        assert_eq!(drag(&mut b, false).await, Delivery::Confirmed, "{grade}");
    }
}

#[tokio::test]
async fn guard_ends_with_its_input_and_with_the_next_aim() {
    for grade in GRADES {
        let mut b = open(grade, "p \"{who}\"\nbutton \"Delete\"\nbutton \"Keep\"").await;
        let all = handles(&mut b, &[DELETE, ADA, (Role::Button, "Keep")]).await;
        let point = aim(&mut b, all[0], &all[1..2]).await;
        let keep = aim(&mut b, all[2], &[]).await;
        b.probe.run("set(who, 'Nils')").unwrap();
        let delete = Action::press(point, Some(all[0]));
        // The guard of one element does not apply to another.
        assert_eq!(perform(&mut b, &Action::press(keep, Some(all[2]))).await.delivery, Delivery::Confirmed);
        assert_eq!(perform(&mut b, &delete).await.delivery, BEFORE, "{grade}");
        assert_eq!(perform(&mut b, &delete).await.delivery, Delivery::Confirmed, "{grade}: it ended");
        aim(&mut b, all[0], &all[1..2]).await;
        b.probe.run("set(who, 'Eve')").unwrap();
        aim(&mut b, all[0], &all[1..2]).await;
        assert_eq!(perform(&mut b, &delete).await.delivery, Delivery::Confirmed, "{grade}: a new aim");
    }
}

#[tokio::test]
async fn guard_outlives_the_addresses_that_named_it() {
    for grade in GRADES {
        let mut b = open(grade, "p \"{who}\"\nbutton \"Delete\"").await;
        let all = handles(&mut b, &[DELETE, ADA]).await;
        let point = aim(&mut b, all[0], &all[1..]).await;
        b.probe.run("set(who, 'Nils')").unwrap();
        let delete = handles(&mut b, &[DELETE]).await[0];
        assert_eq!(delete == all[0], grade != "none");
        assert_eq!(perform(&mut b, &Action::press(point, Some(delete))).await.delivery, BEFORE, "{grade}");
        // An element that is already gone at the aim cannot be guarded.
        let all = handles(&mut b, &[DELETE, (Role::Text, "Nils")]).await;
        b.probe.run("set(who, '')").unwrap();
        let point = aim(&mut b, all[0], &all[1..]).await;
        assert_eq!(perform(&mut b, &Action::press(point, Some(all[0]))).await.delivery, BEFORE, "{grade}");
        assert_eq!(received(&b), Vec::<String>::new(), "{grade}");
    }
}

#[tokio::test]
async fn faults_after_the_aim_stop_a_guarded_press_of_any_app() {
    let target = (Role::Button, "Continue");
    for grade in GRADES {
        for (fault, stopped) in
            [("relabel-after-aim", true), ("rewrite-after-aim", true), ("move-before-act", false)]
        {
            let mut b = Bench::open(&format!("sim:signin?fault={fault}&grade={grade}")).await;
            let landed =
                press(&mut b, target, &[(Role::TextBox, "Email"), (Role::TextBox, "Password")]).await;
            assert_eq!(landed == BEFORE, stopped, "{grade}: {fault}: {landed:?}");
            assert_eq!(received(&b).is_empty(), stopped, "{grade}: {fault}");
        }
    }
}

#[tokio::test]
async fn node_with_the_number_of_a_guarded_one_is_another_node() {
    let lists = "[lists]\nold = [{ t = 'Ada Berg' }]\nnew = []\n";
    let view = "for r in old\n  p \"{r.t}\"\nfor r in new\n  p \"{r.t}\"\nbutton \"Delete\" x=0 y=300 press=remove(old, true) between=push(new, t='Ada Berg')";
    let mut b = Bench::app_with(&format!("{STATE}{lists}"), view, "grade=while-alive&rest=1").await;
    let before = handles(&mut b, &[ADA]).await;
    assert_eq!(press_times(&mut b, DELETE, &[ADA], 2).await, MIDWAY);
    assert_eq!(handles(&mut b, &[ADA]).await, before, "the number came back");
    assert_eq!(received(&b), ["press button Delete"]);
}

#[tokio::test]
async fn drag_from_a_point_is_stopped_by_the_destination_guard() {
    for grade in GRADES {
        for (words, change, landed) in [
            ("", "", Delivery::Unknown),
            ("", "set(who, 'Nils')", BEFORE),
            ("hover=set(who, 'Nils')", "", MIDWAY),
        ] {
            let mut b = open(grade, &board(words)).await;
            let all = handles(&mut b, &[CARD, DONE, ADA]).await;
            let from = b.device.aim(all[0], AimOptions::default()).await.unwrap().point;
            let to = aim(&mut b, all[1], &all[2..]).await;
            b.probe.run(change).unwrap();
            let action = Action::Drag { from, source: None, to, target: Some(all[1]) };
            assert_eq!(perform(&mut b, &action).await.delivery, landed, "{grade}: {words}{change}");
            assert_eq!(received(&b).is_empty(), landed != Delivery::Unknown, "{grade}: {words}{change}");
        }
        // A destination that is itself gone is reported as gone.
        let view = "li \"Card\" label=\"Card\"\nif not flag\n  region \"Done\" h=100\n    p \"{who}\"\np \"Below\" h=500";
        let mut b = open(grade, view).await;
        let all = handles(&mut b, &[CARD, DONE, ADA]).await;
        let to = aim(&mut b, all[1], &all[2..]).await;
        let from = aim(&mut b, all[0], &[]).await;
        b.probe.run("set(flag, true)").unwrap();
        let action = Action::Drag { from, source: Some(all[0]), to, target: Some(all[1]) };
        let error = b.device.perform(&action, &CancellationToken::new()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::ElementNotFound, "{grade}");
    }
}
