//! Renders views and state to nodes.

use super::dom::{Dom, Key, Node, Style};
use super::eval::{Binding, Env, eval, extend_scope};
use super::expr::Expr;
use super::state::State;
use super::value::Value;
use super::view::{Element, Loop, ViewLine};
use super::vocabulary::{CAPABILITY_STATES, Event, Prop};
use crate::roles::{self, Kind, Naming};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use stickpin_tree::{Attr, Document, Role, States};

/// The line number of nodes that are not in any view: documents, toasts, text leaves of elements.
pub(crate) const NO_VIEW_LINE: u32 = u32::MAX;

/// The inputs of a rendering.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RenderInput<'a> {
    pub(crate) state: &'a State,
    /// How often the children of each marked element were replaced.
    pub(crate) epochs: &'a HashMap<String, u64>,
    /// The scroll offsets, by the scroller's mark.
    pub(crate) scroll: &'a HashMap<String, f64>,
}

pub(super) struct Renderer<'a> {
    input: RenderInput<'a>,
    nodes: Vec<Node>,
    /// The nodes whose children are being rendered, outermost first.
    open: Vec<usize>,
    /// The key parts of the loops that were entered since the parent.
    part: String,
    /// The selected values of the enclosing lists, with which options are compared.
    pub(super) selected_values: Vec<Value>,
    /// The mark and height of the enclosing scroller.
    scroller: Option<(String, i64)>,
}

/// Renders a document. Its nodes do not have identities yet.
pub(crate) fn render(view: &[ViewLine], document: Document, input: RenderInput<'_>) -> Dom {
    let mut r = Renderer {
        input,
        nodes: Vec::new(),
        open: Vec::new(),
        part: String::new(),
        selected_values: Vec::new(),
        scroller: None,
    };
    r.document(document);
    let env: Env = [].into();
    r.all(view, &env);
    r.toasts();
    r.close();
    let mut dom = Dom::without_identities(r.nodes);
    finish(&mut dom);
    dom
}

