//! Typing, chords, and filling a field that takes no text by itself.

use crate::app::pointer::NONE;
use crate::app::{LinuxDevice, unknown};
use crate::bus::fault::Fault;
use crate::limits::FRAME;
use crate::model::Picture;
use crate::query::windows;
use crate::states as s;
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, ErrorCode, Hit, Landed, Modifiers, Performed, Result};
use stickpin_tree::{Handle, quote};
use stickpin_x11desk::{Presence, Sent, Window, X11, focus, keyboard, pings, windows};
use tokio::time::{Instant, sleep, timeout};

/// How long an app that answers may take to read one key.
const ONE_KEY: Duration = Duration::from_secs(1);

/// How long an app may take to come to rest after the keys that it has read.
pub(crate) const HANDLED: Duration = Duration::from_millis(500);

/// How long a window that the app has closed may stay on the screen.
const CLOSING: Duration = Duration::from_secs(1);

/// How often in a row it has to say nothing of a change between a question and its answer.
const SILENT: u32 = 2;

fn no_key(key: &str) -> Error {
    Error::new(ErrorCode::InvalidArgs, format!("there is no key {}", quote(key)))
        .hint("keys have the names of KeyboardEvent.key: Enter, Tab, F5, a")
}

/// The error of an app that is at its keys for too long.
pub(crate) fn busy() -> Error {
    Error::new(ErrorCode::Timeout, "the app is still busy with the keys that it was sent")
        .hint("stickpin wait stable")
}

impl LinuxDevice {
    /// The window that gets what is typed, with the keyboard's focus. An open pop-up takes the keys before any element
    /// beside it gets them.
    pub(crate) async fn typing(&mut self, target: Option<Handle>) -> Result<(X11, u32)> {
        self.screen.x11("type keys").await?;
        self.takes_keys().await?;
        // What GTK 4 was told before comes before what is typed now.
        let pending = self.pending();
        if !pending.is_zero() {
            sleep(pending).await;
            // What was due has been done when it answers; one that hangs is told of by what comes next.
            drop(timeout(HANDLED, self.link.barrier()).await);
        }
        let window = match target.and_then(|t| self.index(t)) {
            Some(at) => match self.sight().await? {
                Some(sight) => {
                    let window = self.window_of(at, &sight.windows).await?;
                    if let Some(window) = &window {
                        let held = self.held(Some(at), window, &sight).await?;
                        // One that the app does not name may belong to the field, as what completes it does.
                        let named = matches!(held, Hit::Held { by: Some(_), .. });
                        let words = target.and_then(|t| self.words(t)).unwrap_or_default();
                        if let Some(refusal) = held.refusal(&words).filter(|_| named) {
                            return Err(refusal);
                        }
                    }
                    window.filter(|w| !w.popup).map(|w| (sight.x11, w))
                }
                None => None,
            },
            None => {
                self.closing_over().await?;
                self.active_window().await?
            }
        };
        let window = match window {
            Some(window) => Some(window),
            None => self.active_window().await?,
        };
        let Some((x11, window)) = window else { return Err(self.screen.unseen("type keys")) };
        let windows = x11.run(windows::all).await?;
        if let Some(taker) = self.taker(&windows, &window) {
            return Err(self.taken(taker, &x11, "the keys of the app").await?);
        }
        self.screen.present(&window).await?;
        let id = window.id;
        x11.run(move |d| focus::give(d, id)).await?;
        Ok((x11, id))
    }

    /// Whether keys can be sent without locking up the app.
    ///
    /// # Errors
    /// `TIMEOUT` when it is still at something that it was told to do.
    async fn takes_keys(&self) -> Result<()> {
        if self.link.takes_keys().await {
            return Ok(());
        }
        let message =
            "the app is still inside what it was last told to do; a key would make it hang for good";
        Err(Error::new(ErrorCode::Timeout, message)
            .hint("stickpin snapshot -i shows what it waits for; stickpin press @REF answers it"))
    }

    /// Sends Escape to the window of another process that takes the keys of the app, which is told in what it says; none
    /// where there is no such window.
    async fn escape_elsewhere(&mut self) -> Result<Option<Performed>> {
        let Some((x11, window)) = self.active_window().await? else { return Ok(None) };
        let windows = x11.run(windows::all).await?;
        let Some(taker) = self.taker(&windows, &window) else { return Ok(None) };
        let what = self.cover(taker.clone(), &x11).await?;
        self.chord_in(&taker, NONE, "Escape").await?;
        let landed = Landed::Elsewhere { what, stopped: false };
        Ok(Some(Performed { handled: true, landed, ..Performed::default() }))
    }

