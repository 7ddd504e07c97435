//! Handles of the whole and of its members. Pure.

use stickpin_tree::Handle;

/// Bits of a scope that a member uses itself; its number stands above them.
const OWN: u32 = 32;

/// Scope of the nodes that belong to the whole.
pub(crate) const WHOLE: u64 = 1;

/// Id of the root of the whole. The node that names a member has the member's number more.
pub(crate) const ROOT: u64 = 1;

/// Returns the handle by which the whole calls an element of a member.
pub(crate) fn outer(part: u64, handle: Handle) -> Handle {
    Handle { scope: (part << OWN) | handle.scope, id: handle.id }
}

/// Returns the number of the member that a handle of the whole is of, and the member's own handle.
/// No member has the number 0: such a handle is of the whole itself.
pub(crate) fn inner(handle: Handle) -> (u64, Handle) {
    let own = (1 << OWN) - 1;
    (handle.scope >> OWN, Handle { scope: handle.scope & own, id: handle.id })
}

/// Returns the handles that are of one member, as that member calls them.
pub(crate) fn of_part(handles: &[Handle], part: u64) -> Vec<Handle> {
    handles.iter().map(|&handle| inner(handle)).filter(|(of, _)| *of == part).map(|(_, own)| own).collect()
}

/// Returns the number of the member that a node of the whole names.
pub(crate) fn named_part(handle: Handle) -> Option<u64> {
    (handle.scope == WHOLE && handle.id > ROOT).then(|| handle.id - ROOT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_names_its_member_and_goes_back() {
        let own = Handle { scope: 7, id: 9 };
        assert_eq!(inner(outer(3, own)), (3, own));
        assert_eq!(inner(own), (0, own));
        assert_eq!(of_part(&[outer(3, own), own, outer(4, own)], 3), [own]);
        assert_eq!(named_part(Handle { scope: WHOLE, id: ROOT + 4 }), Some(4));
        assert_eq!((named_part(Handle { scope: WHOLE, id: ROOT }), named_part(outer(4, own))), (None, None));
    }
}
