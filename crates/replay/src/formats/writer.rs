//! Scripts written in formats of others: what maps, and what does not.
//!
//! Variables stay variables: while the registry reads a line they are marks in its words, and each format writes them
//! in its own way.

use super::read::{line as read_line, parse};
use crate::plan::{INCLUDES, Place, ReadFile};
use crate::record::ANNOTATION;
use crate::script::{Block, Kind, Node, Part, Script, Template, line as spelled};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use stickpin_kernel::registry::Entry;
use stickpin_kernel::{Error, ErrorCode, Result, Target};
use stickpin_tree::{Condition, Role, Selector};

/// A line that has no exact counterpart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// Where it stands.
    pub at: Place,
    /// The line.
    pub line: String,
    /// What there is no counterpart for.
    pub why: String,
    /// Whether the line is left out; else what is written says less than it.
    pub left_out: bool,
}

/// What is written.
pub(super) struct Flow<'f> {
    /// The file's name without its extension.
    pub(super) name: String,
    pub(super) marks: &'f Marks,
    /// The header.
    pub(super) script: &'f Script,
    pub(super) items: &'f [Item],
}

pub(super) enum Item {
    Comment(String),
    Step(Step),
    /// A line that only a run can read, and why.
    LeftOut(Head, &'static str),
    /// With the line that begins it.
    Block(Head, Block<Step>, Vec<Item>),
}

/// Where something stands, and how its line reads.
#[derive(Clone)]
pub(super) struct Head {
    at: Place,
    line: String,
}

/// A command, marks in its words.
pub(super) struct Step {
    head: Head,
    pub(super) entry: &'static Entry,
    pub(super) input: Map<String, Value>,
}

impl Head {
    /// As something that is left out, or said less exactly.
    fn note(&self, why: impl Into<String>, left_out: bool) -> Note {
        Note { at: self.at.clone(), line: self.line.clone(), why: why.into(), left_out }
    }
}

impl Step {
    /// Its arguments, to be asked for one by one.
    pub(super) fn args(&self) -> Args<'_> {
        Args { step: self, asked: Vec::new() }
    }
}

/// What begins and ends a mark.
const MARK: char = '\u{0}';

/// Variables while they are marks.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<Part>);

impl Marks {
    fn put(&mut self, template: &Template) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            variable @ Part::Variable { .. } => {
                let index = self.0.iter().position(|known| known == variable).unwrap_or_else(|| {
                    self.0.push(variable.clone());
                    self.0.len() - 1
                });
                format!("{MARK}{index}{MARK}")
            }
        };
        template.parts().iter().map(part).collect()
    }

    /// The text with its variables again.
    pub(super) fn template(&self, text: &str) -> Template {
        Template::new(text.split(MARK).enumerate().map(|(i, piece)| match i % 2 {
            0 => Part::Text(piece.to_owned()),
            _ => {
                piece.parse().ok().and_then(|index: usize| self.0.get(index)).cloned().unwrap_or_else(|| {
                    // Only marks stand between two of them: texts that hold the character are left out before.
                    Part::Text(piece.to_owned())
                })
            }
        }))
    }
}

/// The arguments of a step. What a format does not ask for has no counterpart in it.
pub(super) struct Args<'s> {
    step: &'s Step,
    asked: Vec<&'static str>,
}

/// Arguments that say how we wait and what we print, which others do in their own way.
const OUR_OWN: [&str; 4] = ["settle", "receipt", "interactive", "recordAs"];

