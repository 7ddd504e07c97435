//! The windows of the display: whose they are, where they are, what lies over what, and whether they have seen what was
//! sent to them.

use super::atoms::Atoms;
use super::{Display, Fault};
use hashbrown::HashMap;
use std::time::{Duration, Instant};
use stickpin_tree::Rect;
use x11rb::connection::Connection;
use x11rb::cookie::Cookie;
use x11rb::protocol::Event;
use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _, QueryClientIdsReply};
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConfigureWindowAux, ConnectionExt, EventMask,
    GetPropertyReply, MapState, StackMode, Window as WindowId, WindowClass,
};
use x11rb::rust_connection::RustConnection;

/// Frames around a window that a window manager may nest.
const NESTED: usize = 8;

/// Longest property that is read, in units of four bytes.
const PROPERTY: u32 = 4096;

/// How long a window may take to answer a ping: after that it is taken as one that does not answer any.
const PONG: Duration = Duration::from_millis(250);

/// How long a window may take to come back when it was minimised, or to get the keyboard.
pub(super) const RESTORE: Duration = Duration::from_secs(2);

/// How long a window manager gets before it is asked again.
const NUDGE: Duration = Duration::from_millis(50);

/// The state of a window that is minimised (ICCCM 4.1.3.1).
const ICONIC: u32 = 3;

/// What `_NET_WM_DESKTOP` says of a window that is on all of them.
const ALL_DESKTOPS: u32 = u32::MAX;

/// Widths of the four edges of something around a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Extents {
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) top: u32,
    pub(crate) bottom: u32,
}

/// Whether a person could see a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It is on the screen, if nothing lies over it.
    Shown,
    /// It is minimised.
    Minimised,
    /// It is on another workspace.
    Elsewhere,
}

/// A top-level window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Window {
    /// The app's own window.
    pub(crate) id: WindowId,
    /// The child of the root that holds it: itself, or what a window manager put around it.
    pub(crate) frame: WindowId,
    /// The process that made it.
    pub(crate) pid: Option<u32>,
    /// Its title; empty if it has none.
    pub(crate) title: String,
    /// The app's own window on the screen, with the shadow that it draws around itself.
    pub(crate) area: Rect,
    /// How wide the shadow is (`_GTK_FRAME_EXTENTS`).
    pub(crate) shadow: Extents,
    /// What the window manager put around it (`_NET_FRAME_EXTENTS`).
    pub(crate) decoration: Extents,
    pub(crate) presence: Presence,
    /// A menu, a tooltip, a list that dropped down: the window manager has nothing to do with it.
    pub(crate) popup: bool,
    pub(crate) modal: bool,
    /// The window that it belongs to.
    pub(crate) transient_for: Option<WindowId>,
    /// Whether the window manager says that it has the focus.
    pub(crate) active: bool,
}

impl Window {
    /// What a person takes for the window, without the decoration of the window manager.
    pub(crate) fn content(&self) -> Rect {
        inset(self.area, self.shadow)
    }

    /// What a person takes for the window, with its title bar whoever drew it.
    pub(crate) fn whole(&self) -> Rect {
        let Rect { x, y, width, height } = self.content();
        let Extents { left, right, top, bottom } = self.decoration;
        Rect {
            x: x - f64::from(left),
            y: y - f64::from(top),
            width: width + f64::from(left + right),
            height: height + f64::from(top + bottom),
        }
    }

    /// Whether it takes the input of another window wherever it stands. A modal one that does not say whose it is takes that
    /// of all windows where the app is `alone` on its display (EWMH, `_NET_WM_STATE_MODAL`).
    pub(crate) fn blocks(&self, other: &Self, alone: bool) -> bool {
        let takes = match self.transient_for {
            Some(host) => host == other.id,
            None => alone && self.pid != other.pid && !self.popup,
        };
        self.modal && self.presence == Presence::Shown && takes
    }

    /// It in words, for messages.
    pub(crate) fn words(&self) -> String {
        match (self.popup, self.title.is_empty()) {
            (true, _) => "a pop-up window".to_owned(),
            (false, true) => "a window without a title".to_owned(),
            (false, false) => format!("the window {}", stickpin_tree::quote(&self.title)),
        }
    }
}

