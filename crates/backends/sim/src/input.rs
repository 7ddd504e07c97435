//! Input as the app experiences it: the effects of a person's pointer and keys.

use crate::app::eval::eval;
use crate::app::expr::Expr;
use crate::app::nav::HistoryChange;
use crate::app::sim::Sim;
use crate::app::value::Value;
use crate::app::vocabulary::{Event, Prop};
use crate::format::format_value;
use crate::layout::PAGE;
use stickpin_tree::{Attr, Role, States};

impl Sim {
    pub(crate) fn input(&mut self) -> Input<'_> {
        Input { sim: self }
    }

    /// Returns the control around an element: the nearest actionable one among the element and its
    /// ancestors, otherwise the element itself.
    pub(crate) fn control(&self, at: usize) -> usize {
        let dom = self.dom();
        dom.path(at).find(|&i| dom.nodes[i].states.contains(States::ACTIONABLE)).unwrap_or(at)
    }

    /// Returns the element that the label around an element names with `for`; the element itself if
    /// there is no such label.
    pub(crate) fn label_target(&self, at: usize) -> usize {
        let dom = self.dom();
        let label = dom.path(at).find(|&i| dom.nodes[i].role == Role::Label);
        let target = label.and_then(|i| dom.find_by_mark(&self.prop_value(i, Prop::For)?.to_string()));
        target.unwrap_or(at)
    }

    /// Returns the current value of an element's property.
    pub(crate) fn prop_value(&self, at: usize, prop: Prop) -> Option<Value> {
        let node = &self.dom().nodes[at];
        Some(eval(node.prop(prop)?, &self.state, &node.env))
    }

    /// Returns whether the control around an element is disabled.
    pub(crate) fn is_disabled(&self, at: usize) -> bool {
        let dom = self.dom();
        dom.nodes[self.control(at)].states.contains(States::DISABLED)
    }
}

/// Pointer and keyboard input to an app.
pub(crate) struct Input<'a> {
    pub(crate) sim: &'a mut Sim,
}

