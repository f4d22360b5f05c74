//! Dates as text -> milliseconds, as the reference's library and the browser's `Date` read them.

use serde_json::Value;

use super::{DAY_MS, MONTHS, Moment, days_from_civil, days_in_month, weekday};
use crate::js;

/// A reader over bytes; every method consumes only when it succeeds.
struct Scan<'t> {
    rest: &'t [u8],
}

impl Scan<'_> {
    /// Exactly `n` digits.
    fn digits(&mut self, n: usize) -> Option<i64> {
        let head = self.rest.get(..n).filter(|h| h.iter().all(u8::is_ascii_digit))?;
        let value = head.iter().fold(0i64, |v, b| v * 10 + i64::from(b - b'0'));
        self.rest = self.rest.get(n..)?;
        Some(value)
    }

    fn take(&mut self, b: u8) -> bool {
        match self.rest.split_first() {
            Some((first, tail)) if *first == b => {
                self.rest = tail;
                true
            }
            _ => false,
        }
    }

    fn ends(&self) -> bool {
        self.rest.is_empty()
    }

    /// One to `most` digits.
    fn run(&mut self, most: usize) -> Option<i64> {
        let n = self.rest.iter().take(most).take_while(|b| b.is_ascii_digit()).count();
        if n == 0 { None } else { self.digits(n) }
    }
}

/// A date text as `{{timeDiff}}` accepts it; `None` is an invalid date. A text without offset is local time.
pub(crate) fn date(text: &str, offset: i32) -> Option<i64> {
    let text = js::trim(text);
    match iso(text, offset) {
        Iso::Valid(ms) => Some(ms),
        Iso::Invalid => None,
        Iso::Other => legacy_date(text, offset),
    }
}

enum Iso {
    /// Not of this form at all.
    Other,
    /// The form fits but the numbers do not.
    Invalid,
    Valid(i64),
}

fn iso(text: &str, offset: i32) -> Iso {
    for extended in [true, false] {
        let mut s = Scan { rest: text.as_bytes() };
        let Some((date, with_time)) = iso_date(&mut s, extended) else { continue };
        let mut ms_of_day = Some(0);
        let mut zone = offset;
        if !s.ends() {
            if !(s.take(b'T') || s.take(b' ')) {
                continue;
            }
            let Some(time) = iso_time(&mut s, extended) else { continue };
            ms_of_day = time;
            match iso_zone(&mut s) {
                Some(Some(z)) => zone = z,
                Some(None) => {}
                None => continue,
            }
            if !s.ends() {
                continue;
            }
            if !with_time {
                return Iso::Invalid;
            }
        }
        return match (date, ms_of_day) {
            (Some(days), Some(ms)) => Iso::Valid(days * DAY_MS + ms - i64::from(zone) * 60_000),
            _ => Iso::Invalid,
        };
    }
    Iso::Other
}

/// Days since the epoch (`None` inside when out of range) and whether a time may follow.
fn iso_date(s: &mut Scan<'_>, extended: bool) -> Option<(Option<i64>, bool)> {
    let sign = if s.take(b'+') {
        1
    } else if s.take(b'-') {
        -1
    } else {
        0
    };
    let year = if sign == 0 { s.digits(4)? } else { s.digits(6)? * sign };
    let valid = |month: i64, day: i64| {
        ((1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day))
            .then(|| days_from_civil(year, month, day))
    };
    let separated = s.take(b'-');
    if separated != extended {
        // The bare year is the only form without a separator that both share.
        return (!separated && s.ends()).then(|| (valid(1, 1), false));
    }
    if s.take(b'W') {
        let week = s.digits(2)?;
        let day =
            if extended { if s.take(b'-') { s.digits(1)? } else { 1 } } else { s.digits(1).unwrap_or(1) };
        let first = days_from_civil(year, 1, 4);
        let start = first - (weekday(first) - 1).rem_euclid(7);
        let fine = (1..=53).contains(&week) && (1..=7).contains(&day);
        return Some((fine.then(|| start + (week - 1) * 7 + day - 1), true));
    }
    let run = s.rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let of_year = |n: i64| {
        let length = days_from_civil(year + 1, 1, 1) - days_from_civil(year, 1, 1);
        (1..=length).contains(&n).then(|| days_from_civil(year, 1, 1) + n - 1)
    };
    Some(match (extended, run) {
        (true, 2) => {
            let month = s.digits(2)?;
            if s.take(b'-') { (valid(month, s.digits(2)?), true) } else { (valid(month, 1), false) }
        }
        (_, 3) => (of_year(s.digits(3)?), true),
        (false, 4) => {
            let (month, day) = (s.digits(2)?, s.digits(2)?);
            (valid(month, day), true)
        }
        (false, 2) => (valid(s.digits(2)?, 1), false),
        (false, 0) => (valid(1, 1), false),
        _ => return None,
    })
}

