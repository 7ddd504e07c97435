//! Selectors as a whole: golden files, the inverse of formatting, and matches.

use super::{Alternative, Compare, Flag, Key, Selector, Term, nearest, reduce};
use crate::{NodeId, Role, Tree, testing};
use proptest::prelude::*;
use std::num::NonZeroU32;

#[test]
fn golden_files_of_valid_selectors() {
    crate::golden::check(env!("CARGO_MANIFEST_DIR"), "selectors/ok", 12, &|input, _| {
        let input = input.trim_end_matches('\n');
        let selector: Selector = input.parse().expect("it is in the folder ok");
        let again: Selector = selector.to_string().parse().expect("what is printed can be read");
        assert_eq!(again, selector);
        let css: String = selector.css().iter().map(|c| format!("the device answers: {c}\n")).collect();
        let kind = if Selector::is_selector(input) { "a selector" } else { "plain text for find" };
        format!("{selector}\n{kind}\n{css}")
    });
}

#[test]
fn golden_files_of_invalid_selectors() {
    crate::golden::check(env!("CARGO_MANIFEST_DIR"), "selectors/err", 20, &|input, _| {
        let input = input.trim_end_matches('\n');
        let error = input.parse::<Selector>().expect_err("it is in the folder err");
        assert!(!Selector::is_selector(input));
        let marked = input.get(error.span.clone()).expect("a span of the input on character boundaries");
        format!("{error}\nat {:?} {}\nhint: {}\n", error.span, crate::quote(marked), error.hint)
    });
}

#[test]
fn plain_text_is_not_a_selector() {
    for text in
        ["Save", "checked", "\"Save\"", "a=b", "1 + 1 = 2", "", "Total: 5 (incl.)", "in (a)", "x || y"]
    {
        assert!(!Selector::is_selector(text), "{text}");
    }
    for text in
        ["text=Save", "checked=true", "in(role=list)", "role=button \"Save\"", "id=a || id=b", "css=\"a\""]
    {
        assert!(Selector::is_selector(text), "{text}");
    }
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9/_.-]{1,8}", "\\PC{0,12}", any::<String>()]
}

fn term() -> impl Strategy<Value = Term> {
    let key = prop::sample::select(Key::ALL).prop_filter("a role is a term of its own", |k| *k != Key::Role);
    let leaf = prop_oneof![
        prop::sample::select(Role::ALL).prop_map(Term::Role),
        (key, value()).prop_map(|(key, value)| Term::Has { key, compare: Compare::Equals, value }),
        (prop::sample::select(Key::ALL), value()).prop_map(|(key, value)| Term::Has {
            key,
            compare: Compare::Contains,
            value
        }),
        (
            prop::sample::select(Key::ALL),
            prop::sample::select(vec![Compare::StartsWith, Compare::EndsWith]),
            value()
        )
            .prop_map(|(key, compare, value)| Term::Has { key, compare, value }),
        (prop::sample::select(Flag::ALL), any::<bool>()).prop_map(|(flag, wanted)| Term::Is { flag, wanted }),
        value().prop_map(Term::Css),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop::collection::vec(alternative(inner), 1..3)
            .prop_map(|alternatives| Term::In(Selector { alternatives }))
    })
}

fn alternative(term: impl Strategy<Value = Term>) -> impl Strategy<Value = Alternative> {
    let nth = prop::option::of(1..500_u32).prop_map(|n| n.and_then(NonZeroU32::new));
    (prop::collection::vec(term, 0..4), nth)
        .prop_filter("not empty", |(terms, nth)| !terms.is_empty() || nth.is_some())
        .prop_map(|(terms, nth)| Alternative { terms, nth })
}

proptest! {
    #[test]
    fn formatting_and_parsing_are_inverses(
        alternatives in prop::collection::vec(alternative(term()), 1..4)
    ) {
        let selector = Selector { alternatives };
        let text = selector.to_string();
        prop_assert_eq!(text.parse::<Selector>(), Ok(selector), "{}", text);
    }

    #[test]
    fn no_input_panics_and_every_span_is_inside(
        text in prop_oneof![any::<String>(), "[a-z=~\"()|\\\\ é{}]{0,30}", "(role|text|in\\(|nth|=|\"|\\)|\\|\\| ){0,12}"]
    ) {
        if let Err(error) = text.parse::<Selector>() {
            prop_assert!(text.get(error.span.clone()).is_some());
            prop_assert!(!error.hint.is_empty());
        }
    }

    #[test]
    fn a_quoted_name_can_be_copied_into_a_selector(name in "\\PC{0,40}|[\\x00-\\x20\"\\\\\u{202e}a]{0,20}") {
        let expected = Term::Has { key: Key::Label, compare: Compare::Equals, value: name.clone() };
        let selector: Selector = format!("label={}", crate::quote(&name)).parse().expect("quoting is parsed");
        prop_assert_eq!(&selector.alternatives[0].terms[0], &expected);
    }
}

