//! Reads lines in agent-device's spelling, which "Replay & E2E Testing" in its documentation and
//! `agent-device help COMMAND` describe.
//!
//! Our own grammar comes first. This module sees only lines that our grammar refuses. If this
//! module cannot read a line either, the error is that of our grammar, unless only agent-device has
//! the command. Comments such as `# agent-device:target-v1 ...` are kept like all comments.

use super::unsupported::unsupported;
use stickpin_cmdline::CommandLine;
use stickpin_kernel::{Error, Result, Target};
use stickpin_tree::{Selector, quote_whole};

/// The size in pixels to which the fraction in `scroll down 0.6` applies: a session's default
/// viewport.
pub(super) const VIEWPORT: (f64, f64) = (1280.0, 800.0);

/// A distance beyond the end of any scrollable element.
const SCROLL_TO_END_PIXELS: &str = "1000000";

/// Reads the words of a line.
///
/// # Errors
/// Returns the error from our own grammar; for a command that only agent-device supports, returns
/// why it has no counterpart.
pub(crate) fn read(words: &[String]) -> Result<CommandLine> {
    // Join the words: otherwise, a second word of the selector would become a value, which this
    // predicate does not accept.
    let words = match words {
        [is, predicate, _, _, ..] if is == "is" && predicate != "text" && predicate != "value" => {
            &translate_command(words).unwrap_or_else(|| words.to_vec())
        }
        _ => words,
    };
    stickpin_cmdline::parse(words).or_else(|error| {
        let translated = translate_command(words).and_then(|words| stickpin_cmdline::parse(&words).ok());
        translated.ok_or_else(|| refusal(words).unwrap_or(error))
    })
}

/// Returns the error for a command that only agent-device supports.
fn refusal(words: &[String]) -> Option<Error> {
    let (message, hint) = unsupported("agent-device", words.first()?)?;
    Some(Error::invalid_args(message).hint(hint))
}

/// A command split into words and unparsed options.
struct SplitCommand {
    words: Vec<String>,
    options: Vec<String>,
}

/// Translates the line into our words, if agent-device has such a command.
fn translate_command(words: &[String]) -> Option<Vec<String>> {
    let (name, rest) = words.split_first()?;
    let parts = SplitCommand::parse(name, rest);
    let SplitCommand { words, options } = &parts;
    let (head, mut args): (&[&str], Vec<String>) = match name.as_str() {
        "wait" => translate_wait(words)?,
        "scroll" => (&["scroll"], translate_scroll(words)?),
        "press" | "click" | "tap" | "hover" => (&["press"], vec![translate_target(words)?]),
        "longpress" => (&["longpress"], longpress(words)?),
        "fill" => (&["fill"], target_and_text(words, 1)?),
        "is" => (&["is"], translate_is(words)?),
        "get" => (&["get"], vec![words.first()?.clone(), selector(words.get(1..)?)?]),
        "type" if !words.is_empty() => (&["type"], vec!["--".to_owned(), words.join(" ")]),
        "find" => translate_find(words)?,
        "back" => (&["back"], Vec::new()),
        "close" => (&["close"], Vec::new()),
        "snapshot" => (&["snapshot"], Vec::new()),
        "screenshot" => (&["screenshot"], words.clone()),
        "alert" if words.is_empty() || words == &["get"] => (&["alert", "status"], Vec::new()),
        "swipe" => (&["scroll"], translate_swipe(words)?),
        "scrollintoview" => {
            (&["scroll", "down"], vec![format!("--until={}", translate_scroll_into_view(words)?)])
        }
        "keyboard" if words == &["enter"] => (&["key", "Enter"], Vec::new()),
        _ => return None,
    };
    let head = if name == "hover" { &["hover"] } else { head };
    let mut line: Vec<String> = head.iter().map(|word| (*word).to_owned()).collect();
    let options = options.iter().map(|option| translate_option(name, option)).collect::<Option<Vec<_>>>()?;
    line.extend(options.into_iter().flatten());
    line.append(&mut args);
    Some(line)
}

