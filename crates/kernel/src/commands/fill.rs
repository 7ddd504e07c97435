//! `fill`: replaces the content of a field and reads it back.

use crate::act::{How, Reach, Ready};
use crate::after::Acted;
use crate::args::acting;
use crate::command::{Command, Effect, Spec};
use crate::cx::Cx;
use crate::target::Target;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use stickpin_device::{Action, Capability, Error, ErrorCode, Result};
use stickpin_tree::{escape, quote};

/// Names of secrets that a message lists.
const NAMED: usize = 10;

/// Characters of what a field takes, in a message.
const ACCEPTS: usize = 200;

acting! {
    /// Replace the content of a field by a text, and check that the field took it.
    ///
    /// A value that the app formats (`1234` becomes `1,234`), or completes by an end that is selected, is fine and is
    /// said; any other value is an error. A code editor gets the text pasted over all that it holds, so that it
    /// closes no brackets.
    pub(crate) struct Fill {
        /// Ref or selector of a field that takes text.
        #[schemars(extend("x-positional" = 0))]
        target: Target,
        /// The new content; an empty text clears the field.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("x-positional" = 1, "x-text" = true))]
        text: Option<String>,
        /// Instead of a text: what STICKPIN_SECRET_NAME holds in the environment. No answer shows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("x-placeholder" = "NAME", "x-secret" = true))]
        secret: Option<String>,
        /// In a recording `${NAME}` stands for the text; a replay is given it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("x-placeholder" = "NAME", "x-unrecorded" = true))]
        record_as: Option<String>,
    }
}

impl Command for Fill {
    const SPEC: Spec = Spec {
        name: "fill",
        idempotent: true,
        effect: Effect::Mutates,
        needs: &[Capability::Fill],
        examples: &[
            "stickpin fill @e2 qa@example.com",
            "stickpin fill 'label=\"Notes\"' ''",
            "stickpin fill label=Password --secret SHOP",
        ],
        ..Spec::SESSION
    };
    type Output = Acted;

    fn deadline(&self) -> Duration {
        Self::SPEC.deadline + self.how().extra()
    }

    fn bound(&self) -> Option<Duration> {
        self.how().bound(crate::args::typing(self.text.as_deref().unwrap_or_default()))
    }

    async fn run(self, cx: &mut Cx) -> Result<Acted> {
        let how = self.how();
        let text = match (self.text, &self.secret) {
            (Some(text), None) => text,
            (None, Some(name)) => cx.secret(name)?,
            (given, _) => {
                let why =
                    if given.is_some() { "a text or --secret, not both" } else { "a text, or --secret NAME" };
                return Err(Error::new(ErrorCode::InvalidArgs, format!("`fill` takes {why}"))
                    .hint("stickpin fill @e2 qa@example.com, or stickpin fill @e3 --secret SHOP"));
            }
        };
        let (ready, acted) = fill(cx, &self.target, &text, how).await?;
        cx.after(Some(&ready), how, acted).await
    }
}

impl Cx {
    /// A value that this session does not show from now on.
    ///
    /// # Errors
    /// `INVALID_ARGS` when the caller has none of this name.
    fn secret(&mut self, name: &str) -> Result<String> {
        let Some(secret) = self.caller.secrets.get(name).cloned() else {
            let known: BTreeSet<&String> =
                self.caller.secrets.keys().chain(&self.caller.secret_names).collect();
            let known: Vec<String> = known.into_iter().take(NAMED).map(|n| quote(n)).collect();
            let known = if known.is_empty() {
                "there is none".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            return Err(Error::new(ErrorCode::InvalidArgs, format!("no secret is called {}", quote(name))).hint(
                format!("{known}; a program gets one from STICKPIN_SECRET_NAME in the environment it is started with"),
            ));
        };
        let value = secret.reveal().to_owned();
        let secrets = &mut self.live()?.secrets;
        if !secrets.contains(&secret) {
            secrets.push(secret);
        }
        Ok(value)
    }
}

/// Fills a field and reads it back.
///
/// # Errors
/// Of resolving and the guards; `FILL_MISMATCH` when it reads something else.
pub(crate) async fn fill(cx: &mut Cx, target: &Target, text: &str, how: How) -> Result<(Ready, Acted)> {
    let action = |cx: &Cx, ready: &Ready| {
        cx.fillable(ready)?;
        Ok(Action::Fill { target: ready.element()?, text: text.to_owned() })
    };
    let (ready, performed) = cx.act_on(target, Reach::View, how, action).await?;
    let mut acted = Acted::new("filled", &ready.words);
    if performed.unread {
        cx.warn(format!(
            "What {} holds now could not be read back: stickpin screenshot shows it.",
            ready.words
        ));
    }
    if let Some(value) = performed.value
        && value != text
    {
        acted.completed = performed.completed.filter(|rest| value.strip_prefix(text) == Some(rest));
        if acted.completed.is_none() && !same_but_for_format(&value, text) {
            return Err(
                mismatch(&ready, text, &value, performed.accepts.as_deref()).dispatched(cx.dispatched())
            );
        }
        if ready.protected {
            acted.completed = None;
        } else {
            acted.value = Some(value);
        }
    }
    Ok((ready, acted))
}

/// Whether two values differ only in what formatting adds: white space, separators, case. Numbers are the same when
/// their values are.
pub(crate) fn same_but_for_format(a: &str, b: &str) -> bool {
    let bare = |s: &str| -> String {
        s.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let number = |s: &str| s.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    if let (Some(a), Some(b)) = (number(a), number(b))
        && a != b
    {
        return false;
    }
    let (a, b) = (bare(a), bare(b));
    a == b && !a.is_empty()
}

/// The field holds something else than was filled in. What is secret is not repeated.
fn mismatch(ready: &Ready, filled: &str, reads: &str, accepts: Option<&str>) -> Error {
    let words = &ready.words;
    let hint = match accepts {
        Some(accepts) => {
            format!("the field takes {}; stickpin fill @REF '' clears it, stickpin type --into @REF then enters a text key by key", escape(accepts, ACCEPTS))
        }
        None => "the app may refuse or rewrite this value; stickpin fill @REF '' clears the field, stickpin type --into @REF \
                 then enters a text key by key"
            .to_owned(),
    };
    if ready.protected {
        let message =
            format!("{words} holds something else than was filled in ({} characters)", reads.chars().count());
        return Error::new(ErrorCode::FillMismatch, message).hint(hint);
    }
    Error::new(
        ErrorCode::FillMismatch,
        format!("{words} reads {} after {} was filled in", quote(reads), quote(filled)),
    )
    .hint(hint)
    .details(json!({ "value": reads }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_is_no_difference_and_content_is() {
        assert!(same_but_for_format("1,234", "1234"));
        assert!(same_but_for_format("+41 79 123", "4179123"));
        assert!(same_but_for_format("de-1234", "DE 1234"));
        assert!(same_but_for_format("1,234.5", "1234.5"));
        assert!(!same_but_for_format("5", "-5"));
        assert!(!same_but_for_format("15", "1.5"));
        assert!(!same_but_for_format("123", "1234"));
        assert!(!same_but_for_format("", "---"));
    }
}
