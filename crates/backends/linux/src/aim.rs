//! Where elements are, bringing them into view, and what an input at a point would reach.
//!
//! Two judges: the X server says which window an input goes to, the app says which of its elements. What is pressed by
//! its own action needs only the first, because nothing else of the app can receive that.

use crate::bus::{Args, COMPONENT, Call, Cursor, Fault, PROPERTIES, VALUE};
use crate::capture::ask::{SCREEN, reference};
use crate::device::LinuxDevice;
use crate::display::{Window, X11};
use crate::extents::{self, common, has};
use crate::model::{Interfaces, Object, Picture};
use crate::roles::{self, number as n};
use hashbrown::HashMap;
use std::time::Duration;
use stickpin_kernel::device::{Aim, AimOptions, Hit};
use stickpin_kernel::{ErrorCode, Result};
use stickpin_tree::{Handle, Rect, quote};
use tokio::time::{Instant, sleep};

/// Scroll until it can be seen, wherever that is (`AtspiScrollType`).
const ANYWHERE: u32 = 6;

/// How deep elements may lie in one another.
const DEEP: usize = 64;

/// How often an element is followed that moves away when the pointer arrives.
const FOLLOWED: usize = 4;

/// How long what is nowhere on the screen may take to come there, each time.
const LATE: std::time::Duration = std::time::Duration::from_millis(60);

/// How often a container is scrolled until an element is in view.
const ROUNDS: usize = 12;

/// How long an app may take to lay out what the wheel scrolled, and how often it is asked.
const SCROLLED: Duration = Duration::from_millis(400);
const FRAME: Duration = Duration::from_millis(16);

/// What lies where on the screen, as the X server says it.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) x11: X11,
    /// The lowest first.
    pub(crate) windows: Vec<Window>,
}

/// A place of an element on the screen.
#[derive(Debug)]
struct Placed {
    rect: Rect,
    /// What of it its scrolling containers show.
    seen: Option<Rect>,
    /// What has to be added to positions of this toolkit there.
    offset: (f64, f64),
}

/// Indices from an object up to its window, itself first.
pub(crate) fn chain(picture: &Picture, at: usize) -> Vec<usize> {
    let mut above = vec![0; picture.objects.len()];
    for (parent, object) in picture.objects.iter().enumerate() {
        for &child in &object.children {
            above[child] = parent;
        }
    }
    let mut out = vec![at];
    while let Some(&last) = out.last() {
        let parent = above[last];
        if parent == 0 || out.len() > DEEP {
            break;
        }
        out.push(parent);
    }
    out
}

/// Roles that show a part of what they hold.
fn scrolls(object: &Object) -> bool {
    object.role == n::SCROLL_PANE
}

pub(crate) fn rect(c: &mut Cursor<'_>) -> std::result::Result<Option<Rect>, Fault> {
    c.fields()?;
    let [x, y, width, height] = [c.int()?, c.int()?, c.int()?, c.int()?].map(f64::from);
    Ok((width > 0.0 && height > 0.0).then_some(Rect { x, y, width, height }))
}

fn shifted(rect: Rect, (x, y): (f64, f64)) -> Rect {
    Rect { x: rect.x + x, y: rect.y + y, ..rect }
}

impl LinuxDevice {
    /// What was read last of the object behind a handle, by its index.
    pub(crate) fn index(&self, handle: Handle) -> Option<usize> {
        let path = self.path(handle).ok()?;
        self.last.as_ref()?.picture.objects.iter().position(|object| *object.path == *path)
    }

    /// The windows of the display, where there is one.
    pub(crate) async fn sight(&mut self) -> Result<Option<Sight>> {
        let Some(x11) = self.screen.x11_if_any().await? else { return Ok(None) };
        let windows = x11.run(|d| d.windows()).await?;
        Ok(Some(Sight { x11, windows }))
    }

