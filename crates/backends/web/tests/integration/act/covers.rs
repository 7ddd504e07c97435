//! Elements that cover a target: a part of the target's own control is pressed as a person would
//! press it; anything else is a cover and is named. The page reports what received the press.

use super::LOG;
use crate::support::{Page, press};
use stickpin_device::{Delivery, Device, HitResult};
use stickpin_tree::Role;

const STYLE: &str = "<style>
    .field{position:relative;display:block;width:220px;padding:8px;margin:8px;border:1px solid}
    .field input,.field textarea{width:200px;box-sizing:border-box}
    .over{position:absolute;inset:0}
    .off{pointer-events:none}</style>";

/// Fields whose visible part is a different element, each with what a press must reach.
const OWN: [(&str, Role, &str); 7] = [
    (
        "wrapper around a field that takes no pointer",
        Role::TextBox,
        "<div class=field id=it><input aria-label=Name class=off></div>",
    ),
    (
        "wrapper of a wrapper",
        Role::TextBox,
        "<div class=field id=it><div class=off><input aria-label=Name></div></div>",
    ),
    (
        "clickable box around a read-only field",
        Role::TextBox,
        "<div class=field id=it onclick='1' style='cursor:pointer'><input aria-label=Name class=off readonly></div>",
    ),
    (
        "placeholder over a combobox",
        Role::Combobox,
        "<div class=field><input role=combobox aria-label=Name aria-expanded=false><div class=over id=it>Choose</div></div>",
    ),
    (
        "drawn box over a transparent checkbox",
        Role::Checkbox,
        "<div class=field style='width:30px;height:30px'><input type=checkbox aria-label=Name style='opacity:0;width:16px'><span class=over id=it></span></div>",
    ),
    (
        "label over its field",
        Role::TextBox,
        "<div class=field><input id=f aria-label=Name><label for=f class=over id=it>Name</label></div>",
    ),
    (
        "drawn knob of a switch",
        Role::Switch,
        "<div class=field id=it style='width:40px'><span role=switch aria-checked=false aria-label=Name tabindex=0 class=off style='display:inline-block;width:30px;height:16px'></span></div>",
    ),
];

#[tokio::test]
async fn a_part_of_the_control_itself_is_no_cover() {
    let Some(mut page) = Page::show("").await else { return };
    for (what, role, body) in OWN {
        page.replace(&format!("{LOG}{STYLE}{body}")).await;
        let field = page.find(role, "Name").await;
        let aim = page.aim(field).await;
        assert_eq!(aim.hit, HitResult::Target, "{what}");
        let done = page.perform(&press(aim.point, Some(field))).await;
        assert_eq!(done.delivery, Delivery::Confirmed, "{what}");
        let log = page.log().await;
        assert_eq!(log[0], "click it true", "{what}: {log:?}");
    }
    page.close().await;
}

/// Elements that look similar but are covers, each with the name that is reported.
const COVERS: [(&str, Role, &str, &str); 11] = [
    (
        "a button takes no pointer because it is off",
        Role::Button,
        "<div class=field id=row><button class=off>Name</button></div>",
        "div#row",
    ),
    (
        "a row that opens something around it",
        Role::TextBox,
        "<table><tr id=row onclick='1'><td id=cell><input aria-label=Name class=off></table>",
        "td#cell",
    ),
    (
        "a card of several controls",
        Role::TextBox,
        "<div class=field id=card onclick='1'><input aria-label=Name class=off><button>Delete</button></div>",
        "div#card",
    ),
    (
        "a list item that is pressed itself",
        Role::TextBox,
        "<div role=option aria-selected=false id=o class=field tabindex=0><input aria-label=Name class=off></div>",
        "div#o",
    ),
    (
        "a veil over the whole form",
        Role::TextBox,
        "<form style='position:relative'><div class=field><input aria-label=Name></div><p>Some text<p>More text<div class=over id=veil></div></form>",
        "div#veil",
    ),
    (
        "a veil from elsewhere",
        Role::TextBox,
        "<div class=field><input aria-label=Name></div><div id=veil style='position:fixed;inset:0'></div>",
        "div#veil",
    ),
    (
        "a veil inside that is larger than the control",
        Role::TextBox,
        "<div class=field><input aria-label=Name><div id=veil style='position:fixed;inset:0'></div></div>",
        "div#veil",
    ),
    (
        "a button over the field",
        Role::TextBox,
        "<div class=field><input aria-label=Name><button class=over>Clear</button></div>",
        "button \"Clear\"",
    ),
    (
        "an alert in the control",
        Role::TextBox,
        "<div class=field><input aria-label=Name><div role=alert class=over aria-label=Wrong>!</div></div>",
        "alert \"Wrong\"",
    ),
    (
        "a control that is busy",
        Role::TextBox,
        "<div class=field aria-busy=true><input aria-label=Name><div class=over id=spin></div></div>",
        "div#spin",
    ),
    (
        "what says to wait",
        Role::TextBox,
        "<div class=field><input aria-label=Name><div class=over id=spin style='cursor:wait'></div></div>",
        "div#spin",
    ),
];

#[tokio::test]
async fn what_is_no_part_of_the_control_covers_it() {
    let Some(mut page) = Page::show("").await else { return };
    for (what, role, body, named) in COVERS {
        page.replace(&format!("{LOG}{STYLE}{body}")).await;
        let field = page.find(role, "Name").await;
        let aim = page.aim(field).await;
        let HitResult::Covered { what: by, .. } = &aim.hit else { panic!("{what}: {aim:?}") };
        assert!(by.starts_with(named), "{what}: {by}");
        // Even if the press is sent anyway, the page receives nothing.
        let done = page.perform(&press(aim.point, Some(field))).await;
        assert!(matches!(done.delivery, Delivery::Elsewhere { stopped: true, .. }), "{what}: {done:?}");
        assert_eq!(page.log().await, Vec::<String>::new(), "{what}");
    }
    page.close().await;
}

#[tokio::test]
async fn the_field_itself_is_pressed_where_it_is_free() {
    let html = format!(
        "{LOG}{STYLE}<div class=field><input id=it aria-label=Name><span id=half style='position:absolute;left:40%;right:40%;top:0;bottom:0'></span></div>"
    );
    let Some(mut page) = Page::show(&html).await else { return };
    let field = page.find(Role::TextBox, "Name").await;
    assert_eq!(page.press(field).await.delivery, Delivery::Confirmed);
    assert_eq!(page.log().await, ["click it true"]);
    page.close().await;
}

#[tokio::test]
async fn overflow_clips_only_where_there_is_a_box() {
    // Elements without a box, table rows and inline elements clip nothing.
    let html = format!(
        "{LOG}<div style='display:contents;overflow:auto'><button>One</button></div>
        <table><tbody style='overflow:hidden'><tr style='overflow:hidden'><td><button>Two</button></table>
        <span style='overflow:hidden'><button>Three</button></span>
        <div style='display:contents;overflow:hidden;position:relative'><button style='position:absolute;top:200px'>Four</button></div>
        <div style='overflow:hidden;height:0'><button>Five</button></div>"
    );
    let Some(mut page) = Page::show(&html).await else { return };
    for name in ["One", "Two", "Three", "Four"] {
        let button = page.find(Role::Button, name).await;
        assert_eq!(page.press(button).await.delivery, Delivery::Confirmed, "{name}");
    }
    assert_eq!(page.log().await.len(), 4);
    let five = page.find(Role::Button, "Five").await;
    assert_eq!(page.aim(five).await.hit, HitResult::OffScreen);
    assert!(page.device.locate(five, &[]).await.unwrap().is_some());
    page.close().await;
}
