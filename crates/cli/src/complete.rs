//! Completions, from the whole tree of commands: the only place that builds it.

use crate::local::Other;
use clap::Command;
use clap_complete::Shell;
use stickpin_kernel::registry::COMMANDS;
use stickpin_lines::Own;

/// The script for a shell.
pub(crate) fn script(shell: &str, others: &[Other]) -> Option<String> {
    let shell: Shell = shell.parse().ok()?;
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut tree(others), "stickpin", &mut out);
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// All commands as one tree: groups hold their members, and the arguments of their default command.
fn tree(others: &[Other]) -> Command {
    let registry = COMMANDS.iter().map(|e| (e.spec.name, e.spec.aliases, stickpin_lines::leaf(e)));
    let others = others.iter().filter(|o| !o.hidden()).map(|o| (o.name(), &[][..], o.command()));
    let mut root = Command::new("stickpin").disable_help_subcommand(true).disable_version_flag(true);
    for (name, aliases, leaf) in registry.chain(others) {
        let leaf = leaf.no_binary_name(false);
        root = match name.split_once(' ') {
            None => add(root, leaf.name(name).visible_aliases(aliases)),
            Some((group, member)) => {
                let parent = root.find_subcommand(group).cloned();
                let parent =
                    parent.unwrap_or_else(|| Command::new(group.to_owned()).disable_help_subcommand(true));
                let leaf =
                    leaf.name(member).visible_aliases(aliases.iter().filter_map(|a| a.split(' ').nth(1)));
                add(root, parent.subcommand(leaf))
            }
        };
    }
    root
}

/// Adds a command, or its arguments to the group of its name that is there already.
fn add(root: Command, command: Command) -> Command {
    let name = command.get_name().to_owned();
    if root.find_subcommand(&name).is_none() {
        return root.subcommand(command);
    }
    root.mut_subcommand(name, |there| {
        let members: Vec<Command> = there.get_subcommands().cloned().collect();
        let known: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
        command.subcommands(members.into_iter().filter(|m| !known.iter().any(|k| k == m.get_name())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::others;
    use crate::tests::APART;

    #[test]
    fn the_tree_is_sound_and_every_command_is_in_it() {
        let others = others(APART);
        let mut tree = tree(&others);
        tree.build();
        tree.clone().debug_assert();
        for name in stickpin_lines::names(&others) {
            let mut at = &tree;
            for word in name.split(' ') {
                at = at.find_subcommand(word).unwrap_or_else(|| panic!("`{name}` is missing"));
            }
        }
    }

    #[test]
    fn every_shell_gets_a_script_with_the_commands_in_it() {
        for shell in ["bash", "zsh", "fish"] {
            let script = script(shell, &others(APART)).unwrap();
            for word in ["snapshot", "title", "max-bytes", "click"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
        assert!(script("tcsh", &[]).is_none());
    }
}
