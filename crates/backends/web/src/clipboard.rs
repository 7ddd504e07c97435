//! The clipboard, as pages of this browser see it: text only.

use crate::cdp::protocol::SetPermission;
use crate::device::WebDevice;
use serde::Deserialize;
use serde_json::json;
use stickpin_kernel::{Error, ErrorCode, Result};

/// What the page answered.
#[derive(Debug, Deserialize)]
struct Answer {
    text: Option<String>,
    /// It has no clipboard: only pages from safe origins have (Clipboard API, 4).
    #[serde(default)]
    none: bool,
    why: Option<String>,
}

impl WebDevice {
    /// Reads the clipboard, or writes a text to it. The pages of this browser may read it from then on, as if a person
    /// had allowed it.
    pub(crate) async fn clipboard(&mut self, write: Option<&str>) -> Result<String> {
        for name in ["clipboard-read", "clipboard-write"] {
            let allow = SetPermission { permission: json!({ "name": name }), setting: "granted" };
            let asked = self.tab.client.send(None, &allow);
            self.tab.answer(asked).await?;
        }
        let call = match write {
            None => "readText()".to_owned(),
            Some(text) => format!("writeText({})", json!(text)),
        };
        // Focus is emulated, so that nothing has to come to the front for it.
        let script = format!(
            "navigator.clipboard?navigator.clipboard.{call}.then(text=>({{text:text??''}}),e=>({{why:String(e)}})):{{none:true}}"
        );
        let top = self.tab.top().await?;
        let answer: Answer = self.tab.evaluate(&top, script).await?;
        if answer.none {
            return Err(Error::new(
                ErrorCode::Unsupported,
                "this page has no clipboard: its address is not https or localhost",
            )
            .hint("type the text with stickpin fill or type; stickpin get text reads it"));
        }
        answer.text.ok_or_else(|| {
            let why = stickpin_tree::quote(answer.why.as_deref().unwrap_or_default());
            Error::new(ErrorCode::Unsupported, format!("the browser refused the clipboard: {why}"))
        })
    }
}
