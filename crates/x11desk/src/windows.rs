//! The windows of the display: their processes, positions and stacking order.

use crate::display::{Display, answer, numbers, pixel};
use crate::error::X11Result;
use crate::window::{Extents, Visibility, Window, pixels};
use hashbrown::HashMap;
use x11rb::connection::Connection;
use x11rb::properties::WmClass;
use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt, MapState, Window as WindowId, WindowClass};

/// The maximum number of windows that are searched from a window outward: toolkits and window
/// managers nest windows.
const NESTED: usize = 32;

/// The ICCCM state of a minimized window (4.1.3.1).
const ICONIC: u32 = 3;

/// The `_NET_WM_DESKTOP` value of a window on all workspaces.
const ALL_DESKTOPS: u32 = u32::MAX;

fn extents(numbers: &[u32]) -> Extents {
    let [left, right, top, bottom] = numbers.try_into().unwrap_or_default();
    Extents { left, right, top, bottom }
}

fn is_on(desktop: Option<u32>, current: Option<u32>) -> bool {
    desktop.zip(current).is_none_or(|(desktop, current)| [current, ALL_DESKTOPS].contains(&desktop))
}

/// Returns all top-level windows, lowest first: those that the window manager lists, and others
/// that are shown.
///
/// # Errors
/// Returns `Lost` when the connection is lost.
pub fn list_windows(d: &mut Display) -> X11Result<Vec<Window>> {
    // All requests of a step are sent before its first reply is read, to save round trips.
    let a = d.atoms;
    let tops = d.conn.query_tree(d.root)?;
    let asked = [a._NET_CLIENT_LIST_STACKING, a._NET_ACTIVE_WINDOW, a._NET_CURRENT_DESKTOP];
    let asked = asked.map(|property| d.property(d.root, property));
    let tops = tops.reply()?.children;
    let [managed, active, desktop] = asked.map(numbers);
    let (active, desktop) = (active.first().copied(), desktop.first().copied());
    let asked = tops
        .iter()
        .map(|&top| Ok((d.conn.get_window_attributes(top)?, d.conn.get_geometry(top)?)))
        .collect::<X11Result<Vec<_>>>()?;
    let window =
        |id, frame, popup| Window { id, frame, popup, active: Some(id) == active, ..Window::default() };
    // A window that has gone has no frame.
    let framed = |&id: &WindowId| Some(window(id, path(d, id).find(|at| tops.contains(at))?, false));
    let mut windows: Vec<Window> = managed.iter().filter_map(framed).collect();
    for (&top, (attributes, geometry)) in tops.iter().zip(asked) {
        // Skip a window that has gone meanwhile.
        let (Ok(attributes), Ok(geometry)) = (attributes.reply(), geometry.reply()) else { continue };
        let holds_managed = windows.iter().any(|window| window.frame == top);
        let seen =
            attributes.map_state == MapState::VIEWABLE && attributes.class == WindowClass::INPUT_OUTPUT;
        if !holds_managed && seen && geometry.width > 1 && geometry.height > 1 {
            windows.push(window(top, top, attributes.override_redirect));
        }
    }
    let mut windows = describe(d, windows, desktop)?;
    windows.sort_by_key(|window| tops.iter().position(|&top| top == window.frame));
    Ok(windows)
}

/// Returns a window and its ancestors below the root window, innermost first. Ends early if a
/// window has gone.
pub(crate) fn path(d: &Display, window: WindowId) -> impl Iterator<Item = WindowId> {
    let mut at = window;
    let ancestors = std::iter::from_fn(move || {
        at = d.conn.query_tree(at).ok()?.reply().ok()?.parent;
        (at != d.root).then_some(at)
    });
    std::iter::once(window).chain(ancestors).take(NESTED)
}