/// A rectangle without its edges.
fn inset(area: Rect, Extents { left, right, top, bottom }: Extents) -> Rect {
    Rect {
        x: area.x + f64::from(left),
        y: area.y + f64::from(top),
        width: (area.width - f64::from(left + right)).max(0.0),
        height: (area.height - f64::from(top + bottom)).max(0.0),
    }
}

/// Asks for what is told about windows: on the root for what window managers answer, on ours for the clipboard.
pub(super) fn watch(conn: &RustConnection, root: WindowId, own: WindowId) -> Result<(), Fault> {
    let on = |mask| ChangeWindowAttributesAux::new().event_mask(mask);
    let of_root = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::STRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE;
    conn.change_window_attributes(root, &on(of_root))?;
    conn.change_window_attributes(own, &on(EventMask::PROPERTY_CHANGE))?;
    Ok(())
}

/// The properties of the root that say which windows there are, which is active, and which workspace is shown.
fn of_root(a: &Atoms) -> [u32; 3] {
    [a._NET_CLIENT_LIST_STACKING, a._NET_ACTIVE_WINDOW, a._NET_CURRENT_DESKTOP]
}

/// The properties of a window that are read.
fn of_window(a: &Atoms) -> [u32; 9] {
    [
        a._NET_WM_NAME,
        AtomEnum::WM_NAME.into(),
        a._NET_WM_PID,
        a._GTK_FRAME_EXTENTS,
        a._NET_FRAME_EXTENTS,
        a.WM_STATE,
        a._NET_WM_STATE,
        AtomEnum::WM_TRANSIENT_FOR.into(),
        a._NET_WM_DESKTOP,
    ]
}

/// Whether an event may make other windows of those that are known.
pub(super) fn may_change(event: &Event, atoms: &Atoms) -> bool {
    match event {
        // Toolkits set others again and again.
        Event::PropertyNotify(e) => of_window(atoms).contains(&e.atom) || of_root(atoms).contains(&e.atom),
        Event::ConfigureNotify(_)
        | Event::MapNotify(_)
        | Event::UnmapNotify(_)
        | Event::DestroyNotify(_)
        | Event::ReparentNotify(_)
        | Event::CirculateNotify(_) => true,
        _ => false,
    }
}

/// What was sent along with a ping that is answered by this.
pub(super) fn pong(message: &ClientMessageEvent, atoms: &Atoms) -> Option<u32> {
    let data = message.data.as_data32();
    (message.type_ == atoms.WM_PROTOCOLS && data[0] == atoms._NET_WM_PING).then_some(data[1])
}

/// Numbers of a property.
fn numbers(reply: Result<GetPropertyReply, x11rb::errors::ReplyError>) -> Vec<u32> {
    // The window may be gone: then it has no properties.
    reply.ok().and_then(|r| Some(r.value32()?.collect())).unwrap_or_default()
}

/// The class of a program: the second of the words of `WM_CLASS`.
fn class_of(value: &[u8]) -> Option<String> {
    let class = value.split(|&b| b == 0).nth(1)?;
    Some(String::from_utf8_lossy(class).into_owned()).filter(|class| !class.is_empty())
}

fn extents(numbers: &[u32]) -> Extents {
    match *numbers {
        [left, right, top, bottom] => Extents { left, right, top, bottom },
        _ => Extents::default(),
    }
}

fn on(desktop: Option<u32>, current: Option<u32>) -> bool {
    match (desktop, current) {
        (Some(desktop), Some(current)) => desktop == current || desktop == ALL_DESKTOPS,
        _ => true,
    }
}

