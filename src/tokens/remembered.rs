//! A counter that knows what it counted last: most texts of a request stood in the one before.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use indexmap::IndexMap;

use super::{Appender, Count};

/// Texts remembered at least; twice as many at most.
const TEXTS: usize = 16_384;

/// Shorter texts are counted as quickly as they are found.
const SHORTEST: usize = 24;

/// Counts by hash and length; a wrong count is the worst that texts made to collide can do.
type Counts = IndexMap<(u64, usize), u32>;

/// Another counter, asked once for each text.
pub struct Remembered {
    counter: Rc<dyn Count>,
    /// What was used lately, and what was before that.
    known: RefCell<(Counts, Counts)>,
}

impl Remembered {
    /// Remembers the counts of a counter, which must always give the same for the same text.
    pub fn new(counter: Rc<dyn Count>) -> Self {
        Self { counter, known: RefCell::default() }
    }

    fn find(&self, key: (u64, usize)) -> Option<u32> {
        let mut known = self.known.borrow_mut();
        let (young, old) = &mut *known;
        if let Some(tokens) = young.get(&key) {
            return Some(*tokens);
        }
        let tokens = *old.get(&key)?;
        young.insert(key, tokens);
        Some(tokens)
    }

    fn keep(&self, key: (u64, usize), tokens: u32) {
        let mut known = self.known.borrow_mut();
        let (young, old) = &mut *known;
        if young.len() >= TEXTS {
            *old = std::mem::take(young);
        }
        young.insert(key, tokens);
    }
}

fn key(text: &str) -> (u64, usize) {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    (hasher.finish(), text.len())
}

impl Count for Remembered {
    fn count(&self, text: &str) -> u32 {
        if text.len() < SHORTEST {
            return self.counter.count(text);
        }
        let key = key(text);
        self.find(key).unwrap_or_else(|| {
            let tokens = self.counter.count(text);
            self.keep(key, tokens);
            tokens
        })
    }

    fn exact(&self) -> bool {
        self.counter.exact()
    }

    fn id(&self) -> &str {
        self.counter.id()
    }

    fn count_up_to(&self, text: &str, limit: u32) -> u32 {
        let known = if text.len() < SHORTEST { None } else { self.find(key(text)) };
        known.unwrap_or_else(|| self.counter.count_up_to(text, limit))
    }

    fn append(&self, so_far: &mut Appender, text: &str) -> u32 {
        self.counter.append(so_far, text)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[derive(Default)]
    struct Asked(Rc<Cell<u32>>);

    impl Count for Asked {
        fn count(&self, text: &str) -> u32 {
            self.0.set(self.0.get() + 1);
            u32::try_from(text.chars().count()).unwrap()
        }
        fn exact(&self) -> bool {
            true
        }
        fn id(&self) -> &'static str {
            "asked"
        }
    }

    #[test]
    fn a_text_is_counted_once_while_it_is_in_use() {
        let asked = Rc::new(Cell::new(0));
        let counter = Remembered::new(Rc::new(Asked(asked.clone())));
        let text = "洛恩，你在吗？雨下得很大。";
        assert_eq!((counter.count(text), counter.count(text), counter.count_up_to(text, 3)), (13, 13, 13));
        assert_eq!(asked.get(), 1);
        assert_eq!((counter.count("ok"), counter.count("ok"), asked.get()), (2, 2, 3));
        for i in 0..2 * TEXTS {
            counter.count(&format!("a text of its own, number {i}"));
            if i % 1000 == 0 {
                counter.count(text);
            }
        }
        let before = asked.get();
        assert_eq!((counter.count(text), asked.get()), (13, before), "what is in use stays");
        let (young, old) = &*counter.known.borrow();
        assert!(young.len() + old.len() <= 2 * TEXTS);
    }
}
