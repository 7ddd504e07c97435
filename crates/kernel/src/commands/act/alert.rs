//! `alert status|accept|dismiss`: the pending dialog of the app.

use crate::commands::prelude::*;
use crate::observe::waiting::{WaitTimeout, WakeOn};
use stickpin_device::{Dialog, DialogAnswer};

/// Show whether a dialog of the app (confirm, prompt, beforeunload) is waiting for an answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AlertStatus {}

/// Answer the waiting dialog with OK, and a prompt with the text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AlertAccept {
    /// The answer to a prompt; by default the prompt's default text.
    #[schemars(extend("x-positional" = 0, "x-text" = true))]
    pub text: Option<String>,
    /// Milliseconds to wait for a dialog to open.
    pub timeout: Option<u64>,
}

/// Answer the waiting dialog with Cancel.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AlertDismiss {
    /// Milliseconds to wait for a dialog to open.
    pub timeout: Option<u64>,
}

/// The pending dialog, if any.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingDialog {
    /// The dialog that is waiting for an answer, or `None` if there is none.
    pub dialog: Option<Dialog>,
}

/// The dialog that was answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnsweredDialog {
    /// The dialog as it was before the answer.
    pub dialog: Dialog,
    /// Whether the dialog was accepted.
    pub accepted: bool,
}

/// The properties that the `alert` commands share. While a dialog is pending, most other commands
/// are refused, so these commands run before the queued ones.
const ALERT: Spec =
    Spec { lane: Lane::Ahead, despite_dialog: true, needs: &[Capability::Dialogs], ..Spec::SESSION };

impl Command for AlertStatus {
    const SPEC: Spec = Spec { name: "alert status", examples: &["stickpin alert status"], ..ALERT };
    type Output = PendingDialog;

    async fn run(self, cx: &mut Cx) -> Result<PendingDialog> {
        Ok(PendingDialog { dialog: cx.device()?.dialog() })
    }
}

impl Command for AlertAccept {
    const SPEC: Spec = Spec {
        name: "alert accept",
        effect: Effect::Mutates,
        examples: &[
            "stickpin alert accept",
            "stickpin alert accept \"Ada\"",
            "stickpin alert accept --timeout 5000",
        ],
        ..ALERT
    };
    type Output = AnsweredDialog;

    fn time_limits(&self) -> TimeLimits {
        TimeLimits { deadline: ALERT.deadline + patience(self.timeout), response_limit: None }
    }

    async fn run(self, cx: &mut Cx) -> Result<AnsweredDialog> {
        answer(cx, DialogAnswer::Accept(self.text), patience(self.timeout)).await
    }
}

impl Command for AlertDismiss {
    const SPEC: Spec = Spec {
        name: "alert dismiss",
        effect: Effect::Mutates,
        examples: &["stickpin alert dismiss"],
        ..ALERT
    };
    type Output = AnsweredDialog;

    fn time_limits(&self) -> TimeLimits {
        TimeLimits { deadline: ALERT.deadline + patience(self.timeout), response_limit: None }
    }

    async fn run(self, cx: &mut Cx) -> Result<AnsweredDialog> {
        answer(cx, DialogAnswer::Dismiss, patience(self.timeout)).await
    }
}

fn patience(timeout: Option<u64>) -> Duration {
    Duration::from_millis(timeout.unwrap_or(0))
}

async fn answer(cx: &mut Cx, answer: DialogAnswer, patience: Duration) -> Result<AnsweredDialog> {
    let accepted = matches!(answer, DialogAnswer::Accept(_));
    let patience = WaitTimeout::new(patience);
    let dialog = loop {
        if let Some(dialog) = cx.device()?.dialog() {
            break dialog;
        }
        if patience.remaining().is_zero() {
            return Err(Error::element_not_found("no dialog is waiting for an answer").hint(
                "run `stickpin snapshot -i` to see the app, or use `--timeout MS` to wait for a dialog",
            ));
        }
        patience.wait_for_next_check(cx, WakeOn::AnyEvent, "a dialog", "none is open").await?;
    };
    cx.mark_dispatched();
    let under_way = cx.begin_operation();
    facets::dialogs(cx.device()?, "answer dialogs")?.answer_dialog(answer).await?;
    drop(under_way);
    // The blocked action continues: read its outcome.
    let opts = ActionOptions { receipt: true, ..ActionOptions::default() };
    outcome::finish_action(cx, None, opts, ActionOutput::new("answered", dialog.describe())).await?;
    Ok(AnsweredDialog { dialog, accepted })
}

impl Show for PendingDialog {
    fn show(&self, text: &mut Text) {
        match &self.dialog {
            Some(d) => text.line(format_args!("{} is waiting for an answer", d.describe())),
            None => text.line("no dialog is waiting"),
        }
    }
}

impl Show for AnsweredDialog {
    fn show(&self, text: &mut Text) {
        let word = if self.accepted { "accepted" } else { "dismissed" };
        text.line(format_args!("{word} {}", self.dialog.describe()));
    }
}
