//! What input does, by kind of element and by key, and what the app reports having received.

use super::common::Bench;
use std::time::Duration;
use stickpin_device::{Action, AimOptions, Button, CancellationToken, Delivery, HitResult, Modifiers, Query};
use stickpin_tree::{Role, States};

fn states(tree: &stickpin_tree::Tree, role: Role, name: &str) -> States {
    tree.nodes().find(|n| n.role() == role && n.name() == name).unwrap().states()
}

#[tokio::test]
async fn switches_checkboxes_and_radios_turn_and_disabled_ones_do_not() {
    let mut b = Bench::open("sim:settings").await;
    b.press_named(Role::Switch, "Wi-Fi").await;
    assert!(!states(&b.tree().await, Role::Switch, "Wi-Fi").contains(States::CHECKED));
    b.press_named(Role::Switch, "Bluetooth").await;
    assert!(
        !states(&b.tree().await, Role::Switch, "Bluetooth").contains(States::CHECKED),
        "it is disabled now"
    );
    assert!(b.probe.received().last().unwrap().disabled);
    b.press_named(Role::Radio, "Dark").await;
    let tree = b.tree().await;
    assert!(states(&tree, Role::Radio, "Dark").contains(States::CHECKED));
    assert!(!states(&tree, Role::Radio, "Light").contains(States::CHECKED));
}

#[tokio::test]
async fn fields_write_what_is_filled_in_their_own_way() {
    let mut b = Bench::open("sim:settings").await;
    for (name, text, reads) in [
        ("Phone", "5551234567", "(555) 123-4567"),
        ("Code", "abc", "ABC"),
        ("Short name", "123456789", "12345678"),
        ("Name", "", ""),
    ] {
        let field = b.find(Role::TextBox, name).await;
        let done = b.fill(field, text).await;
        assert_eq!((done.value.as_deref(), done.delivery), (Some(reads), Delivery::Confirmed), "{name}");
        assert_eq!(b.tree().await.find_handle(field).unwrap().value(), reads);
    }
    let button = b.find(Role::Button, "Save").await;
    assert!(!b.fill(button, "x").await.handled, "a button takes no text");
}

#[tokio::test]
async fn native_lists_are_chosen_from_and_others_are_not() {
    let mut b = Bench::open("sim:settings").await;
    let language = b.find(Role::Combobox, "Language").await;
    let select = |target, options: &[&str]| Action::Select {
        target,
        options: options.iter().map(|s| (*s).to_owned()).collect(),
    };
    let none = CancellationToken::new();
    let done = b.device.perform(&select(language, &["Suomi"]), &none).await.unwrap();
    assert_eq!((done.handled, done.value.as_deref()), (true, Some("fi")));
    let error = b.device.perform(&select(language, &["Dansk"]), &none).await.unwrap_err();
    assert!(error.message.contains("Dansk") && error.hint.contains("Norsk"), "{error:?}");
    let size = b.find(Role::Button, "Size: m").await;
    assert!(!b.device.perform(&select(size, &["l"]), &none).await.unwrap().handled);
    b.press(size).await;
    b.press_named(Role::Option, "l").await;
    b.find(Role::Button, "Size: l").await;
    b.press_named(Role::Tab, "Privacy").await;
    let topics = b.find(Role::ListBox, "Topics").await;
    b.device.perform(&select(topics, &["Offers", "Events"]), &none).await.unwrap();
    let tree = b.tree().await;
    let chosen: Vec<_> =
        tree.nodes().filter(|n| n.is(States::SELECTED) && n.role() == Role::Option).collect();
    assert_eq!(chosen.iter().map(|n| n.name()).collect::<Vec<_>>(), ["Offers", "Events"]);
}

