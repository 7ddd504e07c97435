//! `is`: checks a predicate of an element.

use crate::commands::prelude::*;
use crate::observe::predicate::evaluate;
pub use crate::observe::predicate::{Answer, Predicate};
use crate::observe::resolve::Freshness;

/// Check a condition of an element now.
///
/// If the condition is false, exits with 1 and prints what is true instead.
///
/// For `exists`, `absent`, `visible` and `hidden`, an ended ref or a selector without a match is an
/// answer, not an error.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Is {
    /// The condition.
    #[schemars(extend("x-positional" = 0))]
    pub predicate: Predicate,
    /// Ref or selector.
    #[schemars(extend("x-positional" = 1))]
    pub target: Target,
    /// The expected text or value, in full.
    #[schemars(extend("x-positional" = 2, "x-text" = true))]
    pub value: Option<String>,
}

impl Command for Is {
    const SPEC: Spec = Spec {
        name: "is",
        asserts: true,
        needs: &[Capability::Capture],
        examples: &[
            "stickpin is visible 'role=heading \"Welcome\"'",
            "stickpin is checked @e4",
            "stickpin is value @e5 42",
        ],
        ..Spec::SESSION
    };
    type Output = Answer;

    async fn run(self, cx: &mut Cx) -> Result<Answer> {
        if self.predicate.takes_value() != self.value.is_some() {
            let (verb, name) =
                (if self.value.is_some() { "takes no" } else { "needs a" }, self.predicate.name());
            return Err(Error::invalid_args(format!("`is {name}` {verb} value"))
                .hint("for example: `stickpin is text @e4 \"Total 12\"` or `stickpin is visible @e4`"));
        }
        evaluate(cx, self.predicate, &self.target, self.value.as_deref(), Freshness::Stored).await
    }
}

impl Show for Answer {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("{}: {}", self.holds, self.truth));
    }

    fn exit(&self) -> u8 {
        u8::from(!self.holds)
    }
}