/// The agent-device options that take the next word as their value.
const WITH_VALUE: &str = "--until --timeout --settle-quiet --count --out --scope -s --depth -d --record-as --button --delay-ms \
    --max-scrolls --pause-ms --pattern --pixels";

impl SplitCommand {
    fn parse(name: &str, rest: &[String]) -> Self {
        let mut parts = Self { words: Vec::new(), options: Vec::new() };
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            // Typed text may begin with a hyphen.
            if !word.starts_with('-') || word.len() < 2 || (name == "type" && !word.starts_with("--")) {
                parts.words.push(word.clone());
                continue;
            }
            let value = WITH_VALUE.split(' ').any(|option| option == word).then(|| rest.next()).flatten();
            if let (true, Some(pixels)) = (word == "--pixels", value) {
                // The amount is a positional argument in our grammar.
                parts.words.push(pixels.clone());
                continue;
            }
            parts.options.push(match value {
                Some(value) => format!("{word}={value}"),
                None => word.clone(),
            });
        }
        parts
    }
}

/// Translates an option into our words. `Some(None)` if it states our default or has no effect
/// here; `None` if its target cannot be translated. An option without a translation stays as it is.
fn translate_option(name: &str, option: &str) -> Option<Option<String>> {
    let (long, value) = option.split_once('=').map_or((option, None), |(long, value)| (long, Some(value)));
    let same = || Some(Some(option.to_owned()));
    match (name, long, value) {
        ("scroll", "--until", Some(target)) => Some(Some(format!("--until={}", normalize_target(target)?))),
        ("press" | "click" | "tap", "--button", Some("secondary")) => Some(Some("--button=right".to_owned())),
        ("press" | "click" | "tap", "--button", Some("primary")) => Some(None),
        ("press" | "click" | "tap", "--double-tap", None) => Some(Some("--count=2".to_owned())),
        ("screenshot", "--out", Some(path)) => Some(Some(path.to_owned())),
        ("screenshot", "--overlay-refs", None) => Some(Some("--overlay".to_owned())),
        ("screenshot", "--fullscreen" | "-f", None) => Some(Some("--full".to_owned())),
        ("snapshot", "--scope" | "-s", Some(label)) => {
            Some(Some(format!("--scope={}", normalize_target(label).unwrap_or_else(|| text_selector(label)))))
        }
        // The typing speed and the number of steps to reach an end have no effect here.
        ("fill" | "type", "--delay-ms", Some(_))
        | ("scrollintoview", "--max-scrolls", Some(_))
        | ("snapshot", "-c", None)
        | ("back", "--in-app" | "--system", None)
        | (_, "--settle-quiet" | "--verify", _) => Some(None),
        _ => same(),
    }
}

/// Translates `wait MS | text TEXT | TEXT | TARGET | absent TARGET [MS] | stable [QUIET] [MS]`.
fn translate_wait(words: &[String]) -> Option<(&'static [&'static str], Vec<String>)> {
    let (head, mut rest): (&[&str], &[String]) = match words.first()?.as_str() {
        "text" => (&["wait", "text"], &words[1..]),
        "absent" => (&["wait", "absent"], &words[1..]),
        "stable" => (&["wait", "stable"], &words[1..]),
        ms if words.len() == 1 && is_number(ms) => return Some((&["wait", "ms"], words.to_vec())),
        _ => (&["wait"], words),
    };
    let mut args = Vec::new();
    if let Some((last, before)) = rest.split_last().filter(|(last, _)| is_number(last)) {
        rest = before;
        args.push(format!("--timeout={last}"));
    }
    match head {
        ["wait", "stable"] => return rest.iter().all(|quiet| is_number(quiet)).then_some((head, args)),
        ["wait"] => {
            if let Some(target) = selector(rest) {
                args.push(target);
                return Some((&["wait"], args));
            }
        }
        ["wait", "absent"] => {
            args.push(selector(rest)?);
            return Some((head, args));
        }
        _ => {}
    }
    // Words that are not a selector are text; an invalid selector is neither.
    let text = rest.join(" ");
    args.extend(["--".to_owned(), text.clone()]);
    (!text.is_empty() && (head.len() == 2 || !looks_like_a_term(&text))).then_some((&["wait", "text"], args))
}

