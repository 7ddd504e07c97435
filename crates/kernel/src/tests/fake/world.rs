//! What there is of the app: its outline, what is unusual about it, what it does when something
//! happens, and what reached it.

use super::outline::Line;
use std::collections::HashMap;
use std::time::Duration;
use stickpin_device::{Dialog, FileInput, HitResult, Notice, PendingActivity};
use stickpin_tree::{IdentityGrade, Rect};

type Hook = Box<dyn FnMut(&mut World) + Send>;

/// The app. Tests change it between commands, and through hooks during them.
pub(crate) struct World {
    /// One node a line, two spaces a level: `button "Save" #5 disabled`.
    pub(crate) outline: String,
    pub(crate) url: String,
    pub(crate) grade: IdentityGrade,
    /// What reached the app, oldest first: `press 5`, `fill 7 "x"`.
    pub(crate) log: Vec<String>,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) notices: Vec<Notice>,
    /// What covers an element.
    pub(crate) covered: HashMap<u64, String>,
    /// A pop-up that takes all input.
    pub(crate) held: Option<String>,
    pub(crate) offscreen: Vec<u64>,
    /// Elements that lie on the place of another one.
    pub(crate) over: HashMap<u64, u64>,
    /// Runs when the pointer arrives.
    pub(crate) on_pointer: Option<Hook>,
    /// Runs once, just before an input is delivered.
    pub(crate) on_perform: Option<Hook>,
    /// Runs when an element is brought into view.
    pub(crate) on_aim: Option<Hook>,
    /// Runs when a picture was taken.
    pub(crate) on_shot: Option<Hook>,
    /// Runs when an element receives an input.
    pub(crate) on_input: HashMap<u64, Hook>,
    /// Runs at every capture and locate.
    pub(crate) on_look: Option<Hook>,
    /// What a field makes of a text.
    pub(crate) format: Option<fn(&str) -> String>,
    /// What the app puts behind a text that is filled in, and selects.
    pub(crate) completes: Option<&'static str>,
    /// Fields do not take the focus when they are filled.
    pub(crate) keeps_focus: bool,
    /// How long a press stays down; it is released whatever happens meanwhile.
    pub(crate) slow_input: Option<Duration>,
    /// The call that never returns.
    pub(crate) hangs_in: Option<&'static str>,
    /// The call that has a bug.
    pub(crate) panics_in: Option<&'static str>,
    /// Every call answers that the app is gone.
    pub(crate) dead: bool,
    /// How it ended, where that was in good order.
    pub(crate) ended: Option<String>,
    pub(crate) truncated: bool,
    /// Whether the device chooses options of lists itself.
    pub(crate) native_lists: bool,
    /// Inputs that take files: by the element that they are for.
    pub(crate) file_inputs: HashMap<u64, FileInput>,
    /// Whether a chooser closes that gets no files.
    pub(crate) closes: Option<bool>,
    /// The input whose chooser a press opens.
    pub(crate) chooser: Option<u64>,
    /// Whether dropped files are taken.
    pub(crate) takes_drops: bool,
    /// How far the page is scrolled, in pixels.
    pub(crate) scrolled: f64,
    /// What the next inputs reach instead of their targets, the last first.
    pub(crate) reached: Vec<String>,
    /// What still moves when quiet is waited for.
    pub(crate) still: Vec<PendingActivity>,
    /// How many pictures were taken.
    pub(crate) shots: usize,
    /// Whether it tells of elements alone.
    pub(crate) partial: bool,
    /// Whether its calls can be dropped.
    pub(crate) drop_safe: bool,
    /// Whether it has no hit test.
    pub(crate) blind: bool,
    /// Whether the app changed and came to rest, so that it can be read ahead.
    pub(crate) rests: bool,
    /// How often it was captured.
    pub(crate) captures: usize,
    pub(crate) closed: usize,
    pub(crate) opened: usize,
    /// The option of `open` that only a fake has.
    pub(crate) lives: Option<u8>,
    pub(super) values: HashMap<u64, String>,
}

impl World {
    /// An app with this outline, of which nothing else is out of the ordinary.
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
            shots: 0,
            partial: false,
            drop_safe: false,
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

    /// Where an element is now.
    pub(super) fn rect(&self, id: u64) -> Rect {
        let at = match self.over.get(&id) {
            // What lies on something is larger than it.
            Some(&place) => Rect { y: rect(place).y - 5.0, height: 30.0, ..rect(place) },
            None => rect(id),
        };
        Rect { y: at.y - self.scrolled, ..at }
    }

    /// What an input for an element would reach.
    pub(super) fn hit(&self, id: u64) -> HitResult {
        match (self.covered.get(&id), &self.held) {
            _ if self.blind => HitResult::Unknown,
            (Some(what), _) => HitResult::Covered { by: None, what: what.clone() },
            (None, Some(what)) => HitResult::PopupGrab { by: None, what: what.clone() },
            (None, None) if self.offscreen.contains(&id) => HitResult::OffScreen,
            (None, None) => HitResult::Target,
        }
    }

    /// What is on top at a point.
    pub(super) fn top(&self, x: f64, y: f64) -> Option<u64> {
        let at = |id: &u64| self.has(*id) && self.rect(*id).contains(x, y);
        self.over.keys().copied().find(at).or_else(|| (2..100).find(at))
    }

    pub(super) fn has(&self, id: u64) -> bool {
        self.outline.lines().any(|l| !l.trim().is_empty() && Line::parse(l.trim()).id == id)
    }
}

/// Where an element is while the page is not scrolled.
fn rect(id: u64) -> Rect {
    Rect { x: 0.0, y: 20.0 * id as f64, width: 100.0, height: 20.0 }
}