const PAGE: &str = r#"
page "Shop" http://h.example/shop?page=2
  navigation "Main"
    link "Cart"* href=/cart #10
    link "Elsewhere"* href=http://other.example/cart #11
  main
    heading "Offers"* level=1 #20
    paragraph #21
      text "Only"
      strong #22
        text "three"
      text "left today"
    list #30
      listitem #31
        clickable #32
          button "Buy"* id=buy-1 #33
      listitem #41
        button "Buy"* data-testid=buy-2 disabled #43
    label #50
      text "Email"
    textbox "Email" placeholder="you@host" value="a@b" #51
    textbox "Note" value="" readonly #52
    textbox "Pin" value="secret" protected #53
    checkbox "Gift" checked #54
    checkbox "Wrap" #55
    button "Hide" hidden #56
    button "Menu" expandable #57
    button #58
      generic #59
        text "Save all"
  dialog "Delete?" #60
    button "Buy"* #61
    group #62
      text "sure"
"#;

/// Returns the handles of the matches.
fn ids(tree: &Tree, found: &[NodeId]) -> Vec<u64> {
    found.iter().map(|&id| tree.node(id).address().map_or(0, |a| a.id)).collect()
}

#[test]
fn each_term_matches_its_condition() {
    let tree = testing::tree(PAGE);
    for (selector, expected) in [
        ("role=heading", vec![20]),
        ("id=buy-1", vec![33]),
        ("id=buy-2", vec![43]),
        ("id~=BUY", vec![33, 43]),
        ("role=button label=Buy", vec![33, 43, 61]),
        ("role=button label=buy", vec![]),
        ("role=button label~=bU", vec![33, 43, 61]),
        ("role=button \"Buy\" enabled", vec![33, 61]),
        ("role=button \"Buy\" nth=2", vec![43]),
        ("text=Buy nth=3", vec![61]),
        ("text=Buy nth=4", vec![]),
        ("role=button in(role=dialog)", vec![61]),
        ("in(role=dialog)", vec![61, 62]),
        ("role=button in(role=list in(role=main))", vec![33, 43]),
        ("role=slider || id=buy-2 || id=buy-1", vec![43]),
        ("value=a@b", vec![51]),
        ("value=\"\" editable", vec![]),
        ("value=\"\" role=textbox", vec![52]),
        ("placeholder=you@host", vec![51]),
        ("url=/cart", vec![10]),
        ("url=http://h.example/cart", vec![10]),
        ("url~=other", vec![11]),
        ("url~=page=2 role=heading", vec![20]),
        ("window=Shop role=heading", vec![20]),
        ("app=Shop", vec![]),
        ("checked", vec![54]),
        ("checked=false", vec![55]),
        ("expanded=false", vec![57]),
        ("role=button hidden", vec![56]),
        ("role=textbox editable", vec![51, 53]),
        // Text that spans several leaves, and the smallest element that contains it.
        ("text=\"Only three left today\"", vec![21]),
        ("text=\"Only  three\nleft today\"", vec![21]),
        ("text~=\"THREE LEFT\"", vec![21]),
        ("text^=\"Only three\"", vec![21]),
        ("text^=three", vec![22]),
        ("text^=only", vec![]),
        ("text$=\"left today\"", vec![21]),
        ("text$=Only", vec![]),
        ("id^=buy", vec![33, 43]),
        ("id$=-2", vec![43]),
        ("role=button label^=B", vec![33, 43, 61]),
        ("role=button label$=B", vec![]),
        ("text=three", vec![22]),
        ("text=\"Only three\"", vec![]),
        ("text=\"Save all\"", vec![59]),
        ("text=\"Saveall\"", vec![]),
        ("text=Email", vec![50, 51]),
        ("text=\"\"", vec![]),
        // The title of the page is not an element on it.
        ("label=Shop", vec![]),
        ("role=document label=Shop", vec![1]),
        ("value~=secret", vec![]),
        ("text=secret", vec![]),
    ] {
        let parsed: Selector = selector.parse().expect(selector);
        assert_eq!(ids(&tree, &parsed.matches(&tree)), expected, "{selector}");
    }
    let all = "role=text".parse::<Selector>().expect("a role").matches(&tree);
    assert!(all.len() > 5 && all.iter().all(|&id| tree.node(id).is_text()));
}