/// Milliseconds of the day; `None` inside when out of range.
#[expect(clippy::option_option, reason = "not this form, or this form with impossible numbers")]
fn iso_time(s: &mut Scan<'_>, extended: bool) -> Option<Option<i64>> {
    let hour = s.digits(2)?;
    let (mut minute, mut second, mut milli) = (0, 0, 0);
    let next = |s: &mut Scan<'_>| !extended || s.take(b':');
    let digit = |s: &Scan<'_>| s.rest.first().is_some_and(u8::is_ascii_digit);
    if extended && s.rest.first() == Some(&b':') || !extended && digit(s) {
        next(s);
        minute = s.digits(2)?;
        if extended && s.rest.first() == Some(&b':') || !extended && digit(s) {
            next(s);
            second = s.digits(2)?;
            if s.take(b'.') || s.take(b',') {
                let n = s.rest.iter().take_while(|b| b.is_ascii_digit()).count();
                let digits = s.rest.get(..n).filter(|d| !d.is_empty())?;
                milli = digits
                    .iter()
                    .map(|b| i64::from(b - b'0'))
                    .chain(std::iter::repeat(0))
                    .take(3)
                    .fold(0, |v, d| v * 10 + d);
                s.rest = s.rest.get(n..)?;
            }
        }
    }
    let fine = minute < 60 && second < 60 && (hour < 24 || hour == 24 && minute + second + milli == 0);
    Some(fine.then_some(((hour * 60 + minute) * 60 + second) * 1000 + milli))
}

/// An offset in minutes; `Some(None)` when there is none.
#[expect(clippy::option_option, reason = "not this form, or no offset")]
fn iso_zone(s: &mut Scan<'_>) -> Option<Option<i32>> {
    let spaces = s.rest.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    if s.rest.get(spaces) == Some(&b'Z') {
        s.rest = s.rest.get(spaces + 1..)?;
        return Some(Some(0));
    }
    let sign = if s.take(b'+') {
        1
    } else if s.take(b'-') {
        -1
    } else {
        return Some(None);
    };
    let hours = s.digits(2)?;
    let minutes = if s.take(b':') { s.digits(2)? } else { s.digits(2).unwrap_or(0) };
    i32::try_from(sign * (hours * 60 + minutes)).ok().map(Some)
}

/// What the browser's `Date` makes of a text that is no ISO date: words before the first number are skipped, text in parentheses too,
/// months and zones have names, numbers are month/day/year unless the first is no day.
fn legacy_date(text: &str, offset: i32) -> Option<i64> {
    let tokens = tokens(text);
    let mut p = Legacy {
        tokens: &tokens,
        at: 0,
        day: Vec::new(),
        month: None,
        time: Vec::new(),
        half: None,
        zone: Zone::default(),
    };
    p.read()?;
    let days = p.days()?;
    let ms = p.of_day()?;
    let zone = match p.zone {
        Zone { sign: Some(sign), hour, minute } => sign * (hour.unwrap_or(0) * 60 + minute.unwrap_or(0)),
        Zone { sign: None, .. } => i64::from(offset),
    };
    Some(days * DAY_MS + ms - zone * 60_000)
}

#[derive(Clone, Debug)]
enum Token {
    /// Value and number of digits.
    Number(i64, usize),
    /// In lower case.
    Word(String),
    Symbol(char),
    Space,
}

/// Browsers take everything from `A` upwards for a letter.
const fn is_word(c: char) -> bool {
    c >= 'A' && !js::is_space(c)
}

fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let run = |test: fn(char) -> bool| rest.find(|x| !test(x)).unwrap_or(rest.len());
        let length = if c.is_ascii_digit() {
            let n = run(|x| x.is_ascii_digit());
            let digits = rest.get(..n).unwrap_or("").trim_start_matches('0');
            // Digits beyond the ninth are ignored.
            out.push(Token::Number(digits.get(..9).unwrap_or(digits).parse().unwrap_or(0), n));
            n
        } else if is_word(c) {
            let n = run(is_word);
            out.push(Token::Word(rest.get(..n).unwrap_or("").to_ascii_lowercase()));
            n
        } else if js::is_space(c) {
            out.push(Token::Space);
            run(js::is_space)
        } else {
            out.push(Token::Symbol(c));
            c.len_utf8()
        };
        rest = rest.get(length..).unwrap_or("");
    }
    out
}

#[derive(Clone, Copy, Default)]
struct Zone {
    sign: Option<i64>,
    hour: Option<i64>,
    minute: Option<i64>,
}

