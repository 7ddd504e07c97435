//! Determines the member that receives an input.

use crate::environment::{CompositeDevice, Environment};
use crate::handles::to_member;
use crate::members::Member;
use stickpin_device::{Action, Error, Result};
use stickpin_tree::Handle;

/// The property that determines which member receives an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Route {
    /// The target element.
    Element(Handle),
    /// The window at a point of the screen.
    Point((f64, f64)),
    /// The keyboard: keys go to the member that was acted on last, otherwise to the member with the
    /// active window.
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

impl<G: Environment> CompositeDevice<G> {
    /// Returns the active window, if any: the number of its member and the member's own handle.
    /// Unless exactly one window itself reports that it is active, the environment decides.
    ///
    /// # Errors
    /// Returns the errors of [`Environment::active_member`].
    pub(crate) async fn active_window(&mut self) -> Result<Option<(u64, Handle)>> {
        let read = self.parts.all.iter_mut().filter(|part| part.tree.is_some());
        let windows = read.filter_map(|part| Some((part.number, part.member.active_window()?)));
        // Each window, and whether it reports its state itself.
        let all: Vec<(u64, (Handle, bool))> = windows.collect();
        let mut say = all.iter().filter(|(_, (_, says))| *says);
        if let (Some(&(number, (window, _))), None) = (say.next(), say.next()) {
            return Ok(Some((number, window)));
        }
        let active = self.ground.active_member(&self.parts).await?;
        let found = all.iter().find(|(number, ..)| Some(*number) == active);
        Ok(found.map(|&(number, (window, _))| (number, window)))
    }

    /// Returns the member that an input is for. Keys without a target go to the member that was
    /// acted on last, otherwise to the member with the active window.
    ///
    /// # Errors
    /// Returns `ELEMENT_OFFSCREEN` if there is no window at the point, `ELEMENT_NOT_FOUND` if no
    /// app has the keyboard focus, and the errors of [`Environment::window_at`] and
    /// [`Environment::active_member`].
    pub(crate) async fn receiving_member(&mut self, action: &Action) -> Result<u64> {
        match Route::for_action(action) {
            Route::Element(handle) => Ok(to_member(handle).0),
            Route::Point((x, y)) => {
                let there = self.ground.window_at(&self.parts, (x, y), "press with the pointer").await?;
                there.map(|there| there.part).ok_or_else(|| {
                    let what = format!("there is no app window at {x:.0},{y:.0}");
                    Error::element_offscreen(what).hint("run `stickpin screenshot` to see what is there")
                })
            }
            Route::Keyboard => {
                if let Some(number) = self.parts.keyboard_member.filter(|&last| self.parts.contains(last)) {
                    return Ok(number);
                }
                self.active_window().await?.map(|(number, _)| number).ok_or_else(|| {
                    Error::element_not_found(format!("no app on the {} has the keyboard focus", G::NAME)).hint(
                        "name a target, or press an element of the app first; run `stickpin snapshot -i` to list the elements",
                    )
                })
            }
        }
    }
}
