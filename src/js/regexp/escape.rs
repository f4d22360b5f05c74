//! What stands behind a backslash, in and outside brackets.

use super::parse::{Parser, Result};
use super::props::{NoProperty, property};
use super::set::Ranges;
use super::text::pair;

/// A backslash and what belongs to it.
pub(super) enum Escape {
    Char(u32),
    /// `\d`, `\p{…}` …, not yet closed over case.
    Set(Ranges),
    /// `\b` (true) or `\B`; outside brackets only.
    Edge(bool),
    /// `\3`; outside brackets only.
    Back(u32),
    /// `\k<name>`; outside brackets only.
    Named(String),
}

const SPACE: [(u32, u32); 10] = [
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];

/// `\w`; with `i` and `u` also the long s and the Kelvin sign, which fold into it.
pub(super) fn word(both: bool) -> Ranges {
    let mut list = vec![(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
    if both {
        list.extend([(0x17F, 0x17F), (0x212A, 0x212A)]);
    }
    Ranges::new(list)
}

/// Reads an escape; the parser stands on the backslash.
pub(super) fn escape(p: &mut Parser<'_>, in_class: bool) -> Result<Escape> {
    p.at += 1;
    let start = p.at;
    let strict = p.unicode();
    let Some(c) = p.bump() else { return p.error("\\ at end of pattern") };
    let Some(letter) = char::from_u32(c) else {
        return if strict { p.error("Invalid escape") } else { Ok(Escape::Char(c)) };
    };
    let set = |set: Ranges, upper: bool| Ok(Escape::Set(if upper { set.inverted() } else { set }));
    match letter {
        'd' | 'D' => set(Ranges::new(vec![(0x30, 0x39)]), letter == 'D'),
        's' | 'S' => set(Ranges::new(SPACE.to_vec()), letter == 'S'),
        'w' | 'W' => set(word(strict && p.flags.ignore_case), letter == 'W'),
        'p' | 'P' if strict => {
            let found = property_escape(p)?;
            // With `v` a set is closed before it is turned round, with `u` after that.
            let found = if p.flags.sets { p.finish_set(found, false) } else { found };
            set(found, letter == 'P')
        }
        'b' if in_class => Ok(Escape::Char(8)),
        'b' | 'B' if !in_class => Ok(Escape::Edge(letter == 'b')),
        '-' if in_class && strict => Ok(Escape::Char(c)),
        'k' if !in_class && (strict || p.named) => match p.eat("<").then(|| p.group_name()).flatten() {
            Some(name) => Ok(Escape::Named(name)),
            None => p.error("Invalid named reference"),
        },
        'k' if p.named => p.error("Invalid escape"),
        '0'..='9' => decimal(p, start, letter, in_class),
        'f' => Ok(Escape::Char(0x0C)),
        'n' => Ok(Escape::Char(0x0A)),
        'r' => Ok(Escape::Char(0x0D)),
        't' => Ok(Escape::Char(0x09)),
        'v' => Ok(Escape::Char(0x0B)),
        'c' => control(p, in_class),
        'x' => match hex(p, 2) {
            Some(value) => Ok(Escape::Char(value)),
            None if strict => p.error("Invalid escape"),
            None => Ok(Escape::Char(c)),
        },
        'u' => match if strict { unicode_escape(p) } else { hex(p, 4) } {
            Some(value) => Ok(Escape::Char(value)),
            None if strict => p.error("Invalid Unicode escape"),
            None => Ok(Escape::Char(c)),
        },
        _ if !strict || is_syntax(letter) => Ok(Escape::Char(c)),
        '&' | '!' | '#' | '%' | ',' | ':' | ';' | '<' | '=' | '>' | '@' | '`' | '~'
            if in_class && p.flags.sets =>
        {
            Ok(Escape::Char(c))
        }
        _ => p.error("Invalid escape"),
    }
}

const fn is_syntax(c: char) -> bool {
    matches!(c, '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/')
}

/// `\cA`; without `u` a `\c` that is none is a backslash, and the c stands for itself.
fn control(p: &mut Parser<'_>, in_class: bool) -> Result<Escape> {
    let next = p.peek().and_then(char::from_u32).unwrap_or('\0');
    let loose = in_class && !p.unicode() && (next.is_ascii_digit() || next == '_');
    if next.is_ascii_alphabetic() || loose {
        p.at += 1;
        return Ok(Escape::Char(u32::from(next) % 32));
    }
    if p.unicode() {
        return p.error("Invalid unicode escape");
    }
    p.at -= 1;
    Ok(Escape::Char(0x5C))
}

/// `\0`, `\12`: a reference if there are that many groups; else, without `u`, an octal number or the digit itself.
fn decimal(p: &mut Parser<'_>, start: usize, first: char, in_class: bool) -> Result<Escape> {
    let digit = |p: &Parser<'_>| p.peek().and_then(char::from_u32).and_then(|c| c.to_digit(10));
    if first == '0' && digit(p).is_none() {
        return Ok(Escape::Char(0));
    }
    if first != '0' && !in_class {
        let mut value = first.to_digit(10).unwrap_or(0);
        while let Some(d) = digit(p) {
            value = value.saturating_mul(10).saturating_add(d);
            p.at += 1;
        }
        if value <= p.total {
            return Ok(Escape::Back(value));
        }
    }
    if p.unicode() {
        return p.error(if in_class { "Invalid class escape" } else { "Invalid escape" });
    }
    p.at = start;
    if first >= '8' {
        p.at += 1;
        return Ok(Escape::Char(u32::from(first)));
    }
    let mut value = 0;
    for _ in 0..3 {
        match digit(p) {
            Some(d) if d < 8 && value * 8 + d < 256 => value = value * 8 + d,
            _ => break,
        }
        p.at += 1;
    }
    Ok(Escape::Char(value))
}

/// Exactly that many hexadecimal digits; else nothing is read.
fn hex(p: &mut Parser<'_>, digits: usize) -> Option<u32> {
    let start = p.at;
    let mut value = 0;
    for _ in 0..digits {
        let Some(digit) = p.peek().and_then(char::from_u32).and_then(|c| c.to_digit(16)) else {
            p.at = start;
            return None;
        };
        value = value * 16 + digit;
        p.at += 1;
    }
    Some(value)
}

/// Behind `\u` with the flag `u`: four digits, two halves of a pair, or braces.
pub(super) fn unicode_escape(p: &mut Parser<'_>) -> Option<u32> {
    let start = p.at;
    if p.eat("{") {
        let mut value = None;
        while let Some(digit) = p.peek().and_then(char::from_u32).and_then(|c| c.to_digit(16)) {
            value = Some(value.unwrap_or(0_u32).saturating_mul(16).saturating_add(digit));
            p.at += 1;
        }
        let value = value.filter(|v| *v <= 0x0010_FFFF);
        if value.is_some() && p.eat("}") {
            return value;
        }
        p.at = start;
        return None;
    }
    let high = hex(p, 4)?;
    let behind = p.at;
    let low = p.eat("\\u").then(|| hex(p, 4)).flatten();
    Some(low.and_then(|low| pair(high, low)).unwrap_or_else(|| {
        p.at = behind;
        high
    }))
}

/// Behind `\p`: `{Name}` or `{Name=Value}`.
fn property_escape(p: &mut Parser<'_>) -> Result<Ranges> {
    if !p.eat("{") {
        return p.error("Invalid property name");
    }
    let mut parts = vec![String::new()];
    loop {
        match p.bump().and_then(char::from_u32) {
            Some('}') => break,
            Some('=') if parts.len() == 1 => parts.push(String::new()),
            Some(c) if c.is_ascii_alphanumeric() || c == '_' => {
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
            }
            _ => return p.error("Invalid property name"),
        }
    }
    let name = parts.first().map_or("", String::as_str);
    property(name, parts.get(1).map(String::as_str)).or_else(|why| {
        p.error(match why {
            NoProperty::Unknown => "Invalid property name",
            NoProperty::Unsupported => "Property not supported by this engine",
        })
    })
}
