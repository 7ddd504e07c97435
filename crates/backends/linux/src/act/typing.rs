//! Typing text. An app may move the focus or open a dialog while the text is being typed: the rest
//! of the text must not go elsewhere unnoticed.

use crate::act::Act;
use crate::act::focus::focus_element;
use crate::act::keyboard::{await_keys_read, busy, send_keys, typing, wait_until_keys_handled};
use crate::aim::window;
use crate::app::{App, AppView, LastCapture, LinuxDevice, ask, capture, query, unknown};
use crate::bus::TEXT;
use crate::limits::FRAME;
use crate::model::{Interfaces, is_field, states as s};
use std::time::Duration;
use stickpin_device::{Error, InputOutcome, Result};
use stickpin_tree::Handle;
use stickpin_x11desk::{Display, X11, focus, keyboard};
use tokio::time::{Instant, sleep};

/// The maximum number of characters that are sent before the app must have handled them.
const AHEAD: usize = 64;

/// Timeout for a responsive app to read its keys.
const BUSY: Duration = Duration::from_secs(10);

/// Timeout for a window that may be opening, and for an element that is about to get the focus.
const COMING: Duration = Duration::from_millis(400);

/// The progress of typing a text: its destination and, in numbers of characters, how far it has
/// come.
#[derive(Debug)]
struct TypingProgress {
    x11: X11,
    window: u32,
    /// The focused field, if the text goes into a known field.
    field: Option<Field>,
    /// Whether the field is known to drop characters.
    swallows: bool,
    /// The length of the whole text.
    all: usize,
    /// The number of characters sent in total.
    sent: usize,
    /// The number of characters sent last.
    last: usize,
    /// The number of characters sent before the field got the focus.
    since: usize,
}

#[derive(Debug)]
struct Field {
    path: String,
    /// A description of the field.
    words: String,
    /// The number of characters in the field before the text was typed, if known.
    before: Option<usize>,
}

/// Returns the next part of the remaining text to send. A Tab moves the focus, and an Enter at the
/// end may do so too, so these keys are sent separately from the text.
fn next(left: &[char]) -> &[char] {
    let end = left.iter().rposition(|&c| c != '\n').map_or(left.len(), |last| last + 1);
    let tab = left.iter().position(|&c| c == '\t').map_or(left.len(), |tab| tab.max(1));
    &left[..end.min(tab).min(AHEAD)]
}

/// Types text into the focused element or a target.
///
/// # Errors
/// Returns `FILL_MISMATCH` when the focus moved elsewhere; the message states how much of the text
/// went where. Returns `TIMEOUT` when cancelled or when the app does not read its keys; otherwise,
/// the errors that occur when the window and the target are given the focus.
pub(crate) async fn type_text(act: &mut Act<'_>, target: Option<Handle>, text: &str) -> Result<InputOutcome> {
    let (x11, window) = typing(act.device, target).await?;
    if let Some(target) = target {
        focus_element(act.device, target).await?;
    }
    let text: Vec<char> = text.chars().filter(|c| *c != '\r').collect();
    let field = typed_field(act.device.view(), target).await?;
    let all = text.len();
    let mut progress =
        TypingProgress { x11, window, field, swallows: false, all, sent: 0, last: 0, since: 0 };
    while progress.sent < all {
        if act.cancel.is_cancelled() {
            return Err(unknown(Error::timeout("typing was cancelled")));
        }
        let part = next(&text[progress.sent..]).to_vec();
        let (tab, enters) = (part == ['\t'], part.iter().all(|&c| c == '\n'));
        let first = progress.sent == 0;
        let keys = move |d: &mut Display| keyboard::type_text(d, &part);
        let Some(now) = send_keys(&act.device.app, &progress.x11, window, first, keys).await? else {
            progress.last = 0;
            check(act.device, &mut progress).await.map_err(unknown)?;
            // The focus has returned.
            continue;
        };
        progress.last = now;
        if !await_keys_read(act, &progress.x11, window, BUSY).await.map_err(unknown)? {
            return Err(unknown(busy()));
        }
        act.cancel.run_until_cancelled(wait_until_keys_handled(&act.device.app)).await;
        progress.sent += progress.last;
        if tab && progress.sent < all {
            capture::capture_app(act.device, &[]).await.map_err(unknown)?;
            progress.field = typed_field(act.device.view(), None).await.map_err(unknown)?;
            progress.since = progress.sent;
        } else if !(tab || enters && text[progress.sent..].iter().all(|&c| c == '\n')) {
            check(act.device, &mut progress).await.map_err(unknown)?;
        }
    }
    Ok(InputOutcome::done())
}

