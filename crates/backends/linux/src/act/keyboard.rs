//! Typing text, sending chords, and filling fields that accept no text through accessibility
//! interfaces.

use crate::act::focus::focus_element;
use crate::act::{Act, fill_readback, typing};
use crate::aim::{input_grab, window};
use crate::app::{self, App, AppView, LinuxDevice, WindowStack, ask, lifecycle, query, unknown};
use crate::model::states as s;
use async_trait::async_trait;
use std::time::Duration;
use stickpin_device::{
    CancellationToken, Delivery, Error, HitResult, InputOutcome, Modifiers, Popups, Result,
};
use stickpin_tree::{Handle, quote};
use stickpin_x11desk::{
    Display, KeyDelivery, Window, X11, X11Result, focus, keyboard, pings, pointer, windows,
};
use tokio::time::{Instant, sleep, timeout};

/// Timeout for a responsive app to read one key.
const ONE_KEY: Duration = Duration::from_secs(1);

/// Timeout for an app to handle an input that it has read.
pub(crate) const HANDLED: Duration = Duration::from_millis(500);

/// Timeout for a window that the app has closed to leave the screen.
const CLOSING: Duration = Duration::from_secs(1);

/// The number of consecutive requests that must be answered without a signaled change before the
/// keys count as handled.
const SILENT_CHANGES: u32 = 2;

pub(crate) fn no_key(key: &str) -> Error {
    Error::invalid_args(format!("there is no key {}", quote(key)))
        .hint("use a `KeyboardEvent.key` name, such as `Enter`, `Tab`, `F5` or `a`")
}

/// Returns the error for an app that takes too long to read its keys.
pub(crate) fn busy() -> Error {
    Error::timeout("the app is still handling the keys that were sent").hint("run `stickpin wait stable`")
}

/// Gives the focus to the window that receives keys, and returns that window.
///
/// # Errors
/// Returns a refusal if an open popup would receive the keys meant for `target`, or if a window of
/// another process blocks the app. Returns `TIMEOUT` if the app is still processing an earlier
/// action.
pub(crate) async fn typing(device: &mut LinuxDevice, target: Option<Handle>) -> Result<(X11, u32)> {
    let x11 = device.app.screen.x11("send keys").await?;
    takes_keys(&device.app).await?;
    // An action that is pending in GTK 4 must take effect before the keys arrive.
    let pending = app::pending(device);
    if !pending.is_zero() {
        sleep(pending).await;
        // The answer comes after the action. If the app hangs, the next call reports that.
        drop(timeout(HANDLED, device.app.link.barrier()).await);
    }
    // A target that the capture lacks may be in a window that is closing.
    let target = target.and_then(|target| Some((target, device.view().index(target)?)));
    let window = match target {
        Some((target, at)) => window_of_target(device.view(), target, at).await?,
        None => closing_over(device).await.map(|()| None)?,
    };
    let window = match window {
        None => window::active_window(&device.app).await?.map(|(_, window)| window),
        known => known,
    };
    let Some(window) = window else { return Err(device.app.screen.unseen("send keys")) };
    // Another window may have been opened while the app was being asked.
    let sight = WindowStack::read(x11).await?;
    input_grab::check_not_grabbed(&device.app, &sight, &window, "the keys meant for the app").await?;
    device.app.screen.check_visible(&window).await?;
    let id = window.id;
    sight.x11.run(move |d| focus::give_keyboard(d, id)).await?;
    Ok((sight.x11, id))
}

/// Returns the window of the element to type into; `None` if the window is unknown or is a popup.
///
/// # Errors
/// Returns a refusal if something else would receive the keys.
async fn window_of_target(view: AppView<'_>, target: Handle, at: usize) -> Result<Option<Window>> {
    let Some(sight) = WindowStack::of(view.app).await? else { return Ok(None) };
    let Some(window) = window::window_of(view, at, &sight.windows).await? else { return Ok(None) };
    let held = input_grab::check_input_grab(view, Some(at), &window, &sight).await?;
    // A popup that the app does not name, such as a completion list, may belong to the field.
    if matches!(held, HitResult::PopupGrab { by: Some(_), .. })
        && let Some(refusal) = held.refusal(&view.last.words(target).unwrap_or_default())
    {
        return Err(refusal);
    }
    Ok(Some(window).filter(|window| !window.popup))
}

