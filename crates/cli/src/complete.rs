//! Completions, generated from the whole command tree. Only this module builds that tree.

use crate::local::FrontEndCommand;
use clap::builder::{EnumValueParser, PossibleValuesParser};
use clap::{Arg, ColorChoice, Command};
use clap_complete::{Generator, Shell};
use clap_complete_nushell::Nushell;
use std::collections::BTreeSet;
use stickpin_client::Connection;
use stickpin_cmdline::LocalCommand;
use stickpin_cmdline::help::TOPICS;
use stickpin_kernel::Result;
use stickpin_kernel::registry::COMMANDS;
use stickpin_wire::StateDir;

/// The shells that have completions.
pub(crate) const SHELLS: [&str; 5] = ["bash", "zsh", "fish", NUSHELL, "powershell"];

/// The shell that `clap_complete` itself does not know.
const NUSHELL: &str = "nushell";

/// Returns the completion script for a shell; `None` for an unknown shell. For the names of
/// sessions and apps, the script calls the hidden `complete` command, except in PowerShell.
pub(crate) fn script(shell: &str, others: &[FrontEndCommand]) -> Option<String> {
    if shell == NUSHELL {
        return Some(with_nushell_values(&completion_script(Nushell, others)));
    }
    let shell: Shell = shell.parse().ok()?;
    let script = completion_script(shell, others);
    Some(match shell {
        Shell::Bash => script + BASH,
        // `_arguments` evaluates the words between parentheses.
        Shell::Zsh => script
            .replace("own]:NAME:_default'", "own]:NAME:($(stickpin complete sessions 2>/dev/null))'")
            .lines()
            .map(|line| {
                match line.strip_prefix("':what -- ").and_then(|_| line.strip_suffix(":_default' \\")) {
                    Some(line) => format!("{line}:{ZSH_APPS}' \\\n"),
                    None => format!("{line}\n"),
                }
            })
            .collect(),
        // An option whose value is still being completed does not parse.
        Shell::Fish => {
            script.replace("    or return\n", "    or return 0\n")
                + FISH
                + &fish_words("help", others)
                + &fish_words("man", others)
        }
        _ => script,
    })
}

