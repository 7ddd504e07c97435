//! Words that icon fonts draw as icons: they are not names, but a state that they draw is reported.

use super::harness::{Page, serve};
use stickpin_tree::{Attr, Role, States, Tree};

/// The font family decides, not whether the font has been loaded yet.
const FONT: &str = "<style>@font-face{font-family:'Material Symbols';src:url(data:font/woff2;base64,AA==)}
    i,.icons{font-family:'Material Symbols',sans-serif}
    .before::before{content:'star';font-family:Material Symbols}</style>";

async fn show(page: &mut Page, html: &str) -> Tree {
    let html = format!("<!doctype html><meta charset=utf-8><title>t</title>{html}");
    let site = serve(move |_| Some(("text/html", html.clone().into_bytes()))).await;
    page.open(&format!("{site}/")).await;
    page.capture().await
}

fn told(tree: &Tree) -> Vec<String> {
    let named = tree.nodes().filter(|n| n.attr(Attr::Id).is_some());
    named.map(|n| format!("{} {}", n.attr(Attr::Id).unwrap_or_default(), n.name())).collect()
}

const BODY: &str = "<button id=a><i>delete</i> Remove</button><button id=b><span><i> check_box </i></span>Quick</button>
    <button id=c><i>delete</i></button><button id=d class=icons>menu</button><button id=e title=Bin><i>delete</i></button>
    <label><i>person</i>Name<input id=f></label><a id=g href=#><i>home</i>Home</a>
    <button id=h class=before>Rate</button><button id=j><b>delete</b> it</button><button id=k><i>Not a word</i></button>
    <div id=l role=checkbox aria-checked=false><i>check_box_outline_blank</i></div>";

#[tokio::test]
async fn the_words_of_icons_are_no_names() {
    let Some(mut page) = Page::start().await else { return };
    let tree = show(&mut page, &format!("{FONT}{BODY}")).await;
    let expected = [
        "a Remove",
        "b Quick",
        "c delete",
        "d menu",
        "e Bin",
        "f Name",
        "g Home",
        "h Rate",
        "j delete it",
        "k Not a word",
        "l ",
    ];
    assert_eq!(told(&tree), expected);
    // Without such a font, a person reads the words.
    let tree = show(&mut page, &BODY.replace("<i>", "<i class=plain>")).await;
    assert!(told(&tree)[0].ends_with("delete Remove"), "{:?}", told(&tree));
}

#[tokio::test]
async fn an_icon_outside_of_a_control_is_a_picture() {
    let Some(mut page) = Page::start().await else { return };
    let body = "<table><tr><td>Ada<td><i>done</i></table><button><i>add</i>New</button>";
    let tree = show(&mut page, &format!("{FONT}{body}")).await;
    let images: Vec<&str> = tree.nodes().filter(|n| n.role() == Role::Image).map(|n| n.name()).collect();
    assert_eq!(images, ["done"]);
    let texts: Vec<&str> = tree.nodes().filter(|n| n.is_text()).map(|n| n.name()).collect();
    assert_eq!(texts, ["Ada", "New"]);
}

#[tokio::test]
async fn a_box_is_on_by_what_it_says_and_by_what_it_draws() {
    let Some(mut page) = Page::start().await else { return };
    let body = "<div id=on role=checkbox><i>check_box</i>A</div><div id=off role=checkbox><i>check_box_outline_blank</i>B</div>
        <div id=mixed role=checkbox><i>indeterminate_check_box</i>C</div><div id=radio role=radio><i>radio_button_checked</i>D</div>
        <div id=said role=checkbox aria-checked=false><i>check_box</i>E</div>
        <button id=pressed role=checkbox aria-pressed=true><i>check_box_outline_blank</i>F</button>
        <button id=both role=checkbox aria-checked=false aria-pressed=true>G</button><div id=none role=checkbox>H</div>";
    let tree = show(&mut page, &format!("{FONT}{body}")).await;
    let state = |id: &str| {
        let node = tree.nodes().find(|n| n.attr(Attr::Id) == Some(id)).unwrap();
        assert!(node.is(States::CHECKABLE), "{id}");
        match (node.is(States::CHECKED), node.is(States::MIXED)) {
            (true, false) => "on",
            (false, true) => "mixed",
            (false, false) => "off",
            (true, true) => "both",
        }
    };
    let ids = ["on", "off", "mixed", "radio", "said", "pressed", "both", "none"];
    assert_eq!(ids.map(state), ["on", "off", "mixed", "on", "off", "on", "off", "off"]);
}
