//! A character -> its script, as far as the comparison of names asks (spec 01 §P1.1).

/// Latin letters.
pub(super) const fn is_latin(c: char) -> bool {
    matches!(
        c,
        'A'..='Z' | 'a'..='z' | 'ª' | 'º' | 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='\u{2af}' | '\u{1d00}'..='\u{1d25}'
            | '\u{1d6b}'..='\u{1d77}' | '\u{1d79}'..='\u{1d9a}' | '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}'
            | '\u{a722}'..='\u{a787}' | '\u{a78b}'..='\u{a7ff}' | '\u{ab30}'..='\u{ab64}'
    )
}

/// Greek letters.
pub(super) const fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3e1}' | '\u{3f0}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}
