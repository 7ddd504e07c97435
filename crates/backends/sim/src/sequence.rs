//! Inputs as sequences of events. Before each event the content guard is compared.

use crate::app::eval::Bound;
use crate::app::sim::{Asked, Sim, Then};
use crate::app::value::Value;
use crate::app::words::{Event, Prop};
use crate::guard::{Changed, Watch};
use crate::options::Fault;
use stickpin_device::{Button, Dialog};
use stickpin_tree::{Role, States};

/// What became of choosing options.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Selected {
    /// The options are chosen, and no others.
    Done,
    /// The element is no native list.
    NotNative,
    /// The list has no option of this name or value.
    Unknown(String),
}

impl Sim {
    /// Presses what is at a position of the document.
    pub(crate) fn press(
        &mut self,
        at: usize,
        button: Button,
        count: u8,
        long: bool,
        watch: &mut Watch,
    ) -> Result<(), Changed> {
        let id = self.dom().nodes[at].id;
        let other = match (button, long) {
            (Button::Right, _) => Some((Event::Context, "context")),
            (_, true) => Some((Event::LongPress, "longpress")),
            _ => None,
        };
        if let Some((event, word)) = other {
            self.received(at, word, "");
            if !self.disabled(at) {
                self.fire(at, event);
            }
            return Ok(());
        }
        for nth in 0..count.max(1) {
            if nth > 0 {
                watch.delivered_press(self);
                self.between_events(id);
                watch.check(self)?;
            }
            let Some(at) = self.dom().find(id) else { return Ok(()) };
            self.press_once(at, watch)?;
        }
        if count == 2
            && let Some(at) = self.dom().find(id)
            && !self.disabled(at)
        {
            self.received(at, "dblpress", "");
            self.fire(at, Event::DoublePress);
        }
        Ok(())
    }

    /// One press: the focus moves at its beginning, the control is activated at its end.
    fn press_once(&mut self, at: usize, watch: &mut Watch) -> Result<(), Changed> {
        let (id, control) = (self.dom().nodes[at].id, self.pressed_control(at));
        let disabled = self.disabled(at);
        if !disabled && self.focus_around(at) {
            watch.delivered();
            watch.check(self)?;
        }
        if let Some(at) = self.dom().find(id).or_else(|| self.dom().find(control)) {
            self.received(at, "press", "");
            watch.delivered();
        }
        if !disabled {
            self.activate(control);
        }
        Ok(())
    }

    /// Presses, unless the app was opened with a dialog that comes in the way.
    pub(crate) fn press_or_ask(
        &mut self,
        at: usize,
        button: Button,
        count: u8,
        long: bool,
        watch: &mut Watch,
    ) -> Result<(), Changed> {
        if !self.patches.take(Fault::Dialog) {
            return self.press(at, button, count, long, watch);
        }
        let id = self.dom().nodes[at].id;
        self.received(at, "press", "");
        let dialog = Dialog {
            kind: "confirm".into(),
            message: "Are you sure?".into(),
            default: String::new(),
            tab: None,
        };
        self.dialog = Some(Asked { dialog, then: Then::Press(id) });
        Ok(())
    }

    /// What the app does between two events of one input to an element.
    fn between_events(&mut self, id: u64) {
        if let Some(at) = self.dom().find(id) {
            self.fire(at, Event::Between);
        }
    }

    /// Replaces the content of a field; false where it takes none.
    pub(crate) fn fill(&mut self, at: usize, text: &str, watch: &mut Watch) -> Result<bool, Changed> {
        if !self.takes_text(at) && self.dom().nodes[at].role != Role::Slider {
            return Ok(false);
        }
        let id = self.dom().nodes[at].id;
        if self.focus(Some(id)) {
            watch.delivered();
            watch.check(self)?;
        }
        if let Some(at) = self.dom().find(id) {
            self.received(at, "fill", text);
            self.put(at, text);
        }
        Ok(true)
    }

