//! Edits preserve all other bytes, and removal undoes insertion.

use super::*;
use proptest::prelude::*;
use serde_json::json;

const JSON: &[&str] = &["mcpServers", "stickpin"];
const TOML: &[&str] = &["mcp_servers", "stickpin"];

fn entry() -> Value {
    json!({ "command": "stickpin", "args": ["mcp"], "env": { "STICKPIN_STATE_DIR": "/s" } })
}

/// Adds the entry, checks that it can be read, removes it, and expects the original bytes.
fn there_and_back(format: Format, pointer: &[&str], text: &str) -> String {
    let added = format.set(text, pointer, &entry()).unwrap_or_else(|e| panic!("{e}: {text:?}"));
    let read = format.read(&added).expect("a document");
    assert_eq!(lookup(&read, pointer), Some(&entry()), "{added}");
    let removed = format.remove(&added, pointer).unwrap_or_else(|e| panic!("{e}: {added:?}"));
    assert_eq!(removed, text, "between: {added}");
    added
}

#[test]
fn json_entry_is_appended_in_the_style_of_the_file() {
    let text = "{\n    \"theme\": \"dark\",\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"} // mine\n    }\n}\n";
    let added = there_and_back(Format::Json, JSON, text);
    let expected = text.replace(
        "} // mine\n",
        "}, // mine\n        \"stickpin\": {\n            \"command\": \"stickpin\",\n            \"args\": [\n                \
         \"mcp\"\n            ],\n            \"env\": {\n                \"STICKPIN_STATE_DIR\": \"/s\"\n            \
         }\n        }\n",
    );
    assert_eq!(added, expected);
}

#[test]
fn json_forms_come_back_byte_for_byte() {
    for text in [
        "{\"mcpServers\":{\"a\":{}}}",
        "{ \"mcpServers\": { \"a\": {} } }",
        "{\"mcpServers\": {}}",
        "{\n  \"mcpServers\": {}\n}\n",
        "{\n  \"mcpServers\": { }\n}\n",
        "{\n  \"mcpServers\": {\n  }\n}",
        "{\n  \"mcpServers\": { // none yet\n  }\n}",
        "{\n  \"mcpServers\": {\n    /* none */\n  },\n}",
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // last\n\t\t// end\n\t}\n}",
        "{\r\n  \"mcpServers\": {\r\n    \"a\": {} // last\r\n    // end\r\n  }\r\n}\r\n",
        "{\n  \"mcpServers\": {\n    \"a\": {} /* x */ , // y\n  },\n  \"z\": 1\n}",
        "\u{feff}{\n  \"mcpServers\": { \"a\": {} } }",
        "// top\n{\n  \"mcpServers\": { \"a\": {} // b\n } }",
        "{\"mcpServers\": {\"a\": {}\n, \"b\": [1,\n2]}}",
    ] {
        there_and_back(Format::Json, JSON, text);
    }
}

#[test]
fn missing_table_is_made_and_stays() {
    let text = "{\n  \"theme\": \"dark\" // mine\n}\n";
    let added = Format::Json.set(text, JSON, &json!({ "command": "stickpin" })).unwrap();
    let expected = "{\n  \"theme\": \"dark\", // mine\n  \"mcpServers\": {\n    \"stickpin\": {\n      \"command\": \"stickpin\"\n    }\n  }\n}\n";
    assert_eq!(added, expected);
    let removed = Format::Json.remove(&added, JSON).unwrap();
    assert_eq!(removed, "{\n  \"theme\": \"dark\", // mine\n  \"mcpServers\": {}\n}\n");
    for empty in ["", " \n", "{}", "{ }"] {
        let added = Format::Json.set(empty, JSON, &entry()).unwrap();
        assert_eq!(lookup(&Format::Json.read(&added).unwrap(), JSON), Some(&entry()), "{added}");
    }
}

#[test]
fn entry_between_neighbours_is_replaced_and_removed() {
    let text = "{\n  \"mcpServers\": {\n    \"a\": {},\n    // ours\n    \"stickpin\": { \"command\": \"old\" },\n    \"b\": {}\n  }\n}\n";
    let replaced = Format::Json.set(text, JSON, &json!({ "command": "new" })).unwrap();
    assert_eq!(replaced, text.replace("{ \"command\": \"old\" }", "{\n      \"command\": \"new\"\n    }"));
    let removed = Format::Json.remove(text, JSON).unwrap();
    assert_eq!(removed, text.replace("\n    \"stickpin\": { \"command\": \"old\" },", ""));
    let first = "{\"mcpServers\": {\"stickpin\": 1, \"b\": 2}}";
    assert_eq!(Format::Json.remove(first, JSON).unwrap(), "{\"mcpServers\": { \"b\": 2}}");
}

