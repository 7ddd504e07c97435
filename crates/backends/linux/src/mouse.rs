//! Presses, drags and wheels with the pointer.

use crate::app::look::Sight;
use crate::app::pointer::{NONE, Pressed};
use crate::app::{LinuxDevice, unknown};
use crate::bus::Link;
use crate::bus::fault::Fault;
use crate::roles::number as n;
use std::time::{Duration, Instant};
use stickpin_device::{
    Action, AimOptions, Button, CancellationToken, Error, ErrorCode, Hit, Landed, Performed, Result,
};
use stickpin_tree::{Handle, Rect};
use stickpin_x11desk::{
    Held, Presence, Window, X11, keyboard, picture, pings, pointer, window_manager, windows,
};
use tokio::time::{sleep, timeout};

/// Moves between the two ends of a drag: apps look for movement, not for a jump.
const STEPS: u32 = 12;

/// How long each of them takes.
const STEP: Duration = Duration::from_millis(10);

/// How long a button is down at least. GTK 4 loses one press in six of those that are let go at once.
const DOWN: Duration = Duration::from_millis(12);

/// How long an app may take to see that a button is down.
const SEEN: Duration = Duration::from_millis(500);

/// What a notch of the wheel scrolls, in pixels: between what GTK, Qt and Firefox make of it.
const NOTCH: f64 = 60.0;

/// The most notches of one command.
const NOTCHES: f64 = 200.0;

/// How long a list may take to draw itself scrolled.
const SCROLLED: Duration = Duration::from_millis(250);

/// Notches of the wheel for so many pixels: at least one for any.
fn notches(pixels: f64) -> i32 {
    if pixels == 0.0 || !pixels.is_finite() {
        return 0;
    }
    let count = (pixels.abs() / NOTCH).round().clamp(1.0, NOTCHES);
    #[expect(clippy::cast_possible_truncation, reason = "within the bound above")]
    let count = count as i32;
    if pixels < 0.0 { -count } else { count }
}

/// Waits while a button is down in an app that cannot be asked whether it has seen that.
pub(crate) async fn unseen_down(hold: Duration) {
    sleep(hold.max(DOWN)).await;
}

/// Waits while a button is down, so long that the app has seen it: on a busy machine it may come to nothing for longer
/// than a press takes, and would find both at once.
async fn down(link: &Link, hold: Duration) {
    sleep(hold.max(DOWN)).await;
    let seen = async {
        // It may answer before it takes the press that has come at the same time, but not twice.
        for _ in 0..2 {
            link.barrier().await?;
        }
        Ok::<(), Fault>(())
    };
    // Whatever it says, what is down comes up; whoever looks next is told what is wrong with it.
    drop(timeout(SEEN, seen).await);
}

impl LinuxDevice {
    /// The window that an input at a point of the screen goes to; an error when that is no window of the app, or an open
    /// pop-up takes what is sent to an element there.
    async fn own_window_at(
        &mut self,
        to: &str,
        (x, y): (f64, f64),
        target: Option<Handle>,
    ) -> Result<(Sight, Window)> {
        self.screen.x11(to).await?;
        let Some(sight) = self.sight().await? else { return Err(self.screen.unseen(to)) };
        let top = sight.x11.run(move |d| windows::top_at(d, x, y)).await?;
        let there = sight.windows.iter().find(|w| top == Some(w.frame) || top == Some(w.id)).cloned();
        match there {
            Some(window) if window.pid == self.info.pid || self.info.pid.is_none() => {
                if let Some(taker) = self.taker(&sight.windows, &window) {
                    return Err(self
                        .taken(taker, &sight.x11, &format!("what is sent to {x:.0},{y:.0}"))
                        .await?);
                }
                let at = target.and_then(|target| self.index(target));
                let held = self.held(at, &window, &sight).await?;
                let words = target.and_then(|t| self.words(t)).unwrap_or_else(|| format!("{x:.0},{y:.0}"));
                held.refusal(&words).map_or(Ok((sight, window)), Err)
            }
            Some(other) => {
                let what = sight.x11.run(move |d| windows::words_with_program(d, &other)).await?;
                Err(Error::new(ErrorCode::ElementCovered, format!("at {x:.0},{y:.0} is {what}"))
                    .hint("stickpin screenshot shows what is there"))
            }
            None => Err(Error::new(ErrorCode::ElementOffscreen, format!("no window is at {x:.0},{y:.0}"))
                .hint("stickpin screenshot shows what is there")),
        }
    }

    /// Waits until a press at a point is one of its own: two commands are never one double press.
    pub(crate) async fn apart(&self, point: (f64, f64)) {
        let wait = self.pressed.map_or(Duration::ZERO, |pressed| pressed.waits(point));
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }

