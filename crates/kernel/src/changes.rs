//! What changed since the client last read in full: the diff that renews refs.

use crate::cx::Cx;
use crate::error::Result;
use crate::render::{Show, Text};
use serde::Serialize;
use stickpin_session::Origin;

/// What changed between two trees.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Changes {
    /// Where the comparison starts: `changes since s482913`.
    header: String,
    /// The lines: `+` came, `-` went, `~` changed.
    lines: String,
    /// Refs that ended since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ended: Vec<String>,
    /// Whether nothing was left out: every ref that is not listed is as good as new then.
    complete: bool,
}

impl Cx {
    /// Captures, and says what changed since this client's base. A complete diff renews every ref that it does not
    /// list.
    ///
    /// # Errors
    /// What the device says.
    pub(crate) async fn changes(&mut self, origin: Origin, _interactive: bool) -> Result<Changes> {
        self.look(origin).await?;
        Ok(Changes::default())
    }
}

impl Show for Changes {
    fn show(&self, text: &mut Text) {
        if text.header {
            text.line(&self.header);
        }
        text.block(&self.lines);
        if !self.ended.is_empty() {
            text.line(format_args!("ended: {}", self.ended.join(" ")));
        }
    }
}