#[tokio::test]
async fn keys_type_move_the_focus_submit_and_nudge() {
    let mut b = Bench::open("sim:settings").await;
    let volume = b.find(Role::Slider, "Volume").await;
    b.press(volume).await;
    b.key("ArrowRight").await;
    b.key("ArrowRight").await;
    b.key("ArrowLeft").await;
    assert_eq!(b.tree().await.find_handle(volume).unwrap().value(), "45");
    b.key("Tab").await;
    let rows = b.find(Role::SpinButton, "Rows per page").await;
    assert!(b.tree().await.find_handle(rows).unwrap().is(States::FOCUSED));
    b.fill(rows, "500").await;
    assert_eq!(b.tree().await.find_handle(rows).unwrap().value(), "50");
    let name = b.find(Role::TextBox, "Name").await;
    b.fill(name, "A").await;
    let none = CancellationToken::new();
    b.device.perform(&Action::Type { target: None, text: "da".into() }, &none).await.unwrap();
    b.key("m").await;
    b.key("Backspace").await;
    assert_eq!(b.tree().await.find_handle(name).unwrap().value(), "Ada");
    b.press_named(Role::Tab, "Advanced").await;
    b.press_named(Role::Button, "Reset everything").await;
    b.find(Role::Dialog, "Reset everything?").await;
    b.key("Escape").await;
    assert!(b.all(Role::Dialog, "Reset everything?").await.is_empty());
}

#[tokio::test]
async fn a_label_stands_for_its_field() {
    let mut b = Bench::open("sim:settings").await;
    let name = b.find(Role::TextBox, "Name").await;
    let tree = b.tree().await;
    let label = tree.nodes().find(|n| n.role() == Role::Label).unwrap().handle().unwrap();
    b.press(label).await;
    assert!(b.tree().await.find_handle(name).unwrap().is(States::FOCUSED));
}

#[tokio::test]
async fn long_double_and_right_presses_and_the_pointer_are_told_apart() {
    let mut b = Bench::open("sim:settings/devices").await;
    let ring = b.all(Role::Button, "Ring").await[1];
    let aim = b.device.aim(ring, AimOptions::PLAIN_PRESS).await.unwrap();
    assert_eq!(b.probe.variable("pending"), "2", "the pointer arrived");
    let press = |button, count, hold| Action::Press {
        point: aim.point,
        target: Some(ring),
        button,
        count,
        modifiers: Modifiers::default(),
        hold: Duration::from_millis(hold),
    };
    let none = CancellationToken::new();
    let before = b.probe.now_ms();
    b.device.perform(&press(Button::Left, 1, 700), &none).await.unwrap();
    assert_eq!(b.probe.now_ms() - before, 700);
    b.device.perform(&press(Button::Right, 1, 0), &none).await.unwrap();
    b.device.perform(&press(Button::Left, 2, 0), &none).await.unwrap();
    let events: Vec<String> = b.probe.received().into_iter().map(|r| r.event).collect();
    assert_eq!(events, ["hover", "longpress", "context", "press", "press", "dblpress"]);
    assert!(b.text().await.contains("\"Tablet rings.\""));
}

#[tokio::test]
async fn dragging_moves_the_record_that_was_dragged() {
    let mut b = Bench::open("sim:settings/board").await;
    let tree = b.tree().await;
    let card = tree.nodes().find(|n| n.name() == "Buy a lock").unwrap().handle().unwrap();
    let done =
        tree.nodes().find(|n| n.name() == "Done" && n.role() == Role::Region).unwrap().handle().unwrap();
    let from = b.device.aim(card, AimOptions::PLAIN_PRESS).await.unwrap().point;
    let to = b.device.aim(done, AimOptions::PLAIN_PRESS).await.unwrap().point;
    let drag = Action::Drag { from, source: Some(card), to, target: Some(done) };
    let dropped = b.device.perform(&drag, &CancellationToken::new()).await.unwrap();
    assert_eq!(dropped.delivery, Delivery::Confirmed);
    let tree = b.tree().await;
    let region = tree.find_handle(done).unwrap();
    assert!(region.subtree().any(|n| n.name() == "Buy a lock"));
}

