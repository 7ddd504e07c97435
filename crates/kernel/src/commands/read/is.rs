//! `is`: checks a predicate of an element.

use crate::commands::prelude::*;
use crate::observe::question::{Answer, Predicate, ask};

/// Ask whether something holds for an element now.
///
/// False exits with 1 and says what is true instead.
///
/// For `exists`, `absent`, `visible` and `hidden` an ended ref and a selector without match are
/// answers, not errors.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Is {
    /// What to ask.
    #[schemars(extend("x-positional" = 0))]
    pub predicate: Predicate,
    /// Ref or selector.
    #[schemars(extend("x-positional" = 1))]
    pub target: Target,
    /// What the text or value has to be, whole.
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
                .hint("stickpin is text TARGET \"Total 12\", stickpin is visible TARGET"));
        }
        ask(cx, self.predicate, &self.target, self.value.as_deref()).await
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