#[test]
fn unsuitable_json_is_refused() {
    let set = |text: &str| Format::Json.set(text, JSON, &entry());
    for text in ["{", "[]", "{\"a\": 1 \"b\": 2}", "{'a': 1}", "{a: 1}", "{\"a\": 1} x"] {
        assert!(matches!(set(text), Err(EditError::Unparsable(_))), "{text}");
    }
    assert_eq!(set("{\"mcpServers\": []}"), Err(EditError::NotATable("mcpServers".into())));
    let twice = "{\"mcpServers\": {\"stickpin\": 1, \"stickpin\": 2}}";
    assert_eq!(set(twice), Err(EditError::Duplicate("mcpServers.stickpin".into())));
    assert!(Format::Json.remove(twice, JSON).is_err());
}

#[test]
fn toml_entry_is_appended_as_a_table() {
    let text = "# mine\nmodel = \"x\"\n\n[mcp_servers.other] # theirs\ncommand = 'y'\n";
    let added = there_and_back(Format::Toml, TOML, text);
    let expected = "\n[mcp_servers.stickpin]\ncommand = \"stickpin\"\nargs = [\"mcp\"]\nenv = { STICKPIN_STATE_DIR = \"/s\" }\n";
    assert_eq!(added, text.to_owned() + expected);
}

#[test]
fn toml_forms_come_back_byte_for_byte() {
    for text in [
        "",
        "\n",
        "\n\n",
        "a = 1",
        "a = 1\n\n",
        "a = 1\r\n\r\n[b]\r\nc = 2\r\n",
        "a = 1\r\n[b]\nc = 2",
        "[mcp_servers]\n",
        "[mcp_servers.a]\ncommand = \"x\"\n\n\n# end",
        "mcp_servers.a.command = \"x\"\n",
        "\u{feff}a = 1\n",
        "[[list]]\nx = 1\n[[list]]\nx = 2\n",
        "n = nan\nt = 1979-05-27T07:32:00Z\nf = 1.50\n",
    ] {
        there_and_back(Format::Toml, TOML, text);
    }
}

#[test]
fn toml_entries_of_others_tools_are_removed_too() {
    let inline = "[mcp_servers]\na = { command = \"x\" }\nstickpin = { command = \"stickpin\" } # s\nb = 1\n";
    let expected = inline.replace("stickpin = { command = \"stickpin\" } # s\n", "");
    assert_eq!(Format::Toml.remove(inline, TOML).unwrap(), expected);
    let nested = "[a]\nx = 1\n\n[mcp_servers.stickpin]\ncommand = \"stickpin\"\n[mcp_servers.stickpin.env]\nK = \"v\"\n\n# b\n[b]\n";
    assert_eq!(Format::Toml.remove(nested, TOML).unwrap(), "[a]\nx = 1\n\n# b\n[b]\n");
}

#[test]
fn toml_entry_is_replaced_in_place() {
    let text = "[mcp_servers.stickpin]\ncommand = \"/old\"\nargs = [\n  \"mcp\",\n]\n\n[b]\nx = 1\n";
    let replaced = Format::Toml.set(text, TOML, &json!({ "command": "stickpin" })).unwrap();
    assert_eq!(replaced, "[mcp_servers.stickpin]\ncommand = \"stickpin\"\n\n[b]\nx = 1\n");
}

#[test]
fn unsuitable_toml_is_refused() {
    let set = |text: &str| Format::Toml.set(text, TOML, &entry());
    assert!(matches!(set("a = "), Err(EditError::Unparsable(_))));
    assert_eq!(set("mcp_servers = 1\n"), Err(EditError::NotATable("mcp_servers".into())));
    assert_eq!(set("mcp_servers = { a = 1 }\n"), Err(EditError::Form("mcp_servers".into())));
    let dotted = "[mcp_servers]\nstickpin.command = \"stickpin\"\n";
    assert_eq!(set(dotted), Err(EditError::Form("mcp_servers.stickpin".into())));
    assert!(Format::Toml.remove(dotted, TOML).is_err());
}

/// Generates white space and comments between two JSON tokens.
fn trivia() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => Just(String::new()),
        2 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => "[a-zé… 😀,{}\"]{0,6}".prop_map(|text| format!("/*{text}*/")),
        1 => "[a-zé… 😀,{}\"]{0,6}".prop_map(|text| format!("//{text}\n")),
        1 => "[a-z]{0,6}".prop_map(|text| format!(" //{text}\r\n ")),
    ];
    prop::collection::vec(part, 0..3).prop_map(|parts| parts.concat())
}