/// Returns the script that a generator writes for all commands.
fn completion_script(generator: impl Generator, others: &[FrontEndCommand]) -> String {
    let mut out = Vec::new();
    clap_complete::generate(generator, &mut command_tree(others), "stickpin", &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Adds the completion of session and app names to a script for nushell. In such a script, an
/// argument of the type `string@"COMMAND"` takes its values from a command of the module.
fn with_nushell_values(script: &str) -> String {
    let mut command = "";
    let lines = script.lines().map(|line| {
        let declared = line.trim_start();
        command = declared.strip_prefix("export extern ").unwrap_or(command);
        if declared.starts_with("module ") {
            return format!("{line}\n{NUSHELL_VALUES}");
        }
        let opens_app = command.starts_with("\"stickpin open\"") && declared.starts_with("what");
        let values = match declared.starts_with("--session: string") {
            true => SESSIONS,
            false if opens_app => APPS,
            false => return format!("{line}\n"),
        };
        line.replacen(": string", &format!(": string@\"nu-complete stickpin {values}\""), 1) + "\n"
    });
    lines.collect()
}

/// The argument of `complete` for the names of apps.
pub(crate) const APPS: &str = "apps";
/// The argument of `complete` for the names of sessions.
pub(crate) const SESSIONS: &str = "sessions";

/// The script that completes sessions after `--session` and apps after `open`, and leaves all other
/// words to the generated completions.
const BASH: &str = include_str!("../completions/values.bash");

const ZSH_APPS: &str = "{compadd -- ${(f)\"$(stickpin complete apps 2>/dev/null)\"}; _files}";

const FISH: &str = include_str!("../completions/values.fish");

const NUSHELL_VALUES: &str = include_str!("../completions/values.nu");

/// Returns the names of the open sessions. Does not start a daemon: if none is running, no session
/// is open.
///
/// # Errors
/// Returns the errors of connecting to the daemon and of requesting its status.
pub(crate) fn sessions(state_dir: &StateDir) -> Result<Vec<String>> {
    match Connection::find(state_dir)? {
        Some(mut connection) => Ok(connection.status()?.sessions),
        None => Ok(Vec::new()),
    }
}

/// Returns the line that completes the words after a command: the generator for fish leaves such
/// words out.
fn fish_words(command: &str, others: &[FrontEndCommand]) -> String {
    let words = Vec::from_iter(help_words(command, others)).join(" ");
    format!("complete -c stickpin -n '__fish_seen_subcommand_from {command}' -f -a '{words}'\n")
}

/// Returns the words that may follow `help` or `man`; none for other commands. The grammars of both
/// commands accept any text, so that errors can suggest a name.
fn help_words(command: &str, others: &[FrontEndCommand]) -> BTreeSet<&'static str> {
    // Two-word names are completed word by word.
    let commands = || stickpin_cmdline::names(others).flat_map(|name| name.split(' '));
    match command {
        "help" => TOPICS.iter().map(|(name, _)| *name).chain(commands()).collect(),
        "man" => commands().collect(),
        _ => BTreeSet::new(),
    }
}

/// Adds to a command's grammar the values that some of the arguments accept.
fn add_known_values(command: Command, others: &[FrontEndCommand]) -> Command {
    let words = help_words(command.get_name(), others);
    let with_values = |arg: Arg| match arg.get_id().as_str() {
        "topic" | "command" if !words.is_empty() => {
            arg.value_parser(PossibleValuesParser::new(words.iter().copied()))
        }
        "--detail" => arg.value_parser(["digest", "normal", "full"]),
        "--color" => arg.value_parser(EnumValueParser::<ColorChoice>::new()),
        _ => arg,
    };
    command.mut_args(with_values)
}

/// Builds one tree of all commands that are not hidden. A group contains its members and the
/// arguments of its default command.
fn command_tree(others: &[FrontEndCommand]) -> Command {
    let registry =
        COMMANDS.iter().map(|e| (e.spec.name, e.spec.aliases, stickpin_cmdline::command_grammar(e)));
    let own = others.iter().filter(|o| !o.hidden()).map(|o| (o.name(), &[][..], o.command()));
    // Common options may also precede the command's name.
    let options = stickpin_cmdline::local_grammar("stickpin", "");
    let root = Command::new("stickpin").args(options.get_arguments().cloned());
    let root = root.disable_help_subcommand(true).disable_version_flag(true);
    let mut root = add_known_values(root, others);
    for (name, aliases, leaf) in registry.chain(own) {
        let leaf = add_known_values(leaf.no_binary_name(false).name(name), others);
        let about = leaf.get_about().map(ToString::to_string).unwrap_or_default();
        // A second line would not be a comment in the script for nushell.
        let leaf = leaf.about(about.lines().next().unwrap_or_default().to_owned());
        root = match name.split_once(' ') {
            None => add_command(root, leaf.name(name).visible_aliases(aliases)),
            Some((group, member)) => {
                let parent = root.find_subcommand(group).cloned();
                let parent =
                    parent.unwrap_or_else(|| Command::new(group.to_owned()).disable_help_subcommand(true));
                let leaf =
                    leaf.name(member).visible_aliases(aliases.iter().filter_map(|a| a.split(' ').nth(1)));
                add_command(root, parent.subcommand(leaf))
            }
        };
    }
    root
}

/// Adds a command; if a group of that name exists, adds the command's arguments to the group.
fn add_command(root: Command, command: Command) -> Command {
    let name = command.get_name().to_owned();
    if root.find_subcommand(&name).is_none() {
        return root.subcommand(command);
    }
    root.mut_subcommand(name, |existing| {
        let members: Vec<Command> = existing.get_subcommands().cloned().collect();
        let known: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
        command.subcommands(members.into_iter().filter(|m| !known.iter().any(|k| k == m.get_name())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::front_end_commands;
    use crate::tests::client_commands;

    #[test]
    fn completion_tree_is_valid_and_complete() {
        let others = front_end_commands(client_commands());
        let mut tree = command_tree(&others);
        tree.build();
        tree.clone().debug_assert();
        for name in stickpin_cmdline::names(&others) {
            let mut at = &tree;
            for word in name.split(' ') {
                at = at.find_subcommand(word).unwrap_or_else(|| panic!("`{name}` is missing"));
            }
        }
    }

    #[test]
    fn every_shell_script_contains_the_commands() {
        for shell in SHELLS {
            let script = script(shell, &front_end_commands(client_commands())).unwrap();
            for word in ["snapshot", "title", "max-bytes", "console", "watch"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
        for shell in ["bash", "zsh", "fish"] {
            let script = script(shell, &front_end_commands(client_commands())).unwrap();
            for word in ["click", "selectors", "digest", "stickpin complete"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
        assert!(script("tcsh", &[]).is_none());
    }

    #[test]
    fn nushell_script_takes_values_from_commands() {
        let script = script(NUSHELL, &front_end_commands(client_commands())).unwrap();
        assert_eq!(script.lines().filter(|line| line.starts_with("module ")).count(), 1);
        let of = |name: &str| {
            let (_, after) = script.split_once(&format!("export extern \"stickpin {name}\" [")).unwrap();
            after.split_once("\n  ]\n").unwrap().0
        };
        assert!(
            of("open").contains("what?: string@\"nu-complete stickpin apps\"")
                || of("open").contains("what: string@\"nu-complete stickpin apps\""),
            "{}",
            of("open")
        );
        for name in ["press", "get title", "console"] {
            assert!(of(name).contains("--session: string@\"nu-complete stickpin sessions\""), "{}", of(name));
        }
        // Every other line is a declaration, a comment or a bracket: none is part of a text.
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let starts = ["module", "export", "def", "use", "#", "[", "]", "{", "}", "-", "...", "^"];
            let positional = line.split([':', '?', ' ']).next().unwrap_or_default();
            let is_name = positional.chars().all(|c| c.is_ascii_alphanumeric());
            assert!(
                starts.iter().any(|start| line.starts_with(start)) || (is_name && line.contains(": ")),
                "{line}"
            );
        }
    }

    #[test]
    fn powershell_script_offers_options_below_their_command() {
        let script = script("powershell", &front_end_commands(client_commands())).unwrap();
        let (_, after) = script.split_once("'stickpin;screenshot' {").unwrap();
        let (offered, _) = after.split_once("break").unwrap();
        assert!(
            offered.contains("'--overlay', '--overlay', [CompletionResultType]::ParameterName"),
            "{offered}"
        );
    }
}
