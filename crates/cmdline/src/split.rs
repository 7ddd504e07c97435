//! Splits a line into words, much as a shell does.

use stickpin_kernel::{Error, Result};

/// Splits a command line much as a shell would. White space separates words, and single and double
/// quotes group them. In double quotes, a backslash escapes `"` and itself; elsewhere, it is an
/// ordinary character.
///
/// # Errors
/// Returns `INVALID_ARGS` for an unclosed quote.
pub fn split(line: &str) -> Result<Vec<String>> {
    let open = |quote: char| {
        Error::invalid_args(format!("the quote {quote} is not closed: {}", stickpin_tree::quote(line)))
    };
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err(open(c)),
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => match chars.next() {
                            Some(escaped @ ('"' | '\\')) => text.push(escaped),
                            Some(other) => text.extend(['\\', other]),
                            None => return Err(open(c)),
                        },
                        Some(inner) => text.push(inner),
                    }
                }
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let words = split(r#"fill  'role=textbox' "a \"b\" \n" '' x"y"z"#).unwrap();
        assert_eq!(words, ["fill", "role=textbox", r#"a "b" \n"#, "", "xyz"]);
        assert!(split("press 'x").unwrap_err().message.contains("not closed"));
    }
}