/// Returns the field to type into: the target or, without a target, the field that had the focus at
/// the last capture. Returns `None` if that is not a text field or does not have the focus now.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND` if the target is gone, `BACKEND_LOST` or `TIMEOUT`.
async fn typed_field(view: AppView<'_>, target: Option<Handle>) -> Result<Option<Field>> {
    let at = target.map_or_else(|| focused(view.last), |target| view.index(target));
    let object = at.map(|at| &view.last[at]).filter(|o| is_field(o.role) && o.has(Interfaces::TEXT));
    let Some(path) = object.map(|object| object.path.clone()) else { return Ok(None) };
    let words = view.last.words(view.app.ids.handle(&path)).unwrap_or_else(|| "the field".to_owned());
    let (has_it, count) = field_now(view.app, &path).await?;
    if !has_it && target.is_some() {
        // If the field is gone, the keys would go to another element.
        ask::states_of(view.app, &path).await?;
    }
    // The first key replaces the selection; toolkits may select all text when a field gets the
    // focus.
    let ranges = ask::or_none(view.app, query::selections(view.app, &path).await).await?.unwrap_or_default();
    let length = |(start, end): (i32, i32)| usize::try_from(end.saturating_sub(start)).unwrap_or_default();
    let selected = ranges.into_iter().map(length).sum();
    let before = count.map(|count| count.saturating_sub(selected));
    Ok(has_it.then_some(Field { path, words, before }))
}

/// Returns whether a field has the focus, and its number of characters, if known.
async fn field_now(app: &App, path: &str) -> Result<(bool, Option<usize>)> {
    let count = ask::count(app, path, TEXT, "CharacterCount");
    let (states, count) = tokio::join!(ask::states_now(app, path), count);
    let states = ask::or_none(app, states).await?.unwrap_or_default();
    Ok((states & s::FOCUSED != 0, ask::or_none(app, count).await?.flatten()))
}

/// Checks that the last characters have arrived, and that the next ones would arrive too. A field
/// that lost the focus but has all characters may merely have opened a list of suggestions.
///
/// # Errors
/// Returns `FILL_MISMATCH` if characters went elsewhere.
async fn check(device: &mut LinuxDevice, progress: &mut TypingProgress) -> Result<()> {
    let (window, until) = (progress.window, Instant::now() + COMING);
    let due = progress.sent - progress.since;
    let ends = progress.sent == progress.all;
    let (other, inside) = loop {
        let other = progress.x11.run(move |d| focus::foreign_focus(d, window)).await?;
        let there = other.is_none();
        let Some(field) = &progress.field else {
            if there || ends && progress.last == 1 {
                return Ok(());
            }
            break (other, None);
        };
        let (has_it, count) = field_now(&device.app, &field.path).await?;
        let counts = count.zip(field.before);
        if there
            && has_it
            && counts.is_some_and(|(now, before)| now.saturating_sub(before) < due)
            && !progress.swallows
        {
            // A window may be opening. Some fields have a maximum length or drop certain
            // characters.
            progress.swallows = Instant::now() >= until;
            sleep(FRAME).await;
            continue;
        }
        // If there are fewer characters than before, it is unknown where they went.
        let inside = counts.and_then(|(now, before)| now.checked_sub(before)).map(|grown| grown.min(due));
        if there && has_it || ends && inside == Some(due) {
            return Ok(());
        }
        break (other, inside);
    };
    // Between two elements, a busy app may report that none has the focus.
    let until = Instant::now() + COMING;
    capture::capture_app(device, &[]).await?;
    while other.is_none() && focused(&device.last).is_none() && Instant::now() < until {
        sleep(FRAME).await;
        capture::capture_app(device, &[]).await?;
    }
    let to = match (other, &progress.field) {
        (Some(other), _) => Some(window::covering_window(&device.app, other, &progress.x11).await?),
        (None, Some(field)) => focus_beside(device.view(), &field.path, inside == Some(due)),
        (None, None) => None,
    };
    let Some(to) = to else { return Ok(()) };
    let from = progress.field.as_ref().map_or("the window", |field| &field.words);
    let inside = inside.map(|inside| (progress.since + inside, progress.since));
    Err(strayed_error(from, &to, (progress.sent, progress.all), inside))
}

