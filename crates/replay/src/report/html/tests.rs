//! The page as text. `crates/stickpin/tests/suite/report.rs` tests its look and keys in a browser.

use super::*;
use crate::report::model::{Attempt, Picture, RefBox, Step};
use crate::{Divergence, Resume, SourceLocation, Suggestion};
use stickpin_kernel::Error;

/// Text that would break out of any context that the page puts it in.
const HOSTILE: &str = "</script></style><img src=x onerror=alert(1)>\" onclick='x' & \u{202e}<!--";

fn step(number: usize, line: &str) -> Step {
    Step {
        number,
        at: SourceLocation { file: "flows/buy.ad".to_owned(), line: 3 },
        line: line.to_owned(),
        ok: true,
        start_offset: 10.0,
        millis: 5.0,
        expected: Vec::new(),
        output: None,
        receipt: Vec::new(),
        warning: None,
        error: None,
        changes: None,
        picture: None,
    }
}

fn report(text: &str) -> Report {
    let picture = Picture {
        path: "a.png".into(),
        width: 100,
        height: 80,
        refs: vec![
            RefBox {
                r#ref: "@e1".to_owned(),
                meaning: text.to_owned(),
                x: 10.0,
                y: 40.0,
                width: 30.0,
                height: 12.0,
            },
            RefBox {
                r#ref: "@e2".to_owned(),
                meaning: text.to_owned(),
                x: 500.0,
                y: 4.0,
                width: 30.0,
                height: 12.0,
            },
            RefBox {
                r#ref: "@e3".to_owned(),
                meaning: String::new(),
                x: f64::NAN,
                y: 4.0,
                width: 3.0,
                height: 1.0,
            },
        ],
    };
    let seen = Step {
        expected: vec![text.to_owned()],
        output: Some(text.to_owned()),
        receipt: vec![text.to_owned()],
        warning: Some(text.to_owned()),
        changes: Some(format!("+ @e1 {text}\n- {text}\n~ {text}\n")),
        picture: Some(picture.clone()),
        ..step(1, text)
    };
    let failed = Step {
        ok: false,
        error: Some(Error::element_not_found(text).hint(text)),
        picture: Some(picture),
        ..step(2, text)
    };
    let divergence = Divergence {
        step: 2,
        at: SourceLocation { file: text.to_owned(), line: 4 },
        line: text.to_owned(),
        expected: vec![text.to_owned()],
        error: Error::element_not_found(text).hint(text),
        screen: Some(text.to_owned()),
        suggestions: vec![Suggestion {
            basis: text.to_owned(),
            r#ref: "@e7".to_owned(),
            line: text.to_owned(),
        }],
        resume: Some(Resume { from: 2, rounds: vec![3], next: None, plan_digest: text.to_owned() }),
    };
    let attempt = |number, outcome| Attempt {
        number,
        session: text.to_owned(),
        outcome,
        start_offset: 0.0,
        millis: 50.0,
        steps: vec![seen.clone(), failed.clone()],
        divergence: Some(divergence.clone()),
        error: Some(Error::backend_lost(text)),
        artifacts: Some(text.into()),
    };
    let file = |outcome, error| FileReport {
        file: text.to_owned(),
        outcome,
        millis: 50.0,
        attempts: vec![attempt(1, Outcome::Failed), attempt(2, outcome)],
        error,
    };
    Report {
        version: crate::report::model::VERSION,
        program: text.to_owned(),
        started_at: 0,
        millis: 100.0,
        workers: 2,
        shard: None,
        ended_early: Some(EndedEarly::Interrupted),
        files: vec![
            file(Outcome::Failed, None),
            file(Outcome::Broken, Some(Error::io(text))),
            file(Outcome::Flaky, None),
            file(Outcome::Passed, None),
        ],
    }
}

/// Returns the tags of a page, each from `<` to `>`, except those inside scripts and styles.
fn tags(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').expect("a tag ends") + 1;
        let tag = &rest[at..end];
        found.push(tag);
        rest = &rest[end..];
        for raw in ["script", "style"] {
            if tag == format!("<{raw}>") {
                let close = format!("</{raw}>");
                rest = &rest[rest.find(&close).expect("it is closed")..];
            }
        }
    }
    found
}

