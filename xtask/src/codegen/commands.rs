//! `docs/commands.md`: the reference of commands, generated from the registry and the grammar of
//! the binary.

use crate::Result;
use crate::run::root;
use clap::{Arg, Command};
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::schema::{Field, Kind};
use stickpin_kernel::{Effect, ErrorCode};

/// The file that names every environment variable.
const ENV: &str = "crates/stickpin/src/env.rs";

const INTRODUCTION: &str = "\
# Commands

Made by `cargo xtask codegen` from the registry; do not edit. `stickpin help COMMAND` says the same in a terminal,
`stickpin help workflow` is the place to begin.

An argument is spelled `--max-bytes` on a command line and `maxBytes` in JSON (the steps of `batch`, the socket). A
*target* is a ref (`@e3`), a selector (`stickpin help selectors`) or a point of the last screenshot (`120,340`).
Without a word about its effect, a command only reads.
";

/// Returns the client commands of the binary.
fn client_commands() -> stickpin_cli::ClientCommands {
    [stickpin_replay::COMMANDS, stickpin_install::COMMANDS].concat().leak()
}

/// Returns the whole page.
pub(crate) fn reference() -> Result<String> {
    let grammars: Vec<_> = stickpin_cli::grammars(client_commands()).collect();
    let mut page = vec![INTRODUCTION.to_owned()];
    page.extend(grammars.iter().map(|(entry, grammar)| command(*entry, grammar.clone())));
    let (_, any) = grammars.first().ok_or("there are no commands")?;
    page.push(format!(
        "## Options of every command\n\n{}",
        table(any.get_arguments().filter(|a| is_global(a)), None)
    ));
    page.push(codes());
    page.push(variables()?);
    Ok(page.join("\n"))
}

fn command(entry: Option<&CommandDefinition>, mut grammar: Command) -> String {
    let name = grammar.get_name().trim_start_matches("stickpin ").to_owned();
    let usage = grammar.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").split_whitespace().collect::<Vec<_>>().join(" ");
    let about = grammar.get_about().map(ToString::to_string).unwrap_or_default();
    let mut parts = vec![format!("## `{name}`"), format!("```text\n{usage}\n```")];
    parts.push(if about.ends_with('.') { about } else { format!("{about}.") });
    if let Some(facts) = entry.map(facts).filter(|f| !f.is_empty()) {
        parts.push(facts);
    }
    let mut own = grammar.get_arguments().filter(|a| !is_global(a) && a.get_id() != "help").peekable();
    if own.peek().is_some() {
        parts.push(table(own, entry).trim_end().to_owned());
    }
    if let Some(examples) = entry.map(|e| e.spec.examples).filter(|e| !e.is_empty()) {
        parts.push(format!("```sh\n{}\n```", examples.join("\n")));
    }
    parts.join("\n\n") + "\n"
}

/// Returns the effect and other names of a command.
fn facts(entry: &CommandDefinition) -> String {
    let mut facts = Vec::new();
    if entry.spec.effect == Effect::Mutates {
        facts.push("Changes the app.".to_owned());
    }
    if !entry.spec.aliases.is_empty() {
        facts.push(format!("Also called {}.", codes_of(entry.spec.aliases)));
    }
    facts.join(" ")
}

fn codes_of(words: &[&str]) -> String {
    words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
}

fn is_global(arg: &Arg) -> bool {
    arg.get_help_heading().is_some()
}

fn table<'a>(args: impl Iterator<Item = &'a Arg>, entry: Option<&CommandDefinition>) -> String {
    let rows = args.map(|arg| {
        let field = entry.and_then(|e| e.fields().iter().find(|f| f.name == arg.get_id().as_str()));
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let value_kind = field.map_or_else(|| arg_values(arg), |f| kind(&f.kind));
        let default = match field.and_then(default) {
            Some(default) => default,
            None if arg.is_required_set() => "required".to_owned(),
            None => String::new(),
        };
        format!("| {} | {} | {default} | {} |\n", arg_spelling(arg), cell(&value_kind), cell(&help))
    });
    format!("| | takes | default | |\n|---|---|---|---|\n{}", rows.collect::<String>())
}

