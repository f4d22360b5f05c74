//! `send_date` in any of its forms -> ISO 8601 (spec 08 §5.3). What names no zone gets none.

use serde_json::Value;

use crate::js;

/// The years 0 to 9999, in milliseconds since 1970.
const FIRST_MS: i64 = -62_167_219_200_000;
const LAST_MS: i64 = 253_402_300_799_999;

/// The date as ISO text: UTC with `Z` and milliseconds, or local without zone. `None` when it is no date.
pub(super) fn sent_at(value: &Value) -> Option<String> {
    match value {
        Value::Number(n) => from_ms(n.as_f64()?),
        Value::String(s) if !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()) => {
            from_ms(js::to_number(s))
        }
        Value::String(s) => {
            let text = js::trim(s);
            iso(text).or_else(|| spoken(text)).or_else(|| humanized(text))
        }
        _ => None,
    }
}

fn from_ms(ms: f64) -> Option<String> {
    if ms == 0.0 { None } else { utc(js::to_integer(ms)) }
}

/// A moment as the text gives it.
#[derive(Clone, Copy, Default)]
struct Moment {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    ms: i64,
}

impl Moment {
    fn valid(self) -> Option<Self> {
        let leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        let days = match self.month {
            2 => 28 + i64::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        let fits = (1..=days).contains(&self.day) && self.hour < 24 && self.minute < 60 && self.second < 60;
        fits.then_some(self)
    }

    /// Milliseconds since 1970, taking the moment as UTC (Howard Hinnant's public algorithm).
    fn to_ms(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
        (((days * 24 + self.hour) * 60 + self.minute) * 60 + self.second) * 1000 + self.ms
    }

    fn local(self) -> String {
        let Self { year, month, day, hour, minute, second, ms } = self;
        let fraction = if ms == 0 { String::new() } else { format!(".{ms:03}") };
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}")
    }
}

/// `toISOString`, for the years that it writes with four digits.
fn utc(ms: i64) -> Option<String> {
    (FIRST_MS..=LAST_MS).contains(&ms).then(|| js::iso_date(ms))
}

/// Reads a text piece by piece.
struct Scan<'a>(&'a str);

impl Scan<'_> {
    fn digits(&mut self, least: usize, most: usize) -> Option<i64> {
        let count = self.0.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at_checked(count).filter(|_| count >= least)?;
        self.0 = rest;
        digits.parse().ok()
    }

    fn text(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn blanks(&mut self) {
        self.0 = self.0.trim_start_matches(' ');
    }
}

