//! The options that every command accepts.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ArgMatches, ColorChoice, ValueEnum};
use serde_json::Value;
use stickpin_kernel::schema::Field;
use stickpin_kernel::{Detail, Error, Follow, Format, Render, Result};

/// A common option.
struct CommonOption {
    long: &'static str,
    /// The placeholder for the option's value; `None` for a switch.
    value: Option<&'static str>,
    help: &'static str,
}

const OPTIONS: &[CommonOption] = &[
    CommonOption {
        long: "session",
        value: Some("NAME"),
        help: "The session to use; by default, this project's own",
    },
    CommonOption { long: "state-dir", value: Some("DIR"), help: "The state directory of the daemon" },
    CommonOption { long: "json", value: None, help: "Print the response as JSON" },
    CommonOption { long: "detail", value: Some("HOW"), help: "How much to print: digest, normal, full" },
    CommonOption { long: "timeout", value: Some("MS"), help: "Time limit for the command in milliseconds" },
    CommonOption { long: "turn", value: Some("ID"), help: "Act only while you hold this turn" },
    CommonOption { long: "max-bytes", value: Some("N"), help: "Maximum length of the text in bytes" },
    CommonOption { long: "color", value: Some("WHEN"), help: "When to color the text: auto, always, never" },
];

/// The values of the common options.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The value of `--session`.
    pub session: Option<String>,
    /// The value of `--state-dir`.
    pub state_dir: Option<String>,
    /// The value of `--json`.
    pub json: bool,
    /// The value of `--detail`.
    pub detail: Detail,
    /// The value of `--timeout`, unless the command has its own `--timeout`.
    pub timeout_ms: Option<u64>,
    /// The value of `--turn`, unless the command has its own `--turn`.
    pub turn: Option<u64>,
    /// The value of `--max-bytes`.
    pub max_bytes: Option<usize>,
    /// The value of `--color`.
    pub color: ColorChoice,
    /// The value of `--follow`, for commands that can be followed.
    pub follow: bool,
    /// The value of `--stdin`, for commands that read an argument from standard input.
    pub stdin: bool,
    /// The value of `--show`, for commands that take a picture.
    pub show: bool,
}

impl Options {
    /// Returns how to render the answer.
    #[must_use]
    pub fn render(&self) -> Render {
        let format = if self.json { Format::Json } else { Format::Text };
        Render { format, max_bytes: self.max_bytes, detail: self.detail, ..Render::default() }
    }
}

/// Returns how many words the common option `arg` takes up together with its value; `None` if it is
/// not a common option.
#[must_use]
pub fn width(arg: &str) -> Option<usize> {
    let (name, inline) = match arg.strip_prefix("--")?.split_once('=') {
        Some((name, _)) => (name, true),
        None => (&arg[2..], false),
    };
    let global = OPTIONS.iter().find(|g| g.long == name)?;
    Some(if inline || global.value.is_none() { 1 } else { 2 })
}

/// Returns the arguments of the common options, except those for which `taken` is true: a command's
/// own option wins.
pub(crate) fn args(taken: impl Fn(&str) -> bool) -> impl Iterator<Item = Arg> {
    OPTIONS.iter().filter(move |g| !taken(g.long)).map(|g| {
        let arg = Arg::new(id(g.long)).long(g.long).help(g.help).help_heading("For every command");
        match g.value {
            Some(value) => arg.value_name(value),
            None => arg.action(ArgAction::SetTrue),
        }
    })
}

/// Returns a switch that only some commands have; `id` is its clap id, with the hyphens.
fn switch(id: &'static str, help: impl Into<StyledStr>) -> Arg {
    Arg::new(id).long(&id[2..]).help(help.into()).action(ArgAction::SetTrue)
}

/// The clap id of the switch `--follow`.
const FOLLOW: &str = "--follow";

/// Returns the switch `--follow`, which makes a front end repeat a command until interrupted.
pub(crate) fn follow(how: Follow) -> Arg {
    let help = "Print entries as they arrive until you end the command (with `--json`, one object per line); the last line on stderr is `cursor_seq=N`";
    switch(FOLLOW, help).conflicts_with_all([how.wait, how.timeout])
}

/// The clap id of the switch that shows the picture of a response.
const SHOW: &str = "--show";

/// Returns the switch that shows the picture of a response in the terminal.
pub(crate) fn show() -> Arg {
    switch(SHOW, "Show the picture in the terminal, if it supports pictures (kitty, iTerm2, sixel)")
}

/// The clap id of the switch that reads an argument from standard input.
pub(crate) const STDIN: &str = "--stdin";

