//! `form`: fills several fields and optionally submits them.

use crate::act::fields::press;
use crate::act::{fields, locate};
use crate::api::schema::text_schema;
use crate::api::target;
use crate::commands::prelude::*;

acting! {
    /// Fill several fields, and submit if asked.
    ///
    /// All targets are resolved and checked before the first action.
    ///
    /// The value fits the field: a text, `true` or `false` for a checkbox, an option for a list.
    pub struct Form {
        /// `TARGET=VALUE`, any number of them: `@e2=ada@example.com`, `label="City"=Graz`.
        #[schemars(length(min = 1), extend("x-positional" = 0, "x-trailing" = true))]
        fields: Vec<Assignment>,
        /// Ref or selector of the element to press at the end.
        #[serde(default)]
        #[schemars(extend("x-placeholder" = "TARGET"))]
        submit: Option<Target> = None,
    }
}

/// A field and its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Assignment {
    /// The field.
    pub target: Target,
    /// The value.
    pub value: String,
}

impl TryFrom<String> for Assignment {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        let (target, at) = target::assigned(&text).map_err(|first| {
            let why = first.map(|e| format!(": {}", e.message)).unwrap_or_default();
            let message = format!("{} is not of the form TARGET=VALUE{why}", stickpin_tree::quote(&text));
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
pub struct Filled {
    /// The outcome for each field, in order.
    pub fields: Vec<Acted>,
    /// The outcome of the submission, or of the last field.
    #[serde(flatten)]
    pub last: Acted,
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
    type Output = Filled;

    fn time(&self) -> Time {
        self.how().time(
            Self::SPEC.deadline,
            crate::command::args::ALLOWANCE * u32::try_from(self.fields.len()).unwrap_or(u32::MAX),
        )
    }

    async fn run(self, cx: &mut Cx) -> Result<Filled> {
        let how = self.how();
        resolve::foresee(cx, self.fields.iter().map(|f| &f.target).chain(&self.submit))?;
        // Fill the checked elements: a selector may match another element once the first field is
        // filled.
        let mut held = Vec::new();
        for field in &self.fields {
            let (_, ready) = fields::kind(cx, &field.target, &field.value, how).await?;
            held.push(match &ready.found {
                Some(found) => locate::hold(cx, &field.target, found)?,
                None => field.target.clone(),
            });
        }
        let submit = match &self.submit {
            // Do not check whether it is enabled, because filling the fields may enable it.
            Some(submit @ (Target::Ref(_) | Target::Selector(_))) => {
                let found = locate::there(cx, submit, how).await?;
                Some(locate::hold(cx, submit, &found)?)
            }
            submit => submit.clone(),
        };
        // One receipt for all fields, without settling in between.
        let quiet = How { settle: None, receipt: false, ..how };
        let mut fields = Vec::new();
        for (field, target) in self.fields.iter().zip(&held) {
            let (ready, acted) = fields::set(cx, target, &field.value, quiet).await?;
            fields.push(outcome::after(cx, Some(&ready), quiet, acted).await?);
        }
        let last = match &submit {
            None => {
                outcome::after(cx, None, how, Acted::new("filled", format!("{} fields", fields.len())))
                    .await?
            }
            Some(submit) => {
                let ready = input::press(cx, submit, true, how, press).await?;
                outcome::after(cx, Some(&ready), how, Acted::new("pressed", &ready.words)).await?
            }
        };
        Ok(Filled { fields, last })
    }
}

impl Show for Filled {
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
