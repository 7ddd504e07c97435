//! Fills code editors, which show only part of their text and receive keys through a hidden field
//! (`agent/script/act/editors.js`). A chord selects everything, the text is pasted over the
//! selection, and a copy reads back what the editor then holds.

use crate::act::{ignore_gone_document, is_dialog_open, keyboard, keys, unknown};
use crate::agent::{CodeAnswer, PasteAnswer};
use crate::read::guard::stopped_outcome;
use crate::read::page::{Page, element_gone};
use crate::tab::World;
use stickpin_device::{Delivery, Error, ErrorCode, InputOutcome, Modifiers, Result};

/// Returns the modifier key for editing commands on this platform.
fn command() -> Modifiers {
    let mac = cfg!(target_os = "macos");
    Modifiers { meta: mac, control: !mac, ..Modifiers::default() }
}

/// Replaces the text of the code editor whose field (`id`) has the focus. `key` is the name of the
/// field's guard.
pub(crate) async fn fill_code(
    page: &mut Page,
    world: &World,
    id: u64,
    text: &str,
    key: Option<&str>,
) -> Result<InputOutcome> {
    let text = text.replace("\r\n", "\n");
    if select_all(page, world).await? {
        return Ok(InputOutcome::done());
    }
    let pasted: Option<PasteAnswer> =
        page.tab.call(world, "pasteText", (id, &text, key)).await.map_err(unknown)?;
    let pasted = pasted.ok_or_else(|| unknown(element_gone()))?;
    if pasted.changed {
        keyboard::text_landed(page, world).await?;
        // Everything was selected, but nothing was replaced.
        return Ok(stopped_outcome(false));
    }
    let opened = match (pasted.pasted, text.is_empty()) {
        (true, true) => keyboard::press_key(page, Modifiers::default(), &keys::key("Delete")?).await?,
        (true, false) => false,
        (false, _) => {
            keyboard::text_landed(page, world).await?;
            let message = "the keyboard shortcut did not select the text of the editor, or the editor does not accept pasted text";
            return Err(unknown(
                Error::new(ErrorCode::Unsupported, message)
                    .hint("nothing was replaced; use `press` and `key` as a person would in this editor"),
            ));
        }
    };
    if opened { Ok(InputOutcome::done()) } else { read_code(page, world, id).await }
}

/// Reads back the text of an editor and leaves the caret at the end of the text.
async fn read_code(page: &Page, world: &World, id: u64) -> Result<InputOutcome> {
    // If a dialog is open, or the document went away with the text, there is nothing to read.
    if ignore_gone_document(page.tab.wait_frame(world).await)?.is_none() || select_all(page, world).await? {
        return Ok(InputOutcome::done());
    }
    let read = ignore_gone_document(page.tab.call::<Option<CodeAnswer>>(world, "readCode", (id,)).await)?;
    let Some(read) = read else { return Ok(InputOutcome::done()) };
    let Some(read) = read else { return Ok(InputOutcome::done().unread(true)) };
    if read.focused {
        keyboard::press_key(page, Modifiers::default(), &keys::key("ArrowRight")?).await?;
    }
    let landed = keyboard::text_landed(page, world).await?;
    if let Delivery::Elsewhere { .. } | Delivery::Changed { .. } = landed {
        return Ok(InputOutcome::done().delivery(landed));
    }
    Ok(InputOutcome::done().unread(read.text.is_none()).value(read.text))
}

/// Sends the keys that select everything. Returns whether a dialog opened.
async fn select_all(page: &Page, world: &World) -> Result<bool> {
    keyboard::press_key(page, command(), &keys::key("a")?).await?;
    // Editors render the selection in a frame, and some fill their field with it only then.
    is_dialog_open(page.tab.wait_frame(world).await)
}

/// Moves the caret of a code editor to the end of its text.
pub(crate) async fn caret_to_end(page: &Page) -> Result<()> {
    let key = if cfg!(target_os = "macos") { "ArrowDown" } else { "End" };
    keyboard::press_key(page, command(), &keys::key(key)?).await.map(drop)
}
