//! Facts about one element that are not in the tree, and the whole text of one that is long.

use crate::bus::{self, Args, Fault, TEXT};
use crate::device::{LinuxDevice, gone};
use crate::roles;
use serde_json::{Value, json};
use stickpin_kernel::Result;
use stickpin_kernel::device::{Query, unsupported};
use stickpin_tree::Handle;

/// Characters that are asked for at once.
const PIECE: i32 = 65_536;

/// Characters of one element's text that are read at most.
const WHOLE: i32 = 4 << 20;

impl LinuxDevice {
    /// Answers a question about one element.
    ///
    /// # Errors
    /// `UNSUPPORTED`, `ELEMENT_NOT_FOUND`, `BACKEND_LOST`.
    pub(crate) async fn answer(&mut self, handle: Handle, query: Query) -> Result<Value> {
        match query {
            Query::Html => Err(unsupported("linux", "show the markup of an element")),
            Query::Attrs => self.attributes(handle).await,
            Query::Text => self.text(handle).await.map(Value::String),
        }
    }

    async fn attributes(&mut self, handle: Handle) -> Result<Value> {
        let path = self.path(handle)?;
        self.look(&[]).await?;
        let Some(last) = &self.last else { return Err(gone()) };
        let object = last.picture.objects.iter().find(|object| *object.path == *path).ok_or_else(gone)?;
        let mut out = json!({
            "role": roles::tag(object.role),
            "path": object.path,
            "name": object.name,
            "description": object.description,
            "states": format!("{:#x}", object.states),
        });
        for (key, value) in &object.attributes {
            out[key] = json!(value);
        }
        Ok(out)
    }

    /// The text that a person sees: that of the element itself, in pieces, else what stands in it. What is secret is not
    /// read.
    async fn text(&mut self, handle: Handle) -> Result<String> {
        let path = self.path(handle)?;
        let tree = self.look(&[]).await?;
        let node = tree.find_handle(handle).ok_or_else(gone)?;
        if node.is(stickpin_tree::States::PROTECTED) {
            return Ok(String::new());
        }
        match self.whole_text(&path).await {
            Ok(text) if !text.trim().is_empty() && !text.contains('\u{fffc}') => return Ok(text),
            Ok(_) | Err(Fault::Unknown | Fault::Refused(_) | Fault::Vanished | Fault::Corrupt(_)) => {}
            Err(fault) => return Err(self.failed(fault).await),
        }
        let leaves: Vec<&str> = node.subtree().filter(|n| n.is_text()).map(|n| n.name()).collect();
        Ok(if leaves.is_empty() { node.name().to_owned() } else { leaves.join("\n") })
    }

    /// The text of an object that has one, piece by piece.
    ///
    /// # Errors
    /// `Unknown` when it has none.
    pub(crate) async fn whole_text(&self, path: &str) -> std::result::Result<String, Fault> {
        let asked = [bus::property(path, TEXT, "CharacterCount")];
        let count = match self.link.calls(&asked).await.pop() {
            Some(answer) => answer?.body().variant_number()?.unwrap_or(0.0),
            None => 0.0,
        };
        #[expect(clippy::cast_possible_truncation, reason = "a count of characters, bounded here")]
        let count = count.clamp(0.0, f64::from(WHOLE)) as i32;
        let mut text = String::new();
        let mut from = 0;
        while from < count {
            let to = (from + PIECE).min(count);
            let piece = self.link.call(path, TEXT, "GetText", Args::new().int(from).int(to)).await?;
            text.push_str(piece.body().text()?);
            from = to;
        }
        Ok(text)
    }
}
