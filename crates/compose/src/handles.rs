//! Conversion between handles of the whole and of its members. Pure.

use stickpin_tree::Handle;

/// The bits of a scope that a member uses. Its number is stored above them.
const OWN: u32 = 32;

/// The scope of the nodes that belong to the whole.
pub(crate) const WHOLE: u64 = 1;

/// The id of the root of the whole. The id of a member's node is this plus the member's number.
pub(crate) const ROOT: u64 = 1;

/// Returns the handle of a member's element in the whole.
pub(crate) fn outer(part: u64, handle: Handle) -> Handle {
    Handle { scope: (part << OWN) | handle.scope, id: handle.id }
}

/// Returns the member that a handle of the whole belongs to, and the member's own handle. Member 0
/// does not exist: such a handle belongs to the whole itself.
pub(crate) fn inner(handle: Handle) -> (u64, Handle) {
    let own = (1 << OWN) - 1;
    (handle.scope >> OWN, Handle { scope: handle.scope & own, id: handle.id })
}

/// Returns the handles that belong to one member, as its own handles.
pub(crate) fn of_part(handles: &[Handle], part: u64) -> Vec<Handle> {
    handles.iter().map(|&handle| inner(handle)).filter(|(of, _)| *of == part).map(|(_, own)| own).collect()
}

/// Returns the number of the member that a node of the whole represents.
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
