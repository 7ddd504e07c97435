//! Texts that change by themselves: numbers, times, money, counts. Of these, only bare numbers can
//! distinguish rows, and only if no other text does.
//!
//! The words are English. In other languages, fewer texts count as volatile, so more texts are
//! compared and more actions are refused, never fewer.

/// Returns whether a text may change while the thing that it describes stays the same.
#[must_use]
pub fn is_volatile(text: &str) -> bool {
    is_bare(text) || contains_measure(text)
}

/// Returns whether a text is only a number, amount or time. `Pay $300 to Ann?` is more than that,
/// so it counts in a dialog.
pub(crate) fn is_bare(text: &str) -> bool {
    is_number(text) || is_amount(text) || is_time_or_date(text)
}

/// Returns whether a text is not empty and contains only digits, white space and the punctuation of
/// numbers.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_whitespace() || c.is_ascii_digit() || ".,:;/#%+×x*()-–—−'’".contains(c))
}

/// Returns whether a text is a bare count, as in a badge: `3`, `99+`.
pub(crate) fn is_count(text: &str) -> bool {
    let digits = text.trim().trim_end_matches('+').trim_end();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

pub(crate) const CURRENCY_SIGNS: [char; 5] = ['$', '€', '£', '¥', '₹'];
const CURRENCIES: [&str; 10] = ["$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "kr", "CHF"];

/// Returns whether a text is a number, with or without a currency, percent sign, magnitude or rate:
/// `$12.00`, `1,2k`, `5 EUR / month`.
pub(crate) fn is_amount(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_whitespace() || "+-−–".contains(c));
    let rest = CURRENCIES.iter().find_map(|c| rest.strip_prefix(c)).unwrap_or(rest);
    let after =
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_whitespace() || ".,".contains(c));
    if !rest[..rest.len() - after.len()].bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    let after = CURRENCIES
        .iter()
        .chain(&["%", "k", "K", "m", "M"])
        .find_map(|c| after.strip_prefix(c))
        .unwrap_or(after);
    match after.trim_start().strip_prefix('/') {
        Some(unit) => {
            let unit = unit.trim();
            !unit.is_empty() && unit.chars().all(|c| c.is_alphanumeric() || c == '_')
        }
        None => after.trim().is_empty(),
    }
}

/// Returns whether a text is an absolute or relative time or date: `3 minutes ago`, `yesterday`,
/// `Mon, 4 May 2026 10:30`, `2026-05-04`.
pub(crate) fn is_time_or_date(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()).peekable();
    let mut has_date = false;
    let mut count = 0;
    while let Some(word) = words.next() {
        count += 1;
        let number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        if (number || word == "a" || word == "an") && words.peek().is_some_and(|w| is_unit(w)) {
            words.next();
            has_date = true;
        } else if is_clock(word) || is_numeric_date(word) || is_day_or_month(word) || is_short_span(word) {
            has_date = true;
        } else {
            let is_filler = matches!(
                word,
                "ago" | "about" | "over" | "almost" | "in" | "at" | "on" | "just" | "am" | "pm"
            );
            let small = number && word.len() <= 4;
            if !(is_filler || small) {
                return false;
            }
        }
        if count > 8 {
            return false;
        }
    }
    has_date
}

/// A unit of time. A smaller unit compares as less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimeUnit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// Returns the unit of time that a lower-case word names.
pub(crate) fn time_unit(word: &str) -> Option<TimeUnit> {
    Some(match word {
        "s" | "sec" | "secs" | "second" | "seconds" => TimeUnit::Second,
        "m" | "min" | "mins" | "minute" | "minutes" => TimeUnit::Minute,
        "h" | "hr" | "hrs" | "hour" | "hours" => TimeUnit::Hour,
        "d" | "day" | "days" => TimeUnit::Day,
        "w" | "week" | "weeks" => TimeUnit::Week,
        "mo" | "month" | "months" => TimeUnit::Month,
        "y" | "yr" | "yrs" | "year" | "years" => TimeUnit::Year,
        _ => return None,
    })
}

