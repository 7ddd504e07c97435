//! A running app: its state, tabs, timers and notices.

use super::dom::{Dom, IdentityAllocator};
use super::eval::{Env, eval};
use super::expr::Expr;
use super::model::App;
use super::render::{self, RenderInput};
use super::state::State;
use super::time::Timer;
use super::vocabulary::Event;
use crate::faults::Patches;
use crate::input_log::{InputLog, ReceivedInput};
use crate::layout::{Layout, layout};
use crate::options::Options;
use std::collections::HashMap;
use std::sync::Arc;
use stickpin_device::{Dialog, EndedTab, Notice};
use stickpin_tree::{Document, IdentityGrade, Role, States, SurfaceId};

/// A running app.
#[derive(Debug)]
pub(crate) struct Sim {
    pub(crate) app: Arc<App>,
    pub(crate) options: Options,
    pub(crate) state: State,
    pub(crate) tabs: Vec<Tab>,
    pub(crate) active: usize,
    pub(crate) timers: Vec<Timer>,
    pub(crate) timer_serial: u64,
    pub(crate) dialog: Option<OpenDialog>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) input_log: InputLog,
    pub(crate) ids: IdentityAllocator,
    pub(crate) viewport: (u32, u32),
    /// The number of renderings whose content differed from that of the previous one, plus the
    /// number of changes of the front tab.
    pub(crate) revision: u64,
    /// The reason why the app has ended.
    pub(crate) end_reason: Option<String>,
    /// How often each screen's document was requested.
    pub(crate) loads: HashMap<String, u64>,
    /// The element under the pointer.
    pub(crate) hover: Option<u64>,
    pub(crate) patches: Patches,
    /// The `look`, `aim` and `act` events that have fired; each fires once per element.
    pub(crate) fired_once: Vec<(u64, Event)>,
    pub(crate) tab_serial: u64,
    /// The closed tabs that have not been reported yet.
    pub(crate) ended: Vec<EndedTab>,
    /// Whether pages are left without evaluating their guards.
    pub(crate) discards: bool,
    /// The texts that were last seen in live regions.
    live_region_texts: HashMap<u64, String>,
}

/// A tab.
#[derive(Debug, Default)]
pub(crate) struct Tab {
    pub(crate) surface: SurfaceId,
    pub(crate) entries: Vec<Entry>,
    pub(crate) at: usize,
    pub(crate) screen: usize,
    pub(crate) dom: Dom,
    pub(crate) scroll: HashMap<String, f64>,
    pub(crate) epochs: HashMap<String, u64>,
    pub(crate) focus: Option<u64>,
    /// The text typed into fields that are not bound to a variable.
    pub(crate) typed: HashMap<u64, String>,
}

/// A history entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) url: String,
    /// The document of the entry; moving to an entry of another document loads that document.
    pub(crate) scope: u64,
}

/// An open dialog, and its continuation after the answer.
#[derive(Debug)]
pub(crate) struct OpenDialog {
    pub(crate) dialog: Dialog,
    pub(crate) then: DialogContinuation,
}

/// The continuation after the answer to a dialog.
#[derive(Debug)]
pub(crate) enum DialogContinuation {
    /// For `confirm` or `prompt`: the place of the answer, and the statements that follow
    /// acceptance and dismissal.
    Script { place: Option<Expr>, yes: Option<Expr>, no: Option<Expr>, env: Env },
    /// For `beforeunload`: the navigation that follows acceptance.
    Leave(super::nav::PendingNavigation),
    /// For a dialog injected by a fault: the element whose press it interrupted.
    Press(u64),
}