/// Checks that keys can be sent without locking up the app.
///
/// # Errors
/// Returns `TIMEOUT` when the app is still processing an earlier action.
async fn takes_keys(app: &App) -> Result<()> {
    if app.link.takes_keys().await {
        return Ok(());
    }
    let message = "the app is still processing its last action; a key would make it hang permanently";
    Err(Error::timeout(message).hint(
        "run `stickpin snapshot -i` to see what the app is waiting for, then `stickpin press @REF` to answer",
    ))
}

/// Sends Escape to another process's window that blocks the app. Returns `None` if there is no such
/// window.
async fn escape_elsewhere(app: &App) -> Result<Option<InputOutcome>> {
    let Some((sight, window)) = window::active_window(app).await? else { return Ok(None) };
    let Some(taker) = input_grab::grabbing_window(app, &sight.windows, &window) else { return Ok(None) };
    let what = window::covering_window(app, taker.clone(), &sight.x11).await?;
    chord_in(app, &taker, Modifiers::default(), "Escape").await?;
    let landed = Delivery::Elsewhere { what, stopped: false };
    Ok(Some(InputOutcome::done().delivery(landed)))
}

/// Waits until a window that the app closed has left the screen. Until then, the window manager may
/// report the closed window as active, and keys would go to it. Apps may also have windows that
/// they never list; these are waited for only once.
async fn closing_over(device: &mut LinuxDevice) -> Result<()> {
    let (app, unlisted) = (&device.app, &device.unlisted);
    let lists_all = || async {
        let own = own_windows(app).await?;
        if own.len() < 2 || own == *unlisted {
            return Ok(true);
        }
        // If the app is gone or hangs, the next call reports that.
        let Ok(Ok(picture)) = timeout(HANDLED, query::windows(&app.link)).await else { return Ok(true) };
        let shown = |&&at: &&usize| s::is_visible(picture[at].states, picture.toolkit);
        Ok(own.len() <= picture.root().children.iter().filter(shown).count())
    };
    if !ask::wait_until(CLOSING, lists_all).await? {
        device.unlisted = own_windows(app).await?;
    }
    Ok(())
}

/// Returns the ids of the app's windows on the screen in ascending order, without popups.
async fn own_windows(app: &App) -> Result<Vec<u32>> {
    let sight = WindowStack::of(app).await?;
    let own = |w: &&Window| w.pid.is_some() && w.pid == app.info.pid && !w.popup && w.is_shown();
    let mut own: Vec<u32> = sight.iter().flat_map(|sight| &sight.windows).filter(own).map(|w| w.id).collect();
    own.sort_unstable();
    Ok(own)
}

/// Sends keys to a window, unless another window would receive them. The check and the keys are one
/// job, so the focus cannot move in between. The `first` keys wait until the window manager has
/// given the focus to the window, and another window that keeps the focus is an error; for later
/// keys, the result is then `None`.
///
/// # Errors
/// Returns `ELEMENT_COVERED` if another window keeps the focus, or the errors of the display, after
/// which something may have been sent.
pub(crate) async fn send_keys<T: Send + 'static>(
    app: &App,
    x11: &X11,
    window: u32,
    first: bool,
    keys: impl FnOnce(&mut Display) -> X11Result<T> + Send + 'static,
) -> Result<Option<T>> {
    let check = if first { focus::foreign_focus_after_grab } else { focus::foreign_focus };
    let sent = x11.run(move |d| match check(d, window)? {
        Some(other) => Ok(Err(other)),
        None => keys(d).map(Ok),
    });
    match sent.await.map_err(unknown)? {
        Ok(sent) => Ok(Some(sent)),
        Err(other) if first => Err(foreign_focus_error(app, other, x11).await?),
        Err(_) => Ok(None),
    }
}

