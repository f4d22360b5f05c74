//! What costs time to make and stays the same from request to request: compiled lorebooks, with what they remember of chat lines, and regex
//! scripts.
//!
//! A scene and a speaker in -> what is compiled for them out. Whoever replaces the scene or the profile clears it.

use std::sync::Arc;

use crate::host::Limits;
use crate::lore::{Books, BooksKey};
use crate::profile::Profile;
use crate::scene::{Character, Scene};
use crate::scripts::CompiledScripts;
use crate::turn::Compiled;

/// Selections of books that are kept: members of a group with the same books share one.
const SELECTIONS: usize = 8;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// The latest used first.
    books: Vec<(BooksKey, Arc<Books>)>,
    /// Scripts, and the limits they were compiled under.
    scripts: Option<(Limits, Arc<CompiledScripts>)>,
}

impl Cache {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// What is compiled for a speaker, made now if it is not there yet.
    pub(super) fn compiled(
        &mut self,
        scene: &Scene,
        speaker: Option<&Character>,
        profile: &Profile,
        limits: &Limits,
    ) -> Compiled {
        let key = BooksKey::of(scene, speaker, profile);
        if let Some(at) = self.books.iter().position(|(known, _)| *known == key) {
            self.books.swap(0, at);
        } else {
            let books = Arc::new(Books::compile(scene, &key));
            self.books.insert(0, (key, books));
            self.books.truncate(SELECTIONS);
        }
        let books = self.books.first().map(|(_, books)| Arc::clone(books)).unwrap_or_default();
        Compiled { books, scripts: self.scripts(scene, profile, limits) }
    }

    /// The compiled scripts, likewise.
    pub(super) fn scripts(
        &mut self,
        scene: &Scene,
        profile: &Profile,
        limits: &Limits,
    ) -> Arc<CompiledScripts> {
        if let Some((_, scripts)) = self.scripts.as_ref().filter(|(under, _)| under == limits) {
            return Arc::clone(scripts);
        }
        let scripts = Arc::new(CompiledScripts::new(scene, profile, limits).0);
        self.scripts = Some((limits.clone(), Arc::clone(&scripts)));
        scripts
    }
}
