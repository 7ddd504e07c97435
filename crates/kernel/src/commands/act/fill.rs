//! `fill`: replaces the content of a field and reads it back.

use crate::commands::prelude::*;
use std::collections::BTreeSet;

/// The maximum number of secret names in a message.
const MAX_NAMED_SECRETS: usize = 10;

acting! {
    /// Replace the content of a field, and check that the field accepted the text.
    ///
    /// A value that the app formats (`1234` becomes `1,234`) or completes is accepted and reported;
    /// any other value is an error. In a code editor, the text is pasted over the whole content, so
    /// that the editor adds no brackets.
    pub struct Fill {
        /// Ref or selector of a field that accepts text.
        #[schemars(extend("x-positional" = 0))]
        target: Target,
        /// The new content; empty text clears the field.
        #[schemars(extend("x-positional" = 1, "x-text" = true))]
        text: Option<String> = None,
        /// Fill in the value of STICKPIN_SECRET_NAME from the environment. No response shows it.
        #[schemars(extend("x-placeholder" = "NAME", "x-secret" = true))]
        secret: Option<String> = None,
        /// Record `${NAME}` in place of the text; a replay takes the value from that variable.
        #[schemars(extend("x-placeholder" = "NAME", "x-unrecorded" = true))]
        record_as: Option<String> = None,
    }
}

impl TargetedAction for Fill {
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

    fn input_time(&self) -> Duration {
        crate::command::args::typing_time(self.text.as_deref().unwrap_or_default())
    }

    async fn act(self, cx: &mut Cx, opts: ActionOptions) -> Result<(ActionTarget, ActionOutput)> {
        let text = match (self.text, &self.secret) {
            (Some(text), None) => text,
            (None, Some(name)) => secret(cx, name)?,
            (given, _) => {
                let message = if given.is_some() {
                    "`fill` takes either text or `--secret`, not both"
                } else {
                    "`fill` needs text or `--secret NAME`"
                };
                return Err(Error::invalid_args(message).hint(
                    "for example: `stickpin fill @e2 qa@example.com` or `stickpin fill @e3 --secret SHOP`",
                ));
            }
        };
        crate::act::fill::fill(cx, &self.target, &text, opts).await
    }
}

/// Returns the value of one of the caller's secrets. From now on, the session never shows it.
///
/// # Errors
/// Returns `INVALID_ARGS` when the caller has no secret of this name, and `SESSION_NOT_FOUND` when
/// nothing is open.
fn secret(cx: &mut Cx, name: &str) -> Result<String> {
    let Some(secret) = cx.caller.secrets.get(name).cloned() else {
        let known: BTreeSet<&String> = cx.caller.secrets.keys().chain(&cx.caller.secret_names).collect();
        let known: Vec<String> = known.into_iter().take(MAX_NAMED_SECRETS).map(|n| quote(n)).collect();
        let known = match known.is_empty() {
            true => String::new(),
            false => format!("use one of {}, or ", known.join(", ")),
        };
        return Err(Error::invalid_args(format!("there is no secret {}", quote(name)))
            .hint(format!("{known}set STICKPIN_SECRET_NAME, with the secret's name in place of NAME, before you start stickpin")));
    };
    let value = secret.reveal().to_owned();
    let secrets = &mut cx.open_session()?.secrets;
    if !secrets.contains(&secret) {
        secrets.push(secret);
    }
    Ok(value)
}