impl Renderer<'_> {
    pub(super) fn eval(&self, e: &Expr, env: &Env) -> Value {
        eval(e, self.input.state, env)
    }

    fn push(&mut self, mut node: Node) -> usize {
        node.parent = self.open.last().copied().unwrap_or(0);
        node.depth = self.open.len();
        let at = self.nodes.len();
        self.nodes.push(node);
        self.open.push(at);
        at
    }

    fn close(&mut self) {
        if let Some(at) = self.open.pop() {
            self.nodes[at].end = self.nodes.len();
        }
    }

    fn document(&mut self, document: Document) {
        let mut node = blank(NO_VIEW_LINE, &self.part, roles::kind("div").expect("a kind"));
        node.role = Role::Document;
        node.name.clone_from(&document.title);
        node.document = Some(Box::new(document));
        self.push(node);
    }

    fn text(&mut self, tpl: u32, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let mut node = blank(tpl, &self.part, roles::kind("text").expect("a kind"));
        node.name = text.into();
        self.push(node);
        self.close();
    }

    fn all(&mut self, view: &[ViewLine], env: &Env) {
        for tpl in view {
            match tpl {
                ViewLine::Text(line, e) => {
                    let text = self.eval(e, env).to_string();
                    self.text(*line, &text);
                }
                ViewLine::If { test, then_lines: yes, else_lines: no } => {
                    let branch = if self.eval(test, env).truthy() { yes } else { no };
                    self.all(branch, env);
                }
                ViewLine::For(f) => self.repeat(f, env),
                ViewLine::Element(e) => self.element(e, env),
            }
        }
    }

    /// Binds the loop variable to the record at `at`.
    fn bind_loop_variable(&self, f: &Loop, env: &Env, at: usize) -> Option<Env> {
        let record = self.input.state.lists.get(&*f.list)?.get(at)?;
        Some(extend_scope(env, Binding { name: f.var.clone(), list: f.list.clone(), uid: record.uid, at }))
    }

    fn repeat(&mut self, f: &Loop, env: &Env) {
        let count = self.input.state.lists.get(&*f.list).map_or(0, Vec::len);
        let passes = |at: &usize| {
            let inner = self.bind_loop_variable(f, env, *at);
            f.filter.as_ref().is_none_or(|e| inner.is_some_and(|inner| self.eval(e, &inner).truthy()))
        };
        // For a virtual list without a filter, only the rows in the window are evaluated.
        let records: Option<Vec<usize>> = f.filter.is_some().then(|| (0..count).filter(passes).collect());
        let len = records.as_ref().map_or(count, Vec::len);
        let record = |nth: usize| records.as_ref().map_or(nth, |r| r[nth]);
        let outer = self.part.clone();
        let Some(row) = f.row_height.map(i64::from) else {
            for nth in 0..len {
                let Some(inner) = self.bind_loop_variable(f, env, record(nth)) else { continue };
                let key =
                    f.key.as_ref().map_or_else(|| nth.to_string(), |e| self.eval(e, &inner).to_string());
                self.part = format!("{outer}/{key}");
                self.all(&f.body, &inner);
            }
            self.part = outer;
            return;
        };
        let (mark, height) = self.scroller.clone().unwrap_or((String::new(), 600));
        let offset = self.input.scroll.get(&mark).copied().unwrap_or(0.0);
        let total = i64::try_from(len).unwrap_or(i64::MAX);
        // Renders a few extra rows on either side, as virtual lists do.
        #[allow(clippy::cast_possible_truncation, reason = "scroll offsets are small and not negative")]
        let first = (offset as i64 / row - 2).clamp(0, total);
        let visible_rows = height / row + 6;
        let last = (first + visible_rows).min(total);
        let mut wrapper = blank(f.tpl, &self.part, roles::kind("div").expect("a kind"));
        wrapper.style.height = Some(total * row);
        self.push(wrapper);
        for nth in first..last {
            let Some(inner) = self.bind_loop_variable(f, env, record(usize::try_from(nth).unwrap_or(0)))
            else {
                continue;
            };
            // Without a key, the next row in the same slot reuses the node.
            let key = f
                .key
                .as_ref()
                .map_or_else(|| (nth % visible_rows).to_string(), |e| self.eval(e, &inner).to_string());
            self.part = format!("/{key}");
            let from = self.nodes.len();
            self.all(&f.body, &inner);
            let depth = self.open.len();
            for node in &mut self.nodes[from..] {
                if node.depth == depth {
                    node.style.top = Some(nth * row);
                    node.style.height.get_or_insert(row);
                }
            }
        }
        self.close();
        self.part = outer;
    }

    fn element(&mut self, e: &Arc<Element>, env: &Env) {
        let kind = e.kind;
        let text = e.prop(Prop::Text).map(|t| self.eval(t, env).to_string());
        let label = e.prop(Prop::Label).map(|l| self.eval(l, env).to_string());
        let mut node = blank(e.tpl, &self.part, kind);
        node.mark = e.prop(Prop::Mark).map(|m| self.eval(m, env).to_string()).unwrap_or_default();
        let content = text.clone().filter(|_| kind.naming != Naming::Label);
        match (label, kind.naming) {
            (Some(label), _) => node.name = label,
            (None, Naming::FromContent) => {
                node.name = text.clone().unwrap_or_default();
                node.states |= States::NAME_FROM_CONTENT;
            }
            (None, Naming::Label) => node.name = text.clone().unwrap_or_default(),
            (None, Naming::Content) => {}
        }
        for (states, test) in &e.states {
            if self.eval(test, env).truthy() {
                node.states |= *states
            } else {
                node.states |= *states & CAPABILITY_STATES
            }
        }
        if node.states.contains(States::READONLY) {
            node.states -= States::EDITABLE;
        }
        if e.handler(Event::Press).is_some() {
            node.states |= States::ACTIONABLE;
            if kind.role == Role::Generic {
                node.role = Role::Clickable;
            }
        }
        for (attr, value) in &e.attrs {
            let value = self.eval(value, env).to_string();
            if *attr == Attr::Live && matches!(value.as_str(), "polite" | "assertive") {
                node.states |= States::LIVE;
            }
            if !value.is_empty() {
                node.attrs.push((*attr, value));
            }
        }
        node.attrs.sort();
        self.style(&mut node, e, env);
        let chosen = self.value(&mut node, e, text.as_deref(), env);
        node.truth = self.truth(e, &node, env);
        node.element = Some(e.clone());
        node.env = env.clone();
        let scroller = node.style.scroll.then(|| (node.mark.clone(), node.style.height.unwrap_or(600)));
        self.below(e, node, content, chosen, scroller, env);
    }

    fn below(
        &mut self,
        e: &Arc<Element>,
        node: Node,
        content: Option<String>,
        chosen: Option<Value>,
        scroller: Option<(String, i64)>,
        env: &Env,
    ) {
        let epoch = self.input.epochs.get(&node.mark).copied().unwrap_or(0);
        let outer = std::mem::take(&mut self.part);
        if epoch > 0 && !node.mark.is_empty() {
            self.part = format!("~{epoch}");
        }
        let outer_scroller = scroller.map(|s| self.scroller.replace(s));
        let (is_frame, mark) = (node.role == Role::Iframe, node.mark.clone());
        self.push(node);
        if is_frame {
            let src = e.prop(Prop::Src).map(|s| self.eval(s, env).to_string()).unwrap_or_default();
            let parent = self.nodes.iter().rev().find_map(|n| n.document.as_ref()).map(|d| d.frame.clone());
            let _ = write!(self.part, "@{src}"); // Writing to a string cannot fail.
            let frame =
                format!("{}/{}", parent.unwrap_or_default(), if mark.is_empty() { "frame" } else { &mark });
            self.document(Document { scope: 0, frame, url: src, title: String::new() });
            self.part = String::new();
        }
        if let Some(content) = content {
            self.text(NO_VIEW_LINE, &content);
        }
        let nested = chosen.map(|c| self.selected_values.push(c)).is_some();
        self.all(&e.children, env);
        if nested {
            self.selected_values.pop();
        }
        if is_frame {
            self.close();
        }
        self.close();
        if let Some(before) = outer_scroller {
            self.scroller = before;
        }
        self.part = outer;
    }

    /// Adds the toasts at the end of the document, in a live region that exists only while there
    /// are toasts.
    fn toasts(&mut self) {
        let toasts = self.input.state.lists.get(TOASTS).map_or(&[][..], Vec::as_slice);
        if toasts.is_empty() {
            return;
        }
        let mut region = blank(NO_VIEW_LINE, "toasts", roles::kind("status").expect("a kind"));
        region.style.fixed = Some((24, 24));
        region.style.width = Some(320);
        region.style.ghost = true;
        self.push(region);
        for toast in toasts {
            let mut node = blank(NO_VIEW_LINE, &toast.uid.to_string(), roles::kind("p").expect("a kind"));
            node.style.ghost = true;
            self.push(node);
            self.text(NO_VIEW_LINE, &toast.get("text").to_string());
            self.close();
        }
        self.close();
    }
}

