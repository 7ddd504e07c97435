//! Refs and pins as clients type them.

use stickpin_fuzz::{Target, run};
use stickpin_refs::{HINT, RefToken, looks_like_ref, strip};

const PIECES: &[&str] = &[
    "@",
    "e",
    "e0",
    "0",
    "9",
    "4294967295",
    "4294967296",
    "18446744073709551616",
    "~",
    "~s",
    "s",
    " ",
    "\n",
    "é",
    "٣",
    "+",
    "-",
];

#[test]
fn pins() {
    run(Target {
        name: "pins",
        seeds: Vec::new(),
        pieces: PIECES,
        read: &|bytes, _| {
            let text = &*String::from_utf8_lossy(bytes);
            let plain = strip(text);
            match text.parse::<RefToken>() {
                Ok(token) => {
                    let written = token.to_string();
                    if written.parse() != Ok(token) {
                        return Err(format!("it is written as {written:?}"));
                    }
                    if plain.contains('~') || plain.parse() != Ok(RefToken::plain(token.id)) {
                        return Err(format!("without its pin it is {plain:?}"));
                    }
                    // Only white space, the sign and leading zeros may differ.
                    let typed: String = text.trim().trim_start_matches('@').replace("~s", "~s ");
                    let numbers = typed.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
                    let numbers: Vec<Option<u64>> = numbers.map(|n| n.parse().ok()).collect();
                    let mut expected = vec![Some(u64::from(token.id.get()))];
                    expected.extend(token.pin.map(|pin| Some(pin.get())));
                    match looks_like_ref(text) && numbers == expected {
                        true => Ok(true),
                        false => Err(format!("{token:?} is read from {numbers:?}")),
                    }
                }
                Err(e) => {
                    let inside = text.get(e.span.clone()).is_some();
                    match inside && plain == text && !e.hint().is_empty() && !HINT.is_empty() {
                        true => Ok(false),
                        false => Err(format!("{e:?} of {text:?}, {plain:?}")),
                    }
                }
            }
        },
    });
}
