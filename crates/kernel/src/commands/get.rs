//! `get title`, `get url`: what the open page is.

use crate::command::{Command, Spec};
use crate::cx::Cx;
use crate::device::{CaptureRequest, Captured};
use crate::error::Result;
use crate::render::{Show, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Print the title of the page or window.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GetTitle {}

/// Print the address of the page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GetUrl {}

/// One value.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Got {
    value: String,
}

async fn document(cx: &mut Cx) -> Result<stickpin_tree::Document> {
    match cx.device()?.capture(CaptureRequest::default()).await? {
        Captured::Tree(tree) => Ok(tree.documents()[0].clone()),
        Captured::Unchanged => unreachable!("not asked for"),
    }
}

impl Command for GetTitle {
    const SPEC: Spec = Spec { name: "get title", examples: &["stickpin get title"], ..Spec::SESSION };
    type Output = Got;

    async fn run(self, cx: &mut Cx) -> Result<Got> {
        Ok(Got { value: document(cx).await?.title })
    }
}

impl Command for GetUrl {
    const SPEC: Spec = Spec { name: "get url", examples: &["stickpin get url"], ..Spec::SESSION };
    type Output = Got;

    async fn run(self, cx: &mut Cx) -> Result<Got> {
        Ok(Got { value: document(cx).await?.url })
    }
}

impl Show for Got {
    fn show(&self, text: &mut Text) {
        text.line(&self.value);
    }
}
