//! The member that an input is for.

use crate::environment::{CompositeDevice, Environment};
use crate::handles::to_member;
use stickpin_device::{Action, Error, Result};
use stickpin_tree::Handle;

/// What determines the member that receives an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Route {
    /// The target element.
    Element(Handle),
    /// The window at a point of the screen.
    Point((f64, f64)),
    /// The keyboard, which belongs to the member that was acted on last.
    Keyboard,
}

impl Route {
    /// Classifies an input.
    #[must_use]
    pub fn for_action(action: &Action) -> Self {
        match *action {
            Action::Press { point, target: None, .. } => Self::Point(point),
            Action::Drag { from, source: None, .. } => Self::Point(from),
            _ => action.targets().first().map_or(Self::Keyboard, |target| Self::Element(*target)),
        }
    }
}

/// Returns the target of a drag that ends in another member.
pub(crate) fn drop_in_other_member(action: &Action, part: u64) -> Option<Handle> {
    match action {
        Action::Drag { target, .. } => target.filter(|target| to_member(*target).0 != part),
        _ => None,
    }
}

/// Converts an input to the handles of a member; targets in other members are dropped.
pub(crate) fn for_member(action: &Action, part: u64) -> Action {
    let mut action = action.clone();
    action.retain_targets(|handle| {
        let (of, own) = to_member(handle);
        (of == part).then_some(own)
    });
    action
}

impl<G: Environment> CompositeDevice<G> {
    /// Returns the active window. If not exactly one member reports its own, the ground decides.
    ///
    /// # Errors
    /// As [`Environment::active_member`].
    pub(crate) async fn active_window(&mut self) -> Result<Option<(u64, Handle)>> {
        let all = self.parts.active_windows();
        let mut say = all.iter().filter(|(.., says)| *says);
        if let (Some(&(number, window, _)), None) = (say.next(), say.next()) {
            return Ok(Some((number, window)));
        }
        let active = self.ground.active_member(&self.parts).await?;
        let found = all.iter().find(|(number, ..)| Some(*number) == active);
        Ok(found.map(|&(number, window, _)| (number, window)))
    }

    /// Returns the member that receives keys without a target: the one that was acted on last,
    /// otherwise the one with the active window.
    async fn keyboard(&mut self) -> Result<Option<u64>> {
        match self.parts.keyboard_member().filter(|&number| self.parts.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Ok(self.active_window().await?.map(|(number, _)| number)),
        }
    }

    /// Returns the member that an input is for.
    ///
    /// # Errors
    /// Returns `ELEMENT_OFFSCREEN` or `ELEMENT_NOT_FOUND` if there is none; otherwise as
    /// [`Environment::window_at`].
    pub(crate) async fn receiving_member(&mut self, action: &Action) -> Result<u64> {
        match Route::for_action(action) {
            Route::Element(handle) => Ok(to_member(handle).0),
            Route::Point((x, y)) => {
                let there = self.ground.window_at(&self.parts, (x, y), "press with the pointer").await?;
                there.map(|there| there.part).ok_or_else(|| {
                    let what = format!("no window of an app is at {x:.0},{y:.0}");
                    Error::element_offscreen(what).hint("`stickpin screenshot` shows what is there")
                })
            }
            Route::Keyboard => self.keyboard().await?.ok_or_else(|| {
                Error::element_not_found(format!("no app of the {} has the keyboard", G::NAME)).hint(
                    "name the element: `stickpin type TEXT --into TARGET`; `stickpin snapshot -i` lists them",
                )
            }),
        }
    }
}
