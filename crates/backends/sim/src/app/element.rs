//! Evaluates an element's view line in a state: value, checked states, layout, and its name in the
//! log.

use super::dom::Node;
use super::eval::Env;
use super::expr::Expr;
use super::render::Renderer;
use super::value::Value;
use super::view::Element;
use super::vocabulary::Prop;
use crate::roles::Flow;
use std::fmt::Write as _;
use stickpin_tree::{Role, States};

impl Renderer<'_> {
    /// Sets the value and the checked or selected state; returns the value that the options below
    /// are compared with.
    pub(super) fn value(&self, node: &mut Node, e: &Element, text: Option<&str>, env: &Env) -> Option<Value> {
        let own = e.prop(Prop::Value).map(|v| self.eval(v, env));
        let bound = e.prop(Prop::Bind).map(|place| self.eval(place, env));
        match node.role {
            Role::Checkbox | Role::Switch | Role::MenuItemCheckbox => {
                if bound.is_some_and(|b| b.truthy()) {
                    node.states |= States::CHECKED;
                }
            }
            Role::Radio => {
                let own = own.unwrap_or_else(|| Value::text(text.unwrap_or_default()));
                if bound.is_some_and(|b| b.same(&own)) {
                    node.states |= States::CHECKED;
                }
            }
            Role::Option => {
                let own = own.unwrap_or_else(|| Value::text(text.unwrap_or_default()));
                let chosen = match &bound {
                    Some(bound) => bound.truthy(),
                    None => self.selected_values.last().is_some_and(|c| c.same(&own)),
                };
                if chosen {
                    node.states |= States::SELECTED;
                }
                node.value = own.to_string();
            }
            Role::ListBox | Role::RadioGroup | Role::Menu | Role::TabList => return bound,
            _ => {
                let value = own.or_else(|| bound.clone());
                node.value = value.map(|v| v.to_string()).unwrap_or_default();
                if node.role == Role::Combobox {
                    return bound;
                }
            }
        }
        None
    }

    pub(super) fn style(&self, node: &mut Node, e: &Element, env: &Env) {
        let number = |p| e.prop(p).map(|x| self.eval(x, env).int());
        let flag = |p| e.prop(p).is_some_and(|x| self.eval(x, env).truthy());
        let s = &mut node.style;
        if flag(Prop::Inline) {
            s.flow = Flow::Inline;
        }
        if flag(Prop::Block) {
            s.flow = Flow::Block;
        }
        s.width = number(Prop::Width);
        s.height = number(Prop::Height);
        s.fixed = number(Prop::X).map(|x| (x, number(Prop::Y).unwrap_or(0)));
        s.scroll = flag(Prop::Scroll);
        s.ghost = flag(Prop::Ghost);
        s.clear = flag(Prop::Clear);
        s.inert = flag(Prop::Inert);
        s.hidden = flag(Prop::Hidden);
        if s.scroll {
            node.states |= States::SCROLLABLE;
        }
        if let Some(level) = number(Prop::Level) {
            node.level = u8::try_from(level).unwrap_or(0);
        }
    }

    pub(super) fn truth(&self, e: &Element, node: &Node, env: &Env) -> String {
        if let Some(truth) = e.prop(Prop::Truth) {
            return self.eval(truth, env).to_string();
        }
        let mut out = String::new();
        for bound in env.iter() {
            let id = self.eval(&Expr::Field(bound.name.to_string(), "id".into()), env);
            let id = if id == Value::Null { bound.uid.to_string() } else { id.to_string() };
            let _ = write!(out, "{}:{id} ", bound.list); // Writing to a string cannot fail.
        }
        let _ = write!(out, "{}", e.kind.word); // This cannot fail either.
        if !node.name.is_empty() {
            let _ = write!(out, " {}", node.name); // This cannot fail either.
        }
        out
    }
}
