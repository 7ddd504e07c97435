//! Brings elements into view, and determines what a press would reach.

use crate::app::sim::Sim;
use crate::app::vocabulary::Event;
use crate::capture::{self, Addresses};
use crate::layout::PAGE;
use crate::options::Fault;
use stickpin_device::{Aim, AimOptions, HitResult, Result};
use stickpin_tree::{Rect, States};

/// Scrolls all scrollers around an element, innermost first, so that the element is visible.
pub(crate) fn bring_into_view(sim: &mut Sim, id: u64) {
    let Some(at) = sim.dom().find(id) else { return };
    let dom = sim.dom();
    let mut marks: Vec<(String, Option<u64>)> = dom
        .ancestors(at)
        .filter(|&i| dom.nodes[i].style.scroll)
        .map(|i| (dom.nodes[i].mark.clone(), Some(dom.nodes[i].id)))
        .collect();
    // Content that is fixed in the viewport does not move with the page.
    if !dom
        .path(at)
        .any(|i| dom.nodes[i].style.fixed.is_some() || dom.nodes[i].states.contains(States::MODAL))
    {
        marks.push((PAGE.to_owned(), None));
    }
    for (mark, scroller) in marks {
        let layout = sim.layout();
        let (Some(at), dom) = (sim.dom().find(id), sim.dom()) else { return };
        let Some(rect) = layout.rects[at] else { return };
        let window = match scroller {
            None => layout.viewport,
            Some(s) => match dom.find(s).and_then(|s| layout.rects[s]) {
                Some(window) => window,
                None => return,
            },
        };
        let before = sim.scroll_offset(&mark);
        let inside = rect.y >= window.y && rect.y + rect.height <= window.y + window.height;
        if !inside {
            let middle = (window.height - rect.height).max(0.0) / 2.0;
            sim.input().scroll_to(&mark, before + rect.y - window.y - middle);
        }
    }
}

/// Returns whether an input that hits one element counts as an input to another: the hit element is
/// the target, is inside the target, or belongs to the target's label.
pub(crate) fn is_same_target(sim: &Sim, hit: usize, target: usize) -> bool {
    let dom = sim.dom();
    // A text leaf is pressed where its element is.
    let target = if dom.nodes[target].is_text() { dom.nodes[target].parent } else { target };
    dom.contains(target, hit) || sim.label_target(hit) == target
}

/// Returns whether an input at a point still reaches an element.
pub(crate) fn receives(sim: &Sim, point: (f64, f64), target: u64) -> bool {
    let hit = sim.layout().hit_test(sim.dom(), point.0, point.1);
    hit.zip(sim.dom().find(target)).is_some_and(|(hit, target)| is_same_target(sim, hit, target))
}

/// Aims at the element with the index `at` in the document.
pub(crate) fn aim(
    sim: &mut Sim,
    addresses: &mut Addresses,
    at: usize,
    options: AimOptions<'_>,
) -> Result<Aim> {
    let id = sim.dom().nodes[at].id;
    bring_into_view(sim, id);
    let off_screen = |rect: Rect| Aim::new(rect, HitResult::OffScreen);
    let Some(at) = sim.dom().find(id) else { return Ok(off_screen(Rect::default())) };
    let layout = sim.layout();
    let rect = layout.rects[at].unwrap_or_default();
    let invisible = sim.dom().nodes[at].states.contains(States::HIDDEN);
    let Some(seen) = layout.visible_rect(at).filter(|_| !invisible) else { return Ok(off_screen(rect)) };
    let point = seen.center();
    let hit_test_fails = sim.patches.take(Fault::HitTest);
    let reached = if hit_test_fails { HitResult::Unknown } else { hit(sim, addresses, at, point) };
    // Nothing that covers the element may receive even the pointer.
    if !options.pointer || reached != HitResult::Target {
        return Ok(Aim::new(rect, reached).point(point));
    }
    if sim.patches.shift_on_arrival() {
        sim.hover = None;
        sim.refresh();
    }
    sim.input().move_pointer_to(point.0, point.1);
    let Some(at) = sim.dom().find(id) else {
        return Ok(off_screen(Rect::default()).pointer_moved(true));
    };
    let rect = sim.layout().rects[at].unwrap_or_default();
    Ok(Aim::new(rect, hit(sim, addresses, at, point)).point(point).pointer_moved(true))
}

/// Returns the result of the hit test for an input that is meant for the element `at`.
fn hit(sim: &Sim, addresses: &mut Addresses, at: usize, point: (f64, f64)) -> HitResult {
    match sim.layout().hit_test(sim.dom(), point.0, point.1) {
        Some(hit) if is_same_target(sim, hit, at) => HitResult::Target,
        Some(hit) => HitResult::Covered {
            by: Some(capture::handle(sim, addresses, hit)),
            what: capture::describe(sim.dom(), hit),
        },
        None => HitResult::OffScreen,
    }
}

impl Sim {
    /// Applies the changes that the app, or the fault with which it was opened, makes between
    /// locating an element and acting on it.
    pub(crate) fn run_interim_handlers(&mut self, id: u64, event: Event) {
        if let Some(at) = self.dom().find(id) {
            let tab = &self.tabs[self.active];
            if self.patches.trigger(&tab.dom, at, event) {
                self.refresh();
            }
        }
        self.run_handler_once(id, event);
    }
}