impl Sim {
    /// Creates an app that shows nothing yet.
    pub(crate) fn new(app: Arc<App>, options: Options, viewport: (u32, u32), truth: InputLog) -> Self {
        let mut sim = Self {
            state: State::new(&app),
            ids: IdentityAllocator::new(
                (options.grade == IdentityGrade::WhileAlive).then_some(options.reuse_after),
            ),
            patches: Patches::new(options.fault),
            app,
            options,
            tabs: Vec::new(),
            active: 0,
            timers: Vec::new(),
            timer_serial: 0,
            dialog: None,
            notices: Vec::new(),
            input_log: truth,
            viewport,
            revision: 0,
            end_reason: None,
            loads: HashMap::new(),
            hover: None,
            fired_once: Vec::new(),
            tab_serial: 0,
            ended: Vec::new(),
            discards: false,
            live_region_texts: HashMap::new(),
        };
        sim.add_tab();
        sim
    }

    /// Adds a tab without a document and brings it to the front.
    pub(crate) fn add_tab(&mut self) {
        self.tab_serial += 1;
        self.tabs.push(Tab { surface: SurfaceId(self.tab_serial), ..Tab::default() });
        self.active = self.tabs.len() - 1;
    }

    pub(crate) fn tab(&self) -> &Tab {
        &self.tabs[self.active]
    }

    pub(crate) fn tab_mut(&mut self) -> &mut Tab {
        &mut self.tabs[self.active]
    }

    pub(crate) fn dom(&self) -> &Dom {
        &self.tab().dom
    }

    /// Returns how far a scroller of the front tab is scrolled.
    pub(crate) fn scroll_offset(&self, mark: &str) -> f64 {
        self.tab().scroll.get(mark).copied().unwrap_or(0.0)
    }

    /// Returns the address within the app.
    pub(crate) fn path(&self) -> String {
        let tab = self.tab();
        tab.entries.get(tab.at).map(|e| e.url.clone()).unwrap_or_default()
    }

    /// Returns the displayed address.
    pub(crate) fn url(&self) -> String {
        self.url_of(self.tab())
    }

    pub(crate) fn title(&self) -> String {
        self.title_of(self.tab())
    }

    /// Returns the address that a tab displays.
    pub(crate) fn url_of(&self, tab: &Tab) -> String {
        let path = tab.entries.get(tab.at).map_or("", |e| e.url.as_str());
        format!("sim:{}{path}", self.app.name)
    }

    /// Returns the title that a tab displays.
    pub(crate) fn title_of(&self, tab: &Tab) -> String {
        self.eval(&self.app.screens[tab.screen].title, &[])
    }

    /// Evaluates an expression as text.
    pub(crate) fn eval(&self, e: &Expr, env: &[super::eval::Binding]) -> String {
        eval(e, &self.state, env).to_string()
    }

    pub(crate) fn layout(&self) -> Layout {
        layout(self.dom(), &self.tab().scroll, self.viewport)
    }

    /// Renders the front tab, keeps identities, and records whether anything changed.
    pub(crate) fn refresh(&mut self) {
        if self.tab().entries.is_empty() {
            return;
        }
        let document = Document {
            scope: self.tab().entries[self.tab().at].scope,
            frame: String::new(),
            url: self.url(),
            title: self.title(),
        };
        let tab = &self.tabs[self.active];
        let input = RenderInput { state: &self.state, epochs: &tab.epochs, scroll: &tab.scroll };
        let mut dom = render::render(&self.app.screens[tab.screen].view, document, input);
        self.patches.apply(&mut dom);
        let mut dom = dom.assign_identities(&tab.dom, &mut self.ids);
        let tab = &mut self.tabs[self.active];
        tab.typed.retain(|id, _| dom.find(*id).is_some());
        tab.focus = tab.focus.filter(|id| dom.find(*id).is_some());
        for (id, text) in &tab.typed {
            if let Some(at) = dom.find(*id) {
                dom.nodes[at].value.clone_from(text);
            }
        }
        if let Some(at) = tab.focus.and_then(|id| dom.find(id)) {
            dom.nodes[at].states |= States::FOCUSED;
        }
        let changed = !dom.reads_as(&tab.dom);
        tab.dom = dom;
        self.fired_once.retain(|(id, _)| self.tabs.iter().any(|t| t.dom.find(*id).is_some()));
        if changed {
            self.revision += 1;
            self.notice(Notice::Changed);
        }
        self.announce();
    }