    /// What the toolkit says of where these are; none for what has no place or is gone.
    async fn said(&mut self, paths: &[String]) -> Result<Vec<Option<Rect>>> {
        let call = |path| Call {
            path,
            interface: COMPONENT,
            member: "GetExtents",
            args: Args::new().unsigned(SCREEN),
        };
        // What we made up, the app cannot be asked about.
        let real = |path: &&String| path.starts_with('/') && !path.ends_with(crate::tables::ROW);
        let calls: Vec<Call<'_>> = paths.iter().filter(real).map(|path| call(path.as_str())).collect();
        let mut answers = self.link.calls(&calls).await.into_iter();
        let mut out = Vec::with_capacity(paths.len());
        for path in paths {
            out.push(match real(&path).then(|| answers.next()).flatten() {
                Some(Ok(answer)) => rect(&mut answer.body()).ok().flatten(),
                Some(Err(fault @ (Fault::Closed(_) | Fault::Silent(_)))) => {
                    return Err(self.failed(fault).await);
                }
                Some(Err(_)) | None => None,
            });
        }
        Ok(out)
    }

    /// Where elements are on the screen.
    pub(crate) async fn boxes(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        let known: Vec<Option<String>> =
            handles.iter().map(|h| self.path(*h).ok().map(|path| path.to_string())).collect();
        let paths: Vec<String> = known.iter().flatten().cloned().collect();
        let mut said = self.said(&paths).await?.into_iter();
        let mut rects: Vec<Option<Rect>> =
            known.iter().map(|path| path.as_ref().and_then(|_| said.next().flatten())).collect();
        if extents::is_relative(self.link.toolkit)
            && let Some(sight) = self.sight().await?
        {
            let mut offsets = HashMap::new();
            for (handle, rect) in handles.iter().zip(&mut rects) {
                let (Some(at), Some(rect)) = (self.index(*handle), rect.as_mut()) else { continue };
                *rect = shifted(*rect, self.offset(at, &sight, &mut offsets).await?);
            }
        }
        Ok(rects)
    }

    /// What has to be added to what the toolkit says of an object.
    async fn offset(
        &mut self,
        at: usize,
        sight: &Sight,
        known: &mut HashMap<usize, (f64, f64)>,
    ) -> Result<(f64, f64)> {
        let Some(last) = &self.last else { return Ok((0.0, 0.0)) };
        let chain = chain(&last.picture, at);
        let top = *chain.last().unwrap_or(&at);
        let pid = self.info.pid;
        let popups = sight.windows.iter().any(|w| w.popup && w.pid == pid);
        if !popups && let Some(&offset) = known.get(&top) {
            return Ok(offset);
        }
        let asked: Vec<usize> = if popups { chain.iter().rev().copied().collect() } else { vec![top] };
        let title = last.picture.objects[top].name.clone();
        let paths: Vec<String> = asked.iter().map(|&i| last.picture.objects[i].path.clone()).collect();
        let said = self.said(&paths).await?;
        for inner in said.iter().skip(1).flatten() {
            let size = (inner.width, inner.height);
            if let Some(window) = extents::popup_of(&sight.windows, pid, size) {
                let (x, y) = extents::origin(window, size);
                return Ok((x - inner.x, y - inner.y));
            }
        }
        let Some(frame) = said.first().copied().flatten() else { return Ok((0.0, 0.0)) };
        let size = (frame.width, frame.height);
        let offset =
            extents::window_of(&sight.windows, pid, &title, Some(size)).map_or((0.0, 0.0), |window| {
                let (x, y) = extents::origin(window, size);
                (x - frame.x, y - frame.y)
            });
        known.insert(top, offset);
        Ok(offset)
    }

