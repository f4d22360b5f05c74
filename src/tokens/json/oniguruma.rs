//! A pattern as Oniguruma (Ruby) understands it -> one that means the same to [`crate::js::regexp`] with the flag `v`.
//!
//! Differs: `\s`, `\d`, `\w`, `\h`, `\b`, `^`, `$` and `.`; bare script names in `\p{…}`; possessive quantifiers and atomic
//! groups; case-insensitive groups; POSIX brackets. Groups never capture here, so references to them are refused, as is
//! whatever else has no counterpart.

use crate::js::regexp::Regex;

/// Characters of a pattern.
const LONGEST: usize = 20_000;
/// Classes in classes, groups in groups.
const DEEPEST: usize = 100;

const WORD: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u{B2}\u{B3}\u{B9}\u{BC}-\u{BE}";
const ANY: &str = r"[\u{0}-\u{10FFFF}]";

/// What stands before a quantifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Atom {
    /// Nothing that can be repeated.
    None,
    /// One character out of a set.
    Set,
    /// Anything else.
    Other,
    /// Something with a quantifier already.
    Repeated,
}

struct Translator {
    source: Vec<char>,
    at: usize,
    out: String,
    /// Letters match both cases.
    ignore_case: bool,
    /// `.` matches line breaks.
    dot_all: bool,
    atomics: usize,
}

type Result<T> = std::result::Result<T, String>;

/// The pattern, or what it holds that is not supported.
pub(super) fn translate(pattern: &str) -> Result<String> {
    let source: Vec<char> = pattern.chars().collect();
    if source.len() > LONGEST {
        return Err(format!("a pattern of more than {LONGEST} characters"));
    }
    let mut translator = Translator {
        source,
        at: 0,
        out: String::with_capacity(pattern.len() * 2),
        ignore_case: false,
        dot_all: false,
        atomics: 0,
    };
    translator.alternatives(0)?;
    if translator.peek().is_some() {
        return Err("an unmatched `)`".to_owned());
    }
    Ok(translator.out)
}

fn literal(c: char) -> String {
    if c.is_ascii_alphanumeric() || c > '\u{a0}' && c.is_alphabetic() {
        c.to_string()
    } else {
        format!("\\u{{{:X}}}", u32::from(c))
    }
}

/// A character in both cases, as the inside of a class.
fn both_cases(c: char) -> String {
    let mut all = vec![c];
    all.extend(c.to_lowercase());
    all.extend(c.to_uppercase());
    match c {
        's' | 'S' | '\u{17f}' => all.extend(['s', 'S', '\u{17f}']),
        'k' | 'K' | '\u{212a}' => all.extend(['k', 'K', '\u{212a}']),
        _ => {}
    }
    let first = |(i, c): &(usize, &char)| all.iter().position(|other| other == *c) == Some(*i);
    all.iter().enumerate().filter(first).map(|(_, c)| literal(*c)).collect()
}

/// A set by the name of a POSIX bracket or of a property only Oniguruma has.
fn posix(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => r"\p{Alphabetic}",
        "alnum" => r"\p{Alphabetic}\p{Nd}",
        "digit" => r"\p{Nd}",
        "space" => r"\p{White_Space}",
        "upper" => r"\p{Uppercase}",
        "lower" => r"\p{Lowercase}",
        "punct" => r"\p{P}\p{S}",
        "cntrl" => r"\p{Cc}",
        "blank" => r"\p{Zs}\t",
        "xdigit" => "0-9A-Fa-f",
        "word" => WORD,
        _ => return None,
    })
}

