//! Writes a script as text that reads back as the same script.

use super::template::{Template, TemplatePart};
use super::word::is_space;
use super::{Node, NodeKind, Script};
use stickpin_refs::strip;
use stickpin_tree::is_unsafe;

/// Writes a script, with blocks indented by two spaces. Pins are stripped, because they have no
/// meaning outside the session that issued them.
#[must_use]
pub fn write(script: &Script) -> String {
    let mut out = String::new();
    if !script.context.is_empty() {
        let pairs: Vec<String> = script
            .context
            .iter()
            .map(|(key, value)| format!("{key}={}", word(&Template::text(value))))
            .collect();
        out.push_str(&format!("context {}\n", pairs.join(" ")));
    }
    for (key, value) in &script.env {
        out.push_str(&format!("env {key}={}\n", value_word(value)));
    }
    lines(&mut out, &script.body, 0);
    out
}

fn lines(out: &mut String, nodes: &[Node], depth: usize) {
    let indent = "  ".repeat(depth);
    for node in nodes {
        let (line, body) = match &node.kind {
            NodeKind::Blank => {
                out.push('\n');
                continue;
            }
            NodeKind::Comment(text) if text.is_empty() => ("#".to_owned(), None),
            NodeKind::Comment(text) => (format!("# {text}"), None),
            NodeKind::Command(command) => (words(command), None),
            NodeKind::Include { file, env } => {
                let assignments = env.iter().map(|(key, value)| format!(" {key}={}", value_word(value)));
                (format!("include {}{}", word(file), assignments.collect::<String>()), None)
            }
            NodeKind::Block(block, body) => (format!("{} {{", block.head(word)), Some(body)),
        };
        out.push_str(&format!("{indent}{line}\n"));
        if let Some(body) = body {
            lines(out, body, depth + 1);
            out.push_str(&format!("{indent}}}\n"));
        }
    }
}

/// Writes the words of a command as a line.
pub(crate) fn words(words: &[Template]) -> String {
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Writes a word, in quotes if necessary.
fn word(template: &Template) -> String {
    if let Some(text) = template.as_text() {
        let plain = strip(text);
        if plain != text {
            return word(&Template::text(plain));
        }
    }
    let bare = |c: char| !is_space(c) && !is_unsafe(c) && !matches!(c, '"' | '\'' | '\\' | '$' | '`');
    let text_is_bare = template.parts().iter().all(|part| match part {
        TemplatePart::Text(text) => text.chars().all(bare),
        TemplatePart::Variable { default, .. } => {
            default.as_ref().is_none_or(|d| d.chars().all(|c| bare(c) && c != '}'))
        }
    });
    let literal = template.as_text();
    let reserved =
        literal.is_some_and(|text| text.is_empty() || matches!(text, "{" | "}") || text.starts_with('#'));
    if text_is_bare && !reserved { template.to_string() } else { value_word(template) }
}

/// Writes a word in double quotes, unless it is as simple as a name.
fn value_word(template: &Template) -> String {
    let simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    if template.as_text().is_some_and(|text| !text.is_empty() && text.chars().all(simple)) {
        return template.to_string();
    }
    let mut out = String::from("\"");
    for part in template.parts() {
        match part {
            TemplatePart::Text(text) => escape(&mut out, text, false),
            TemplatePart::Variable { name, default } => {
                out.push_str("${");
                out.push_str(name);
                if let Some(default) = default {
                    out.push_str(":-");
                    escape(&mut out, default, true);
                }
                out.push('}');
            }
        }
    }
    out.push('"');
    out
}

fn escape(out: &mut String, text: &str, inside_variable: bool) {
    for c in text.chars() {
        match c {
            '"' | '\\' | '$' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Direction controls would make a line look like another one.
            c if is_unsafe(c) || (inside_variable && c == '}') => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => out.push(c),
        }
    }
}