    /// Types one character after another into an element, or into what has the focus.
    pub(crate) fn type_text(
        &mut self,
        into: Option<u64>,
        text: &str,
        watch: &mut Watch,
    ) -> Result<(), Changed> {
        if into.is_some() && self.focus(into) {
            watch.delivered();
        }
        let focus = into.or(self.tab().focus);
        watch.set_focus(focus);
        let mut entry = self.log_entry(focus.and_then(|id| self.dom().find(id)).unwrap_or(0), "type", "");
        let mut stopped = Ok(());
        for (nth, c) in text.chars().enumerate() {
            if nth > 0
                && let Some(id) = focus
            {
                self.between_events(id);
            }
            stopped = watch.check(self);
            if stopped.is_err() {
                break;
            }
            self.character(c);
            entry.detail.push(c);
            watch.delivered_key(self);
        }
        if stopped.is_ok() || !entry.detail.is_empty() {
            self.truth.push(entry);
        }
        stopped
    }

    /// Chooses options of a native list.
    pub(crate) fn select(
        &mut self,
        at: usize,
        options: &[String],
        watch: &mut Watch,
    ) -> Result<Selected, Changed> {
        let dom = self.dom();
        let native = dom.nodes[at].element.as_ref().filter(|e| e.prop(Prop::Native).is_some());
        let Some(element) = native else { return Ok(Selected::NotNative) };
        let (list, place) = (dom.nodes[at].id, element.bind.clone());
        let all: Vec<usize> =
            (at..dom.nodes[at].end).filter(|&i| dom.nodes[i].role == Role::Option).collect();
        let mut chosen = Vec::new();
        for wanted in options {
            let is = |i: &&usize| dom.nodes[**i].name == *wanted || dom.nodes[**i].value == *wanted;
            match all.iter().find(is) {
                Some(i) => chosen.push((dom.nodes[*i].id, Value::text(&dom.nodes[*i].value))),
                None => return Ok(Selected::Unknown(wanted.clone())),
            }
        }
        let mut entry = self.log_entry(at, "select", &options.join(", "));
        if let Some(place) = place {
            self.truth.push(entry);
            if let Some((_, value)) = chosen.into_iter().next() {
                self.write(at, &place, value);
            }
            return Ok(Selected::Done);
        }
        // Several can be chosen: each option is bound to a place of its own, and turned by an event
        // of its own.
        let ids: Vec<u64> = all.iter().map(|&i| dom.nodes[i].id).collect();
        let mut turned = Vec::new();
        for id in ids {
            let wanted = chosen.iter().any(|(c, _)| *c == id);
            let Some(at) = self.dom().find(id) else { continue };
            if self.dom().nodes[at].states.contains(States::SELECTED) == wanted {
                continue;
            }
            let name = self.dom().nodes[at].name.clone();
            if !turned.is_empty() {
                self.between_events(list);
                if let Err(changed) = watch.check(self) {
                    entry.detail = turned.join(", ");
                    self.truth.push(entry);
                    return Err(changed);
                }
            }
            self.toggle(id);
            watch.delivered();
            turned.push(name);
        }
        self.truth.push(entry);
        Ok(Selected::Done)
    }

    /// Picks an element up: gives the record that a drop is told of.
    pub(crate) fn pick_up(&mut self, at: usize, watch: &mut Watch) -> Option<Bound> {
        let (id, dragged) = (self.dom().nodes[at].id, self.dom().nodes[at].env.last().cloned());
        self.received(at, "drag", "");
        watch.delivered();
        self.between_events(id);
        dragged
    }

    /// Drops on an element what was picked up.
    pub(crate) fn drop_on(&mut self, at: usize, dragged: Option<Bound>) {
        self.received(at, "drop", "");
        if let Some(bound) = dragged {
            self.fire_with(at, Event::Drop, Some(Bound { name: "dragged".into(), ..bound }));
        }
    }
}
