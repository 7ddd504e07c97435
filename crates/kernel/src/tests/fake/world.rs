//! The state of the app: its outline, its peculiarities, its reactions to events, and the inputs
//! that it received.

use super::outline::Line;
use std::collections::HashMap;
use std::time::Duration;
use stickpin_device::{Dialog, FileInput, HitResult, Notice, PendingActivity};
use stickpin_tree::{IdentityGrade, Rect};

type Hook = Box<dyn FnMut(&mut World) + Send>;

/// The app. Tests change it between commands, and through hooks during them.
pub(crate) struct World {
    /// One node per line, two spaces per level: `button "Save" #5 disabled`.
    pub(crate) outline: String,
    pub(crate) url: String,
    pub(crate) grade: IdentityGrade,
    /// The inputs that reached the app, oldest first: `press 5`, `fill 7 "x"`.
    pub(crate) log: Vec<String>,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) notices: Vec<Notice>,
    /// What covers an element.
    pub(crate) covered: HashMap<u64, String>,
    /// A popup that intercepts all input.
    pub(crate) held: Option<String>,
    pub(crate) offscreen: Vec<u64>,
    /// Elements at the position of another element.
    pub(crate) over: HashMap<u64, u64>,
    /// Runs when the pointer arrives.
    pub(crate) on_pointer: Option<Hook>,
    /// Runs once, just before an input is delivered.
    pub(crate) on_perform: Option<Hook>,
    /// Runs when an element is scrolled into view.
    pub(crate) on_aim: Option<Hook>,
    /// Runs once, before a CSS selector is evaluated.
    pub(crate) on_css: Option<Hook>,
    /// Runs after a screenshot was taken.
    pub(crate) on_shot: Option<Hook>,
    /// Runs when an element receives an input.
    pub(crate) on_input: HashMap<u64, Hook>,
    /// Runs at every capture and locate.
    pub(crate) on_look: Option<Hook>,
    /// How a field transforms a text.
    pub(crate) format: Option<fn(&str) -> String>,
    /// The text that the app appends to a filled text and selects.
    pub(crate) completes: Option<&'static str>,
    /// Whether fields do not take the focus when they are filled.
    pub(crate) keeps_focus: bool,
    /// How long a press is held down; it is released whatever happens meanwhile.
    pub(crate) slow_input: Option<Duration>,
    /// The call that never returns.
    pub(crate) hangs_in: Option<&'static str>,
    /// The call that panics.
    pub(crate) panics_in: Option<&'static str>,
    /// Whether every call answers that the app is gone.
    pub(crate) dead: bool,
    /// How the app ended, if it ended normally.
    pub(crate) ended: Option<String>,
    pub(crate) truncated: bool,
    /// Whether the device chooses options of lists itself.
    pub(crate) native_lists: bool,
    /// Inputs that accept files, by the element that they belong to.
    pub(crate) file_inputs: HashMap<u64, FileInput>,
    /// Whether a chooser that gets no files closes.
    pub(crate) closes: Option<bool>,
    /// The input whose chooser a press opens.
    pub(crate) chooser: Option<u64>,
    /// Whether dropped files are accepted.
    pub(crate) takes_drops: bool,
    /// The scroll offset of the page, in pixels.
    pub(crate) scrolled: f64,
    /// What the next inputs reach instead of their targets, last first.
    pub(crate) reached: Vec<String>,
    /// The activity that is still pending when the kernel waits for quiet.
    pub(crate) still: Vec<PendingActivity>,
    /// Completes the next picture for viewers; `None` completes it at once.
    pub(crate) held_picture: Option<tokio::sync::oneshot::Receiver<()>>,
    /// The number of screenshots taken.
    pub(crate) shots: usize,
    /// Whether the device reports only elements.
    pub(crate) partial: bool,
    /// Whether the device's calls can be dropped.
    pub(crate) drop_safe: bool,
    /// The process of the apps that are opened from now on.
    pub(crate) pid: Option<u32>,
    /// Whether the device has no hit test.
    pub(crate) blind: bool,
    /// Whether the app changed and became quiet, so that it can be read ahead.
    pub(crate) rests: bool,
    /// The number of captures.
    pub(crate) captures: usize,
    pub(crate) closed: usize,
    pub(crate) opened: usize,
    /// The option of `open` that only the fake has.
    pub(crate) lives: Option<u8>,
    pub(super) values: HashMap<u64, String>,
}

