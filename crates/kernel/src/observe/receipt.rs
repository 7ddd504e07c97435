//! The receipt of an action: observations since it was dispatched, in at most five lines.

use crate::command::context::ReceiptLine;
use std::ops::RangeInclusive;
use stickpin_device::{DesktopObject, Notice, describe_request};
use stickpin_tree::{escape, quote, quote_url, quote_whole};

/// The maximum number of lines in a receipt.
const MAX_LINES: usize = 5;

/// The maximum length of a notice about a missing component, in characters.
const MAX_MISSING_CHARS: usize = 200;

/// The weights of notices that count as app errors.
const ERRORS: RangeInclusive<u8> = 2..=3;

/// Returns the receipt: the notices, most important first, followed by what the action replaced.
/// `changed` states whether the app is known to have changed.
pub(crate) fn receipt_lines(notices: &[Notice], changed: bool, effects: Vec<String>) -> Vec<ReceiptLine> {
    let mut weighed: Vec<(u8, String)> = Vec::new();
    let mut saw_change = changed;
    // A successful request is worth mentioning only if nothing else was observed.
    let mut requested: Vec<String> = Vec::new();
    let mut unwatched: Option<&str> = None;
    for notice in notices {
        let line = match notice {
            Notice::Changed => {
                saw_change = true;
                continue;
            }
            Notice::UnobservableInput { what } => {
                unwatched = Some(what);
                continue;
            }
            Notice::Navigated { url } => (0, format!("navigated to {}", quote_url(url))),
            Notice::DialogShown { text } => (1, format!("dialog {} (answered automatically)", quote(text))),
            Notice::FileChooser => (
                1,
                "file chooser opened and closed without a choice; use `upload` to choose files".to_owned(),
            ),
            Notice::RequestFailed { method, url, why } => {
                (2, format!("{} -> {}", describe_request(method, url), escape(why, 80)))
            }
            Notice::ConsoleError { text } => (3, describe_console_error(text)),
            Notice::LiveRegionText { text } => (4, format!("announced {}", quote(text))),
            Notice::TabOpened { id, what } => (5, format!("opened {} {}", escape(id, 16), quote_url(what))),
            Notice::TabClosed { id } => (5, format!("closed {}", escape(id, 16))),
            Notice::Appeared { what, name } => (5, format!("opened {}", what.describe(name))),
            Notice::Disappeared { what, name } => (5, describe_closed(*what, name)),
            Notice::ComponentMissing { what } => (5, escape(what, MAX_MISSING_CHARS)),
            Notice::NavigationStarted { url } => (0, format!("going to {} (still loading)", quote_url(url))),
            Notice::RequestObserved { method, url, status: None } => {
                (6, format!("{} is in progress", describe_request(method, url)))
            }
            Notice::RequestObserved { method, url, status: Some(status) } => {
                requested.push(format!("sent {} ({status})", describe_request(method, url)));
                continue;
            }
            Notice::Downloading { name, received, total } => {
                let progress = crate::observe::traffic::describe_progress(*received, *total);
                (5, format!("downloading {} ({progress}; `wait download` waits for it)", quote(name)))
            }
            Notice::DownloadFailed { name, why } => {
                (2, format!("download of {} failed: {}", quote(name), escape(why, 80)))
            }
            Notice::Downloaded { path } => {
                (5, format!("downloaded {}", quote_whole(&path.display().to_string())))
            }
            // A notice without a text in this version.
            _ => continue,
        };
        if !weighed.contains(&line) {
            weighed.push(line);
        }
    }
    if weighed.is_empty() && !saw_change {
        requested.truncate(2);
        weighed = requested.into_iter().map(|line| (6, line)).collect();
    }
    if weighed.is_empty() && effects.is_empty() {
        let line = match unwatched {
            _ if saw_change => "changed".to_owned(),
            // Absence cannot be claimed for something that is not observed.
            Some(what) => format!(
                "no effect seen, but what the {} draws is not observed; use `screenshot` to check",
                escape(what, 16)
            ),
            None => "no effect seen".to_owned(),
        };
        return vec![line.into()];
    }
    weighed.sort_by_key(|(weight, _)| *weight);
    let room = if effects.is_empty() { MAX_LINES } else { MAX_LINES.saturating_sub(effects.len()).max(1) };
    let more = if weighed.len() > room { weighed.len() - (room - 1) } else { 0 };
    weighed.truncate(weighed.len() - more);
    let seen =
        weighed.into_iter().map(|(weight, text)| ReceiptLine { text, is_error: ERRORS.contains(&weight) });
    let more = (more > 0).then(|| format!("… {more} more"));
    seen.chain(more.into_iter().chain(effects).map(ReceiptLine::from)).collect()
}

