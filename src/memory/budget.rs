//! What wants to be remembered and how much room there is -> what goes in (spec 10 §28). Item by item, in the order of the
//! sources; what does not fit is left out whole, later and smaller items may still fit.

use super::summary::fit;

/// Texts of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source<'a> {
    /// Its texts, in order.
    pub items: Vec<&'a str>,
    /// Cost of all of them at most.
    pub max: Option<usize>,
    /// A text that does not fit is cut at the end of a sentence.
    pub cut: bool,
}

/// What became of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Booked {
    /// It is in, at this cost.
    Whole(usize),
    /// Its beginning is in, at this cost.
    Cut {
        /// What is in.
        text: String,
        /// Its cost.
        cost: usize,
    },
    /// It is not.
    LeftOut,
}

/// Books texts on a pool; gives what became of each, and what is left.
pub fn book(sources: &[Source<'_>], total: usize, cost: &dyn Fn(&str) -> usize) -> (Vec<Vec<Booked>>, usize) {
    let mut left = total;
    let mut out = Vec::with_capacity(sources.len());
    for source in sources {
        let mut own = source.max.unwrap_or(usize::MAX);
        let mut booked = Vec::with_capacity(source.items.len());
        for item in &source.items {
            let room = left.min(own);
            let whole = cost(item);
            let (entry, spent) = if whole <= room {
                (Booked::Whole(whole), whole)
            } else {
                match fit(item, room, cost).filter(|_| source.cut) {
                    Some(text) => {
                        let spent = cost(text);
                        (Booked::Cut { text: text.to_owned(), cost: spent }, spent)
                    }
                    None => (Booked::LeftOut, 0),
                }
            };
            booked.push(entry);
            left -= spent;
            own -= spent;
        }
        out.push(booked);
    }
    (out, left)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_pool_holds(
            texts in proptest::collection::vec("[雨a. 。]{0,12}", 0..12),
            total in 0_usize..60,
            max in proptest::option::of(0_usize..30),
            cut in any::<bool>(),
        ) {
            let points = |t: &str| t.chars().count();
            let half = texts.len() / 2;
            let sources = [
                Source { items: texts[..half].iter().map(String::as_str).collect(), max, cut },
                Source { items: texts[half..].iter().map(String::as_str).collect(), max: None, cut: false },
            ];
            let (booked, left) = book(&sources, total, &points);
            let spent = |list: &[Booked]| list.iter().map(|b| match b {
                Booked::Whole(c) | Booked::Cut { cost: c, .. } => *c,
                Booked::LeftOut => 0,
            }).sum::<usize>();
            prop_assert_eq!(spent(&booked[0]) + spent(&booked[1]) + left, total);
            prop_assert!(max.is_none_or(|m| spent(&booked[0]) <= m));
        }
    }
}
