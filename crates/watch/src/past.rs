//! Past steps: the picture if somebody was watching, otherwise the tree in the session log.

use crate::board::Board;
use crate::remote::Remote;
use serde_json::{Value, json};
use stickpin_kernel::commands::stored_tree::WatchTreeOutput;

/// Returns the frame after a command or, without one, the outline of the last stored tree; `None`
/// if there is neither.
pub(crate) async fn show(command: u64, board: &Board, remote: &Remote) -> Option<Value> {
    if let Some(frame) = board.step(command) {
        return Some(json!(*frame));
    }
    let tree = board.tree_at(command)?;
    let input = json!({ "blob": tree.blob, "bytes": tree.bytes });
    let stored = remote.output::<WatchTreeOutput>("watch tree", input).await;
    let (outline, problem) = match stored {
        Ok(WatchTreeOutput { text: Some(text), is_cut: false }) => (text, None),
        Ok(WatchTreeOutput { text: Some(text), is_cut: true }) => (text, Some("the end is left out")),
        Ok(WatchTreeOutput { text: None, .. }) => {
            (String::new(), Some("its content was removed to limit the size of the log"))
        }
        Err(e) => {
            tracing::debug!("a stored tree: {e}");
            (String::new(), Some("its content cannot be read"))
        }
    };
    Some(json!({
        "id": 0, "step": command, "url": "", "title": "", "width": 0, "height": 0, "boxes": [],
        "failedRequests": [], "outline": outline, "stored": tree, "problem": problem,
    }))
}
