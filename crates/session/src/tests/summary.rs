//! Summaries of calls: one case per rule, and properties that hold for any input.

use crate::log::Redactor;
use crate::{summarize, summarize_text};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// The argument `password` is a secret, and so is the word `hunter2`.
struct Words;

impl Redactor for Words {
    fn is_secret(&self, argument: &str) -> bool {
        argument == "password"
    }

    fn redact(&self, text: &mut String) {
        *text = text.replace("hunter2", "•••");
    }
}

fn of(input: &Value) -> String {
    summarize(input.as_object().expect("an object"), &Words)
}

#[test]
fn values_are_shown_by_their_type_in_the_given_order() {
    let input = json!({
        "target": "@e3", "count": 2, "scale": 1.5, "force": true, "of": null, "box": {"x": [1, "a"]},
    });
    assert_eq!(of(&input), r#"target="@e3", count=2, scale=1.5, force=true, of=null, box={"x":[1,"a"]}"#);
    assert_eq!(of(&json!({})), "");
}

#[test]
fn strings_are_escaped_like_the_text_of_an_app() {
    let input = json!({"text": "say \"hi\"\\\n\u{1b}[2J\u{202e}x"});
    assert_eq!(of(&input), r#"text="say \"hi\"\\\n\u{1b}[2J\u{202e}x""#);
    let nested = json!({"list": ["\u{202e}", "a\u{7f}\n"]});
    assert_eq!(of(&nested), r#"list=["\u{202e}","a\u{7f}\n"]"#);
    assert_eq!(of(&json!({"a b\n=\"": 1})), r#""a b\n=\""=1"#);
}

#[test]
fn long_value_is_cut_at_a_character_and_inside_its_quotes() {
    let exact = "é".repeat(40);
    assert_eq!(of(&json!({"text": exact})), format!("text=\"{exact}\""));
    assert_eq!(of(&json!({"text": format!("{exact}日")})), format!("text=\"{exact}…\""));
    // An escape is not split.
    let text = format!("{}\u{202e}", "x".repeat(39));
    assert_eq!(of(&json!({"text": text})), format!("text=\"{}…\"", "x".repeat(39)));
    let steps = json!({"steps": [{"command": "press", "input": {"target": "role=button"}}]});
    assert_eq!(of(&steps), r#"steps=[{"command":"press","input":{"target":"r…""#);
    let numbers = json!({"list": [1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000, 7]});
    assert_eq!(of(&numbers), "list=[1000000,1000000,1000000,1000000,1000000…");
}

#[test]
fn cut_within_a_nested_escape_drops_the_escape() {
    let list = json!({"list": [format!("{}\"b", "a".repeat(37))]});
    assert_eq!(of(&list), format!("list=[\"{}…\"", "a".repeat(37)));
}

#[test]
fn long_summary_is_cut_between_pairs() {
    let text = "x".repeat(30);
    let input = json!({"a": text, "b": text, "c": text, "d": 1});
    assert_eq!(of(&input), format!("a=\"{text}\", b=\"{text}\" … +2"));
    let name = "n".repeat(50);
    let long = Map::from_iter([(name, json!("é".repeat(50))), ("b".to_owned(), json!(1))]);
    let summary = summarize(&long, &Words);
    assert_eq!(summary, format!("\"{}…\"=\"{}…\" … +1", "n".repeat(30), "é".repeat(40)));
}

#[test]
fn secrets_are_masked() {
    let input = json!({
        "password": "other", "text": "it is hunter2", "list": [{"password": 12, "hunter2": "hunter2"}],
    });
    assert_eq!(of(&input), r#"password="•••", text="it is •••", list=[{"password":"•••","•••":"•••"}]"#);
    assert_eq!(of(&json!({"password": 1234, "hunter2": 1})), r#"password="•••", "•••"=1"#);
    // A secret is replaced before the value is cut.
    let input = json!({"text": format!("{}hunter2", "x".repeat(38))});
    assert_eq!(of(&input), format!("text=\"{}••…\"", "x".repeat(38)));
}

#[test]
fn text_that_is_no_object_is_shown_raw() {
    let of = |text: &str| summarize_text(text, &Words);
    assert_eq!(of(r#"{"b": 1, "a": "x"}"#), r#"b=1, a="x""#);
    assert_eq!(of(r#"["@e1", 2]"#), r#"["@e1", 2]"#);
    assert_eq!(of("press @e1\n\u{1b}[2J"), r"press @e1\n\u{1b}[2J");
    assert_eq!(of(&"é".repeat(80)), "é".repeat(80));
    assert_eq!(of(&"é".repeat(81)), format!("{}…", "é".repeat(80)));
    // The rest was never received.
    assert_eq!(of(r#"{"target": "@e1", "text": "hel"#), r#"{"target": "@e1", "text": "hel…""#);
    assert_eq!(of(r#"{"text": "hel\"#), r#"{"text": "hel…""#);
}

#[test]
fn raw_text_ends_at_the_name_of_a_secret() {
    let of = |text: &str| summarize_text(text, &Words);
    assert_eq!(of(r#"{"target": "@e1", "password": "oth"#), r#"{"target": "@e1", "password":•••"#);
    assert_eq!(of("password=other now"), "password=•••");
    assert_eq!(of("{'password' : 'oth"), "{'password' :•••");
    assert_eq!(of(r#"{"a": "the password is", "b": "hunter2"#), r#"{"a": "the password is", "b": "•••…""#);
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![any::<String>(), "[\"\\\\a\u{202e}\n]{0,60}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec(("[a-z\"\\\\]{0,40}", inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Returns whether a text ends within quotes. A backslash outside quotes is an ordinary character.
fn ends_in_quotes(text: &str) -> bool {
    let (mut inside, mut chars) = (false, text.chars());
    while let Some(c) = chars.next() {
        match c {
            '"' => inside = !inside,
            '\\' if inside => drop(chars.next()),
            _ => {}
        }
    }
    inside
}

fn check(summary: &str) -> Result<(), TestCaseError> {
    prop_assert!(!summary.chars().any(stickpin_tree::is_unsafe), "{summary:?}");
    prop_assert!(!ends_in_quotes(summary), "{summary:?}");
    let shown = summary.rsplit_once(" … +").filter(|(_, count)| count.parse::<usize>().is_ok());
    let shown = shown.map_or(summary, |(shown, _)| shown);
    // The ellipsis that marks a cut, and the closing quote of the value.
    prop_assert!(shown.trim_end_matches('"').trim_end_matches('…').chars().count() <= 80, "{summary:?}");
    Ok(())
}

proptest! {
    #[test]
    fn summary_is_one_short_line_with_closed_quotes(
        input in proptest::collection::vec(("\\PC{0,40}|[a-z]{1,8}", any_value()), 0..8),
    ) {
        let input: Map<String, Value> = input.into_iter().collect();
        check(&summarize(&input, &Words))?;
    }

    #[test]
    fn summary_of_a_cut_input_is_one_short_line_with_closed_quotes(value in any_value(), at in 0..200_usize) {
        let text = value.to_string();
        let at = text.floor_char_boundary(at);
        check(&summarize_text(&text[..at], &Words))?;
    }

    #[test]
    fn summary_of_any_text_is_one_short_line_with_closed_quotes(text in any::<String>()) {
        check(&summarize_text(&text, &Words))?;
    }
}
