//! From the find text to a pattern: macros in it, the slashes and flags, the compiled result (spec 05 §2, §3 step 1).

use crate::host::Host;
use crate::js;
use crate::js::regexp::{Flags, Regex};
use crate::macros::{self, Env};
use crate::parts::Effects;

/// What macros do in a find text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Substitute {
    /// Nothing: `{{` is part of the pattern.
    #[default]
    None,
    /// They are expanded.
    Raw,
    /// They are expanded, and what they insert is taken literally.
    Escaped,
}

/// A find text, split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub body: String,
    pub flags: String,
    /// Something in the find text was not used.
    pub note: Option<&'static str>,
}

/// A pattern, or why there is none.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub regex: Result<Regex, String>,
    /// Its source, for another engine: pattern and flags.
    pub source: (String, String),
    pub note: Option<&'static str>,
}

impl Pattern {
    /// Compiles a find text whose macros are done. `fixed`: under `scripts.pattern`.
    pub(super) fn new(find: &str, fixed: bool) -> Self {
        let split = if fixed { split_fixed(find) } else { split(find) };
        match split {
            Err(why) => Self { regex: Err(why.to_owned()), note: None, source: Default::default() },
            Ok(split) => Self {
                regex: Regex::new(&split.body, &split.flags).map_err(|e| e.to_string()),
                note: split.note,
                source: (split.body, split.flags),
            },
        }
    }
}

/// The first line with something on it.
fn first_line(find: &str) -> &str {
    js::lines(find).find(|line| !line.is_empty()).unwrap_or("")
}

/// `/body/flags` and what stands behind it, on one line: everything between the first slash and the last.
fn slashes(line: &str) -> Option<(&str, &str, &str)> {
    let (body, behind) = line.strip_prefix('/')?.rsplit_once('/').filter(|(body, _)| !body.is_empty())?;
    let letters = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
    let (flags, rest) = behind.split_at(letters);
    Some((body, flags, rest))
}

/// As the reference does it: one line; odd flags make the whole text a pattern.
fn split(find: &str) -> Result<Split, &'static str> {
    let line = first_line(find);
    if line.is_empty() {
        return Err("the find text is empty");
    }
    let Some((body, flags, rest)) = slashes(line) else {
        let note = (line.len() < find.len()).then_some("is cut at the first line break");
        return Ok(Split { body: line.to_owned(), flags: String::new(), note });
    };
    let known = flags.chars().all(|c| "gmixXsuUAJ".contains(c));
    let repeated = flags.char_indices().any(|(i, c)| flags.chars().skip(i + 1).any(|d| c == d));
    if !known || repeated {
        let note = Some("has flags that make the whole text a pattern");
        return Ok(Split { body: find.to_owned(), flags: String::new(), note });
    }
    if Flags::read(flags).is_none() {
        return Err("JavaScript knows no such flag");
    }
    let unused = !rest.is_empty() || line.len() < find.len();
    let note = unused.then_some("has text behind the pattern, which is ignored");
    Ok(Split { body: body.to_owned(), flags: flags.to_owned(), note })
}

/// Put right (fault R5): all flags of JavaScript, patterns over several lines, and no guess when the flags are wrong.
fn split_fixed(find: &str) -> Result<Split, &'static str> {
    let text = find.trim_matches(js::is_line_end);
    if text.is_empty() {
        return Err("the find text is empty");
    }
    let line = first_line(text);
    let one = slashes(line).filter(|(_, flags, rest)| rest.is_empty() && Flags::read(flags).is_some());
    let whole = slashes(text).filter(|(.., rest)| rest.is_empty());
    let (body, flags, used) = match (one, whole) {
        (Some((body, flags, _)), _) => (body, flags, line.len()),
        (None, Some((body, flags, _))) => (body, flags, text.len()),
        (None, None) => match slashes(line) {
            Some((body, flags, rest)) => (body, flags, line.len() - rest.len()),
            None => (text, "", text.len()),
        },
    };
    if Flags::read(flags).is_none() {
        return Err("its flags are wrong: each of dgimsuvy at most once, not both of u and v");
    }
    let note = (used < text.len()).then_some("has text behind the pattern, which is ignored");
    Ok(Split { body: body.to_owned(), flags: flags.to_owned(), note })
}

/// Stands for a backslash that the macro engine must not take away; no text has this character.
const KEPT: char = '\u{fdd0}';

