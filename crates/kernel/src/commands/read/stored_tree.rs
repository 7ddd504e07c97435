//! `watch tree`: a tree that a command of the session stored. The command is not in the registry;
//! the host that serves watchers adds it.

use crate::commands::prelude::*;
use stickpin_coordinator::stored_tree;
use stickpin_session::log::{BlobId, BlobRef};

/// The maximum size of the text, in bytes.
const MAX_TEXT: usize = 256 << 10;

/// Show a stored tree to a watcher.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WatchTree {
    /// The id of the tree's content, as in the log record of the tree.
    pub blob: String,
    /// The size of the content in bytes.
    pub bytes: u64,
}

/// The text of a stored tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchTreeOutput {
    /// Every node as a line; absent if the tree was removed to limit the size of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether the end of the text is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl Command for WatchTree {
    const SPEC: Spec = Spec { name: "watch tree", logged: false, ..Spec::HOST };
    type Output = WatchTreeOutput;

    async fn run(self, cx: &mut Cx) -> Result<WatchTreeOutput> {
        let (session, _) = authority::require(cx)?;
        let id = BlobId::parse(&self.blob).map_err(|e| Error::invalid_args(e.to_string()))?;
        let blob = BlobRef { blob: id, bytes: self.bytes };
        // Read on a thread that no command uses: a tree can be megabytes in size.
        let read = tokio::task::spawn_blocking(move || stored_tree(&session, &blob)).await;
        let text = read.map_err(|e| Error::internal(format!("the stored tree cannot be read: {e}")))??;
        let is_cut = text.as_ref().is_some_and(|text| text.len() > MAX_TEXT);
        Ok(WatchTreeOutput { text: text.map(cut), is_cut })
    }
}

/// Returns the first lines of a text, at most [`MAX_TEXT`] bytes.
fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let end = text.as_bytes()[..MAX_TEXT].iter().rposition(|&b| b == b'\n').unwrap_or(0);
        text.truncate(end);
    }
    text
}

impl Show for WatchTreeOutput {
    fn show(&self, text: &mut Text) {
        text.block(self.text.as_deref().unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_ends_with_a_whole_line() {
        let line = format!("{}ü\n", "x".repeat(99));
        let long = cut(line.repeat(10_000));
        assert!(long.len() <= MAX_TEXT && long.len() > MAX_TEXT - line.len() && long.ends_with('ü'));
        assert_eq!(cut(line.clone()), line);
    }
}