#[test]
fn text_after_a_rejected_occurrence_is_found() {
    // `xa a` contains `aa` only without its white space; `a` and the next leaf contain it.
    let page = "page \"P\" http://h/\n  paragraph #2\n    text \"xa a\"\n    emphasis #3\n      text \"a\"\n";
    let tree = testing::tree(page);
    let matches =
        |selector: &str| ids(&tree, &selector.parse::<Selector>().expect("a selector").matches(&tree));
    assert_eq!(matches("text~=aa"), [2]);
    assert_eq!(matches("text~=xaa"), []);
}

#[test]
fn css_terms_use_the_device_answers() {
    let tree = testing::tree(PAGE);
    let selector: Selector = "css=\"li button\" enabled || css=\"x\"".parse().expect("a selector");
    assert_eq!(selector.css(), ["li button", "x"]);
    assert_eq!(selector.matches(&tree), []);
    let answers = |css: &str, id: NodeId| {
        css == "li button" && [33, 43].contains(&tree.node(id).address().map_or(0, |a| a.id))
    };
    assert_eq!(ids(&tree, &selector.matches_with(&tree, &answers)), [33]);
}

#[test]
fn nested_matches_reduce_to_one() {
    let found = |page: &str, selector: &str| {
        let tree = testing::tree(page);
        let matches = selector.parse::<Selector>().expect("a selector").matches(&tree);
        ids(&tree, &reduce(&tree, &matches))
    };
    // A wrapper around one control, a part of a control, a label next to its field.
    let wrapped = "page \"P\" http://h/\n  listitem \"Go\" #2\n    clickable \"Go\" #3\n      button \"Go\"* #4\n        img \"Go\" #5\n";
    assert_eq!(found(wrapped, "label=Go"), [4]);
    assert_eq!(found(PAGE, "text=Email"), [51]);
    assert_eq!(found(PAGE, "text=\"Save all\""), [59]);
    // A wrapper around two controls is not the same element as either.
    let two = "page \"P\" http://h/\n  listitem \"Go\" #2\n    button \"Go\"* #4\n    button \"Stop\"* #5\n";
    assert_eq!(found(two, "label=Go"), [2, 4]);
    let row = "page \"P\" http://h/\n  row \"Ann Mail 1\" name-from-content #2\n    cell \"Ann\" #3\n    cell \"Mail 1\" #4\n";
    assert_eq!(found(row, "text~=\"mail 1\""), [4]);
    // Two rows are two elements, and so are a link and the button inside the link.
    assert_eq!(found(PAGE, "label=Buy"), [33, 43, 61]);
    let nested = "page \"P\" http://h/\n  link \"Go\" #2\n    button \"Go\" #3\n";
    assert_eq!(found(nested, "label=Go"), [2, 3]);
    // Several labels without their field each remain.
    let labels = "page \"P\" http://h/\n  label #2\n    text \"Name\"\n  label #3\n    text \"Name\"\n";
    assert_eq!(found(labels, "text=Name"), [2, 3]);
}

#[test]
fn nearest_elements_by_text_are_suggested() {
    let tree = testing::tree(PAGE);
    let near = |selector: &str| {
        let selector: Selector = selector.parse().expect("a selector");
        ids(&tree, &nearest(&tree, &selector, 3))
    };
    assert_eq!(near("role=button \"Save al\"")[0], 59);
    assert_eq!(near("role=link label=Carts")[0], 10);
    assert_eq!(near("role=textbox label=email")[0], 51);
    assert_eq!(near("label=\"buy now\"").len(), 3);
    assert_eq!(near("label=zzzzzz"), [] as [u64; 0]);
    assert_eq!(near("role=slider"), [] as [u64; 0]);
    // An invisible element is no help.
    assert!(!near("label=Hide").contains(&56));
}

#[test]
fn text_matches_as_a_reader_types_it() {
    let tree = testing::tree(
        "page \"P\" http://p.test/ scope=1\n  paragraph #2\n    text \"10\u{a0}000\u{a0} of them\"\n  paragraph #3\n    text \"Ver\u{ad}fassung\"\n  button \"Save\u{a0}all\" #4\n",
    );
    for (query, id) in
        [("10 000 of", 2), ("10\u{a0}000", 2), ("verfassung", 3), ("Ver\u{ad}fassung", 3), ("save all", 4)]
    {
        let found = Selector::containing(query).matches(&tree);
        let found: Vec<_> = found.iter().filter_map(|&n| tree.node(n).address()).map(|h| h.id).collect();
        assert_eq!(found, [id], "{query:?}");
    }
    let whole: Selector = "role=button \"Save all\"".parse().unwrap();
    assert_eq!(whole.matches(&tree).len(), 1);
}