/// Translates `scroll down 0.6` and `scroll bottom`.
fn translate_scroll(words: &[String]) -> Option<Vec<String>> {
    let (direction, amount) = (words.first()?.as_str(), words.get(1));
    let scroll = |direction: &str, amount: &str| Some(vec![direction.to_owned(), amount.to_owned()]);
    let axis = match direction {
        "bottom" if amount.is_none() => return scroll("down", SCROLL_TO_END_PIXELS),
        "top" if amount.is_none() => return scroll("up", SCROLL_TO_END_PIXELS),
        "left" | "right" => VIEWPORT.0,
        "up" | "down" => VIEWPORT.1,
        _ => return None,
    };
    let Some(amount) = amount else { return Some(vec![direction.to_owned()]) };
    if amount.parse::<u32>().is_ok_and(|pixels| pixels > 1) {
        return scroll(direction, amount);
    }
    let part: f64 = amount.parse().ok().filter(|part| (0.0..=1.0).contains(part) && words.len() == 2)?;
    scroll(direction, &format!("{:.0}", part * axis))
}

/// Translates `swipe X1 Y1 X2 Y2 [MS]`. The duration does not change where the swipe ends.
fn translate_swipe(words: &[String]) -> Option<Vec<String>> {
    let numbers: Vec<f64> = words.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let (&[x1, y1, x2, y2] | &[x1, y1, x2, y2, _]) = &*numbers else { return None };
    let (direction, distance) = scroll_of_swipe(x2 - x1, y2 - y1)?;
    Some(vec![direction.to_owned(), distance.to_string()])
}

/// Returns how a page scrolls when a finger moves by (x, y): in the opposite direction, by as many
/// pixels. `None` for a diagonal movement or no movement.
pub(super) fn scroll_of_swipe(x: f64, y: f64) -> Option<(&'static str, u32)> {
    let (distance, direction) = match (x, y) {
        (x, y) if x.abs() < 1.0 && y < 0.0 => (-y, "down"),
        (x, y) if x.abs() < 1.0 && y > 0.0 => (y, "up"),
        (x, y) if y.abs() < 1.0 && x < 0.0 => (-x, "right"),
        (x, y) if y.abs() < 1.0 && x > 0.0 => (x, "left"),
        _ => return None,
    };
    // The value is positive and clamped to the largest number.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is positive, and cut at the bound"
    )]
    let far = distance.round() as u32;
    Some((direction, far))
}

/// Translates the argument of `scrollintoview TEXT` and `scrollintoview TARGET`.
fn translate_scroll_into_view(words: &[String]) -> Option<String> {
    match words {
        [one] if !one.starts_with('@') => Some(normalize_target(one).unwrap_or_else(|| text_selector(one))),
        _ => selector(words).filter(|target| !target.starts_with('@')),
    }
}

