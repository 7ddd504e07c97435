//! Our own pointer and keyboard on a display that a person uses (XInput 2 master devices). The
//! person's pointer and focus stay where they are.

use crate::display::{Display, Seat};
use crate::error::{X11Error, X11Result};
use x11rb::protocol::xinput::{
    self, ChangeMode, ConnectionExt as _, DeviceId, DeviceType, GrabOwner, HierarchyChange,
    HierarchyChangeData, HierarchyChangeDataAddMaster, HierarchyChangeDataRemoveMaster, XIDeviceInfo,
};
use x11rb::protocol::xproto::{ConnectionExt as _, GrabMode, GrabStatus, Window as WindowId};

/// The prefix of the names of our devices; the id of our window follows.
pub(crate) const NAME: &str = "stickpin-";

/// The id that stands for all master devices (XInput 2, XIAllMasterDevices).
const ALL_MASTERS: DeviceId = 1;

/// The core pointer and keyboard of every server.
pub(crate) const CORE: Seat = Seat { pointer: 2, keyboard: 3 };

/// Parses the window id in the name of one of our master devices: `stickpin-1a00003 pointer`.
fn owner(name: &[u8]) -> Option<WindowId> {
    let name = std::str::from_utf8(name).ok()?.strip_prefix(NAME)?;
    let number = name.split(' ').next()?;
    u32::from_str_radix(number, 16).ok()
}

/// Returns our own pointer and keyboard; `None` on a private display, and where the server does not
/// support them or refuses. The connection then uses the person's pointer and keyboard.
///
/// They are created for the first input, not with the connection: an app of GTK 3 that is starting
/// at that moment may miss them, and crashes when it receives an event from a device that it does
/// not know.
pub(crate) fn own(d: &Display) -> X11Result<Option<Seat>> {
    if let Some(seat) = d.seat.get() {
        return Ok(*seat);
    }
    let seat = add_seat(d)?;
    Ok(*d.seat.get_or_init(|| seat))
}

fn add_seat(d: &Display) -> X11Result<Option<Seat>> {
    if !negotiate_version(d)? {
        tracing::debug!("no XInput: the pointer is the person's own");
        return Ok(None);
    }
    let added = add_master(d, format!("{NAME}{:x}", d.own));
    if let Err(X11Error::Refused(why)) = &added {
        tracing::debug!("no pointer of our own: {why}");
        return Ok(None);
    }
    added?;
    let ours = seats(d)?.into_iter().find(|(_, owner)| *owner == d.own).map(|(seat, _)| seat);
    if let Some(seat) = ours {
        // Core input of this connection comes from these devices from now on.
        d.conn.xinput_xi_set_client_pointer(x11rb::NONE, seat.pointer)?.check()?;
    }
    Ok(ours)
}

/// Declares our version of the XInput extension, which every client must do before its other
/// requests. Returns whether the server has the extension.
fn negotiate_version(d: &Display) -> X11Result<bool> {
    let there = d.has_extension(xinput::X11_EXTENSION_NAME)?;
    if there {
        d.conn.xinput_xi_query_version(2, 2)?.reply()?;
    }
    Ok(there)
}

/// Removes the pointers and keyboards of stickpin processes that have ended.
pub(crate) fn remove_leftovers(d: &Display) -> X11Result<()> {
    if !negotiate_version(d)? {
        return Ok(());
    }
    for (seat, owner) in seats(d)? {
        if !d.is_owner_alive(owner)? {
            tracing::debug!(?seat, "removing a leftover pointer");
            remove_seat(d, seat)?;
        }
    }
    Ok(())
}

pub(crate) fn add_master(d: &Display, name: String) -> X11Result<()> {
    let name = name.into_bytes();
    // The length in units of four bytes: eight bytes and the name.
    let len = (8 + name.len()).div_ceil(4);
    let data = HierarchyChangeDataAddMaster { send_core: true, enable: true, name };
    let change = HierarchyChange { len: len as u16, data: HierarchyChangeData::AddMaster(data) };
    Ok(d.conn.xinput_xi_change_hierarchy(&[change])?.check()?)
}

