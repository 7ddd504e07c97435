//! Help: the list of commands, the help of one command, and topics.

use crate::local::{self, FrontEndCommand};
use std::fmt::Write as _;
use stickpin_cmdline::{LocalCommand, help as topics};
use stickpin_kernel::registry::COMMANDS;
use stickpin_kernel::{Error, Result};

/// Returns the overview: an example, all commands that are not hidden, and the topics.
pub(crate) fn overview(others: &[FrontEndCommand]) -> String {
    let mut text = String::from(
        "stickpin drives real apps through short snapshots whose refs never lie.\n\n  \
         stickpin open http://127.0.0.1:3000      open a page; sim:shop is a simulated app\n  \
         stickpin snapshot -i                     read it: @e3 button \"Continue\"\n  \
         stickpin press @e3 --settle              act on what you read, see what changed\n\nCommands:\n",
    );
    let registry = COMMANDS.iter().map(|e| (e.spec.name, e.summary()));
    let entries = others.iter().filter(|o| !o.hidden()).map(|o| (o.name(), o.summary()));
    let lines: Vec<_> = registry.chain(entries).collect();
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, about) in lines {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:width$}  {}", about.trim_end_matches('.'));
    }
    let topics = topics::names();
    let _ = write!(
        text,
        "\nstickpin COMMAND -h   its arguments\nstickpin help TOPIC   {topics}; start with workflow\n"
    );
    text
}

/// Returns the text of a topic, the help of a command, or the commands of a group; for an empty
/// `topic`, the overview.
///
/// # Errors
/// Returns `INVALID_ARGS` if `topic` is none of these.
pub(crate) fn topic_text(topic: &str, others: &[FrontEndCommand]) -> Result<String> {
    if topic.is_empty() {
        return Ok(overview(others));
    }
    if let Some(text) = topics::topic(topic) {
        return Ok(text.to_owned());
    }
    if let Some(mut command) = local::grammar(topic, others) {
        return Ok(command.render_help().to_string());
    }
    let members: Vec<String> = stickpin_cmdline::members(topic, others)
        .map(|member| format!("  stickpin {topic} {member}"))
        .collect();
    if !members.is_empty() {
        return Ok(members.join("\n"));
    }
    Err(Error::invalid_args(format!("there is no topic or command {topic:?}"))
        .hint(format!("topics: {}; run `stickpin help` to list the commands", topics::names())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::front_end_commands;
    use crate::tests::client_commands;
    use stickpin_cmdline::help::TOPICS;
    use stickpin_kernel::ErrorCode;

    #[test]
    fn every_command_line_in_a_topic_is_valid() {
        for (name, text) in TOPICS {
            for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("stickpin ")) {
                let line = line.split("  ").next().unwrap_or(line);
                let args = crate::tests::split(line).into_iter().map(str::to_owned).collect();
                if let Err((_, e)) = crate::parse::parse_line(
                    args,
                    &crate::Env::default(),
                    &front_end_commands(client_commands()),
                ) {
                    panic!("{name}: `{line}`: {e}");
                }
            }
        }
    }

    #[test]
    fn overview_names_every_command_and_topic() {
        let others = front_end_commands(client_commands());
        let text = overview(&others);
        for name in stickpin_cmdline::names(&others).chain(TOPICS.iter().map(|(name, _)| *name)) {
            assert!(text.contains(name), "{name}");
        }
        assert!(!text.contains("\n  daemon run "), "a hidden command is shown");
    }

    #[test]
    fn unknown_topic_is_an_error() {
        assert_eq!(
            topic_text("nonsense", &front_end_commands(client_commands())).unwrap_err().code,
            ErrorCode::InvalidArgs
        );
        assert!(
            topic_text("daemon", &front_end_commands(client_commands()))
                .unwrap()
                .contains("stickpin daemon stop")
        );
        assert!(topic_text("open", &front_end_commands(client_commands())).unwrap().contains("--relaunch"));
    }
}
