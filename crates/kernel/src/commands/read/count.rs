//! `count`: how many elements match.

use crate::api::render::{Show, Text};
use crate::api::spec::Spec;
use crate::api::target::Target;
use crate::command::context::Cx;
use crate::command::definition::Command;
use crate::observe::{capture, resolve};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stickpin_device::{Capability, Error, Result};
use stickpin_session::Origin;

/// Count the elements that a selector matches. None is an answer, not an error.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Count {
    /// A selector.
    #[schemars(extend("x-positional" = 0))]
    selector: Target,
}

/// How many there are.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counted {
    count: usize,
}

impl Command for Count {
    const SPEC: Spec = Spec {
        name: "count",
        needs: &[Capability::Capture],
        examples: &["stickpin count 'role=listitem in(role=list)'"],
        ..Spec::SESSION
    };
    type Output = Counted;

    async fn run(self, cx: &mut Cx) -> Result<Counted> {
        let Target::Selector(selector) = &self.selector else {
            return Err(Error::invalid_args(format!("{} is no selector", self.selector))
                .hint("stickpin count 'role=listitem'"));
        };
        let tree = capture::look(cx, Origin::Look).await?;
        let matches = resolve::matches(cx, &tree, selector).await?;
        Ok(Counted { count: stickpin_tree::reduce(&tree, &matches).len() })
    }
}

impl Show for Counted {
    fn show(&self, text: &mut Text) {
        text.line(self.count);
    }
}
