//! Acting through what the app itself offers: an element's own action, the content of a field, a value; a selection is in
//! `select`. No pointer moves, no key is sent.

use crate::app::{LinuxDevice, gone};
use crate::bus::actions::listed;
use crate::bus::fault::Fault;
use crate::bus::names::{ACCESSIBLE, ACTION, EDITABLE, PROPERTIES, VALUE};
use crate::bus::{Args, Call, calls};
use crate::filled::comparable;
use crate::limits::DONE;
use crate::model::{Interfaces, Object};
use crate::roles::number as n;
use std::time::Instant;
use stickpin_device::{
    Action, CancellationToken, Dispatched, Error, ErrorCode, Landed, Performed, Result, is_plain,
};
use stickpin_tree::{Handle, quote};

/// Names of actions that do what a press does, in lower case, the likeliest first.
const PRESSES: &[&str] =
    &["click", "press", "toggle", "activate", "jump", "open", "showmenu", "check", "select"];

/// Done, and nobody but the target can have received it.
pub(crate) fn done() -> Performed {
    Performed { handled: true, landed: Landed::Confirmed, ..Performed::default() }
}

impl LinuxDevice {
    /// Does one thing to the app.
    ///
    /// # Errors
    /// As [`stickpin_device::Device::perform`].
    pub(crate) async fn act(&mut self, action: &Action, cancel: &CancellationToken) -> Result<Performed> {
        match action {
            Action::Press { target, button, count, modifiers, hold, .. } => {
                if let Some(target) = target
                    && is_plain(*button, *count, *modifiers, *hold)
                {
                    let performed = self.press_group_box(action, *target, cancel).await?;
                    if performed.handled {
                        return Ok(performed);
                    }
                    if let Some(performed) = self.press(*target).await? {
                        return Ok(performed);
                    }
                    if self.index(*target).is_some_and(|at| self.presses_by_action(at)) {
                        return self.press_unless_covered(*target, cancel).await?;
                    }
                }
                self.press_at(action, cancel).await
            }
            Action::Fill { target, text } => {
                let focused = self.focus_to_fill(*target).await?;
                let performed = match self.fill(*target, text, cancel).await? {
                    performed if performed.handled => performed,
                    _ => self.fill_by_keys(*target, text, cancel).await?,
                };
                Ok(Performed { unfocused: !focused, ..performed })
            }
            Action::Select { target, options } => self.select(*target, options).await,
            Action::Drag { from, source, to, target } => self.drag((*source, *from), (*target, *to)).await,
            Action::Type { target, text } => self.type_text(*target, text, cancel).await,
            Action::Key { modifiers, key } => self.chord(*modifiers, key, cancel).await,
            Action::Scroll { target, dx, dy } => self.scroll(*target, *dx, *dy).await,
            Action::Choose { point, target } => self.choose(*point, *target, cancel).await,
            Action::Upload { target, files } => self.give_files(*target, files, cancel).await,
            // What takes a drop does not say so.
            Action::Drop { .. } => Ok(Performed::default()),
        }
    }

    /// What was read last of the object behind a handle, and its path.
    pub(crate) fn object(&self, handle: Handle) -> Result<Object> {
        let path = self.path(handle)?;
        self.last.as_ref().and_then(|last| last.object(&path)).cloned().ok_or_else(gone)
    }

    /// Presses by the element's own action; none when it has none that means a press.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND`, `BACKEND_LOST`.
    pub(crate) async fn press(&mut self, target: Handle) -> Result<Option<Performed>> {
        let object = self.object(target)?;
        if !self.index(target).is_some_and(|at| self.presses_by_action(at)) {
            return Ok(None);
        }
        let actions = self.actions_of(&object.path).await?;
        let Some(index) = own_action(&actions) else { return Ok(None) };
        // A button of Qt may have a menu on a part of it only: what a press does then, no action does.
        let menu = usize::try_from(index).is_ok_and(|at| actions[at].eq_ignore_ascii_case("showmenu"));
        if menu && self.link.toolkit.profile().menu_on_a_part && self.screen.has_pointer() {
            return Ok(None);
        }
        if let Some(action) = usize::try_from(index).ok().and_then(|at| actions.get(at)) {
            self.tell_of_toggle(&object, action, "there is no pointer");
        }
        if self.link.toolkit.profile().acts_later {
            self.activated = Some((object.path.clone(), Instant::now()));
        }
        let args = Args::new().int(index);
        let call = Call { path: &object.path, interface: ACTION, member: "DoAction", args };
        let answer = self.link.order(&call, DONE).await;
        if let Some((_, at)) = self.activated.as_mut().filter(|_| matches!(answer, Ok(Some(_)))) {
            // It may have been busy until then: its time runs from when it takes the word.
            *at = Instant::now();
        }
        match answer {
            Ok(Some(answer)) => Ok(answer.body().bool().unwrap_or(true).then(done)),
            // It answered a moment ago, and this is what it left on: how it ended is looked at after the act.
            Err(fault) if fault.is_final() => Ok(Some(done())),
            // It is busy with it, or shows a dialog from inside.
            Ok(None) => Ok(Some(done())),
            // It may have failed behind what it did: another press could be the second one.
            Err(Fault::Refused(why)) => Err(perhaps_pressed(&object, &why)),
            // It has no such action, or no such object, and did nothing.
            Err(fault) => self.refused(&object.path, fault).await.map(|()| None),
        }
    }

