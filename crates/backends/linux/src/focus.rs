//! Giving an element the keyboard focus, as a press or typing would.

use crate::app::{LinuxDevice, gone};
use crate::bus::fault::Fault;
use crate::bus::names::{ACCESSIBLE, COMPONENT, TEXT};
use crate::bus::{Args, Call, Cursor};
use crate::keyboard::HANDLED;
use crate::limits::{DONE, FRAME};
use crate::model::{Interfaces, Object};
use crate::roles::is_field;
use crate::states as s;
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, ErrorCode, Result};
use stickpin_tree::Handle;
use stickpin_x11desk::{Presence, focus, pings};
use tokio::time::{Instant, sleep};

impl LinuxDevice {
    /// Gives the window of an element the keyboard, as a press in it would, where that takes it from no person; returns
    /// when the app has noticed.
    pub(crate) async fn take_keyboard(&mut self, target: Handle) -> Result<()> {
        let (Some(at), own) = (self.index(target), self.screen.is_own()) else { return Ok(()) };
        let Some(sight) = self.sight().await? else { return Ok(()) };
        let window = self.window_of(at, &sight.windows).await?;
        let Some(window) = window.filter(|w| !w.popup && w.presence == Presence::Shown) else {
            return Ok(());
        };
        sight
            .x11
            .run(move |d| {
                if !own && !d.has_seat() {
                    return Ok(());
                }
                focus::give(d, window.id)?;
                pings::await_delivery(d, window.id)
            })
            .await
    }

    /// Gives an element the keyboard's focus.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND`; `UNSUPPORTED` when it does not take it; what is in the way, where it would have to be pressed.
    pub(crate) async fn focus(&mut self, target: Handle) -> Result<()> {
        let at = self.index(target).ok_or_else(gone)?;
        let Some(last) = &self.last else { return Err(gone()) };
        let object = last.picture.objects[at].clone();
        if self.grab_focus(target).await? {
            return Ok(());
        }
        // Not every toolkit takes the word of a stranger: then as a person would.
        let refusal = self.press_unless_covered(target, &CancellationToken::new()).await?.err();
        if !object.is(s::FOCUSABLE) {
            // Unless it was pressed, the keys would go to whatever has the focus.
            return refusal.map_or(Ok(()), Err);
        }
        // GTK 4 has read the press then, and handles it with its next frame.
        let until = Instant::now() + HANDLED;
        while !self.has_focus(&object.path).await? {
            if Instant::now() >= until {
                let refused = || {
                    Error::new(ErrorCode::Unsupported, "the element did not take the keyboard focus")
                        .hint("press it first, and look what opens: stickpin snapshot -i")
                };
                return Err(refusal.unwrap_or_else(refused));
            }
            sleep(FRAME).await;
        }
        Ok(())
    }

    /// Whether an element has the focus, or takes it by the word of assistive technologies.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND`, `BACKEND_LOST`.
    pub(crate) async fn grab_focus(&mut self, target: Handle) -> Result<bool> {
        let path = self.object(target)?.path;
        if self.has_focus(&path).await? {
            return Ok(true);
        }
        let call = Call { path: &path, interface: COMPONENT, member: "GrabFocus", args: Args::new() };
        let granted = match self.link.order(&call, DONE).await {
            Ok(answer) => answer.is_some_and(|answer| answer.body().bool().unwrap_or(false)),
            Err(Fault::Unknown | Fault::Refused(_) | Fault::Corrupt(_)) => false,
            Err(Fault::Vanished) => return Err(gone()),
            Err(fault) => return Err(self.failed(fault).await),
        };
        // GTK 3 says so once its window knows that it has the keyboard.
        let until = Instant::now() + if granted { HANDLED } else { Duration::ZERO };
        loop {
            if self.has_focus(&path).await? {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
            sleep(FRAME).await;
        }
    }

    /// Gives a field the focus before it is filled, as it has it when a person has filled it; false where it does not take
    /// it. What is no field of text is not pressed for that: a press would set it.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND`, `BACKEND_LOST`.
    pub(crate) async fn focus_to_fill(&mut self, target: Handle) -> Result<bool> {
        let object = self.object(target)?;
        if self.has_focus(&object.path).await? {
            return Ok(true);
        }
        self.take_keyboard(target).await?;
        if self.grab_focus(target).await? {
            return Ok(true);
        }
        if !is_field(object.role) {
            return Ok(false);
        }
        match self.focus(target).await {
            Ok(()) => Ok(true),
            Err(e) if e.code == ErrorCode::ElementNotFound || e.code == ErrorCode::BackendLost => Err(e),
            // It is filled all the same, and keys without a target are refused.
            Err(e) => {
                tracing::debug!("{} does not take the focus: {e}", object.words());
                Ok(false)
            }
        }
    }

    /// Puts the caret of a field behind the text that was put into it, as typing does. GTK leaves it before the text.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    pub(crate) async fn caret_to_end(&mut self, field: &Object, text: &str) -> Result<()> {
        if !self.link.toolkit.profile().caret_stays_before_text || !field.has(Interfaces::TEXT) {
            return Ok(());
        }
        let args = Args::new().int(i32::try_from(text.chars().count()).unwrap_or(i32::MAX));
        let call = Call { path: &field.path, interface: TEXT, member: "SetCaretOffset", args };
        match self.link.order(&call, DONE).await {
            Ok(_) => Ok(()),
            Err(fault) => self.refused(&field.path, fault).await,
        }
    }

    pub(crate) async fn has_focus(&mut self, path: &str) -> Result<bool> {
        Ok(self.states_of(path).await? & s::FOCUSED != 0)
    }

    /// The states that an object has now; none of one that does not say.
    pub(crate) async fn states_of(&mut self, path: &str) -> Result<u64> {
        match self.link.call(path, ACCESSIBLE, "GetState", Args::new()).await {
            Ok(answer) => {
                let words = answer.body().items(4, Cursor::unsigned).unwrap_or_default();
                Ok(s::joined(&words))
            }
            Err(Fault::Vanished) => Err(gone()),
            Err(Fault::Unknown | Fault::Refused(_) | Fault::Corrupt(_)) => Ok(0),
            Err(fault) => Err(self.failed(fault).await),
        }
    }
}
