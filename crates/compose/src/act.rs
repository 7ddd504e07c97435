//! Routing of actions to members: each action is prepared and committed by one member.

use crate::environment::{CompositeDevice, Environment};
use crate::handles::{
    handle_of_member, handles_of_member, member_named_by, ticket_to_composite, ticket_to_member,
    to_composite, to_member,
};
use crate::members::Member;
use crate::route::Route;
use stickpin_device::{
    Action, Aim, AimOptions, CancellationToken, Device, HitResult, InputOutcome, PreparedInput, Result,
    Ticket, element_gone,
};
use stickpin_tree::{Handle, Rect};

impl<G: Environment> CompositeDevice<G> {
    /// Aims at an element. `context` contains the context of the element's record and the ticket of
    /// the element's location; if `context` is given, the element is also located again.
    ///
    /// # Errors
    /// Returns the errors of [`Device::prepare`].
    pub(crate) async fn aim_in_member(
        &mut self,
        handle: Handle,
        options: AimOptions<'_>,
        context: Option<(&[Handle], Ticket)>,
    ) -> Result<PreparedInput> {
        self.ground.check_alive()?;
        if member_named_by(handle).is_some_and(|number| self.parts.contains(number)) {
            // A member itself has no position.
            return Ok(PreparedInput::new(Aim::new(Rect::default(), HitResult::OffScreen)));
        }
        let (number, own) = to_member(handle);
        let guarded = handles_of_member(options.guarded, number);
        let own_options = options.guarded(&guarded);
        let device = self.parts.device(number, G::NAME)?;
        let prepared = match context {
            Some((context, seen)) => {
                let (context, seen) = (handles_of_member(context, number), ticket_to_member(&seen, number));
                device.prepare(own, &context, own_options, seen).await
            }
            None => device.aim(own, own_options).await.map(PreparedInput::new),
        };
        if options.pointer {
            // The pointer's arrival alone may change something.
            self.parts.acted_on.insert(number);
        }
        let mut prepared = self.check_member(number, prepared).await?;
        if let HitResult::Covered { by: Some(by), .. } | HitResult::PopupGrab { by: Some(by), .. } =
            &mut prepared.aim.hit
        {
            *by = to_composite(number, *by);
        }
        prepared.located = prepared.located.map(|found| self.in_whole(number, found)).transpose()?;
        prepared.ticket = ticket_to_composite(number, prepared.ticket);
        Ok(prepared)
    }

    /// Sends an input to the member that it is for, or to the window outside the members.
    /// `prepared` is the ticket that [`Self::aim_in_member`] returned, or an empty ticket.
    ///
    /// # Errors
    /// Returns the errors of [`Device::commit`] and of [`Self::receiving_member`].
    pub(crate) async fn send(
        &mut self,
        action: &Action,
        prepared: &Ticket,
        cancel: &CancellationToken,
    ) -> Result<InputOutcome> {
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
        if let Some(end) = end {
            match self.aim(end, AimOptions::default()).await?.hit {
                HitResult::Target | HitResult::Unknown => {}
                HitResult::Covered { what, .. } | HitResult::PopupGrab { what, .. } => {
                    return Ok(InputOutcome::stopped(what));
                }
                _ => return Ok(InputOutcome::stopped("nothing on the screen".to_owned())),
            }
        }
        let mut action = action.clone();
        action.retain_targets(|target| handle_of_member(target, number));
        self.parts.device(number, G::NAME)?;
        if let Route::Element(element) = Route::for_action(&action)
            && self.parts.keyboard_member != Some(number)
        {
            let part = self.parts.get(number).ok_or_else(element_gone)?;
            // From here on, keys go to this member, and its focused element must be the target.
            let taken = part.member.take_keyboard(element).await;
            self.check_member(number, taken).await?;
        }
        if end.is_some()
            && let Action::Drag { from, to, .. } = action
            && let Some(window) = self.ground.window_at(&self.parts, from, "drag").await?
            && window.area.contains(to.0, to.1)
        {
            // The press raises the window in which the drag starts, which then covers the end.
            return Ok(InputOutcome::stopped(window.description));
        }
        let device = self.parts.device(number, G::NAME)?;
        let performed = device.commit(&action, ticket_to_member(prepared, number), cancel).await;
        self.parts.note_acted_on(number);
        let mut performed = self.check_member(number, performed).await?;
        performed.chooser = performed.chooser.map(|own| to_composite(number, own));
        performed.ticket = ticket_to_composite(number, performed.ticket);
        Ok(performed)
    }
}