fn scalar() -> impl Strategy<Value = String> {
    let text = "[ -~é…😀]{0,8}".prop_map(|text| Value::from(text).to_string());
    prop_oneof![Just("null".to_owned()), Just("-1.50e3".to_owned()), Just("true".to_owned()), text]
}

/// Generates a JSON value with comments and trailing commas.
fn jsonc() -> impl Strategy<Value = String> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        let item = (trivia(), inner.clone(), trivia());
        let array = (prop::collection::vec(item, 0..4), any::<bool>()).prop_map(|(items, trailing)| {
            let last = items.len();
            let items = items.into_iter().enumerate().map(|(at, (before, item, after))| {
                format!("{before}{item}{after}{}", if at + 1 < last || trailing { "," } else { "" })
            });
            format!("[{}]", items.collect::<String>())
        });
        prop_oneof![array, object(inner)]
    })
}

fn object(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let member = (trivia(), trivia(), trivia(), value, trivia());
    (prop::collection::vec(member, 0..4), trivia(), any::<bool>()).prop_map(|(members, end, trailing)| {
        let last = members.len();
        let members = members.into_iter().enumerate().map(|(at, (a, b, c, value, d))| {
            let comma = if at + 1 < last || trailing { "," } else { "" };
            format!("{a}\"key{at}\"{b}:{c}{value}{d}{comma}")
        });
        format!("{{{}{end}}}", members.collect::<String>())
    })
}

fn json_file() -> impl Strategy<Value = String> {
    let parts = (trivia(), trivia(), object(jsonc()), trivia(), jsonc(), trivia());
    (parts, any::<bool>()).prop_map(|((top, a, servers, b, other, end), first)| {
        let servers = format!("\"mcpServers\":{servers}");
        match first {
            true => format!("{top}{{{a}{servers},{b}\"other\":{other}{end}}}\n"),
            false => format!("{top}{{{a}\"other\":{other},{b}{servers}{end}}}"),
        }
    })
}

fn toml_file() -> impl Strategy<Value = String> {
    let newline = prop_oneof![3 => Just("\n"), 1 => Just("\r\n")];
    let value = prop_oneof![
        Just("1".to_owned()),
        Just("[ 1, # one\n 2,\n]".to_owned()),
        Just("'''\nlines\n'''".to_owned()),
        Just("{ a.b = 1, c = \"#\" }".to_owned()),
        Just("inf".to_owned()),
        Just("07:32:00".to_owned()),
    ];
    let line = prop_oneof![
        3 => (Just("kv"), value.clone()),
        1 => (Just("dotted"), value),
        1 => (Just("comment"), "[a-zé😀 \\[\\]=]{0,8}"),
        1 => (Just("blank"), " {0,2}"),
        1 => (Just("table"), "( # c)?"),
        1 => (Just("server"), "( # c)?"),
        1 => (Just("list"), "( # c)?"),
    ];
    let lines = prop::collection::vec((line, newline), 0..12);
    (lines, any::<bool>()).prop_map(|(lines, ended)| {
        let mut text = String::new();
        for (at, ((kind, part), newline)) in lines.iter().enumerate() {
            text += &match *kind {
                "kv" => format!("k{at} = {part}"),
                "dotted" => format!("d{at} . x = {part}"),
                "comment" => format!("#{part}"),
                "table" => format!("[t{at}]{part}"),
                "server" => format!("[mcp_servers . s{at}]{part}"),
                "list" => format!("[[list]]{part}"),
                _ => part.clone(),
            };
            text += newline;
        }
        let shorter = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
        match (ended, shorter) {
            (false, Some(shorter)) => shorter.to_owned(),
            _ => text,
        }
    })
}

proptest! {
    #[test]
    fn any_jsonc_file_comes_back(text in json_file()) {
        there_and_back(Format::Json, JSON, &text);
    }

    #[test]
    fn any_text_is_edited_or_refused(
        text in prop_oneof!["\\PC{0,30}", "[{}\\[\\]\",:a-c01 \n\r/*#=.'é_-]{0,30}"],
    ) {
        for (format, pointer) in [(Format::Json, JSON), (Format::Toml, TOML)] {
            if let Ok(added) = format.set(&text, pointer, &entry()) {
                let read = format.read(&added).expect("a document");
                prop_assert_eq!(lookup(&read, pointer), Some(&entry()));
            }
        }
    }

    #[test]
    fn any_toml_file_comes_back(text in toml_file()) {
        there_and_back(Format::Toml, TOML, &text);
    }
}
