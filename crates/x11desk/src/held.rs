//! Input that is held down for an act, and comes up with it.

use crate::display::X11;
use crate::display::fault::Fault;
use crate::display::server::Display;
use stickpin_device::{Modifiers, Result};

/// What is held down. It comes up whatever ends what it is held for, also where nobody waits for that any more.
#[derive(Debug)]
pub struct Held {
    x11: X11,
    modifiers: Modifiers,
    button: u8,
    down: bool,
}

impl Held {
    /// What is about to be pressed.
    pub fn new(x11: &X11, modifiers: Modifiers, button: u8) -> Self {
        Self { x11: x11.clone(), modifiers, button, down: true }
    }

    fn release(&self) -> impl FnOnce(&mut Display) -> std::result::Result<(), Fault> + use<> {
        let (modifiers, button) = (self.modifiers, self.button);
        // What is up already stays so, and nobody is told of it.
        move |d| d.button(button, false).and(d.hold(modifiers, false))
    }

    /// Lets go of it.
    pub async fn up(mut self) -> Result<()> {
        let released = self.x11.run(self.release()).await;
        // Dropped before, it is let go of by the drop.
        self.down = false;
        released
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.down {
            self.x11.post(self.release());
        }
    }
}
