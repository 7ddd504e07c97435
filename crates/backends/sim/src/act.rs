//! Performs actions: checks again what the input reaches, then delivers it to the app.

use crate::app::sim::Sim;
use crate::app::vocabulary::Event;
use crate::device::{SimDevice, element_gone, element_id};
use crate::guard::{ContentChanged, InputGuards};
use crate::sequence::{SelectResult, Sequence};
use crate::{aim, capture, query};
use std::time::Duration;
use stickpin_device::{Action, Delivery, Error, InputOutcome, Modifiers, Result};
use stickpin_tree::Handle;

/// How long a press must last to be a long press.
const LONG_PRESS: Duration = Duration::from_millis(500);

impl SimDevice {
    /// Runs what the app does just before an action, then returns the index of the action's target
    /// in the document.
    fn target(&self, sim: &mut Sim, handle: Handle) -> Result<usize> {
        let id = element_id(sim, &self.addresses, handle)?;
        sim.run_interim_handlers(id, Event::Act);
        sim.dom().find(id).ok_or_else(element_gone)
    }

    /// Returns what an input at a point reaches, and whether that is the target. Returns `None` if
    /// the input reaches nothing or must not be sent.
    fn hit_at_point(
        &self,
        sim: &mut Sim,
        point: (f64, f64),
        target: Option<Handle>,
        watch: &mut InputGuards,
    ) -> (Option<usize>, Delivery) {
        let Some(target) = target else {
            if watch.has_targets(sim) && watch.check(sim).is_err() {
                return (None, watch.changed());
            }
            let before = sim.hover;
            sim.input().move_pointer_to(point.0, point.1);
            if sim.hover != before {
                watch.note_delivered();
            }
            if watch.has_targets(sim) && watch.check(sim).is_err() {
                return (None, watch.changed());
            }
            return (sim.layout().hit_test(sim.dom(), point.0, point.1), Delivery::Unknown);
        };
        if let Some(at) = capture::find(sim, &self.addresses, target) {
            let id = sim.dom().nodes[at].id;
            sim.run_interim_handlers(id, Event::Act);
            if watch.has_targets(sim) && watch.check(sim).is_err() {
                return (None, watch.changed());
            }
        }
        let hit = sim.layout().hit_test(sim.dom(), point.0, point.1);
        match (hit, capture::find(sim, &self.addresses, target)) {
            (Some(hit), Some(at)) if aim::is_same_target(sim, hit, at) => {
                watch.expect_point(point, sim.dom().nodes[at].id);
                (Some(hit), Delivery::Confirmed)
            }
            _ => (None, elsewhere_delivery(sim, hit, true)),
        }
    }

