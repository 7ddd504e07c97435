//! A pointer and a keyboard of our own on a display that a person uses (XInput 2, master devices):
//! theirs stay where they are, and so does their focus.

use crate::display::{Display, Seat};
use crate::fault::Fault;
use x11rb::protocol::xinput::{
    self, ChangeMode, ConnectionExt as _, DeviceId, DeviceType, GrabOwner, HierarchyChange,
    HierarchyChangeData, HierarchyChangeDataAddMaster, HierarchyChangeDataRemoveMaster,
};
use x11rb::protocol::xproto::{ConnectionExt as _, GrabMode, GrabStatus, Window as WindowId};

/// How our devices are called; the id of our window follows.
pub(crate) const NAME: &str = "stickpin-";

/// What names all master devices at once (XInput 2, XIAllMasterDevices).
const ALL_MASTERS: DeviceId = 1;

/// The pointer and the keyboard that every server has.
pub(crate) const CORE: (DeviceId, DeviceId) = (2, 3);

/// The window that is part of the name of a master device of ours: `stickpin-1a00003 pointer`.
fn owner(name: &[u8]) -> Option<WindowId> {
    let name = std::str::from_utf8(name).ok()?.strip_prefix(NAME)?;
    let number = name.split(' ').next()?;
    u32::from_str_radix(number, 16).ok()
}

/// Whether the server can have several pointers. It wants to be told first that this is known to
/// us.
fn is_supported(d: &Display) -> Result<bool, Fault> {
    let there = d.has_extension(xinput::X11_EXTENSION_NAME)?;
    if there {
        d.conn.xinput_xi_query_version(2, 2)?.reply()?;
    }
    Ok(there)
}

/// Takes a pointer and a keyboard of our own. A server that gives none leaves us with those of the
/// person.
pub(crate) fn take(d: &mut Display) -> Result<(), Fault> {
    if !is_supported(d)? {
        tracing::debug!("no XInput: the pointer is the person's own");
        return Ok(());
    }
    let added = add_master(d, format!("{NAME}{:x}", d.own));
    if let Err(Fault::Refused(why)) = &added {
        tracing::debug!("no pointer of our own: {why}");
        return Ok(());
    }
    added?;
    let masters = masters(d)?;
    let ours =
        |kind| masters.iter().find_map(|&(id, of, owner)| (of == kind && owner == d.own).then_some(id));
    let found = ours(DeviceType::MASTER_POINTER).zip(ours(DeviceType::MASTER_KEYBOARD));
    let Some((pointer, keyboard)) = found else { return Ok(()) };
    // Core input of this connection comes from there now.
    d.conn.xinput_xi_set_client_pointer(x11rb::NONE, pointer)?.check()?;
    d.seat = Some(Seat { pointer, keyboard });
    Ok(())
}

pub(crate) fn add_master(d: &Display, name: String) -> Result<(), Fault> {
    let name = name.into_bytes();
    // Eight bytes and the name, counted in fours.
    let len = (8 + name.len()).div_ceil(4);
    let data = HierarchyChangeDataAddMaster { send_core: true, enable: true, name };
    let change = HierarchyChange { len: len as u16, data: HierarchyChangeData::AddMaster(data) };
    Ok(d.conn.xinput_xi_change_hierarchy(&[change])?.check()?)
}

/// The master devices of ours and of those before us.
pub(crate) fn masters(d: &Display) -> Result<Vec<(DeviceId, DeviceType, WindowId)>, Fault> {
    let devices = d.conn.xinput_xi_query_device(ALL_MASTERS)?.reply()?;
    let masters = devices.infos.iter();
    Ok(masters.filter_map(|d| Some((d.deviceid, d.type_, owner(&d.name)?))).collect())
}

/// Removes pointers of processes that are gone.
pub(crate) fn remove_leftovers(d: &Display) -> Result<(), Fault> {
    if !is_supported(d)? {
        return Ok(());
    }
    for (id, kind, owner) in masters(d)? {
        if kind == DeviceType::MASTER_POINTER && !d.lives(owner)? {
            tracing::debug!(id, "a pointer that was left over");
            remove_master(d, id)?;
        }
    }
    Ok(())
}

fn remove_master(d: &Display, deviceid: DeviceId) -> Result<(), Fault> {
    let data = HierarchyChangeDataRemoveMaster {
        deviceid,
        return_mode: ChangeMode::ATTACH,
        return_pointer: CORE.0,
        return_keyboard: CORE.1,
    };
    let change = HierarchyChange { len: 3, data: HierarchyChangeData::RemoveMaster(data) };
    Ok(d.conn.xinput_xi_change_hierarchy(&[change])?.check()?)
}

pub(crate) fn leave(d: &mut Display) -> Result<(), Fault> {
    d.seat.take().map_or(Ok(()), |seat| remove_master(d, seat.pointer))
}

/// Asks for something of the keyboard that the person has, which is that of all apps: whoever
/// pressed a key, they look up in its table what that means.
pub(crate) fn of_person<T>(d: &Display, ask: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    let Some(seat) = d.seat else { return ask() };
    d.conn.xinput_xi_set_client_pointer(x11rb::NONE, CORE.0)?;
    let asked = ask();
    d.conn.xinput_xi_set_client_pointer(x11rb::NONE, seat.pointer)?;
    asked
}

/// What the server says of a device that somebody else has.
pub(crate) fn is_taken(status: GrabStatus) -> bool {
    matches!(status, GrabStatus::ALREADY_GRABBED | GrabStatus::FROZEN)
}

/// Whether somebody holds one of the devices that every server has, where ours are others: asked as
/// [`pointer::is_held`](crate::pointer::is_held) does.
pub(crate) fn is_core_held(d: &Display, device: DeviceId) -> Result<bool, Fault> {
    if !d.has_seat() {
        return Ok(false);
    }
    let (mode, none, now) = (GrabMode::ASYNC, x11rb::NONE, x11rb::CURRENT_TIME);
    let owner = GrabOwner::NO_OWNER;
    let asked = d.conn.xinput_xi_grab_device(d.own, now, none, device, mode, mode, owner, &[])?;
    Ok(is_taken(asked.reply()?.status))
}

/// Gives our keyboard's focus to a window. Where the keyboard is everybody's, the window manager
/// decides.
pub(crate) fn focus(d: &Display, window: WindowId) -> Result<(), Fault> {
    let Some(seat) = d.seat else { return Ok(()) };
    Ok(d.conn.xinput_xi_set_focus(window, x11rb::CURRENT_TIME, seat.keyboard)?.check()?)
}

/// The window that has the focus of our keyboard, which may be everybody's.
pub(crate) fn focused(d: &Display) -> Result<WindowId, Fault> {
    let Some(seat) = d.seat else { return Ok(d.conn.get_input_focus()?.reply()?.focus) };
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