#[tokio::test]
async fn aim_reports_covered_unreachable_and_invisible_targets() {
    let mut b = Bench::open("sim:settings/reach").await;
    let look = AimOptions::default();
    for name in ["Outside", "Invisible"] {
        let target = b.find(Role::Button, name).await;
        assert_eq!(b.device.aim(target, look).await.unwrap().hit, HitResult::OffScreen, "{name}");
    }
    for name in ["Far below", "In the box"] {
        b.press_named(Role::Button, name).await;
        assert_eq!(b.received().last().unwrap(), &format!("press button {name}"));
    }
    for (opener, cover) in [("Cover", "paragraph"), ("Veil", "clickable")] {
        let mut b = Bench::open("sim:settings/reach").await;
        let free = b.find(Role::Button, "Free").await;
        let before = b.device.aim(free, look).await.unwrap();
        assert_eq!(before.hit, HitResult::Target);
        b.press_named(Role::Button, opener).await;
        let HitResult::Covered { by, what } = b.device.aim(free, look).await.unwrap().hit else {
            panic!("{opener}")
        };
        assert!(by.is_some());
        assert!(what.starts_with(cover) || what.starts_with("generic"), "{what}");
        let landed = b.press_at(before.point, Some(free)).await.unwrap().delivery;
        assert!(matches!(landed, Delivery::Elsewhere { stopped: true, .. }), "{landed:?}");
        assert_eq!(b.received().last().unwrap(), &format!("press button {opener}"), "the app saw nothing");
    }
}

#[tokio::test]
async fn a_bare_point_presses_what_is_there() {
    let mut b = Bench::open("sim:settings/reach").await;
    let free = b.find(Role::Button, "Free").await;
    let point = b.device.aim(free, AimOptions::default()).await.unwrap().point;
    assert_eq!(b.device.geometry().unwrap().element_at(point.0, point.1).await.unwrap(), Some(free));
    assert_eq!(b.device.geometry().unwrap().element_at(-5.0, 5.0).await.unwrap(), None);
    let done = b.press_at(point, None).await.unwrap();
    assert_eq!(done.delivery, Delivery::Unknown);
    assert_eq!(b.received().last().unwrap(), "press button Free");
}

#[tokio::test]
async fn scrolling_says_whether_anything_moved() {
    let mut b = Bench::open("sim:feed").await;
    let posts = b.find(Role::Feed, "Posts").await;
    let none = CancellationToken::new();
    let scroll = |dy| Action::Scroll { target: Some(posts), dx: 0.0, dy };
    assert!(!b.device.perform(&scroll(-100.0), &none).await.unwrap().moved);
    assert!(b.device.perform(&scroll(500_000.0), &none).await.unwrap().moved);
    assert!(b.text().await.contains("part 5208"));
    assert!(b.device.perform(&scroll(1e9), &none).await.unwrap().moved);
    assert!(b.text().await.contains("part 10000"));
    assert!(!b.device.perform(&scroll(100.0), &none).await.unwrap().moved);
}

#[tokio::test]
async fn elements_tell_their_attributes_markup_and_text() {
    let mut b = Bench::open("sim:signin").await;
    let email = b.find(Role::TextBox, "Email").await;
    b.fill(email, "a&b").await;
    let attrs = b.device.query(email, Query::Attrs).await.unwrap();
    assert_eq!((attrs["id"].as_str(), attrs["value"].as_str()), (Some("email"), Some("a&b")));
    let html = b.device.query(email, Query::Html).await.unwrap();
    assert!(html.as_str().unwrap().contains("value=\"a&amp;b\""), "{html}");
    let link = b.find(Role::Link, "Forgot your password?").await;
    assert_eq!(b.device.query(link, Query::Text).await.unwrap(), "Forgot your password?");
    let password = b.find(Role::TextBox, "Password").await;
    b.fill(password, "lantern").await;
    assert!(!b.device.query(password, Query::Html).await.unwrap().to_string().contains("lantern"));
}

#[tokio::test]
async fn disabled_slider_takes_no_value() {
    for (disabled, handled, value) in [("false", true, "7"), ("true", false, "3")] {
        let view = format!("slider \"Volume\" bind=n disabled={disabled}");
        let mut b = Bench::app("[state]\nn = 3\n", &view).await;
        let slider = b.find(Role::Slider, "Volume").await;
        assert_eq!(b.fill(slider, "7").await.handled, handled, "disabled: {disabled}");
        assert_eq!(b.probe.variable("n"), value, "disabled: {disabled}");
    }
}