    /// Waits until a window that the app has closed is gone from the screen: the window manager may still say that it is
    /// the active one, and keys would go there. An app may also have windows that it does not list: those are waited for
    /// once.
    async fn closing_over(&mut self) -> Result<()> {
        let until = Instant::now() + CLOSING;
        let pid = self.info.pid;
        while let Some(sight) = self.sight().await? {
            let own =
                |w: &&Window| pid.is_some() && w.pid == pid && !w.popup && w.presence == Presence::Shown;
            let mut own: Vec<u32> = sight.windows.iter().filter(own).map(|w| w.id).collect();
            own.sort_unstable();
            if own.len() < 2 || self.unlisted == own {
                break;
            }
            let seen = |picture: &Picture, at: usize| s::seen(picture.objects[at].states, picture.toolkit);
            let listed = match timeout(HANDLED, windows(&self.link)).await {
                Ok(Ok(picture)) => picture.root().children.iter().filter(|&&at| seen(&picture, at)).count(),
                // One that is gone or hangs is told of by what comes next.
                _ => break,
            };
            if own.len() <= listed {
                break;
            }
            if Instant::now() >= until {
                self.unlisted = own;
                break;
            }
            sleep(FRAME).await;
        }
        Ok(())
    }

    /// Waits until the app has read the keys that were sent to a window, however long it is at it: a toolkit that takes in
    /// one after the other answers behind the last of them. False where it has answered other questions for `patience`, and
    /// not that.
    ///
    /// # Errors
    /// `TIMEOUT` when it was cancelled, `BACKEND_LOST`.
    pub(crate) async fn keys_read(
        &self,
        x11: &X11,
        window: u32,
        patience: Duration,
        cancel: &CancellationToken,
    ) -> Result<bool> {
        let sent = x11.run(move |d| pings::send(d, window)).await?;
        let until = Instant::now() + patience;
        while !x11.run(move |d| pings::is_answered(d, sent)).await? {
            // It may have closed the window.
            if !x11.run(move |d| pings::are_answered(d, window)).await? {
                break;
            }
            let lives = tokio::select! {
                lives = self.link.barrier() => lives.is_ok(),
                () = cancel.cancelled() => true,
            };
            // One that hangs is told of by what comes next.
            if !lives {
                break;
            }
            if cancel.is_cancelled() {
                return Err(busy());
            }
            if Instant::now() >= until {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until the app has handled the keys that it has read. A toolkit may read many at once, and handle them all
    /// before it answers, or one by one in turn with what it is asked: as long as some are left, something changes between
    /// a question and its answer.
    pub(crate) async fn keys_handled(&self) {
        let until = Instant::now() + HANDLED;
        let (mut asked, mut silent) = (0, 0);
        // One that never rests has handled them by then.
        while silent < SILENT && (asked < SILENT || Instant::now() < until) {
            let changes = self.heard.state().changes;
            // An app that the keys ended, or that hangs, is told of by what comes next.
            let Ok(()) = self.link.barrier().await else { return };
            silent = if self.heard.state().changes == changes { silent + 1 } else { 0 };
            asked += 1;
        }
    }

    /// The error of keys that would go to this window.
    pub(crate) async fn has_keys(&self, other: Window, x11: &X11) -> Result<Error> {
        let what = self.cover(other, x11).await?;
        Ok(Error::new(ErrorCode::ElementCovered, format!("{what} keeps the keyboard")).hint(
            "stickpin snapshot -i shows what is open; with open --private no other app has the keyboard",
        ))
    }

    /// Sends one chord.
    pub(crate) async fn chord(
        &mut self,
        modifiers: Modifiers,
        key: &str,
        cancel: &CancellationToken,
    ) -> Result<Performed> {
        if (modifiers, key) == (NONE, "Escape")
            && self.screen.has_pointer()
            && let Some(performed) = self.escape_elsewhere().await?
        {
            return Ok(performed);
        }
        let (x11, window) = self.typing(None).await?;
        self.chord_to(&x11, window, modifiers, key, cancel).await
    }

    /// Sends one chord to this window, and to no other.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND` where that is not there any more, `ELEMENT_COVERED` where another one takes its keys: nothing was
    /// sent then.
    pub(crate) async fn chord_in(
        &mut self,
        window: &Window,
        modifiers: Modifiers,
        key: &str,
    ) -> Result<Performed> {
        let x11 = self.screen.x11("type keys").await?;
        self.takes_keys().await?;
        let (id, words) = (window.id, window.words());
        let windows = x11.run(windows::all).await?;
        let closed = || {
            let message = format!("{words} was closed before the key {} was sent to it", quote(key));
            Error::new(ErrorCode::ElementNotFound, message)
                .hint("stickpin snapshot -i shows what is open now")
        };
        let Some(now) = windows.iter().find(|w| w.id == id && (w.pid == window.pid || w.pid.is_none()))
        else {
            return Err(closed());
        };
        let covered = |what: String| {
            Error::new(ErrorCode::ElementCovered, format!("{what} takes the keys of {words}"))
                .hint("stickpin snapshot -i shows what is open; stickpin key Escape closes one at a time")
        };
        let alone = self.is_alone();
        // A dialog of the app that it was opened from is under it.
        let covers = |w: &&Window| w.id != id && w.blocks(now, alone) && !now.blocks(w, alone);
        if let Some(over) = windows.iter().find(covers) {
            return Err(covered(self.cover(over.clone(), &x11).await?));
        }
        self.screen.present(now).await?;
        let name = key.to_owned();
        let popup = now.popup_among(&windows).is_some();
        match x11.run(move |d| focus::chord_only(d, id, modifiers, &name, popup)).await.map_err(unknown)? {
            Sent::Yes => {}
            Sent::NoSuchKey => return Err(no_key(key)),
            Sent::Gone => return Err(closed()),
            Sent::Elsewhere => return Err(covered("another window".to_owned())),
            Sent::Held => {
                // It may have opened meanwhile.
                let windows = x11.run(windows::all).await?;
                let what = match window.popup_among(&windows) {
                    Some(popup) => self.cover(popup.clone(), &x11).await?,
                    None => "what holds the keyboard".to_owned(),
                };
                return Err(covered(what));
            }
        }
        x11.run(move |d| pings::await_delivery(d, id)).await.map_err(unknown)?;
        self.keys_handled().await;
        Ok(Performed { handled: true, ..Performed::default() })
    }

    async fn chord_to(
        &mut self,
        x11: &X11,
        window: u32,
        modifiers: Modifiers,
        key: &str,
        cancel: &CancellationToken,
    ) -> Result<Performed> {
        let name = key.to_owned();
        let sent = x11.run(move |d| match focus::keys_kept_elsewhere(d, window)? {
            Some(other) => Ok(Err(other)),
            None => keyboard::chord(d, modifiers, &name).map(Ok),
        });
        match sent.await.map_err(unknown)? {
            Ok(true) => {}
            Ok(false) => return Err(no_key(key)),
            Err(other) => return Err(self.has_keys(other, x11).await?),
        }
        // Some say that they answer pings, and do not: one key has been read by then.
        self.keys_read(x11, window, ONE_KEY, cancel).await.map_err(unknown)?;
        self.keys_handled().await;
        Ok(Performed { handled: true, ..Performed::default() })
    }

    /// Fills a field by its keys: all of it selected, then typed over.
    pub(crate) async fn fill_by_keys(
        &mut self,
        target: Handle,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<Performed> {
        let (x11, window) = self.typing(Some(target)).await?;
        self.focus(target).await?;
        let all = Modifiers { control: true, ..NONE };
        let emptied = x11.run(move |d| {
            if let Some(other) = focus::keys_kept_elsewhere(d, window)? {
                return Ok(Err(other));
            }
            keyboard::chord(d, all, "a")?;
            keyboard::chord(d, NONE, "Delete")?;
            pings::await_delivery(d, window).map(Ok)
        });
        if let Err(other) = emptied.await.map_err(unknown)? {
            return Err(self.has_keys(other, &x11).await?);
        }
        if !text.is_empty() {
            self.type_text(Some(target), text, cancel).await?;
        }
        let field = self.object(target).map_err(unknown)?;
        let value = match self.holds(&field, text).await {
            Ok(value) => value,
            Err(Fault::Closed(why)) => return Err(unknown(self.failed(Fault::Closed(why)).await)),
            Err(_) => None,
        };
        self.at_rest(&field, text, value, cancel).await
    }
}