/// Reads the properties of these windows. `current` is the workspace that is shown.
fn describe(d: &Display, windows: Vec<Window>, current: Option<u32>) -> X11Result<Vec<Window>> {
    let a = d.atoms;
    let properties = [
        a._NET_WM_NAME,
        AtomEnum::WM_NAME.into(),
        a._NET_WM_PID,
        a._GTK_FRAME_EXTENTS,
        a._NET_FRAME_EXTENTS,
        a.WM_STATE,
        a._NET_WM_STATE,
        AtomEnum::WM_TRANSIENT_FOR.into(),
        a._NET_WM_DESKTOP,
    ];
    let ask = |&Window { id, .. }: &Window| {
        let origin = d.conn.translate_coordinates(id, d.root, 0, 0)?;
        let size = d.conn.get_geometry(id)?;
        Ok((origin, size, properties.map(|p| d.property(id, p))))
    };
    let asked = windows.iter().map(ask).collect::<X11Result<Vec<_>>>()?;
    let pids = pids(d, windows.iter().map(|window| window.id));
    let described = windows.into_iter().zip(asked).filter_map(|(window, (origin, size, said))| {
        let (origin, size) = (origin.reply().ok()?, size.reply().ok()?);
        let [name, old_name, own_pid, shadow, decoration, wm_state, state, transient_for, desktop] = said;
        let text = |asked| {
            answer(asked).map_or_else(String::new, |a| String::from_utf8_lossy(&a.value).into_owned())
        };
        let first = |asked| numbers(asked).first().copied();
        let (name, old_name, state) = (text(name), text(old_name), numbers(state));
        let minimised = first(wm_state) == Some(ICONIC) || state.contains(&a._NET_WM_STATE_HIDDEN);
        Some(Window {
            title: if name.is_empty() { old_name } else { name },
            area: pixels((origin.dst_x, origin.dst_y), (size.width, size.height)),
            pid: pids.get(&(window.id & !d.conn.setup().resource_id_mask)).copied().or(first(own_pid)),
            shadow: extents(&numbers(shadow)),
            decoration: extents(&numbers(decoration)),
            // Window managers unmap windows on other workspaces as they do minimized ones.
            visibility: match (is_on(first(desktop), current), minimised) {
                (false, _) => Visibility::Elsewhere,
                (true, true) => Visibility::Minimised,
                (true, false) => Visibility::Shown,
            },
            modal: state.contains(&a._NET_WM_STATE_MODAL),
            transient_for: first(transient_for).filter(|&w| w != 0 && w != d.root),
            ..window
        })
    });
    Ok(described.collect())
}

/// Returns the processes of windows by the client part of their ids; empty if the server lacks the
/// extension or one of the windows has gone.
fn pids(d: &Display, windows: impl Iterator<Item = WindowId>) -> HashMap<u32, u32> {
    let spec = |client| ClientIdSpec { client, mask: ClientIdMask::LOCAL_CLIENT_PID };
    let specs: Vec<ClientIdSpec> = windows.map(spec).collect();
    let mask = d.conn.setup().resource_id_mask;
    // A single window that has gone makes the whole request fail. In that case, the windows' own
    // property is used.
    let asked = d.conn.res_query_client_ids(&specs).ok().and_then(|asked| asked.reply().ok());
    let ids = asked.map(|reply| reply.ids).unwrap_or_default();
    ids.iter().filter_map(|id| Some((id.spec.client & !mask, *id.value.first()?))).collect()
}

/// Describes a window of another program, with its class (ICCCM 4.1.2.5).
///
/// # Errors
/// Returns `Lost` when the connection is lost.
pub fn describe_with_program(d: &mut Display, window: &Window) -> X11Result<String> {
    // A window that has gone has no class.
    let class = WmClass::get(&d.conn, window.id)?.reply().ok().flatten();
    let class = class.map(|class| String::from_utf8_lossy(class.class()).into_owned());
    Ok(match class.filter(|class| !class.is_empty()) {
        Some(program) => format!("{} of {}", window.describe(), stickpin_tree::quote(&program)),
        None => format!("{} of another program", window.describe()),
    })
}

/// Returns whether a window is on the screen: it exists, is not minimized, and is not on another
/// workspace.
pub(crate) fn is_viewable(d: &Display, window: WindowId) -> X11Result<bool> {
    // A window that has gone has no attributes.
    let attributes = d.conn.get_window_attributes(window)?.reply();
    Ok(attributes.is_ok_and(|attributes| attributes.map_state == MapState::VIEWABLE))
}

/// Returns the child of the root window that receives input at this point; `None` if that is the
/// root window itself.
pub fn toplevel_at(d: &Display, x: f64, y: f64) -> X11Result<Option<WindowId>> {
    let (x, y) = pixel(x, y);
    // The server considers the shapes of windows, including input shapes.
    let there = d.conn.translate_coordinates(d.root, d.root, x, y)?.reply()?;
    Ok((there.child != x11rb::NONE).then_some(there.child))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_are_compared_only_where_both_are_known() {
        assert!(
            is_on(Some(1), Some(1))
                && is_on(Some(ALL_DESKTOPS), Some(0))
                && is_on(None, Some(1))
                && is_on(Some(1), None)
        );
        assert!(!is_on(Some(1), Some(0)));
    }
}
