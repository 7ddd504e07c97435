//! Parses a typed line: a stickpin command or a colon command.

use crate::context::Conversation;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use stickpin_client::{ClientCommand, ClientCommands};
use stickpin_cmdline::{LocalCommand, Options, ParsedArguments};
use stickpin_kernel::registry::{self, CommandDefinition};
use stickpin_kernel::schema::{Field, NestedTargets};
use stickpin_kernel::{Error, PathArg, Result, Scope};

/// The word that refers to the target of an earlier prompt.
pub const IT: &str = "it";

/// The replacement for text that may be secret.
pub(crate) const MASK: &str = "•••";

/// A colon command: a short form of a stickpin command, or a command of the console itself.
pub(crate) struct Colon {
    pub(crate) name: &'static str,
    /// The arguments, for help.
    arguments: &'static str,
    /// The command that the colon command abbreviates; empty for a command of the console itself.
    command: &'static str,
    /// A description, for help.
    summary: &'static str,
}

/// The colon commands, in the order in which help lists them.
pub(crate) const COLONS: &[Colon] = &[
    Colon { name: ":help", arguments: "[TOPIC]", command: "", summary: "this list, a topic or a command" },
    Colon {
        name: ":state",
        arguments: "",
        command: "turn state",
        summary: "who has the turn, and the members",
    },
    Colon { name: ":who", arguments: "", command: "whoami", summary: "who you are in this session" },
    Colon { name: ":drive", arguments: "", command: "turn join", summary: "become a driver, who may act" },
    Colon { name: ":take", arguments: "[OPTIONS]", command: "turn take", summary: "take the turn" },
    Colon { name: ":release", arguments: "[OPTIONS]", command: "turn release", summary: "pass the turn on" },
    Colon {
        name: ":msg",
        arguments: "WHO TEXT",
        command: "msg send",
        summary: "message a member, or all (`room`)",
    },
    Colon { name: ":note", arguments: "TEXT", command: "notes add", summary: "leave a note in the session" },
    Colon { name: ":peer", arguments: "NAME", command: "session peer", summary: "add a peer session" },
    Colon { name: ":watch", arguments: "", command: "watch", summary: "watch the session in a browser" },
    Colon { name: ":clear", arguments: "", command: "", summary: "forget what `it` refers to" },
    Colon { name: ":quit", arguments: "", command: "", summary: "leave the console" },
];

/// The request that a line makes.
#[derive(Debug)]
pub enum Parsed {
    /// Nothing, for an empty line or a comment.
    Nothing,
    /// Print text.
    Print(String),
    /// Print the help of a topic or a command.
    Help(String),
    /// Clear the context.
    Clear,
    /// Leave the console.
    Quit,
    /// Run a command.
    Command(Box<Call>),
}

/// A command to run.
#[derive(Debug)]
pub struct Call {
    /// The definition of the command.
    pub definition: &'static CommandDefinition,
    /// The client command, if the command runs in this process.
    pub client_command: Option<&'static dyn ClientCommand>,
    /// The input by field name.
    pub input: Map<String, Value>,
    /// The values of the common options.
    pub options: Options,
}

/// The information that is needed to parse a line.
#[derive(Debug, Clone, Copy)]
pub struct Grammar<'a> {
    /// Commands that run in this process.
    pub client_commands: ClientCommands,
    /// The names of commands that exist only on the command line.
    pub shell_only: &'a [&'static str],
    /// The session of the console.
    pub session: &'a str,
}