/// Returns the spelling of an argument: `-c`, `--count N`; `WHAT`.
fn arg_spelling(arg: &Arg) -> String {
    let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let takes_value = arg.get_action().takes_values();
    let Some(long) = arg.get_long() else {
        return format!("`{}`", value.unwrap_or_else(|| arg.get_id().to_string()));
    };
    let short = arg.get_short().map(|c| format!("`-{c}`, ")).unwrap_or_default();
    match value.filter(|_| takes_value) {
        Some(value) if arg.is_require_equals_set() => format!("{short}`--{long}[={value}]`"),
        Some(value) => format!("{short}`--{long} {value}`"),
        None => format!("{short}`--{long}`"),
    }
}

/// Returns what an argument outside the registry takes.
fn arg_values(arg: &Arg) -> String {
    if !arg.get_action().takes_values() {
        return "switch".to_owned();
    }
    let words = arg.get_possible_values();
    match words.is_empty() {
        true => "text".to_owned(),
        false => codes_of(&words.iter().map(clap::builder::PossibleValue::get_name).collect::<Vec<_>>()),
    }
}

fn kind(kind: &Kind) -> String {
    let one = |word: &str| word.to_owned();
    match kind {
        Kind::Bool => one("switch"),
        Kind::Integer => one("whole number"),
        Kind::Number => one("number"),
        Kind::String => one("text"),
        Kind::Target => one("target"),
        Kind::Choice(words) => codes_of(&words.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>()),
        Kind::List(of) => format!("list of {}", self::kind(of)),
        Kind::Any => one("JSON"),
    }
}

/// Returns the default as it would be typed; `None` for switches.
fn default(field: &Field) -> Option<String> {
    match field.default.as_ref()? {
        serde_json::Value::Bool(_) => None,
        serde_json::Value::String(text) if text.is_empty() => None,
        serde_json::Value::String(text) => Some(format!("`{text}`")),
        serde_json::Value::Array(items) if items.is_empty() => None,
        other => Some(format!("`{other}`")),
    }
}

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn codes() -> String {
    let rows: String = ErrorCode::ALL
        .iter()
        .map(|c| format!("| `{}` | {} | {} |\n", c.name(), c.exit(), cell(c.meaning())))
        .collect();
    format!(
        "## Error codes\n\nThe command line exits with 0 when a command did what it was asked, with 1 also for an \
         `is` that is false,\nelse with the code of the error.\n\n| code | exit | |\n|---|---|---|\n{rows}"
    )
}

fn variables() -> Result<String> {
    let source = std::fs::read_to_string(root().join(ENV)).map_err(|e| format!("{ENV}: {e}"))?;
    let named = named(&source)?;
    if !named.iter().any(|(name, _)| name == "STICKPIN_SESSION") {
        return Err(format!("{ENV} no longer names variables in the form that is read here"));
    }
    let rows: String = named.iter().map(|(name, doc)| format!("| `{name}` | {} |\n", cell(doc))).collect();
    Ok(format!(
        "## Environment variables\n\nAn option comes before its variable. Those of the browser and the log are read by \
         the daemon when it starts.\n\n| | |\n|---|---|\n{rows}"
    ))
}

/// Returns the constants in a source that name variables, each with its doc comment.
fn named(source: &str) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut doc = Vec::new();
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("/// ") {
            doc.push(text);
        } else if let Some((_, value)) = line.strip_prefix("const ").and_then(|c| c.split_once(": &str = ")) {
            let name = value.trim_end_matches(';').trim_matches('"');
            if doc.is_empty() {
                return Err(format!("{ENV}: {name} has no doc comment"));
            }
            found.push((name.to_owned(), std::mem::take(&mut doc).join(" ")));
        } else if !line.starts_with("#[") {
            doc.clear();
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_option_code_and_variable_is_on_the_page() {
        let page = reference().unwrap();
        for (_, grammar) in stickpin_cli::grammars(client_commands()) {
            let name = grammar.get_name().trim_start_matches("stickpin ").to_owned();
            assert!(page.contains(&format!("\n## `{name}`\n")), "{name}");
        }
        for code in ErrorCode::ALL {
            assert!(page.contains(&format!("| `{}` | {} | {} |", code.name(), code.exit(), code.meaning())));
        }
        for part in
            ["`--settle[=MS]`", "`-i`, `--interactive`", "| `STICKPIN_CHROMIUM` |", "| `--session NAME` |"]
        {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn variables_come_with_their_docs() {
        let source = "/// Other.\nfn f() {}\n\n/// Where\n/// to.\n#[cfg(x)]\nconst A: &str = \"B_C\";\n";
        assert_eq!(named(source).unwrap(), [("B_C".to_owned(), "Where to.".to_owned())]);
        assert!(named("const A: &str = \"B\";").is_err());
    }
}
