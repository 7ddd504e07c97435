//! Inputs as sequences of events. The content guard is checked between the events.

use crate::app::eval::Binding;
use crate::app::sim::{DialogContinuation, OpenDialog, Sim};
use crate::app::value::Value;
use crate::app::vocabulary::{Event, Prop};
use crate::guard::{ContentChanged, InputGuards};
use crate::options::Fault;
use stickpin_device::{Button, Dialog};
use stickpin_tree::{Role, States};

/// The result of selecting options.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SelectResult {
    /// The options are selected. A single-selection list selects only the first of them.
    Done,
    /// The element is not a native list.
    NotNative,
    /// The list has no option of this name or value.
    Unknown(String),
}

/// One guarded input to an app.
pub(crate) struct Sequence<'a> {
    pub(crate) sim: &'a mut Sim,
    pub(crate) watch: &'a mut InputGuards,
}

impl Sequence<'_> {
    /// Presses the element at a position of the document. If the app was opened with
    /// [`Fault::Dialog`], the first press only opens a dialog.
    pub(crate) fn press(
        &mut self,
        at: usize,
        button: Button,
        count: u8,
        long: bool,
    ) -> Result<(), ContentChanged> {
        let id = self.sim.dom().nodes[at].id;
        if self.sim.patches.take(Fault::Dialog) {
            self.sim.log_received(at, "press", "");
            let dialog = Dialog::new("confirm", "Are you sure?");
            self.sim.dialog = Some(OpenDialog { dialog, then: DialogContinuation::Press(id) });
            return Ok(());
        }
        let other = match (button, long) {
            (Button::Right, _) => Some((Event::Context, "context")),
            (_, true) => Some((Event::LongPress, "longpress")),
            _ => None,
        };
        if let Some((event, word)) = other {
            self.sim.log_received(at, word, "");
            if !self.sim.is_disabled(at) {
                self.sim.dispatch_event(at, event);
            }
            return Ok(());
        }
        for nth in 0..count.max(1) {
            if nth > 0 {
                self.watch.note_press_delivered(self.sim);
                self.run_between_events(id);
                self.watch.check(self.sim)?;
            }
            let Some(at) = self.sim.dom().find(id) else { return Ok(()) };
            self.press_once(at)?;
        }
        if count == 2 {
            self.watch.note_press_delivered(self.sim);
            self.watch.check(self.sim)?;
        }
        if count == 2
            && let Some(at) = self.sim.dom().find(id)
            && !self.sim.is_disabled(at)
        {
            self.sim.log_received(at, "dblpress", "");
            self.sim.dispatch_event(at, Event::DoublePress);
        }
        Ok(())
    }

    /// Performs one press. Unless the element is disabled, the focus moves at the start of the
    /// press, and the control is activated at its end.
    fn press_once(&mut self, at: usize) -> Result<(), ContentChanged> {
        let (id, control) = (self.sim.dom().nodes[at].id, self.sim.input().pressed_control(at));
        let disabled = self.sim.is_disabled(at);
        if !disabled && self.sim.input().focus_around(at) {
            self.watch.note_delivered();
            self.watch.check(self.sim)?;
        }
        if let Some(at) = self.sim.dom().find(id).or_else(|| self.sim.dom().find(control)) {
            self.sim.log_received(at, "press", "");
            self.watch.note_delivered();
        }
        if !disabled {
            self.sim.input().activate(control);
        }
        Ok(())
    }

    /// Runs what the app does between two events of one input to an element.
    fn run_between_events(&mut self, id: u64) {
        if let Some(at) = self.sim.dom().find(id) {
            self.sim.dispatch_event(at, Event::Between);
        }
    }

    /// Replaces the content of a text field or slider. Returns false if the element is neither, if
    /// it is disabled, or if it is a read-only text field.
    pub(crate) fn fill(&mut self, at: usize, text: &str) -> Result<bool, ContentChanged> {
        let is_slider = self.sim.dom().nodes[at].role == Role::Slider && !self.sim.is_disabled(at);
        if !self.sim.input().takes_text(at) && !is_slider {
            return Ok(false);
        }
        let id = self.sim.dom().nodes[at].id;
        if self.sim.input().focus(Some(id)) {
            self.watch.note_delivered();
            self.watch.check(self.sim)?;
        }
        if let Some(at) = self.sim.dom().find(id) {
            self.sim.log_received(at, "fill", text);
            self.sim.input().set_content(at, text);
        }
        Ok(true)
    }

    /// Types text character by character into the element `into`, or into the focused element if
    /// `into` is `None`.
    pub(crate) fn type_text(&mut self, into: Option<u64>, text: &str) -> Result<(), ContentChanged> {
        if into.is_some() && self.sim.input().focus(into) {
            self.watch.note_delivered();
        }
        let focus = into.or(self.sim.tab().focus);
        self.watch.set_focus(focus);
        let mut entry =
            self.sim.log_entry(focus.and_then(|id| self.sim.dom().find(id)).unwrap_or(0), "type", "");
        let mut stopped = Ok(());
        for (nth, c) in text.chars().enumerate() {
            if nth > 0
                && let Some(id) = focus
            {
                self.run_between_events(id);
            }
            stopped = self.watch.check(self.sim);
            if stopped.is_err() {
                break;
            }
            self.sim.input().character(c);
            entry.detail.push(c);
            self.watch.note_key_delivered(self.sim);
        }
        if stopped.is_ok() || !entry.detail.is_empty() {
            self.sim.input_log.push(entry);
        }
        stopped
    }

    /// Selects options in a native list.
    pub(crate) fn select(&mut self, at: usize, options: &[String]) -> Result<SelectResult, ContentChanged> {
        let dom = self.sim.dom();
        if dom.nodes[at].prop(Prop::Native).is_none() {
            return Ok(SelectResult::NotNative);
        }
        let (list, place) = (dom.nodes[at].id, dom.nodes[at].prop(Prop::Bind).cloned());
        let all: Vec<usize> =
            (at..dom.nodes[at].end).filter(|&i| dom.nodes[i].role == Role::Option).collect();
        let mut chosen = Vec::new();
        for wanted in options {
            let is_wanted = |i: &&usize| dom.nodes[**i].name == *wanted || dom.nodes[**i].value == *wanted;
            match all.iter().find(is_wanted) {
                Some(i) => chosen.push((dom.nodes[*i].id, Value::text(&dom.nodes[*i].value))),
                None => return Ok(SelectResult::Unknown(wanted.clone())),
            }
        }
        let mut entry = self.sim.log_entry(at, "select", &options.join(", "));
        if let Some(place) = place {
            self.sim.input_log.push(entry);
            if let Some((_, value)) = chosen.into_iter().next() {
                self.sim.input().write(at, &place, value);
            }
            return Ok(SelectResult::Done);
        }
        // In a multiple-selection list, each option is bound to a separate place and toggled by a
        // separate event.
        let ids: Vec<u64> = all.iter().map(|&i| dom.nodes[i].id).collect();
        let mut toggled = Vec::new();
        for id in ids {
            let wanted = chosen.iter().any(|(c, _)| *c == id);
            let Some(at) = self.sim.dom().find(id) else { continue };
            if self.sim.dom().nodes[at].states.contains(States::SELECTED) == wanted {
                continue;
            }
            let name = self.sim.dom().nodes[at].name.clone();
            if !toggled.is_empty() {
                self.run_between_events(list);
                if let Err(changed) = self.watch.check(self.sim) {
                    entry.detail = toggled.join(", ");
                    self.sim.input_log.push(entry);
                    return Err(changed);
                }
            }
            self.sim.input().toggle(id);
            self.watch.note_delivered();
            toggled.push(name);
        }
        self.sim.input_log.push(entry);
        Ok(SelectResult::Done)
    }

    /// Picks an element up; returns the record that the drop handler receives, if any.
    pub(crate) fn pick_up(&mut self, at: usize) -> Option<Binding> {
        let (id, dragged) = (self.sim.dom().nodes[at].id, self.sim.dom().nodes[at].env.last().cloned());
        self.sim.log_received(at, "drag", "");
        self.watch.note_delivered();
        self.run_between_events(id);
        dragged
    }

    /// Drops the dragged record, if any, onto an element.
    pub(crate) fn drop_on(&mut self, at: usize, dragged: Option<Binding>) {
        self.sim.log_received(at, "drop", "");
        if let Some(bound) = dragged {
            self.sim.dispatch_event_with(at, Event::Drop, Some(Binding { name: "dragged".into(), ..bound }));
        }
    }
}