/// Returns the switch that reads a field from standard input, in place of its argument.
pub(crate) fn stdin(field: &Field) -> Arg {
    let help = format!("Read {} from standard input", field.placeholder);
    switch(STDIN, help).conflicts_with(field.name.clone())
}

/// Returns the clap id of an option. The dashes keep it apart from field names, which are
/// camelCase.
fn id(long: &str) -> String {
    format!("--{long}")
}

/// Reads the common options from matches.
///
/// # Errors
/// Returns `INVALID_ARGS` for a malformed value.
pub fn read(matches: &ArgMatches) -> Result<Options> {
    let text = |long: &str| matches.try_get_one::<String>(&id(long)).ok().flatten().cloned();
    let number = |long: &str| -> Result<Option<u64>> {
        let Some(text) = text(long) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            let message = format!("`--{long}`: {text:?} is not a whole number from 0 to {}", u64::MAX);
            Error::invalid_args(message)
        })
    };
    let detail = match text("detail") {
        None => Detail::default(),
        Some(text) => serde_json::from_value(Value::from(text.as_str())).map_err(|_| {
            let message = format!("`--detail`: {text:?} is not one of digest, normal, full");
            Error::invalid_args(message)
        })?,
    };
    let color = match text("color") {
        None => ColorChoice::default(),
        Some(text) => ColorChoice::from_str(&text, false).map_err(|_| {
            let message = format!("`--color`: {text:?} is not one of auto, always, never");
            Error::invalid_args(message)
        })?,
    };
    let named = |long: &str| match text(long) {
        Some(empty) if empty.is_empty() => {
            let hint = format!("omit `--{long}` for the default");
            Err(Error::invalid_args(format!("`--{long}` is empty")).hint(hint))
        }
        name => Ok(name),
    };
    let switch = |id: &str| matches.try_get_one(id).ok().flatten().copied().unwrap_or(false);
    Ok(Options {
        session: named("session")?,
        state_dir: named("state-dir")?,
        json: matches.get_flag(&id("json")),
        detail,
        timeout_ms: number("timeout")?,
        turn: number("turn")?,
        max_bytes: number("max-bytes")?.map(|n| usize::try_from(n).unwrap_or(usize::MAX)),
        color,
        follow: switch(FOLLOW),
        stdin: switch(STDIN),
        show: switch(SHOW),
    })
}

/// Refuses `--turn` for a command that consists of others, which have turns of their own.
///
/// # Errors
/// Returns `INVALID_ARGS`.
pub fn refuse_turn(options: &Options) -> Result<()> {
    match options.turn {
        None => Ok(()),
        Some(_) => Err(Error::invalid_args(
            "this command does not accept `--turn`, which applies to a single command in a session",
        )
        .hint("omit `--turn`; in a script, add it to the commands that need it")),
    }
}

/// Returns whether `--json` is given. Works on invalid arguments too, so that their error is
/// printed as JSON.
#[must_use]
pub fn wants_json(args: &[String]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}

/// Returns the color choice of a command line, even if its arguments are invalid.
#[must_use]
pub fn color_choice(args: &[String]) -> ColorChoice {
    let mut args = args.iter().take_while(|arg| *arg != "--");
    let mut choice = ColorChoice::default();
    while let Some(arg) = args.next() {
        let value = match arg.strip_prefix("--color") {
            Some("") => args.next().map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        choice = value.and_then(|value| ColorChoice::from_str(value, false).ok()).unwrap_or(choice);
    }
    choice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_before_the_command_are_skipped_with_their_values() {
        assert_eq!(width("--session"), Some(2));
        assert_eq!(width("--session=a"), Some(1));
        assert_eq!(width("--json"), Some(1));
        assert_eq!(width("--nonsense"), None);
        assert_eq!(width("press"), None);
    }

    #[test]
    fn json_is_wanted_only_before_the_double_hyphen() {
        let args = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(wants_json(&args("press --json @e1")));
        assert!(!wants_json(&args("fill @e1 -- --json")));
    }

    #[test]
    fn color_is_read_before_parsing() {
        let wanted = |text: &str| color_choice(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(wanted("--color always press --nonsense"), ColorChoice::Always);
        assert_eq!(wanted("press --color=never"), ColorChoice::Never);
        assert_eq!(wanted("fill @e1 -- --color=never"), ColorChoice::Auto);
    }

    #[test]
    fn command_keeps_its_own_option_of_the_same_name() {
        let names: Vec<_> = args(|long| long == "timeout").map(|a| a.get_id().to_string()).collect();
        assert!(
            !names.contains(&"--timeout".to_owned()) && names.contains(&"--session".to_owned()),
            "{names:?}"
        );
    }
}
