//! Views: what a screen shows, one node per line, indented like a snapshot.
//!
//! ```text
//! main
//!   h1 "Cart ({count(cart)})"
//!   list #lines
//!     for c in cart key c.id
//!       li "{c.name}"
//!         button "Remove" press=remove(cart, it.id == c.id)
//!   if count(cart) == 0
//!     "Nothing here yet."
//! ```
//! `docs/sim-apps.md` contains the grammar.

use super::expr::{Expr, Script};
use super::lex::Lexer;
use super::value::Value;
use super::vocabulary::{Event, Prop, attr, state};
use crate::roles::{self, Kind};
use std::collections::HashMap;
use std::sync::Arc;
use stickpin_tree::{Attr, States};

/// A line of a view with its children.
#[derive(Debug)]
pub(crate) enum ViewLine {
    Element(Arc<Element>),
    /// A text leaf.
    Text(u32, Expr),
    /// `for x in list where EXPR key EXPR virtual HEIGHT`
    For(Loop),
    /// `if EXPR` with its `else`.
    If {
        test: Expr,
        then_lines: Vec<ViewLine>,
        else_lines: Vec<ViewLine>,
    },
}

/// A loop.
#[derive(Debug)]
pub(crate) struct Loop {
    /// The line number of a virtual list's wrapper.
    pub(crate) tpl: u32,
    pub(crate) var: Arc<str>,
    pub(crate) list: Arc<str>,
    pub(crate) filter: Option<Expr>,
    /// If there is a key, nodes belong to records, otherwise to positions.
    pub(crate) key: Option<Expr>,
    /// The height of a row of a virtual list, in pixels. Only rows in or near the scroller's window
    /// have nodes.
    pub(crate) row_height: Option<u32>,
    pub(crate) body: Vec<ViewLine>,
}

/// An element.
#[derive(Debug)]
pub(crate) struct Element {
    /// The line number. Under one parent, nodes of the same line and loop iteration are the same
    /// node across renderings.
    pub(crate) tpl: u32,
    pub(crate) kind: &'static Kind,
    pub(crate) states: Vec<(States, Expr)>,
    pub(crate) attrs: Vec<(Attr, Expr)>,
    pub(crate) handlers: Vec<(Event, Script)>,
    pub(crate) props: Vec<(Prop, Expr)>,
    pub(crate) children: Vec<ViewLine>,
}

impl Element {
    pub(crate) fn handler(&self, event: Event) -> Option<&Script> {
        self.handlers.iter().find(|(e, _)| *e == event).map(|(_, s)| s)
    }

    pub(crate) fn prop(&self, prop: Prop) -> Option<&Expr> {
        self.props.iter().find(|(p, _)| *p == prop).map(|(_, e)| e)
    }
}

/// Parses the views of one app. Line numbers are unique within the app. `use NAME` inserts a part.
#[derive(Debug)]
pub(crate) struct Parser<'p> {
    pub(crate) parts: &'p HashMap<String, String>,
    pub(crate) next: u32,
}

struct SourceLine<'s> {
    indent: usize,
    text: &'s str,
}

impl Parser<'_> {
    /// Parses one view.
    pub(crate) fn parse(&mut self, source: &str) -> Result<Vec<ViewLine>, String> {
        self.parse_nested(source, 0)
    }

    fn parse_nested(&mut self, source: &str, depth: u8) -> Result<Vec<ViewLine>, String> {
        if depth > 8 {
            return Err("parts are nested more than 8 levels deep".into());
        }
        let lines: Vec<SourceLine<'_>> = source
            .lines()
            .filter(|l| !l.trim().is_empty() && !l.trim_start().starts_with("//"))
            .map(|l| SourceLine { indent: l.len() - l.trim_start().len(), text: l.trim() })
            .collect();
        self.block(&mut lines.as_slice(), 0, depth)
    }

    fn block(
        &mut self,
        lines: &mut &[SourceLine<'_>],
        indent: usize,
        depth: u8,
    ) -> Result<Vec<ViewLine>, String> {
        let mut out = Vec::new();
        while let Some((line, rest)) = lines.split_first() {
            if line.indent < indent {
                break;
            }
            *lines = rest;
            if line.indent > indent {
                return Err(format!("wrong indentation of `{}`: indent each level by 2 spaces", line.text));
            }
            let below = rest.first().is_some_and(|l| l.indent > indent);
            let children = if below { self.block(lines, indent + 2, depth)? } else { Vec::new() };
            self.line(line.text, children, &mut out, depth)
                .map_err(|e| format!("{e} (in `{}`)", line.text))?;
        }
        Ok(out)
    }

    fn line(
        &mut self,
        text: &str,
        children: Vec<ViewLine>,
        out: &mut Vec<ViewLine>,
        depth: u8,
    ) -> Result<(), String> {
        self.next += 1;
        let tpl = self.next;
        let mut lexer = Lexer::new(text);
        if text.starts_with('"') {
            out.push(ViewLine::Text(tpl, Expr::read(&mut lexer)?));
            return lexer.end();
        }
        match lexer.word()? {
            "use" => {
                let name = lexer.word()?;
                let part = self.parts.get(name).ok_or_else(|| format!("there is no part `{name}`"))?;
                out.extend(self.parse_nested(part, depth + 1)?);
                lexer.end()
            }
            "if" => {
                out.push(ViewLine::If {
                    test: Expr::read(&mut lexer)?,
                    then_lines: children,
                    else_lines: Vec::new(),
                });
                lexer.end()
            }
            "else" => match out.last_mut() {
                Some(ViewLine::If { else_lines: no, .. }) => {
                    *no = children;
                    lexer.end()
                }
                _ => Err("`else` has no `if` above it".into()),
            },
            "for" => {
                out.push(ViewLine::For(repetition(&mut lexer, tpl, children)?));
                lexer.end()
            }
            word => {
                let kind = roles::kind(word).ok_or_else(|| format!("`{word}` is not a kind of element"))?;
                out.push(ViewLine::Element(Arc::new(element(tpl, kind, lexer.rest(), children)?)));
                Ok(())
            }
        }
    }
}

