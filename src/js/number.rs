//! Numbers as ECMAScript sees them: `Number(x)`, `String(n)`, `Math.round`.

use serde_json::Value;

use super::text::trim;

/// `Number(text)`: trimmed; empty is 0; decimal, `0x`/`0o`/`0b`, `Infinity`; anything else is NaN.
pub fn to_number(text: &str) -> f64 {
    let t = trim(text);
    if t.is_empty() {
        return 0.0;
    }
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)] {
        if let Some(digits) = t.strip_prefix(prefix) {
            return radix_number(digits, radix);
        }
    }
    let unsigned = t.strip_prefix(['+', '-']).unwrap_or(t);
    if unsigned == "Infinity" {
        return if t.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // Rust also reads "inf", "nan" and "infinity": only digits, one dot and an exponent are JavaScript's.
    if unsigned.is_empty()
        || !unsigned.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
    {
        return f64::NAN;
    }
    t.parse().unwrap_or(f64::NAN)
}

fn radix_number(digits: &str, radix: u32) -> f64 {
    if digits.is_empty() {
        return f64::NAN;
    }
    digits
        .chars()
        .try_fold(0.0, |sum, c| c.to_digit(radix).map(|d| sum * f64::from(radix) + f64::from(d)))
        .unwrap_or(f64::NAN)
}

/// `Number(value)` of a JSON value; absent (`undefined`) is `None` and NaN for the caller to decide.
pub fn value_to_number(value: &Value) -> f64 {
    match value {
        Value::Null => 0.0,
        Value::Bool(b) => f64::from(u8::from(*b)),
        Value::Number(n) => n.as_f64().unwrap_or(f64::NAN),
        Value::String(s) => to_number(s),
        Value::Array(_) => to_number(&value_to_text(value)),
        Value::Object(_) => f64::NAN,
    }
}

/// `String(value)` of a JSON value: arrays join with commas, objects are `[object Object]`.
pub fn value_to_text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => number_text(n.as_f64().unwrap_or(f64::NAN)),
        Value::String(s) => s.clone(),
        Value::Array(items) => {
            let texts: Vec<String> =
                items.iter().map(|v| if v.is_null() { String::new() } else { value_to_text(v) }).collect();
            texts.join(",")
        }
        Value::Object(_) => "[object Object]".to_owned(),
    }
}

/// `Boolean(value)`: false for null, false, 0, NaN and the empty string.
pub fn to_boolean(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(b) => *b,
        Value::Number(n) => n.as_f64().is_some_and(|n| n != 0.0 && !n.is_nan()),
        Value::String(s) => !s.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// `String(number)`: the shortest digits that read back, laid out by ECMAScript's rules (`1e+21`, `1e-7`).
pub fn number_text(n: f64) -> String {
    if n.is_nan() {
        return "NaN".to_owned();
    }
    if n.is_infinite() {
        return if n > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if n == 0.0 {
        return "0".to_owned();
    }
    // `{:e}` gives the shortest round-trip digits as d.ddde±x.
    let scientific = format!("{:e}", n.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if n < 0.0 { "-" } else { "" };
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let point = exponent + 1; // digits before the decimal point
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    let body = if count <= point && point <= 21 {
        format!("{digits}{}", zeros(point - count))
    } else if 0 < point && point <= 21 {
        let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{whole}.{fraction}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{}{}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    };
    format!("{sign}{body}")
}

/// `Math.round`: halves go up, also below zero.
pub fn round(n: f64) -> f64 {
    (n + 0.5).floor()
}

/// The integer part, clamped to the range of `i64`; NaN is 0. The one place where a float becomes an integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "`as` saturates and maps NaN to 0, which is what is promised"
)]
pub const fn to_integer(n: f64) -> i64 {
    n as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_ecmascripts() {
        for (n, text) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1e-7, "1e-7"),
            (0.000_001, "0.000001"),
            (-1.5, "-1.5"),
            (f64::EPSILON, "2.220446049250313e-16"),
            (-0.0, "0"),
        ] {
            assert_eq!(number_text(n), text);
        }
    }

    #[test]
    fn reading_is_ecmascripts() {
        for (text, n) in
            [("", 0.0), (" 7\n", 7.0), ("0x10", 16.0), ("1e3", 1000.0), (".5", 0.5), ("5.", 5.0), ("+2", 2.0)]
        {
            assert_eq!(to_number(text).to_bits(), f64::to_bits(n), "{text}");
        }
        for text in ["0,5", "inf", "NaN", "1_000", "--1", "0x", "1e", "e5", "5 5"] {
            assert!(to_number(text).is_nan(), "{text}");
        }
    }

    #[test]
    fn halves_go_up() {
        assert_eq!([round(0.5), round(-0.5), round(2.5)].map(|n| n + 0.0), [1.0, 0.0, 3.0]);
    }
}
