//! Inputs, each handed to the member that it is for.

use crate::ground::{Composed, Ground};
use crate::handles::outer;
use crate::parts::{Member, gone};
use crate::route::{Way, ends_elsewhere, for_part};
use stickpin_device::{Action, AimOptions, CancellationToken, Device, Hit, Landed, Performed, Result};

impl<G: Ground> Composed<G> {
    /// Sends an input.
    ///
    /// # Errors
    /// As [`Device::perform`].
    pub(crate) async fn send(&mut self, action: &Action, cancel: &CancellationToken) -> Result<Performed> {
        self.ground.alive()?;
        if let Some(performed) = self.ground.perform_apart(&mut self.parts, action, cancel).await? {
            return Ok(performed);
        }
        let number = self.receiver(action).await?;
        let end = ends_elsewhere(action, number);
        if let Some(end) = end
            && let Some(what) = in_the_way(self.aim(end, AimOptions::default()).await?.hit)
        {
            return Ok(stopped(what));
        }
        let action = for_part(action, number);
        self.parts.device(number, G::NAME)?;
        if let Way::Element(element) = Way::of(&action)
            && self.parts.keys() != Some(number)
        {
            // From here on keys go there, and what has the focus in it is to say so.
            let member = &mut self.parts.get(number).ok_or_else(gone)?.member;
            let taken = member.take_keyboard(element).await;
            self.judged(number, taken).await?;
        }
        if end.is_some()
            && let Some(words) = self.covers_the_end(&action).await?
        {
            return Ok(stopped(words));
        }
        let device = self.parts.device(number, G::NAME)?;
        let performed = device.perform(&action, cancel).await;
        self.parts.acts_on(number);
        let mut performed = self.judged(number, performed).await?;
        performed.chooser = performed.chooser.map(|own| outer(number, own));
        Ok(performed)
    }

    /// Returns the window that a drag into another member begins in, in words, where that lies
    /// below its end, too: the press brings it to the front.
    async fn covers_the_end(&mut self, action: &Action) -> Result<Option<String>> {
        let Action::Drag { from, to, .. } = *action else { return Ok(None) };
        let window = self.ground.beneath(&self.parts, from, "drag").await?;
        Ok(window.filter(|window| window.area.contains(to.0, to.1)).map(|window| window.words))
    }
}

/// Returns what lies where a drag into another member is to end; none where that is the element.
fn in_the_way(hit: Hit) -> Option<String> {
    match hit {
        Hit::Target | Hit::Unknown => None,
        Hit::Covered { what, .. } | Hit::Held { what, .. } => Some(what),
        _ => Some("nothing that is on the screen".to_owned()),
    }
}

/// An input that was kept from the app, because something else would get it.
fn stopped(what: String) -> Performed {
    let landed = Landed::Elsewhere { what, stopped: true };
    Performed::done().landed(landed)
}