impl Zone {
    const fn utc(minutes: i64) -> Self {
        let sign = if minutes < 0 { -1 } else { 1 };
        Self { sign: Some(sign), hour: Some(minutes.abs() / 60), minute: Some(minutes.abs() % 60) }
    }

    fn is_utc(self) -> bool {
        self.hour == Some(0) && self.minute == Some(0)
    }
}

struct Legacy<'t> {
    tokens: &'t [Token],
    at: usize,
    day: Vec<i64>,
    month: Option<i64>,
    /// Hour, minute, second, millisecond.
    time: Vec<i64>,
    /// 0 for am, 12 for pm.
    half: Option<i64>,
    zone: Zone,
}

impl Legacy<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn skip(&mut self, symbol: char) -> bool {
        let found = matches!(self.peek(), Some(Token::Symbol(c)) if *c == symbol);
        self.at += usize::from(found);
        found
    }

    fn expects(&self, n: i64) -> bool {
        match self.time.len() {
            1 | 2 => n < 60,
            3 => n < 1000,
            _ => false,
        }
    }

    fn read(&mut self) -> Option<()> {
        let mut number_read = false;
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token {
                Token::Number(n, _) => {
                    number_read = true;
                    self.number(*n)?;
                }
                Token::Word(word) => self.word(word, number_read)?,
                Token::Symbol(c @ ('+' | '-')) if self.zone.is_utc() || !self.time.is_empty() => {
                    self.offset(if *c == '+' { 1 } else { -1 })?;
                    number_read = true;
                }
                Token::Symbol('+' | '-' | ')') if number_read => return None,
                Token::Symbol('(') => self.parentheses(),
                Token::Symbol(_) | Token::Space => {}
            }
        }
        Some(())
    }

    fn parentheses(&mut self) {
        let mut depth = 1usize;
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token {
                Token::Symbol('(') => depth += 1,
                Token::Symbol(')') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn number(&mut self, n: i64) -> Option<()> {
        if self.skip(':') {
            if self.skip(':') {
                if !self.time.is_empty() {
                    return None;
                }
                self.time.extend([n, 0]);
            } else {
                if self.time.len() >= 4 {
                    return None;
                }
                self.time.push(n);
                self.skip('.');
            }
        } else if self.skip('.') && self.expects(n) {
            self.time.push(n);
            let Some(Token::Number(fraction, digits)) = self.peek().cloned() else { return None };
            self.at += 1;
            self.time.resize(3, 0);
            self.time.push(match digits {
                1 => fraction * 100,
                2 => fraction * 10,
                d => fraction / 10i64.pow(u32::try_from(d.clamp(3, 9) - 3).unwrap_or(0)),
            });
        } else if self.zone.hour.is_some() && self.zone.minute.is_none() && n < 60 {
            self.zone.minute = Some(n);
        } else if self.expects(n) {
            self.time.push(n);
            self.time.resize(4, 0);
            let fine = match self.peek() {
                None | Some(Token::Space | Token::Symbol('+' | '-')) => true,
                Some(Token::Word(w)) => w == "z",
                _ => false,
            };
            return fine.then_some(());
        } else {
            if self.day.len() >= 3 {
                return None;
            }
            self.day.push(n);
            self.skip('-');
        }
        Some(())
    }

    fn word(&mut self, word: &str, number_read: bool) -> Option<()> {
        if matches!(word, "am" | "pm") && !self.time.is_empty() {
            self.half = Some(if word == "pm" { 12 } else { 0 });
        } else if let Some(month) = word.get(..3).and_then(month_named) {
            self.month = Some(month);
            self.skip('-');
        } else if let Some(zone) = zone_named(word).filter(|_| number_read) {
            self.zone = Zone::utc(zone);
        } else if number_read || matches!(self.peek(), Some(Token::Number(..))) {
            // A strange word is harmless only before the first number, and not glued to it.
            return None;
        }
        Some(())
    }

    fn offset(&mut self, sign: i64) -> Option<()> {
        let (mut n, mut length) = (0, 0);
        if let Some(Token::Number(value, digits)) = self.peek() {
            (n, length) = (*value, *digits);
            self.at += 1;
        }
        let colon = matches!(self.peek(), Some(Token::Symbol(':')));
        let (hour, minute) = match length {
            _ if colon => (n, None),
            1 | 2 => (n, Some(0)),
            3 | 4 => (n / 100, Some(n % 100)),
            _ => return None,
        };
        self.zone = Zone { sign: Some(sign), hour: Some(hour), minute };
        Some(())
    }

    fn days(&self) -> Option<i64> {
        let part = |i: usize| self.day.get(i).copied().unwrap_or(1);
        let is_day = |n: i64| (1..=31).contains(&n);
        let first = *self.day.first()?;
        let (mut year, month, day) = match self.month {
            None if !is_day(first) => (first, part(1), part(2)),
            None => (part(2), first, part(1)),
            Some(month) if !is_day(first) => (first, month, part(1)),
            Some(month) => (part(1), month, first),
        };
        if (0..=49).contains(&year) {
            year += 2000;
        } else if (50..=99).contains(&year) {
            year += 1900;
        }
        let fine = (1..=12).contains(&month) && is_day(day) && year <= 275_760;
        fine.then(|| days_from_civil(year, month, 1) + day - 1)
    }

    fn of_day(&self) -> Option<i64> {
        let part = |i: usize| self.time.get(i).copied().unwrap_or(0);
        let (mut hour, minute, second, milli) = (part(0), part(1), part(2), part(3));
        if let Some(half) = self.half {
            if hour > 12 {
                return None;
            }
            hour = hour % 12 + half;
        }
        let rest = (minute * 60 + second) * 1000 + milli;
        let fine = minute < 60 && second < 60 && (hour < 24 || hour == 24 && rest == 0);
        fine.then_some(hour * 3_600_000 + rest)
    }
}

fn month_named(prefix: &str) -> Option<i64> {
    let at = MONTHS.iter().position(|m| m.get(..3).is_some_and(|p| p.eq_ignore_ascii_case(prefix)))?;
    i64::try_from(at + 1).ok()
}

/// Minutes east of Greenwich.
fn zone_named(word: &str) -> Option<i64> {
    Some(match word {
        "z" | "ut" | "utc" | "gmt" => 0,
        "edt" => -240,
        "est" | "cdt" => -300,
        "cst" | "mdt" => -360,
        "mst" | "pdt" => -420,
        "pst" => -480,
        _ => return None,
    })
}

/// A time of day such as `2:07 PM` or `14:07`: milliseconds since midnight (fault F10).
pub(crate) fn time_of_day(text: &str) -> Option<i64> {
    let text = js::trim(text);
    if !text.starts_with(|c: char| c.is_ascii_digit()) || !text.contains(':') {
        return None;
    }
    let tokens = tokens(text);
    let mut p = Legacy {
        tokens: &tokens,
        at: 0,
        day: Vec::new(),
        month: None,
        time: Vec::new(),
        half: None,
        zone: Zone::default(),
    };
    p.read()?;
    (p.day.is_empty() && p.month.is_none() && p.zone.sign.is_none()).then(|| p.of_day()).flatten()
}

/// A message's `send_date` in any of its forms (spec 04 §10); `None` when it cannot be read.
pub(crate) fn send_date(value: &Value, offset: i32) -> Option<i64> {
    let text = match value {
        Value::Number(n) => return n.as_f64().map(js::to_integer),
        Value::String(s) => s.as_str(),
        _ => return None,
    };
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(js::to_integer(js::to_number(text)));
    }
    if let Iso::Valid(ms) = iso(text, offset) {
        return Some(ms);
    }
    at_form(text).or_else(|| worded_form(text, offset))
}

