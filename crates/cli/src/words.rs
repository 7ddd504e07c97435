//! Which command an argument list names. Pure: looks at words only, so that only that command's grammar is built.

use crate::globals;
use crate::local::{LOCAL, Local};
use stickpin_kernel::registry::{self, COMMANDS, Entry};
use stickpin_kernel::schema::nearest;
use stickpin_kernel::{Error, ErrorCode, Result};

/// A command: of the registry, or one that only a command line has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Leaf {
    Registry(&'static Entry),
    Local(&'static Local),
}

impl Leaf {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Registry(entry) => entry.spec.name,
            Self::Local(local) => local.name,
        }
    }

    fn find(name: &str) -> Option<Self> {
        let local = || LOCAL.iter().find(|l| l.name == name).map(Self::Local);
        registry::find(name).map(Self::Registry).or_else(local)
    }
}

/// A command and the arguments that are left for it.
#[derive(Debug)]
pub(crate) struct Picked {
    pub(crate) leaf: Leaf,
    pub(crate) args: Vec<String>,
}

/// Finds the command: two words before one, options of every command skipped. `None` when there is no word at all.
///
/// # Errors
/// `INVALID_ARGS` with the nearest name, or the members of a group that has no command of its own.
pub(crate) fn pick(args: &[String]) -> Result<Option<Picked>> {
    let Some(first) = word(args, 0) else { return Ok(None) };
    let without = |taken: &[usize]| {
        let rest = args.iter().enumerate().filter(|(i, _)| !taken.contains(i));
        rest.map(|(_, arg)| arg.clone()).collect()
    };
    if let Some(second) = word(args, first + 1)
        && let Some(leaf) = Leaf::find(&format!("{} {}", args[first], args[second]))
    {
        return Ok(Some(Picked { leaf, args: without(&[first, second]) }));
    }
    if let Some(leaf) = Leaf::find(&args[first]) {
        return Ok(Some(Picked { leaf, args: without(&[first]) }));
    }
    let group = &args[first];
    let members: Vec<&str> = members(group).collect();
    if members.is_empty() {
        return Err(unknown(group));
    }
    let all = format!("stickpin {group} {}", members.join("|"));
    let (message, hint) = match word(args, first + 1).map(|second| &args[second]) {
        Some(second) => {
            let near = nearest(second, members.iter().copied());
            let hint = near.map_or(all, |near| format!("did you mean `stickpin {group} {near}`?"));
            (format!("`{group}` has no command {second:?}"), hint)
        }
        None => (format!("`{group}` is a group of commands"), all),
    };
    Err(Error::new(ErrorCode::InvalidArgs, message).hint(hint))
}

/// The index of the next word at or after `from`; `None` if an option comes first that is the command's own.
fn word(args: &[String], mut from: usize) -> Option<usize> {
    while let Some(width) = globals::width(args.get(from)?) {
        from += width;
    }
    args.get(from).filter(|arg| !arg.starts_with('-')).map(|_| from)
}

/// The names of all commands that are not hidden.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let local = LOCAL.iter().filter(|l| !l.hidden).map(|l| l.name);
    COMMANDS.iter().map(|e| e.spec.name).chain(local)
}

/// The second words of a group.
pub(crate) fn members(group: &str) -> impl Iterator<Item = &'static str> {
    names().filter_map(move |name| {
        name.split_once(' ').filter(|(first, _)| *first == group).map(|(_, member)| member)
    })
}

fn unknown(name: &str) -> Error {
    let aliases = COMMANDS.iter().flat_map(|e| e.spec.aliases.iter().copied());
    let hint = match nearest(name, names().chain(aliases)) {
        Some(near) => format!("did you mean `stickpin {near}`?"),
        None => "stickpin help lists the commands".to_owned(),
    };
    Error::new(ErrorCode::InvalidArgs, format!("there is no command {name:?}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(line: &str) -> (&'static str, String) {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let picked = pick(&args).unwrap().unwrap();
        (picked.leaf.name(), picked.args.join(" "))
    }

    #[test]
    fn two_words_come_before_one_and_options_of_every_command_may_stand_anywhere() {
        assert_eq!(picked("get title"), ("get title", String::new()));
        assert_eq!(picked("get text @e1"), ("get", "text @e1".into()));
        assert_eq!(picked("--session a get --json title"), ("get title", "--session a --json".into()));
        assert_eq!(picked("--json press @e1"), ("press", "--json @e1".into()));
        assert_eq!(picked("daemon status"), ("daemon status", String::new()));
    }

    #[test]
    fn aliases_are_names() {
        assert_eq!(picked("click @e1").0, "press");
    }

    #[test]
    fn what_is_unknown_gets_the_nearest_and_a_group_its_members() {
        let error = |line: &str| pick(&line.split(' ').map(str::to_owned).collect::<Vec<_>>()).unwrap_err();
        assert_eq!(error("snapshto -i").hint, "did you mean `stickpin snapshot`?");
        assert_eq!(error("qqqq").hint, "stickpin help lists the commands");
        assert_eq!(error("daemon").hint, "stickpin daemon status|start|stop");
        let error = error("daemon dance");
        assert_eq!(error.message, "`daemon` has no command \"dance\"");
        assert_eq!(error.hint, "stickpin daemon status|start|stop");
        assert_eq!(error.code, ErrorCode::InvalidArgs);
    }

    #[test]
    fn a_slip_in_the_second_word_gets_the_nearest_of_the_group() {
        let error = pick(&["daemon".to_owned(), "statsu".to_owned()]).unwrap_err();
        assert_eq!(error.hint, "did you mean `stickpin daemon status`?");
    }

    #[test]
    fn no_word_is_no_command() {
        assert!(pick(&[]).unwrap().is_none());
        assert!(pick(&["--help".to_owned()]).unwrap().is_none());
    }
}
