//! Finds the numbers in a text, and those that a clock or timer changes.

use std::ops::Range;

use crate::identity::rows::numbers::{TimeUnit, time_unit};

/// Returns whether two texts differ only in their numbers.
#[must_use]
pub fn differ_in_numbers(before: &str, now: &str) -> bool {
    before != now && split_at_numbers(before) == split_at_numbers(now)
}

/// Returns whether a text contains a digit.
pub(super) fn contains_number(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

/// Returns whether two texts name different states of one thing.
///
/// They must have the same number of words. At least half of the words must be equal, and the
/// others must be lower-case in both. `12 MB, rising` and `14 MB, falling` match; `Order of Ada`
/// and `Order of Nils` do not. Words with numbers count as neither equal nor different.
#[must_use]
pub fn differ_in_state(before: &str, now: &str) -> bool {
    let (mut same, mut other) = (0, 0);
    let mut words = before.split_whitespace();
    for is in now.split_whitespace() {
        let Some(was) = words.next() else { return false };
        if was == is {
            same += usize::from(!contains_number(is));
        } else if contains_number(was) && contains_number(is) {
            if split_at_numbers(was) != split_at_numbers(is) {
                return false;
            }
        } else if is_lower_case_word(was) && is_lower_case_word(is) {
            other += 1;
        } else {
            return false;
        }
    }
    words.next().is_none() && other > 0 && same >= other
}

/// Returns whether a word is lower-case, ignoring punctuation around it. A single letter does not
/// count, because it may be a name.
fn is_lower_case_word(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.chars().count() > 1 && word.chars().all(char::is_lowercase)
}

/// Returns the texts before, between and after the numbers of a text.
pub(super) fn split_at_numbers(text: &str) -> Vec<&str> {
    let numbers = numbers(text);
    (0..=numbers.len()).map(|nth| text_before_number(text, &numbers, nth)).collect()
}

/// Returns whether only a clock or timer advanced. The texts differ only in numbers. Each number
/// that differs is part of a time with seconds, such as `10:30:15`, or counts seconds or minutes,
/// as in `892 / 900 s` and `4m 32s`.
///
/// `9:00`, `9 h`, `3 days` and `5 m` may distinguish two records. They count as ticking only when a
/// smaller unit follows.
pub(super) fn is_clock_change(before: &str, now: &str) -> bool {
    if !differ_in_numbers(before, now) {
        return false;
    }
    let (then, numbers) = (numbers(before), numbers(now));
    then.iter().enumerate().filter(|(nth, range)| before[(*range).clone()] != now[numbers[*nth].clone()]).all(
        |(nth, _)| {
            is_in_clock(before, &then, nth) && is_in_clock(now, &numbers, nth)
                || ticking_unit(now, &numbers, nth).is_some()
        },
    )
}

/// Returns whether a text contains a percent or currency sign. The numbers of such a text count as
/// percentages or prices, which never distinguish records.
pub(super) fn is_quantity(text: &str) -> bool {
    text.contains(['%', '€', '$', '£', '¥'])
}

/// Returns the offset at which the number with this first digit begins. A sign before the digit
/// belongs to the number, unless the sign joins the number to the preceding text.
fn number_start(text: &str, digit: usize) -> usize {
    let signed = ["-", "+", "\u{2212}"].iter().find_map(|sign| text[..digit].strip_suffix(sign));
    let is_free = |front: &&str| !front.ends_with(|c: char| c.is_alphanumeric());
    signed.filter(is_free).map_or(digit, str::len)
}

/// Returns the numbers in a text: runs of digits, with signs, and with points and commas between
/// digits.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_digit(at) {
            at += 1;
            continue;
        }
        let from = number_start(text, at);
        while is_digit(at) || matches!(bytes.get(at), Some(b'.' | b',')) && is_digit(at + 1) {
            at += 1;
        }
        found.push(from..at);
    }
    found
}

/// Returns the text between the number with index `nth` and the previous number. If `nth` is the
/// index after the last number, returns the rest of the text.
fn text_before_number<'t>(text: &'t str, numbers: &[Range<usize>], nth: usize) -> &'t str {
    let from = nth.checked_sub(1).map_or(0, |last| numbers[last].end);
    &text[from..numbers.get(nth).map_or(text.len(), |number| number.start)]
}

