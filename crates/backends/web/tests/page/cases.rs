//! Pages of ours in `fixtures/web/cases`: what stands in `data-expect` is what a capture must say of that element,
//! and the browser's own tree must agree, but where `data-chrome` says why not.

use crate::harness::{Page, pages, root, serve_folder};
use hashbrown::HashMap;
use serde::Deserialize;
use stickpin_tree::{NodeRef, Role, States};

#[derive(Deserialize)]
struct Expected {
    id: u64,
    expect: String,
    html: String,
}

const EXPECTED: &str = "(() => {
    const found = [];
    const look = root => {
        for (const e of root.querySelectorAll('*')) {
            // A form answers to the names of its fields first.
            const expect = Element.prototype.getAttribute.call(e, 'data-expect');
            if (expect !== null) found.push({ id: __stickpin.idOf(e), expect, html: e.outerHTML.slice(0, 120) });
            if (e.shadowRoot) look(e.shadowRoot);
        }
    };
    look(document);
    return found;
})()";

/// The states that pages expect by name, in the order in which they stand.
const NAMED: [(States, &str); 17] = [
    (States::DISABLED, "disabled"),
    (States::CHECKED, "checked"),
    (States::MIXED, "mixed"),
    (States::EXPANDED, "expanded"),
    (States::SELECTED, "selected"),
    (States::PRESSED, "pressed"),
    (States::REQUIRED, "required"),
    (States::READONLY, "readonly"),
    (States::FOCUSED, "focused"),
    (States::INVALID, "invalid"),
    (States::MULTISELECTABLE, "multiselectable"),
    (States::MODAL, "modal"),
    (States::HIDDEN, "hidden"),
    (States::PROTECTED, "protected"),
    (States::SCROLLABLE, "scrollable"),
    (States::BUSY, "busy"),
    (States::HAS_POPUP, "haspopup"),
];

/// A node in the words of `data-expect`.
fn line(node: NodeRef<'_>) -> String {
    let mut line = format!("{} \"{}\"", node.role(), node.name());
    for (state, word) in NAMED {
        if node.is(state) {
            line = format!("{line} {word}");
        }
        // The other side of what can be on or off.
        if state == States::EXPANDED && node.is(States::EXPANDABLE) && !node.is(States::EXPANDED) {
            line += " collapsed";
        }
        if state == States::PRESSED && node.is(States::PRESSABLE) && !node.is(States::PRESSED) {
            line += " unpressed";
        }
    }
    if node.level() > 0 {
        line = format!("{line} level={}", node.level());
    }
    if !node.value().is_empty() {
        line = format!("{line} value=\"{}\"", node.value());
    }
    line
}

/// `disabled haspopup` is `haspopup disabled`.
fn sorted(line: &str) -> Vec<&str> {
    let mut words: Vec<_> = line.split(' ').collect();
    words.sort_unstable();
    words
}

#[tokio::test]
async fn pages_read_as_they_expect_and_as_the_browser_reads_them() {
    let Some(mut page) = Page::start().await else { return };
    let folder = root().join("fixtures/web/cases");
    let site = serve_folder(folder.clone()).await;
    let (mut wrong, mut count, mut differ, mut compared) = (Vec::new(), 0, Vec::new(), 0);
    for file in pages(&folder) {
        let name = file.file_name().unwrap().to_str().unwrap();
        page.open(&format!("{site}/{name}")).await;
        let expected: Vec<Expected> = page.eval(EXPECTED).await.unwrap();
        let tree = page.capture().await;
        let by_id: HashMap<u64, NodeRef<'_>> =
            tree.nodes().filter_map(|n| Some((n.handle()?.id, n))).collect();
        for Expected { id, expect, html } in expected {
            count += 1;
            let got = by_id.get(&id).map_or_else(|| "absent".to_owned(), |n| line(*n));
            if sorted(&got) != sorted(&expect) {
                wrong.push(format!("{name}: {html}\n  expected {expect}\n  got      {got}"));
            }
        }
        for ax in page.oracle().await {
            let ours = by_id.get(&ax.id);
            // What has no role there and is no row of ours, or only a clickable, says nothing.
            let role =
                ours.map_or("", |n| if n.role() == Role::Clickable { "generic" } else { n.role().name() });
            if ours.is_none() && ax.role == "generic" && ax.name.is_empty() {
                continue;
            }
            compared += 1;
            let name_of = ours.map_or("", |n| n.name());
            if (role, name_of) != (ax.role.as_str(), ax.name.as_str()) {
                differ.push((
                    ax.reason.is_some(),
                    format!(
                        "{name}: {}\n  browser {} {:?}\n  ours    {role} {name_of:?}{}",
                        ax.html,
                        ax.role,
                        ax.name,
                        ax.reason.map(|r| format!("  ({r})")).unwrap_or_default(),
                    ),
                ));
            }
        }
    }
    for (_, text) in &differ {
        eprintln!("{text}");
    }
    eprintln!("{count} expectations; the browser agrees on {} of {compared}", compared - differ.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 200, "only {count} expectations were found");
    let unexplained: Vec<_> =
        differ.iter().filter(|(known, _)| !known).map(|(_, text)| text.as_str()).collect();
    assert!(unexplained.len() * 100 <= compared * 2, "{}", unexplained.join("\n"));
}