impl Grammar<'_> {
    /// Parses a line.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS`, with the part that is not understood or does not work in a console.
    pub fn read(&self, line: &str) -> Result<Parsed> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(Parsed::Nothing);
        }
        if line.starts_with(':') {
            return self.read_colon(line);
        }
        let mut words = stickpin_cmdline::split(line)?;
        // The line was copied from a shell.
        if words.first().is_some_and(|word| word == "stickpin") {
            words.remove(0);
        }
        self.read_words(&words)
    }

    fn read_colon(&self, line: &str) -> Result<Parsed> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let colon = COLONS.iter().find(|colon| colon.name == name).ok_or_else(|| {
            let near = stickpin_kernel::schema::nearest(name, COLONS.iter().map(|colon| colon.name));
            let hint = near.map_or("type `:help`".to_owned(), |near| format!("did you mean `{near}`?"));
            let name = stickpin_tree::quote(name);
            Error::invalid_args(format!("there is no colon command {name}")).hint(hint)
        })?;
        let own = |parsed| match rest {
            "" => Ok(parsed),
            _ => Err(Error::invalid_args(format!("`{name}` takes no arguments"))),
        };
        let mut words: Vec<String> = colon.command.split(' ').map(str::to_owned).collect();
        match name {
            ":help" if rest.is_empty() => return Ok(Parsed::Print(help())),
            ":help" => return Ok(Parsed::Help(rest.to_owned())),
            ":clear" => return own(Parsed::Clear),
            ":quit" => return own(Parsed::Quit),
            // The text is used unchanged, with its quotes and apostrophes.
            ":msg" => {
                let (to, body) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let given = [to, "--", body.trim()];
                words.extend(given.iter().filter(|word| !word.is_empty()).map(|&word| word.to_owned()));
            }
            ":note" if rest.is_empty() => {}
            ":note" => words.extend(["--".to_owned(), rest.to_owned()]),
            ":peer" => {
                words.push(self.session.to_owned());
                words.extend(stickpin_cmdline::split(rest)?);
            }
            _ => words.extend(stickpin_cmdline::split(rest)?),
        }
        self.read_words(&words)
    }

    fn read_words(&self, words: &[String]) -> Result<Parsed> {
        let own: Vec<&'static CommandDefinition> =
            self.client_commands.iter().map(|command| command.definition()).collect();
        if let Some((first, topic)) = words.split_first()
            && first == "help"
        {
            return Ok(if topic.is_empty() { Parsed::Print(help()) } else { Parsed::Help(topic.join(" ")) });
        }
        if let Some(name) = self.shell_command(words, &own) {
            return Err(Error::invalid_args(format!("`{name}` runs only in a shell"))
                .hint("leave the console with `:quit`, or use another terminal"));
        }
        let Some(found) = stickpin_cmdline::resolve_command(words, &own)? else {
            return Err(Error::invalid_args("the line contains no command")
                .hint("type `:help`, or run `stickpin help` in a shell"));
        };
        let client_command =
            self.client_commands.iter().copied().find(|c| c.definition().spec.name == found.name);
        let definition = match client_command {
            Some(command) => command.definition(),
            None => registry::lookup(found.name)?,
        };
        let (mut input, options) = match stickpin_cmdline::read(definition, found.args)? {
            ParsedArguments::Help(text) => return Ok(Parsed::Print(text)),
            ParsedArguments::Input(input, options) => (input, options),
        };
        stickpin_cmdline::refuse_following(&options)?;
        if options.state_dir.is_some() {
            return Err(Error::invalid_args("the state directory of a console cannot be changed")
                .hint("pass `--state-dir` when you start the console"));
        }
        if registry::find(found.name).is_some_and(|entry| stickpin_cmdline::wants_stdin(entry, &mut input)) {
            return Err(Error::invalid_args("a console cannot read steps from standard input")
                .hint("write the steps as arguments, or run a script in a shell"));
        }
        Ok(Parsed::Command(Box::new(Call { definition, client_command, input, options })))
    }

    /// Returns the command that a line names, if it exists only on the command line.
    fn shell_command(&self, words: &[String], own: &[&'static CommandDefinition]) -> Option<&'static str> {
        let known = |name: &str| registry::find(name).is_some() || own.iter().any(|d| d.name() == name);
        let mut names = self.shell_only.iter().copied().chain(["watch"]).filter(|name| !known(name));
        names.find(|name| {
            let mut given = words.iter().map(String::as_str);
            name.split(' ').all(|word| given.next() == Some(word))
        })
    }
}

/// Returns the help of the console.
#[must_use]
pub fn help() -> String {
    let mut text = String::from(
        "Type commands as on the command line, without the word stickpin: `snapshot -i`, `press @e3`.\n\
         `it` refers to the element of the last command that had one: `press it`.\n\n",
    );
    for colon in COLONS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:8} {:10} {}", colon.name, colon.arguments, colon.summary);
    }
    let _ = write!(
        text,
        "\n`:clear` empties the context for later prompts; a stored conversation stays in the session log.\n\
         `:help TOPIC` explains one of {}, or a command.\n{}",
        stickpin_cmdline::help::names(),
        PathArg::RULES
    );
    text
}