/// The list that holds the toasts.
pub(crate) const TOASTS: &str = "toasts";

/// Returns an empty node of a kind.
pub(crate) fn blank(tpl: u32, part: &str, kind: &'static Kind) -> Node {
    Node {
        id: 0,
        serial: 0,
        parent: 0,
        end: 0,
        depth: 0,
        key: Key { tpl, part: part.into() },
        kind,
        role: kind.role,
        level: kind.level,
        name: String::new(),
        value: String::new(),
        states: kind.states,
        attrs: Vec::new(),
        style: Style { flow: kind.flow, ..Style::default() },
        element: None,
        env: [].into(),
        mark: String::new(),
        truth: String::new(),
        document: None,
    }
}

/// Sets the properties that depend on other nodes: names from content, and those that a node
/// inherits from its parent (live, hidden, inert, ghost).
fn finish(dom: &mut Dom) {
    for at in 0..dom.nodes.len() {
        if at > 0 {
            let parent = dom.nodes[at].parent;
            let (live, style) = (dom.nodes[parent].states & States::LIVE, dom.nodes[parent].style.clone());
            let node = &mut dom.nodes[at];
            node.states |= live;
            node.style.hidden |= style.hidden;
            node.style.inert |= style.inert;
            node.style.ghost |= style.ghost;
        }
        if dom.nodes[at].states.contains(States::NAME_FROM_CONTENT) && dom.nodes[at].name.is_empty() {
            dom.nodes[at].name = dom.text(at);
        }
    }
}