impl Input<'_> {
    /// Moves the pointer to a point.
    pub(crate) fn move_pointer_to(&mut self, x: f64, y: f64) {
        let over = self.sim.layout().hit_test(self.sim.dom(), x, y);
        let id = over.map(|at| self.sim.dom().nodes[at].id);
        if id == self.sim.hover {
            return;
        }
        self.sim.hover = id;
        if let Some(at) = over {
            self.sim.log_received(at, "hover", "");
            self.sim.dispatch_event(at, Event::Hover);
        }
    }

    /// Presses an element: the focus moves, and the element's control is activated. A disabled
    /// control ignores the press.
    pub(crate) fn press_element(&mut self, at: usize) {
        if self.sim.is_disabled(at) {
            return;
        }
        let control = self.pressed_control(at);
        self.focus_around(at);
        self.activate(control);
    }

    /// Returns the control that a press at a position activates.
    pub(crate) fn pressed_control(&self, at: usize) -> u64 {
        self.sim.dom().nodes[self.sim.control(self.sim.label_target(at))].id
    }

    /// Moves the focus to the element that a press at a position focuses. Returns false if that
    /// element already has it.
    pub(crate) fn focus_around(&mut self, at: usize) -> bool {
        let dom = self.sim.dom();
        let focus =
            dom.path(self.sim.label_target(at)).find(|&i| dom.nodes[i].states.contains(States::FOCUSABLE));
        self.focus(focus.map(|i| dom.nodes[i].id))
    }

    /// Activates a control: toggles it if that is possible, then runs the app's handler. A link
    /// without a handler is followed.
    pub(crate) fn activate(&mut self, id: u64) {
        self.toggle(id);
        let Some(at) = self.sim.dom().find(id) else { return };
        let handled = self.sim.dispatch_event(at, Event::Press);
        let Some(at) = self.sim.dom().find(id).filter(|_| !handled) else { return };
        let node = &self.sim.dom().nodes[at];
        let href = node.attrs.iter().find(|(a, _)| *a == Attr::Href).map(|(_, v)| v.clone());
        if let (Role::Link, Some(href)) = (node.role, href) {
            let result = if href.starts_with('#') {
                self.sim.navigator().route(&href, HistoryChange::Push)
            } else {
                self.sim.navigator().request_navigation(&href, HistoryChange::Push)
            };
            self.sim.report(result);
        }
    }

    /// Moves the focus to an element; `None` removes the focus. Returns false if nothing changes.
    pub(crate) fn focus(&mut self, id: Option<u64>) -> bool {
        if self.sim.tab().focus == id {
            return false;
        }
        self.sim.tab_mut().focus = id;
        self.sim.refresh();
        if let Some(at) = id.and_then(|id| self.sim.dom().find(id)) {
            self.sim.dispatch_event(at, Event::Focus);
        }
        true
    }

    /// Toggles what a press toggles: checkboxes, switches, menu item checkboxes, radio buttons and
    /// options, if they are bound to a variable.
    pub(crate) fn toggle(&mut self, id: u64) {
        let dom = self.sim.dom();
        let Some(at) = dom.find(id) else { return };
        let node = &dom.nodes[at];
        let own = || {
            let value = self.sim.prop_value(at, Prop::Value).map(|value| value.to_string());
            Value::text(value.unwrap_or_else(|| node.name.clone()))
        };
        let (place, value, holder) = match (node.role, node.prop(Prop::Bind).cloned()) {
            (Role::Checkbox | Role::Switch | Role::MenuItemCheckbox, Some(place)) => {
                (place, Value::Bool(!node.states.contains(States::CHECKED)), at)
            }
            (Role::Option, Some(place)) => (place, Value::Bool(!node.states.contains(States::SELECTED)), at),
            (Role::Radio, Some(place)) => (place, own(), at),
            (Role::Option, None) => {
                let list = dom.ancestors(at).find_map(|i| Some((dom.nodes[i].prop(Prop::Bind)?.clone(), i)));
                let Some((place, list)) = list else { return };
                (place, own(), list)
            }
            _ => return,
        };
        self.write(holder, &place, value);
    }

    /// Writes the variable that an element is bound to, and runs the element's input handler.
    pub(crate) fn write(&mut self, at: usize, place: &Expr, value: Value) {
        let (id, env) = (self.sim.dom().nodes[at].id, self.sim.dom().nodes[at].env.clone());
        self.sim.state.write(place, &env, value);
        self.sim.refresh();
        if let Some(at) = self.sim.dom().find(id) {
            self.sim.dispatch_event(at, Event::Input);
        }
    }

    /// Sets the content of a field, formatted as the app formats it.
    pub(crate) fn set_content(&mut self, at: usize, text: &str) {
        let node = &self.sim.dom().nodes[at];
        if node.element.is_none() {
            return;
        }
        let numeric = matches!(node.role, Role::SpinButton | Role::Slider);
        let number = |prop| self.sim.prop_value(at, prop).map(|value| value.int());
        let text = match self.sim.prop_value(at, Prop::Format) {
            Some(format) => format_value(&format.to_string(), text),
            None if numeric && !text.is_empty() => clamp_number(text, number(Prop::Min), number(Prop::Max)),
            None => text.into(),
        };
        if let Some(place) = node.prop(Prop::Bind).cloned() {
            let value = text.parse().ok().filter(|_| numeric).map_or_else(|| Value::text(&text), Value::Int);
            return self.write(at, &place, value);
        }
        let id = node.id;
        self.sim.tab_mut().typed.insert(id, text);
        self.sim.refresh();
        if let Some(at) = self.sim.dom().find(id) {
            self.sim.dispatch_event(at, Event::Input);
        }
    }

    /// Returns whether text can be entered into an element now.
    pub(crate) fn takes_text(&self, at: usize) -> bool {
        let states = self.sim.dom().nodes[at].states;
        states.contains(States::EDITABLE) && !states.intersects(States::DISABLED | States::READONLY)
    }

    /// Types one character into the focused element.
    pub(crate) fn character(&mut self, c: char) {
        let Some(at) = self.sim.tab().focus.and_then(|id| self.sim.dom().find(id)) else { return };
        if self.takes_text(at) {
            let text = format!("{}{c}", self.sim.dom().nodes[at].value);
            self.set_content(at, &text);
        }
    }

    /// Returns the mark of the scroller around an element, or [`PAGE`] if there is none.
    pub(crate) fn scroller(&self, at: usize) -> String {
        let dom = self.sim.dom();
        let found = dom.path(at).find(|&i| dom.nodes[i].style.scroll);
        found.map_or_else(|| PAGE.to_owned(), |i| dom.nodes[i].mark.clone())
    }

    /// Scrolls to an offset, limited to the content. Returns false if nothing moved.
    pub(crate) fn scroll_to(&mut self, mark: &str, y: f64) -> bool {
        let max_offset = self.sim.layout().max_scroll_offset(mark);
        let y = y.clamp(0.0, max_offset);
        let before = self.sim.scroll_offset(mark);
        if (y - before).abs() < 0.5 {
            return false;
        }
        self.sim.tab_mut().scroll.insert(mark.to_owned(), y);
        self.sim.refresh();
        let at = self.sim.dom().find_by_mark(mark).unwrap_or(0);
        self.sim.dispatch_event(at, Event::Scroll);
        true
    }

    /// Presses a key with modifiers, as in `Control+a`.
    pub(crate) fn key(&mut self, chord: &str, key: &str, plain: bool) {
        let focus = self.sim.tab().focus.and_then(|id| self.sim.dom().find(id));
        let at = focus.unwrap_or(0);
        let (id, role) = (self.sim.dom().nodes[at].id, self.sim.dom().nodes[at].role);
        self.sim.log_received(at, "key", chord);
        match key {
            "Tab" => self.tab_key(focus, chord.contains("Shift+")),
            "Enter" if matches!(role, Role::Button | Role::Link | Role::MenuItem | Role::Tab) => {
                self.press_element(at);
            }
            "Enter" if self.sim.dom().nodes[at].states.contains(States::MULTILINE) => self.character('\n'),
            "Enter" => {
                self.sim.dispatch_event(at, Event::Enter);
            }
            "Escape" => self.escape(at),
            " " | "Space" if !self.takes_text(at) => self.press_element(at),
            "ArrowUp" | "ArrowRight" => self.step_value(id, 1),
            "ArrowDown" | "ArrowLeft" => self.step_value(id, -1),
            "Backspace" | "Delete" if self.takes_text(at) => {
                let mut text = self.sim.dom().nodes[at].value.clone();
                text.pop();
                self.set_content(at, &text);
            }
            key if plain => {
                let mut chars = key.chars();
                if let (Some(c), None) = (chars.next(), chars.next()) {
                    self.character(c);
                }
            }
            _ => {}
        }
    }

    fn tab_key(&mut self, from: Option<usize>, back: bool) {
        let dom = self.sim.dom();
        let stops: Vec<(usize, u64)> = (0..dom.nodes.len())
            .filter(|&i| {
                let n = &dom.nodes[i];
                n.states.contains(States::FOCUSABLE)
                    && !n.states.contains(States::DISABLED)
                    && !n.style.hidden
                    && !n.style.inert
            })
            .map(|i| (i, dom.nodes[i].id))
            .collect();
        let next = if back {
            stops.iter().rev().find(|(i, _)| from.is_none_or(|f| *i < f)).or(stops.last())
        } else {
            stops.iter().find(|(i, _)| from.is_none_or(|f| *i > f)).or(stops.first())
        };
        let next = next.map(|(_, id)| *id);
        self.focus(next);
    }

    /// Sends Escape to the focused element. If nothing handles it there, sends it to the last
    /// visible element that handles Escape.
    fn escape(&mut self, at: usize) {
        if self.sim.dispatch_event(at, Event::Escape) {
            return;
        }
        let dom = self.sim.dom();
        let can_focus = |i: &usize| {
            dom.nodes[*i].element.as_ref().is_some_and(|e| e.handler(Event::Escape).is_some())
                && !dom.nodes[*i].style.hidden
        };
        if let Some(at) = (0..dom.nodes.len()).rev().find(can_focus) {
            self.sim.dispatch_event(at, Event::Escape);
        }
    }

    /// Handles arrow keys on a slider or a number field.
    fn step_value(&mut self, id: u64, by: i64) {
        let Some(at) = self.sim.dom().find(id) else { return };
        let node = &self.sim.dom().nodes[at];
        if !matches!(node.role, Role::Slider | Role::SpinButton) {
            return;
        }
        let step = self.sim.prop_value(at, Prop::Step).map_or(1, |step| step.int());
        let value = node.value.parse::<i64>().unwrap_or(0) + by * step;
        self.set_content(at, &value.to_string());
    }
}

/// Clamps a number to the bounds; other text is unchanged, as in real fields.
fn clamp_number(text: &str, min: Option<i64>, max: Option<i64>) -> String {
    match text.trim().parse::<i64>() {
        Ok(n) => {
            n.clamp(min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX).max(min.unwrap_or(i64::MIN))).to_string()
        }
        Err(_) => text.into(),
    }
}