    /// Where an element is, and what of it can be seen between the containers that it scrolls in.
    async fn placed(&mut self, at: usize, sight: Option<&Sight>) -> Result<Option<Placed>> {
        let Some(last) = &self.last else { return Ok(None) };
        let objects = &last.picture.objects;
        let path = objects[at].path.clone();
        let around = chain(&last.picture, at).into_iter().skip(1).filter(|&i| scrolls(&objects[i]));
        let mut paths: Vec<String> = around.map(|i| objects[i].path.clone()).collect();
        paths.insert(0, path);
        let said = self.said(&paths).await?;
        let Some(&Some(rect)) = said.first() else { return Ok(None) };
        let offset = match sight {
            Some(sight) if extents::is_relative(self.link.toolkit) => {
                self.offset(at, sight, &mut HashMap::new()).await?
            }
            _ => (0.0, 0.0),
        };
        tracing::debug!(?paths, ?said, ?offset, "where it is, and the containers that it scrolls in");
        let seen = said[1..].iter().flatten().try_fold(rect, |seen, pane| common(seen, *pane));
        Ok(Some(Placed { rect: shifted(rect, offset), seen: seen.map(|seen| shifted(seen, offset)), offset }))
    }

    /// Brings an element into view, moves the pointer there if asked, and says what an input there would reach.
    pub(crate) async fn aim_at(&mut self, handle: Handle, options: AimOptions) -> Result<Aim> {
        let mut round = 1;
        loop {
            let (aim, moved) = self.aim_once(handle, options).await?;
            let late = aim.hit == Hit::OffScreen;
            if !(moved || late) || round == FOLLOWED {
                return Ok(aim);
            }
            if late {
                // A window that has just opened: the app, the server and the window manager do not agree yet.
                tokio::time::sleep(LATE).await;
            }
            round += 1;
        }
    }

    /// As [`Self::aim_at`], once; and whether the element has moved away from the pointer when that arrived.
    async fn aim_once(&mut self, handle: Handle, options: AimOptions) -> Result<(Aim, bool)> {
        let Some(at) = self.index(handle) else { return Err(crate::device::gone()) };
        let off_screen = |rect: Rect| (Aim { rect, point: rect.center(), hit: Hit::OffScreen }, false);
        let mut sight = self.sight().await?;
        let mut placed = self.placed(at, sight.as_ref()).await?;
        if placed.as_ref().is_none_or(|p| p.seen != Some(p.rect)) {
            placed = self.scroll_into_view(at, sight.as_ref(), placed).await?;
        }
        let Some(Placed { rect, seen, offset }) = placed else { return Ok(off_screen(Rect::default())) };
        let Some(seen) = seen else { return Ok(off_screen(rect)) };
        let by_action = options.press && self.presses_by_action(at);
        let Some(look) = sight.take() else {
            // Nobody knows the windows: an action of its own reaches it all the same.
            return Ok((Aim { rect, point: seen.center(), hit: Hit::Target }, false));
        };
        let Some(window) = self.window_of(at, &look.windows).await? else {
            if look.windows.iter().any(|w| w.pid == self.info.pid) || by_action {
                return Ok((Aim { rect, point: seen.center(), hit: Hit::Target }, false));
            }
            return Err(self.screen.unseen("find the window of the element"));
        };
        let mut look = look;
        if window.presence != crate::display::Presence::Shown {
            self.screen.present(&window).await?;
            look.windows = look.x11.run(|d| d.windows()).await?;
        }
        let window = look.windows.iter().find(|w| w.id == window.id).cloned().unwrap_or(window);
        let Some(visible) = common(seen, window.area) else { return Ok(off_screen(rect)) };
        let screen = look.x11.run(|d| Ok(d.size)).await?;
        let screen = Rect { x: 0.0, y: 0.0, width: f64::from(screen.0), height: f64::from(screen.1) };
        let Some(visible) = common(visible, screen) else { return Ok(off_screen(rect)) };
        let point = visible.center();
        let mut hit = self.window_hit(&window, point, &look).await?;
        // A pop-up is a window of its own: the app's window is asked about what lies under it.
        let inside = !by_action && !window.popup;
        if hit == Hit::Target && inside {
            hit = self.inner_hit(at, point, offset).await?;
        }
        if hit == Hit::Target && options.pointer && !by_action {
            self.move_pointer(&look.x11, window.id, point).await?;
            // Its arrival may have shown or moved something.
            hit = match self.placed(at, Some(&look)).await? {
                Some(now) if has(now.rect, point) => {
                    let again = self.window_hit(&window, point, &look).await?;
                    if again == Hit::Target && inside {
                        self.inner_hit(at, point, now.offset).await?
                    } else {
                        again
                    }
                }
                now => {
                    let rect = now.map(|now| now.rect).unwrap_or_default();
                    return Ok((Aim { rect, point, hit: Hit::OffScreen }, true));
                }
            };
        }
        Ok((Aim { rect, point, hit }, false))
    }

