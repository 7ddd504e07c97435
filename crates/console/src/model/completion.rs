//! Completion of commands, options, option values, refs and selectors.

use super::line::{COLONS, IT, quote_word};
use stickpin_client::ClientCommands;
use stickpin_kernel::registry::{self, COMMANDS, CommandDefinition};
use stickpin_kernel::schema::{Field, Kind, kebab_case};

/// The maximum number of candidates that are offered.
const MAX_CANDIDATES: usize = 50;

/// The completions of the word before the cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Completion {
    /// The byte index at which the word begins.
    pub(crate) start: usize,
    /// The matching words, in order.
    pub(crate) candidates: Vec<String>,
}

impl Completion {
    /// Returns the common prefix of all candidates.
    pub(crate) fn common(&self) -> &str {
        let Some((first, rest)) = self.candidates.split_first() else { return "" };
        let shared = |other: &String| {
            let same = first.chars().zip(other.chars()).take_while(|(a, b)| a == b);
            same.map(|(c, _)| c.len_utf8()).sum::<usize>()
        };
        &first[..rest.iter().map(shared).min().unwrap_or(first.len())]
    }
}

/// Completes the word at the end of `line`. `targets` are the refs and selectors of the tree.
pub(crate) fn complete(
    line: &str,
    client_commands: ClientCommands,
    targets: &mut dyn Iterator<Item = String>,
) -> Completion {
    let start = word_start(line);
    let (before, word) = line.split_at(start);
    let given: Vec<&str> = before.split_whitespace().collect();
    let candidates = candidates(&given, word, client_commands, targets);
    Completion { start, candidates }
}

/// Returns the index at which the last word begins. An open quote is part of that word.
fn word_start(line: &str) -> usize {
    let (mut start, mut quote) = (0, None);
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c.is_whitespace() => start = at + c.len_utf8(),
            _ => {}
        }
    }
    start
}

fn candidates(
    given: &[&str],
    word: &str,
    client_commands: ClientCommands,
    targets: &mut dyn Iterator<Item = String>,
) -> Vec<String> {
    let mut found = Vec::new();
    let names = || {
        let own = client_commands.iter().map(|command| command.definition().spec.name);
        COMMANDS.iter().map(|entry| entry.spec.name).chain(own)
    };
    if given.is_empty() {
        found.extend(COLONS.iter().map(|colon| colon.name.to_owned()));
        found.extend(names().filter_map(|name| name.split(' ').next()).map(str::to_owned));
    }
    if let [group] = given {
        let members = names().filter_map(|name| name.strip_prefix(group)?.strip_prefix(' '));
        found.extend(members.map(str::to_owned));
    }
    let definition = command(given, client_commands);
    if let Some(definition) = definition {
        let fields = definition.fields();
        if word.starts_with('-') {
            found.extend(
                stickpin_cmdline::command_grammar(definition)
                    .get_arguments()
                    .filter_map(|arg| arg.get_long().map(|long| format!("--{long}"))),
            );
        } else {
            let option = given.last().and_then(|last| last.strip_prefix("--"));
            let is_asked = |field: &&Field| match (option, field.positional) {
                (Some(option), _) if kebab_case(&field.name) == option => true,
                (_, positional) => positional.is_some(),
            };
            let asked: Vec<&Field> = fields.iter().filter(is_asked).collect();
            if asked.iter().any(|field| takes_target(field)) {
                found.push(IT.to_owned());
                found.extend(targets.map(|target| quote_word(&target)));
            }
            found.extend(asked.iter().filter_map(|field| words_of(&field.kind)).flatten());
        }
    }
    // A word that is typed without a quote may become a quoted word.
    let fits = |candidate: &String| {
        candidate.starts_with(word)
            || (!word.is_empty() && candidate.trim_start_matches(['\'', '"']).starts_with(word))
    };
    found.retain(|candidate| fits(candidate) && candidate != word);
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|candidate| seen.insert(candidate.clone()));
    found.truncate(MAX_CANDIDATES);
    found
}

fn takes_target(field: &Field) -> bool {
    field.kind == Kind::Target
        || field.kind == Kind::List(Box::new(Kind::Target))
        || field.nested_targets.is_some()
}

fn words_of(kind: &Kind) -> Option<Vec<String>> {
    match kind {
        Kind::Choice(words) => Some(words.iter().map(|(word, _)| word.clone()).collect()),
        Kind::List(kind) => words_of(kind),
        _ => None,
    }
}

/// Returns the command that the words before the cursor name, if any.
fn command(given: &[&str], client_commands: ClientCommands) -> Option<&'static CommandDefinition> {
    let find = |name: &str| {
        let own = client_commands.iter().map(|command| command.definition());
        registry::find(name).map(|entry| &**entry).or_else(|| own.into_iter().find(|d| d.spec.name == name))
    };
    match given {
        [] => None,
        [one] => find(one),
        [first, second, ..] => find(&format!("{first} {second}")).or_else(|| find(first)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(line: &str) -> Completion {
        let targets = ["@e1", "@e12", "role=link \"Orders\""].map(str::to_owned);
        complete(line, &[], &mut targets.into_iter())
    }

    #[track_caller]
    fn offers(line: &str, word: &str) {
        let found = completed(line).candidates;
        assert!(found.iter().any(|candidate| candidate == word), "{line}: {found:?}");
    }

    #[test]
    fn every_part_of_a_line_completes() {
        offers("sna", "snapshot");
        offers(":dr", ":drive");
        offers("session li", "list");
        offers("snapshot --in", "--interactive");
        offers("press ", "it");
        offers("press @e", "@e12");
        offers("press role=li", "'role=link \"Orders\"'");
        offers("press 'role=li", "'role=link \"Orders\"'");
        offers("scroll d", "down");
        offers("press @e1 --button r", "right");
        assert_eq!(completed("press ").candidates[..2], ["it", "@e1"]);
        assert_eq!(completed("nonsense ").candidates, Vec::<String>::new());
        assert_eq!(completed("turn state @").candidates, Vec::<String>::new());
    }

    #[test]
    fn word_grows_to_what_candidates_share() {
        let found = completed("press @");
        assert_eq!((found.start, found.common()), (6, "@e1"));
        assert_eq!(completed("snapsho").common(), "snapshot");
    }
}