/// Returns the description of the element that has the focus instead of the field with this path.
/// Returns `None` if the field still receives the keys, or has received all of them and no other
/// field has the focus.
fn focus_beside(AppView { app, last }: AppView<'_>, field: &str, took_all: bool) -> Option<String> {
    let at = focused(last);
    let inner = at.is_some_and(|at| last.chain(at).iter().any(|&i| last[i].path == field));
    let another = at.is_some_and(|at| is_field(last[at].role));
    if inner || took_all && !another {
        return None;
    }
    let words = at.and_then(|at| last.words(app.ids.handle(&last[at].path)));
    Some(words.unwrap_or_else(|| "something else".to_owned()))
}

/// Returns the innermost object that reports the focus; `None` if no shown object does.
fn focused(last: &LastCapture) -> Option<usize> {
    let has_it = |&at: &usize| last[at].shown && last[at].is(s::FOCUSED);
    (1..last.picture.objects.len()).filter(has_it).max_by_key(|&at| last.chain(at).len())
}

/// Returns the error for text that started to go elsewhere, after `sent` of `all` characters.
/// `inside` contains the number of characters that arrived, and how many of them were typed before
/// the last Tab.
fn strayed_error(from: &str, to: &str, (sent, all): (usize, usize), inside: Option<(usize, usize)>) -> Error {
    let left = all - sent;
    let counts = match inside {
        Some((inside, since)) => {
            let of = match since {
                0 => String::new(),
                _ => format!(" (including {since} typed before the last Tab)"),
            };
            let were = if left == 1 { "was" } else { "were" };
            format!(
                "{inside} of {all} characters arrived{of}, {} went elsewhere, {left} {were} not sent",
                sent - inside
            )
        }
        None => format!("{sent} of {all} characters were sent; an unknown number of them arrived"),
    };
    Error::fill_mismatch(format!("{from} lost the focus to {to} during typing: {counts}")).hint(
        "run `stickpin snapshot -i` to see where the text went, then `stickpin type --into @REF TEXT` to type the rest",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<String> {
        let all: Vec<char> = text.chars().collect();
        let (mut left, mut out) = (&all[..], Vec::new());
        while !left.is_empty() {
            let part = next(left);
            out.push(part.iter().collect());
            left = &left[part.len()..];
        }
        out
    }

    #[test]
    fn keys_that_may_move_the_focus_go_by_themselves() {
        assert_eq!(parts("ab\ncd"), ["ab\ncd"], "a text of two lines");
        assert_eq!(parts("ab\n\n"), ["ab", "\n\n"]);
        assert_eq!(parts("ab\t\tcd\n"), ["ab", "\t", "\t", "cd", "\n"]);
        assert_eq!(parts("\t\n"), ["\t", "\n"]);
        assert_eq!(parts(&"x".repeat(AHEAD + 1)).len(), 2);
    }

    #[test]
    fn it_is_told_how_much_went_where() {
        let error = strayed_error("textbox \"A\"", "textbox \"B\"", (70, 80), Some((67, 0)));
        assert!(
            error.message.contains("67 of 80 characters arrived, 3 went elsewhere, 10 were not sent"),
            "{error}"
        );
        let error = strayed_error("textbox \"A\"", "textbox \"B\"", (70, 80), None);
        assert!(error.message.contains("70 of 80 characters were sent; an unknown number"), "{error}");
    }
}