    /// Moves the pointer; the app has seen it when this returns.
    pub(crate) async fn move_pointer(&self, x11: &X11, window: u32, (x, y): (f64, f64)) -> Result<()> {
        x11.run(move |d| {
            d.move_to(x, y)?;
            d.delivered(window)
        })
        .await
    }

    /// The X window that shows an object: its pop-up, or its top-level window.
    pub(crate) async fn window_of(&mut self, at: usize, windows: &[Window]) -> Result<Option<Window>> {
        let Some(last) = &self.last else { return Ok(None) };
        let chain: Vec<&Object> =
            chain(&last.picture, at).into_iter().map(|i| &last.picture.objects[i]).collect();
        let Some(top) = chain.last() else { return Ok(None) };
        let title = top.name.clone();
        let popups = windows.iter().any(|w| w.popup && w.pid == self.info.pid);
        let paths: Vec<String> = match popups {
            true => chain.iter().rev().map(|o| o.path.clone()).collect(),
            false => vec![top.path.clone()],
        };
        let said = self.said(&paths).await?;
        let size = |rect: &Option<Rect>| rect.map(|r| (r.width, r.height));
        let pid = self.info.pid;
        if popups {
            // Inside out: what a pop-up shows is in the tree of the window that it belongs to, or a window of its own.
            let relative = extents::is_relative(self.link.toolkit);
            let fits = said.iter().flatten().find_map(|rect| {
                let popup = extents::popup_of(windows, pid, (rect.width, rect.height));
                popup.filter(|popup| relative || common(*rect, popup.area) == Some(*rect))
            });
            if let Some(popup) = fits {
                return Ok(Some(popup.clone()));
            }
        }
        let size = said.first().and_then(size);
        Ok(extents::window_of(windows, pid, &title, size).cloned())
    }

    /// Whether an input at a point goes to this window. On a display of the session's own, a window that merely lies in
    /// the way is no hindrance: the right one is brought to the front, as a person would.
    async fn window_hit(&mut self, window: &Window, (x, y): (f64, f64), look: &Sight) -> Result<Hit> {
        let top_at = move |d: &mut crate::display::Display| d.top_at(x, y);
        // A modal dialog takes the input of the whole window, wherever it stands.
        let shown = |w: &&Window| w.presence == crate::display::Presence::Shown;
        let modal = |w: &&Window| w.modal && w.transient_for == Some(window.id);
        if let Some(dialog) = look.windows.iter().filter(shown).find(modal) {
            return Ok(Hit::Covered { by: None, what: dialog.words() });
        }
        let mut raised = !self.screen.is_own() || window.popup;
        loop {
            let top = look.x11.run(top_at).await?;
            if top == Some(window.frame) || top == Some(window.id) {
                return Ok(Hit::Target);
            }
            let windows = look.x11.run(|d| d.windows()).await?;
            let over = windows.iter().find(|w| top == Some(w.frame) || top == Some(w.id));
            let blocks =
                over.is_none_or(|over| over.popup || over.modal || over.transient_for == Some(window.id));
            if raised || blocks {
                let what = over.map_or_else(|| "a window of another program".to_owned(), Window::words);
                return Ok(if top.is_none() { Hit::OffScreen } else { Hit::Covered { by: None, what } });
            }
            raised = true;
            let window = window.clone();
            look.x11.run(move |d| d.raise(&window).map(drop)).await?;
        }
    }

