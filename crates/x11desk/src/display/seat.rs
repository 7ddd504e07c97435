//! A pointer and a keyboard of our own on a display that a person uses (XInput 2, master devices): theirs stay where they
//! are, and so does their focus.

use crate::display::fault::Fault;
use crate::display::server::Display;
use crate::display::state::Seat;
use x11rb::connection::RequestConnection;
use x11rb::cookie::Cookie;
use x11rb::protocol::xinput::{
    self, ChangeMode, ConnectionExt as _, DeviceId, DeviceType, GrabOwner, HierarchyChange,
    HierarchyChangeData, HierarchyChangeDataAddMaster, HierarchyChangeDataRemoveMaster, XIGrabDeviceReply,
};
use x11rb::protocol::xproto::{GrabMode, Window as WindowId};
use x11rb::rust_connection::RustConnection;

/// How our devices are called; the id of our window follows.
const NAME: &str = "stickpin-";

/// What names all master devices at once (XInput 2, XIAllMasterDevices).
const ALL_MASTERS: DeviceId = 1;

/// The pointer and the keyboard that every server has.
const CORE: (DeviceId, DeviceId) = (2, 3);

/// The window that is part of the name of a master device of ours: `stickpin-1a00003 pointer`.
fn owner(name: &[u8]) -> Option<WindowId> {
    let name = std::str::from_utf8(name).ok()?.strip_prefix(NAME)?;
    let number = name.split(' ').next()?;
    u32::from_str_radix(number, 16).ok()
}

impl Display {
    /// Takes a pointer and a keyboard of our own. A server that gives none leaves us with those of the person.
    pub(super) fn take_seat(&mut self) -> Result<(), Fault> {
        if self.conn.extension_information(xinput::X11_EXTENSION_NAME)?.is_none() {
            tracing::debug!("no XInput: the pointer is the person's own");
            return Ok(());
        }
        self.conn.xinput_xi_query_version(2, 2)?.reply()?;
        match self.add_master(format!("{NAME}{:x}", self.own)) {
            Ok(()) => {}
            Err(Fault::Refused(why)) => {
                tracing::debug!("no pointer of our own: {why}");
                return Ok(());
            }
            Err(lost) => return Err(lost),
        }
        let masters = self.masters()?;
        let ours = |kind| {
            let ours = masters.iter().find(|&&(_, of, owner)| of == kind && owner == self.own);
            ours.map(|&(id, ..)| id)
        };
        let found = ours(DeviceType::MASTER_POINTER).zip(ours(DeviceType::MASTER_KEYBOARD));
        let Some((pointer, keyboard)) = found else { return Ok(()) };
        // Core input of this connection comes from there now.
        self.conn.xinput_xi_set_client_pointer(x11rb::NONE, pointer)?.check()?;
        self.seat = Some(Seat { pointer, keyboard });
        Ok(())
    }

    fn add_master(&self, name: String) -> Result<(), Fault> {
        let name = name.into_bytes();
        // Eight bytes and the name, counted in fours.
        let len = (8 + name.len()).div_ceil(4);
        let data = HierarchyChangeDataAddMaster { send_core: true, enable: true, name };
        let change = HierarchyChange { len: len as u16, data: HierarchyChangeData::AddMaster(data) };
        self.conn.xinput_xi_change_hierarchy(&[change])?.check()?;
        Ok(())
    }

    /// The master devices of ours and of those before us.
    fn masters(&self) -> Result<Vec<(DeviceId, DeviceType, WindowId)>, Fault> {
        let devices = self.conn.xinput_xi_query_device(ALL_MASTERS)?.reply()?;
        let masters = devices.infos.iter();
        Ok(masters.filter_map(|d| Some((d.deviceid, d.type_, owner(&d.name)?))).collect())
    }

    /// Removes pointers of processes that are gone.
    pub(super) fn remove_seats(&self) -> Result<(), Fault> {
        if self.conn.extension_information(xinput::X11_EXTENSION_NAME)?.is_none() {
            return Ok(());
        }
        self.conn.xinput_xi_query_version(2, 2)?.reply()?;
        for (id, kind, owner) in self.masters()? {
            if kind == DeviceType::MASTER_POINTER && !self.lives(owner)? {
                tracing::debug!(id, "a pointer that was left over");
                self.remove_master(id)?;
            }
        }
        Ok(())
    }

