//! Actions as a device does them: what they reach is looked at once more, then the app receives them.

use crate::app::sim::Sim;
use crate::app::words::Event;
use crate::device::SimDevice;
use crate::{aim, capture, query};
use std::time::Duration;
use stickpin_kernel::device::{Action, Landed, Modifiers, Performed};
use stickpin_kernel::{Error, ErrorCode, Result};
use stickpin_tree::Handle;

/// From when on a press is a long one.
const LONG: Duration = Duration::from_millis(500);

impl SimDevice {
    /// The position of a target that an act needs, after what the app does just before it.
    fn target(&self, sim: &mut Sim, handle: Handle) -> Result<usize> {
        let at = capture::find(sim, &self.addresses, handle).ok_or_else(Self::gone)?;
        let id = sim.dom().nodes[at].id;
        sim.between(id, Event::Act);
        sim.dom().find(id).ok_or_else(Self::gone)
    }

    /// What an input at a point reaches, and whether that is the target. Nothing where it would go astray.
    fn reached(&self, sim: &mut Sim, point: (f64, f64), target: Option<Handle>) -> (Option<usize>, Landed) {
        let Some(target) = target else {
            sim.point_at(point.0, point.1);
            return (sim.layout().hit(sim.dom(), point.0, point.1), Landed::Unknown);
        };
        if let Some(at) = capture::find(sim, &self.addresses, target) {
            let id = sim.dom().nodes[at].id;
            sim.between(id, Event::Act);
        }
        let hit = sim.layout().hit(sim.dom(), point.0, point.1);
        match (hit, capture::find(sim, &self.addresses, target)) {
            (Some(hit), Some(at)) if aim::reaches(sim, hit, at) => (Some(hit), Landed::Confirmed),
            _ => {
                let what = hit.map_or_else(|| "nothing".into(), |h| capture::words(sim.dom(), h));
                (None, Landed::Elsewhere { what, stopped: true })
            }
        }
    }

    pub(crate) fn act(&self, sim: &mut Sim, action: &Action) -> Result<Performed> {
        let done = |landed| Performed { handled: true, landed, ..Performed::default() };
        match action {
            Action::Press { point, target, button, count, hold, .. } => {
                let (hit, landed) = self.reached(sim, *point, *target);
                if let Some(at) = hit {
                    sim.press_or_ask(at, *button, *count, *hold >= LONG);
                }
                Ok(done(landed))
            }
            Action::Drag { from, source, to, target } => {
                let (from, landed) = self.reached(sim, *from, *source);
                let Some(from) = from else { return Ok(done(landed)) };
                let onto = sim.layout().hit(sim.dom(), to.0, to.1);
                let Some(onto) = onto else { return Ok(done(Landed::Unknown)) };
                let find = |t| capture::find(sim, &self.addresses, t).ok_or_else(Self::gone);
                let meant = target.map(find).transpose()?;
                if meant.is_some_and(|m| !aim::reaches(sim, onto, m)) {
                    let what = capture::words(sim.dom(), onto);
                    return Ok(done(Landed::Elsewhere { what, stopped: true }));
                }
                sim.drag(from, onto);
                Ok(done(landed))
            }
            Action::Fill { target, text } => {
                let at = self.target(sim, *target)?;
                let id = sim.dom().nodes[at].id;
                let handled = sim.fill(at, text);
                let value = sim.dom().find(id).map(|at| sim.dom().nodes[at].value.clone());
                Ok(Performed { handled, value, ..done(Landed::Confirmed) })
            }
            Action::Type { target, text } => {
                if let Some(target) = target {
                    let at = self.target(sim, *target)?;
                    let id = sim.dom().nodes[at].id;
                    sim.focus(Some(id));
                }
                sim.type_text(text);
                Ok(done(if target.is_some() { Landed::Confirmed } else { Landed::Unknown }))
            }
            Action::Key { modifiers, key } => {
                let plain = !(modifiers.alt || modifiers.control || modifiers.meta);
                sim.key(&chord(*modifiers, key), key, plain);
                Ok(done(Landed::Unknown))
            }
            Action::Select { target, options } => {
                let at = self.target(sim, *target)?;
                let id = sim.dom().nodes[at].id;
                match sim.select(at, options) {
                    None => Ok(Performed::default()),
                    Some(Err(unknown)) => {
                        let list = capture::words(sim.dom(), at);
                        Err(Error::new(
                            ErrorCode::ElementNotFound,
                            format!("{list} has no option {unknown:?}"),
                        )
                        .hint(query::options(sim.dom(), at)))
                    }
                    Some(Ok(())) => {
                        let value = sim.dom().find(id).map(|at| sim.dom().nodes[at].value.clone());
                        Ok(Performed { value, ..done(Landed::Confirmed) })
                    }
                }
            }
            Action::Scroll { target, dy, .. } => {
                let at = target.map(|t| self.target(sim, t)).transpose()?.unwrap_or(0);
                let mark = sim.scroller(at);
                let before = sim.tab().scroll.get(&mark).copied().unwrap_or(0.0);
                sim.received(at, "scroll", &format!("{mark} {dy}"));
                let moved = sim.scroll_to(&mark, before + dy);
                Ok(Performed { moved, ..done(Landed::Confirmed) })
            }
            Action::Choose { .. } | Action::Upload { .. } | Action::Drop { .. } => {
                Err(stickpin_kernel::device::unsupported("sim", "take files"))
            }
        }
    }
}

/// A chord as it is logged: `Control+a`.
fn chord(modifiers: Modifiers, key: &str) -> String {
    let held = [
        (modifiers.control, "Control+"),
        (modifiers.alt, "Alt+"),
        (modifiers.meta, "Meta+"),
        (modifiers.shift, "Shift+"),
    ];
    held.iter().filter(|(is, _)| *is).map(|(_, name)| *name).chain([key]).collect()
}
