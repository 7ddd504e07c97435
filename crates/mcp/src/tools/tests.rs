use super::*;

// The crates that know the binary's additions test them.
use super::NO_CLIENT_COMMANDS as NONE;

fn bytes(profile: Profile) -> usize {
    let tools = list(profile, ServedCommands::default(), false, NONE);
    serde_json::to_vec(&json!({ "tools": tools })).expect("JSON").len()
}

#[test]
fn tool_lists_stay_small() {
    for (profile, most) in [(Profile::Slim, 1_024), (Profile::Core, 13_000), (Profile::Full, 56 * 1_024)] {
        let bytes = bytes(profile);
        println!(
            "tools/list of {profile:?}: {} tools, {bytes} bytes (at most {most})",
            list(profile, ServedCommands::default(), false, NONE).len()
        );
        assert!(bytes <= most, "{profile:?} has {bytes} bytes, more than {most}");
    }
    let instructions = crate::profile::INSTRUCTIONS.len();
    println!("instructions: {instructions} bytes");
    assert!(instructions <= 2_048, "{instructions}");
}

#[test]
fn every_core_tool_exists() {
    let there: Vec<String> = list(Profile::Core, ServedCommands::default(), false, NONE)
        .iter()
        .map(|t| t.name.to_string())
        .collect();
    let want: Vec<&str> = CORE.iter().map(|core| core.command).collect();
    assert_eq!(there, want);
    assert_eq!(want.len(), 16);
}

#[test]
fn every_command_is_in_full_and_named_in_core() {
    let served = ServedCommands { script: true, ..ServedCommands::default() };
    let full = list(Profile::Full, served, false, NONE);
    assert_eq!(full.len(), COMMANDS.len());
    let core = serde_json::to_string(&list(Profile::Core, served, false, NONE)).expect("JSON");
    for entry in COMMANDS {
        let name = tool_name(entry);
        let valid = |c: char| c.is_ascii_alphanumeric() || c == '_';
        assert!(name.len() <= 64 && name.chars().all(valid), "{name}");
        assert!(
            matches!(Tool::find(&name, NONE), Some(Tool::Command { entry: found, .. }) if found.spec.name == entry.spec.name)
        );
        let member = entry.spec.name.split(' ').next_back().unwrap_or_default();
        assert!(core.contains(member), "core does not say that there is `{}`", entry.spec.name);
    }
}

#[test]
fn read_only_server_lists_only_reading_tools() {
    let names = |profile| {
        list(profile, ServedCommands { read_only: true, ..ServedCommands::default() }, false, NONE)
            .iter()
            .map(|t| t.name.to_string())
            .collect::<Vec<_>>()
    };
    let core = names(Profile::Core);
    assert!(core.contains(&"snapshot".to_owned()) && !core.contains(&"press".to_owned()), "{core:?}");
    for tool in
        list(Profile::Full, ServedCommands { read_only: true, ..ServedCommands::default() }, false, NONE)
    {
        assert_eq!(tool.annotations.and_then(|a| a.read_only_hint), Some(true), "{}", tool.name);
    }
}

#[test]
fn command_group_is_one_core_tool() {
    let core = list(Profile::Core, ServedCommands::default(), false, NONE);
    let tool = |name: &str| core.iter().find(|t| t.name == name).expect("a tool").schema_as_json_value();
    let (get, wait) = (tool("get"), tool("wait"));
    assert_eq!(get["required"], json!(["what"]));
    let whats = get["properties"]["what"]["enum"].to_string();
    assert!(
        whats.contains("\"text\"") && whats.contains("\"title\"") && whats.contains("\"url\""),
        "{whats}"
    );
    assert!(wait["required"].is_null() && wait["properties"]["target"].is_object(), "{wait}");
    let fors = wait["properties"]["for"]["enum"].to_string();
    assert!(fors.contains("visible") && fors.contains("absent") && fors.contains("stable"), "{fors}");
    let about = |name: &str| wait["properties"][name]["description"].as_str().unwrap_or_default();
    assert!(about("text").starts_with("text: ") && about("name").starts_with("download: "), "{wait}");
    assert!(!about("target").contains(": ") && !about("timeout").contains(": "), "{wait}");
}

#[test]
fn schema_types_match_accepted_types() {
    let core = list(Profile::Core, ServedCommands::default(), false, NONE);
    let of = |tool: &str, name: &str| {
        let tool = core.iter().find(|t| t.name == tool).expect("a tool").schema_as_json_value();
        tool["properties"][name].clone()
    };
    assert_eq!(of("open", "record")["type"], json!(["boolean", "string"]));
    assert_eq!(of("close", "save")["type"], json!(["boolean", "string"]));
    assert_eq!(of("press", "settle")["type"], json!(["boolean", "integer"]));
    assert_eq!(of("batch", "steps")["items"]["required"], json!(["command"]));
}

#[test]
fn tool_schemas_are_flat_and_documented() {
    for profile in [Profile::Core, Profile::Full] {
        for tool in list(profile, ServedCommands::default(), true, NONE) {
            let schema = tool.schema_as_json_value();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            for (name, property) in schema["properties"].as_object().expect("properties") {
                let plain = property["type"].is_string()
                    || property["type"].is_array()
                    || property["enum"].is_array();
                assert!(plain, "{} {name}: {property}", tool.name);
                assert!(!property.to_string().contains("x-"), "{} {name}: {property}", tool.name);
            }
            assert!(schema["properties"]["scope"].is_object(), "{}", tool.name);
            assert!(tool.title.is_some() && tool.description.is_some_and(|d| d.len() > 10), "{}", tool.name);
        }
    }
}
