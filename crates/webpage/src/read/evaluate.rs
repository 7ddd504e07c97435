//! Evaluates expressions in the page's own world and waits for their promises.

use crate::read::page::Page;
use crate::tab::{TabError, dialog_open};
use crate::text::clip;
use std::pin::Pin;
use std::time::{Duration, Instant};
use stickpin_device::{Error, ErrorCode, Result, ScriptValue};
use stickpin_devtools::protocol as cdp;
use stickpin_devtools::{CallError, Reply};
use tokio::time::timeout;

/// Timeout for a promise to settle in one evaluation.
const PROMISE_TIMEOUT: Duration = Duration::from_millis(250);

/// The time for which an unsettled promise is kept if it is not queried.
const PROMISE_RETENTION: Duration = Duration::from_secs(2);

/// The number of characters after which a shown value is cut.
const MAX_VALUE_CHARS: usize = 1_000;

/// The object group of values under inspection.
const GROUP: &str = "stickpin-evaluated";

/// An expression whose promise has not settled.
#[derive(Debug)]
pub(crate) struct PendingEvaluation {
    expression: String,
    reply: Pin<Box<Reply<cdp::EvaluateInPage>>>,
    sent_at: Instant,
}
/// Evaluates an expression in the page's own world. Returns `None` when the promise does not settle
/// within the shorter of `at_most` and `PROMISE_TIMEOUT`, or when the document goes away. The same
/// expression can then be evaluated again.
pub async fn value_of(page: &mut Page, expression: &str, at_most: Duration) -> Result<Option<ScriptValue>> {
    let mut expression = expression.to_owned();
    let call = format!("({expression})()");
    loop {
        let Some(answer) = evaluate(page, &expression, at_most).await? else { return Ok(None) };
        if let Some(thrown) = answer.exception_details {
            let said = thrown.exception.and_then(|e| e.description).unwrap_or(thrown.text);
            let said = clip(said.lines().next().unwrap_or_default());
            return Err(Error::new(
                ErrorCode::InvalidArgs,
                format!("the expression threw {}", stickpin_tree::quote(&said)),
            )
            .hint(
                "correct the expression; use `?.` for a value that may be missing, as in `window.app?.ready`",
            )
            .details(serde_json::json!({ "exception": said })));
        }
        let value = answer.result;
        // Call a function value, as other tools do.
        if value.r#type == "function" && expression != call {
            expression.clone_from(&call);
            continue;
        }
        let truthy = is_truthy(&value);
        let shown = describe_value(page, value).await?;
        return Ok(Some(ScriptValue::new(truthy, shown)));
    }
}

async fn evaluate(page: &mut Page, expression: &str, at_most: Duration) -> Result<Option<cdp::Evaluated>> {
    let previous = page
        .pending_evaluation
        .take()
        .filter(|e| e.expression == expression && e.sent_at.elapsed() < PROMISE_RETENTION);
    let mut pending = previous.unwrap_or_else(|| {
        let method = cdp::EvaluateInPage {
            expression: expression.to_owned(),
            await_promise: true,
            user_gesture: false,
            // Also stops endless loops.
            timeout: at_most.as_secs_f64() * 1_000.0,
            object_group: GROUP,
        };
        let reply = Box::pin(page.tab.client.send(Some(&page.tab.session), &method));
        PendingEvaluation { expression: expression.to_owned(), reply, sent_at: Instant::now() }
    });
    let answer = tokio::select! {
        biased;
        answer = timeout(at_most.min(PROMISE_TIMEOUT), pending.reply.as_mut()) => answer,
        gone = page.tab.until(|tab| tab.dialog.clone()) => return Err(dialog_open(&gone?)),
    };
    match answer {
        Ok(Ok(evaluated)) => Ok(Some(evaluated)),
        // The document went away; the next evaluation runs in the new one.
        Ok(Err(e)) if e.is_gone() => page.tab.read(|_| None),
        // The caller evaluates again.
        Ok(Err(CallError::TimedOut { .. })) => Ok(None),
        Ok(Err(e)) => Err(page.tab.call_error(&e)),
        Err(_) => {
            pending.sent_at = Instant::now();
            page.pending_evaluation = Some(pending);
            Ok(None)
        }
    }
}

async fn describe_value(page: &Page, value: cdp::RemoteObject) -> Result<String> {
    let Some(object_id) = value.object_id else {
        let word = value.unserializable_value.unwrap_or(value.r#type);
        return Ok(clip_chars(value.value.map_or(word, |v| v.get().to_owned())));
    };
    let function = format!(
        "function(){{let s;try{{s=JSON.stringify(this)}}catch{{}}return s===undefined||this instanceof Node?null:s.slice(0,{MAX_VALUE_CHARS})}}"
    );
    let call = cdp::CallFunctionOn { function_declaration: function, object_id, return_by_value: true };
    let answer = page.tab.query(&page.tab.session, &call).await;
    let json = match answer {
        Ok(answer) => answer.result.value.and_then(|v| serde_json::from_str::<Option<String>>(v.get()).ok()),
        Err(TabError::Failed(e)) if e.code == ErrorCode::Internal => None,
        Err(fault) => return Err(fault.into()),
    };
    let release = cdp::ReleaseObjectGroup { object_group: GROUP };
    drop(page.tab.client.send(Some(&page.tab.session), &release));
    Ok(clip_chars(json.flatten().or(value.description).unwrap_or(value.r#type)))
}

fn clip_chars(text: String) -> String {
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Converts a value to a boolean (ECMAScript 7.1.2, ToBoolean).
fn is_truthy(value: &cdp::RemoteObject) -> bool {
    if let Some(word) = &value.unserializable_value {
        return !matches!(word.as_str(), "NaN" | "-0" | "0n");
    }
    match value.value.as_deref().map(|v| v.get()) {
        Some(json) => !matches!(json, "false" | "0" | "\"\"" | "null"),
        None => value.r#type != "undefined",
    }
}