    /// Whether an input at a point of the app reaches the object: the app is asked what it has there, from the window
    /// down.
    async fn inner_hit(&mut self, at: usize, point: (f64, f64), offset: (f64, f64)) -> Result<Hit> {
        let Some(last) = &self.last else { return Ok(Hit::Target) };
        let above = chain(&last.picture, at);
        let Some(&top) = above.last() else { return Ok(Hit::Target) };
        let top = last.picture.objects[top].path.clone();
        let Some(path) = self.deepest(&top, point, offset).await? else { return Ok(Hit::Target) };
        let Some(last) = &self.last else { return Ok(Hit::Target) };
        let objects = &last.picture.objects;
        // What was not read cannot be seen: toolkits also answer with what lies hidden there.
        let Some(there) = objects.iter().position(|o| o.path == path) else { return Ok(Hit::Target) };
        let target = &objects[at];
        let labels = |o: &Object| o.labelled_by.contains(&path) || o.name == objects[there].name;
        let inside = chain(&last.picture, there).contains(&at);
        if inside || above.contains(&there) || !objects[there].shown || labels(target) {
            return Ok(Hit::Target);
        }
        let object = &objects[there];
        let what = format!("{} {}", roles::tag(object.role), quote(&object.name));
        let by = Some(Handle { scope: crate::capture::tree::APP, id: self.ids.id(&path) });
        Ok(Hit::Covered { by, what })
    }

    /// The innermost object at a point of the screen, from this one down; none when it answers nothing.
    async fn deepest(&mut self, from: &str, point: (f64, f64), offset: (f64, f64)) -> Result<Option<String>> {
        #[expect(clippy::cast_possible_truncation, reason = "a point of a screen")]
        let (x, y) = ((point.0 - offset.0) as i32, (point.1 - offset.1) as i32);
        let mut path = from.to_owned();
        let mut found = None;
        for _ in 0..DEEP {
            let args = Args::new().int(x).int(y).unsigned(SCREEN);
            let next = match self.link.call(&path, COMPONENT, "GetAccessibleAtPoint", args).await {
                Ok(answer) => reference(&mut answer.body()).ok().map(|(_, path)| path),
                Err(Fault::Vanished | Fault::Unknown | Fault::Refused(_) | Fault::Corrupt(_)) => None,
                Err(fault) => return Err(self.failed(fault).await),
            };
            match next {
                Some(next) if !next.is_empty() && !next.ends_with("/null") && next != path => {
                    path.clone_from(&next);
                    found = Some(next);
                }
                _ => break,
            }
        }
        Ok(found)
    }

    /// Scrolls until an element can be seen, by the toolkit's own means.
    async fn scroll_into_view(
        &mut self,
        at: usize,
        sight: Option<&Sight>,
        before: Option<Placed>,
    ) -> Result<Option<Placed>> {
        let Some(last) = &self.last else { return Ok(before) };
        let path = last.picture.objects[at].path.clone();
        let args = Args::new().unsigned(ANYWHERE);
        match self.link.call(&path, COMPONENT, "ScrollTo", args).await {
            Ok(_) | Err(Fault::Vanished | Fault::Unknown | Fault::Refused(_) | Fault::Corrupt(_)) => {}
            Err(fault) => return Err(self.failed(fault).await),
        }
        let mut placed = self.placed(at, sight).await?;
        for _ in 0..ROUNDS {
            let Some(now) = &placed else { break };
            if now.seen == Some(now.rect) || !self.nudge(at, now.rect, now.offset).await? {
                break;
            }
            let next = self.placed(at, sight).await?;
            let moved = next.as_ref().map(|p| p.rect) != Some(now.rect);
            placed = next;
            if !moved {
                break;
            }
        }
        if sight.is_some() {
            placed = self.wheel_into_view(at, sight, placed).await?;
        }
        Ok(placed)
    }