/// `2025-02-03`, `2025-02-03T04:05`, `…:06.789`, with `Z` or `+02:00` or neither.
fn iso(text: &str) -> Option<String> {
    let mut s = Scan(text);
    let mut m = Moment { year: s.digits(4, 4)?, ..Moment::default() };
    s.text("-")?;
    m.month = s.digits(2, 2)?;
    s.text("-")?;
    m.day = s.digits(2, 2)?;
    if s.0.is_empty() {
        return Some(m.valid()?.local());
    }
    s.text("T").or_else(|| s.text("t")).or_else(|| s.text(" "))?;
    m.hour = s.digits(2, 2)?;
    s.text(":")?;
    m.minute = s.digits(2, 2)?;
    if s.text(":").is_some() {
        m.second = s.digits(2, 2)?;
        if s.text(".").or_else(|| s.text(",")).is_some() {
            let before = s.0.len();
            let fraction = s.digits(1, 3)?;
            let given = before - s.0.len();
            m.ms = fraction * [100, 10, 1].get(given - 1)?;
            s.0 = s.0.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    let m = m.valid()?;
    if s.0.is_empty() {
        return Some(m.local());
    }
    if s.0.eq_ignore_ascii_case("z") {
        return utc(m.to_ms());
    }
    let sign = if s.text("+").is_some() { 1 } else { s.text("-").map(|()| -1)? };
    let hours = s.digits(2, 2)?;
    let _colon = s.text(":");
    let minutes = if s.0.is_empty() { 0 } else { s.digits(2, 2)? };
    (s.0.is_empty() && hours < 24 && minutes < 60).then_some(())?;
    utc(m.to_ms() - sign * (hours * 60 + minutes) * 60_000)
}

/// `June 19, 2023 2:20pm`, in the zone of whoever wrote it.
fn spoken(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let (name, rest) = text.split_once(' ')?;
    let name = name.to_ascii_lowercase();
    let month = MONTHS.iter().position(|m| *m == name || (name.len() == 3 && m.starts_with(&name)))?;
    let mut s = Scan(rest);
    let mut m = Moment { month: i64::try_from(month).ok()? + 1, ..Moment::default() };
    m.day = s.digits(1, 2)?;
    s.text(",")?;
    s.blanks();
    m.year = s.digits(4, 4)?;
    s.text(" ")?;
    s.blanks();
    m.hour = s.digits(1, 2)?;
    s.text(":")?;
    m.minute = s.digits(2, 2)?;
    s.blanks();
    let afternoon = match s.0.to_ascii_lowercase().as_str() {
        "am" => 0,
        "pm" => 12,
        _ => return None,
    };
    (1..=12).contains(&m.hour).then_some(())?;
    m.hour = m.hour % 12 + afternoon;
    Some(m.valid()?.local())
}

/// `2024-07-12@01h31m37s123ms`, `2024-6-5 @14h 56m 50s 682ms`: UTC.
fn humanized(text: &str) -> Option<String> {
    let mut s = Scan(text);
    let mut m = Moment { year: s.digits(4, 4)?, ..Moment::default() };
    s.text("-")?;
    m.month = s.digits(1, 2)?;
    s.text("-")?;
    m.day = s.digits(1, 2)?;
    s.blanks();
    s.text("@")?;
    s.blanks();
    m.hour = s.digits(1, 2)?;
    s.text("h")?;
    s.blanks();
    m.minute = s.digits(1, 2)?;
    s.text("m")?;
    s.blanks();
    m.second = s.digits(1, 2)?;
    s.text("s")?;
    s.blanks();
    if !s.0.is_empty() {
        m.ms = s.digits(1, 3)?;
        s.text("ms")?;
    }
    let m = m.valid()?;
    s.0.is_empty().then_some(())?;
    utc(m.to_ms())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_form_of_the_reference() {
        for (given, expected) in [
            (json!(1_719_230_000_123_i64), Some("2024-06-24T11:53:20.123Z")),
            (json!("1719230000123"), Some("2024-06-24T11:53:20.123Z")),
            (json!(-1), Some("1969-12-31T23:59:59.999Z")),
            (json!("2025-02-03T04:05:06.789Z"), Some("2025-02-03T04:05:06.789Z")),
            (json!("2025-02-03T04:05:06+02:30"), Some("2025-02-03T01:35:06.000Z")),
            (json!("2025-02-03T04:05:06.5"), Some("2025-02-03T04:05:06.500")),
            (json!("2024-02-29"), Some("2024-02-29T00:00:00")),
            (json!("June 19, 2023 2:20pm"), Some("2023-06-19T14:20:00")),
            (json!("May 1, 2024 12:05am"), Some("2024-05-01T00:05:00")),
            (json!("2024-07-12@01h31m37s123ms"), Some("2024-07-12T01:31:37.123Z")),
            (json!("2024-7-12@01h31m37s"), Some("2024-07-12T01:31:37.000Z")),
            (json!("2024-6-5 @14h 56m 50s 682ms"), Some("2024-06-05T14:56:50.682Z")),
            (json!(0), None),
            (json!(""), None),
            (json!("0"), None),
            (json!("yesterday"), None),
            (json!("2023-02-29"), None),
            (json!("2023-13-01T00:00:00Z"), None),
            (json!("Juny 19, 2023 2:20pm"), None),
            (json!("June 19, 2023 14:20pm"), None),
            (json!("九月 1, 2023 2:20pm"), None),
            (json!(null), None),
            (json!(1e300), None),
        ] {
            assert_eq!(sent_at(&given).as_deref(), expected, "{given}");
        }
    }
}
