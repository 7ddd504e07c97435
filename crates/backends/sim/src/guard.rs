//! The content guard: the content that an input belongs to must not change between the aim and the
//! last event of the input.

use crate::aim;
use crate::app::dom::Dom;
use crate::app::sim::Sim;
use crate::app::vocabulary::is_content;
use crate::capture::{self, Addresses};
use stickpin_device::{Action, Delivery};
use stickpin_tree::{Attr, Handle, Role, States, differ_in_numbers};

/// The states that show what is checked, selected, pressed or expanded.
const SELECTION: States = States::CHECKED
    .union(States::MIXED)
    .union(States::EXPANDED)
    .union(States::SELECTED)
    .union(States::PRESSED);

/// Guarded content changed: no further event of the input is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentChanged;

/// The content of a node that a client may have read and relied on.
#[derive(Debug, Clone, PartialEq)]
struct GuardedContent {
    /// Identifies the node even if the node's `id` is reused for another one.
    serial: u64,
    role: Role,
    name: String,
    value: String,
    states: States,
    attrs: Vec<(Attr, String)>,
    /// The address of a document, without the fragment.
    url: Option<String>,
    /// Whether the node is neither hidden nor inert.
    shown: bool,
}

impl GuardedContent {
    /// Copies the content of a node. Excludes the value and selection of the target and of its
    /// content, because the input is meant to change them.
    fn capture(dom: &Dom, at: usize, in_target: bool) -> Self {
        let node = &dom.nodes[at];
        let url = node.document.as_ref().map(|d| d.url.split('#').next().unwrap_or_default().to_owned());
        let hidden = node.style.hidden || node.style.inert || node.states.contains(States::HIDDEN);
        Self {
            serial: node.serial,
            role: node.role,
            name: node.name.clone(),
            value: if in_target { String::new() } else { node.value.clone() },
            states: if in_target { States::empty() } else { node.states & SELECTION },
            attrs: node.attrs.iter().filter(|(attr, _)| is_content(*attr)).cloned().collect(),
            url,
            shown: !hidden,
        }
    }

    /// Copies the content that a node has now; `None` if the node is gone.
    fn current(dom: &Dom, id: u64, target: Option<usize>) -> Option<Self> {
        let at = dom.find(id)?;
        Some(Self::capture(dom, at, target.is_some_and(|target| dom.contains(target, at))))
    }

    /// Returns whether a press of the target may have changed `before` to this content, so that the
    /// next press may follow. Selection, counts and prices may differ; other words may mean another
    /// record.
    fn may_follow_press(&self, before: &Self) -> bool {
        let words = |content: &Self| -> Vec<(Attr, String)> {
            let selects = |attr| attr == Attr::Current;
            content.attrs.iter().filter(|(attr, _)| !selects(*attr)).cloned().collect()
        };
        let (was, now) = (words(before), words(self));
        (self.serial, self.role, &self.url, self.shown)
            == (before.serial, before.role, &before.url, before.shown)
            && differ_only_in_numbers(&before.name, &self.name)
            && differ_only_in_numbers(&before.value, &self.value)
            && was.len() == now.len()
            && was.iter().zip(&now).all(|(was, now)| was.0 == now.0 && differ_only_in_numbers(&was.1, &now.1))
    }
}

/// Returns whether two texts differ in nothing but numbers.
fn differ_only_in_numbers(before: &str, now: &str) -> bool {
    before == now || differ_in_numbers(before, now)
}

/// The guard of one aimed element. Nodes are identified by their numbers in the document, because
/// addresses end with the next capture.
#[derive(Debug)]
pub(crate) struct Guard {
    target: u64,
    serial: u64,
    /// The target's name, and whether the target is disabled; `None` after a key of this input has
    /// removed the target.
    target_content: Option<(String, bool)>,
    contents: Vec<(u64, GuardedContent)>,
    /// Whether a guarded node was already gone at the aim.
    incomplete: bool,
}

impl Guard {
    /// Copies the current content of the guarded nodes and the target.
    pub(crate) fn new(sim: &Sim, addresses: &Addresses, target: usize, guarded: &[Handle]) -> Self {
        let found: Vec<usize> = guarded.iter().filter_map(|h| capture::find(sim, addresses, *h)).collect();
        let dom = sim.dom();
        Self {
            target: dom.nodes[target].id,
            serial: dom.nodes[target].serial,
            target_content: Some(Self::content_of_target(sim, target)),
            contents: found
                .iter()
                .map(|&at| (dom.nodes[at].id, GuardedContent::capture(dom, at, dom.contains(target, at))))
                .collect(),
            incomplete: found.len() < guarded.len(),
        }
    }

    fn content_of_target(sim: &Sim, target: usize) -> (String, bool) {
        (sim.dom().nodes[target].name.clone(), sim.is_disabled(target))
    }

    /// Returns the position of the target in a document, if it exists.
    fn target(&self, dom: &Dom) -> Option<usize> {
        dom.find(self.target).filter(|&at| dom.nodes[at].serial == self.serial)
    }

    fn is_unchanged(&self, sim: &Sim) -> bool {
        let target = self.target(sim.dom());
        let is_same_target =
            |own: &(String, bool)| target.is_some_and(|at| Self::content_of_target(sim, at) == *own);
        !self.incomplete
            && self.target_content.as_ref().is_none_or(is_same_target)
            && self.contents.iter().all(|(id, content)| {
                GuardedContent::current(sim.dom(), *id, target).is_some_and(|now| now == *content)
            })
    }

