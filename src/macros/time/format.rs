//! Format strings.

use super::{MONTHS, Moment, WEEKDAYS, civil_from_days, days_from_civil, weekday};

/// A format string applied; an empty one gives ISO 8601 with offset. Text in `[...]` is literal, a backslash makes the next token
/// literal, and line ends outside brackets vanish (spec 04 §10, addendum 6).
pub(crate) fn format(moment: Moment, pattern: &str) -> String {
    let pattern = if pattern.is_empty() { "YYYY-MM-DDTHH:mm:ssZ" } else { pattern };
    let expanded = expand_locale(pattern);
    let fields = Fields::of(moment);
    let mut out = String::new();
    let mut rest = expanded.as_str();
    while let Some(first) = rest.chars().next() {
        let taken = if let Some(length) = bracket(rest) {
            out.push_str(rest.get(1..length - 1).unwrap_or(""));
            length
        } else if first == '\\' && rest.len() > 1 {
            let tail = rest.get(1..).unwrap_or("");
            let length = token(tail).map_or_else(|| tail.chars().next().map_or(0, char::len_utf8), str::len);
            push_literal(&mut out, tail.get(..length).unwrap_or(""));
            1 + length
        } else if let Some(name) = token(rest) {
            match fields.write(name) {
                Some(text) => out.push_str(&text),
                None => out.push_str(name),
            }
            name.len()
        } else {
            let length = first.len_utf8();
            push_literal(&mut out, rest.get(..length).unwrap_or(""));
            length
        };
        rest = rest.get(taken..).unwrap_or("");
    }
    out
}

/// One character that is no token: line ends and lone backslashes are lost.
fn push_literal(out: &mut String, text: &str) {
    if !matches!(text, "\n" | "\r" | "\u{2028}" | "\u{2029}" | "\\") {
        out.push_str(text);
    }
}

/// Length of a bracketed literal at the start: up to the last `]` before the next `[`.
fn bracket(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('[')?;
    let reach = inner.find('[').unwrap_or(inner.len());
    inner.get(..reach)?.rfind(']').map(|at| at + 2)
}

/// `LT`, `LL`, … replaced by what they stand for in English.
fn expand_locale(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let taken = if let Some(length) = bracket(rest) {
            length
        } else if first == '\\' {
            // An escaped short form stays; it is read as a token again later.
            1 + locale_token(rest.get(1..).unwrap_or("")).map_or(0, |(t, _)| t.len())
        } else if let Some((name, text)) = locale_token(rest) {
            out.push_str(text);
            rest = rest.get(name.len()..).unwrap_or("");
            continue;
        } else {
            first.len_utf8()
        };
        out.push_str(rest.get(..taken).unwrap_or(""));
        rest = rest.get(taken..).unwrap_or("");
    }
    out
}

fn locale_token(text: &str) -> Option<(&'static str, &'static str)> {
    const TABLE: [(&str, &str); 10] = [
        ("LTS", "h:mm:ss A"),
        ("LT", "h:mm A"),
        ("LLLL", "dddd, MMMM D, YYYY h:mm A"),
        ("LLL", "MMMM D, YYYY h:mm A"),
        ("LL", "MMMM D, YYYY"),
        ("L", "MM/DD/YYYY"),
        ("llll", "ddd, MMM D, YYYY h:mm A"),
        ("lll", "MMM D, YYYY h:mm A"),
        ("ll", "MMM D, YYYY"),
        ("l", "M/D/YYYY"),
    ];
    TABLE.into_iter().find(|(name, _)| text.starts_with(name))
}

/// The longest token at the start of a text. `w|` and `W|` are tokens without a meaning.
fn token(text: &str) -> Option<&str> {
    const FIXED: [&str; 47] = [
        "Hmmss", "hmmss", "Hmm", "hmm", "Mo", "MMMM", "MMM", "MM", "M", "Do", "DDDo", "DDDD", "DDD", "DD",
        "D", "dddd", "ddd", "do", "dd", "d", "wo", "ww", "w|", "w", "Wo", "WW", "W|", "W", "Qo", "Q",
        "YYYYYY", "YYYYY", "YYYY", "YY", "Y", "yo", "ggggg", "gggg", "gg", "GGGGG", "GGGG", "GG", "e", "E",
        "a", "A", "X",
    ];
    const RUNS: [(char, usize); 10] =
        [('h', 2), ('H', 2), ('k', 2), ('m', 2), ('s', 2), ('S', 9), ('z', 2), ('Z', 2), ('N', 5), ('y', 4)];
    if text.starts_with('x') {
        return text.get(..1);
    }
    if let Some(name) = FIXED.iter().find(|t| text.starts_with(**t)) {
        return text.get(..name.len());
    }
    let (c, most) = RUNS.into_iter().find(|(c, _)| text.starts_with(*c))?;
    let length = text.chars().take_while(|x| *x == c).take(most).count();
    text.get(..length)
}

struct Fields {
    moment: Moment,
    days: i64,
    year: i64,
    month: i64,
    day: i64,
    of_year: i64,
    weekday: i64,
    hour: i64,
    minute: i64,
    second: i64,
    milli: i64,
}

impl Fields {
    fn of(moment: Moment) -> Self {
        let days = moment.days();
        let (year, month, day) = civil_from_days(days);
        let ms = moment.of_day();
        Self {
            moment,
            days,
            year,
            month,
            day,
            of_year: days - days_from_civil(year, 1, 1) + 1,
            weekday: weekday(days),
            hour: ms / 3_600_000,
            minute: ms / 60_000 % 60,
            second: ms / 1000 % 60,
            milli: ms % 1000,
        }
    }

