//! Moments as RFC 3339 text in UTC.

use crate::units::Timestamp;

/// `2026-09-12T02:42:06Z`, whole seconds. Years of more than four digits are
/// printed as they are; 64 bits of nanoseconds end in 2554.
pub fn rfc3339(moment: Timestamp) -> String {
    let seconds = moment.unix_seconds();
    let (year, month, day) = civil_from_days(seconds / 86_400);
    let of_day = seconds % 86_400;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a count of days since 1970-01-01 in the proleptic
/// Gregorian calendar. Counts from 0000-03-01, so that the leap day is the
/// last day of its year; an era is 400 years.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    const DAYS_TO_1970: u64 = 719_468;
    const DAYS_OF_ERA: u64 = 146_097;
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months from March; 153 days in every five.
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values from `date -u -d @N +%FT%TZ` of GNU coreutils.
    #[test]
    fn agrees_with_date() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_789_180_926, "2026-09-12T02:42:06Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (18_446_744_073, "2554-07-21T23:34:33Z"),
        ] {
            assert_eq!(rfc3339(Timestamp::from_unix_nanos(seconds * 1_000_000_000)), text);
        }
    }

    /// Every day of four centuries follows the one before it.
    #[test]
    fn days_follow_each_other() {
        let leap = |year: u64| {
            year.is_multiple_of(400) || (year.is_multiple_of(4) && !year.is_multiple_of(100))
        };
        let length = |year: u64, month: u64| match month {
            2 if leap(year) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let mut expected = (1970, 1, 1);
        for days in 0..146_097 {
            assert_eq!(civil_from_days(days), expected, "day {days}");
            let (year, month, day) = expected;
            expected = if day < length(year, month) {
                (year, month, day + 1)
            } else if month < 12 {
                (year, month + 1, 1)
            } else {
                (year + 1, 1, 1)
            };
        }
    }
}