impl World {
    /// Creates an app with this outline and otherwise default behavior.
    pub(super) fn new(outline: &str) -> Self {
        Self {
            outline: outline.to_owned(),
            url: "fake:/".to_owned(),
            grade: IdentityGrade::NeverReused,
            log: Vec::new(),
            dialog: None,
            notices: Vec::new(),
            covered: HashMap::new(),
            held: None,
            offscreen: Vec::new(),
            over: HashMap::new(),
            on_pointer: None,
            on_perform: None,
            on_aim: None,
            on_css: None,
            on_shot: None,
            on_input: HashMap::new(),
            on_look: None,
            format: None,
            completes: None,
            keeps_focus: false,
            slow_input: None,
            hangs_in: None,
            panics_in: None,
            dead: false,
            ended: None,
            truncated: false,
            native_lists: true,
            file_inputs: HashMap::new(),
            closes: None,
            chooser: None,
            takes_drops: false,
            scrolled: 0.0,
            reached: Vec::new(),
            still: Vec::new(),
            held_picture: None,
            shots: 0,
            partial: false,
            drop_safe: false,
            pid: None,
            blind: false,
            captures: 0,
            rests: false,
            closed: 0,
            opened: 0,
            lives: None,
            values: HashMap::new(),
        }
    }

    /// Changes the text of the outline.
    pub(crate) fn replace(&mut self, from: &str, to: &str) {
        assert!(self.outline.contains(from), "{from:?} is not in the outline");
        self.outline = self.outline.replace(from, to);
    }

    pub(super) fn input(&mut self, id: Option<u64>, line: String) {
        self.log.push(line);
        if let Some(id) = id
            && let Some(mut hook) = self.on_input.remove(&id)
        {
            hook(self);
            self.on_input.insert(id, hook);
        }
    }

    /// Returns the current bounds of an element.
    pub(super) fn rect(&self, id: u64) -> Rect {
        let at = match self.over.get(&id) {
            // A covering element is larger than the covered one.
            Some(&place) => Rect { y: rect(place).y - 5.0, height: 30.0, ..rect(place) },
            None => rect(id),
        };
        Rect { y: at.y - self.scrolled, ..at }
    }

    /// Returns what an input for an element would reach.
    pub(super) fn hit(&self, id: u64) -> HitResult {
        match (self.covered.get(&id), &self.held) {
            _ if self.blind => HitResult::Unknown,
            (Some(what), _) => HitResult::Covered { by: None, what: what.clone() },
            (None, Some(what)) => HitResult::PopupGrab { by: None, what: what.clone() },
            (None, None) if self.offscreen.contains(&id) => HitResult::OffScreen,
            (None, None) => HitResult::Target,
        }
    }

    /// Returns the topmost element at a point.
    pub(super) fn top(&self, x: f64, y: f64) -> Option<u64> {
        let at = |id: &u64| self.has(*id) && self.rect(*id).contains(x, y);
        self.over.keys().copied().find(at).or_else(|| (2..100).find(at))
    }

    pub(super) fn has(&self, id: u64) -> bool {
        self.outline.lines().any(|l| !l.trim().is_empty() && Line::parse(l.trim()).id == id)
    }
}

/// Returns the bounds of an element while the page is not scrolled.
fn rect(id: u64) -> Rect {
    Rect { x: 0.0, y: 20.0 * id as f64, width: 100.0, height: 20.0 }
}
