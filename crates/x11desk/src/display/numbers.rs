//! How numbers stand on the wire.

use stickpin_device::Button;
use x11rb::protocol::xproto::GetPropertyReply;

/// Longest property that is read, in units of four bytes.
pub(crate) const PROPERTY: u32 = 4096;

/// Numbers of a property.
pub(crate) fn numbers(reply: Result<GetPropertyReply, x11rb::errors::ReplyError>) -> Vec<u32> {
    // The window may be gone: then it has no properties.
    reply.ok().and_then(|r| Some(r.value32()?.collect())).unwrap_or_default()
}

/// The pixel of a point.
pub(crate) fn pixel(x: f64, y: f64) -> (i16, i16) {
    // `as` keeps within the range.
    (x.floor() as i16, y.floor() as i16)
}

/// The number of a button.
pub fn button_number(button: Button) -> u8 {
    match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    }
}