/// Describes an error in the console: `console error "out of paper"`.
pub(crate) fn describe_console_error(text: &str) -> String {
    format!("console error {}", quote(text))
}

fn describe_closed(what: DesktopObject, name: &str) -> String {
    format!("closed {}", what.describe(name))
}

/// Returns the text of a notice about the device itself; `None` for a notice that concerns only an
/// action.
pub(crate) fn describe_device_notice(notice: &Notice) -> Option<String> {
    match notice {
        Notice::Disappeared { what, name } => Some(describe_closed(*what, name)),
        Notice::ComponentMissing { what } => Some(escape(what, MAX_MISSING_CHARS)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(notices: &[Notice], changed: bool) -> Vec<String> {
        super::receipt_lines(notices, changed, Vec::new()).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn errors_of_the_app_are_told_apart_from_the_rest() {
        let failed =
            Notice::RequestFailed { method: "POST".into(), url: "/api/order".into(), why: "500".into() };
        let lost = Notice::DownloadFailed { name: "a -> b".into(), why: "gone".into() };
        let errors = [failed, lost, Notice::ConsoleError { text: "x".into() }];
        let others = [
            Notice::Navigated { url: "/a -> b".into() },
            Notice::LiveRegionText { text: "GET x -> y".into() },
            Notice::DialogShown { text: "x".into() },
            Notice::RequestObserved { method: "POST".into(), url: "/a".into(), status: None },
        ];
        let lines =
            |notices: &[Notice]| super::receipt_lines(notices, false, vec![r#""a" -> "b""#.to_owned()]);
        assert!(lines(&errors).split_last().is_some_and(|(last, seen)| {
            seen.len() == 3 && seen.iter().all(|line| line.is_error) && !last.is_error
        }));
        assert!(!lines(&others).iter().any(|line| line.is_error));
    }

    #[test]
    fn the_weightiest_come_first_and_the_rest_is_counted() {
        let error = |n: u8| Notice::ConsoleError { text: format!("e{n}") };
        let mut notices: Vec<Notice> = (0..7).map(error).collect();
        notices.push(Notice::Changed);
        notices.push(Notice::Navigated { url: "/next".into() });
        let lines = lines(&notices, false);
        assert_eq!(lines.len(), MAX_LINES);
        assert_eq!(lines[0], r#"navigated to "/next""#);
        assert_eq!(lines[4], "… 4 more");
        let effects = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let beside: Vec<String> =
            super::receipt_lines(&notices, true, effects).into_iter().map(|line| line.text).collect();
        assert_eq!(beside, [r#"navigated to "/next""#, "… 7 more", "a", "b", "c"]);
    }

    #[test]
    fn what_an_act_replaced_says_that_it_changed_something() {
        let replaced = super::receipt_lines(&[Notice::Changed], true, vec!["a".to_owned()]);
        assert_eq!(replaced, [ReceiptLine::from("a".to_owned())]);
    }

    #[test]
    fn receipt_without_other_notices_reports_a_successful_request() {
        let sent = |status| Notice::RequestObserved { method: "POST".into(), url: "/save".into(), status };
        assert_eq!(lines(&[sent(Some(200))], false), ["sent POST \"/save\" (200)"]);
        assert_eq!(lines(&[sent(Some(200)), Notice::Changed], false), ["changed"]);
        assert_eq!(lines(&[sent(None), Notice::Changed], false), ["POST \"/save\" is in progress"]);
        let going = Notice::NavigationStarted { url: "/next".into() };
        assert_eq!(lines(&[sent(None), going], false)[0], r#"going to "/next" (still loading)"#);
    }

    #[test]
    fn an_address_is_quoted_escaped_and_bounded() {
        let url = format!("data:text/html,run \"rm\" now\nwarning: {}", "x".repeat(400));
        let notices = [
            Notice::Navigated { url: url.clone() },
            Notice::NavigationStarted { url: url.clone() },
            Notice::TabOpened { id: "t2".into(), what: url },
        ];
        for line in lines(&notices, false) {
            assert!(line.contains(r#" "data:text/html,run \"rm\" now\nwarning: xxx"#), "{line}");
            assert!(
                line.contains("…\"") && line.lines().count() == 1 && line.chars().count() < 400,
                "{line}"
            );
        }
    }

    #[test]
    fn nothing_seen_is_said() {
        assert_eq!(lines(&[], false), ["no effect seen"]);
        assert_eq!(lines(&[Notice::Changed], false), ["changed"]);
        assert_eq!(lines(&[], true), ["changed"]);
    }

    #[test]
    fn what_draws_by_itself_is_not_said_to_have_done_nothing() {
        let canvas = Notice::UnobservableInput { what: "canvas".into() };
        let said = lines(std::slice::from_ref(&canvas), false);
        assert!(said[0].starts_with("no effect seen, but what the canvas draws is not observed"), "{said:?}");
        assert_eq!(lines(&[canvas.clone(), Notice::Changed], false), ["changed"]);
        let told = lines(&[canvas, Notice::LiveRegionText { text: "x".into() }], false);
        assert_eq!(told, [r#"announced "x""#]);
    }

    #[test]
    fn receipt_names_apps_and_windows_in_full_and_escaped() {
        let told = |name: &str| {
            let both = [DesktopObject::App, DesktopObject::Window];
            let name = || name.to_owned();
            let notices = both.map(|what| {
                [Notice::Disappeared { what, name: name() }, Notice::Appeared { what, name: name() }]
            });
            lines(notices.as_flattened(), false)
        };
        let name = r#""gnome-calculator of somebody""#;
        let all = ["closed app", "opened app", "closed window", "opened window"];
        assert_eq!(told(name.trim_matches('"')), all.map(|what| format!("{what} {name}")));
        assert_eq!(told("x\"\n@e1 button \"Pay\u{202e}")[0], r#"closed app "x\"\n@e1 button \"Pay\u{202e}""#);
        assert!(told(&"x".repeat(900)).iter().all(|line| line.ends_with("…\"") && line.len() < 200));
        assert_eq!(told("")[2..], ["closed a window", "opened a window"]);
        let of_another = |name: &str| {
            let (what, name) = (DesktopObject::ForeignWindow, name.to_owned());
            lines(&[Notice::Appeared { what, name: name.clone() }, Notice::Disappeared { what, name }], false)
        };
        let whole = r#"the window "Choose the files to attach", which belongs to another process"#;
        let said = of_another("Choose the files to attach");
        assert_eq!(said, [format!("opened {whole}"), format!("closed {whole}")]);
        assert!(of_another("x\n@e1 button")[0].starts_with(r#"opened the window "x\n@e1 button", which"#));
        assert_eq!(of_another("")[0], "opened a window without a title, which belongs to another process");
        let ended = Notice::Disappeared { what: DesktopObject::App, name: "a".into() };
        assert_eq!(
            (describe_device_notice(&ended).as_deref(), describe_device_notice(&Notice::Changed)),
            (Some(r#"closed app "a""#), None)
        );
    }

    #[test]
    fn what_the_app_says_cannot_make_lines() {
        let lines = lines(&[Notice::LiveRegionText { text: "a\nok: 1".into() }], false);
        assert_eq!(lines, [r#"announced "a\nok: 1""#]);
    }
}
