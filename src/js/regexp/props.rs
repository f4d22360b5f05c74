//! `\p{…}`: a property's name and value -> the set of its characters. General categories, scripts and most binary properties
//! are here; what is not (script extensions, properties of strings, a few binary ones) is named in the error.

use super::set::{LAST, Ranges};
use super::tables::{BINARY, CATEGORIES, CATEGORY, SCRIPT, SCRIPTS};

/// Why there is no set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoProperty {
    /// ECMAScript has no such property: a syntax error.
    Unknown,
    /// ECMAScript has it, this engine does not.
    Unsupported,
}

/// Properties that ECMAScript has and this engine does not, since no script in circulation was seen to use them.
const UNSUPPORTED: &[&str] = &[
    "Bidi_C",
    "Bidi_Control",
    "Bidi_M",
    "Bidi_Mirrored",
    "CI",
    "Case_Ignorable",
    "CWCF",
    "Changes_When_Casefolded",
    "CWCM",
    "Changes_When_Casemapped",
    "CWL",
    "Changes_When_Lowercased",
    "CWKCF",
    "Changes_When_NFKC_Casefolded",
    "CWT",
    "Changes_When_Titlecased",
    "CWU",
    "Changes_When_Uppercased",
    "Gr_Base",
    "Grapheme_Base",
    "Gr_Ext",
    "Grapheme_Extend",
    "IDSB",
    "IDS_Binary_Operator",
    "IDST",
    "IDS_Trinary_Operator",
    "LOE",
    "Logical_Order_Exception",
    "SD",
    "Soft_Dotted",
    "Basic_Emoji",
    "Emoji_Keycap_Sequence",
    "RGI_Modifier_Sequence",
    "RGI_Flag_Sequence",
    "RGI_Emoji_Modifier_Sequence",
    "RGI_Emoji_Flag_Sequence",
    "RGI_Emoji_Tag_Sequence",
    "RGI_Emoji_ZWJ_Sequence",
    "RGI_Emoji",
];

/// Groups of general categories: short name, long name, members.
const GROUPS: &[(&str, &str, &[&str])] = &[
    ("C", "Other", &["Cc", "Cf", "Cn", "Co", "Cs"]),
    ("L", "Letter", &["Lu", "Ll", "Lt", "Lm", "Lo"]),
    ("LC", "Cased_Letter", &["Lu", "Ll", "Lt"]),
    ("M", "Mark", &["Mn", "Mc", "Me"]),
    ("N", "Number", &["Nd", "Nl", "No"]),
    ("P", "Punctuation", &["Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"]),
    ("S", "Symbol", &["Sm", "Sc", "Sk", "So"]),
    ("Z", "Separator", &["Zs", "Zl", "Zp"]),
];

/// Second names of values that have one.
const ALIASES: &[(&str, &str)] = &[
    ("cntrl", "Cc"),
    ("digit", "Nd"),
    ("punct", "P"),
    ("Combining_Mark", "M"),
    ("Qaac", "Copt"),
    ("Qaai", "Zinh"),
];

/// The set of `\p{name}` or `\p{name=value}`.
pub(super) fn property(name: &str, value: Option<&str>) -> Result<Ranges, NoProperty> {
    match (name, value) {
        ("General_Category" | "gc", Some(value)) => category(value).ok_or(NoProperty::Unknown),
        ("Script" | "sc", Some(value)) => script(value).ok_or(NoProperty::Unknown),
        ("Script_Extensions" | "scx", Some(value)) => {
            Err(script(value).map_or(NoProperty::Unknown, |_| NoProperty::Unsupported))
        }
        (_, Some(_)) => Err(NoProperty::Unknown),
        ("Any", None) => Ok(Ranges::new(vec![(0, LAST)])),
        ("ASCII", None) => Ok(Ranges::new(vec![(0, 127)])),
        ("Assigned", None) => Ok(category("Cn").unwrap_or_default().inverted()),
        (name, None) => category(name).or_else(|| binary(name)).ok_or(if UNSUPPORTED.contains(&name) {
            NoProperty::Unsupported
        } else {
            NoProperty::Unknown
        }),
    }
}

/// Which characters group names are made of, looked up when the first name outside ASCII turns up.
#[derive(Debug, Default)]
pub(super) struct Identifiers {
    start: Option<Ranges>,
    rest: Option<Ranges>,
}

impl Identifiers {
    /// Whether a code point may start a name, or go on with it.
    pub(super) fn allow(&mut self, c: u32, start: bool) -> bool {
        if c < 128 {
            return matches!(c, 0x24 | 0x5f | 0x41..=0x5a | 0x61..=0x7a)
                || !start && matches!(c, 0x30..=0x39);
        }
        let (known, name) =
            if start { (&mut self.start, "ID_Start") } else { (&mut self.rest, "ID_Continue") };
        !start && matches!(c, 0x200c | 0x200d)
            || known.get_or_insert_with(|| binary(name).unwrap_or_default()).contains(c)
    }
}

fn alias(value: &str) -> &str {
    ALIASES.iter().find(|a| a.0 == value).map_or(value, |a| a.1)
}