    /// Presses with the pointer.
    pub(crate) async fn press_at(
        &mut self,
        action: &Action,
        cancel: &CancellationToken,
    ) -> Result<Performed> {
        let Action::Press { point: (x, y), target, button, count, modifiers, hold } = *action else {
            return Ok(Performed::default());
        };
        self.apart((x, y)).await;
        let (sight, window) = self.own_window_at("press with the pointer", (x, y), target).await?;
        let (x11, id) = (sight.x11, window.id);
        // A window manager may bring a window that is not the active one to the front.
        let through = !window.active;
        self.move_pointer(&x11, id, (x, y)).await.map_err(unknown)?;
        let held = Held::new(&x11, modifiers, button);
        x11.run(move |d| keyboard::hold(d, modifiers, true)).await.map_err(unknown)?;
        let mut done = Ok(());
        let presses = count.max(1);
        for press in 0..presses {
            done = x11.run(move |d| pointer::press(d, button)).await;
            if done.is_ok() {
                tokio::select! {
                    () = down(&self.link, hold) => {}
                    () = cancel.cancelled() => {}
                }
            }
            // Whatever happened: what is down comes up.
            let up = x11.run(move |d| pointer::release(d, button)).await;
            self.pressed = Some(Pressed { at: Instant::now(), point: (x, y) });
            let managed = through || press + 1 < presses;
            let delivered = x11.run(move |d| {
                if managed {
                    window_manager::sync(d)?;
                }
                pings::await_delivery(d, id)
            });
            let delivered = delivered.await;
            done = done.and(up).and(delivered);
            if done.is_err() || cancel.is_cancelled() {
                break;
            }
        }
        done.and(held.up().await).map_err(unknown)?;
        Ok(Performed { handled: true, ..Performed::default() })
    }

    /// Presses an element in its middle with the pointer in the place of an action; the inner error is what would get the
    /// press instead.
    pub(crate) async fn press_unless_covered(
        &mut self,
        target: Handle,
        cancel: &CancellationToken,
    ) -> Result<Result<Performed>> {
        let aim = self
            .aim_at(target, AimOptions { pointer: true, press: true, plain: false, guarded: &[] })
            .await?;
        let words = self.words(target).unwrap_or_else(|| "the element".to_owned());
        match aim.hit.refusal(&words) {
            Some(refusal) => Ok(Err(refusal)),
            None => self.press_at(&Action::press(aim.point, Some(target)), cancel).await.map(Ok),
        }
    }

    /// Presses at one point, moves, releases at another.
    pub(crate) async fn drag(
        &mut self,
        (source, from): (Option<Handle>, (f64, f64)),
        (target, to): (Option<Handle>, (f64, f64)),
    ) -> Result<Performed> {
        // What lies at the end is judged before anything is picked up: afterwards the thing itself is in the way.
        if let Some(target) = target {
            let aim = self.aim_at(target, AimOptions::default()).await?;
            match aim.hit {
                Hit::Target | Hit::Unknown => {}
                Hit::Covered { what, .. } | Hit::Held { what, .. } => {
                    let landed = Landed::Elsewhere { what, stopped: true };
                    return Ok(Performed { handled: true, landed, ..Performed::default() });
                }
                Hit::OffScreen => return Ok(Performed::default()),
            }
        }
        let (sight, window) = self.own_window_at("drag", from, source).await?;
        let (x11, id) = (sight.x11, window.id);
        self.move_pointer(&x11, id, from).await.map_err(unknown)?;
        let held = Held::new(&x11, NONE, Button::Left);
        let mut done = x11.run(|d| pointer::press(d, Button::Left)).await;
        for step in 1..=STEPS {
            if done.is_err() {
                break;
            }
            let part = f64::from(step) / f64::from(STEPS);
            let (x, y) = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            done = x11.run(move |d| pointer::move_to(d, x, y)).await;
            // As fast as a hand: toolkits tell a drag from a press by the way that the pointer goes.
            sleep(STEP).await;
        }
        let delivered = x11.run(move |d| pings::await_delivery(d, id)).await;
        done.and(delivered).and(held.up().await).map_err(unknown)?;
        x11.run(move |d| pings::await_delivery(d, id)).await.map_err(unknown)?;
        Ok(Performed { handled: true, ..Performed::default() })
    }

    /// Scrolls a container, or what is in the middle of the active window: by its scroll bar where it says how far it
    /// is, else by the wheel.
    pub(crate) async fn scroll(&mut self, target: Option<Handle>, dx: f64, dy: f64) -> Result<Performed> {
        if let Some(bars) = target.and_then(|t| self.index(t)).map(|at| self.bars(at)) {
            let mut moved = false;
            for bar in bars {
                let vertical = self.boxes_of(&bar).await?.is_some_and(|b| b.height > b.width);
                moved |= self.scroll_by(&bar, if vertical { dy } else { dx }).await?;
            }
            if moved {
                return Ok(Performed { handled: true, moved, ..Performed::default() });
            }
        }
        let area = match target {
            // A list may be longer than the pane that shows it.
            Some(target) => match self.in_sight(target).await? {
                Some(seen) => Some(seen),
                None => self.boxes(&[target]).await?.pop().flatten(),
            },
            None => self.active_window().await?.map(|(_, window)| window.content()),
        };
        let Some(area) = area else { return Err(self.screen.unseen("scroll")) };
        let (mut right, mut down, mut moved) = (notches(dx), notches(dy), false);
        loop {
            let turn = match self.wheel_at(target, area, (right != 0, down != 0)).await {
                // As far as it goes.
                Err(e) if moved && e.code == ErrorCode::ElementCovered => break,
                turn => turn?,
            };
            let (over, on) = if turn.steady { (right, down) } else { (right.signum(), down.signum()) };
            let changed = self.turn_wheel(target, area, turn.point, (over, on)).await?;
            (right, down, moved) = (right - over, down - on, moved || changed);
            if !changed || (right, down) == (0, 0) {
                break;
            }
        }
        Ok(Performed { handled: true, moved, ..Performed::default() })
    }