/// `2024-07-12@01h31m37s`, `…37s123ms`, `2024-6-5 @14h 56m 50s 682ms`, all in UTC.
fn at_form(text: &str) -> Option<i64> {
    let packed: String = text.chars().filter(|c| *c != ' ').collect();
    let mut s = Scan { rest: packed.as_bytes() };
    let year = s.digits(4)?;
    let month = s.take(b'-').then(|| s.run(2)).flatten()?;
    let day = s.take(b'-').then(|| s.run(2)).flatten()?;
    let hour = s.take(b'@').then(|| s.run(2)).flatten()?;
    let minute = s.take(b'h').then(|| s.run(2)).flatten()?;
    let second = s.take(b'm').then(|| s.run(2)).flatten()?;
    if !s.take(b's') {
        return None;
    }
    let milli = if s.ends() { 0 } else { s.run(3)? };
    let tail = s.ends() || (s.take(b'm') && s.take(b's') && s.ends());
    let fine = tail
        && (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    fine.then(|| {
        days_from_civil(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + milli
    })
}

/// `June 19, 2023 2:20pm`, in local time.
fn worded_form(text: &str, offset: i32) -> Option<i64> {
    let lower = text.to_ascii_lowercase();
    let half = if lower.ends_with("am") || lower.ends_with("pm") {
        lower.len().checked_sub(2)?
    } else {
        lower.len()
    };
    let (date_part, end) = lower.split_at(half);
    legacy_date(&format!("{date_part} {end}"), offset)
}

/// Today's midnight where the moment is.
pub(crate) fn midnight(moment: Moment) -> i64 {
    moment.ms - moment.of_day()
}