impl Call {
    /// Replaces the target `it` with the target to which `it` refers, and returns that target;
    /// `None` if `it` is not a target of the command.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` if `it` refers to nothing.
    pub fn resolve_it(&mut self, conversation: &Conversation) -> Result<Option<String>> {
        let target = conversation.target();
        let mut used = false;
        self.definition.rewrite_targets(&mut self.input, &mut |given| {
            (given == IT).then(|| {
                used = true;
                target.clone().unwrap_or_else(|| given.to_owned())
            })
        });
        let missing = || {
            Error::invalid_args("`it` refers to nothing")
                .hint("name an element first, for example `press @e3`")
        };
        if used { target.map(Some).ok_or_else(missing) } else { Ok(None) }
    }

    /// Returns the last element that the command names, if it names any.
    #[must_use]
    pub fn target(&self) -> Option<String> {
        let mut last = None;
        self.definition.rewrite_targets(&mut self.input.clone(), &mut |given| {
            last = Some(given.to_owned());
            None
        });
        last
    }

    /// Returns the command line. In a command that concerns a session or runs steps, [`MASK`]
    /// replaces free text and the values of assignments, which may be secret.
    #[must_use]
    pub fn without_secrets(&self) -> String {
        let mut input = self.input.clone();
        let has_steps = |field: &Field| field.nested_targets == Some(NestedTargets::Steps);
        if self.definition.spec.scope == Scope::Session || self.definition.fields().iter().any(has_steps) {
            self.definition.visit_arguments(&mut input, &mut |field, value| {
                if field.is_free_text || field.nested_targets == Some(NestedTargets::Assignments) {
                    *value = match value {
                        Value::Array(items) => Value::Array(vec![MASK.into(); items.len()]),
                        _ => MASK.into(),
                    };
                }
            });
        }
        let words = stickpin_cmdline::write(self.definition, &input);
        words.iter().map(|word| quote_word(word)).collect::<Vec<_>>().join(" ")
    }
}

