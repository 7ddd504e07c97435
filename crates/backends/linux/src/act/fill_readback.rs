//! The content of a field after its text is set. Some fields accept the text late, some complete
//! it, and some report success without accepting it.

use crate::app::{App, ask, query, unknown};
use crate::bus::{BusError, BusResult, TEXT};
use crate::limits::FRAME;
use crate::model::roles::number::PASSWORD;
use crate::model::{Object, states as s};
use std::time::Duration;
use stickpin_device::{CancellationToken, InputOutcome, Result};
use tokio::time::{Instant, sleep};

/// The number of consecutive reads, a frame apart, that must agree for a field to count as stable.
const STABLE_READS: u32 = 10;

/// The placeholder for each character of a password field.
const MASK: &str = "*";

/// Timeout for a field to become stable.
const STABLE_TIMEOUT: Duration = Duration::from_secs(3);

/// Returns the content of a field after `text` was set; `None` if the field does not report it. A
/// password field reports only its length: if that matches, `text` is returned, otherwise a mask of
/// that length.
pub(crate) async fn read_back(app: &App, field: &Object, text: &str) -> BusResult<Option<String>> {
    let value = match query::whole_text(app, &field.path).await {
        Ok(value) => comparable(field, text, &value).to_owned(),
        Err(BusError::Unknown) => return Ok(None),
        Err(fault) => return Err(fault),
    };
    if field.role != PASSWORD {
        return Ok(Some(value));
    }
    // For a password field, Qt returns a character count but no text.
    let count = match value.chars().count() {
        0 => ask::count(app, &field.path, TEXT, "CharacterCount").await?,
        count => Some(count),
    };
    let Some(count) = count else { return Ok(None) };
    // Some toolkits count UTF-16 code units.
    let as_much = count == text.chars().count() || count == text.encode_utf16().count();
    Ok(Some(if as_much { text.to_owned() } else { MASK.repeat(count) }))
}

/// Reads a field until its content is stable, the timeout expires or the action is cancelled,
/// starting with the content `first`. Returns immediately if `first` is `None`, or if it equals the
/// text and the field does not declare that it completes input.
///
/// # Errors
/// Returns `BACKEND_LOST` or `TIMEOUT`.
pub(crate) async fn wait_stable_value(
    app: &App,
    field: &Object,
    text: &str,
    first: Option<String>,
    cancel: &CancellationToken,
) -> Result<InputOutcome> {
    let completes = field.is(s::SUPPORTS_AUTOCOMPLETION);
    let (mut value, mut same, until) = (first, 1, Instant::now() + STABLE_TIMEOUT);
    let mut completed = completion(app, field, text, value.as_deref()).await?;
    while (completes || value.as_deref() != Some(text))
        && value.is_some()
        && same < STABLE_READS
        && Instant::now() < until
        && !cancel.is_cancelled()
    {
        sleep(FRAME).await;
        let now = ask::or_none(app, read_back(app, field, text).await).await.map_err(unknown)?;
        // A field that stops reporting its content keeps the last content that it reported.
        let Some(now) = now.flatten() else { break };
        let rest = completion(app, field, text, Some(&now)).await?;
        let unchanged = value.as_ref() == Some(&now) && rest == completed;
        same = if unchanged { same + 1 } else { 1 };
        (value, completed) = (Some(now), rest);
    }
    Ok(InputOutcome::done().unread(value.is_none()).value(value).completed(completed))
}

/// Returns the characters that the app has appended to the text and selected; `None` if there are
/// no such characters.
async fn completion(app: &App, field: &Object, text: &str, value: Option<&str>) -> Result<Option<String>> {
    let Some(rest) = value.and_then(|value| value.strip_prefix(text)).filter(|rest| !rest.is_empty()) else {
        return Ok(None);
    };
    // If the selection is unknown, assume that there is none.
    let ranges = ask::or_none(app, query::selections(app, &field.path).await).await.map_err(unknown)?;
    Ok(is_all_of(&ranges.unwrap_or_default(), text, rest).then(|| rest.to_owned()))
}

/// Returns the content of a field in a form that is comparable with `text`: without the final line
/// break of a multi-line field, unless `text` ends with one as well.
pub(crate) fn comparable<'a>(field: &Object, text: &str, value: &'a str) -> &'a str {
    match value.strip_suffix('\n') {
        Some(rest) if field.is(s::MULTI_LINE) && !text.ends_with('\n') => rest,
        _ => value,
    }
}

/// Returns whether the only selection is `rest`, which follows `text`. Positions may be counted in
/// characters or, as some toolkits do, in UTF-16 code units.
fn is_all_of(selected: &[(i32, i32)], text: &str, rest: &str) -> bool {
    let counts: [fn(&str) -> usize; 2] = [|s| s.chars().count(), |s| s.encode_utf16().count()];
    let [(start, end)] = selected else { return false };
    let selected = usize::try_from(*start).ok().zip(usize::try_from(*end).ok());
    counts.iter().any(|count| selected == Some((count(text), count(text) + count(rest))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_is_the_whole_selection_after_the_text() {
        assert!(is_all_of(&[(9, 13)], "about:sup", "port"));
        assert!(is_all_of(&[(2, 3)], "\u{1f600}", "x"), "in units of UTF-16");
        assert!(!is_all_of(&[(8, 13)], "about:sup", "port") && !is_all_of(&[(9, 12)], "about:sup", "port"));
        assert!(!is_all_of(&[], "about:sup", "port") && !is_all_of(&[(9, 13), (0, 1)], "about:sup", "port"));
    }
}
