//! Hints for MCP clients: commands and options become tool calls and arguments.
//!
//! Hints of the kernel and of the devices are written for the command line. An MCP client gets "run
//! `stickpin press @e3 --settle`" as "run `press {"target":"@e3","settle":true}`".

use crate::profile::{CORE, Profile};
use crate::tools::{members, tool_name};
use serde_json::{Map, Value, json};
use stickpin_client::ClientCommands;
use stickpin_cmdline::hints::{self, Mention};
use stickpin_kernel::Response;
use stickpin_kernel::registry::{CommandDefinition, find};

/// The prefix of help topic addresses.
pub(crate) const HELP_PREFIX: &str = "stickpin://help/";

/// Rewrites the hint and the warning of a response for the tools of a profile. The single tool of
/// `slim` accepts command lines, so its hints are unchanged.
pub(crate) fn rewrite_hints(response: &mut Response, profile: Profile, client_commands: ClientCommands) {
    if profile == Profile::Slim {
        return;
    }
    let mut text = response.text.take();
    let mut change = |old: &mut String| {
        let new = replace_commands(old, profile, client_commands);
        if new != *old {
            // The rendered text contains the hint.
            text = text.take().map(|text| text.replace(old.as_str(), &new));
            *old = new;
        }
    };
    if let Some(error) = &mut response.error {
        change(&mut error.hint);
    }
    if let Some(warning) = &mut response.warning {
        change(warning);
    }
    response.text = text;
}

/// Returns a hint with tool calls instead of command lines. Commands that no tool runs, such as
/// `daemon stop`, are for a person and stay unchanged.
fn replace_commands(hint: &str, profile: Profile, client_commands: ClientCommands) -> String {
    hints::rewrite(hint, |mention| match mention {
        Mention::Line("help") => Some("tools/list".to_owned()),
        Mention::Line(line) => match line.strip_prefix("help ") {
            Some(topic) => stickpin_cmdline::help::topic(topic).map(|_| format!("{HELP_PREFIX}{topic}")),
            None => tool_call(line, profile, client_commands),
        },
        Mention::Option(option) => hints::option(option).map(|(name, value)| match value.is_empty() {
            true => name,
            false => format!("{name}: {value}"),
        }),
    })
}

/// Returns the tool call that does what a command line does; `None` if the line is not a valid
/// command.
fn tool_call(line: &str, profile: Profile, client_commands: ClientCommands) -> Option<String> {
    let definitions: Vec<&'static CommandDefinition> =
        client_commands.iter().map(|command| command.definition()).collect();
    // A line with a placeholder that the grammar refuses is unchanged.
    let (definition, mut input, session) = hints::line(line, &definitions).ok().flatten()?;
    let common = session.map(|session| ("session".to_owned(), Value::from(session)));
    let (tool, mut arguments) = match profile {
        Profile::Core => core_call(definition, input),
        Profile::Full | Profile::Slim => (tool_name(definition), std::mem::take(&mut input)),
    };
    arguments.extend(common);
    Some(format!("{tool} {}", Value::Object(arguments)))
}

/// Returns the tool of `core` that runs a command, with its arguments: the command's own tool, the
/// tool of its group, or `batch`.
fn core_call(
    definition: &'static CommandDefinition,
    mut input: Map<String, Value>,
) -> (String, Map<String, Value>) {
    let name = definition.spec.name;
    // A client command is not a step of a batch; its tool is served, though not listed.
    if find(name).is_none() || CORE.iter().any(|core| core.command == name) {
        return (tool_name(definition), input);
    }
    let group = CORE.iter().find_map(|core| {
        let key = core.key?;
        let (word, _) = members(find(core.command)?).find(|(_, member)| member.spec.name == name)?;
        Some((core.command, key.name, word))
    });
    match group {
        Some((tool, key, word)) => {
            input.insert(key.to_owned(), word.into());
            (tool.to_owned(), input)
        }
        None => {
            let steps = json!([{ "command": name, "input": input }]);
            ("batch".to_owned(), Map::from_iter([("steps".to_owned(), steps)]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::NO_CLIENT_COMMANDS;
    use stickpin_kernel::{Error, Text};

    fn core(hint: &str) -> String {
        replace_commands(hint, Profile::Core, NO_CLIENT_COMMANDS)
    }

    #[test]
    fn a_command_line_becomes_a_call_of_a_listed_tool() {
        assert_eq!(core("run `stickpin snapshot -i`"), r#"run `snapshot {"interactive":true}`"#);
        assert_eq!(core("`stickpin press @e3`"), r#"`press {"target":"@e3"}`"#);
        assert_eq!(core("`stickpin wait stable`"), r#"`wait {"for":"stable"}`"#);
        assert_eq!(
            core("`stickpin uncheck @e3`"),
            r#"`batch {"steps":[{"command":"uncheck","input":{"target":"@e3"}}]}`"#
        );
        let full = |hint| replace_commands(hint, Profile::Full, NO_CLIENT_COMMANDS);
        assert_eq!(full("`stickpin tab list`"), "`tab_list {}`");
        assert_eq!(full("`stickpin --session main get url`"), r#"`get_url {"session":"main"}`"#);
    }

    #[test]
    fn options_help_and_commands_for_a_person() {
        assert_eq!(core("use `--force`, `--timeout MS`"), "use `force: true`, `timeout: MS`");
        assert_eq!(core("run `stickpin help`"), "run `tools/list`");
        assert_eq!(core("run `stickpin help selectors`"), "run `stickpin://help/selectors`");
        for kept in ["run `stickpin daemon stop`", "use `press`", "the app shows `stickpin"] {
            assert_eq!(core(kept), kept);
        }
    }

    #[test]
    fn the_rendered_text_has_the_new_hint() {
        let error = Error::stale_ref("@e1 is gone").hint("run `stickpin snapshot -i`");
        let text = Some(Text::of_error(&error));
        let mut response = Response { error: Some(error), text, ..Response::default() };
        rewrite_hints(&mut response, Profile::Core, NO_CLIENT_COMMANDS);
        let hint = r#"run `snapshot {"interactive":true}`"#;
        assert_eq!(response.error.map(|e| e.hint).as_deref(), Some(hint));
        assert_eq!(
            response.text.as_deref().map(str::trim_end),
            Some(&*format!("STALE_REF: @e1 is gone\n{hint}"))
        );
    }

    #[test]
    fn every_command_in_a_hint_of_the_product_becomes_a_call() {
        let mentions = stickpin_testkit::hint_mentions();
        assert!(mentions.len() > 100, "{} mentions", mentions.len());
        for (place, mention) in mentions {
            let rewritten = core(&mention);
            let is_ours = ["console ", "mcp ", "daemon ", "help", "install ", "replay ", "test ", "watch"]
                .iter()
                .any(|own| mention[1..].starts_with(&format!("stickpin {own}")));
            assert!(is_ours || rewritten != mention, "{place}: {mention} is not a tool call");
        }
    }
}