/// Waits until the app has read the keys that were sent to a window. Toolkits that handle one event
/// at a time answer a ping after the last key. Returns false if, for the whole of `patience`, the
/// app answers other requests but not the ping.
///
/// # Errors
/// Returns `TIMEOUT` when cancelled, or `BACKEND_LOST`.
pub(crate) async fn await_keys_read(
    act: &Act<'_>,
    x11: &X11,
    window: u32,
    patience: Duration,
) -> Result<bool> {
    let sent = x11.run(move |d| pings::send(d, window)).await?;
    let until = Instant::now() + patience;
    while !x11.run(move |d| pings::is_answered(d, sent)).await? {
        // The app may have closed the window.
        if !x11.run(move |d| pings::are_answered(d, window)).await? {
            break;
        }
        match act.cancel.run_until_cancelled(act.device.app.link.barrier()).await {
            None => return Err(busy()),
            // If the app hangs, the next call reports that.
            Some(Err(_)) => break,
            Some(Ok(())) if Instant::now() >= until => return Ok(false),
            Some(Ok(())) => {}
        }
    }
    Ok(true)
}

/// Waits until the app has handled the keys that it has read. A toolkit handles all of them before
/// it answers a request, or one by one between requests. In the latter case, changes are signaled
/// between a request and its answer as long as there are keys left.
pub(crate) async fn wait_until_keys_handled(app: &App) {
    let until = Instant::now() + HANDLED;
    let (mut asked, mut silent) = (0, 0);
    // An app that never becomes quiet is assumed to have handled the keys by the timeout.
    while silent < SILENT_CHANGES && (asked < SILENT_CHANGES || Instant::now() < until) {
        let changes = app.events.state().changes;
        // If the keys made the app exit or hang, the next call reports that.
        let Ok(()) = app.link.barrier().await else { return };
        silent = if app.events.state().changes == changes { silent + 1 } else { 0 };
        asked += 1;
    }
}

/// Returns the error for keys that would go to the window `other` instead of the intended one.
async fn foreign_focus_error(app: &App, other: Window, x11: &X11) -> Result<Error> {
    let what = window::covering_window(app, other, x11).await?;
    let error = Error::element_covered(format!("{what} keeps the keyboard focus"));
    let look = "run `stickpin snapshot -i` to see what is open";
    let private = "open the app with `--private`, where no other app can take the keyboard focus";
    Ok(if app.screen.own { error.hint(look) } else { error.hint(format!("{look}, or {private}")) })
}

/// Sends one chord to the app's active window. Escape goes to a window of another process instead,
/// if that window blocks the app.
pub(crate) async fn chord(act: &mut Act<'_>, modifiers: Modifiers, key: &str) -> Result<InputOutcome> {
    let closes = (modifiers, key) == (Modifiers::default(), "Escape");
    if closes && let Some(performed) = escape_elsewhere(&act.device.app).await? {
        return Ok(performed);
    }
    let (x11, window) = typing(act.device, None).await?;
    let name = key.to_owned();
    let keys = move |d: &mut Display| keyboard::chord(d, modifiers, &name);
    if send_keys(&act.device.app, &x11, window, true, keys).await? == Some(false) {
        return Err(no_key(key));
    }
    // Some windows declare that they answer pings, but do not. By the end of the timeout, one key
    // has been read.
    await_keys_read(act, &x11, window, ONE_KEY).await.map_err(unknown)?;
    wait_until_keys_handled(&act.device.app).await;
    Ok(InputOutcome::done())
}

