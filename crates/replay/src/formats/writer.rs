//! Writes scripts in other formats, and reports what cannot be translated.
//!
//! Variables stay variables. While the registry reads a line, marks in the line's words stand for
//! the variables; each format then writes the variables in its own syntax.

use super::read::{line as read_line, parse};
use crate::plan::{MAX_INCLUDES, ReadFile, SourceLocation, included_file};
use crate::script::{Block, Node, NodeKind, Script, Template, TemplatePart, line as spelled};
use crate::script_writer::ANNOTATION;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use stickpin_kernel::registry::Entry;
use stickpin_kernel::{Error, Result, Target};
use stickpin_tree::{Condition, Role, Selector};

/// A line that has no exact counterpart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// Where the line is.
    pub at: SourceLocation,
    /// The text of the line.
    pub line: String,
    /// What has no counterpart.
    pub reason: String,
    /// Whether the line is omitted; otherwise, it is written less exactly.
    pub omitted: bool,
}

/// A script to export.
pub(super) struct ExportScript<'f> {
    /// The file's name without its extension.
    pub(super) name: String,
    pub(super) marks: &'f VariableMarks,
    /// The script, for its header.
    pub(super) script: &'f Script,
    pub(super) items: &'f [ExportItem],
}

pub(super) enum ExportItem {
    Comment(String),
    Step(ExportStep),
    /// A line that the export cannot read, and the reason.
    Omitted(SourceLine, &'static str),
    /// A block with its first line.
    Block(SourceLine, Block<ExportStep>, Vec<ExportItem>),
}

/// The position and text of a line.
#[derive(Clone)]
pub(super) struct SourceLine {
    at: SourceLocation,
    line: String,
}

/// A command with marks in its words.
pub(super) struct ExportStep {
    head: SourceLine,
    pub(super) entry: &'static Entry,
    pub(super) input: Map<String, Value>,
}

impl SourceLine {
    /// Returns a note that the line is left out or written less exactly.
    fn note(&self, reason: impl Into<String>, left_out: bool) -> Note {
        Note { at: self.at.clone(), line: self.line.clone(), reason: reason.into(), omitted: left_out }
    }
}

impl ExportStep {
    /// Returns the step's arguments, which are read one by one.
    pub(super) fn args(&self) -> Args<'_> {
        Args { step: self, read_names: Vec::new() }
    }
}

/// The character that begins and ends a mark.
const MARK: char = '\u{0}';

/// The variables that marks represent.
#[derive(Debug, Default)]
pub(super) struct VariableMarks(Vec<TemplatePart>);

impl VariableMarks {
    fn mark_variables(&mut self, template: &Template) -> String {
        let part = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => text.clone(),
            variable @ TemplatePart::Variable { .. } => {
                let index = self.0.iter().position(|known| known == variable).unwrap_or_else(|| {
                    self.0.push(variable.clone());
                    self.0.len() - 1
                });
                format!("{MARK}{index}{MARK}")
            }
        };
        template.parts().iter().map(part).collect()
    }

    /// Replaces marks in text with their variables.
    pub(super) fn template(&self, text: &str) -> Template {
        Template::new(text.split(MARK).enumerate().map(|(i, piece)| match i % 2 {
            0 => TemplatePart::Text(piece.to_owned()),
            _ => {
                piece.parse().ok().and_then(|index: usize| self.0.get(index)).cloned().unwrap_or_else(|| {
                    // Two of these characters always enclose a mark, because text that contains the
                    // character was left out.
                    TemplatePart::Text(piece.to_owned())
                })
            }
        }))
    }
}

/// The arguments of a step. An argument that a format does not read has no counterpart in that
/// format.
pub(super) struct Args<'s> {
    step: &'s ExportStep,
    read_names: Vec<&'static str>,
}

/// The arguments for waiting and output, which other tools handle in their own way.
const IGNORED_ARGUMENTS: [&str; 4] = ["settle", "receipt", "interactive", "recordAs"];