impl Display {
    /// Waits until a window manager is there and answers (EWMH, `_NET_REQUEST_FRAME_EXTENTS`).
    pub(super) fn await_window_manager(&mut self, deadline: Instant) -> Result<(), Fault> {
        let start = Instant::now();
        let there = self.until(deadline, |d| {
            let check = d.atoms._NET_SUPPORTING_WM_CHECK;
            Ok((!d.root_numbers(check)?.is_empty()).then_some(()))
        })?;
        while there.is_some() && Instant::now() < deadline {
            // Again and again: one that has just started may have read the first and not looked at it yet.
            self.tell_root(self.own, self.atoms._NET_REQUEST_FRAME_EXTENTS, [0; 5])?;
            let answered = self.until(Instant::now() + NUDGE, |d| {
                let asked =
                    d.conn.get_property(false, d.own, d.atoms._NET_FRAME_EXTENTS, AtomEnum::ANY, 0, 4)?;
                Ok((!numbers(asked.reply()).is_empty()).then_some(()))
            })?;
            if answered.is_some() {
                return Ok(());
            }
        }
        Err(Fault::Lost(format!("no window manager answered within {} s", start.elapsed().as_secs())))
    }

    fn root_numbers(&self, property: u32) -> Result<Vec<u32>, Fault> {
        let asked = self.conn.get_property(false, self.root, property, AtomEnum::ANY, 0, PROPERTY)?;
        Ok(numbers(asked.reply()))
    }

    /// All top-level windows, the lowest first: those of the window manager's list, and what is shown without it.
    pub(crate) fn windows(&mut self) -> Result<Vec<Window>, Fault> {
        if self.known.is_some() {
            // What happened until now has been told when this is answered: the server tells and answers in one order.
            self.sync()?;
            self.handle_events()?;
        }
        if let Some(known) = &self.known {
            return Ok(known.clone());
        }
        let (windows, told) = self.ask_windows()?;
        // What has changed since they were asked for is told, and not heard yet.
        self.known = (told && self.watches).then(|| windows.clone());
        Ok(windows)
    }

    /// The windows as the server says them, and whether all that may change about them is told from now on.
    fn ask_windows(&self) -> Result<(Vec<Window>, bool), Fault> {
        let atoms = self.atoms;
        let ask_root = |atom| self.conn.get_property(false, self.root, atom, AtomEnum::ANY, 0, PROPERTY);
        let tree = self.conn.query_tree(self.root)?;
        let [managed, active, desktop] = of_root(&atoms).map(ask_root);
        let (managed, active, desktop) = (managed?, active?, desktop?);
        let tops = tree.reply()?.children;
        // Asked before the answers that come first are read: the server does it all in one go.
        let asked = tops
            .iter()
            .map(|&top| Ok((self.conn.get_window_attributes(top)?, self.conn.get_geometry(top)?)))
            .collect::<Result<Vec<_>, Fault>>()?;
        let managed = numbers(managed.reply());
        let active = numbers(active.reply()).first().copied();
        let desktop = numbers(desktop.reply()).first().copied();

        let (mut frames, direct) = self.frames(&managed, &tops)?;
        let mut popups = Vec::new();
        for (&top, (attributes, geometry)) in tops.iter().zip(asked) {
            // Gone meanwhile.
            let (Ok(attributes), Ok(geometry)) = (attributes.reply(), geometry.reply()) else { continue };
            let holds_managed = frames.iter().any(|(_, frame)| *frame == top);
            let seen =
                attributes.map_state == MapState::VIEWABLE && attributes.class == WindowClass::INPUT_OUTPUT;
            if !holds_managed && seen && geometry.width > 1 && geometry.height > 1 {
                popups.push((top, attributes.override_redirect));
                frames.push((top, top));
            }
        }
        if self.watches {
            // Before they are asked: nothing that happens after the answers goes unheard.
            let mask = EventMask::STRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE;
            let aux = ChangeWindowAttributesAux::new().event_mask(mask);
            for &(id, _) in frames.iter().filter(|(id, _)| *id != self.own) {
                self.conn.change_window_attributes(id, &aux)?;
            }
        }
        let mut windows = self.describe(&frames, desktop)?;
        for window in &mut windows {
            window.popup = popups.iter().any(|&(id, popup)| id == window.id && popup);
            window.active = Some(window.id) == active;
        }
        let place = |window: &Window| tops.iter().position(|&top| top == window.frame);
        windows.sort_by_key(place);
        Ok((windows, direct))
    }

