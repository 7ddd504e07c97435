//! `form`: fills several fields and optionally submits them.

use crate::act::fields::press_action;
use crate::act::{fields, locate};
use crate::api::schema::text_schema;
use crate::api::target;
use crate::commands::prelude::*;
use stickpin_tree::format_count;

acting! {
    /// Fill several fields, and submit if asked.
    ///
    /// All targets are resolved and checked before the first action.
    ///
    /// A value is text, `true` or `false` for a checkbox, or an option of a list.
    pub struct Form {
        /// `TARGET=VALUE`, any number of them: `@e2=ada@example.com`, `label="City"=Graz`.
        #[schemars(length(min = 1), extend("x-positional" = 0, "x-trailing" = true))]
        fields: Vec<Assignment>,
        /// Ref or selector of the element to press at the end.
        submit: Option<Target> = None,
    }
}

/// A field of a form and its new value, written as `TARGET=VALUE`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Assignment {
    /// The field to set.
    pub target: Target,
    /// The new value: a text, `true` or `false`, or an option of a list.
    pub value: String,
}

impl TryFrom<String> for Assignment {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        let (target, at) = target::parse_assignment_target(&text).map_err(|first| {
            let why = first.map(|e| format!(": {}", e.message)).unwrap_or_default();
            let message = format!("{} is not of the form `TARGET=VALUE`{why}", quote(&text));
            Error::invalid_args(message)
                .hint("for example: `stickpin form @e2=ada@example.com 'label=\"City\"=Graz'`")
        })?;
        Ok(Self { target, value: text[at + 1..].to_owned() })
    }
}

impl From<Assignment> for String {
    fn from(a: Assignment) -> Self {
        format!("{}={}", a.target.pinned(), a.value)
    }
}

text_schema!(Assignment, "x-targets" = "assignment");

/// The outcome for each field and for the submission.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FormOutput {
    /// The outcome for each field, in order.
    pub fields: Vec<ActionOutput>,
    /// The outcome of the submission or, if nothing was submitted, of all fields together.
    #[serde(flatten)]
    pub last: ActionOutput,
}

impl Command for Form {
    const SPEC: Spec = Spec {
        name: "form",
        effect: Effect::Mutates,
        needs: &[Capability::Fill],
        deadline: Duration::from_secs(60),
        examples: &["stickpin form @e2=ada@example.com @e3=secret --submit @e4 --settle"],
        ..Spec::SESSION
    };
    type Output = FormOutput;

    fn time_limits(&self) -> TimeLimits {
        self.action_options().time_limits(
            Self::SPEC.deadline,
            crate::command::args::ACTION_ALLOWANCE * u32::try_from(self.fields.len()).unwrap_or(u32::MAX),
        )
    }

    async fn run(self, cx: &mut Cx) -> Result<FormOutput> {
        let opts = self.action_options();
        resolve::note_standings(cx, self.fields.iter().map(|f| &f.target).chain(&self.submit))?;
        // Fill the checked elements: a selector may match another element after the first field has
        // been filled.
        let mut held = Vec::new();
        for field in &self.fields {
            let (_, ready) = fields::field_kind(cx, &field.target, &field.value, opts).await?;
            held.push(match &ready.found {
                Some(found) => locate::pin_selector_to_ref(cx, &field.target, found)?,
                None => field.target.clone(),
            });
        }
        let submit = match &self.submit {
            // Do not check whether this element is enabled: filling the fields may enable it.
            Some(submit @ (Target::Ref(_) | Target::Selector(_))) => {
                let found = locate::locate_target(cx, submit, opts).await?;
                Some(locate::pin_selector_to_ref(cx, submit, &found)?)
            }
            submit => submit.clone(),
        };
        // One receipt for all fields, without settling in between.
        let quiet = ActionOptions { settle: None, receipt: false, ..opts };
        let mut fields = Vec::new();
        for (field, target) in self.fields.iter().zip(&held) {
            let (ready, acted) = fields::set_field(cx, target, &field.value, quiet).await?;
            fields.push(outcome::finish_action(cx, Some(&ready), quiet, acted).await?);
        }
        let (ready, acted) = match &submit {
            None => (None, ActionOutput::new("filled", format_count(fields.len(), "field"))),
            Some(submit) => {
                let ready = input::press_target(cx, submit, true, opts, press_action).await?;
                let acted = ActionOutput::new("pressed", &ready.description);
                (Some(ready), acted)
            }
        };
        let last = outcome::finish_action(cx, ready.as_ref(), opts, acted).await?;
        Ok(FormOutput { fields, last })
    }
}

impl Show for FormOutput {
    fn show(&self, text: &mut Text) {
        for field in &self.fields {
            field.show(text);
        }
        self.last.show(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Option<(String, String)> {
        let a = Assignment::try_from(text.to_owned()).ok()?;
        Some((a.target.to_string(), a.value))
    }

    #[test]
    fn the_target_ends_where_a_whole_target_stands() {
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(split("@e2=a=b"), pair("@e2", "a=b"));
        assert_eq!(split("@e2="), pair("@e2", ""));
        assert_eq!(split("label=\"City\"=Graz"), pair("label=City", "Graz"));
        assert_eq!(split("role=textbox label=\"E=M\"=x"), pair("role=textbox label=E=M", "x"));
        assert_eq!(split("@e2"), None);
        assert_eq!(split("@e0=x"), None);
    }
}