    /// Adds a notice unless it repeats the previous one.
    pub(crate) fn notice(&mut self, notice: Notice) {
        if self.notices.last() != Some(&notice) {
            self.notices.push(notice);
        }
    }

    /// Announces texts that have appeared in live regions.
    fn announce(&mut self) {
        let dom = &self.tabs[self.active].dom;
        let mut current = HashMap::new();
        let mut new = Vec::new();
        for (at, node) in dom.nodes.iter().enumerate() {
            let region = matches!(node.role, Role::Alert | Role::Status | Role::Log)
                || node.attrs.iter().any(|(a, _)| *a == stickpin_tree::Attr::Live);
            if !region || node.style.hidden {
                continue;
            }
            // Each child of a region is a separate text, so that a second toast does not repeat the
            // first.
            for child in dom.children(at) {
                let text =
                    if dom.nodes[child].is_text() { dom.nodes[child].name.clone() } else { dom.text(child) };
                if !text.is_empty() && self.live_region_texts.get(&dom.nodes[child].id) != Some(&text) {
                    new.push(text.clone());
                }
                current.insert(dom.nodes[child].id, text);
            }
        }
        self.live_region_texts = current;
        for text in new {
            self.notice(Notice::LiveRegionText { text });
        }
    }

    /// Forgets the texts of live regions, so that the next refresh announces all texts of a new
    /// document.
    pub(crate) fn forget_live_texts(&mut self) {
        self.live_region_texts.clear();
    }

    /// Logs an input that an element received.
    pub(crate) fn log_received(&mut self, at: usize, event: &str, detail: &str) {
        let entry = self.log_entry(at, event, detail);
        self.input_log.push(entry);
    }

    /// Returns the log entry for an input that an element received.
    pub(crate) fn log_entry(&self, at: usize, event: &str, detail: &str) -> ReceivedInput {
        // Log the control that a person would name, not the wrapper inside it.
        let node = &self.dom().nodes[self.control(at)];
        let element = if node.truth.is_empty() { node.role.name().to_owned() } else { node.truth.clone() };
        ReceivedInput {
            at_ms: self.state.now_ms,
            event: event.into(),
            element,
            detail: detail.into(),
            url: self.url(),
            disabled: node.states.contains(States::DISABLED),
        }
    }

    /// Runs the nearest handler for an event, from an element outwards. Returns false if there is
    /// no handler.
    pub(crate) fn dispatch_event(&mut self, at: usize, event: Event) -> bool {
        self.dispatch_event_with(at, event, None)
    }

    /// Runs the nearest handler, as [`Sim::dispatch_event`] does, with an additional variable for
    /// the script.
    pub(crate) fn dispatch_event_with(
        &mut self,
        at: usize,
        event: Event,
        more: Option<super::eval::Binding>,
    ) -> bool {
        let dom = self.dom();
        let found = dom.path(at).find_map(|i| {
            let node = &dom.nodes[i];
            Some((node.element.as_ref()?.handler(event)?.clone(), node.env.clone()))
        });
        let Some((script, mut env)) = found else { return false };
        if let Some(bound) = more {
            env = super::eval::extend_scope(&env, bound);
        }
        self.run(&script, &env);
        self.refresh();
        true
    }

    /// Runs the `look`, `aim` or `act` handler of this element only, at most once.
    pub(crate) fn run_handler_once(&mut self, id: u64, event: Event) {
        let Some(at) = self.dom().find(id) else { return };
        let has_handler = self.dom().nodes[at].element.as_ref().is_some_and(|e| e.handler(event).is_some());
        if has_handler && !self.fired_once.contains(&(id, event)) {
            self.fired_once.push((id, event));
            self.dispatch_event(at, event);
        }
    }
}