    /// Waits until an element has done what it was last told to. GTK 4 shows a button pressed for a moment first, and drops
    /// a second press in it. What it does then may make another thing of it: it is to be looked at after that.
    pub(crate) async fn until_activated(&mut self, target: Handle) -> Result<()> {
        let (path, pending) = (self.path(target)?, self.pending());
        if !pending.is_zero() && self.activated.as_ref().is_some_and(|(at, _)| **at == *path) {
            tokio::time::sleep(pending).await;
        }
        Ok(())
    }

    /// The names of the actions that an object has.
    pub(crate) async fn actions_of(&mut self, path: &str) -> Result<Vec<String>> {
        match listed(&self.link, path).await {
            Ok(actions) => Ok(actions),
            Err(fault) => self.refused(path, fault).await.map(|()| Vec::new()),
        }
    }

    /// What a fault of one act means: an object that is gone is an error, one that will not is another way's turn.
    pub(crate) async fn refused(&mut self, path: &str, fault: Fault) -> Result<()> {
        match fault {
            // Qt says that there is no object where there is no such method.
            Fault::Vanished => match self.link.call(path, ACCESSIBLE, "GetState", Args::new()).await {
                Ok(_) => Ok(()),
                Err(Fault::Closed(why)) => Err(self.failed(Fault::Closed(why)).await),
                Err(_) => Err(gone()),
            },
            Fault::Unknown | Fault::Refused(_) | Fault::Corrupt(_) => Ok(()),
            fault => Err(self.failed(fault).await.dispatched(Dispatched::Unknown)),
        }
    }

    /// Replaces the content of a field, and reads it back.
    async fn fill(&mut self, target: Handle, text: &str, cancel: &CancellationToken) -> Result<Performed> {
        let object = self.object(target)?;
        if object.role == n::TERMINAL {
            return Err(Error::new(ErrorCode::InvalidArgs, "what stands in a terminal cannot be replaced")
                .hint("stickpin type TEXT types into it; stickpin key Enter sends it"));
        }
        let number = text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
        let hides = object.role == n::PASSWORD;
        if object.has(Interfaces::VALUE)
            && !hides
            && let Some(number) = number
        {
            let args = Args::new().text(VALUE).text("CurrentValue").variant_double(number);
            let call = Call { path: &object.path, interface: PROPERTIES, member: "Set", args };
            match self.link.order(&call, DONE).await {
                Ok(_) => return self.value_of(&object).await,
                Err(fault) => self.refused(&object.path, fault).await?,
            }
        }
        if (hides || object.has(Interfaces::EDITABLE)) && self.set_text(&object, text).await? {
            let value = match self.holds(&object, text).await {
                Ok(value) => value,
                Err(fault) => self.refused(&object.path, fault).await.map(|()| None)?,
            };
            // Some fields of browsers say that they took it, and did not. What was in one that hides it is not known.
            let before = object.text.as_deref().map(|before| comparable(&object, text, before));
            let kept = hides || value.as_deref() == before;
            if kept && value.as_ref().is_some_and(|value| value != text) {
                return Ok(Performed::default());
            }
            // What an app completes is selected, and a caret would take that back.
            if value.as_ref().is_none_or(|value| value == text) {
                self.caret_to_end(&object, text).await?;
            }
            let performed = self.at_rest(&object, text, value, cancel).await?;
            return Ok(Performed { landed: Landed::Confirmed, ..performed });
        }
        Ok(Performed::default())
    }

    /// Whether the app took the text.
    pub(crate) async fn set_text(&mut self, object: &Object, text: &str) -> Result<bool> {
        let args = Args::new().text(text);
        let call = Call { path: &object.path, interface: EDITABLE, member: "SetTextContents", args };
        match self.link.order(&call, DONE).await {
            Ok(Some(answer)) => Ok(answer.body().bool().unwrap_or(false)),
            // It is busy with it, or shows a dialog from inside: what the field holds tells.
            Ok(None) => Ok(true),
            Err(fault) => self.refused(&object.path, fault).await.map(|()| false),
        }
    }

    async fn value_of(&mut self, object: &Object) -> Result<Performed> {
        let asked = [calls::property(&object.path, VALUE, "CurrentValue")];
        let value = match self.link.calls(&asked).await.pop() {
            Some(Ok(answer)) => answer.body().variant_number().ok().flatten(),
            Some(Err(fault)) => self.refused(&object.path, fault).await.map(|()| None)?,
            None => None,
        };
        Ok(Performed { value: value.map(crate::names::number), ..done() })
    }
}

/// The error of a press that the app answered with an error of its own. No toolkit does that of which we know what it did.
fn perhaps_pressed(object: &Object, why: &str) -> Error {
    let message =
        format!("{} was told to act and answered with {}: it may have done it", object.words(), quote(why));
    Error::new(ErrorCode::Unsupported, message)
        .hint("look what became of it before you press again: stickpin snapshot -i")
        .dispatched(Dispatched::Unknown)
}

/// The element's own action among those that it lists: GTK 4 lists those of the window, too.
fn own_action(actions: &[String]) -> Option<i32> {
    let at =
        PRESSES.iter().find_map(|press| actions.iter().position(|action| action.eq_ignore_ascii_case(press)));
    i32::try_from(at?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_action_is_found_among_those_of_the_window() {
        let own = |names: &[&str]| own_action(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(own(&["win.undo", "clipboard.copy", "Click"]), Some(2));
        assert_eq!(own(&["SetFocus", "Press"]), Some(1));
        assert_eq!(own(&["ShowMenu"]), Some(0));
        assert_eq!(own(&["win.undo"]), None);
    }
}
