//! `clipboard read`, `clipboard write`: the text on the clipboard.

use crate::commands::prelude::*;
use crate::commands::read::get::ValueOutput;
use stickpin_tree::format_count;

/// The maximum size of a text that is written, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Print the text on the clipboard that the app's own Copy and Paste use.
///
/// A browser without a window has its own clipboard; a browser with a window uses the desktop's.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClipboardRead {}

/// Put text on the clipboard that the app's own Paste uses.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClipboardWrite {
    /// The text.
    #[schemars(extend("x-positional" = 0, "x-text" = true))]
    pub text: String,
}

impl Command for ClipboardRead {
    const SPEC: Spec = Spec {
        name: "clipboard read",
        needs: &[Capability::Clipboard],
        examples: &["stickpin clipboard read"],
        ..Spec::SESSION
    };
    type Output = ValueOutput;

    async fn run(self, cx: &mut Cx) -> Result<ValueOutput> {
        let text = facets::clipboard(cx.device()?, "read the clipboard")?.read_clipboard().await?;
        Ok(ValueOutput::within_limit(text.into(), cx))
    }
}

impl Command for ClipboardWrite {
    const SPEC: Spec = Spec {
        name: "clipboard write",
        effect: Effect::Mutates,
        needs: &[Capability::Clipboard],
        examples: &["stickpin clipboard write 'dear all'", "stickpin key Control+v"],
        ..Spec::SESSION
    };
    type Output = ActionOutput;

    async fn run(self, cx: &mut Cx) -> Result<ActionOutput> {
        if self.text.len() > MAX_BYTES {
            let message =
                format!("the text has {} bytes; the clipboard accepts at most {MAX_BYTES}", self.text.len());
            return Err(Error::invalid_args(message).hint("use `fill` for longer text"));
        }
        let _under_way = cx.begin_operation();
        facets::clipboard(cx.device()?, "write the clipboard")?.write_clipboard(&self.text).await?;
        Ok(ActionOutput::new("copied", format_count(self.text.chars().count(), "character")))
    }
}