/// Joins words into a target. A recorded ref is replaced by the label that follows it.
fn translate_target(words: &[String]) -> Option<String> {
    match words {
        [r#ref, label] if r#ref.starts_with('@') => Some(text_selector(label)),
        _ => selector(words),
    }
}

fn longpress(words: &[String]) -> Option<Vec<String>> {
    match words.split_last() {
        Some((ms, target)) if is_number(ms) => Some(vec![selector(target)?, ms.clone()]),
        _ => Some(vec![selector(words)?]),
    }
}

/// Splits words into a target and text. The target gets as many words as possible.
fn target_and_text(words: &[String], min_text_words: usize) -> Option<Vec<String>> {
    let ends = (1..words.len()).rev().filter(|end| words.len() - end >= min_text_words);
    let (target, end) = ends.filter_map(|end| Some((selector(&words[..end])?, end))).next()?;
    Some(vec!["--".to_owned(), target, words[end..].join(" ")])
}

fn translate_is(words: &[String]) -> Option<Vec<String>> {
    let (predicate, rest) = words.split_first()?;
    if predicate != "text" && predicate != "value" {
        return Some(vec![predicate.clone(), selector(rest)?]);
    }
    let mut args = vec![predicate.clone()];
    args.extend(target_and_text(rest, 1)?.into_iter().skip(1));
    Some(args)
}

/// Translates `find [LOCATOR] QUERY ACTION [VALUE]`.
fn translate_find(words: &[String]) -> Option<(&'static [&'static str], Vec<String>)> {
    let (key, rest) = match words.first()?.as_str() {
        key @ ("text" | "label" | "value" | "role" | "id") if words.len() > 2 => (key, &words[1..]),
        _ => ("text", words),
    };
    let target = normalize_target(&format!("{key}={}", quote_whole(rest.first()?)))?;
    match &rest[1..] {
        [action] if action == "click" || action == "press" => Some((&["press"], vec![target])),
        [action] if action == "exists" => Some((&["is", "exists"], vec![target])),
        [action, value] if action == "fill" => {
            Some((&["fill"], vec!["--".to_owned(), target, value.clone()]))
        }
        [action, ms] if action == "wait" && is_number(ms) => {
            Some((&["wait"], vec![format!("--timeout={ms}"), target]))
        }
        [get, text] if get == "get" && text == "text" => Some((&["get", "text"], vec![target])),
        _ => None,
    }
}

/// Joins words into one target.
fn selector(words: &[String]) -> Option<String> {
    match words {
        [one] if one.starts_with('@') => Some(one.clone()),
        [] => None,
        _ => normalize_target(&words.join(" ")),
    }
}

/// Converts a target to our role, key and flag names.
fn normalize_target(target: &str) -> Option<String> {
    if matches!(target.parse(), Ok(Target::Selector(_))) && Selector::is_selector(target) {
        return Some(target.to_owned());
    }
    let mut out = String::new();
    let mut rest = target;
    while !rest.is_empty() {
        let end = end_of_term(rest);
        out.push_str(&normalize_term(&rest[..end]));
        let spaces = rest[end..].len() - rest[end..].trim_start().len();
        out.push_str(if spaces > 0 { " " } else { "" });
        rest = &rest[end + spaces..];
    }
    // A single word is text, not a selector.
    (Selector::is_selector(&out) && out.parse::<Selector>().is_ok()).then_some(out)
}

/// Returns the end of the first term: the position of a space outside quotes, or of the end of the
/// text.
fn end_of_term(text: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => return i.max(1),
            _ => {}
        }
    }
    text.len()
}

/// Converts agent-device's names for roles, keys and flags in a term.
fn normalize_term(term: &str) -> String {
    match term.split_once('=') {
        Some(("role", role)) => {
            let name = role.trim_matches('"').to_ascii_lowercase();
            let role = match name.as_str() {
                "text-field" | "textfield" | "edittext" | "secure-text-field" => "textbox",
                "search-field" => "searchbox",
                "static-text" | "statictext" | "textview" => "text",
                "image" => "img",
                "check-box" => "checkbox",
                "radio-button" => "radio",
                "tab-bar" => "tablist",
                other => other,
            };
            format!("role={role}")
        }
        Some(("appname", name)) => format!("app={name}"),
        Some(("windowtitle", title)) => format!("window={title}"),
        None if term == "hittable" => "visible enabled".to_owned(),
        _ => term.to_owned(),
    }
}

fn text_selector(label: &str) -> String {
    format!("text={}", quote_whole(label))
}

/// Returns whether the text starts with `key=` or `key~=`.
fn looks_like_a_term(text: &str) -> bool {
    text.split_once('=').is_some_and(|(key, _)| {
        let key = key.trim_end_matches('~');
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphabetic())
    })
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}
