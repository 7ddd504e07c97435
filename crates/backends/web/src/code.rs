//! Filling code editors, which show a part of their text and take keys through a hidden field (`page/editors.js`): a key
//! selects everything, the text is pasted over it, and what the editor holds then is its answer to a copy.

use crate::agent::{CodeRead, Pasted};
use crate::device::{WebDevice, gone};
use crate::guard::kept_back;
use crate::keys;
use crate::mouse::unknown;
use crate::tab::{Fault, World};
use stickpin_device::{Error, ErrorCode, Landed, Modifiers, Performed, Result};

/// The modifier of editing commands.
fn command() -> Modifiers {
    let mac = cfg!(target_os = "macos");
    Modifiers { meta: mac, control: !mac, ..Modifiers::default() }
}

impl WebDevice {
    /// Replaces the text of the code editor whose field (`id`) has the focus. `key`: the name of its guard.
    pub(crate) async fn fill_code(
        &mut self,
        world: &World,
        id: u64,
        text: &str,
        key: Option<&str>,
    ) -> Result<Performed> {
        let text = text.replace("\r\n", "\n");
        if self.select_all(world).await? {
            return Ok(Performed { handled: true, ..Performed::default() });
        }
        let pasted: Option<Pasted> =
            self.tab.call(world, "pasteText", (id, &text, key)).await.map_err(unknown)?;
        let pasted = pasted.ok_or_else(|| unknown(gone()))?;
        if pasted.changed {
            self.text_landed(world).await?;
            // Everything was selected, and nothing else came of it.
            return Ok(kept_back(false));
        }
        let opened = match (pasted.pasted, text.is_empty()) {
            (true, true) => self.stroke(Modifiers::default(), &keys::key("Delete")?).await?,
            (true, false) => false,
            (false, _) => {
                self.text_landed(world).await?;
                let message = "the editor did not select its text by the keys for that, or takes no paste";
                return Err(unknown(Error::new(ErrorCode::Unsupported, message).hint(
                    "nothing was replaced; stickpin press @REF and stickpin key do what its own keys are for",
                )));
            }
        };
        if opened {
            return Ok(Performed { handled: true, ..Performed::default() });
        }
        self.read_code(world, id).await
    }

    /// Reads back what an editor holds now, and leaves the caret at the end of it.
    async fn read_code(&self, world: &World, id: u64) -> Result<Performed> {
        // Behind a dialog, or in a document that went away with the text, there is nothing to be read.
        let done = || Performed { handled: true, ..Performed::default() };
        match self.tab.frame(world).await {
            Ok(()) => {}
            Err(Fault::Dialog(_) | Fault::WorldGone) => return Ok(done()),
            Err(fault) => return Err(unknown(fault)),
        }
        if self.select_all(world).await? {
            return Ok(done());
        }
        let read: Option<CodeRead> = match self.tab.call(world, "readCode", (id,)).await {
            Ok(read) => read,
            Err(Fault::Dialog(_) | Fault::WorldGone) => return Ok(done()),
            Err(fault) => return Err(unknown(fault)),
        };
        let Some(read) = read else { return Ok(Performed { unread: true, ..done() }) };
        if read.focused {
            self.stroke(Modifiers::default(), &keys::key("ArrowRight")?).await?;
        }
        let landed = self.text_landed(world).await?;
        if let Landed::Elsewhere { .. } | Landed::Changed { .. } = landed {
            return Ok(Performed { landed, ..done() });
        }
        Ok(Performed { unread: read.text.is_none(), value: read.text, ..done() })
    }

    /// Sends the keys that select everything. Answers whether a dialog opened.
    async fn select_all(&self, world: &World) -> Result<bool> {
        self.stroke(command(), &keys::key("a")?).await?;
        // Editors draw the selection, and some fill their field with it, in a frame.
        match self.tab.frame(world).await {
            Ok(()) => Ok(false),
            Err(Fault::Dialog(_)) => Ok(true),
            Err(fault) => Err(unknown(fault)),
        }
    }

    /// Moves the caret of a code editor behind all that it holds.
    pub(crate) async fn caret_to_end(&self) -> Result<()> {
        let key = if cfg!(target_os = "macos") { "ArrowDown" } else { "End" };
        self.stroke(command(), &keys::key(key)?).await.map(drop)
    }
}