/// Returns whether a number is part of a time with hours, minutes and seconds. The seconds may have
/// a fraction.
fn is_in_clock(text: &str, numbers: &[Range<usize>], nth: usize) -> bool {
    let is_joined =
        |nth: usize| nth > 0 && nth < numbers.len() && text_before_number(text, numbers, nth) == ":";
    let first = (0..=nth).rev().find(|&n| !is_joined(n)).unwrap_or(0);
    let parts = (first + 1..).take_while(|&n| is_joined(n)).count() + 1;
    let width = |n: usize| {
        let part = &text[numbers[n].clone()];
        let whole = if n == first + 2 { part.split('.').next().unwrap_or(part) } else { part };
        whole.bytes().all(|b| b.is_ascii_digit()).then_some(whole.len())
    };
    parts == 3 && (first..first + 3).all(|n| width(n).is_some_and(|width| width <= 2))
}

/// Returns the unit of a number that changes by itself: seconds or minutes, or a larger unit
/// followed by a smaller one that changes. Further numbers, joined by `/` or `:`, may stand between
/// the number and its unit, as in `3/10 s` and `1:05 min`.
fn ticking_unit(text: &str, numbers: &[Range<usize>], nth: usize) -> Option<TimeUnit> {
    if is_in_word(text, numbers, nth) {
        return None;
    }
    let mut last = nth;
    while last + 1 < numbers.len() && matches!(text_before_number(text, numbers, last + 1).trim(), "/" | ":")
    {
        last += 1;
    }
    let tail = text[numbers[last].end..].trim_start();
    let word = word_at(tail);
    let unit = unit_of(word)?;
    let rest = &tail[word.len()..];
    if is_rate(rest) {
        return None;
    }
    let is_plain = match unit {
        TimeUnit::Second => true,
        // `m` may also mean meters or millions.
        TimeUnit::Minute => word != "m",
        _ => false,
    };
    let has_next_unit = || {
        let between = text_before_number(text, numbers, last + 1).trim_start().strip_prefix(word)?;
        let is_adjacent = matches!(between.trim(), "" | "," | "and");
        let next =
            (is_adjacent && last + 1 < numbers.len()).then(|| ticking_unit(text, numbers, last + 1))??;
        (next < unit).then_some(unit)
    };
    if is_plain { Some(unit) } else { has_next_unit() }
}

/// Returns the letters at the start of a text.
fn word_at(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len())]
}

/// Returns the time unit that a word names. Single upper-case letters such as `S` and `M` are
/// sizes.
fn unit_of(word: &str) -> Option<TimeUnit> {
    if word.len() == 1 { time_unit(word) } else { time_unit(&word.to_lowercase()) }
}

/// Returns whether the text after a unit gives the unit another meaning: `5 s²`, `20 min/week`, `10
/// min-plan`.
fn is_rate(rest: &str) -> bool {
    let mut chars = rest.chars();
    match chars.next() {
        Some('/' | '-' | '‐' | '–' | '·' | '*') => chars.next().is_some_and(char::is_alphabetic),
        Some('²' | '³' | '^' | '_' | '@') => true,
        _ => false,
    }
}