    /// Windows with the child of the root that holds each, and whether all stand in that directly. `tops` are the children
    /// of the root.
    fn frames(
        &self,
        managed: &[WindowId],
        tops: &[WindowId],
    ) -> Result<(Vec<(WindowId, WindowId)>, bool), Fault> {
        let mut direct = true;
        let mut out: Vec<(WindowId, WindowId)> = managed.iter().map(|&id| (id, id)).collect();
        let mut open: Vec<usize> = (0..out.len()).filter(|&i| !tops.contains(&managed[i])).collect();
        for _ in 0..NESTED {
            if open.is_empty() {
                break;
            }
            let asked =
                open.iter().map(|&i| self.conn.query_tree(out[i].1)).collect::<Result<Vec<_>, _>>()?;
            let mut next = Vec::new();
            for (i, tree) in open.into_iter().zip(asked) {
                match tree.reply() {
                    Ok(tree) if tree.parent != self.root && tree.parent != 0 => {
                        out[i].1 = tree.parent;
                        if !tops.contains(&tree.parent) {
                            next.push(i);
                        }
                    }
                    Ok(_) => {}
                    // Gone meanwhile.
                    Err(_) => out[i].1 = 0,
                }
            }
            direct &= next.is_empty();
            open = next;
        }
        out.retain(|&(_, frame)| frame != 0);
        Ok((out, direct))
    }

    /// What there is to say of each, while the workspace `current` is shown.
    fn describe(&self, frames: &[(WindowId, WindowId)], current: Option<u32>) -> Result<Vec<Window>, Fault> {
        let a = self.atoms;
        let properties = of_window(&a);
        let pids = self.ask_pids(frames.iter().map(|&(id, _)| id));
        let ask = |&(id, _): &(WindowId, WindowId)| {
            let origin = self.conn.translate_coordinates(id, self.root, 0, 0)?;
            let size = self.conn.get_geometry(id)?;
            let asked = properties.map(|p| self.conn.get_property(false, id, p, AtomEnum::ANY, 0, PROPERTY));
            Ok((origin, size, asked))
        };
        let asked = frames.iter().map(ask).collect::<Result<Vec<_>, Fault>>()?;
        let pids = self.pids(pids);
        let mut windows = Vec::with_capacity(frames.len());
        for (&(id, frame), (origin, size, asked)) in frames.iter().zip(asked) {
            let mut said = Vec::with_capacity(properties.len());
            for property in asked {
                said.push(property?.reply());
            }
            let (Ok(origin), Ok(size)) = (origin.reply(), size.reply()) else { continue };
            let mut said = said.into_iter();
            let mut next = || said.next().unwrap_or(Err(ConnectionGone.into()));
            let text = |reply: Result<GetPropertyReply, _>| {
                reply
                    .map(|r: GetPropertyReply| String::from_utf8_lossy(&r.value).into_owned())
                    .unwrap_or_default()
            };
            let (name, old_name) = (text(next()), text(next()));
            let own_pid = numbers(next()).first().copied();
            let (shadow, decoration) = (extents(&numbers(next())), extents(&numbers(next())));
            let wm_state = numbers(next()).first().copied();
            let state = numbers(next());
            let transient_for = numbers(next()).first().copied().filter(|&w| w != 0 && w != self.root);
            let minimised = wm_state == Some(ICONIC) || state.contains(&a._NET_WM_STATE_HIDDEN);
            // Window managers take what is on another workspace from the screen as they do what is minimised.
            let elsewhere = !on(numbers(next()).first().copied(), current);
            windows.push(Window {
                id,
                frame,
                pid: pids.get(&(id & !self.conn.setup().resource_id_mask)).copied().or(own_pid),
                title: if name.is_empty() { old_name } else { name },
                area: Rect {
                    x: f64::from(origin.dst_x),
                    y: f64::from(origin.dst_y),
                    width: f64::from(size.width),
                    height: f64::from(size.height),
                },
                shadow,
                decoration,
                presence: match (elsewhere, minimised) {
                    (true, _) => Presence::Elsewhere,
                    (false, true) => Presence::Minimised,
                    (false, false) => Presence::Shown,
                },
                popup: false,
                modal: state.contains(&a._NET_WM_STATE_MODAL),
                transient_for,
                active: false,
            });
        }
        Ok(windows)
    }