/// Expands the macros of a find text. The engine takes the backslash from `\{` and `\}`; `fixed` keeps it (fault R4).
pub(super) fn substituted(
    find: &str,
    how: Substitute,
    fixed: bool,
    env: &Env<'_>,
    host: &mut Host,
    effects: &mut Effects,
) -> String {
    let post_process: Option<fn(&str) -> String> = match (how, fixed) {
        (Substitute::None, _) => return find.to_owned(),
        (Substitute::Raw, _) => None,
        (Substitute::Escaped, false) => Some(escaped),
        (Substitute::Escaped, true) => Some(escaped_and_kept),
    };
    let env = Env { post_process, ..*env };
    if !fixed {
        return macros::expand(find, &env, host, effects);
    }
    macros::expand(&keep(find), &env, host, effects).replace(KEPT, "\\")
}

/// Marks each backslash before a brace, unless the brace opens a macro.
fn keep(find: &str) -> String {
    let mut out = String::with_capacity(find.len());
    let mut rest = find;
    while let Some(at) = rest.find('\\') {
        let (before, behind) = rest.split_at(at);
        let behind = behind.strip_prefix('\\').unwrap_or(behind);
        let opening = behind.chars().take_while(|c| *c == '{').count();
        let brace = behind.starts_with('}') || opening > 0 && opening != 2;
        out.push_str(before);
        out.push(if brace { KEPT } else { '\\' });
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// A macro's value as a pattern that matches just it (spec 05 §3 step 1).
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\0' => out.push_str("\\0"),
            '.' | '^' | '$' | '*' | '+' | '?' | '{' | '}' | '[' | ']' | '\\' | '/' | '|' | '(' | ')' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn escaped_and_kept(value: &str) -> String {
    keep_all(&escaped(value))
}

/// Marks each backslash before a brace.
fn keep_all(text: &str) -> String {
    text.replace("\\{", "\u{fdd0}{").replace("\\}", "\u{fdd0}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(find: &str) -> [String; 2] {
        [split(find), split_fixed(find)].map(|s| match s {
            Ok(s) if s.flags.is_empty() => s.body,
            Ok(s) => format!("{} {}", s.body, s.flags),
            Err(_) => "-".to_owned(),
        })
    }

    #[test]
    fn the_table_of_the_specification() {
        for (find, off) in [
            ("/a/g", "a g"),
            ("/a/gy", "/a/gy"),
            ("a", "a"),
            ("/a/v", "/a/v"),
            ("/abc", "/abc"),
            ("/a/gg", "/a/gg"),
            ("abc/", "abc/"),
            ("/a/GI", "/a/GI"),
            ("/a/b/gi", "a/b gi"),
            ("/a/A", "-"),
            ("/a/g extra", "a g"),
            (" /a/g ", " /a/g "),
            ("x/a/g", "x/a/g"),
            ("//", "//"),
            ("/a\nb/", "/a"),
            ("/", "/"),
            ("/a/g\n/b/i", "a g"),
            ("", "-"),
            ("\n", "-"),
            ("\n/a/g", "a g"),
            ("/[/]/g", "[/] g"),
            ("///", "/"),
            ("/洛恩/giu\u{2028}x", "洛恩 giu"),
            ("/a/gy\nb", "/a/gy\nb"),
        ] {
            assert_eq!(both(find)[0], off, "{find:?}");
        }
    }

    #[test]
    fn put_right() {
        for (find, on) in [
            ("/a/gy", "a gy"),
            ("/a/v", "a v"),
            ("/a/gg", "-"),
            ("/a/GI", "-"),
            ("/a/A", "-"),
            ("/a/g extra", "a g"),
            ("/a\nb/g", "a\nb g"),
            ("a\nb", "a\nb"),
            ("a\n", "a"),
            ("/a/g\n/b/i", "a g"),
            ("/洛\r\n恩/u", "洛\r\n恩 u"),
            ("//", "//"),
            ("/abc", "/abc"),
        ] {
            assert_eq!(both(find)[1], on, "{find:?}");
        }
        assert!(split_fixed("/a/g extra").is_ok_and(|s| s.note.is_some()));
    }

    #[test]
    fn values_become_literal() {
        assert_eq!(escaped("a.b-{洛}/\n\0"), "a\\.b-\\{洛\\}\\/\\n\\0");
        assert_eq!(
            keep("\\{x\\} \\{{user}} \\{{{user}}\\} \\b{{c}} a\\\\{2}").replace(KEPT, "!"),
            "!{x!} \\{{user}} !{{{user}}!} \\b{{c}} a\\!{2}"
        );
    }
}
