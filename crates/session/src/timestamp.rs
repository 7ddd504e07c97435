//! Timestamps in wall time, as stored in the log and the metadata: for display, never for
//! deadlines.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// The first millisecond that RFC 3339 cannot express: the beginning of the year 10000.
const END: u64 = 253_402_300_800_000;

/// A point in time: milliseconds since 1970-01-01T00:00:00Z, formatted according to RFC 3339 in
/// UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(u64);

/// The error for a text that is not a timestamp of the form `2026-01-31T09:08:07.006Z`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a timestamp of the form `2026-01-31T09:08:07.006Z`")]
pub struct InvalidTimestamp;

impl Timestamp {
    /// Creates a timestamp from milliseconds since the Unix epoch, limited to the end of the year
    /// 9999.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(if millis < END { millis } else { END - 1 })
    }

    /// Returns the milliseconds since the Unix epoch.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }
}

impl From<SystemTime> for Timestamp {
    /// Returns the time in whole milliseconds. A time before 1970 becomes the Unix epoch.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The range of a timestamp is within that of the calendar.
        let at = DateTime::from_timestamp_millis(self.0.cast_signed()).unwrap_or(DateTime::<Utc>::MAX_UTC);
        f.write_str(&at.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        let at = DateTime::parse_from_rfc3339(text).map_err(|_| InvalidTimestamp)?;
        let at = u64::try_from(at.timestamp_millis()).map(Self).map_err(|_| InvalidTimestamp)?;
        // Accept only the form in which timestamps are written, with no other offset or number of
        // digits.
        if at.to_string() == text { Ok(at) } else { Err(InvalidTimestamp) }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const MS_PER_DAY: u64 = 86_400_000;

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
        for (time, millis) in [
            (UNIX_EPOCH + Duration::from_micros(1_999), 1),
            (UNIX_EPOCH - Duration::from_secs(1), 0),
            (UNIX_EPOCH + Duration::from_millis(END), END - 1),
        ] {
            assert_eq!(Timestamp::from(time).millis(), millis);
        }
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