    /// Asks for the processes of windows; none of a server without the extension.
    fn ask_pids(
        &self,
        windows: impl Iterator<Item = WindowId>,
    ) -> Option<Cookie<'_, RustConnection, QueryClientIdsReply>> {
        let spec = |client| ClientIdSpec { client, mask: ClientIdMask::LOCAL_CLIENT_PID };
        let specs: Vec<ClientIdSpec> = windows.map(spec).collect();
        if specs.is_empty() { None } else { self.conn.res_query_client_ids(&specs).ok() }
    }

    /// The processes of windows, by the part of their ids that is their client's.
    fn pids(&self, asked: Option<Cookie<'_, RustConnection, QueryClientIdsReply>>) -> HashMap<u32, u32> {
        let mask = self.conn.setup().resource_id_mask;
        // One window that is gone makes the whole question fail; what is asked next knows it no more. The windows' own
        // word has to do then.
        let ids = asked.and_then(|asked| asked.reply().ok()).map(|r| r.ids).unwrap_or_default();
        ids.iter().filter_map(|id| Some((id.spec.client & !mask, *id.value.first()?))).collect()
    }

    /// A window of another program in words, with what that calls itself (ICCCM 4.1.2.5).
    pub(crate) fn words_with_program(&self, window: &Window) -> Result<String, Fault> {
        let class = AtomEnum::WM_CLASS;
        let asked = self.conn.get_property(false, window.id, class, AtomEnum::STRING, 0, PROPERTY)?;
        // A window that is gone by now has no name any more.
        let value = asked.reply().map(|reply| reply.value).unwrap_or_default();
        Ok(match class_of(&value) {
            Some(program) => format!("{} of {}", window.words(), stickpin_tree::quote(&program)),
            None => format!("{} of another program", window.words()),
        })
    }

    /// The child of the root that an input at this point goes to; none where only the root is.
    pub(crate) fn top_at(&self, x: f64, y: f64) -> Result<Option<WindowId>, Fault> {
        let (x, y) = pixel(x, y);
        // The server looks at the shapes of windows, those for input included.
        let there = self.conn.translate_coordinates(self.root, self.root, x, y)?.reply()?;
        Ok((there.child != x11rb::NONE).then_some(there.child))
    }

    /// Brings a window to the front, back from where it was minimised or from another workspace, and waits until it is
    /// there; false when it does not come.
    pub(crate) fn raise(&mut self, window: &Window) -> Result<bool, Fault> {
        let time = x11rb::CURRENT_TIME;
        // Source 2: like a pager, whom window managers obey.
        self.tell_root(window.id, self.atoms._NET_ACTIVE_WINDOW, [2, time, 0, 0, 0])?;
        if self.root_numbers(self.atoms._NET_SUPPORTING_WM_CHECK)?.is_empty() {
            let top = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
            self.conn.configure_window(window.frame, &top)?;
            self.conn.map_window(window.id)?;
        }
        let id = window.id;
        let deadline = Instant::now() + RESTORE;
        let there = self.until(deadline, |d| {
            let viewable = d.conn.get_window_attributes(id)?.reply();
            let viewable = viewable.is_ok_and(|a| a.map_state == MapState::VIEWABLE);
            let active = d.root_numbers(d.atoms._NET_ACTIVE_WINDOW)?.first() == Some(&id);
            Ok((viewable && active).then_some(()))
        })?;
        Ok(there.is_some())
    }

    /// Changes the size of a window's content, and waits until it has it; false when it keeps another.
    pub(crate) fn resize(&mut self, window: &Window, width: u32, height: u32) -> Result<bool, Fault> {
        let Extents { left, right, top, bottom } = window.shadow;
        let size = ConfigureWindowAux::new().width(width + left + right).height(height + top + bottom);
        self.conn.configure_window(window.id, &size)?;
        let id = window.id;
        let want = (width + left + right, height + top + bottom);
        let deadline = Instant::now() + RESTORE;
        let there = self.until(deadline, |d| {
            let now = d.conn.get_geometry(id)?.reply()?;
            Ok(((u32::from(now.width), u32::from(now.height)) == want).then_some(()))
        })?;
        Ok(there.is_some())
    }

    /// Moves a window, and waits until it is elsewhere; false when it stays.
    pub(crate) fn move_by(&mut self, window: &Window, (dx, dy): (f64, f64)) -> Result<bool, Fault> {
        let (whole, shadow) = (window.whole(), window.shadow);
        #[expect(clippy::cast_possible_truncation, reason = "a place near a screen")]
        let to = |at: f64, by: f64, shadow: u32| (at + by) as i32 - i32::try_from(shadow).unwrap_or(0);
        let place = ConfigureWindowAux::new().x(to(whole.x, dx, shadow.left)).y(to(whole.y, dy, shadow.top));
        self.conn.configure_window(window.id, &place)?;
        let (id, before) = (window.id, window.area);
        let there = self.until(Instant::now() + RESTORE, |d| {
            let now = d.windows()?.into_iter().find(|w| w.id == id);
            Ok(now.filter(|w| (w.area.x, w.area.y) != (before.x, before.y)).map(drop))
        })?;
        Ok(there.is_some())
    }

    /// Gives the keyboard to a window: ours where we have one, else by bringing the window to the front unless it is
    /// there.
    pub(crate) fn focus(&mut self, window: WindowId) -> Result<(), Fault> {
        if self.has_seat() {
            return self.focus_seat(window);
        }
        if self.root_numbers(self.atoms._NET_ACTIVE_WINDOW)?.first() == Some(&window) {
            return Ok(());
        }
        let windows = self.windows()?;
        match windows.iter().find(|w| w.id == window) {
            Some(window) if !window.popup => self.raise(&window.clone()).map(drop),
            _ => Ok(()),
        }
    }

    fn tell_root(&self, window: WindowId, what: u32, data: [u32; 5]) -> Result<(), Fault> {
        let event = ClientMessageEvent::new(32, window, what, data);
        let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
        self.conn.send_event(false, self.root, mask, event)?;
        Ok(())
    }

    /// Waits until the window manager has done with what it was told before: it holds the pointer while it looks at a
    /// press, and one that follows too soon can get lost. It answers a question in the order of its events (EWMH,
    /// `_NET_REQUEST_FRAME_EXTENTS`); one that answers none gets the time that an answer takes.
    pub(crate) fn managed(&mut self) -> Result<(), Fault> {
        self.managed = false;
        self.tell_root(self.own, self.atoms._NET_REQUEST_FRAME_EXTENTS, [0; 5])?;
        if self.until(Instant::now() + PONG, |d| Ok(d.managed.then_some(())))?.is_none() {
            tracing::debug!("no answer of a window manager");
        }
        Ok(())
    }

    /// Waits until the app has read all input that was sent to its windows before: it answers a ping (EWMH,
    /// `_NET_WM_PING`) in the order of its events. One that answers none gets the time that an answer takes.
    pub(crate) fn delivered(&mut self, window: WindowId) -> Result<(), Fault> {
        let sent = self.ping(window)?;
        if !self.ponged(sent)? {
            tracing::debug!(window, "no answer to a ping");
        }
        Ok(())
    }

    /// Asks a window for an answer in the order of its events, which is known by the number that comes back.
    pub(crate) fn ping(&mut self, window: WindowId) -> Result<u32, Fault> {
        self.sync()?;
        self.pongs.clear();
        self.pinged = self.pinged.wrapping_add(1).max(1);
        // Apps send back what they get: a number of ours tells it from the pings of the window manager, which are times.
        let sent = self.own ^ self.pinged.rotate_right(8);
        let data = [self.atoms._NET_WM_PING, sent, window, 0, 0];
        let event = ClientMessageEvent::new(32, window, self.atoms.WM_PROTOCOLS, data);
        self.conn.send_event(false, window, EventMask::NO_EVENT, event)?;
        Ok(sent)
    }

    /// Waits for that answer; false where it has not come in the time that one takes.
    pub(crate) fn ponged(&mut self, sent: u32) -> Result<bool, Fault> {
        let answered = self.until(Instant::now() + PONG, |d| Ok(d.pongs.contains(&sent).then_some(())))?;
        Ok(answered.is_some())
    }

    /// Whether a window is there, and says that it answers pings.
    pub(crate) fn answers_pings(&self, window: WindowId) -> Result<bool, Fault> {
        let (name, kind) = (self.atoms.WM_PROTOCOLS, AtomEnum::ATOM);
        let asked = self.conn.get_property(false, window, name, kind, 0, PROPERTY)?;
        Ok(numbers(asked.reply()).contains(&self.atoms._NET_WM_PING))
    }
}