impl<'s> Args<'s> {
    pub(super) fn get(&mut self, name: &'static str) -> Option<&'s Value> {
        self.asked.push(name);
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

    /// A target that is a selector.
    pub(super) fn selector(&mut self, name: &'static str) -> Result<Selector, String> {
        selector(self.text(name).unwrap_or_default())
    }

    /// Refuses arguments that were not asked for.
    pub(super) fn end(self) -> Result<(), String> {
        let default = |name: &str| {
            let field = self.step.entry.fields().iter().find(|f| f.name == name);
            field.and_then(|f| f.default.as_ref())
        };
        let left = self.step.input.iter().find(|(name, value)| {
            let name = name.as_str();
            let known = self.asked.contains(&name) || OUR_OWN.contains(&name);
            !known && !value.is_null() && **value != Value::Bool(false) && default(name) != Some(*value)
        });
        left.map_or(Ok(()), |(name, _)| Err(format!("`{name}` has no counterpart")))
    }
}

/// A target that is a selector.
pub(super) fn selector(target: &str) -> Result<Selector, String> {
    match target.parse() {
        Ok(Target::Selector(selector)) => Ok(selector),
        Ok(_) => Err("a ref or a point means nothing there".to_owned()),
        Err(e) => Err(e.to_string()),
    }
}

/// The targets of a form with their values.
pub(super) fn assignments(step: &Step) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let values = step.input.get("fields").and_then(Value::as_array).into_iter().flatten();
    for whole in values.filter_map(Value::as_str) {
        let mut one = Map::from_iter([("fields".to_owned(), Value::from(vec![whole]))]);
        stickpin_kernel::targets::change(step.entry, &mut one, &mut |target| {
            let value = whole.get(target.len() + 1..).unwrap_or_default();
            found.push((target.to_owned(), value.to_owned()));
            None
        });
    }
    found
}

/// Reads a script with all that it includes.
pub(super) struct Reader<'r> {
    read: &'r ReadFile<'r>,
    open: Vec<PathBuf>,
    marks: Marks,
}

/// A line, and why only a run can read it.
type Unread = (Head, &'static str);

/// What the variables of an included script are, where the script above does not decide.
type Scope = [(String, Template)];

impl<'r> Reader<'r> {
    pub(super) fn new(read: &'r ReadFile<'r>) -> Self {
        Self { read, open: Vec::new(), marks: Marks::default() }
    }

    pub(super) fn marks(&self) -> &Marks {
        &self.marks
    }

    pub(super) fn file(
        &mut self,
        path: &Path,
        from: Option<&Place>,
        scope: &Scope,
    ) -> Result<(Script, Vec<Item>)> {
        let name = path.display().to_string();
        let here = from.map(|place| format!("{place}: ")).unwrap_or_default();
        if self.open.iter().any(|open| open == path) || self.open.len() == INCLUDES {
            let message = format!("{here}{name} includes itself, or scripts do more than {INCLUDES} deep");
            return Err(Error::new(ErrorCode::InvalidArgs, message));
        }
        let text = (self.read)(path).map_err(|e| Error { message: format!("{here}{}", e.message), ..e })?;
        let script = parse(path, &text).map_err(|e| e.into_error(&name))?;
        // The header of the first one is written; those of others become the defaults of their variables.
        let mut scope = scope.to_vec();
        if from.is_some() {
            let own: Vec<_> =
                script.env.iter().filter(|(key, _)| scope.iter().all(|(k, _)| k != key)).collect();
            scope.extend(own.into_iter().cloned().collect::<Vec<_>>());
        }
        self.open.push(path.to_owned());
        let items = self.nodes(&script.body, &name, path, &scope);
        self.open.pop();
        Ok((script, items?))
    }

    fn nodes(&mut self, nodes: &[Node], name: &str, path: &Path, scope: &Scope) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        for node in nodes {
            let at = Place { file: name.to_owned(), line: node.line };
            match &node.kind {
                Kind::Blank => {}
                Kind::Comment(text) if text.starts_with(ANNOTATION) => {}
                Kind::Comment(text) => items.push(Item::Comment(text.clone())),
                Kind::Command(words) => items.push(match self.step(words, at, scope)? {
                    Ok(step) => Item::Step(step),
                    Err((head, why)) => Item::LeftOut(head, why),
                }),
                Kind::Include { file, env } => {
                    let Some(file) = scoped(file, scope).as_text().map(str::to_owned) else {
                        let head = Head { at, line: format!("include {file}") };
                        items.push(Item::LeftOut(head, "which file it is depends on a variable"));
                        continue;
                    };
                    let given = env.iter().map(|(key, value)| (key.clone(), scoped(value, scope)));
                    let mut inner: Vec<_> = given.collect();
                    let outer = scope.iter().filter(|(key, _)| inner.iter().all(|(k, _)| k != key));
                    let outer: Vec<_> = outer.cloned().collect();
                    inner.extend(outer);
                    let file = path.parent().unwrap_or(Path::new("")).join(file);
                    items.extend(self.file(&file, Some(&at), &inner)?.1);
                }
                Kind::Block(block, body) => {
                    let items_of_block = self.nodes(body, name, path, scope)?;
                    let head = Head { at: at.clone(), line: block.head(ToString::to_string) };
                    let block = block.map(|asked, target| {
                        let words = [Template::text("is"), Template::text(asked.word()), target.clone()];
                        self.step(&words, at, scope).map_or_else(|e| Err(Err(e)), |read| read.map_err(Ok))
                    });
                    items.push(match block {
                        Ok(block) => {
                            let asked = if let Block::If(_, step) = &block { Some(&step.head) } else { None };
                            Item::Block(asked.unwrap_or(&head).clone(), block, items_of_block)
                        }
                        Err(Ok((head, why))) => Item::LeftOut(head, why),
                        Err(Err(e)) => return Err(e),
                    });
                }
            }
        }
        Ok(items)
    }

    /// Else why only a run can read the line.
    fn step(&mut self, words: &[Template], at: Place, scope: &Scope) -> Result<Result<Step, Unread>> {
        let line = spelled(words);
        let words: Vec<Template> = words.iter().map(|word| scoped(word, scope)).collect();
        let has_mark = |part: &Part| matches!(part, Part::Text(text) if text.contains(MARK));
        if words.iter().any(|word| word.parts().iter().any(has_mark)) {
            return Ok(Err((Head { at, line }, "it holds a NUL character")));
        }
        let variables = words.iter().any(|word| word.as_text().is_none());
        let marked: Vec<String> = words.iter().map(|word| self.marks.put(word)).collect();
        match read_line(&marked) {
            Ok(read) => Ok(Ok(Step { head: Head { at, line }, entry: read.entry, input: read.input })),
            Err(_) if variables => {
                let why = "a variable stands where a number, a choice or a command is needed";
                Ok(Err((Head { at, line }, why)))
            }
            Err(e) => Err(Error { message: format!("{at}: {}", e.message), ..e }),
        }
    }
}

