//! A moment of the wall clock, as records state it.
//!
//! A clock can be wrong by any number of years. The years 1970 to 9999 have a text; other moments
//! take the nearest one that has. No other module formats a time.

use humantime::{format_rfc3339_millis, format_rfc3339_seconds};
use std::time::{Duration, SystemTime};

/// The last second of the year 9999, since 1970.
const LAST_SECOND: Duration = Duration::from_secs(253_402_300_799);

/// A moment in the years 1970 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(SystemTime);

impl Moment {
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }

    /// In UTC with seconds, as in `2027-01-31T12:00:00Z`.
    pub fn seconds(self) -> String {
        format_rfc3339_seconds(self.0).to_string()
    }

    /// In UTC with milliseconds, as in `2027-01-31T12:00:00.000Z`.
    pub fn milliseconds(self) -> String {
        format_rfc3339_millis(self.0).to_string()
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(SystemTime::UNIX_EPOCH + since.min(LAST_SECOND))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Day;

    #[test]
    fn a_clock_that_is_wrong_by_years_has_a_text() {
        let day = Duration::from_secs(86_400);
        for (time, expected) in [
            (SystemTime::UNIX_EPOCH - day, "1970-01-01T00:00:00"),
            (SystemTime::UNIX_EPOCH, "1970-01-01T00:00:00"),
            (SystemTime::UNIX_EPOCH + 365 * day, "1971-01-01T00:00:00"),
            (SystemTime::UNIX_EPOCH + LAST_SECOND, "9999-12-31T23:59:59"),
            (SystemTime::UNIX_EPOCH + LAST_SECOND + day, "9999-12-31T23:59:59"),
        ] {
            let moment = Moment::from(time);
            assert_eq!(moment.seconds(), format!("{expected}Z"));
            assert_eq!(moment.milliseconds(), format!("{expected}.000Z"));
            assert_eq!(String::from(Day::from_moment(moment)), expected[..10]);
        }
    }
}
