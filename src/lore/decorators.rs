//! Decorator lines at the head of an entry's content: `@@name value`, with `@@@name value` as a fallback for the line above.
//!
//! Spec: 03 §4, Part 5.6; the names are those of the character card format V3. Differs from ST under `lore.decorators`.

use super::entry::{Entry, Logic, Position};
use crate::js;

/// The head of a content, read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Header {
    /// The known lines, as the scan compares them.
    pub(super) lines: Vec<String>,
    /// What they set.
    pub(super) settings: Vec<Setting>,
    /// The text behind them.
    pub(super) content: String,
}

/// What a decorator sets: fields that an entry has anyway, or could have.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    Delay(f64),
    Every(f64),
    Stays,
    Once,
    Depth(f64),
    Role(i64),
    ScanDepth(f64),
    Position(Position),
    With(Vec<String>),
    Without(Vec<String>),
}

/// Longer than any chat.
const FOR_GOOD: f64 = 1e9;

impl Setting {
    /// What a line sets; `None` if its name or its value is unknown, so that a fallback is tried.
    fn read(name: &str, value: &str) -> Option<Self> {
        let number = || value.parse::<u32>().ok().map(f64::from);
        let words = || {
            let words: Vec<_> =
                value.split(',').map(js::trim).filter(|w| !w.is_empty()).map(str::to_owned).collect();
            (!words.is_empty()).then_some(words)
        };
        Some(match name {
            "@@activate_only_after" => Self::Delay(number()?),
            "@@activate_only_every" => Self::Every(number().filter(|n| *n > 0.0)?),
            "@@keep_activate_after_match" => Self::Stays,
            "@@dont_activate_after_match" => Self::Once,
            "@@depth" => Self::Depth(number()?),
            "@@scan_depth" => Self::ScanDepth(number()?),
            "@@role" => Self::Role(match value {
                "system" => 0,
                "user" => 1,
                "assistant" => 2,
                _ => return None,
            }),
            "@@position" => Self::Position(match value {
                "before_desc" => Position::Before,
                "after_desc" => Position::After,
                _ => return None,
            }),
            "@@additional_keys" => Self::With(words()?),
            "@@exclude_keys" => Self::Without(words()?),
            _ => return None,
        })
    }

    /// Sets it. Secondary keys of the entry's own stay.
    pub(super) fn apply(self, entry: &mut Entry) {
        let mut secondary = |keys: Vec<String>, logic| {
            if entry.secondary.is_empty() {
                entry.secondary = keys.into_iter().map(Some).collect();
                (entry.selective, entry.logic) = (true, Some(logic));
            }
        };
        match self {
            Self::Delay(n) => entry.delay = Some(n),
            Self::Every(n) => entry.every = Some(n),
            Self::Stays => entry.sticky = Some(FOR_GOOD),
            Self::Once => entry.cooldown = Some(FOR_GOOD),
            Self::Depth(n) => (entry.position, entry.depth) = (Position::Depth, Some(n)),
            Self::Role(role) => entry.role = role,
            Self::ScanDepth(n) => entry.scan_depth = Some(n),
            Self::Position(place) => entry.position = place,
            Self::With(keys) => secondary(keys, Logic::AndAny),
            Self::Without(keys) => secondary(keys, Logic::NotAny),
        }
    }
}

impl Header {
    /// Reads the head of a content. `fixed`: a name ends at the first blank, a CR is no part of a line, content may be empty, and the
    /// names of V3 mean something (03 F16).
    pub(super) fn read(content: &str, fixed: bool) -> Self {
        const KNOWN: [&str; 2] = ["@@activate", "@@dont_activate"];
        let mut header = Self::default();
        if !content.starts_with("@@") {
            content.clone_into(&mut header.content);
            return header;
        }
        let mut fallback = false;
        let mut rest = Some(content);
        while let Some(text) = rest.filter(|t| t.starts_with("@@")) {
            let (line, behind) =
                text.split_once('\n').map_or((text, None), |(line, behind)| (line, Some(behind)));
            rest = behind;
            if line.starts_with("@@@") && !fallback {
                continue;
            }
            let plain = line.strip_prefix('@').filter(|l| l.starts_with("@@")).unwrap_or(line);
            let (name, value) = plain.split_once(js::is_space).unwrap_or((plain, ""));
            if !fixed && KNOWN.iter().any(|k| plain.starts_with(k)) {
                header.lines.push(plain.to_owned());
            } else if fixed && KNOWN.contains(&name) {
                header.lines.push(name.to_owned());
            } else if let Some(setting) = fixed.then(|| Setting::read(name, js::trim(value))).flatten() {
                header.settings.push(setting);
            } else {
                fallback = true;
                continue;
            }
            fallback = false;
        }
        match rest {
            Some(text) => text.clone_into(&mut header.content),
            None if fixed => {}
            None => content.clone_into(&mut header.content),
        }
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(content: &str, fixed: bool) -> (Vec<String>, String) {
        let Header { lines, content, .. } = Header::read(content, fixed);
        (lines, content)
    }

    #[test]
    fn the_table_of_the_reference() {
        // Spec 03 §4 [run].
        for (content, found, rest) in [
            ("@@activate\nx", vec!["@@activate"], "x"),
            ("@@activate\n\nx", vec!["@@activate"], "\nx"),
            ("@@foo\n@@@activate\nx", vec!["@@activate"], "x"),
            ("@@@activate\nx", vec![], "x"),
            ("@@activate", vec!["@@activate"], "@@activate"),
            ("@@activate_only_after 3\nx", vec!["@@activate_only_after 3"], "x"),
            ("@@activate\r\nx", vec!["@@activate\r"], "x"),
            ("\n@@activate\nx", vec![], "\n@@activate\nx"),
            ("@@activate\n", vec!["@@activate"], ""),
        ] {
            let (got, text) = head(content, false);
            let got: Vec<_> = got.iter().map(String::as_str).collect();
            assert_eq!((got, text.as_str()), (found, rest), "{content:?}");
        }
    }

    #[test]
    fn whole_names_and_the_names_of_v3() {
        assert_eq!(head("@@activate\r\n龍", true), (vec!["@@activate".to_owned()], "龍".to_owned()));
        assert_eq!(head("@@activate", true), (vec!["@@activate".to_owned()], String::new()));
        for (content, setting) in [
            ("@@activate_only_after 3\n@@@activate\nx", Setting::Delay(3.0)),
            ("@@activate_only_every 4\r\nx", Setting::Every(4.0)),
            ("@@keep_activate_after_match\nx", Setting::Stays),
            ("@@dont_activate_after_match\nx", Setting::Once),
            ("@@depth 2\nx", Setting::Depth(2.0)),
            ("@@role assistant\nx", Setting::Role(2)),
            ("@@scan_depth 7\nx", Setting::ScanDepth(7.0)),
            ("@@position after_desc\nx", Setting::Position(Position::After)),
            ("@@position scenario\n@@@position before_desc\nx", Setting::Position(Position::Before)),
            ("@@additional_keys 火, лес\nx", Setting::With(vec!["火".into(), "лес".into()])),
            ("@@exclude_keys 🐉\nx", Setting::Without(vec!["🐉".into()])),
        ] {
            let header = Header::read(content, true);
            assert_eq!(header.content, "x", "{content:?}");
            assert_eq!((header.lines, header.settings), (vec![], vec![setting]), "{content:?}");
        }
        // An unknown value is an unknown line: the fallback counts.
        let header = Header::read("@@activate_only_every 0\n@@@activate\nx", true);
        assert_eq!((header.lines.as_slice(), header.settings.len()), (&["@@activate".to_owned()][..], 0));
    }
}
