//! Time and date macros: formats as moment.js writes them in English, durations in words, dates as it reads them.
//!
//! Spec: 04 §10. Times are milliseconds since 1970-01-01T00:00:00Z; offsets are minutes east of Greenwich.

use crate::host::Clock;
use crate::js;

mod format;
mod parse;

pub(super) use format::format;
pub(super) use parse::{date, midnight, send_date, time_of_day};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const DAY_MS: i64 = 86_400_000;

/// An instant seen from a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) ms: i64,
    pub(super) offset: i32,
}

impl Moment {
    /// Now, where the user is.
    pub(super) fn now(clock: &Clock) -> Self {
        Self { ms: clock.now_ms, offset: clock.offset_minutes }
    }

    /// The same instant at another offset.
    pub(super) const fn at(self, offset: i32) -> Self {
        Self { offset, ..self }
    }

    fn local_ms(self) -> i64 {
        self.ms.saturating_add(i64::from(self.offset) * 60_000)
    }

    fn days(self) -> i64 {
        self.local_ms().div_euclid(DAY_MS)
    }

    /// Milliseconds since local midnight.
    pub(super) fn of_day(self) -> i64 {
        self.local_ms().rem_euclid(DAY_MS)
    }
}

/// Days since 1970-01-01 of a date of the Gregorian calendar, month 1–12.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month 1–12, day of a count of days since 1970-01-01.
const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + if month <= 2 { 1 } else { 0 }, month, doy - (153 * mp + 2) / 5 + 1)
}

/// 0 Sunday … 6 Saturday.
const fn weekday(days: i64) -> i64 {
    (days + 4).rem_euclid(7)
}

const fn days_in_month(year: i64, month: i64) -> i64 {
    let (y, m) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_from_civil(y, m, 1) - days_from_civil(year, month, 1)
}

/// An offset written `UTC+N`: below 16 hours, else minutes. `strict` takes the reference's form only; otherwise any case and `H:MM`.
pub(super) fn utc_offset(text: &str, strict: bool) -> Option<i32> {
    let head = text.get(..3)?;
    if head != "UTC" && (strict || !head.eq_ignore_ascii_case("utc")) {
        return None;
    }
    let rest = text.get(3..)?;
    let (sign, digits) = match rest.strip_prefix('+') {
        Some(digits) => (1.0, digits),
        None => (-1.0, rest.strip_prefix('-')?),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((h, m)) if !strict && m.len() == 2 => (h, m),
        Some(_) => return None,
        None => (digits, ""),
    };
    if hours.is_empty() || !hours.bytes().chain(minutes.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (n, m) = (js::to_number(hours), js::to_number(minutes));
    let total = if minutes.is_empty() && n >= 16.0 { n } else { n * 60.0 + m };
    i32::try_from(js::to_integer(sign * total)).ok()
}

/// A duration in words, without direction.
pub(super) fn humanize(ms: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "durations are rounded to whole units")]
    let ms = ms.unsigned_abs() as f64;
    let days = ms / 86_400_000.0;
    let months = days * 4800.0 / 146_097.0;
    let [s, m, h, d, mo, y] = [ms / 1000.0, ms / 60_000.0, ms / 3_600_000.0, days, months, months / 12.0]
        .map(|n| js::to_integer(js::round(n)));
    if s <= 44 {
        "a few seconds".to_owned()
    } else if m <= 1 {
        "a minute".to_owned()
    } else if m < 45 {
        format!("{m} minutes")
    } else if h <= 1 {
        "an hour".to_owned()
    } else if h < 22 {
        format!("{h} hours")
    } else if d <= 1 {
        "a day".to_owned()
    } else if d < 26 {
        format!("{d} days")
    } else if mo <= 1 {
        "a month".to_owned()
    } else if mo < 11 {
        format!("{mo} months")
    } else if y <= 1 {
        "a year".to_owned()
    } else {
        format!("{y} years")
    }
}

/// The same with direction: `in X` for a positive difference, else `X ago`.
pub(super) fn humanize_suffix(ms: i64) -> String {
    if ms > 0 { format!("in {}", humanize(ms)) } else { format!("{} ago", humanize(ms)) }
}
