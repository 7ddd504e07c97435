//! Finds the command that an argument list names. Examines only words, so that no grammar is built
//! other than that command's.

use crate::options;
use std::fmt;
use stickpin_kernel::registry::{self, COMMANDS, CommandDefinition};
use stickpin_kernel::schema::nearest;
use stickpin_kernel::{Error, Result};

/// A front end's own command, in addition to those of the registry.
pub trait LocalCommand: fmt::Debug {
    /// Returns the name, one or two words.
    fn name(&self) -> &'static str;
    /// Returns whether help omits the command because it is meant for programs.
    fn hidden(&self) -> bool;
}

/// A command that has a definition.
impl LocalCommand for &'static CommandDefinition {
    fn name(&self) -> &'static str {
        self.spec.name
    }

    fn hidden(&self) -> bool {
        false
    }
}

/// A command and its remaining arguments.
#[derive(Debug)]
pub struct ResolvedCommand {
    /// The canonical name of the command.
    pub name: &'static str,
    /// The remaining arguments.
    pub args: Vec<String>,
}

fn find<O: LocalCommand>(name: &str, own: &[O]) -> Option<&'static str> {
    let own = || own.iter().map(LocalCommand::name).find(|own| *own == name);
    registry::find(name).map(|entry| entry.spec.name).or_else(own)
}

/// Finds the command among those of the registry and the front end's `own`. Two-word names win over
/// one-word names; common options are skipped. Returns `None` if there is no word, or if any option
/// other than a common one comes first.
///
/// # Errors
/// Returns `INVALID_ARGS` with the nearest name, or with the members of a group that is not a
/// command.
pub fn resolve_command<O: LocalCommand>(args: &[String], own: &[O]) -> Result<Option<ResolvedCommand>> {
    let Some(first) = next_word(args, 0) else { return Ok(None) };
    let remaining_args = |taken: &[usize]| {
        let rest = args.iter().enumerate().filter(|(i, _)| !taken.contains(i));
        rest.map(|(_, arg)| arg.clone()).collect()
    };
    if let Some(second) = next_word(args, first + 1)
        && let Some(name) = find(&format!("{} {}", args[first], args[second]), own)
    {
        return Ok(Some(ResolvedCommand { name, args: remaining_args(&[first, second]) }));
    }
    if let Some(name) = find(&args[first], own) {
        return Ok(Some(ResolvedCommand { name, args: remaining_args(&[first]) }));
    }
    let group = &args[first];
    let members: Vec<&str> = members(group, own).collect();
    if members.is_empty() {
        return Err(unknown_command_error(group, own));
    }
    let all = format!("usage: stickpin {group} {}", members.join("|"));
    let (message, hint) = match next_word(args, first + 1).map(|second| &args[second]) {
        Some(second) => {
            let suggestion = nearest(second, members.iter().copied());
            let hint = suggestion.map_or(all, |name| format!("did you mean `stickpin {group} {name}`?"));
            (format!("`{group}` has no command {second:?}"), hint)
        }
        None => (format!("`{group}` is a group of commands"), all),
    };
    Err(Error::invalid_args(message).hint(hint))
}

/// Returns the index of the next word at or after `from`; `None` if there is none, or if any option
/// other than a common one comes first.
fn next_word(args: &[String], mut from: usize) -> Option<usize> {
    while let Some(width) = options::width(args.get(from)?) {
        from += width;
    }
    args.get(from).filter(|arg| !arg.starts_with('-')).map(|_| from)
}

/// Returns the names of all visible commands, those of the registry first.
pub fn names<O: LocalCommand>(own: &[O]) -> impl Iterator<Item = &'static str> {
    let own = own.iter().filter(|o| !o.hidden()).map(LocalCommand::name);
    COMMANDS.iter().map(|e| e.spec.name).chain(own)
}

/// Returns the second words of a group's commands.
pub fn members<O: LocalCommand>(group: &str, own: &[O]) -> impl Iterator<Item = &'static str> {
    names(own).filter_map(move |name| {
        name.split_once(' ').filter(|(first, _)| *first == group).map(|(_, member)| member)
    })
}

fn unknown_command_error<O: LocalCommand>(name: &str, own: &[O]) -> Error {
    let aliases = COMMANDS.iter().flat_map(|e| e.spec.aliases.iter().copied());
    let hint = match nearest(name, names(own).chain(aliases)) {
        Some(near) => format!("did you mean `stickpin {near}`?"),
        None => "run `stickpin help` to list the commands".to_owned(),
    };
    Error::invalid_args(format!("there is no command {name:?}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_kernel::ErrorCode;

    /// A front end's own command.
    #[derive(Debug)]
    struct Daemon(&'static str);

    impl LocalCommand for Daemon {
        fn name(&self) -> &'static str {
            self.0
        }

        fn hidden(&self) -> bool {
            self.0 == "daemon run"
        }
    }

    const OWN: &[Daemon] =
        &[Daemon("daemon status"), Daemon("daemon start"), Daemon("daemon stop"), Daemon("daemon run")];

    fn picked(line: &str) -> (&'static str, String) {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let picked = resolve_command(&args, OWN).unwrap().unwrap();
        (picked.name, picked.args.join(" "))
    }

    #[test]
    fn two_word_commands_win_and_options_stand_anywhere() {
        assert_eq!(picked("get title"), ("get title", String::new()));
        assert_eq!(picked("get text @e1"), ("get", "text @e1".into()));
        assert_eq!(picked("--session a get --json title"), ("get title", "--session a --json".into()));
        assert_eq!(picked("--json press @e1"), ("press", "--json @e1".into()));
        assert_eq!(picked("daemon status"), ("daemon status", String::new()));
        assert_eq!(picked("daemon run"), ("daemon run", String::new()), "hidden, but available");
    }

    #[test]
    fn aliases_are_names() {
        assert_eq!(picked("click @e1").0, "press");
    }

    #[test]
    fn unknown_command_suggests_nearest_or_group_members() {
        let error = |line: &str| {
            resolve_command(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), OWN).unwrap_err()
        };
        assert_eq!(error("snapshto -i").hint, "did you mean `stickpin snapshot`?");
        assert_eq!(error("qqqq").hint, "run `stickpin help` to list the commands");
        assert_eq!(error("daemon").hint, "usage: stickpin daemon status|start|stop");
        let error = error("daemon dance");
        assert_eq!(error.message, "`daemon` has no command \"dance\"");
        assert_eq!(error.hint, "usage: stickpin daemon status|start|stop");
        assert_eq!(error.code, ErrorCode::InvalidArgs);
    }

    #[test]
    fn typo_in_second_word_suggests_within_group() {
        let error = resolve_command(&["daemon".to_owned(), "statsu".to_owned()], OWN).unwrap_err();
        assert_eq!(error.hint, "did you mean `stickpin daemon status`?");
    }

    #[test]
    fn empty_line_is_no_command() {
        assert!(resolve_command(&[], OWN).unwrap().is_none());
        assert!(resolve_command(&["--help".to_owned()], OWN).unwrap().is_none());
    }
}