#[test]
fn app_text_adds_no_tags_to_the_page() {
    // A harmless text of the same form, so that the page has the same structure.
    let names = |text: &str| {
        let page = render(&report(text), &|_| Some(vec![1, 2, 3]));
        let names = |tag: &str| tag.split([' ', '>', '\n']).next().unwrap_or_default().to_owned();
        tags(&page).into_iter().map(names).collect::<Vec<_>>()
    };
    assert!(names(HOSTILE) == names("a text/with/slashes"), "another page");
    let page = render(&report(HOSTILE), &|_| Some(vec![1, 2, 3]));
    assert!(!page.contains('\u{202e}') && page.contains("\\u{202e}"));
    for tag in tags(&page) {
        let handler = tag.split_whitespace().skip(1).any(|word| word.starts_with("on") && word.contains('='));
        let in_quotes = tag.matches('"').count() % 2;
        assert!(!handler || tag.contains("&quot;"), "{tag}");
        assert_eq!(in_quotes, 0, "{tag}");
    }
}

#[test]
fn page_runs_no_other_script_and_loads_nothing() {
    let page = render(&report("plain"), &|_| Some(vec![1, 2, 3]));
    assert!(page.contains("default-src 'none'; img-src data:"));
    assert_eq!(page.matches("<script>").count(), 1);
    // The policy forbids style attributes and inline handlers.
    assert!(!tags(&page).iter().any(|tag| tag.contains(" style=") || tag.contains(" onclick=")));
    let addresses = |word: &str| page.matches(word).count();
    assert_eq!(addresses("src=\"") - addresses("src=\"data:image/png;base64,"), 0);
    assert_eq!(addresses("http:") + addresses("https:") + addresses("url("), 0);
}

#[test]
fn repeated_picture_is_embedded_once() {
    let page = render(&report("plain"), &|_| Some(vec![1, 2, 3]));
    assert_eq!(page.matches("data:image/png;base64,AQID").count(), 1);
    assert!(page.matches("data-same=\"f1a1s1-img\"").count() > 10);
    assert!(
        !page.contains("NaN") && !page.contains("data-ref=\"@e2\""),
        "a frame that is not in the picture"
    );
    let gone = render(&report("plain"), &|_| None);
    assert!(gone.contains("The picture no longer exists: <code>a.png</code>"));
}

#[test]
fn ids_are_unique_and_references_resolve() {
    let page = render(&report("plain"), &|_| Some(vec![1, 2, 3]));
    let values = |name: &str| -> Vec<&str> {
        let mark = format!(" {name}=\"");
        page.split(&mark).skip(1).map(|rest| rest.split('"').next().unwrap_or_default()).collect()
    };
    let mut ids = values("id");
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id stands twice");
    for name in ["aria-labelledby", "data-same"] {
        assert!(values(name).iter().all(|id| ids.contains(id)), "{name}");
    }
    assert!(values("href").iter().all(|href| ids.contains(&href.trim_start_matches('#'))));
}

/// Returns the relative luminance of `#rrggbb` (WCAG 2.2).
fn luminance(hex: &str) -> f64 {
    let part = |at: usize| {
        let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).expect("a colour")) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

#[test]
fn text_contrast_is_sufficient_in_both_themes() {
    let colour = |name: &str, dark: bool| {
        let mark = format!("--{name}: light-dark(");
        let both = CSS.split(&mark).nth(1).and_then(|rest| rest.split(')').next()).expect("a colour");
        let (light, dark_one) = both.split_once(", ").expect("two colours");
        luminance(if dark { dark_one } else { light })
    };
    for dark in [false, true] {
        for ink in ["ink", "soft", "accent", "passed", "failed", "broken", "flaky", "notrun"] {
            for ground in ["ground", "paper", "sunk"] {
                let (a, b) = (colour(ink, dark), colour(ground, dark));
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "{ink} on {ground}, dark {dark}: {contrast:.2}");
            }
        }
        for ground in ["came", "went", "other", "hot"] {
            let (a, b) = (colour("ink", dark), colour(ground, dark));
            assert!((a.max(b) + 0.05) / (a.min(b) + 0.05) >= 4.5, "ink on {ground}, dark {dark}");
        }
    }
}