/// Quotes a word so that it remains one word when the line is split.
pub(crate) fn quote_word(word: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && c != '"' && c != '\'';
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    match word.contains('\'') {
        false => format!("'{word}'"),
        true => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Entry;

    const GRAMMAR: Grammar<'_> =
        Grammar { client_commands: &[], shell_only: &["daemon status", "mcp"], session: "shop" };

    fn call(line: &str) -> Call {
        match GRAMMAR.read(line) {
            Ok(Parsed::Command(call)) => *call,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn conversation(target: &str) -> Conversation {
        let mut conversation = Conversation::default();
        conversation.push(Entry { target: Some(target.to_owned()), ..Entry::default() });
        conversation.push(Entry::default());
        conversation
    }

    #[test]
    fn lines_read_as_on_the_command_line() {
        for line in ["press @e3 --settle", "stickpin press @e3 --settle"] {
            let call = call(line);
            assert_eq!((call.definition.spec.name, &call.input["target"]), ("press", &"@e3".into()));
        }
        assert!(matches!(GRAMMAR.read("  "), Ok(Parsed::Nothing)));
        assert!(matches!(GRAMMAR.read("# a comment"), Ok(Parsed::Nothing)));
        assert!(matches!(GRAMMAR.read("press -h"), Ok(Parsed::Print(text)) if text.contains("Usage")));
        for (line, message) in [
            ("daemon status", "runs only in a shell"),
            ("mcp", "runs only in a shell"),
            (":watch", "runs only in a shell"),
            ("events --follow", "`--follow`"),
            ("batch -", "standard input"),
            ("snapshot --state-dir /tmp", "cannot be changed"),
            (":stat", "no colon command"),
            (":clear all", "takes no arguments"),
        ] {
            let error = GRAMMAR.read(line).unwrap_err();
            assert!(error.message.contains(message), "{line}: {error}");
        }
        assert_eq!(GRAMMAR.read(":stat").unwrap_err().hint, "did you mean `:state`?");
    }

    #[test]
    fn colon_commands_map_to_commands() {
        for (line, name, field, value) in [
            (":state", "turn state", "", Value::Null),
            (":who", "whoami", "", Value::Null),
            (":drive", "turn join", "", Value::Null),
            (":take --operator-requested", "turn take", "operatorRequested", true.into()),
            (":release", "turn release", "", Value::Null),
            (":peer mail", "session peer", "session", "shop".into()),
            (":peer mail", "session peer", "peer", "mail".into()),
            (":note it's \"done\"", "notes add", "body", vec!["it's \"done\""].into()),
            (":msg bob don't -x", "msg send", "body", vec!["don't -x"].into()),
        ] {
            let call = call(line);
            assert_eq!(call.definition.spec.name, name, "{line}");
            assert_eq!(call.input.get(field).unwrap_or(&Value::Null), &value, "{line}: {:?}", call.input);
        }
        assert!(matches!(GRAMMAR.read(":quit"), Ok(Parsed::Quit)));
        assert!(matches!(GRAMMAR.read(":clear"), Ok(Parsed::Clear)));
        for line in [":help turn wait", "help turn wait"] {
            assert!(matches!(GRAMMAR.read(line), Ok(Parsed::Help(topic)) if topic == "turn wait"));
        }
    }

    #[test]
    fn help_names_every_colon_command_and_the_rules_for_paths_once() {
        let text = help();
        assert!(COLONS.iter().all(|colon| text.contains(colon.name)), "{text}");
        assert_eq!(text.matches(PathArg::RULES).count(), 1);
    }

    #[test]
    fn it_stands_for_the_last_target() {
        let mut press = call("press it");
        assert_eq!(press.resolve_it(&conversation("@e3")).unwrap().as_deref(), Some("@e3"));
        assert_eq!(press.input["target"], "@e3");
        let mut selector = call("get text it");
        selector.resolve_it(&conversation("role=button \"Save\"")).unwrap();
        assert_eq!(selector.target().as_deref(), Some("role=button \"Save\""));
        let mut text = call("fill @e3 it");
        assert_eq!(text.resolve_it(&conversation("@e9")).unwrap(), None, "text is not a target");
        assert_eq!(text.input["text"], "it");
        let error = call("press it").resolve_it(&Conversation::default()).unwrap_err();
        assert!(error.message.contains("refers to nothing"), "{error}");
    }

    #[test]
    fn typed_text_is_masked_and_messages_are_not() {
        for (line, shown) in [
            ("fill @e3 hunter2", "fill @e3 •••"),
            ("press 'role=button \"Save\"'", "press 'role=button \"Save\"'"),
            ("notes add the test card", "notes add the test card"),
        ] {
            assert_eq!(call(line).without_secrets(), shown);
        }
        for line in ["form '@e3=hunter2=x' @e4=x", "batch 'fill @e3 hunter2' 'press @e4'"] {
            let shown = call(line).without_secrets();
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }
}