/// Returns whether a number directly follows letters, as in `A12`. The unit of the previous number
/// does not count, as in `1h30m`.
fn is_in_word(text: &str, numbers: &[Range<usize>], nth: usize) -> bool {
    let before = text_before_number(text, numbers, nth);
    before.ends_with(|c: char| c.is_alphabetic() || c == '_') && (nth == 0 || unit_of(before).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_changes_are_recognized() {
        for (was, now) in [
            ("10:30:15", "10:30:16"),
            ("10:59:59 UTC", "11:00:00 UTC"),
            ("2026-05-04T10:30:15Z", "2026-05-04T10:30:16Z"),
            ("0:00:07.250", "0:00:08.125"),
            ("6s", "5s"),
            ("10min", "9min"),
            ("892 s", "891 s"),
            ("1,000 seconds", "999 seconds"),
            ("1.0 sec", "0.9 sec"),
            ("100000sec", "99999sec"),
            ("100000 / 100000sec", "99999 / 100000sec"),
            ("3/10 s", "4/10 s"),
            ("1:05 min", "1:06 min"),
            ("high load for 5 s, 82 %", "high load for 6 s, 82 %"),
            ("4m 0s", "3m 59s"),
            ("1h30m5s", "1h30m4s"),
            ("2 days, 3 hours and 0 minutes", "2 days, 2 hours and 59 minutes"),
            ("1d 0h 0min", "0d 23h 59min"),
            ("Saved 2 Minutes ago", "Saved 3 Minutes ago"),
            ("5s/10s", "6s/10s"),
        ] {
            assert!(is_clock_change(was, now), "{was:?} to {now:?}");
        }
    }

    #[test]
    fn state_change_is_one_lower_case_word() {
        for (was, now) in [
            ("per second, rising", "per second, falling"),
            ("12 MB, rising", "14 MB, falling"),
            ("Server online", "Server offline"),
        ] {
            assert!(differ_in_state(was, now), "{was:?} to {now:?}");
        }
        for (was, now) in [
            ("rising", "falling"),
            ("Order of Ada", "Order of Nils"),
            ("Server online", "Server online"),
            ("Server online", "server offline"),
            ("a red lamp", "two blue lamps"),
            ("paid", "paid today"),
            ("Order 17", "Order 18"),
            ("item a1", "item b1"),
            ("plan a of two", "plan b of two"),
        ] {
            assert!(!differ_in_state(was, now), "{was:?} to {now:?}");
        }
    }

    #[test]
    fn number_includes_its_sign() {
        assert!(differ_in_numbers("-0.8 %", "0.4 %") && differ_in_numbers("\u{2212}3", "+4"));
        assert!(!differ_in_numbers("A-8", "A8") && !differ_in_numbers("3-4", "3 4"));
    }

    #[test]
    fn plain_number_change_is_no_clock_change() {
        for (was, now) in [
            ("high load for 5 s, 82 %", "high load for 6 s, 86 %"),
            ("Order 17 at 10:00:05", "Order 18 at 10:00:06"),
            ("9:00", "9:15"),
            ("at 9:00 h", "at 10:00 h"),
            ("9 h", "10 h"),
            ("3 days", "5 days"),
            ("1 day, 0 hours and 1 minute", "0 days, 23 hours and 59 minutes"),
            ("5 m", "6 m"),
            ("Pipe 5 m", "Pipe 6 m"),
            ("5 m, 3 bar", "6 m, 3 bar"),
            ("Shirt 5 S", "Shirt 6 S"),
            ("A10s", "A11s"),
            ("v_1 s", "v_2 s"),
            ("5 m/s", "6 m/s"),
            ("20 min/week", "30 min/week"),
            ("10 min-plan", "20 min-plan"),
            ("5 s²", "6 s²"),
            ("1:2:3:4", "1:2:3:5"),
            ("100:10:10", "101:10:10"),
            ("5 of 10 s", "6 of 10 s"),
            ("5, 10 s", "6, 10 s"),
            ("5 sandwiches", "6 sandwiches"),
            ("5 s left", "6 s gone"),
            ("7", "8"),
            ("a5", "5a"),
        ] {
            assert!(!is_clock_change(was, now), "{was:?} to {now:?}");
        }
        assert!(!is_clock_change("6 s", "6 s"), "nothing changed");
    }

    #[test]
    fn differ_in_numbers_requires_equal_words() {
        for (was, now) in
            [("Order 17", "Order 18"), ("999 views", "1,000 views"), ("1.5", "2"), ("3/9", "4/9")]
        {
            assert!(differ_in_numbers(was, now), "{was:?} to {now:?}");
        }
        for (was, now) in [
            ("Order 17", "Order 17"),
            ("Order 17", "Orders 18"),
            ("Order", "Order 18"),
            ("a5", "5a"),
            ("12 a 3", "a 3"),
            ("Ann", "Bob"),
        ] {
            assert!(!differ_in_numbers(was, now), "{was:?} to {now:?}");
        }
    }
}