impl<'s> Args<'s> {
    pub(super) fn get(&mut self, name: &'static str) -> Option<&'s Value> {
        self.read_names.push(name);
        self.step.input.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, name: &'static str) -> Option<&'s str> {
        self.get(name)?.as_str()
    }

    pub(super) fn number(&mut self, name: &'static str) -> Option<u64> {
        self.get(name)?.as_u64()
    }

    pub(super) fn is_on(&mut self, name: &'static str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(super) fn list(&mut self, name: &'static str) -> impl Iterator<Item = &'s str> {
        self.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns a target, which must be a selector.
    pub(super) fn selector(&mut self, name: &'static str) -> Result<Selector, String> {
        selector(self.text(name).unwrap_or_default())
    }

    /// Refuses arguments that were not read, except those with their default value and the
    /// [`IGNORED_ARGUMENTS`].
    pub(super) fn refuse_unread(self) -> Result<(), String> {
        let default = |name: &str| {
            let field = self.step.entry.fields().iter().find(|f| f.name == name);
            field.and_then(|f| f.default.as_ref())
        };
        let unread = self.step.input.iter().find(|(name, value)| {
            let name = name.as_str();
            let known = self.read_names.contains(&name) || IGNORED_ARGUMENTS.contains(&name);
            !known && !value.is_null() && **value != Value::Bool(false) && default(name) != Some(*value)
        });
        unread.map_or(Ok(()), |(name, _)| Err(format!("`{name}` has no counterpart")))
    }
}

/// Parses a target, which must be a selector.
pub(super) fn selector(target: &str) -> Result<Selector, String> {
    match target.parse() {
        Ok(Target::Selector(selector)) => Ok(selector),
        Ok(_) => Err("refs and points have no counterpart".to_owned()),
        Err(e) => Err(e.to_string()),
    }
}

/// Returns the targets of a `form` step with their values.
pub(super) fn assignments(step: &ExportStep) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let values = step.input.get("fields").and_then(Value::as_array).into_iter().flatten();
    for assignment in values.filter_map(Value::as_str) {
        let mut input = Map::from_iter([("fields".to_owned(), Value::from(vec![assignment]))]);
        step.entry.rewrite_targets(&mut input, &mut |target| {
            let value = assignment.get(target.len() + 1..).unwrap_or_default();
            found.push((target.to_owned(), value.to_owned()));
            None
        });
    }
    found
}

/// Reads a script with everything that it includes.
pub(super) struct ExportReader<'r> {
    read: &'r ReadFile<'r>,
    open: Vec<PathBuf>,
    pub(super) marks: VariableMarks,
}

