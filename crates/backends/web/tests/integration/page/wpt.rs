//! The web-platform-tests for names and roles, if they are next to the checkout.

use super::harness::{Page, documented, pages, root, serve, squeeze};
use crate::support::skip::skipped;
use hashbrown::HashMap;
use serde::Deserialize;
use stickpin_tree::{NodeRef, Role};

/// The minimum percentage of expectations that must hold.
const FLOOR: f64 = 99.0;

/// Known reasons for failed expectations: a part of the line, and the reason.
const REASONS: [(&str, &str); 2] = [
    (
        "svg-aam/role/role-img.tentative.html",
        "the page says `image` outside of svg, which the parser makes an `img` without children",
    ),
    (
        "wai-aria/role/menu-roles.tentative.html: orphan div",
        "orphaned menu items on elements without a role are kept: popups of real pages are full of them",
    ),
];

#[derive(Deserialize)]
struct Expected {
    id: u64,
    test: Option<String>,
    role: Option<String>,
    name: Option<String>,
}

const EXPECTED: &str =
    "[...document.querySelectorAll('[data-expectedrole],[data-expectedlabel],.ex-generic')].map(e => ({
    id: __stickpin.idOf(e),
    test: e.getAttribute('data-testname'),
    role: e.classList.contains('ex-generic') ? 'generic' : e.getAttribute('data-expectedrole'),
    name: e.getAttribute('data-expectedlabel'),
}))";

#[tokio::test]
async fn web_platform_tests_of_names_and_roles() {
    let folder = root().join("../shared/fixtures/wpt");
    if !folder.is_dir() {
        skipped("STICKPIN_REQUIRE_WPT", format!("no web-platform-tests at {}", folder.display()));
        return;
    }
    let Some(mut page) = Page::start().await else { return };
    let served = folder.clone();
    let site = serve(move |path| {
        // The test scripts are not available; the pages call a few of their functions.
        if path.ends_with(".js") {
            let stub = "var AriaUtils = new Proxy({}, { get: () => () => {} }), test = () => {}, promise_test = () => {}, setup = () => {};";
            return Some(("text/javascript", stub.as_bytes().to_vec()));
        }
        Some(("text/html; charset=utf-8", std::fs::read(served.join(path.trim_start_matches('/'))).ok()?))
    })
    .await;
    let (mut failed, mut count) = (Vec::new(), 0_u32);
    for file in pages(&folder) {
        let name = file.strip_prefix(&folder).unwrap().to_str().unwrap();
        page.open(&format!("{site}/{name}")).await;
        let expected: Vec<Expected> = page.eval(EXPECTED).await.unwrap();
        let tree = page.capture().await;
        let by_id: HashMap<u64, NodeRef<'_>> =
            tree.nodes().filter_map(|n| Some((n.handle()?.id, n))).collect();
        for e in expected {
            let node = by_id.get(&e.id);
            let role = node.map_or(Role::Generic, |n| n.role());
            let role = if role == Role::Clickable { Role::Generic } else { role };
            if let Some(want) = e.role {
                count += 1;
                // Roles that are not in ARIA 1.2 count as no role.
                let want = match want.as_str() {
                    "image" => "img",
                    "sectionheader" | "sectionfooter" | "none" | "presentation" => "generic",
                    other => other,
                };
                if want != role.name() {
                    failed.push(format!(
                        "{name}: {}: role {want}, got {role}",
                        e.test.as_deref().unwrap_or("")
                    ));
                }
            }
            if let Some(want) = e.name {
                count += 1;
                // Trees contain no non-breaking spaces: names are compared with white space
                // collapsed.
                let got = node.map_or("", |n| n.name());
                if squeeze(&want) != got {
                    failed.push(format!(
                        "{name}: {}: name {want:?}, got {got:?}",
                        e.test.as_deref().unwrap_or("")
                    ));
                }
            }
        }
    }
    let failures = u32::try_from(failed.len()).unwrap();
    let percent = 100.0 * f64::from(count - failures) / f64::from(count.max(1));
    let mut lines = vec![format!("{} of {count} hold: {percent:.2} %", count - failures)];
    for miss in failed {
        let reason = REASONS.iter().find(|(part, _)| miss.contains(part)).map(|(_, reason)| reason);
        let reason = reason.unwrap_or_else(|| panic!("without a reason: {miss}"));
        lines.push(format!("{miss}\n    {reason}"));
    }
    eprintln!("{}", lines.join("\n"));
    assert!(count > 500 && percent >= FLOOR, "{percent:.2} % of {count}");
    documented("w3c-pages.md", &lines);
}