/// Sends one chord to exactly this window.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND` if the window is gone, `ELEMENT_COVERED` if something else receives
/// its keys, or `INVALID_ARGS` if there is no such key. Returns `TIMEOUT` if the app is still
/// processing an earlier action. In all these cases, nothing was sent.
pub(crate) async fn chord_in(app: &App, window: &Window, modifiers: Modifiers, key: &str) -> Result<()> {
    let x11 = app.screen.x11("send keys").await?;
    takes_keys(app).await?;
    let (id, words) = (window.id, window.describe());
    let windows = x11.run(windows::list_windows).await?;
    let closed = || {
        let message = format!("{words} closed before the key {} was sent to it", quote(key));
        Error::element_not_found(message).hint("run `stickpin snapshot -i` to see what is open now")
    };
    let Some(now) = windows.iter().find(|w| w.id == id && (w.pid == window.pid || w.pid.is_none())) else {
        return Err(closed());
    };
    let covered = |what: String| {
        Error::element_covered(format!("{what} receives the keys meant for {words}"))
            .hint("run `stickpin snapshot -i` to see what is open, then `stickpin key Escape` to close one window at a time")
    };
    let alone = app.is_alone();
    // A dialog that opened this window is below it.
    let covers = |w: &&Window| w.id != id && w.blocks(now, alone) && !now.blocks(w, alone);
    if let Some(over) = windows.iter().find(covers) {
        return Err(covered(window::covering_window(app, over.clone(), &x11).await?));
    }
    app.screen.check_visible(now).await?;
    let name = key.to_owned();
    let popup = now.popup_among(&windows).is_some();
    let sent = x11.run(move |d| focus::send_chord_to_window(d, id, modifiers, &name, popup)).await;
    match sent.map_err(unknown)? {
        KeyDelivery::Delivered => {}
        KeyDelivery::NoSuchKey => return Err(no_key(key)),
        KeyDelivery::Gone => return Err(closed()),
        KeyDelivery::Elsewhere => return Err(covered("another window".to_owned())),
        KeyDelivery::KeyboardGrabbed => {
            // A popup may have opened in the meantime.
            let windows = x11.run(windows::list_windows).await?;
            let what = match window.popup_among(&windows) {
                Some(popup) => window::covering_window(app, popup.clone(), &x11).await?,
                None => "an app that has grabbed the keyboard".to_owned(),
            };
            return Err(covered(what));
        }
    }
    x11.run(move |d| pings::await_delivery(d, id)).await.map_err(unknown)?;
    wait_until_keys_handled(app).await;
    Ok(())
}

/// Fills a field by keyboard: selects its content, deletes it and types the text.
pub(crate) async fn fill_by_keys(act: &mut Act<'_>, target: Handle, text: &str) -> Result<InputOutcome> {
    let (x11, window) = typing(act.device, Some(target)).await?;
    focus_element(act.device, target).await?;
    let all = Modifiers { control: true, ..Modifiers::default() };
    let empty = move |d: &mut Display| {
        keyboard::chord(d, all, "a")?;
        keyboard::chord(d, Modifiers::default(), "Delete")?;
        pings::await_delivery(d, window)
    };
    send_keys(&act.device.app, &x11, window, true, empty).await?;
    if !text.is_empty() {
        typing::type_text(act, Some(target), text).await.map_err(unknown)?;
    }
    let field = act.device.view().object(target).map_err(unknown)?;
    let value = fill_readback::read_back(&act.device.app, &field, text).await;
    let value = ask::or_none(&act.device.app, value).await.map_err(unknown)?.flatten();
    fill_readback::wait_stable_value(&act.device.app, &field, text, value, act.cancel).await
}

#[async_trait]
impl Popups for LinuxDevice {
    /// Closes the app's menu or list that grabs the pointer. While such a popup is open, keys reach
    /// nothing else. Returns whether such a popup was open and has been closed.
    async fn close_popup(&mut self, _opener: Handle, _older: &[Handle]) -> Result<bool> {
        lifecycle::alive(&self.app).await?;
        if is_folded(&self.app).await? {
            return Ok(false);
        }
        let act = &mut Act { device: self, cancel: &CancellationToken::new() };
        chord(act, Modifiers::default(), "Escape").await?;
        ask::wait_until(POPUP_CLOSE_TIMEOUT, || is_folded(&self.app)).await
    }
}

/// Returns whether no menu or list of the app grabs the pointer.
async fn is_folded(app: &App) -> Result<bool> {
    let Some(sight) = WindowStack::of(app).await? else { return Ok(true) };
    let own = |w: &Window| w.popup && w.pid == app.info.pid;
    Ok(!sight.windows.iter().any(own) || !sight.x11.run(|d| pointer::is_grabbed(d)).await?)
}

/// Timeout for a popup to close.
const POPUP_CLOSE_TIMEOUT: Duration = Duration::from_millis(300);
