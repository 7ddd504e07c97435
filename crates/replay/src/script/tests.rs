//! The whole grammar: golden files, and a check that writing and reading are inverses.

use super::*;
use proptest::prelude::*;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn golden_files_of_valid_scripts() {
    crate::golden::check(ROOT, "script/ok", 3, &|input, _| {
        let script = parse(input).unwrap_or_else(|e| panic!("{e}\n{input}"));
        let written = write(&script);
        let again = parse(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(write(&again), written, "what was written is written the same again");
        written
    });
}

#[test]
fn golden_files_of_refused_scripts() {
    crate::golden::check(ROOT, "script/err", 30, &|input, _| match parse(input) {
        Ok(script) => panic!("{input} was read as {script:?}"),
        Err(e) => format!("{e}\n{}", e.hint),
    });
}

#[test]
fn foreign_or_oversized_script_is_refused() {
    let huge = "press a\n".repeat(MAX_BYTES / 8 + 1);
    assert!(parse(&huge).unwrap_err().message.contains("bytes"));
    let deep = "repeat 2 {\n".repeat(MAX_DEPTH + 1);
    assert_eq!(parse(&deep).unwrap_err().line, u32::try_from(MAX_DEPTH).unwrap() + 1);
}

#[test]
fn byte_order_mark_and_crlf_are_accepted() {
    let script = parse("\u{feff}press a\r\nclose\r\n").unwrap();
    assert_eq!(write(&script), "press a\nclose\n");
    assert_eq!(script.body[1].line, 2);
}

#[test]
fn variables_expand_within_their_word() {
    let script = parse("fill id=a \"${A} and ${B:-b c}\"").unwrap();
    let NodeKind::Command(words) = &script.body[0].kind else { panic!("{script:?}") };
    let known = |name: &str| (name == "A").then(|| "x y".to_owned());
    assert_eq!(words[2].fill(known).unwrap(), "x y and b c");
    assert_eq!(words[2].fill(|_| None).unwrap_err().name, "A");
}

fn template() -> impl Strategy<Value = Template> {
    let text = prop_oneof![".{0,12}", "[ -~]{0,12}", Just("${A}".to_owned()), Just("\\".to_owned())];
    let name = "[A-Z_][A-Z0-9_]{0,6}";
    let default = proptest::option::of(".{0,8}");
    let part = prop_oneof![
        3 => text.prop_map(TemplatePart::Text),
        1 => (name, default).prop_map(|(name, default)| TemplatePart::Variable { name, default }),
    ];
    proptest::collection::vec(part, 0..4).prop_map(Template::new)
}

/// Generates words that are not pinned refs: pins do not survive writing.
fn word() -> impl Strategy<Value = Template> {
    template().prop_filter("a pin", |t| t.as_text().is_none_or(|text| stickpin_refs::strip(text) == text))
}

fn command() -> impl Strategy<Value = NodeKind> {
    ("[a-z]{6,9}", proptest::collection::vec(word(), 0..4)).prop_map(|(name, words)| {
        NodeKind::Command(std::iter::once(Template::text(format!("x{name}"))).chain(words).collect())
    })
}

fn body() -> impl Strategy<Value = Vec<Node>> {
    let node = |kind| Node { line: 0, kind };
    let leaf = prop_oneof![
        4 => command(),
        1 => Just(NodeKind::Blank),
        1 => "[!-~]([ -~]{0,20}[!-~])?".prop_map(NodeKind::Comment),
        1 => (word(), env()).prop_map(|(file, env)| NodeKind::Include { file, env }),
    ];
    let nodes = proptest::collection::vec(leaf.prop_map(node), 0..6);
    nodes.prop_recursive(3, 24, 4, move |inner| {
        let times = 1..=MAX_TIMES;
        let block = prop_oneof![
            (times.clone(), inner.clone())
                .prop_map(|(times, body)| NodeKind::Block(Block::Retry(times), body)),
            (times, inner.clone()).prop_map(|(times, body)| NodeKind::Block(Block::Repeat(times), body)),
            (asked(), word(), inner.clone())
                .prop_map(|(asked, target, body)| NodeKind::Block(Block::If(asked, target), body)),
        ];
        (inner, proptest::collection::vec(block.prop_map(node), 0..3)).prop_map(|(mut body, blocks)| {
            body.extend(blocks);
            body
        })
    })
}

fn env() -> impl Strategy<Value = Vec<(String, Template)>> {
    let pairs = proptest::collection::btree_map("[B-Z_][A-Z0-9_]{0,6}", template(), 0..3);
    pairs.prop_map(|pairs| pairs.into_iter().collect())
}

fn asked() -> impl Strategy<Value = Visibility> {
    prop_oneof![Just(Visibility::Visible), Just(Visibility::Hidden)]
}

fn script() -> impl Strategy<Value = Script> {
    let context = proptest::collection::btree_map("[a-z]{3,6}", ".{0,8}", 0..3)
        .prop_filter("keys with a form", |c| !c.contains_key("timeout") && !c.contains_key("retries"));
    (context, env(), body()).prop_map(|(context, env, body)| Script {
        context: context.into_iter().collect(),
        env,
        body,
    })
}

/// Removes line numbers, which a script that was not read does not have.
fn without_lines(mut nodes: Vec<Node>) -> Vec<Node> {
    for node in &mut nodes {
        node.line = 0;
        if let NodeKind::Block(_, body) = &mut node.kind {
            *body = without_lines(std::mem::take(body));
        }
    }
    nodes
}

proptest! {
    #[test]
    fn written_script_reads_back(script in script()) {
        let text = write(&script);
        let mut again = parse(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        again.body = without_lines(again.body);
        prop_assert_eq!(again, script, "{}", text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[ -~\\n\\t\\r\u{80}-\u{2fff}]{0,80}") {
        let _reads_or_says_why = parse(&text);
    }
}