    /// The same with the wheel: the scroll bars of GTK 4 say nothing of how far they are.
    async fn wheel_into_view(
        &mut self,
        at: usize,
        sight: Option<&Sight>,
        mut placed: Option<Placed>,
    ) -> Result<Option<Placed>> {
        for _ in 0..ROUNDS {
            let Some(now) = placed.as_ref().filter(|now| now.seen != Some(now.rect)) else { break };
            let Some((pane, (dx, dy))) = self.pane_away(at, now.rect, now.offset).await? else { break };
            let before = now.rect;
            match self.scroll(Some(pane), dx, dy).await {
                Ok(_) => {}
                Err(e) if e.code == ErrorCode::BackendLost => return Err(e),
                // A pane that the wheel does not reach is one that cannot be scrolled, which is what is said then.
                Err(_) => break,
            }
            let until = Instant::now() + SCROLLED;
            loop {
                placed = self.placed(at, sight).await?;
                if placed.as_ref().is_none_or(|now| now.rect != before) {
                    break;
                }
                if Instant::now() >= until {
                    return Ok(placed);
                }
                sleep(FRAME).await;
            }
        }
        Ok(placed)
    }

    /// The innermost scrolling container that does not show the whole of a place, and how far away that is.
    async fn pane_away(
        &mut self,
        at: usize,
        rect: Rect,
        offset: (f64, f64),
    ) -> Result<Option<(Handle, (f64, f64))>> {
        let Some(last) = &self.last else { return Ok(None) };
        let objects = &last.picture.objects;
        let panes = chain(&last.picture, at).into_iter().skip(1).filter(|&i| scrolls(&objects[i]));
        let panes: Vec<String> = panes.map(|i| objects[i].path.clone()).collect();
        let views = self.said(&panes).await?;
        let away = |view: Rect| (rect.center().0 - view.center().0, rect.center().1 - view.center().1);
        let beyond = |(dx, dy): (f64, f64), view: Rect| {
            let over =
                |away: f64, size: f64, room: f64| if away.abs() * 2.0 + size > room { away } else { 0.0 };
            (over(dx, rect.width, view.width), over(dy, rect.height, view.height))
        };
        let mut found = panes.iter().zip(views).filter_map(|(path, view)| {
            let view = shifted(view?, offset);
            (common(view, rect) != Some(rect)).then(|| (path, beyond(away(view), view)))
        });
        let found = found.next().map(|(path, by)| (path.clone(), by));
        Ok(found.map(|(path, by)| (Handle { scope: crate::capture::tree::APP, id: self.ids.id(&path) }, by)))
    }

