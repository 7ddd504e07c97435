use super::*;
use crate::profile::{CORE, Profile};
use stickpin_kernel::ErrorCode;

/// Returns the command and input that a tool call resolves to.
fn understood(tool: &str, args: Value) -> Result<(&'static str, Value)> {
    let Value::Object(mut args) = args else { panic!("an object") };
    let Some(Tool::Command { entry, key }) = Tool::find(tool, tools::NO_CLIENT_COMMANDS) else {
        panic!("{tool}")
    };
    let leaf = key.map_or(Ok(entry), |key| choose_command(entry, key, &mut args))?;
    normalize_arguments(leaf, &mut args)?;
    leaf.check(&args)?;
    Ok((leaf.spec.name, args.into()))
}

/// Returns tools, each with the arguments that a model sends and the expected command with its
/// input.
fn table() -> Vec<(&'static str, Value, &'static str, Value)> {
    let same = |tool, args: Value, command| (tool, args.clone(), command, args);
    vec![
        same("open", json!({"what": "sim:shop", "interactive": true, "record": "a.ad"}), "open"),
        (
            "open",
            json!({"url": "sim:shop", "interactive": "true"}),
            "open",
            json!({"what": "sim:shop", "interactive": true}),
        ),
        same("close", json!({}), "close"),
        same("close", json!({"save": "a.ad"}), "close"),
        same("close", json!({"save": true}), "close"),
        same("snapshot", json!({"interactive": true, "scope": "@e1"}), "snapshot"),
        ("snapshot", json!({"depth": "3"}), "snapshot", json!({"depth": 3})),
        same("read", json!({"section": "News"}), "read"),
        same("press", json!({"target": "@e3", "settle": true}), "press"),
        (
            "press",
            json!({"ref": "@e3", "count": "2", "settle": "500"}),
            "press",
            json!({"target": "@e3", "count": 2, "settle": 500}),
        ),
        (
            "press",
            json!({"selector": "text=Save", "settle": "false"}),
            "press",
            json!({"target": "text=Save", "settle": false}),
        ),
        same("fill", json!({"target": "@e3", "text": "Ada"}), "fill"),
        ("fill", json!({"ref": "@e3", "value": 2024}), "fill", json!({"target": "@e3", "text": "2024"})),
        same("form", json!({"fields": ["@e2=Ada"], "submit": "@e3"}), "form"),
        ("form", json!({"fields": "@e2=Ada"}), "form", json!({"fields": ["@e2=Ada"]})),
        (
            "form",
            json!({"fields": {"@e2": "Ada", "label=\"News\"": true}}),
            "form",
            json!({"fields": ["@e2=Ada", "label=\"News\"=true"]}),
        ),
        (
            "form",
            json!({"fields": [{"target": "@e2", "value": "Ada"}, {"ref": "@e3", "value": 7}]}),
            "form",
            json!({"fields": ["@e2=Ada", "@e3=7"]}),
        ),
        ("form", json!({"fields": "[\"@e2=a\", \"@e3=b\"]"}), "form", json!({"fields": ["@e2=a", "@e3=b"]})),
        same("key", json!({"chord": "Control+a"}), "key"),
        ("key", json!({"key": "Enter"}), "key", json!({"chord": "Enter"})),
        same("select", json!({"target": "@e1", "options": ["Graz"]}), "select"),
        (
            "select",
            json!({"target": "@e1", "options": "Graz"}),
            "select",
            json!({"target": "@e1", "options": ["Graz"]}),
        ),
        (
            "select",
            json!({"ref": "@e1", "value": "Graz"}),
            "select",
            json!({"target": "@e1", "options": ["Graz"]}),
        ),
        (
            "select",
            json!({"target": "@e1", "options": [2024]}),
            "select",
            json!({"target": "@e1", "options": ["2024"]}),
        ),
        same("scroll", json!({"direction": "down", "amount": 300}), "scroll"),
        (
            "scroll",
            json!({"direction": "down", "target": "@e1"}),
            "scroll",
            json!({"direction": "down", "in": "@e1"}),
        ),
        same("get", json!({"what": "text", "target": "@e1"}), "get"),
        ("get", json!({"what": "url"}), "get url", json!({})),
        ("get", json!({"what": "title", "target": null}), "get title", json!({})),
        ("get", json!({"title": true}), "get title", json!({})),
        same("is", json!({"predicate": "visible", "target": "@e1"}), "is"),
        same("find", json!({"query": "cart"}), "find"),
        ("find", json!({"text": "cart"}), "find", json!({"query": "cart"})),
        ("find", json!({"selector": "role=button"}), "find", json!({"query": "role=button"})),
        same("wait", json!({"target": "@e1"}), "wait"),
        ("wait", json!({"for": "visible", "target": "@e1", "text": null}), "wait", json!({"target": "@e1"})),
        ("wait", json!({"ref": "@e1", "timeout": "500"}), "wait", json!({"target": "@e1", "timeout": 500})),
        ("wait", json!({"for": "absent", "target": "@e1"}), "wait absent", json!({"target": "@e1"})),
        ("wait", json!({"absent": "@e1"}), "wait absent", json!({"target": "@e1"})),
        ("wait", json!({"text": "Shop"}), "wait text", json!({"text": "Shop"})),
        (
            "wait",
            json!({"for": "text", "text": "Shop", "timeout": 5}),
            "wait text",
            json!({"text": "Shop", "timeout": 5}),
        ),
        ("wait", json!({"ms": 500}), "wait ms", json!({"ms": 500})),
        ("wait", json!({"part": "/orders"}), "wait url", json!({"part": "/orders"})),
        ("wait", json!({"url": "/orders"}), "wait url", json!({"part": "/orders"})),
        ("wait", json!({"for": "url", "url": "/orders"}), "wait url", json!({"part": "/orders"})),
        ("wait", json!({"for": "stable"}), "wait stable", json!({})),
        ("wait", json!({"stable": true, "timeout": 90}), "wait stable", json!({"timeout": 90})),
        (
            "wait",
            json!({"pattern": "/api/*", "status": "2xx"}),
            "wait request",
            json!({"pattern": "/api/*", "status": "2xx"}),
        ),
        ("wait", json!({"request": "POST /api"}), "wait request", json!({"pattern": "POST /api"})),
        ("wait", json!({"name": "a.pdf"}), "wait download", json!({"name": "a.pdf"})),
        ("wait", json!({"download": true}), "wait download", json!({})),
        ("wait", json!({"expression": "window.ready"}), "wait fn", json!({"expression": "window.ready"})),
        same("screenshot", json!({"overlay": true}), "screenshot"),
        (
            "screenshot",
            json!({"target": "@e1", "fullPage": true}),
            "screenshot",
            json!({"of": "@e1", "full": true}),
        ),
        same("batch", json!({"steps": [{"command": "press", "input": {"target": "@e1"}}]}), "batch"),
        (
            "batch",
            json!({"steps": [
                {"command": "press", "target": "@e1"},
                {"name": "get_title", "arguments": {}},
                {"tool": "wait", "input": {"for": "text", "text": "Shop"}},
                {"command": "wait", "for": "download", "name": "a.pdf"},
                {"command": "get", "input": {"what": "url"}},
                {"command": "nonsense", "input": {"a": 1}},
            ]}),
            "batch",
            json!({"steps": [
                {"command": "press", "input": {"target": "@e1"}},
                {"command": "get title", "input": {}},
                {"command": "wait text", "input": {"text": "Shop"}},
                {"command": "wait download", "input": {"name": "a.pdf"}},
                {"command": "get url", "input": {}},
                {"command": "nonsense", "input": {"a": 1}},
            ]}),
        ),
        (
            "batch",
            json!({"steps": "[{\"command\": \"close\"}]"}),
            "batch",
            json!({"steps": [{"command": "close", "input": {}}]}),
        ),
    ]
}