    /// Delivers an action. The guards of its targets are checked before each of its events, except
    /// for keys and scrolling.
    pub(crate) fn deliver(
        &self,
        sim: &mut Sim,
        action: &Action,
        watch: &mut InputGuards,
    ) -> Result<InputOutcome> {
        let done = |landed| InputOutcome::done().delivery(landed);
        match action {
            Action::Press { point, target, button, count, hold, .. } => {
                let (hit, landed) = self.hit_at_point(sim, *point, *target, watch);
                let pressed = match hit {
                    Some(at) => Sequence { sim, watch }.press(at, *button, *count, *hold >= LONG_PRESS),
                    None => Ok(()),
                };
                Ok(done(pressed.map_or_else(|ContentChanged| watch.changed(), |()| landed)))
            }
            Action::Drag { from, source, to, target } => {
                let (from, landed) = self.hit_at_point(sim, *from, *source, watch);
                let Some(from) = from else { return Ok(done(landed)) };
                let onto = sim.layout().hit_test(sim.dom(), to.0, to.1);
                let Some(onto) = onto else { return Ok(done(Delivery::Unknown)) };
                let find = |t| capture::find(sim, &self.addresses, t).ok_or_else(element_gone);
                let intended = target.map(find).transpose()?;
                if intended.is_some_and(|m| !aim::is_same_target(sim, onto, m)) {
                    return Ok(done(elsewhere_delivery(sim, Some(onto), true)));
                }
                let intended = intended.map(|m| sim.dom().nodes[m].id);
                let dragged = Sequence { sim, watch }.pick_up(from);
                match intended {
                    Some(id) => watch.expect_point(*to, id),
                    None => watch.expect_any_point(),
                }
                if watch.check(sim).is_err() {
                    return Ok(done(watch.changed()));
                }
                // Without a guard, nothing prevents the drop.
                let onto = sim.layout().hit_test(sim.dom(), to.0, to.1);
                let is_intended = intended.is_none_or(|id| aim::receives(sim, *to, id));
                let landed = if is_intended { landed } else { elsewhere_delivery(sim, onto, false) };
                if let Some(onto) = onto {
                    Sequence { sim, watch }.drop_on(onto, dragged);
                }
                Ok(done(landed))
            }
            Action::Fill { target, text } => {
                let at = self.target(sim, *target)?;
                let id = sim.dom().nodes[at].id;
                if watch.check(sim).is_err() {
                    return Ok(done(watch.changed()));
                }
                let Ok(handled) = Sequence { sim, watch }.fill(at, text) else {
                    return Ok(done(watch.changed()));
                };
                let value = sim.dom().find(id).map(|at| sim.dom().nodes[at].value.clone());
                Ok(done(Delivery::Confirmed).handled(handled).value(value))
            }
            Action::Type { target, text } => {
                let at = target.map(|t| self.target(sim, t)).transpose()?;
                let target_id = at.map(|at| sim.dom().nodes[at].id);
                if watch.check(sim).and_then(|()| Sequence { sim, watch }.type_text(target_id, text)).is_err()
                {
                    return Ok(done(watch.changed()));
                }
                Ok(done(if target.is_some() { Delivery::Confirmed } else { Delivery::Unknown }))
            }
            Action::Key { modifiers, key } => {
                let plain = !(modifiers.alt || modifiers.control || modifiers.meta);
                sim.input().key(&chord(*modifiers, key), key, plain);
                Ok(done(Delivery::Unknown))
            }
            Action::Select { target, options } => {
                let at = self.target(sim, *target)?;
                let id = sim.dom().nodes[at].id;
                match watch.check(sim).and_then(|()| Sequence { sim, watch }.select(at, options)) {
                    Err(ContentChanged) => Ok(done(watch.changed())),
                    Ok(SelectResult::NotNative) => Ok(InputOutcome::default()),
                    Ok(SelectResult::Unknown(unknown)) => {
                        let list = capture::describe(sim.dom(), at);
                        Err(Error::element_not_found(format!("{list} has no option {unknown:?}"))
                            .hint(query::options(sim.dom(), at)))
                    }
                    Ok(SelectResult::Done) => {
                        let value = sim.dom().find(id).map(|at| sim.dom().nodes[at].value.clone());
                        Ok(done(Delivery::Confirmed).value(value))
                    }
                }
            }
            Action::Scroll { target, dy, .. } => {
                let at = target.map(|t| self.target(sim, t)).transpose()?.unwrap_or(0);
                let mark = sim.input().scroller(at);
                let before = sim.scroll_offset(&mark);
                sim.log_received(at, "scroll", &format!("{mark} {dy}"));
                let moved = sim.input().scroll_to(&mark, before + dy);
                Ok(done(Delivery::Confirmed).moved(moved))
            }
            _ => Err(stickpin_device::unsupported("sim", "accept files")),
        }
    }
}

/// Returns the delivery of an input that reaches another element, or nothing.
fn elsewhere_delivery(sim: &Sim, hit: Option<usize>, stopped: bool) -> Delivery {
    let what = hit.map_or_else(|| "nothing".into(), |hit| capture::describe(sim.dom(), hit));
    Delivery::Elsewhere { what, stopped }
}

/// Returns a chord as it is logged: `Control+a`.
fn chord(modifiers: Modifiers, key: &str) -> String {
    let focus_holders = [
        (modifiers.control, "Control+"),
        (modifiers.alt, "Alt+"),
        (modifiers.meta, "Meta+"),
        (modifiers.shift, "Shift+"),
    ];
    focus_holders.iter().filter(|(is, _)| *is).map(|(_, name)| *name).chain([key]).collect()
}