fn category(value: &str) -> Option<Ranges> {
    let value = alias(value);
    let mask = match GROUPS.iter().find(|g| g.0 == value || g.1 == value) {
        Some(group) => {
            group.2.iter().filter_map(|short| number(CATEGORIES, short)).fold(0, |m, i| m | 1 << i)
        }
        None => 1 << number(CATEGORIES, value)?,
    };
    Some(categories(mask))
}

fn script(value: &str) -> Option<Ranges> {
    let wanted = number(SCRIPTS, alias(value))? + 1;
    Some(partition(SCRIPT, 8, |v| v == wanted))
}

/// The place of a name in a list of `short=long`.
fn number(names: &str, name: &str) -> Option<u32> {
    let found = names
        .split(' ')
        .position(|n| n.split_once('=').is_some_and(|(short, long)| name == short || name == long));
    found.and_then(|i| u32::try_from(i).ok())
}

fn categories(mask: u32) -> Ranges {
    partition(CATEGORY, 5, |v| mask >> v & 1 == 1)
}

fn binary(name: &str) -> Option<Ranges> {
    let &(_, _, mask, changes) = BINARY.iter().find(|b| b.0 == name || b.1 == name)?;
    let base = categories(mask);
    // Alternate lengths: as the base says, the opposite, as the base says …
    let (mut at, mut differs, mut other) = (0, false, Vec::new());
    for length in numbers(changes) {
        if differs && length > 0 {
            other.push((at, at + length - 1));
        }
        at += length;
        differs = !differs;
    }
    if differs {
        other.push((at, LAST));
    }
    let other = Ranges::new(other);
    Some(base.difference(&other).union(&other.difference(&base)))
}

/// The ranges of a partition of all characters whose number is wanted.
fn partition(bytes: &[u8], bits: u32, wanted: impl Fn(u32) -> bool) -> Ranges {
    let (mut at, mut out) = (0, Vec::new());
    for run in numbers(bytes) {
        let length = run >> bits;
        if wanted(run & ((1 << bits) - 1)) {
            out.push((at, at + length - 1));
        }
        at += length;
    }
    Ranges::new(out)
}

/// Numbers written seven bits a byte, low first.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (mut n, mut shift) = (0, 0);
    bytes.iter().filter_map(move |&b| {
        n |= u32::from(b & 127) << shift;
        shift += 7;
        (b < 128).then(|| {
            shift = 0;
            std::mem::take(&mut n)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_agree_with_the_standard_library() {
        let alphabetic = property("Alphabetic", None).unwrap();
        let upper = property("Uppercase", None).unwrap();
        let lower = property("Lower", None).unwrap();
        let numeric = property("N", None).unwrap();
        let mut differ = 0;
        for c in '\0'..=char::MAX {
            let n = c as u32;
            let ours = [alphabetic.contains(n), upper.contains(n), lower.contains(n), numeric.contains(n)];
            differ +=
                usize::from(ours != [c.is_alphabetic(), c.is_uppercase(), c.is_lowercase(), c.is_numeric()]);
        }
        // Unicode versions may differ by a year; a broken table differs in tens of thousands of places.
        assert!(differ < 10_000, "{differ}");
        let old = |n: u32| char::from_u32(n).is_none_or(|c| c.is_alphabetic() == alphabetic.contains(n));
        assert!((0..0x500).chain(0x3000..0xd800).all(old));
    }

    #[test]
    fn names() {
        for (name, value, inside, outside) in [
            ("L", None, 'é', '1'),
            ("Letter", None, '洛', '。'),
            ("gc", Some("Nd"), '٣', 'x'),
            ("Script", Some("Han"), '洛', 'あ'),
            ("sc", Some("Hira"), 'あ', 'ア'),
            ("sc", Some("Cyrl"), 'ж', 'z'),
            ("sc", Some("Thai"), 'ก', 'k'),
            ("Emoji_Presentation", None, '😀', '1'),
            ("Extended_Pictographic", None, '😀', 'a'),
            ("punct", None, '。', 'a'),
            ("White_Space", None, '\u{3000}', '\u{200b}'),
            ("Assigned", None, 'a', '\u{378}'),
            ("Ideographic", None, '龍', 'a'),
        ] {
            let set = property(name, value).unwrap();
            assert!(set.contains(inside as u32) && !set.contains(outside as u32), "{name} {value:?}");
        }
        assert_eq!(property("scx", Some("Han")), Err(NoProperty::Unsupported));
        assert_eq!(property("RGI_Emoji", None), Err(NoProperty::Unsupported));
        assert_eq!(property("letter", None), Err(NoProperty::Unknown));
        assert_eq!(property("Script", None), Err(NoProperty::Unknown));
        assert_eq!(property("L", Some("Lu")), Err(NoProperty::Unknown));
    }

    #[test]
    fn identifiers() {
        let mut names = Identifiers::default();
        assert!(names.allow('洛' as u32, true) && names.allow('_' as u32, true));
        assert!(!names.allow('1' as u32, true) && names.allow('1' as u32, false));
        assert!(!names.allow('😀' as u32, false) && !names.allow('-' as u32, false));
    }
}