#[test]
fn every_tool_accepts_common_argument_forms() {
    let table = table();
    for (tool, args, command, input) in table.clone() {
        let meant =
            understood(tool, args.clone()).unwrap_or_else(|e| panic!("{tool} {args}: {e} {}", e.hint));
        assert_eq!(meant, (command, input), "{tool} {args}");
    }
    for core in CORE.iter() {
        assert!(table.iter().any(|(tool, ..)| *tool == core.command), "no form of {} is tried", core.command);
    }
}

#[test]
fn ambiguous_arguments_are_refused_with_hint() {
    for (tool, args, said) in [
        ("wait", json!({}), "choose with `for`: visible, absent, ms, text"),
        ("wait", json!({"timeout": 5}), "choose with `for`"),
        ("wait", json!({"for": "nonsense", "target": "@e1"}), "choose with `for`"),
        ("wait", json!({"target": "@e1", "text": "Saved"}), "`wait text` has no argument `target`"),
        ("wait", json!({"tarGet": "@e1"}), "did you mean `target`?"),
        ("press", json!({"target": "@e1", "ref": "@e2"}), "no argument `ref`"),
        ("press", json!({"target": 3}), "3 is not a target"),
        ("press", json!({"target": "@e1", "count": "two"}), "is not a whole number"),
        ("fill", json!({"target": "@e1", "text": 1.10}), "is not text"),
        ("form", json!({"fields": {"@e1": ["a"]}}), "is not a list"),
        ("batch", json!({"steps": "none"}), "is not a list"),
        ("batch", json!({"steps": [{"command": "wait", "input": {}}]}), "step 1: "),
    ] {
        let e = understood(tool, args.clone()).expect_err(&args.to_string());
        assert_eq!(e.code, ErrorCode::InvalidArgs, "{tool} {args}");
        let whole = format!("{} | {}", e.message, e.hint);
        assert!(whole.contains(said), "{tool} {args}: {whole}");
    }
}

/// Returns an example value for a property of a schema.
fn example(property: &Value) -> Value {
    if let Some(words) = property["enum"].as_array() {
        return words[0].clone();
    }
    match property["type"].as_str() {
        Some("array") => json!([example(&property["items"])]),
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(1),
        Some("object") => json!({"command": "close", "input": {}}),
        Some("string") => json!("@e1"),
        _ => property["type"][1].as_str().map_or(Value::Null, |kind| example(&json!({ "type": kind }))),
    }
}

#[test]
fn every_schema_property_is_described_and_accepted() {
    for tool in [Profile::Core, Profile::Full]
        .map(|p| tools::list(p, tools::ServedCommands::default(), true, tools::NO_CLIENT_COMMANDS))
        .concat()
    {
        let schema = tool.schema_as_json_value();
        let properties = schema["properties"].as_object().expect("properties");
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in properties {
            let about = property["description"].as_str().unwrap_or_default();
            assert!(about.len() > 5, "{} {name} is not described", tool.name);
            let mut args = Map::new();
            for name in required.iter().copied().chain([name.as_str()]).filter(|n| !matches!(*n, "session")) {
                args.insert(name.to_owned(), example(&properties[name]));
            }
            if tool.name == "snapshot" || name != "scope" {
                let said = understood(&tool.name, args.clone().into());
                // An argument with a valid name and type may still be useless on its own.
                let Err(e) = said else { continue };
                let alone = ["is ambiguous", "needs `", "is no target", "no key", "TARGET=VALUE"];
                assert!(alone.iter().any(|w| e.message.contains(w)), "{} {args:?}: {e}", tool.name);
            }
        }
    }
}
