//! `count`: counts matching elements.

use crate::commands::prelude::*;

/// Count the elements that a selector matches. Zero is an answer, not an error.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Count {
    /// A selector.
    #[schemars(extend("x-positional" = 0))]
    pub selector: Target,
}

/// The number of matches.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CountOutput {
    /// The number of elements that match.
    pub count: usize,
}

impl Command for Count {
    const SPEC: Spec = Spec {
        name: "count",
        needs: &[Capability::Capture],
        examples: &["stickpin count 'role=listitem in(role=list)'"],
        ..Spec::SESSION
    };
    type Output = CountOutput;

    async fn run(self, cx: &mut Cx) -> Result<CountOutput> {
        let Target::Selector(selector) = &self.selector else {
            return Err(Error::invalid_args(format!("{} is not a selector", self.selector))
                .hint("for example: `stickpin count 'role=listitem'`"));
        };
        let tree = capture::capture_app(cx, Origin::Internal).await?;
        let matches = resolve::match_all(cx, &tree, selector).await?;
        Ok(CountOutput { count: stickpin_tree::reduce(&tree, &matches).len() })
    }
}

show_line!(CountOutput: it => "{}", it.count);
