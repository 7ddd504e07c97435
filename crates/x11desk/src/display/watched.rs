//! Which events of the display mean that windows have changed.

use crate::display::atoms::Atoms;
use crate::display::fault::Fault;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::ClientMessageEvent;
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::protocol::xproto::{AtomEnum, ChangeWindowAttributesAux, EventMask, Window as WindowId};
use x11rb::rust_connection::RustConnection;

/// Asks for what is told about windows: on the root for what window managers answer, on ours for the clipboard.
pub(crate) fn watch(conn: &RustConnection, root: WindowId, own: WindowId) -> Result<(), Fault> {
    let on = |mask| ChangeWindowAttributesAux::new().event_mask(mask);
    let of_root = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::STRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE;
    conn.change_window_attributes(root, &on(of_root))?;
    conn.change_window_attributes(own, &on(EventMask::PROPERTY_CHANGE))?;
    Ok(())
}

/// Whether an event may make other windows of those that are known.
pub(crate) fn may_change(event: &Event, atoms: &Atoms) -> bool {
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

/// The properties of the root that say which windows there are, which is active, and which workspace is shown.
pub(crate) fn of_root(a: &Atoms) -> [u32; 3] {
    [a._NET_CLIENT_LIST_STACKING, a._NET_ACTIVE_WINDOW, a._NET_CURRENT_DESKTOP]
}

/// The properties of a window that are read.
pub(crate) fn of_window(a: &Atoms) -> [u32; 9] {
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

/// What was sent along with a ping that is answered by this.
pub(crate) fn pong(message: &ClientMessageEvent, atoms: &Atoms) -> Option<u32> {
    let data = message.data.as_data32();
    (message.type_ == atoms.WM_PROTOCOLS && data[0] == atoms._NET_WM_PING).then_some(data[1])
}
