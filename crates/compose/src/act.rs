//! Routing of inputs to the member that they are for.

use crate::ground::{Composed, Ground};
use crate::handles::outer;
use crate::parts::{Member, gone};
use crate::route::{Way, ends_elsewhere, for_part};
use stickpin_device::{Action, AimOptions, CancellationToken, Device, Hit, Landed, Performed, Result};

impl<G: Ground> Composed<G> {
    /// Sends an input to its member.
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
            // From here on, keys go to this member, and its focused element must be the target.
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

    /// Returns the window that a drag into another member starts in, in words, if it also covers
    /// the end point: the press raises it.
    async fn covers_the_end(&mut self, action: &Action) -> Result<Option<String>> {
        let Action::Drag { from, to, .. } = *action else { return Ok(None) };
        let window = self.ground.beneath(&self.parts, from, "drag").await?;
        Ok(window.filter(|window| window.area.contains(to.0, to.1)).map(|window| window.words))
    }
}

/// Returns what covers the end point of a drag into another member; `None` if the target receives
/// it.
fn in_the_way(hit: Hit) -> Option<String> {
    match hit {
        Hit::Target | Hit::Unknown => None,
        Hit::Covered { what, .. } | Hit::Held { what, .. } => Some(what),
        _ => Some("nothing on the screen".to_owned()),
    }
}

/// The result of an input that was not sent, because something else would have received it.
fn stopped(what: String) -> Performed {
    let landed = Landed::Elsewhere { what, stopped: true };
    Performed::done().landed(landed)
}