    fn remove_master(&self, deviceid: DeviceId) -> Result<(), Fault> {
        let data = HierarchyChangeDataRemoveMaster {
            deviceid,
            return_mode: ChangeMode::ATTACH,
            return_pointer: CORE.0,
            return_keyboard: CORE.1,
        };
        let change = HierarchyChange { len: 3, data: HierarchyChangeData::RemoveMaster(data) };
        self.conn.xinput_xi_change_hierarchy(&[change])?.check()?;
        Ok(())
    }

    pub(super) fn leave_seat(&mut self) -> Result<(), Fault> {
        match self.seat.take() {
            Some(seat) => self.remove_master(seat.pointer),
            None => Ok(()),
        }
    }

    /// Asks for something of the keyboard that the person has, which is that of all apps: whoever pressed a key, they look
    /// up in its table what that means.
    pub(super) fn of_person<T>(&self, ask: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
        let Some(seat) = self.seat else { return ask() };
        self.conn.xinput_xi_set_client_pointer(x11rb::NONE, CORE.0)?;
        let asked = ask();
        self.conn.xinput_xi_set_client_pointer(x11rb::NONE, seat.pointer)?;
        asked
    }

    /// Whether the pointer and the keyboard are our own.
    pub fn has_seat(&self) -> bool {
        self.seat.is_some()
    }

    /// Asks for the pointer that every server has, with a window that is never shown.
    pub(super) fn ask_core_pointer(&self) -> Result<Cookie<'_, RustConnection, XIGrabDeviceReply>, Fault> {
        self.ask_core(CORE.0)
    }

    /// The same of the keyboard.
    pub(super) fn ask_core_keyboard(&self) -> Result<Cookie<'_, RustConnection, XIGrabDeviceReply>, Fault> {
        self.ask_core(CORE.1)
    }

    fn ask_core(&self, device: DeviceId) -> Result<Cookie<'_, RustConnection, XIGrabDeviceReply>, Fault> {
        let (mode, none, now) = (GrabMode::ASYNC, x11rb::NONE, x11rb::CURRENT_TIME);
        let owner = GrabOwner::NO_OWNER;
        Ok(self.conn.xinput_xi_grab_device(self.own, now, none, device, mode, mode, owner, &[])?)
    }

    /// Gives our keyboard's focus to a window. Where the keyboard is everybody's, the window manager decides.
    pub(super) fn focus_seat(&self, window: WindowId) -> Result<(), Fault> {
        let Some(seat) = self.seat else { return Ok(()) };
        self.conn.xinput_xi_set_focus(window, x11rb::CURRENT_TIME, seat.keyboard)?.check()?;
        Ok(())
    }

    /// The window that has our keyboard's focus; none where the keyboard is everybody's.
    pub(super) fn seat_focus(&self) -> Result<Option<WindowId>, Fault> {
        let Some(seat) = self.seat else { return Ok(None) };
        Ok(Some(self.conn.xinput_xi_get_focus(seat.keyboard)?.reply()?.focus))
    }

    /// How many pointers of ours there are, whoever has them.
    #[cfg(test)]
    pub(crate) fn seats(&self) -> Result<usize, Fault> {
        self.conn.xinput_xi_query_version(2, 2)?.reply()?;
        Ok(self.masters()?.iter().filter(|m| m.1 == DeviceType::MASTER_POINTER).count())
    }

    /// Ends the connection as the end of the process would, with nothing put back.
    #[cfg(test)]
    pub(crate) fn vanish(&self) -> Result<(), Fault> {
        self.sync()?;
        rustix::net::shutdown(self.conn.stream(), rustix::net::Shutdown::Both)
            .map_err(|e| Fault::Lost(e.to_string()))
    }

    /// What it is known by on the server.
    #[cfg(test)]
    pub(crate) fn id(&self) -> WindowId {
        self.own
    }

    /// A pointer of a process that is gone.
    #[cfg(test)]
    pub(crate) fn leave_behind(&self) -> Result<(), Fault> {
        self.conn.xinput_xi_query_version(2, 2)?.reply()?;
        self.add_master(format!("{NAME}7fffff0"))
    }
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
