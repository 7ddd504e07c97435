//! Conversion of handles and tickets between the composite device and its members. Pure.

use stickpin_device::Ticket;
use stickpin_tree::Handle;

/// The number of scope bits that a member uses. The member's number is stored above them.
const MEMBER_SCOPE_BITS: u32 = 32;

/// The scope of the nodes that belong to the composite device itself.
pub(crate) const COMPOSITE_SCOPE: u64 = 1;

/// The id of the root node of the composite device. The id of a member's node is this id plus the
/// member's number.
pub(crate) const ROOT: u64 = 1;

/// Returns the handle of a member's element in the composite device.
pub(crate) fn to_composite(part: u64, handle: Handle) -> Handle {
    Handle { scope: (part << MEMBER_SCOPE_BITS) | handle.scope, id: handle.id }
}

/// Returns the number of the member that a handle of the composite device belongs to, and the
/// member's own handle. Member 0 does not exist: a handle with that number belongs to the composite
/// device itself.
pub(crate) fn to_member(handle: Handle) -> (u64, Handle) {
    let own = (1 << MEMBER_SCOPE_BITS) - 1;
    (handle.scope >> MEMBER_SCOPE_BITS, Handle { scope: handle.scope & own, id: handle.id })
}

/// Returns the member's own handle; `None` if the handle does not belong to that member.
pub(crate) fn handle_of_member(handle: Handle, part: u64) -> Option<Handle> {
    let (of, own) = to_member(handle);
    (of == part).then_some(own)
}

/// Returns the handles that belong to one member, as its own handles.
pub(crate) fn handles_of_member(handles: &[Handle], part: u64) -> Vec<Handle> {
    handles.iter().filter_map(|&handle| handle_of_member(handle, part)).collect()
}

/// Returns the number of the member that a node of the composite device represents; `None` for any
/// other handle.
pub(crate) fn member_named_by(handle: Handle) -> Option<u64> {
    (handle.scope == COMPOSITE_SCOPE && handle.id > ROOT).then(|| handle.id - ROOT)
}

/// A member's number and its ticket. Elements of different members may have the same handle, so a
/// member must not receive another member's ticket.
struct MemberTicket(u64, Ticket);

/// Wraps a member's ticket in a ticket of the composite device.
pub(crate) fn ticket_to_composite(part: u64, own: Ticket) -> Ticket {
    Ticket::new(MemberTicket(part, own))
}

/// Returns a member's own ticket; empty if `ticket` does not belong to that member.
pub(crate) fn ticket_to_member(ticket: &Ticket, part: u64) -> Ticket {
    let note = ticket.take::<MemberTicket>().filter(|MemberTicket(of, _)| *of == part);
    note.map(|MemberTicket(_, own)| own).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_names_its_member_and_goes_back() {
        let own = Handle { scope: 7, id: 9 };
        assert_eq!(to_member(to_composite(3, own)), (3, own));
        assert_eq!(to_member(own), (0, own));
        assert_eq!(handles_of_member(&[to_composite(3, own), own, to_composite(4, own)], 3), [own]);
        assert_eq!(member_named_by(Handle { scope: COMPOSITE_SCOPE, id: ROOT + 4 }), Some(4));
        assert_eq!(
            (
                member_named_by(Handle { scope: COMPOSITE_SCOPE, id: ROOT }),
                member_named_by(to_composite(4, own))
            ),
            (None, None)
        );
    }

    #[test]
    fn ticket_goes_back_to_its_member_only() {
        let of_three = || ticket_to_composite(3, Ticket::new(7_u8));
        assert_eq!(ticket_to_member(&of_three(), 3).take::<u8>(), Some(7));
        assert_eq!(ticket_to_member(&of_three(), 4).take::<u8>(), None);
        assert_eq!(ticket_to_member(&Ticket::new(7_u8), 3).take::<u8>(), None, "no member's");
    }
}