    /// Accepts the changes that a press of the target may have made. Everything else must be
    /// unchanged.
    fn accept_press_effects(&mut self, sim: &Sim) {
        let dom = sim.dom();
        let target = self.target(dom);
        if let (Some((name, disabled)), Some((now, is))) =
            (&mut self.target_content, target.map(|at| Self::content_of_target(sim, at)))
            && *disabled == is
            && differ_only_in_numbers(name, &now)
        {
            *name = now;
        }
        for (id, content) in &mut self.contents {
            if let Some(now) = GuardedContent::current(dom, *id, target)
                && now.may_follow_press(content)
            {
                *content = now;
            }
        }
    }

    /// Copies everything again. Nodes that are gone are no longer guarded.
    fn copy_again(&mut self, sim: &Sim) {
        let dom = sim.dom();
        let target = self.target(dom);
        self.target_content = target.map(|at| Self::content_of_target(sim, at));
        let now = self.contents.iter().map(|&(id, _)| Some((id, GuardedContent::current(dom, id, target)?)));
        self.contents = now.flatten().collect();
        self.incomplete = false;
    }
}

/// The guards of elements that were aimed at and have had no input since.
#[derive(Debug, Default)]
pub(crate) struct Guards(Vec<Guard>);

impl Guards {
    /// Ends the guard of an earlier aim at an element.
    pub(crate) fn end(&mut self, target: u64) {
        self.0.retain(|guard| guard.target != target);
    }

    /// Adds a guard, and ends those of elements that are gone.
    pub(crate) fn add_guard(&mut self, sim: &Sim, guard: Guard) {
        self.0.retain(|g| sim.tabs.iter().any(|tab| g.target(&tab.dom).is_some()));
        self.0.push(guard);
    }

    /// Takes the guards of the elements that an action targets.
    pub(crate) fn take(&mut self, sim: &Sim, addresses: &Addresses, action: &Action) -> InputGuards {
        let named: Vec<usize> =
            action.targets().into_iter().filter_map(|handle| capture::find(sim, addresses, handle)).collect();
        let is_named = |guard: &mut Guard| guard.target(sim.dom()).is_some_and(|at| named.contains(&at));
        let guards = self.0.extract_if(.., is_named).collect();
        InputGuards { guards, next_point: None, focus: None, delivered: false }
    }
}

/// Returns whether the focus is in this element, or nowhere if `element` is `None`.
fn has_focus(sim: &Sim, element: Option<u64>) -> bool {
    let at = |id: Option<u64>| id.and_then(|id| sim.dom().find(id));
    match (at(element), at(sim.tab().focus)) {
        (Some(element), Some(focus)) => sim.dom().contains(element, focus),
        (element_at, focus) => element.is_none() == element_at.is_none() && element_at == focus,
    }
}

/// The guards of one input while its events are delivered.
#[derive(Debug)]
pub(crate) struct InputGuards {
    guards: Vec<Guard>,
    /// The point of the next event, and the element that must receive it there.
    next_point: Option<((f64, f64), u64)>,
    /// The element that must contain the focus at the next key: `Some(None)` if nothing may have
    /// the focus, and `None` if the focus is not checked.
    focus: Option<Option<u64>>,
    delivered: bool,
}

impl InputGuards {
    /// Requires that the next events at a point reach this element.
    pub(crate) fn expect_point(&mut self, point: (f64, f64), target: u64) {
        self.next_point = Some((point, target));
    }

    /// Allows the next events to reach any element.
    pub(crate) fn expect_any_point(&mut self) {
        self.next_point = None;
    }

    /// Requires from now on that the focus is in an element, or nowhere.
    pub(crate) fn set_focus(&mut self, element: Option<u64>) {
        self.focus = Some(element);
    }

    /// Records that the app has received an event of the input.
    pub(crate) fn note_delivered(&mut self) {
        self.delivered = true;
    }

    /// Records that the app has received a key. Effects of the key do not count as changes.
    pub(crate) fn note_key_delivered(&mut self, sim: &Sim) {
        self.delivered = true;
        self.set_focus(sim.tab().focus);
        for guard in &mut self.guards {
            guard.copy_again(sim);
        }
    }

    /// Records that the app has received a press that is followed by another one of the same input.
    /// Effects of the press do not count as changes.
    pub(crate) fn note_press_delivered(&mut self, sim: &Sim) {
        for guard in &mut self.guards {
            guard.accept_press_effects(sim);
        }
    }

    /// Returns whether all guarded targets still exist.
    pub(crate) fn has_targets(&self, sim: &Sim) -> bool {
        self.guards.iter().all(|guard| guard.target(sim.dom()).is_some())
    }

    /// Compares the guarded content just before the next event. An input without a guard always
    /// continues.
    ///
    /// # Errors
    /// Returns [`ContentChanged`] when that event must not be delivered.
    pub(crate) fn check(&self, sim: &Sim) -> Result<(), ContentChanged> {
        let same = self.guards.is_empty()
            || self.guards.iter().all(|guard| guard.is_unchanged(sim))
                && self.focus.is_none_or(|element| has_focus(sim, element))
                && self.next_point.is_none_or(|(point, target)| aim::receives(sim, point, target));
        if same { Ok(()) } else { Err(ContentChanged) }
    }

    /// Returns the result of an input that was stopped.
    pub(crate) fn changed(&self) -> Delivery {
        Delivery::Changed { stopped: !self.delivered }
    }
}
