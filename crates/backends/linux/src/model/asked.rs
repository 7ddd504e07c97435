//! What an object need not be asked.

use crate::bus::Link;
use crate::model::roles::number as role;
use crate::model::{Object, Picture};
use crate::toolkit::Toolkit;

/// Whether an object may be a place for another process (`AtkSocket`): it has no other children, and lists not even that.
pub(crate) fn may_be_socket(picture: &Picture, at: usize) -> bool {
    let object = &picture.objects[at];
    let elsewhere = |&child: &usize| !Link::same_process(&object.path, &picture.objects[child].path);
    picture.toolkit.profile().has_sockets
        && object.role == role::FILLER
        && object.children.iter().all(elsewhere)
}

/// Whether an object says nothing of itself, not even whether it is shown, as a socket and what is plugged into it may.
pub(crate) fn is_mute(object: &Object, toolkit: Toolkit) -> bool {
    toolkit.profile().has_sockets && object.states == 0 && object.role == role::FILLER
}