    /// Moves the scroll bars around an element so that it comes to the middle; false when none moves.
    async fn nudge(&mut self, at: usize, rect: Rect, offset: (f64, f64)) -> Result<bool> {
        let Some(last) = &self.last else { return Ok(false) };
        let objects = &last.picture.objects;
        let panes = chain(&last.picture, at).into_iter().skip(1).filter(|&i| scrolls(&objects[i]));
        let bars = |pane: usize| -> Vec<String> {
            let children = objects[pane].children.iter().map(|&c| &objects[c]);
            let bars = children.filter(|o| o.role == n::SCROLL_BAR && o.has(Interfaces::VALUE));
            bars.map(|o| o.path.clone()).collect()
        };
        let panes: Vec<(String, Vec<String>)> =
            panes.map(|pane| (objects[pane].path.clone(), bars(pane))).collect();
        for (pane, bars) in panes {
            let mut paths = vec![pane];
            paths.extend(bars.iter().cloned());
            let said = self.said(&paths).await?;
            let Some(Some(view)) = said.first().copied() else { continue };
            let view = shifted(view, offset);
            if common(view, rect) == Some(rect) {
                continue;
            }
            let away = (rect.center().0 - view.center().0, rect.center().1 - view.center().1);
            let mut moved = false;
            for (bar, at) in bars.iter().zip(&said[1..]) {
                let Some(at) = at else { continue };
                let by = if at.height > at.width { away.1 } else { away.0 };
                moved |= self.scroll_by(bar, by).await?;
            }
            if moved {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves a scroll bar by so many pixels of its content; false when it stays where it was.
    pub(crate) async fn scroll_by(&mut self, bar: &str, by: f64) -> Result<bool> {
        if by.abs() < 1.0 {
            return Ok(false);
        }
        let Some(before) = self.number(bar).await? else { return Ok(false) };
        let args = Args::new().text(VALUE).text("CurrentValue").variant_double(before + by);
        match self.link.call(bar, PROPERTIES, "Set", args).await {
            Ok(_) | Err(Fault::Vanished | Fault::Unknown | Fault::Refused(_) | Fault::Corrupt(_)) => {}
            Err(fault) => return Err(self.failed(fault).await),
        }
        Ok(self.number(bar).await?.is_some_and(|after| (after - before).abs() > f64::EPSILON))
    }

    async fn number(&mut self, path: &str) -> Result<Option<f64>> {
        let asked = [crate::bus::property(path, VALUE, "CurrentValue")];
        match self.link.calls(&asked).await.pop() {
            Some(Ok(answer)) => Ok(answer.body().variant_number().ok().flatten()),
            Some(Err(fault @ (Fault::Closed(_) | Fault::Silent(_)))) => Err(self.failed(fault).await),
            _ => Ok(None),
        }
    }

    /// The innermost element at a point of the screen.
    pub(crate) async fn element_there(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        let Some(sight) = self.sight().await? else {
            return Err(self.screen.unseen("tell what is at a point"));
        };
        if self.last.is_none() {
            self.look(&[]).await?;
        }
        let top = sight.x11.run(move |d| d.top_at(x, y)).await?;
        let there = sight.windows.iter().find(|w| top == Some(w.frame) || top == Some(w.id)).cloned();
        let Some(window) = there.filter(|w| w.pid == self.info.pid) else { return Ok(None) };
        let Some(last) = &self.last else { return Ok(None) };
        let tops = last.picture.root().children.clone();
        for at in tops {
            if self.window_of(at, &sight.windows).await?.is_none_or(|w| w.id != window.id && !window.popup) {
                continue;
            }
            let offset = match self.placed(at, Some(&sight)).await? {
                Some(placed) if window.popup || has(placed.rect, (x, y)) => placed.offset,
                _ => continue,
            };
            let Some(last) = &self.last else { return Ok(None) };
            let path = last.picture.objects[at].path.clone();
            if let Some(found) = self.deepest(&path, (x, y), offset).await? {
                let known = |d: &Self| {
                    let picture = &d.last.as_ref()?.picture;
                    picture.objects.iter().position(|o| o.path == found)
                };
                if known(self).is_none() {
                    self.look(&[]).await?;
                }
                return Ok(
                    known(self).map(|_| Handle { scope: crate::capture::tree::APP, id: self.ids.id(&found) })
                );
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Toolkit;

    #[test]
    fn the_way_up_ends_at_the_window() {
        let object = |children: &[usize]| Object { children: children.to_vec(), ..Object::default() };
        let objects = vec![object(&[1, 4]), object(&[2]), object(&[3]), object(&[]), object(&[])];
        let picture = Picture { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(chain(&picture, 3), [3, 2, 1]);
        assert_eq!(chain(&picture, 4), [4]);
    }

    #[test]
    fn a_way_up_in_a_circle_ends() {
        let object = |children: &[usize]| Object { children: children.to_vec(), ..Object::default() };
        let objects = vec![object(&[]), object(&[2]), object(&[1])];
        let picture = Picture { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert!(chain(&picture, 1).len() <= DEEP + 2);
    }
}
