//! Selectors as clients and scripts write them.

use stickpin_fuzz::{Target, run};
use stickpin_tree::testing::tree;
use stickpin_tree::{Selector, nearest, reduce};

const PIECES: &[&str] = &[
    "role=",
    "text=",
    "label=",
    "id=",
    "value~=",
    "=",
    "~=",
    "\"",
    "\\",
    "\\\"",
    "(",
    ")",
    "in(",
    "in(in(in(",
    "has(",
    "near(",
    "nth=0",
    "nth=1",
    "nth=-1",
    "nth=18446744073709551616",
    "||",
    " || ",
    ">>",
    "css=",
    "css=\"#a\"",
    "checked",
    "!",
    " ",
    "\t",
    "\n",
    "é",
    "\u{202e}",
    "{",
    "}",
    "${A}",
    "@e1",
];

const PAGE: &str = r#"
page "Shop" http://h.example/shop?page=2
  navigation "Main"
    link "Cart"* href=/cart #10
  main
    heading "Offers"* level=1 #20
    list #30
      listitem #31
        text "Lamp"
        button "Add"* #32
      listitem #33
        text "Lampe é"
        button "Add"* #34
    checkbox "Agree"* #40
"#;

#[test]
fn selectors() {
    let page = tree(PAGE);
    run(Target {
        name: "selectors",
        seeds: Vec::new(),
        pieces: PIECES,
        read: &|bytes, _| {
            let text = &*String::from_utf8_lossy(bytes);
            match text.parse::<Selector>() {
                Ok(selector) => {
                    let written = selector.to_string();
                    match written.parse::<Selector>() {
                        Ok(again) if again == selector => {}
                        other => return Err(format!("written as {written:?} it is {other:?}")),
                    }
                    let found = selector.matches(&page);
                    let kept = reduce(&page, &found);
                    if !kept.iter().all(|node| found.contains(node)) {
                        return Err(format!("{kept:?} of {found:?}"));
                    }
                    for (_, relaxed) in selector.relaxed() {
                        drop(relaxed.matches(&page));
                    }
                    drop(nearest(&page, &selector, 3));
                    Ok(true)
                }
                Err(e) if text.get(e.span.clone()).is_none() || e.hint.is_empty() => Err(format!("{e:?}")),
                Err(_) => Ok(false),
            }
        },
    });
}
