//! The windows of the display: whose they are, where they are, what lies over what.

use super::window::Extents;
use crate::display::fault::Fault;
use crate::display::numbers::{PROPERTY, numbers, pixel};
use crate::display::server::Display;
use crate::display::watched::{of_root, of_window};
use crate::display::window::{Presence, Window};
use hashbrown::HashMap;
use stickpin_tree::Rect;
use x11rb::connection::Connection;
use x11rb::cookie::Cookie;
use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _, QueryClientIdsReply};
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt, EventMask, GetPropertyReply, MapState,
    Window as WindowId, WindowClass,
};
use x11rb::rust_connection::RustConnection;

/// Frames around a window that a window manager may nest.
const NESTED: usize = 8;

/// The state of a window that is minimised (ICCCM 4.1.3.1).
const ICONIC: u32 = 3;

/// What `_NET_WM_DESKTOP` says of a window that is on all of them.
const ALL_DESKTOPS: u32 = u32::MAX;

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
    pub(super) fn root_numbers(&self, property: u32) -> Result<Vec<u32>, Fault> {
        let asked = self.conn.get_property(false, self.root, property, AtomEnum::ANY, 0, PROPERTY)?;
        Ok(numbers(asked.reply()))
    }

    /// All top-level windows, the lowest first: those of the window manager's list, and what is shown without it.
    pub fn windows(&mut self) -> Result<Vec<Window>, Fault> {
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
    pub fn words_with_program(&self, window: &Window) -> Result<String, Fault> {
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
    pub fn top_at(&self, x: f64, y: f64) -> Result<Option<WindowId>, Fault> {
        let (x, y) = pixel(x, y);
        // The server looks at the shapes of windows, those for input included.
        let there = self.conn.translate_coordinates(self.root, self.root, x, y)?.reply()?;
        Ok((there.child != x11rb::NONE).then_some(there.child))
    }
}

/// An answer that is missing in a list as long as the questions: never.
struct ConnectionGone;

impl From<ConnectionGone> for x11rb::errors::ReplyError {
    fn from(_: ConnectionGone) -> Self {
        Self::ConnectionError(x11rb::errors::ConnectionError::UnknownError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