/// A line that the export cannot read, and the reason.
type UnreadLine = (SourceLine, &'static str);

/// The variables of an included script with their values: those that `include` lines pass, and the
/// defaults in the headers of included scripts.
type IncludeScope = [(String, Template)];

impl<'r> ExportReader<'r> {
    pub(super) fn new(read: &'r ReadFile<'r>) -> Self {
        Self { read, open: Vec::new(), marks: VariableMarks::default() }
    }

    pub(super) fn file(
        &mut self,
        path: &Path,
        from: Option<&SourceLocation>,
        scope: &IncludeScope,
    ) -> Result<(Script, Vec<ExportItem>)> {
        let name = path.display().to_string();
        let prefix = from.map(|place| format!("{place}: ")).unwrap_or_default();
        if self.open.iter().any(|open| open == path) || self.open.len() == MAX_INCLUDES {
            let message = format!(
                "{prefix}{name} includes itself, or scripts include one another more than {MAX_INCLUDES} deep"
            );
            return Err(Error::invalid_args(message));
        }
        let text = (self.read)(path).map_err(|e| Error { message: format!("{prefix}{}", e.message), ..e })?;
        let script = parse(path, &text).map_err(|e| e.into_error(&name))?;
        // The header of the first script is written. Headers of included scripts become defaults of
        // their variables.
        let mut scope = scope.to_vec();
        if from.is_some() {
            add_unset(&mut scope, &script.env);
        }
        self.open.push(path.to_owned());
        let items = self.nodes(&script.body, &name, path, &scope);
        self.open.pop();
        Ok((script, items?))
    }

    fn nodes(
        &mut self,
        nodes: &[Node],
        name: &str,
        path: &Path,
        scope: &IncludeScope,
    ) -> Result<Vec<ExportItem>> {
        let mut items = Vec::new();
        for node in nodes {
            let at = SourceLocation { file: name.to_owned(), line: node.line };
            match &node.kind {
                NodeKind::Blank => {}
                NodeKind::Comment(text) if text.starts_with(ANNOTATION) => {}
                NodeKind::Comment(text) => items.push(ExportItem::Comment(text.clone())),
                NodeKind::Command(words) => items.push(match self.step(words, at, scope)? {
                    Ok(step) => ExportItem::Step(step),
                    Err((head, reason)) => ExportItem::Omitted(head, reason),
                }),
                NodeKind::Include { file, env } => {
                    let Some(file) = with_scope_defaults(file, scope).as_text().map(str::to_owned) else {
                        let head = SourceLine { at, line: format!("include {file}") };
                        items.push(ExportItem::Omitted(head, "the file name depends on a variable"));
                        continue;
                    };
                    let assigned =
                        env.iter().map(|(key, value)| (key.clone(), with_scope_defaults(value, scope)));
                    let mut inner: Vec<_> = assigned.collect();
                    add_unset(&mut inner, scope);
                    let file = included_file(path, &file);
                    items.extend(self.file(&file, Some(&at), &inner)?.1);
                }
                NodeKind::Block(block, body) => {
                    let items_of_block = self.nodes(body, name, path, scope)?;
                    let head = SourceLine { at: at.clone(), line: block.head(ToString::to_string) };
                    let block = block.map(|asked, target| {
                        let words = [Template::text("is"), Template::text(asked.word()), target.clone()];
                        self.step(&words, at, scope).map_or_else(|e| Err(Err(e)), |read| read.map_err(Ok))
                    });
                    items.push(match block {
                        Ok(block) => {
                            let condition =
                                if let Block::If(_, step) = &block { Some(&step.head) } else { None };
                            ExportItem::Block(condition.unwrap_or(&head).clone(), block, items_of_block)
                        }
                        Err(Ok((head, why))) => ExportItem::Omitted(head, why),
                        Err(Err(e)) => return Err(e),
                    });
                }
            }
        }
        Ok(items)
    }

    /// Reads a step, or returns why the export cannot read the line.
    fn step(
        &mut self,
        words: &[Template],
        at: SourceLocation,
        scope: &IncludeScope,
    ) -> Result<Result<ExportStep, UnreadLine>> {
        let line = spelled(words);
        let words: Vec<Template> = words.iter().map(|word| with_scope_defaults(word, scope)).collect();
        let has_mark = |part: &TemplatePart| matches!(part, TemplatePart::Text(text) if text.contains(MARK));
        if words.iter().any(|word| word.parts().iter().any(has_mark)) {
            return Ok(Err((SourceLine { at, line }, "the line contains a NUL character")));
        }
        let variables = words.iter().any(|word| word.as_text().is_none());
        let marked: Vec<String> = words.iter().map(|word| self.marks.mark_variables(word)).collect();
        match read_line(&marked) {
            Ok(read) => {
                Ok(Ok(ExportStep { head: SourceLine { at, line }, entry: read.entry, input: read.input }))
            }
            Err(_) if variables => {
                let why = "a variable is not allowed for a number, a choice or a command";
                Ok(Err((SourceLine { at, line }, why)))
            }
            Err(e) => Err(Error { message: format!("{at}: {}", e.message), ..e }),
        }
    }
}

/// Sets a scope's values as the defaults of a word's variables. A value that itself contains
/// variables replaces the variable instead.
fn with_scope_defaults(template: &Template, scope: &IncludeScope) -> Template {
    template.substitute(|name| {
        let (_, value) = scope.iter().find(|(key, _)| key == name)?;
        Some(match value.as_text() {
            Some(text) => {
                vec![TemplatePart::Variable { name: name.to_owned(), default: Some(text.to_owned()) }]
            }
            None => value.parts().to_vec(),
        })
    })
}

/// Writes the steps and blocks of a script in one format.
pub(super) trait FormatWriter {
    /// The start of a comment.
    const COMMENT: &'static str;

    /// Returns the lines for a step, and adds to `caveats` what is not exported exactly. The error
    /// states why the step has no counterpart.
    fn step(&mut self, step: &ExportStep, caveats: &mut Vec<String>) -> Result<Vec<String>, String>;

    /// Wraps the lines of a block's steps.
    fn block(
        &mut self,
        block: &Block<ExportStep>,
        body: Vec<String>,
        caveats: &mut Vec<String>,
    ) -> Result<Vec<String>, String>;
}

/// Returns the lines for all items, and adds notes on items that have no exact counterpart.
pub(super) fn lines<W: FormatWriter>(
    writer: &mut W,
    items: &[ExportItem],
    notes: &mut Vec<Note>,
) -> Vec<String> {
    let mut out = Vec::new();
    let comment = |text: &str| format!("{}{}", W::COMMENT, stickpin_tree::escape(text, usize::MAX));
    for item in items {
        let mut caveats = Vec::new();
        let (head, written) = match item {
            ExportItem::Comment(text) => {
                out.push(comment(text));
                continue;
            }
            ExportItem::Omitted(head, why) => (head, Err((*why).to_owned())),
            ExportItem::Step(step) => (&step.head, writer.step(step, &mut caveats)),
            ExportItem::Block(head, block, body) => {
                let body = lines(writer, body, notes);
                let written = writer.block(block, body, &mut caveats);
                (head, written.map_err(|why| format!("{why}; its content is left out as well")))
            }
        };
        match written {
            Ok(lines) => {
                out.extend(lines);
                notes.extend(caveats.into_iter().map(|why| head.note(why, false)));
            }
            Err(why) => {
                out.push(comment(&format!("Left out: {} ({why})", head.line)));
                notes.push(head.note(why, true));
            }
        }
    }
    out
}

/// Returns the role that all alternatives of a selector require.
pub(super) fn role(selector: &Selector) -> Option<Role> {
    let mut roles = selector.alternatives().map(|(conditions, _)| required_role(&conditions));
    let first = roles.next()??;
    roles.all(|role| role == Some(first)).then_some(first)
}

/// Returns the role that the conditions of an alternative require.
pub(super) fn required_role(conditions: &[Condition<'_>]) -> Option<Role> {
    conditions.iter().find_map(|condition| match condition {
        Condition::Role(role) => Some(*role),
        _ => None,
    })
}

/// Adds the variables of `outer` that `scope` does not set.
pub(super) fn add_unset(scope: &mut Vec<(String, Template)>, outer: &[(String, Template)]) {
    let unset: Vec<_> =
        outer.iter().filter(|(key, _)| scope.iter().all(|(set, _)| set != key)).cloned().collect();
    scope.extend(unset);
}