/// An answer that is missing in a list as long as the questions: never.
struct ConnectionGone;

impl From<ConnectionGone> for x11rb::errors::ReplyError {
    fn from(_: ConnectionGone) -> Self {
        Self::ConnectionError(x11rb::errors::ConnectionError::UnknownError)
    }
}

/// The pixel of a point.
pub(super) fn pixel(x: f64, y: f64) -> (i16, i16) {
    // `as` keeps within the range.
    (x.floor() as i16, y.floor() as i16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window() -> Window {
        Window {
            id: 1,
            frame: 2,
            pid: Some(3),
            title: "Calc\u{202e}".into(),
            area: Rect { x: 100.0, y: 50.0, width: 400.0, height: 300.0 },
            shadow: Extents { left: 10, right: 12, top: 8, bottom: 20 },
            decoration: Extents { left: 1, right: 1, top: 20, bottom: 5 },
            presence: Presence::Shown,
            popup: false,
            modal: false,
            transient_for: None,
            active: false,
        }
    }

    #[test]
    fn a_window_is_its_content_and_what_is_around_it() {
        let w = window();
        assert_eq!(w.content(), Rect { x: 110.0, y: 58.0, width: 378.0, height: 272.0 });
        assert_eq!(w.whole(), Rect { x: 109.0, y: 38.0, width: 380.0, height: 297.0 });
        let tiny = Window { area: Rect { x: 0.0, y: 0.0, width: 5.0, height: 5.0 }, ..w };
        assert_eq!((tiny.content().width, tiny.content().height), (0.0, 0.0));
    }

    #[test]
    fn a_modal_window_takes_the_input_of_the_one_that_it_belongs_to() {
        let main = Window { id: 9, ..window() };
        let dialog = |pid, transient_for| Window { modal: true, pid, transient_for, ..window() };
        let blocks = |dialog: &Window| (dialog.blocks(&main, false), dialog.blocks(&main, true));
        assert_eq!(blocks(&dialog(Some(3), Some(9))), (true, true));
        assert_eq!(blocks(&dialog(Some(4), Some(8))), (false, false));
        assert_eq!(
            blocks(&dialog(Some(4), None)),
            (false, true),
            "of a portal that was not told whose it is"
        );
        assert_eq!(blocks(&dialog(Some(3), None)), (false, false), "the app knows its own");
        assert_eq!(blocks(&Window { modal: false, ..dialog(Some(4), Some(9)) }), (false, false));
        let minimised = Window { presence: Presence::Minimised, ..dialog(Some(4), Some(9)) };
        assert_eq!(blocks(&minimised), (false, false));
    }

    #[test]
    fn titles_are_escaped_and_popups_have_none() {
        assert!(!window().words().contains('\u{202e}'));
        assert_eq!(Window { popup: true, ..window() }.words(), "a pop-up window");
        assert_eq!(Window { title: String::new(), ..window() }.words(), "a window without a title");
    }

    #[test]
    fn workspaces_are_compared_only_where_both_are_known() {
        assert!(
            on(Some(1), Some(1)) && on(Some(ALL_DESKTOPS), Some(0)) && on(None, Some(1)) && on(Some(1), None)
        );
        assert!(!on(Some(1), Some(0)));
    }

    #[test]
    fn points_outside_are_the_farthest_pixel() {
        assert_eq!(pixel(1.9, -0.5), (1, -1));
        assert_eq!(pixel(1e9, f64::NAN), (i16::MAX, 0));
    }
}