fn repetition(lexer: &mut Lexer<'_>, tpl: u32, body: Vec<ViewLine>) -> Result<Loop, String> {
    let var = lexer.word()?.into();
    lexer.expect("in")?;
    let list = lexer.word()?.into();
    let filter = if lexer.take("where")? { Some(Expr::read(lexer)?) } else { None };
    let key = if lexer.take("key")? { Some(Expr::read(lexer)?) } else { None };
    let row_height = if lexer.take("virtual")? {
        match Expr::read(lexer)? {
            Expr::Value(Value::Int(n @ 1..)) => u32::try_from(n).ok(),
            _ => return Err("`virtual` needs the height of a row, a whole number above 0".into()),
        }
    } else {
        None
    };
    Ok(Loop { tpl, var, list, filter, key, row_height, body })
}

fn element(tpl: u32, kind: &'static Kind, rest: &str, children: Vec<ViewLine>) -> Result<Element, String> {
    let mut e = Element {
        tpl,
        kind,
        states: Vec::new(),
        attrs: Vec::new(),
        handlers: Vec::new(),
        props: Vec::new(),
        children,
    };
    let mut lexer = Lexer::new(rest);
    if rest.starts_with('"') {
        e.props.push((Prop::Text, Expr::parse_operand(&mut lexer)?));
    }
    while !lexer.rest().is_empty() {
        let rest = lexer.rest();
        let (name, after) = rest.split_at(rest.find(['=', ' ']).unwrap_or(rest.len()));
        let is_flag = !after.starts_with('=');
        lexer = Lexer::new(after.strip_prefix('=').unwrap_or(after));
        set(&mut e, name, is_flag, &mut lexer)?;
    }
    if e.prop(Prop::Scroll).is_some() && e.prop(Prop::Mark).is_none() {
        return Err("a scroller needs a `#mark`".into());
    }
    Ok(e)
}

/// Parses a property of an element: a mark, a flag, or a name with a value.
fn set(e: &mut Element, name: &str, is_flag: bool, lexer: &mut Lexer<'_>) -> Result<(), String> {
    if let Some(mark) = name.strip_prefix('#') {
        e.props.push((Prop::Mark, Expr::template(mark)?));
    } else if let Some(event) = Event::from_word(name) {
        e.handlers.push((event, Expr::handler(lexer)?));
    } else if name == "bind" {
        e.props.push((Prop::Bind, Expr::parse_place(lexer)?));
    } else {
        let value = if is_flag { Expr::Value(Value::Bool(true)) } else { Expr::parse_operand(lexer)? };
        if let Some(states) = state(name) {
            e.states.push((states, value));
        } else if let Some(attr) = attr(name) {
            e.attrs.push((attr, value));
        } else if let Some(prop) = Prop::from_word(name) {
            e.props.push((prop, value));
        } else {
            return Err(format!("`{name}` is not a property of an element"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(source: &str) -> Result<Vec<ViewLine>, String> {
        Parser { parts: &HashMap::new(), next: 0 }.parse(source)
    }

    #[test]
    fn indentation_makes_children() {
        let view = parse("main\n  h1 \"A\"\n  list\n    li \"B\"\np \"C\"").unwrap();
        let ViewLine::Element(main) = &view[0] else { panic!("{view:?}") };
        assert_eq!((view.len(), main.children.len()), (2, 2));
    }

    #[test]
    fn an_element_has_marks_states_attributes_handlers_and_layout() {
        let view = parse(
            r#"button "Buy {n}" #buy disabled=(n == 0) data-id="x{n}" press=(set(n, n + 1); save) w=80 truth='buy'"#,
        )
        .unwrap();
        let ViewLine::Element(e) = &view[0] else { panic!("{view:?}") };
        assert!(e.prop(Prop::Mark).is_some() && e.prop(Prop::Text).is_some());
        assert_eq!(e.states[0].0, States::DISABLED);
        assert_eq!(e.attrs[0].0, Attr::DataId);
        assert_eq!(e.handler(Event::Press).unwrap().len(), 2);
        assert_eq!(e.prop(Prop::Width), Some(&Expr::Value(Value::Int(80))));
    }

    #[test]
    fn mistakes_show_the_line() {
        for (source, part) in [
            ("buton \"A\"", "not a kind of element"),
            ("button \"A\" prss=x", "not a property"),
            ("main\n      p \"A\"", "wrong indentation"),
            ("else\n  p \"A\"", "no `if`"),
            ("use header", "no part"),
            ("div scroll h=100", "needs a `#mark`"),
            ("button \"A", "not closed"),
        ] {
            let error = parse(source).unwrap_err();
            assert!(error.contains(part), "{source}: {error}");
        }
    }
}