/// Returns the pointers and keyboards of this and other stickpin processes, with their windows. A
/// pointer is always attached to the keyboard that was added together with it.
pub(crate) fn seats(d: &Display) -> X11Result<Vec<(Seat, WindowId)>> {
    let devices = d.conn.xinput_xi_query_device(ALL_MASTERS)?.reply()?;
    let pointers = devices.infos.iter().filter(|device| device.type_ == DeviceType::MASTER_POINTER);
    let seat = |pointer: &XIDeviceInfo| Seat { pointer: pointer.deviceid, keyboard: pointer.attachment };
    Ok(pointers.filter_map(|pointer| Some((seat(pointer), owner(&pointer.name)?))).collect())
}

/// Removes a pointer and its keyboard.
pub(crate) fn remove_seat(d: &Display, seat: Seat) -> X11Result<()> {
    let data = HierarchyChangeDataRemoveMaster {
        deviceid: seat.pointer,
        return_mode: ChangeMode::ATTACH,
        return_pointer: CORE.pointer,
        return_keyboard: CORE.keyboard,
    };
    let change = HierarchyChange { len: 3, data: HierarchyChangeData::RemoveMaster(data) };
    Ok(d.conn.xinput_xi_change_hierarchy(&[change])?.check()?)
}

/// Returns our own pointer and keyboard, if they have been created.
pub(crate) fn created(d: &Display) -> Option<Seat> {
    d.seat.get().copied().flatten()
}

/// Runs requests about the person's keyboard. All apps look keys up in its mapping, whichever
/// keyboard the keys came from.
pub(crate) fn query_core_keyboard<T>(d: &Display, ask: impl FnOnce() -> X11Result<T>) -> X11Result<T> {
    let Some(seat) = created(d) else { return ask() };
    d.conn.xinput_xi_set_client_pointer(x11rb::NONE, CORE.pointer)?;
    let asked = ask();
    d.conn.xinput_xi_set_client_pointer(x11rb::NONE, seat.pointer)?;
    asked
}

/// Returns whether the status of a grab shows that another client has the device.
pub(crate) fn is_taken(status: GrabStatus) -> bool {
    matches!(status, GrabStatus::ALREADY_GRABBED | GrabStatus::FROZEN)
}

/// Returns whether another client grabs a core device while we have devices of our own. Checks as
/// [`pointer::is_grabbed`](crate::pointer::is_grabbed) does.
pub(crate) fn is_core_device_grabbed(d: &Display, device: DeviceId) -> X11Result<bool> {
    if created(d).is_none() {
        return Ok(false);
    }
    let (mode, none, now) = (GrabMode::ASYNC, x11rb::NONE, x11rb::CURRENT_TIME);
    let owner = GrabOwner::NO_OWNER;
    let asked = d.conn.xinput_xi_grab_device(d.own, now, none, device, mode, mode, owner, &[])?;
    Ok(is_taken(asked.reply()?.status))
}

/// Sets the focus of our own keyboard to a window.
pub(crate) fn focus(d: &Display, seat: Seat, window: WindowId) -> X11Result<()> {
    Ok(d.conn.xinput_xi_set_focus(window, x11rb::CURRENT_TIME, seat.keyboard)?.check()?)
}

/// Returns the window that has the focus of our keyboard, which is created if necessary, or of the
/// shared one.
pub(crate) fn focused(d: &Display) -> X11Result<WindowId> {
    let Some(seat) = own(d)? else { return Ok(d.conn.get_input_focus()?.reply()?.focus) };
    Ok(d.conn.xinput_xi_get_focus(seat.keyboard)?.reply()?.focus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_devices_name_the_window_of_their_owner() {
        assert_eq!(owner(b"stickpin-1a00003 pointer"), Some(0x1a0_0003));
        assert_eq!(owner(b"stickpin-1a00003"), Some(0x1a0_0003));
        for other in [&b"Virtual core pointer"[..], b"stickpin-", b"stickpin-x pointer", b"\xff"] {
            assert_eq!(owner(other), None);
        }
    }
}
