//! Where keys go, as the server says.

use super::{Display, Fault};
use x11rb::protocol::xproto::{ConnectionExt, InputFocus, Window as WindowId};

/// Windows in one another that are looked at: toolkits nest some to have the focus in one of them.
const NESTED: usize = 32;

impl Display {
    /// Whether the keys that we send go to a window, or to one in it; none where they go to no window in particular.
    pub(crate) fn keys_go_to(&self, window: WindowId) -> Result<Option<bool>, Fault> {
        let mut at = match self.seat_focus()? {
            Some(at) => at,
            None => self.conn.get_input_focus()?.reply()?.focus,
        };
        let nowhere = [InputFocus::NONE, InputFocus::POINTER_ROOT].map(u32::from);
        if nowhere.contains(&at) || at == self.root {
            return Ok(None);
        }
        for _ in 0..NESTED {
            if at == window {
                return Ok(Some(true));
            }
            // One that has just gone has nothing in it.
            let Ok(tree) = self.conn.query_tree(at)?.reply() else { break };
            if tree.parent == self.root {
                break;
            }
            at = tree.parent;
        }
        Ok(Some(false))
    }
}
