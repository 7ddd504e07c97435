//! The built-in apps: each opens with every grade, and every link of each leads to a screen.

use super::common::{Bench, text};
use std::collections::BTreeSet;
use std::time::Duration;
use stickpin_backend_sim::SimProvider;
use stickpin_device::{ErrorCode, LeavePolicy, Navigation, Notice, Provider};
use stickpin_tree::{Attr, Role};

#[tokio::test]
async fn every_app_opens_and_says_what_it_is() {
    let devices = SimProvider::new().devices().await.unwrap();
    let names: Vec<&str> = devices.iter().map(|d| d.open.as_str()).collect();
    assert_eq!(names, ["sim:feed", "sim:settings", "sim:shop", "sim:signin", "sim:staleness"]);
    for device in &devices {
        assert!(!device.title.is_empty());
        for grade in ["never-reused", "while-alive", "none"] {
            let mut b = Bench::open(&format!("{}?grade={grade}", device.open)).await;
            assert!(b.tree().await.len() > 3, "{}", device.open);
        }
    }
    for check in SimProvider::new().doctor().await {
        assert!(check.ok, "{check:?}");
    }
}

#[tokio::test]
async fn every_link_of_every_app_leads_somewhere() {
    for app in ["feed", "settings", "shop", "signin"] {
        let mut b = Bench::open(&format!("sim:{app}")).await;
        let (mut seen, mut todo) = (BTreeSet::new(), vec!["/".to_owned()]);
        while let Some(path) = todo.pop() {
            let to = Navigation::To(format!("sim:{app}{path}"));
            for _ in 0..2 {
                // One screen fails on its first load.
                let _ = b
                    .device
                    .navigator()
                    .unwrap()
                    .navigate(&to, LeavePolicy::Ask, Duration::from_secs(5), &Default::default())
                    .await;
            }
            let tree = b.tree().await;
            assert_eq!(tree.root().document().url, format!("sim:{app}{path}"));
            for link in tree.nodes().filter(|n| n.role() == Role::Link) {
                let href = link
                    .attr(Attr::Href)
                    .unwrap_or_else(|| panic!("{path}: {link:?} leads nowhere"))
                    .to_owned();
                if seen.insert(href.clone()) {
                    todo.push(href);
                }
            }
            let errors = b
                .device
                .notices()
                .await
                .unwrap()
                .into_iter()
                .find(|n| matches!(n, Notice::ConsoleError { .. }));
            assert_eq!(errors, None, "{app}{path}");
        }
    }
}

#[tokio::test]
async fn the_same_inputs_give_the_same_trees() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let mut b = Bench::open("sim:shop").await;
        let add = b.all(Role::Button, "Add to cart").await;
        b.press(add[1]).await;
        b.press(add[3]).await;
        b.settle().await;
        b.press_named(Role::Link, "Cart (2)").await;
        b.settle().await;
        let more = b.all(Role::Button, "More").await;
        b.press(more[0]).await;
        let tree = b.tree().await;
        runs.push((text(&tree), tree.nodes().map(|n| n.handle()).collect::<Vec<_>>(), b.probe.received()));
    }
    assert_eq!(runs[0], runs[1]);
    assert!(runs[0].0.contains("\"Total 477.00 kr\""), "{}", runs[0].0);
}

#[tokio::test]
async fn an_unknown_app_or_screen_is_named() {
    let error = Bench::try_open("sim:shp").await.err().unwrap();
    assert_eq!(error.code, ErrorCode::DeviceNotFound);
    assert!(error.hint.contains("sim:shop"), "{}", error.hint);
    let error = Bench::try_open("sim:shop/nowhere").await.err().unwrap();
    assert_eq!((error.code, error.message.contains("/nowhere")), (ErrorCode::DeviceNotFound, true));
    let error = Bench::try_open("sim:shop?grade=best").await.err().unwrap();
    assert_eq!(error.code, ErrorCode::InvalidArgs);
}

#[tokio::test]
async fn ten_thousand_posts_have_nodes_only_for_the_window() {
    let mut b = Bench::open("sim:feed").await;
    let tree = b.tree().await;
    let articles = tree.nodes().filter(|n| n.role() == Role::Article).count();
    assert!((8..20).contains(&articles), "{articles}");
}

/// Navigates, and returns the title and address that the app then shows.
async fn navigate(b: &mut Bench, to: &str) -> (String, String) {
    let to = Navigation::To(to.to_owned());
    let navigator = b.device.navigator().unwrap();
    let moved = navigator.navigate(&to, LeavePolicy::Ask, Duration::from_secs(5), &Default::default()).await;
    moved.unwrap_or_else(|e| panic!("{to:?}: {e}"));
    let tree = b.tree().await;
    let document = tree.root().document();
    (document.title.clone(), document.url.clone())
}

#[tokio::test]
async fn app_file_named_like_a_built_in_app_is_another_app() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.toml");
    std::fs::write(
        &path,
        "title = 'My shop'\n[state]\nn = 0\n[screens.a]\nurl = '/:page'\nview = 'h1 \"{page}\"'\n[screens.b]\nurl = '/'\nview = 'h1 \"Home\"'\n",
    )
    .unwrap();
    let file = format!("sim:{}", path.display());
    let mut b = Bench::open("sim:shop").await;
    assert_eq!(navigate(&mut b, &file).await, ("My shop".to_owned(), "sim:shop/".to_owned()));
    // Its own address and other spellings of its path do not start it again.
    b.probe.run("set(n, 1)").unwrap();
    for to in ["sim:shop/two".to_owned(), format!("sim:{}/./shop.toml/three", dir.path().display())] {
        assert_eq!(navigate(&mut b, &to).await.0, "My shop", "{to}");
        assert_eq!(b.probe.variable("n"), "1", "{to}");
    }
}

#[tokio::test]
async fn address_of_another_app_is_no_path_of_the_open_one() {
    let screens = "[screens.b]\nurl = '/ea/x'\nview = 'h1 \"Wrong\"'\n";
    let mut b = Bench::app(screens, "link \"Tea\" href='sim:tea/x'\nlink \"Own\" href='sim:t/ea/x'").await;
    b.press_named(Role::Link, "Tea").await;
    assert_eq!(b.tree().await.root().document().url, "sim:t/");
    let notices = b.device.notices().await.unwrap();
    assert!(notices.iter().any(|n| matches!(n, Notice::ConsoleError { .. })), "{notices:?}");
    b.press_named(Role::Link, "Own").await;
    assert_eq!(b.tree().await.root().document().url, "sim:t/ea/x");
}
