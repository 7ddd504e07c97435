//! The sign-in app from end to end, below the kernel.

use super::common::Bench;
use stickpin_device::Notice;
use stickpin_tree::{Role, States};

#[tokio::test]
async fn a_wrong_password_is_refused_and_the_right_one_leads_on() {
    let mut b = Bench::open("sim:signin").await;
    let email = b.find(Role::TextBox, "Email").await;
    let password = b.find(Role::TextBox, "Password").await;
    assert_eq!(b.fill(email, "qa@example.com").await.value.as_deref(), Some("qa@example.com"));
    b.fill(password, "wrong").await;
    b.press_named(Role::Button, "Continue").await;
    assert!(b.settle().await.is_quiet);
    assert!(b.text().await.contains("\"Wrong email or password.\""));
    let notices = b.device.notices().await.unwrap();
    assert!(
        notices.contains(&Notice::LiveRegionText { text: "Wrong email or password.".into() }),
        "{notices:?}"
    );
    assert!(
        notices.iter().any(|n| matches!(n, Notice::RequestFailed { why, .. } if why == "401")),
        "{notices:?}"
    );
    b.fill(password, "lantern").await;
    b.key("Enter").await;
    b.settle().await;
    let tree = b.tree().await;
    assert_eq!(tree.root().document().url, "sim:signin/welcome");
    assert!(tree.nodes().any(|n| n.role() == Role::Heading && n.name() == "Welcome"));
    assert_eq!(b.received()[0..1], ["fill textbox Email"]);
}

#[tokio::test]
async fn a_password_never_appears_in_a_tree() {
    let mut b = Bench::open("sim:signin").await;
    let password = b.find(Role::TextBox, "Password").await;
    b.fill(password, "lantern").await;
    let tree = b.tree().await;
    let node = tree.find_handle(password).unwrap();
    assert!(node.is(States::PROTECTED | States::EDITABLE));
    assert_eq!(node.value(), "");
}
