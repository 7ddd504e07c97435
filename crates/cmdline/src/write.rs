//! Converts a command and its input to words that parse as the same command. Used by scripts and
//! hints.

use crate::grammar::{is_on_by_default, kebab_case, long_name};
use serde_json::{Map, Value};
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::schema::{Field, Kind};

/// Returns the words of a command line, without the program's name. Fields that are null, and
/// optional fields that have their default value, are omitted.
#[must_use]
pub fn write(definition: &CommandDefinition, input: &Map<String, Value>) -> Vec<String> {
    let mut out: Vec<String> = definition.spec.name.split(' ').map(str::to_owned).collect();
    out.extend(arguments(definition.fields(), input));
    out
}

fn arguments(fields: &[Field], input: &Map<String, Value>) -> Vec<String> {
    let values_of = |field: &Field| {
        let value = input.get(&field.name).filter(|value| !value.is_null())?;
        (field.required || field.default.as_ref() != Some(value)).then(|| value.clone())
    };
    let options = fields.iter().filter(|field| field.positional.is_none());
    let options = options.filter_map(|f| values_of(f).map(|value| option(f, &value))).flatten();
    let mut positionals: Vec<&Field> = fields.iter().filter(|f| f.positional.is_some()).collect();
    positionals.sort_by_key(|f| f.positional);
    let words: Vec<String> = positionals
        .into_iter()
        .filter_map(|f| values_of(f).map(|value| texts(f, &value)))
        .flatten()
        .collect();
    // After `--`, no word is mistaken for an option. Otherwise, the words come first: a line reads
    // best with its target first.
    match words.iter().any(|word| word.starts_with('-')) {
        true => options.chain(["--".to_owned()]).chain(words).collect(),
        false => words.into_iter().chain(options).collect(),
    }
}

/// Returns the texts of a value: one for each item of a list, otherwise one. A list of structured
/// values is one JSON text.
fn texts(field: &Field, value: &Value) -> Vec<String> {
    match (&field.kind, value) {
        (Kind::List(kind), Value::Array(items)) if **kind != Kind::Any => items.iter().map(text).collect(),
        _ => vec![text(value)],
    }
}

fn option(field: &Field, value: &Value) -> Vec<String> {
    let flag = format!("--{}", kebab_case(&long_name(field)));
    match (&field.kind, value) {
        (Kind::Bool, Value::Bool(on)) if *on == is_on_by_default(field) => vec![],
        (Kind::Bool, Value::Bool(_)) => vec![flag],
        (_, Value::Bool(true)) if field.optional_value => vec![flag],
        (_, Value::Bool(false)) if field.optional_value => vec![],
        // The equals sign binds a value that begins with a hyphen to its option.
        _ => texts(field, value).into_iter().map(|text| format!("{flag}={text}")).collect(),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use serde_json::json;
    use stickpin_kernel::registry::{COMMANDS, find};

    /// Splits an example as a shell would.
    fn split(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for c in line.chars() {
            match (quote, c) {
                (Some(q), c) if c == q => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (None, ' ') => words.extend(word.take()),
                (_, c) => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        words
    }

    #[test]
    fn every_registry_example_reads_back() {
        let mut lines = 0;
        for entry in COMMANDS {
            for example in entry.spec.examples {
                let mut words = split(example.strip_prefix("stickpin ").unwrap_or(example));
                // An option of the command line, which is not part of the input.
                words.retain(|word| word != "--follow");
                let line = parse(&words).unwrap_or_else(|e| panic!("{example}: {e}"));
                let written = write(line.entry, &line.input);
                let again = parse(&written).unwrap_or_else(|e| panic!("{written:?}: {e}"));
                assert_eq!(
                    (again.entry.spec.name, &again.input),
                    (line.entry.spec.name, &line.input),
                    "{written:?}"
                );
                lines += 1;
            }
        }
        assert!(lines > 10, "{lines} examples");
    }

    #[test]
    fn any_text_argument_reads_back() {
        let fill = find("fill").expect("a command");
        for text in
            ["", "-5", "--settle", "--", "a b", "\"q\"", "@e3", "1", "true", "null", "{\"a\":1}", "ü\n\t"]
        {
            let input = json!({"target": "role=textbox", "text": text, "settle": 250});
            let input = input.as_object().expect("an object").clone();
            let written = write(fill, &input);
            let again = parse(&written).unwrap_or_else(|e| panic!("{written:?}: {e}"));
            assert_eq!(again.input, input, "{written:?}");
        }
    }

    #[test]
    fn line_is_written_as_a_person_would() {
        let line = |command: &str, input: Value| {
            write(find(command).expect("a command"), input.as_object().expect("an object")).join(" ")
        };
        assert_eq!(line("press", json!({"target": "@e3", "settle": true})), "press @e3 --settle");
        assert_eq!(line("press", json!({"target": "@e3", "settle": null, "count": 1})), "press @e3");
        assert_eq!(
            line("fill", json!({"target": "@e3", "text": "-5", "settle": true})),
            "fill --settle -- @e3 -5"
        );
        assert_eq!(line("get title", json!({})), "get title");
    }
}
