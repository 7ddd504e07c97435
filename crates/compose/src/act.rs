//! Routing of inputs to the members that they are for.

use crate::environment::{CompositeDevice, Environment};
use crate::handles::{to_composite, to_member};
use crate::members::Member;
use crate::route::Route;
use stickpin_device::{
    Action, AimOptions, CancellationToken, Device, HitResult, InputOutcome, Result, element_gone,
};

impl<G: Environment> CompositeDevice<G> {
    /// Sends an input to its member.
    ///
    /// # Errors
    /// Returns the errors of [`Device::perform`].
    pub(crate) async fn send(&mut self, action: &Action, cancel: &CancellationToken) -> Result<InputOutcome> {
        self.ground.check_alive()?;
        if let Some(performed) = self.ground.perform_outside_members(&mut self.parts, action, cancel).await? {
            return Ok(performed);
        }
        let number = self.receiving_member(action).await?;
        // The target of a drag that ends in another member.
        let end = match action {
            Action::Drag { target, .. } => target.filter(|target| to_member(*target).0 != number),
            _ => None,
        };
        if let Some(end) = end
            && let Some(what) = in_the_way(self.aim(end, AimOptions::default()).await?.hit)
        {
            return Ok(InputOutcome::stopped(what));
        }
        let mut action = action.clone();
        action.retain_targets(|target| {
            let (of, own) = to_member(target);
            (of == number).then_some(own)
        });
        self.parts.device(number, G::NAME)?;
        if let Route::Element(element) = Route::for_action(&action)
            && self.parts.keyboard_member != Some(number)
        {
            // From here on, keys go to this member, and its focused element must be the target.
            let member = &mut self.parts.get(number).ok_or_else(element_gone)?.member;
            let taken = member.take_keyboard(element).await;
            self.check_member(number, taken).await?;
        }
        if end.is_some()
            && let Some(words) = self.covers_the_end(&action).await?
        {
            return Ok(InputOutcome::stopped(words));
        }
        let device = self.parts.device(number, G::NAME)?;
        let performed = device.perform(&action, cancel).await;
        self.parts.note_acted_on(number);
        let mut performed = self.check_member(number, performed).await?;
        performed.chooser = performed.chooser.map(|own| to_composite(number, own));
        Ok(performed)
    }

    /// Returns the window that a drag into another member starts in, in words, if it also covers
    /// the end point: the press raises it.
    async fn covers_the_end(&mut self, action: &Action) -> Result<Option<String>> {
        let Action::Drag { from, to, .. } = *action else { return Ok(None) };
        let window = self.ground.window_at(&self.parts, from, "drag").await?;
        Ok(window.filter(|window| window.area.contains(to.0, to.1)).map(|window| window.description))
    }
}

/// Returns what covers the end point of a drag into another member; `None` if the target receives
/// it.
fn in_the_way(hit: HitResult) -> Option<String> {
    match hit {
        HitResult::Target | HitResult::Unknown => None,
        HitResult::Covered { what, .. } | HitResult::PopupGrab { what, .. } => Some(what),
        _ => Some("nothing on the screen".to_owned()),
    }
}
