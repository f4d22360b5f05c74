//! `{{bias "text"}}`: read once when a user's message is sent or edited, by the rules of its own template language.
//!
//! Spec: 04 §14.4. The text is a template that knows one helper, `bias`; a template that language refuses gives no bias at all.
//! Not read: block tags other than a refusal (`{{#if}}` in a message means no bias).

use crate::js;

/// The bias of a message: a space and the collected texts, or nothing.
pub fn bias(text: &str) -> String {
    collect(text)
        .filter(|found| !found.is_empty())
        .map_or_else(String::new, |found| format!(" {}", found.join(" ")))
}

/// A message without its `{{…}}`, trimmed: what is stored once a bias was found.
pub fn without_bias(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let Some(end) = rest.get(at..).and_then(|t| t.find("}}")) else { break };
        out.push_str(rest.get(..at).unwrap_or(""));
        rest = rest.get(at + end + 2..).unwrap_or("");
    }
    out.push_str(rest);
    js::trim(&out).to_owned()
}

/// First parameters of the `bias` calls; `None` when the template is refused.
fn collect(text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let before = rest.get(..at)?;
        let tail = rest.get(at..)?;
        if before.ends_with('\\') && !before.ends_with("\\\\") {
            // An escaped tag is text up to the next one.
            rest = tail.get(2..)?;
            continue;
        }
        let (tag, length) = tag(tail)?;
        found.extend(tag);
        rest = tail.get(length..)?;
    }
    Some(found)
}

/// Reads one tag: what it adds, and its length.
fn tag(text: &str) -> Option<(Option<String>, usize)> {
    let triple = text.starts_with("{{{");
    let mut p = Tokens { rest: text.get(if triple { 3 } else { 2 }..)? };
    p.mark('~');
    if p.mark('!') {
        let close = if p.rest.starts_with("--") { "--}}" } else { "}}" };
        let end = p.rest.find(close)?;
        let left = p.rest.len() - end - close.len();
        return Some((None, text.len() - left));
    }
    if !triple {
        p.mark('&');
    }
    let name = p.path()?;
    let mut params = Vec::new();
    let mut hash = false;
    loop {
        let spaced = p.space();
        p.mark('~');
        let close = if triple { "}}}" } else { "}}" };
        if let Some(rest) = p.rest.strip_prefix(close) {
            let length = text.len() - rest.len();
            // An unknown helper with a parameter is an error; without one it is an empty value.
            return match (name.as_str(), params.first()) {
                ("bias", None) => Some((Some("[object Object]".to_owned()), length)),
                ("bias", Some(first)) => Some((Some(String::clone(first)), length)),
                (_, None) if !hash => Some((None, length)),
                _ => None,
            };
        }
        if !spaced {
            return None;
        }
        if p.hash_key() {
            hash = true;
            p.value()?;
        } else if hash {
            return None;
        } else {
            params.push(p.value()?);
        }
    }
}

struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Tokens<'t> {
    fn mark(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn space(&mut self) -> bool {
        let rest = js::trim_start(self.rest);
        let any = rest.len() < self.rest.len();
        self.rest = rest;
        any
    }

    fn id(&mut self) -> Option<&'t str> {
        let stop = |c: char| {
            js::is_space(c)
                || matches!(c, '!' | '"' | '#' | '%'..=',' | '.' | '/' | ';'..='>' | '@' | '['..='^' | '`' | '{'..='~')
        };
        let end = self.rest.find(stop).unwrap_or(self.rest.len());
        let id = self.rest.get(..end).filter(|id| !id.is_empty())?;
        self.rest = self.rest.get(end..)?;
        Some(id)
    }

    /// `name`, `a.b`, `.`, `this`: read as text.
    fn path(&mut self) -> Option<String> {
        self.space();
        if self.rest.starts_with("..") {
            return None;
        }
        if self.mark('.') {
            return Some(".".to_owned());
        }
        let mut path = self.id()?.to_owned();
        if path == "else" {
            return None;
        }
        while self.mark('.') || self.mark('/') {
            path.push('.');
            path.push_str(self.id()?);
        }
        Some(path)
    }

    fn hash_key(&mut self) -> bool {
        let mut ahead = Tokens { rest: self.rest };
        let key = ahead.id().is_some() && ahead.mark('=');
        if key {
            self.rest = ahead.rest;
        }
        key
    }

    /// A parameter as text: a quoted text, a number, true or false; a path is nothing.
    fn value(&mut self) -> Option<String> {
        for quote in ['"', '\''] {
            if self.mark(quote) {
                let mut out = String::new();
                let mut chars = self.rest.char_indices().peekable();
                while let Some((at, c)) = chars.next() {
                    if c == '\\' && chars.peek().is_some_and(|(_, next)| *next == quote) {
                        continue;
                    }
                    let escaped = at > 0 && self.rest.get(..at).is_some_and(|t| t.ends_with('\\'));
                    if c == quote && !escaped {
                        self.rest = self.rest.get(at + c.len_utf8()..)?;
                        return Some(out);
                    }
                    out.push(c);
                }
                return None;
            }
        }
        let negative = self.rest.starts_with('-');
        let digits = self.rest.trim_start_matches('-');
        if negative || digits.starts_with(|c: char| c.is_ascii_digit()) {
            let end = self
                .rest
                .find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '.')))
                .unwrap_or(self.rest.len());
            let number = js::to_number(self.rest.get(..end)?);
            if !number.is_nan() && self.rest.get(end..).is_some_and(|t| t.starts_with(['}', '~', ' ', ')'])) {
                self.rest = self.rest.get(end..)?;
                return Some(js::number_text(number));
            }
        }
        let path = self.path()?;
        Some(if matches!(path.as_str(), "true" | "false") { path } else { String::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::{bias, without_bias};

    #[test]
    fn recorded_examples() {
        for (text, want) in [
            ("hi {{bias \"I am\"}}", " I am"),
            ("{{bias \"a\"}}{{bias \"b\"}}", " a b"),
            ("{{bias 'q'}}", " q"),
            ("{{BIAS \"a\"}}", ""),
            ("{{bias \"a\"}} {{random::a::b}}", " a"),
            ("{{bias \"a\"}} {{roll 1d6}}", ""),
            ("{{bias \"a\"}} }} {{", ""),
            ("{{bias}}", " [object Object]"),
            ("{{ bias \"他说：\\\"嗯\\\"\" }}", " 他说：\"嗯\""),
            ("no macro 没有", ""),
            ("{{user}} {{bias 1.50}}", " 1.5"),
            ("{{// x}}{{bias \"a\"}}", ""),
            ("{{! x}}{{bias \"a\"}}", " a"),
            ("{{{bias \"a\"}}}", " a"),
            ("\\{{bias \"a\"}}", ""),
        ] {
            assert_eq!(bias(text), want, "{text}");
        }
        assert_eq!(without_bias(" hi {{bias \"x\"}}\n{{user\n}} 你{{ "), "hi \n 你{{");
    }
}
