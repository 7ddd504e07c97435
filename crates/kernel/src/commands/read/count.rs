//! `count`: counts matching elements.

use crate::commands::prelude::*;
use crate::observe::resolve::Freshness;

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
        let (_, matches) = resolve::capture_matches(cx, selector, Freshness::Stored).await?;
        Ok(CountOutput { count: matches.len() })
    }
}

show_line!(CountOutput: it => "{}", it.count);