    /// Turns the wheel at a point; whether anything in an area around it looks different then.
    async fn turn_wheel(
        &mut self,
        target: Option<Handle>,
        area: Rect,
        (x, y): (f64, f64),
        (right, down): (i32, i32),
    ) -> Result<bool> {
        let (sight, window) = self.own_window_at("scroll", (x, y), target).await?;
        let (x11, id) = (sight.x11, window.id);
        let before = x11.run(move |d| picture::take(d, area)).await?;
        x11.run(move |d| {
            pointer::move_to(d, x, y)?;
            pointer::wheel(d, right, down)?;
            pings::await_delivery(d, id)
        })
        .await
        .map_err(unknown)?;
        // Whether anything moved shows on the screen, once it is drawn.
        let cancel = CancellationToken::new();
        self.until_changed(SCROLLED, &cancel).await?;
        let after = x11.run(move |d| picture::take(d, area)).await.map_err(unknown)?;
        Ok(before != after)
    }

    /// The scroll bars of the nearest container around an object, itself included.
    fn bars(&self, at: usize) -> Vec<String> {
        let Some(last) = &self.last else { return Vec::new() };
        let objects = &last.picture.objects;
        let pane = last.chain(at).into_iter().find(|&i| objects[i].role == n::SCROLL_PANE);
        let children = pane.map(|pane| objects[pane].children.clone()).unwrap_or_default();
        let bars = children.into_iter().filter(|&c| objects[c].role == n::SCROLL_BAR);
        bars.map(|c| objects[c].path.clone()).collect()
    }

    async fn boxes_of(&mut self, path: &str) -> Result<Option<Rect>> {
        let handle = self.ids.handle(path);
        Ok(self.boxes(&[handle]).await?.pop().flatten())
    }

    /// The window of the app that has the focus, else its topmost; with the display.
    pub(crate) async fn active_window(&mut self) -> Result<Option<(X11, Window)>> {
        let Some(sight) = self.sight().await? else { return Ok(None) };
        let pid = self.info.pid;
        let own = || sight.windows.iter().filter(|w| (w.pid == pid || pid.is_none()) && !w.popup);
        let shown = || own().filter(|w| w.presence == Presence::Shown);
        let found = own().find(|w| w.active).or_else(|| shown().next_back()).or_else(|| own().next_back());
        Ok(found.cloned().map(|window| (sight.x11.clone(), window)))
    }

    /// Moves the pointer to a point of the screen; the app has seen it when this returns.
    pub(crate) async fn point_to(&mut self, x: f64, y: f64) -> Result<()> {
        let x11 = self.screen.x11("move the pointer").await?;
        match self.active_window().await? {
            Some((_, window)) => self.move_pointer(&x11, window.id, (x, y)).await,
            None => x11.run(move |d| pointer::move_to(d, x, y)).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::pointer::DOUBLE;
    use crate::events::Heard;
    use crate::tests::peer::App;
    use std::pin::pin;
    use std::sync::Arc;

    #[test]
    fn pixels_become_notches_and_never_none() {
        assert_eq!((notches(600.0), notches(-90.0), notches(3.0), notches(0.0)), (10, -2, 1, 0));
        assert_eq!((notches(1e9), notches(f64::NAN)), (200, 0));
    }

    #[test]
    fn a_press_waits_until_it_is_no_second_one_and_only_where_it_could_be() {
        // An hour ahead: the clock of a busy machine must not decide.
        let mut last = Pressed { at: Instant::now() + Duration::from_secs(3600), point: (10.0, 10.0) };
        assert_eq!(last.waits((14.0, 6.0)), DOUBLE);
        assert_eq!(last.waits((30.0, 10.0)), Duration::ZERO);
        last.at = Instant::now().checked_sub(DOUBLE).expect("the machine has run that long");
        assert_eq!(last.waits((10.0, 10.0)), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_button_stays_down_until_the_app_has_answered_twice_and_no_longer_than_it_may_take() {
        let (app, heard) = (App::start(), Arc::new(Heard::new()));
        let link = app.link(&heard).await;
        app.hold();
        let mut held = pin!(down(&link, Duration::ZERO));
        tokio::select! {
            () = &mut held => panic!("the app has not seen it"),
            () = app.asked() => app.go_on(),
        }
        held.await;
        assert_eq!(app.calls(), 2);
        // One that hangs is given up.
        app.hold();
        timeout(SEEN * 20, down(&link, Duration::ZERO)).await.expect("it comes up");
    }
}
