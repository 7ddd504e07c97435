//! Test pages in `fixtures/web/cases`: `data-expect` is what a capture must report for its element.
//! The browser's own tree must agree, except where `data-chrome` gives a reason. With `either`, the
//! browser's result depends on when the browser first computes it, as for two elements that own
//! each other; on a busy machine, this happens while the page is still being parsed.

use super::harness::{AxNode, Page, documented, pages, root, serve_folder};
use hashbrown::{HashMap, HashSet};
use serde::Deserialize;
use std::collections::BTreeMap;
use stickpin_tree::{Attr, NodeRef, Role, States};

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
            // A form resolves property names to its fields first.
            const expect = Element.prototype.getAttribute.call(e, 'data-expect');
            if (expect !== null) found.push({ id: __stickpin.idOf(e), expect, html: e.outerHTML.slice(0, 120) });
            if (e.shadowRoot) look(e.shadowRoot);
        }
    };
    look(document);
    return found;
})()";

/// The states that pages expect by name, in output order.
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

/// Formats a node in the notation of `data-expect`.
fn line(node: NodeRef<'_>) -> String {
    let mut line = format!("{} \"{}\"", node.role(), node.name());
    for (state, word) in NAMED {
        if node.is(state) {
            line = format!("{line} {word}");
        }
        // The opposite of a state that can be on or off.
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

/// Sorts the states of a line: `disabled haspopup` equals `haspopup disabled`.
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
    let (mut wrong, mut count, mut differ) = (Vec::new(), 0, Vec::new());
    let mut compared: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
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
        let oracle = page.oracle().await;
        for ax in &oracle {
            let ours = by_id.get(&ax.id);
            // An element that is only clickable in our tree has no role in the browser's. Skip an
            // element that is missing from our tree and has neither a role nor a name in the
            // browser's.
            let role =
                ours.map_or("", |n| if n.role() == Role::Clickable { "generic" } else { n.role().name() });
            if ours.is_none() && ax.role == "generic" && ax.name.is_empty() {
                continue;
            }
            if ax.reason.as_deref() == Some("either") {
                continue;
            }
            let mut compare = |what: &str, browser: &str, ours: &str| {
                let count = compared.entry(what.to_owned()).or_insert((0_u32, 0_u32));
                count.1 += 1;
                if browser == ours {
                    count.0 += 1;
                } else {
                    if let Some(reason) = &ax.reason {
                        *reasons.entry(reason.clone()).or_insert(0) += 1;
                    }
                    let reason = ax.reason.as_ref().map(|r| format!("  ({r})")).unwrap_or_default();
                    let html = &ax.html;
                    let text =
                        format!("{name}: {html}\n  browser {what} {browser}\n  ours    {ours}{reason}");
                    differ.push((ax.reason.is_some(), text));
                }
            };
            let name_of = ours.map_or("", |n| n.name());
            let line = |role: &str, name: &str| format!("{role} {name:?}");
            compare("role and name", &line(&ax.role, &ax.name), &line(role, name_of));
            let Some(ours) = ours else { continue };
            compare("inside of", &above(&oracle, ax, &by_id), &above_ours(&oracle, *ours));
            if ours.role().is_input() && !matches!(ours.role(), Role::Checkbox | Role::Radio | Role::Switch) {
                compare("value", &ax.value, ours.value());
            }
            // An element without a role is described by its text; a description that repeats the
            // name is skipped.
            if ours.role() != Role::Generic {
                let browser = if ax.description == ax.name { "" } else { &ax.description };
                compare("description", browser, ours.attr(Attr::Description).unwrap_or(""));
            }
            if ours.role() == Role::Heading {
                compare("level", &ax.level.to_string(), &ours.level().to_string());
            }
        }
        // The order of the elements that both trees contain.
        let browser: Vec<u64> = oracle
            .iter()
            .filter(|ax| ax.reason.is_none() && by_id.contains_key(&ax.id))
            .map(|ax| ax.id)
            .collect();
        let ids: HashSet<u64> = browser.iter().copied().collect();
        let own: Vec<u64> =
            tree.nodes().filter_map(|n| Some(n.handle()?.id)).filter(|id| ids.contains(id)).collect();
        let same = browser.iter().zip(&own).take_while(|(a, b)| a == b).count();
        let count = compared.entry("order".to_owned()).or_insert((0, 0));
        count.0 += u32::try_from(same).unwrap();
        count.1 += u32::try_from(browser.len()).unwrap();
        if same < browser.len() {
            let html = oracle.iter().find(|ax| ax.id == browser[same]).map_or("", |ax| &ax.html);
            differ.push((false, format!("{name}: {html}\n  comes elsewhere in ours")));
        }
    }
    for (_, text) in &differ {
        eprintln!("{text}");
    }
    let figures: Vec<_> =
        compared.iter().map(|(what, (same, of))| format!("{what} {same} of {of}")).collect();
    eprintln!(
        "{count} expectations hold, but for {}; the browser agrees: {}",
        wrong.len(),
        figures.join(", ")
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 700, "only {count} expectations were found");
    let unexplained: Vec<_> =
        differ.iter().filter(|(known, _)| !known).map(|(_, text)| text.as_str()).collect();
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
    documented("reading.md", &reasons.iter().map(|(why, n)| format!("{n:3}  {why}")).collect::<Vec<_>>());
}

/// Returns the nearest ancestor in the browser's tree for which both trees have a role.
fn above(oracle: &[AxNode], node: &AxNode, ours: &HashMap<u64, NodeRef<'_>>) -> String {
    let mut at = node.above;
    while let Some(place) = at {
        let ax = &oracle[place];
        if ax.role != "generic" && ours.get(&ax.id).is_some_and(|n| has_role(*n)) {
            return ax.id.to_string();
        }
        at = ax.above;
    }
    String::new()
}

/// Returns the nearest named ancestor in our tree.
fn above_ours(oracle: &[AxNode], node: NodeRef<'_>) -> String {
    let mut at = node.parent();
    while let Some(parent) = at {
        if let Some(handle) = parent.handle()
            && has_role(parent)
            && oracle.iter().any(|ax| ax.id == handle.id && ax.role != "generic")
        {
            return handle.id.to_string();
        }
        at = parent.parent();
    }
    String::new()
}

fn has_role(node: NodeRef<'_>) -> bool {
    !matches!(node.role(), Role::Generic | Role::Clickable)
}
