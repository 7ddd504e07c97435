//! Points in wall time as the log and the metadata store them: for display, never for deadlines.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

const MS_PER_DAY: u64 = 86_400_000;

/// The first millisecond that RFC 3339 cannot write: the beginning of the year 10000.
const END: u64 = 253_402_300_800_000;

/// A point in time: milliseconds since 1970-01-01T00:00:00Z, written as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(u64);

/// A text is not a timestamp in the form `2026-01-31T09:08:07.006Z`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a timestamp such as 2026-01-31T09:08:07.006Z")]
pub struct InvalidTimestamp;

impl Timestamp {
    /// Creates a timestamp from milliseconds since the Unix epoch, at most the end of year 9999.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(if millis < END { millis } else { END - 1 })
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }
}

/// Year, month and day of a day counted from 1970-01-01 (the algorithm `civil_from_days`).
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// The day counted from 1970-01-01 (the algorithm `days_from_civil`); `None` before that day.
fn day_number(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = year.checked_sub(u64::from(month <= 2))?;
    let (era, year_of_era) = (year / 400, year % 400);
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    (era * 146_097 + of_era).checked_sub(719_468)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.0 / MS_PER_DAY);
        let ms = self.0 % MS_PER_DAY;
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
        let milli = ms % 1_000;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        let bytes = text.as_bytes();
        if bytes.len() != 24 || bytes[23] != b'Z' {
            return Err(InvalidTimestamp);
        }
        for (at, mark) in [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.')] {
            if bytes[at] != mark {
                return Err(InvalidTimestamp);
            }
        }
        let number = |from: usize, to: usize| {
            bytes[from..to].iter().try_fold(0, |n, b| match b {
                b'0'..=b'9' => Ok(n * 10 + u64::from(b - b'0')),
                _ => Err(InvalidTimestamp),
            })
        };
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return Err(InvalidTimestamp);
        }
        let days = day_number(year, month, day).ok_or(InvalidTimestamp)?;
        // A day that the month does not have would come back as one of the next month.
        if date(days) != (year, month, day) || hour > 23 || minute > 59 || second > 59 {
            return Err(InvalidTimestamp);
        }
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
        Ok(Self(seconds * 1_000 + number(20, 23)?))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = Timestamp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a timestamp")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn millis_and_text_name_the_same_point() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_785_500_000_123, "2026-07-31T12:13:20.123Z"),
            (END - 1, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
            assert_eq!(text.parse(), Ok(Timestamp::from_millis(millis)));
        }
        assert_eq!(Timestamp::from_millis(u64::MAX), Timestamp::from_millis(END - 1));
    }

    #[test]
    fn days_of_all_centuries_read_back() {
        for day in (0..END / MS_PER_DAY).step_by(61) {
            let at = Timestamp::from_millis(day * MS_PER_DAY + 1);
            assert_eq!(at.to_string().parse(), Ok(at));
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for text in [
            "",
            "1969-12-31T23:59:59.999Z",
            "2026-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-00-01T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "2026-01-01T00:00:00Z",
            "2026-01-01 00:00:00.000Z",
            "2026-01-01T00:00:00.000z",
            "2026-01-01T00:00:0+.000Z",
            "0000-01-01T00:00:00.000Z",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(InvalidTimestamp), "{text}");
        }
    }
}