impl Translator {
    fn peek(&self) -> Option<char> {
        self.source.get(self.at).copied()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(i, c)| self.source.get(self.at + i) == Some(&c));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    /// Up to the end or a `)` that closes nothing here.
    fn alternatives(&mut self, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            return Err(format!("more than {DEEPEST} groups in each other"));
        }
        while let Some(c) = self.peek() {
            let from = self.out.len();
            let atom = match c {
                ')' => return Ok(()),
                '|' => {
                    self.at += 1;
                    self.out.push('|');
                    Atom::None
                }
                '(' => self.group(depth)?,
                '[' => {
                    self.at += 1;
                    let class = self.class(depth)?;
                    self.out.push_str(&class);
                    Atom::Set
                }
                '\\' => self.escape()?,
                '?' | '*' | '+' => return Err(format!("`{c}` with nothing to repeat")),
                _ => {
                    self.at += 1;
                    self.character(c)
                }
            };
            self.quantifiers(from, atom)?;
        }
        Ok(())
    }

    fn character(&mut self, c: char) -> Atom {
        match c {
            '^' => self.out.push_str(r"(?:^|(?<=\n))"),
            '$' => self.out.push_str(r"(?:$|(?=\n))"),
            '.' if self.dot_all => self.out.push_str(ANY),
            '.' => self.out.push_str(r"[^\n]"),
            _ if self.ignore_case && c.is_alphabetic() => {
                self.out.push_str(&format!("[{}]", both_cases(c)));
            }
            _ => self.out.push_str(&literal(c)),
        }
        if matches!(c, '^' | '$') { Atom::None } else { Atom::Set }
    }

    fn group(&mut self, depth: usize) -> Result<Atom> {
        self.at += 1;
        let (ignore_case, dot_all) = (self.ignore_case, self.dot_all);
        let mut close = ")".to_owned();
        let mut atom = Atom::Other;
        if !self.eat("?") {
            self.out.push_str("(?:");
        } else if self.eat("<=") || self.eat("=") || self.eat("<!") || self.eat("!") {
            let start =
                self.source.get(..self.at).unwrap_or(&[]).iter().rposition(|c| *c == '?').unwrap_or(0);
            self.out.push('(');
            self.out.extend(self.source.get(start..self.at).unwrap_or(&[]));
            atom = Atom::None;
        } else if self.eat(">") {
            self.atomics += 1;
            let name = format!("a{}", self.atomics);
            self.out.push_str(&format!("(?:(?=(?<{name}>"));
            close = format!(r"))\k<{name}>)");
        } else if self.eat("#") {
            while self.bump().ok_or("an unclosed comment")? != ')' {}
            return Ok(Atom::None);
        } else if self.eat("<") {
            while self.bump().ok_or("an unclosed group name")? != '>' {}
            self.out.push_str("(?:");
        } else {
            self.flags()?;
            self.out.push_str("(?:");
            if self.eat(")") {
                // To the end of the group around it.
                self.alternatives(depth + 1)?;
                self.out.push(')');
                self.ignore_case = ignore_case;
                self.dot_all = dot_all;
                return Ok(Atom::None);
            }
            self.eat(":");
        }
        self.alternatives(depth + 1)?;
        if !self.eat(")") {
            return Err("an unclosed group".to_owned());
        }
        self.ignore_case = ignore_case;
        self.dot_all = dot_all;
        self.out.push_str(&close);
        Ok(atom)
    }

    /// `i`, `m`, `-i` … up to `:` or `)`.
    fn flags(&mut self) -> Result<()> {
        let mut on = true;
        while let Some(c) = self.peek().filter(|c| !matches!(c, ':' | ')')) {
            self.at += 1;
            match c {
                '-' => on = false,
                'i' => self.ignore_case = on,
                'm' => self.dot_all = on,
                _ => return Err(format!("`(?{c}`")),
            }
        }
        Ok(())
    }

    /// A `\` and what it begins, outside classes.
    fn escape(&mut self) -> Result<Atom> {
        self.at += 1;
        let position = match self.peek() {
            Some('A') => "^".to_owned(),
            Some('z') => "$".to_owned(),
            Some('Z') => r"(?=\n?$)".to_owned(),
            Some('b') => format!("(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))"),
            Some('B') => format!("(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))"),
            _ => {
                let (set, single) = self.escaped()?;
                match single {
                    Some(c) if self.ignore_case && c.is_alphabetic() => {
                        self.out.push_str(&format!("[{}]", both_cases(c)));
                    }
                    Some(_) => self.out.push_str(&set),
                    None => self.out.push_str(&format!("[{set}]")),
                }
                return Ok(Atom::Set);
            }
        };
        self.at += 1;
        self.out.push_str(&position);
        Ok(Atom::None)
    }

    /// What a `\`, being read, makes of what follows: the inside of a class, and the character if it is one.
    fn escaped(&mut self) -> Result<(String, Option<char>)> {
        let c = self.bump().ok_or("a `\\` at the end")?;
        let set = match c {
            's' => r"\p{White_Space}".to_owned(),
            'S' => r"\P{White_Space}".to_owned(),
            'd' => r"\p{Nd}".to_owned(),
            'D' => r"\P{Nd}".to_owned(),
            'w' => WORD.to_owned(),
            'W' => format!("[^{WORD}]"),
            'h' => "0-9A-Fa-f".to_owned(),
            'H' => "[^0-9A-Fa-f]".to_owned(),
            'p' | 'P' => self.property(c == 'P')?,
            _ => {
                let c = match c {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'f' => '\u{c}',
                    'v' => '\u{b}',
                    'a' => '\u{7}',
                    'e' => '\u{1b}',
                    'x' | 'u' => self.code_point(c)?,
                    c if c.is_alphanumeric() => return Err(format!("`\\{c}`")),
                    c => c,
                };
                return Ok((literal(c), Some(c)));
            }
        };
        Ok((set, None))
    }

    fn code_point(&mut self, kind: char) -> Result<char> {
        let braces = kind == 'x' && self.eat("{");
        let most = if braces {
            8
        } else if kind == 'x' {
            2
        } else {
            4
        };
        let (mut code, mut digits) = (0u32, 0);
        while digits < most
            && let Some(digit) = self.peek().and_then(|c| c.to_digit(16))
        {
            code = code.wrapping_mul(16).wrapping_add(digit);
            self.at += 1;
            digits += 1;
        }
        if digits == 0 || braces && !self.eat("}") {
            return Err(format!("`\\{kind}` without a number"));
        }
        char::from_u32(code).ok_or_else(|| format!("the code point {code:X}"))
    }

    fn property(&mut self, negated: bool) -> Result<String> {
        if !self.eat("{") {
            return Err("`\\p` without `{`".to_owned());
        }
        let mut negated = negated;
        if self.eat("^") {
            negated = !negated;
        }
        let mut name = String::new();
        loop {
            match self.bump() {
                Some('}') => break,
                Some(c) if c.is_ascii_alphanumeric() || matches!(c, '_' | '=') => name.push(c),
                _ => return Err("an unclosed or odd `\\p{…}`".to_owned()),
            }
        }
        if let Some(set) = posix(&name.to_ascii_lowercase()) {
            return Ok(if negated { format!("[^{set}]") } else { set.to_owned() });
        }
        let letter = if negated { 'P' } else { 'p' };
        [name.clone(), format!("Script={name}")]
            .into_iter()
            .map(|name| format!("\\{letter}{{{name}}}"))
            .find(|set| Regex::new(set, "v").is_ok())
            .ok_or_else(|| format!("the property {name:?}"))
    }

    /// A class; its `[` is read.
    fn class(&mut self, depth: usize) -> Result<String> {
        if depth > DEEPEST {
            return Err(format!("more than {DEEPEST} classes in each other"));
        }
        let negated = self.eat("^");
        let mut sides = Vec::new();
        let mut items = String::new();
        let mut first = true;
        loop {
            let Some(c) = self.bump() else { return Err("an unclosed class".to_owned()) };
            match c {
                ']' if !first => break,
                '[' if self.peek() == Some(':') => items.push_str(&self.bracket()?),
                '[' => items.push_str(&self.class(depth + 1)?),
                '&' if self.eat("&") => sides.push(std::mem::take(&mut items)),
                _ => {
                    let (set, single) = if c == '\\' { self.class_escape()? } else { (literal(c), Some(c)) };
                    match single {
                        Some(from) => self.range(from, &mut items)?,
                        None => items.push_str(&set),
                    }
                }
            }
            first = false;
        }
        let not = if negated { "^" } else { "" };
        if sides.is_empty() {
            return Ok(format!("[{not}{items}]"));
        }
        sides.push(items);
        let sides: Vec<String> = sides.into_iter().map(|side| format!("[{side}]")).collect();
        Ok(format!("[{not}{}]", sides.join("&&")))
    }

    fn class_escape(&mut self) -> Result<(String, Option<char>)> {
        if self.eat("b") {
            return Ok((literal('\u{8}'), Some('\u{8}')));
        }
        self.escaped()
    }

    /// A character of a class, or a range if a `-` follows.
    fn range(&mut self, from: char, items: &mut String) -> Result<()> {
        let more =
            self.peek() == Some('-') && !matches!(self.source.get(self.at + 1), None | Some(']' | '['));
        if !more {
            items.push_str(&if self.ignore_case { both_cases(from) } else { literal(from) });
            return Ok(());
        }
        self.at += 1;
        let (_, to) = match self.bump() {
            Some('\\') => self.class_escape()?,
            Some(c) => (String::new(), Some(c)),
            None => return Err("an unclosed class".to_owned()),
        };
        let Some(to) = to else { return Err("a range that ends with a set".to_owned()) };
        if to < from {
            return Err("a range that ends before it begins".to_owned());
        }
        items.push_str(&format!("{}-{}", literal(from), literal(to)));
        if self.ignore_case {
            ('A'..='Z').chain('a'..='z').filter(|c| (from..=to).contains(c)).for_each(|c| {
                items.push_str(&both_cases(c));
            });
            if to > '\u{7f}' {
                return Err("a case-insensitive range beyond ASCII".to_owned());
            }
        }
        Ok(())
    }

    /// `[:alpha:]`, its `[` being read.
    fn bracket(&mut self) -> Result<String> {
        self.at += 1;
        let negated = self.eat("^");
        let mut name = String::new();
        while let Some(c) = self.peek().filter(char::is_ascii_alphabetic) {
            name.push(c);
            self.at += 1;
        }
        match posix(&name) {
            Some(set) if self.eat(":]") => Ok(if negated { format!("[^{set}]") } else { set.to_owned() }),
            _ => Err(format!("`[:{name}`")),
        }
    }

    /// The quantifiers behind what was written from `from` on.
    fn quantifiers(&mut self, from: usize, atom: Atom) -> Result<()> {
        let mut atom = atom;
        while let Some((quantifier, counted)) = self.quantifier() {
            let body = self.out.split_off(from);
            match atom {
                Atom::None => return Err(format!("`{quantifier}` with nothing to repeat")),
                Atom::Repeated => self.out.push_str(&format!("(?:{body}){quantifier}")),
                // `{n,m}+` repeats the repetition, here as in Ruby.
                _ if counted || self.peek() != Some('+') => {
                    self.out.push_str(&format!("{body}{quantifier}"));
                }
                Atom::Set => {
                    self.at += 1;
                    self.out.push_str(&match quantifier.as_str() {
                        "?" => format!("(?:{body}|(?!{body}))"),
                        _ => format!("(?:{body}{quantifier}(?!{body}))"),
                    });
                    atom = Atom::Repeated;
                    continue;
                }
                Atom::Other => {
                    self.at += 1;
                    self.atomics += 1;
                    let name = format!("a{}", self.atomics);
                    self.out.push_str(&format!(r"(?:(?=(?<{name}>{body}{quantifier}))\k<{name}>)"));
                    atom = Atom::Repeated;
                    continue;
                }
            }
            atom = Atom::Repeated;
            if self.eat("?") {
                self.out.push('?');
            }
        }
        Ok(())
    }

    /// The next quantifier, and whether it is one in braces. A `{` that begins none is a character.
    fn quantifier(&mut self) -> Option<(String, bool)> {
        if let Some(c) = self.peek().filter(|c| matches!(c, '?' | '*' | '+')) {
            self.at += 1;
            return Some((c.to_string(), false));
        }
        let start = self.at;
        let read = self.eat("{").then(|| self.counts()).flatten();
        if read.is_none() {
            self.at = start;
        }
        Some((read?, true))
    }

    fn counts(&mut self) -> Option<String> {
        let number = |this: &mut Self| {
            let mut digits = String::new();
            while let Some(c) = this.peek().filter(char::is_ascii_digit) {
                digits.push(c);
                this.at += 1;
            }
            digits
        };
        let least = number(self);
        let most = self.eat(",").then(|| number(self));
        let known = !least.is_empty() || most.as_ref().is_some_and(|m| !m.is_empty());
        let least = if least.is_empty() { "0".to_owned() } else { least };
        (self.eat("}") && known).then(|| match most {
            Some(most) => format!("{{{least},{most}}}"),
            None => format!("{{{least}}}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::js::regexp::{Steps, Text};

    /// All matches, with `|` between them.
    fn matches(pattern: &str, text: &str) -> String {
        let translated = translate(pattern).unwrap();
        let regex = Regex::new(&translated, "gv").unwrap_or_else(|e| panic!("{pattern} {translated}: {e}"));
        let text = Text::from(text);
        let (mut steps, mut matches, mut out) = (Steps::new(100_000), regex.matches(&text), Vec::new());
        while let Some(found) = matches.next(&mut steps).unwrap() {
            out.push(String::from_utf16_lossy(text.slice((found.start(), found.end()))));
        }
        out.join("|")
    }

    #[test]
    fn what_ruby_means_is_what_is_found() {
        for (pattern, text, wanted) in [
            (r"(?i:'s|'LL)", "it'S we'll 'ſ", "'S|'ll|'ſ"),
            (r"a(?i)b|c", "aB aC ab C", "aB|aC|ab"),
            (r"\s+", "a\u{85}\u{feff}\u{3000}b", "\u{85}|\u{3000}"),
            (r"[^\s]+", "夜 の", "夜|の"),
            (r"\p{Han}+|\p{^Han}+", "夜のabc川", "夜|のabc|川"),
            (r"\w+", "naïve été मानक़ _1", "naïve|été|मानक़|_1"),
            (r"\d+\h", "١٢٣a", "١٢٣a"),
            (r"a++b|a", "aaab aa", "aaab|a|a"),
            (r"(?:ab)*+a", "abab aba", "aba"),
            (r"(?>a|ab)c", "abc ac", "ac"),
            (r"[a-z&&[^aeiou]]+", "hello", "h|ll"),
            (r"[[:alpha:]]+[[:^alpha:]]", "né9", "né9"),
            (r"^.", "a\nb\r", "a|b"),
            (r"x{,2}y{2}?", "xxyy", "xxyy|"),
            (r"\p{N}{1,2}+", "12345", "12345"),
            (r"[!\-\]\[/~]+{", "!-][/~{", "!-][/~{"),
            (r"\x{1F600}|\u591c|\x41", "😀夜A", "😀|夜|A"),
            (r"\bот\b", "от кот", "от"),
            (r"(?#no)(?<n>a)(b)", "ab", "ab"),
        ] {
            let found = matches(pattern, text);
            assert_eq!(found.trim_end_matches('|'), wanted.trim_end_matches('|'), "{pattern}");
        }
    }

    #[test]
    fn what_has_no_counterpart_is_refused() {
        for pattern in
            [r"(a)\1", r"\G", r"(?x: a)", r"[a", "(a", "a)", r"\p{Nope}", "*", r"[z-a]", r"\X", "\\"]
        {
            assert!(translate(pattern).is_err(), "{pattern}");
        }
    }
}