fn is_unit(word: &str) -> bool {
    time_unit(word).is_some()
}

/// Returns whether a word is a short time span: `5m`, `3h`, `12min`.
fn is_short_span(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < word.len() && is_unit(unit)
}

fn is_day_or_month(word: &str) -> bool {
    const NAMES: &str = "monday tuesday wednesday thursday friday saturday sunday january february march april may june \
                         july august september october november december";
    let word = word.trim_end_matches('.');
    matches!(word, "now" | "today" | "yesterday" | "tomorrow" | "tues" | "thur" | "thurs" | "sept")
        || NAMES.split(' ').any(|n| word == n || word.len() == 3 && n.starts_with(word))
}

/// Returns whether a lower-case word is a time of day: `9:05`, `10:30:15`, `7:15pm`.
pub(crate) fn is_clock(word: &str) -> bool {
    let word = word.strip_suffix("am").or_else(|| word.strip_suffix("pm")).unwrap_or(word);
    let mut parts = word.split(':');
    let fits = |p: Option<&str>, min: usize| {
        p.is_some_and(|p| (min..=2).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
    };
    fits(parts.next(), 1)
        && fits(parts.next(), 2)
        && parts.next().is_none_or(|p| fits(Some(p), 2))
        && parts.next().is_none()
}

/// Returns whether a lower-case word is a numeric date, with an optional time after a `t`:
/// `2026-05-04`, `4.5.26`, `5/4/2026`, `2026-05-04t10:30...`.
pub(crate) fn is_numeric_date(word: &str) -> bool {
    let date = word.split_once('t').map_or(word, |(date, _)| date);
    ['-', '/', '.'].iter().any(|&sep| {
        let mut parts = date.split(sep);
        let fits = |p: Option<&str>, max: usize| {
            p.is_some_and(|p| (1..=max).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
        };
        fits(parts.next(), 4) && fits(parts.next(), 2) && fits(parts.next(), 4) && parts.next().is_none()
    })
}

/// Returns whether a text contains a changing measure: money, a percentage, `2 ×`, `3 comments`,
/// `qty`, `5 min ago`.
fn contains_measure(text: &str) -> bool {
    let head = text.char_indices().nth(400).map_or(text, |(end, _)| &text[..end]);
    let rest = head.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_spaced = rest.len() < head.len() && rest.starts_with(char::is_whitespace);
    // `12 Main Street` is an address, not a count.
    if is_spaced && rest.trim_start().starts_with(char::is_uppercase) {
        return false;
    }
    contains_count(head)
        || has_money_or_percent(head)
        || has_times_sign(head)
        || has_quantity_word(text)
        || contains_past_span(text)
}

/// Returns whether a text begins with a count: `3 comments`, `1.2k views`.
fn contains_count(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || ".,kKmM".contains(c));
    let word = rest.trim_start();
    text.starts_with(|c: char| c.is_ascii_digit())
        && word.len() < rest.len()
        && word.starts_with(char::is_lowercase)
}

fn has_money_or_percent(text: &str) -> bool {
    text.match_indices(|c: char| c.is_ascii_digit()).any(|(at, digit)| {
        let (front, behind) = (&text[..at], &text[at + digit.len()..]);
        let front = front.strip_suffix(char::is_whitespace).unwrap_or(front);
        let behind = behind.strip_prefix(char::is_whitespace).unwrap_or(behind);
        let word = &behind[..behind.find(|c: char| !c.is_alphabetic()).unwrap_or(behind.len())];
        front.ends_with(CURRENCY_SIGNS)
            || behind.starts_with(CURRENCY_SIGNS)
            || behind.starts_with('%')
            || matches!(word, "USD" | "EUR" | "kr")
    })
}

/// Returns whether a text starts or ends with a multiplier: `2 x ...`, `... ×3`. The last letter of
/// a word is not a times sign, as in `Box 3`, and neither is the `X` in `iPhone X 3`.
fn has_times_sign(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let rest = text.trim_start_matches(is_digit);
    let sign = rest.strip_prefix(char::is_whitespace).unwrap_or(rest).strip_prefix(['×', 'x']);
    let front = text.trim_end_matches(is_digit);
    let before = front.strip_suffix(char::is_whitespace).unwrap_or(front);
    let is_alone = |before: &str| !before.ends_with(char::is_alphanumeric);
    rest.len() < text.len() && sign.is_some_and(|rest| rest.starts_with(char::is_whitespace))
        || front.len() < text.len()
            && (before.ends_with('×') || before.strip_suffix('x').is_some_and(is_alone))
}

fn has_quantity_word(text: &str) -> bool {
    let first = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    first.eq_ignore_ascii_case("qty") || first.eq_ignore_ascii_case("quantity")
}

/// Returns whether a text contains a span that ends with `ago`: `edited 5 min ago`.
fn contains_past_span(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    words.iter().enumerate().any(|(i, w)| {
        *w == "ago"
            && (i >= 1 && is_short_span(words[i - 1])
                || i >= 2 && is_unit(words[i - 1]) && words[i - 2].bytes().all(|b| b.is_ascii_digit()))
    })
}

/// Removes parenthesized integers from a text: `Inbox (3)` becomes `Inbox`.
pub(crate) fn without_counts(text: &str) -> String {
    let mut parts = text.split('(');
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let is_count = |inner: &str| !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_digit());
        match part.split_once(')').filter(|(inner, _)| is_count(inner.trim())) {
            Some((_, rest)) => out.extend([" ", rest]),
            None => out.extend(["(", part]),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a word is a plural, judging by its ending.
pub(crate) fn is_plural(word: &str) -> bool {
    let word = word.trim_end_matches(':');
    word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volatile_texts_are_recognized() {
        for text in [
            "3",
            "12:30",
            "1/3",
            "#17",
            "+5 %",
            "$12.00",
            "12,50 €",
            "1.2k",
            "9 USD / month",
            "just now",
            "now",
            "3 minutes ago",
            "about 2 hours ago",
            "in 3 days",
            "5m",
            "yesterday",
            "Mon",
            "Monday",
            "May 4",
            "4 May 2026",
            "Mon, 4 May 2026, 10:30",
            "Sep 3, 2026 9:05 pm",
            "2026-05-04",
            "2026-05-04T10:30:15Z",
            "4.5.2026",
            "3 comments",
            "12 points by ann",
            "1.2k views",
            "2 × $3",
            "Desk $120",
            "now 20 % off",
            "qty 3",
            "Qty: 3",
            "2 x",
            "edited 5 min ago",
            "updated 2h ago",
            "Lamp ×3",
            "Lamp × 3",
            "Lamp x 3",
            "45 kr",
        ] {
            assert!(is_volatile(text), "{text:?} should be volatile");
        }
    }

    #[test]
    fn distinguishing_texts_are_not_volatile() {
        for text in [
            "Ann",
            "Monitor",
            "Marta",
            "Julia",
            "Sunny",
            "Order 18",
            "12 Main Street",
            "Desk",
            "Box 3",
            "Fix 12",
            "Mail 1",
            "Day 3",
            "Week 12",
            "a",
            "in",
            "at",
            "Qtyx",
            "e4f5",
            "Version 2.1",
            "Ago",
            "A/B",
            "x-ray",
        ] {
            assert!(!is_volatile(text), "{text:?} should not be volatile");
        }
    }

    #[test]
    fn without_counts_drops_parenthesised_integers() {
        assert_eq!(without_counts("Inbox (3)"), "Inbox");
        assert_eq!(without_counts("Inbox ( 12 ) and (x) (4) more"), "Inbox and (x) more");
        assert_eq!(without_counts("f(x) (1"), "f(x) (1");
    }

    #[test]
    fn only_integers_are_counts() {
        assert!(is_count("3") && is_count("99+") && is_count("9 +"));
        assert!(!is_count("") && !is_count("3 a") && !is_count("+"));
    }
}
