//! Buttons and modifiers that are held down for an action and released when it ends.

use crate::display::Display;
use crate::error::X11Result;
use crate::x11::X11;
use crate::{keyboard, pointer};
use stickpin_device::{Button, Modifiers, Result};

/// Input that is held down. It is released when this value is dropped, even if the action was
/// abandoned.
#[derive(Debug)]
pub struct HeldInput {
    x11: X11,
    modifiers: Modifiers,
    button: Button,
    down: bool,
}

impl HeldInput {
    /// Registers input that is about to be pressed.
    #[must_use]
    pub fn new(x11: &X11, modifiers: Modifiers, button: Button) -> Self {
        Self { x11: x11.clone(), modifiers, button, down: true }
    }

    fn release(&self) -> impl FnOnce(&mut Display) -> X11Result<()> + use<> {
        let (modifiers, button) = (self.modifiers, self.button);
        move |d| pointer::release(d, button).and(keyboard::hold(d, modifiers, false))
    }

    /// Releases the input.
    ///
    /// # Errors
    /// Returns the errors of [`X11::run`].
    pub async fn release_now(mut self) -> Result<()> {
        let released = self.x11.run(self.release()).await;
        // If this call is dropped earlier, the destructor releases the input.
        self.down = false;
        released
    }
}

impl Drop for HeldInput {
    fn drop(&mut self) {
        if self.down {
            self.x11.post(self.release());
        }
    }
}
