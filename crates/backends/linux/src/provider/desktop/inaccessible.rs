//! Windows of apps that are not on the accessibility bus. They receive input at points, and keys
//! after a press.

use super::apps::Apps;
use super::{DesktopEnvironment, app_with};
use crate::act::keyboard::no_key;
use crate::app::pointer::press_pointer;
use crate::model::Point;
use stickpin_compose::Route;
use stickpin_device::{Action, CancellationToken, Error, InputOutcome, Notice, Result};
use stickpin_process::belongs_to;
use stickpin_x11desk::{Window, X11, focus, keyboard, pings, windows};

impl DesktopEnvironment {
    /// Sends an input that is meant for the window of an inaccessible app. Returns `None` if the
    /// input is for another window.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` for inputs other than presses, texts and keys; otherwise the errors of
    /// [`stickpin_device::Device::perform`].
    pub(super) async fn send_to_inaccessible(
        &mut self,
        apps: &mut Apps,
        action: &Action,
        cancel: &CancellationToken,
    ) -> Result<Option<InputOutcome>> {
        if apps.keyboard_member.is_some() {
            self.inaccessible_keys = None;
        }
        let window = match (Route::for_action(action), self.inaccessible_keys) {
            (Route::Point(point), _) => self.inaccessible_at(apps, point).await?,
            (Route::Keyboard, Some(keys)) => {
                let x11 = self.screen.x11("send input").await?;
                x11.run(windows::list_windows).await?.into_iter().find(|w| w.id == keys)
            }
            _ => None,
        };
        let Some(window) = window else { return Ok(None) };
        let (x11, id) = (self.screen.x11("send input").await?, window.id);
        match action {
            Action::Press { .. } => {
                press_pointer(&x11, &window, action, None, cancel).await?;
                if !window.popup {
                    self.inaccessible_keys = Some(id);
                }
                apps.keyboard_member = None;
            }
            Action::Type { text, .. } => {
                let mut text: Vec<char> = text.chars().collect();
                while !text.is_empty() {
                    if let Some(elsewhere) = focus_taker(&x11, &window).await? {
                        return Ok(Some(elsewhere));
                    }
                    let part = text[..text.len().min(64)].to_vec();
                    let typed = x11.run(move |d| {
                        let typed = keyboard::type_text(d, &part)?;
                        pings::await_delivery(d, id).map(|()| typed)
                    });
                    text.drain(..typed.await?);
                }
            }
            Action::Key { modifiers, key } => {
                if let Some(elsewhere) = focus_taker(&x11, &window).await? {
                    return Ok(Some(elsewhere));
                }
                let (modifiers, name) = (*modifiers, key.clone());
                if !x11.run(move |d| keyboard::chord(d, modifiers, &name)).await? {
                    return Err(no_key(key));
                }
            }
            _ => return Err(only_points(&window)),
        }
        x11.run(move |d| pings::await_delivery(d, id)).await?;
        let words = window.describe();
        let what =
            format!("the content of {words} cannot be read; run `stickpin screenshot` to see the result");
        apps.add_notice(Notice::ComponentMissing { what });
        Ok(Some(InputOutcome::done()))
    }

    /// Returns the window of an inaccessible app that receives input at a point. On a shared
    /// display, only apps that this session started count.
    async fn inaccessible_at(&mut self, apps: &Apps, point: Point) -> Result<Option<Window>> {
        let there = self.top_at(point, "press with the pointer").await?;
        let started =
            |pid| self.started.iter().filter_map(|(child, _)| child.id()).any(|own| belongs_to(pid, own));
        let ours = |w: &Window| w.pid.is_some_and(|pid| self.screen.own || started(pid));
        Ok(there.filter(|window| app_with(apps, window).is_none() && ours(window)))
    }
}

/// Gives a window the keyboard focus for an input. If another window keeps the focus, returns the
/// outcome of the stopped input; otherwise `None`.
async fn focus_taker(x11: &X11, window: &Window) -> Result<Option<InputOutcome>> {
    let id = window.id;
    let taker = x11.run(move |d| {
        focus::give_keyboard(d, id)?;
        focus::foreign_focus_after_grab(d, id)
    });
    Ok(taker.await?.map(|taker| InputOutcome::stopped(taker.describe())))
}

fn only_points(window: &Window) -> Error {
    let window = window.describe();
    Error::unsupported(format!(
        "{window} is not on the accessibility bus: only `press X,Y`, `type` and `key` can reach it"
    ))
    .hint("run `stickpin screenshot` to find the position, then `stickpin press X,Y`; use `stickpin key PageDown` to scroll")
}