    /// Year and week; weeks begin on `first` (0 Sunday, 1 Monday) and week 1 holds January `holds`.
    fn week(&self, first: i64, holds: i64) -> (i64, i64) {
        let start = |year: i64| {
            let anchor = days_from_civil(year, 1, holds);
            anchor - (weekday(anchor) - first).rem_euclid(7)
        };
        let year = if self.days >= start(self.year + 1) {
            self.year + 1
        } else if self.days < start(self.year) {
            self.year - 1
        } else {
            self.year
        };
        (year, (self.days - start(year)) / 7 + 1)
    }

    /// The text of a token; `None` when it means nothing.
    fn write(&self, token: &str) -> Option<String> {
        let pad = |n: i64, width: usize| format!("{n:0width$}");
        let month = usize::try_from(self.month - 1).ok().and_then(|m| MONTHS.get(m)).copied().unwrap_or("");
        let day = usize::try_from(self.weekday).ok().and_then(|d| WEEKDAYS.get(d)).copied().unwrap_or("");
        let first = |name: &str, n: usize| name.get(..n).unwrap_or("").to_owned();
        let twelve = if self.hour % 12 == 0 { 12 } else { self.hour % 12 };
        let quarter = (self.month - 1) / 3 + 1;
        let (week_year, week) = self.week(0, 1);
        let (iso_year, iso_week) = self.week(1, 4);
        let iso_day = if self.weekday == 0 { 7 } else { self.weekday };
        let signed =
            |n: i64, width: usize| format!("{}{}", if n < 0 { "-" } else { "" }, pad(n.abs(), width));
        let offset = |colon: &str| {
            let o = self.moment.offset;
            format!("{}{:02}{colon}{:02}", if o < 0 { '-' } else { '+' }, o.abs() / 60, o.abs() % 60)
        };
        Some(match token {
            "YYYYYY" => format!("{}{}", if self.year < 0 { '-' } else { '+' }, pad(self.year.abs(), 6)),
            "YYYYY" => signed(self.year, 5),
            "YYYY" => signed(self.year, 4),
            "YY" => pad(self.year.rem_euclid(100), 2),
            "Y" => self.year.to_string(),
            "y" | "yy" | "yyy" | "yyyy" => pad(self.year.abs(), token.len()),
            "yo" => ordinal(self.year),
            "N" | "NN" | "NNN" | "NNNNN" => if self.year > 0 { "AD" } else { "BC" }.to_owned(),
            "NNNN" => if self.year > 0 { "Anno Domini" } else { "Before Christ" }.to_owned(),
            "Q" => quarter.to_string(),
            "Qo" => ordinal(quarter),
            "M" => self.month.to_string(),
            "Mo" => ordinal(self.month),
            "MM" => pad(self.month, 2),
            "MMM" => first(month, 3),
            "MMMM" => month.to_owned(),
            "D" => self.day.to_string(),
            "Do" => ordinal(self.day),
            "DD" => pad(self.day, 2),
            "DDD" => self.of_year.to_string(),
            "DDDo" => ordinal(self.of_year),
            "DDDD" => pad(self.of_year, 3),
            "d" | "e" => self.weekday.to_string(),
            "do" => ordinal(self.weekday),
            "dd" => first(day, 2),
            "ddd" => first(day, 3),
            "dddd" => day.to_owned(),
            "E" => iso_day.to_string(),
            "w" => week.to_string(),
            "wo" => ordinal(week),
            "ww" => pad(week, 2),
            "W" => iso_week.to_string(),
            "Wo" => ordinal(iso_week),
            "WW" => pad(iso_week, 2),
            "gg" => pad(week_year.rem_euclid(100), 2),
            "gggg" | "ggggg" => signed(week_year, token.len()),
            "GG" => pad(iso_year.rem_euclid(100), 2),
            "GGGG" | "GGGGG" => signed(iso_year, token.len()),
            "H" => self.hour.to_string(),
            "HH" => pad(self.hour, 2),
            "h" => twelve.to_string(),
            "hh" => pad(twelve, 2),
            "k" => if self.hour == 0 { 24 } else { self.hour }.to_string(),
            "kk" => pad(if self.hour == 0 { 24 } else { self.hour }, 2),
            "hmm" => format!("{twelve}{:02}", self.minute),
            "hmmss" => format!("{twelve}{:02}{:02}", self.minute, self.second),
            "Hmm" => format!("{}{:02}", self.hour, self.minute),
            "Hmmss" => format!("{}{:02}{:02}", self.hour, self.minute, self.second),
            "m" => self.minute.to_string(),
            "mm" => pad(self.minute, 2),
            "s" => self.second.to_string(),
            "ss" => pad(self.second, 2),
            "A" => if self.hour < 12 { "AM" } else { "PM" }.to_owned(),
            "a" => if self.hour < 12 { "am" } else { "pm" }.to_owned(),
            "X" => self.moment.ms.div_euclid(1000).to_string(),
            "x" => self.moment.ms.to_string(),
            "Z" => offset(":"),
            "ZZ" => offset(""),
            "z" | "zz" => String::new(),
            s if s.starts_with('S') => {
                let nanos = format!("{:03}000000", self.milli);
                nanos.get(..s.len()).unwrap_or("").to_owned()
            }
            _ => return None,
        })
    }
}

fn ordinal(n: i64) -> String {
    let suffix = match (n % 10, n % 100 / 10) {
        (_, 1) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}