/// With the values of a scope as the defaults of its variables.
fn scoped(template: &Template, scope: &Scope) -> Template {
    template.replaced(|name| {
        let (_, value) = scope.iter().find(|(key, _)| key == name)?;
        Some(match value.as_text() {
            Some(text) => vec![Part::Variable { name: name.to_owned(), default: Some(text.to_owned()) }],
            None => value.parts().to_vec(),
        })
    })
}

/// A format: how it says a step and a block.
pub(super) trait Writer {
    /// What begins a comment.
    const COMMENT: &'static str;

    /// The lines of a step; what it says less exactly is added to `less`. An error is why it has no counterpart.
    fn step(&mut self, step: &Step, less: &mut Vec<String>) -> Result<Vec<String>, String>;

    /// A block around the lines of its steps.
    fn block(
        &mut self,
        block: &Block<Step>,
        body: Vec<String>,
        less: &mut Vec<String>,
    ) -> Result<Vec<String>, String>;
}

/// The lines of all items, and notes on those that do not map.
pub(super) fn lines<W: Writer>(writer: &mut W, items: &[Item], notes: &mut Vec<Note>) -> Vec<String> {
    let mut out = Vec::new();
    let comment = |text: &str| format!("{}{}", W::COMMENT, stickpin_tree::escape(text, usize::MAX));
    for item in items {
        let mut less = Vec::new();
        let (head, written) = match item {
            Item::Comment(text) => {
                out.push(comment(text));
                continue;
            }
            Item::LeftOut(head, why) => (head, Err((*why).to_owned())),
            Item::Step(step) => (&step.head, writer.step(step, &mut less)),
            Item::Block(head, block, body) => {
                let body = lines(writer, body, notes);
                let written = writer.block(block, body, &mut less);
                (head, written.map_err(|why| format!("{why}; what stands in it is left out, too")))
            }
        };
        match written {
            Ok(lines) => {
                out.extend(lines);
                notes.extend(less.into_iter().map(|why| head.note(why, false)));
            }
            Err(why) => {
                out.push(comment(&format!("Left out: {} ({why})", head.line)));
                notes.push(head.note(why, true));
            }
        }
    }
    out
}

/// The role that every alternative of a selector asks for.
pub(super) fn role(selector: &Selector) -> Option<Role> {
    let mut roles = selector.alternatives().map(|(conditions, _)| {
        conditions.iter().find_map(|condition| match condition {
            Condition::Role(role) => Some(*role),
            _ => None,
        })
    });
    let first = roles.next()??;
    roles.all(|role| role == Some(first)).then_some(first)
}
